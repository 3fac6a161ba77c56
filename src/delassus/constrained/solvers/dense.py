"""Constrained dynamics by dense matrices and singular values: slow, to check the others.

With M = L L^T and A = J L^-T, the accelerations are a = L^-T (y + x), where y = L^-1 (tau - b) and
x is the shortest vector that minimises |A (y + x) + gamma - a*|. Which rows are redundant is
decided with each row of A divided by its usual length (see `rows.scales`).
"""

from __future__ import annotations

import numpy as np

from ...compile import is_symbolic
from ...dynamics.arguments import deliver
from ...dynamics.crba import mass_matrix
from ...dynamics.rnea import inverse_dynamics
from ...errors import DataTypeError
from ..factor.least_squares import LeastSquares, cholesky, times, transposed
from ..rows.judging import motion_error, row_error
from ..rows.request import INFO, REQUEST, target_acceleration
from ..rows.scales import most_weight


def dense(cs, inputs: tuple, out, threads, limits) -> tuple[np.ndarray, ...]:
    """Accelerations, multipliers and INFO, from the inputs of a solver's kernel."""
    q, v, tau, requests, options, *external_forces = inputs
    if any(map(is_symbolic, (q, v, tau))):
        raise DataTypeError("method 'dense' takes no symbols")
    q, v, tau = (np.asarray(x, float) for x in (q, v, tau))
    target = target_acceleration(cs, q, v, requests[..., REQUEST.desired])
    found = solve(
        cs, q, v, tau, *external_forces or (None,), target, requests[..., REQUEST.damping]
    )
    if options.dtype == np.float32:
        found = tuple(x.astype(np.float32) for x in found)
    return deliver(found, out)


def solve(constraints, q, v, tau, external_forces, target, damping) -> tuple[np.ndarray, ...]:
    """Accelerations, multipliers and INFO, for one batch. A NaN stays in its state.

    `target` are the accelerations a* that rows are asked for. Of all multipliers with A^T
    multipliers = x those are taken whose squares times `damping` are least.
    """
    model = constraints.model
    M, J = mass_matrix(model, q), constraints.jacobian(q)
    b = inverse_dynamics(model, q, v, np.zeros_like(v), external_forces)
    target = target - constraints.drift(q, v)
    L = cholesky(M)
    A = transposed(np.linalg.solve(L, transposed(J)))
    rows = LeastSquares(A, np.sqrt(constraints.scales.diagonal))
    a, multipliers = np.zeros_like(tau), np.zeros_like(target)
    for _ in range(2):  # the second time for what rounding has left
        missing = tau - b - times(M, a) + times(transposed(J), multipliers)
        y = np.linalg.solve(L, missing[..., None])[..., 0]
        x = rows.solve((target - times(J, a) - times(A, y))[..., None])[..., 0]
        a = a + np.linalg.solve(transposed(L), (y + x)[..., None])[..., 0]
        multipliers = multipliers + rows.forces(x[..., None], damping)[..., 0]
    r = times(J, a) - target
    info = np.empty((*r.shape[:-1], INFO.size))
    info[..., INFO.residual] = np.linalg.norm(r, axis=-1)
    info[..., INFO.rows] = row_error(
        constraints.scales, J, a, target, multipliers, rows.unchanged(r[..., None])[..., 0]
    )
    forces = np.stack([tau, b, most_weight(model, M)], axis=-1)
    missing = tau - b - times(M, a) + times(transposed(J), multipliers)
    info[..., INFO.motion] = motion_error(
        missing, forces, M * a[..., None, :], transposed(J) * multipliers[..., None, :]
    )
    info[..., INFO.iterations] = 1.0
    return a, multipliers, info

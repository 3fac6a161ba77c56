"""Constrained dynamics by dense matrices and singular values: slow, to check the others.

With M = L L^T and A = J L^-T, the accelerations are a = L^-T (y + x), where y = L^-1 (tau - b) and
x is the shortest vector that minimises |A (y + x) + gamma - a*|.
"""

from __future__ import annotations

import numpy as np

from ...compile import is_symbolic
from ...dynamics.arguments import deliver
from ...dynamics.crba import mass_matrix
from ...dynamics.rnea import inverse_dynamics
from ...errors import DataTypeError
from ..factor.least_squares import cholesky, least_squares, times, transposed
from ..rows.request import INFO, REQUEST, target_acceleration


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

    `target` are the accelerations a* that rows are asked for. With A = U S B^T on all that rows
    see, x = B S^-1 U^T (a* - gamma - A y), so that the condition of A is not squared. Of all
    multipliers with A^T multipliers = x those are taken whose squares times `damping` are least.
    """
    model = constraints.model
    M, J = mass_matrix(model, q), constraints.jacobian(q)
    b = inverse_dynamics(model, q, v, np.zeros_like(v), external_forces)
    target = target - constraints.drift(q, v)
    L = cholesky(M)
    A = transposed(np.linalg.solve(L, transposed(J)))
    scales = np.sqrt(constraints.scales.diagonal)
    U, S, B = least_squares(A, scales)
    weights = 1.0 / np.sqrt(damping)
    U_weighted, S_weighted, B_weighted = least_squares(weights[..., None] * A, weights * scales)
    a, multipliers = np.zeros_like(tau), np.zeros_like(target)
    for _ in range(2):  # the second time for what rounding has left
        missing = tau - b - times(M, a) + times(transposed(J), multipliers)
        y = np.linalg.solve(L, missing[..., None])[..., 0]
        x = target - times(J, a) - times(A, y)
        x = times(B, times(transposed(U), x) / S)
        a = a + np.linalg.solve(transposed(L), (y + x)[..., None])[..., 0]
        x = times(transposed(B_weighted), x) / S_weighted
        multipliers = multipliers + weights * times(U_weighted, x)
    r = times(J, a) - target
    info = np.empty((*r.shape[:-1], INFO.size))
    info[..., INFO.residual] = np.linalg.norm(r, axis=-1)
    seen = np.where(np.inf > S, 1.0, np.where(np.isnan(S), S, 0.0))  # NaN stays NaN
    info[..., INFO.rows] = _length(constraints, times(U, seen * times(transposed(U), r)))
    info[..., INFO.start] = _length(constraints, target) + np.linalg.norm(a, axis=-1)
    terms = np.concatenate(
        [(tau - b)[..., None], M * a[..., None, :], transposed(J) * multipliers[..., None, :]], -1
    )
    missing = tau - b - times(M, a) + times(transposed(J), multipliers)
    sizes = np.linalg.norm(terms, axis=-1)
    info[..., INFO.motion] = np.linalg.norm(missing / np.where(sizes == 0.0, 1.0, sizes), axis=-1)
    info[..., INFO.iterations] = 1.0
    return a, multipliers, info


def _length(constraints, r: np.ndarray) -> np.ndarray:
    """The length of numbers of rows, each by its row's scale."""
    return np.linalg.norm(r / constraints.scales.lengths, axis=-1)

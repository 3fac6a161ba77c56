"""Constrained dynamics by dense matrices and truncated singular values: slow, to check the others.

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
from ..factor.least_squares import cholesky, singular_values, times, transposed
from ..rows.request import INFO, REQUEST, target_acceleration


def dense(cs, inputs: tuple, out, threads, limits) -> tuple[np.ndarray, ...]:
    """Accelerations, multipliers and INFO, from the inputs of a solver's kernel."""
    q, v, tau, requests, _, *external_forces = inputs
    if any(map(is_symbolic, (q, v, tau))):
        raise DataTypeError("method 'dense' takes no symbols")
    is_single = all(getattr(x, "dtype", None) == np.float32 for x in (q, v, tau))
    q, v, tau = (np.asarray(x, float) for x in (q, v, tau))
    target = target_acceleration(cs, q, v, requests[..., REQUEST.desired])
    a, multipliers, r = solve(cs, q, v, tau, *external_forces or (None,), target)
    gradient = times(transposed(cs.jacobian(q)), r)
    info = np.empty((*r.shape[:-1], INFO.size))
    info[..., INFO.residual] = np.linalg.norm(r, axis=-1)
    info[..., INFO.gradient] = np.linalg.norm(gradient, axis=-1)
    info[..., INFO.start] = np.inf  # any finite answer counts as converged
    info[..., INFO.iterations] = 1.0
    found = (a, multipliers, info)
    if is_single:
        found = tuple(x.astype(np.float32) for x in found)
    return deliver(found, out)


def solve(constraints, q, v, tau, external_forces, target):
    """Accelerations, multipliers and residuals, for one batch. A NaN stays in its state.

    `target` are the accelerations a* that rows are asked for. With A = U S V^T,

        x = V S^+ U^T (a* - gamma - A y)        multipliers = U S^+ V^T x

    so that the condition of A is not squared.
    """
    model = constraints.model
    M, J = mass_matrix(model, q), constraints.jacobian(q)
    b = inverse_dynamics(model, q, v, np.zeros_like(v), external_forces)
    target = target - constraints.drift(q, v)
    L = cholesky(M)
    A = transposed(np.linalg.solve(L, transposed(J)))
    y = np.linalg.solve(L, (tau - b)[..., None])[..., 0]
    U, S_inverse, V_transposed = singular_values(A)
    x = S_inverse * times(transposed(U), target - times(A, y))
    multipliers = times(U, S_inverse * x)
    a = np.linalg.solve(transposed(L), (y + times(transposed(V_transposed), x))[..., None])[..., 0]
    return a, multipliers, times(J, a) - target

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
from ..rows.request import INFO, REQUEST, target_acceleration

# Singular values below this part of the largest count as zero.
TRUNCATION = 1e-8


def dense(cs, inputs: tuple, out, threads, limits) -> tuple[np.ndarray, ...]:
    """Accelerations, multipliers and INFO, from the inputs of a solver's kernel."""
    q, v, tau, requests, _, *external_forces = inputs
    if any(map(is_symbolic, (q, v, tau))):
        raise DataTypeError("method 'dense' takes no symbols")
    q, v, tau = (np.asarray(x, float) for x in (q, v, tau))
    target = target_acceleration(cs, q, v, requests[..., REQUEST.desired])
    a, multipliers, r = solve(cs, q, v, tau, *external_forces or (None,), target)
    gradient = np.einsum("...ij,...i->...j", cs.jacobian(q), r)
    info = np.empty((*r.shape[:-1], INFO.size))
    info[..., INFO.residual] = np.linalg.norm(r, axis=-1)
    info[..., INFO.gradient] = np.linalg.norm(gradient, axis=-1)
    info[..., INFO.start] = np.inf  # any finite answer counts as converged
    info[..., INFO.iterations] = 1.0
    return deliver((a, multipliers, info), out)


def solve(constraints, q, v, tau, external_forces, target):
    """Accelerations, multipliers and residuals, for one batch.

    `target` are the accelerations a* that rows are asked for.
    """
    model = constraints.model
    M, J = mass_matrix(model, q), constraints.jacobian(q)
    b = inverse_dynamics(model, q, v, np.zeros_like(v), external_forces)
    target = target - constraints.drift(q, v)
    L = np.linalg.cholesky(M)
    A = np.linalg.solve(L, J.swapaxes(-1, -2)).swapaxes(-1, -2)
    y = np.linalg.solve(L, (tau - b)[..., None])[..., 0]
    r = np.einsum("...ij,...j->...i", A, y) - target
    multipliers = _shortest(A, r)
    x = y + np.einsum("...ji,...j->...i", A, multipliers)
    a = np.linalg.solve(L.swapaxes(-1, -2), x[..., None])[..., 0]
    return a, multipliers, np.einsum("...ij,...j->...i", J, a) - target


def _shortest(A: np.ndarray, r: np.ndarray) -> np.ndarray:
    """The shortest x that minimises |A A^T x + r|."""
    if A.shape[-2] == 0:
        return np.zeros_like(r)
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    kept = s > TRUNCATION * s.max(axis=-1, keepdims=True)
    inverse = np.where(kept, 1.0 / np.where(kept, s, 1.0) ** 2, 0.0)
    return -np.einsum("...ik,...k,...jk,...j->...i", U, inverse, U, r)

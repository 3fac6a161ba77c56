"""Impacts: velocities jump to velocities that the constraints allow.

With M = L L^T, A = J L^-T and its pseudo-inverse A^+, the impulse is (A A^T)^+ (J v+ - J v-) and
the jump L^-T A^+ (J v+ - J v-): rows may be redundant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics.arguments import deliver, numbers_of
from ...dynamics.crba import mass_matrix
from ...dynamics.energy import kinetic_energy
from ...errors import SettingError
from ...model.model import Model
from ..factor.least_squares import LeastSquares, cholesky, transposed
from ..rows.checks import check_constraints, not_negative
from ..rows.constraints import Constraints


class Impact(NamedTuple):
    """Velocity after an impact, impulse of each row, and the kinetic energy that is lost."""

    velocity: np.ndarray
    impulse: np.ndarray
    energy_loss: np.ndarray | np.floating


def impact(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    constraints: Constraints,
    *,
    restitution: float = 0.0,
    threads: int | None = None,
    out: Sequence[np.ndarray] | None = None,
) -> Impact:
    """v+ and the impulse with M (v+ - v) = J^T impulse and J v+ = -restitution J v.

    `restitution` is from 0, after which the constraints hold, to 1, at which no energy is lost.
    """
    cs = check_constraints(model, constraints)
    kept = not_negative("restitution", restitution)
    if kept > 1.0:
        raise SettingError(f"restitution must be from 0 to 1, got {restitution}")
    q, v = numbers_of("q", q), numbers_of("v", v)
    jump = -(1.0 + kept) * cs.velocity(q, v, threads=threads)
    J, L = cs.jacobian(q, threads=threads), cholesky(mass_matrix(model, q, threads=threads))
    A = transposed(np.linalg.solve(L, transposed(J)))
    rows = LeastSquares(A, np.sqrt(cs.scales.diagonal))
    x = rows.solve(jump[..., None])
    impulse = rows.forces(x, np.ones(cs.size))[..., 0]
    after = np.asarray(v) + np.linalg.solve(transposed(L), x)[..., 0]
    loss = kinetic_energy(model, q, v, threads=threads) - kinetic_energy(model, q, after)
    return Impact(*deliver((after, impulse, loss), out))

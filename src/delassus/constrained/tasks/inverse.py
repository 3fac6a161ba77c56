"""Inverse dynamics under constraints: torques of some joints, and multipliers, for a motion.

    M a + b = S^T tau + J^T multipliers

where S selects the actuated joints. It has many solutions if there are more actuated joints and
rows than the motion needs, and none if the motion needs a force that they cannot give. The shortest
(tau, multipliers) is found by dense least squares.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...dynamics.arguments import deliver, numbers_of
from ...dynamics.rnea import inverse_dynamics
from ...errors import ActuationError
from ...model.model import Model
from ...model.parts.joints import Free
from ...model.parts.names import names_of
from ..factor.least_squares import pseudo_inverse, times, transposed
from ..rows.checks import check_constraints, not_negative
from ..rows.constraints import Constraints


class ConstrainedTorques(NamedTuple):
    """Torques (zero at joints not actuated), multipliers, and the largest force that is missing."""

    tau: np.ndarray
    multipliers: np.ndarray
    residual: np.ndarray | np.floating


def constrained_inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    constraints: Constraints,
    external_forces: ArrayLike | None = None,
    *,
    actuated: str | Iterable[str] | None = None,
    tolerance: float = 1e-8,
    threads: int | None = None,
    out: Sequence[np.ndarray] | None = None,
) -> ConstrainedTorques:
    """tau and multipliers with M a + b = tau + J^T multipliers, tau zero at joints not actuated.

    `actuated` names joints; without it, these are all joints except free ones. Of many solutions,
    the one with the least sum of squares is returned. It is not checked whether the constraints
    allow a. If no forces give a, `ActuationError` says what is missing, that is, more than
    `tolerance` times the largest force that the motion takes, or times one if that is larger.
    """
    cs = check_constraints(model, constraints)
    tolerance = not_negative("tolerance", tolerance)
    q, v, a = (numbers_of(name, x) for name, x in (("q", q), ("v", v), ("a", a)))
    v, a = model.independent_velocity(v), model.independent_velocity(a)
    force = inverse_dynamics(model, q, v, a, external_forces, threads=threads)
    driven = _driven(model, actuated)
    J = cs.jacobian(q, threads=threads)
    S = np.broadcast_to(np.eye(model.nv)[driven], (*J.shape[:-2], driven.size, model.nv))
    columns = transposed(np.concatenate([S, J], axis=-2))
    x = times(pseudo_inverse(columns), force)
    missing = np.abs(times(columns, x) - force)
    residual = missing.max(axis=-1, initial=0.0)
    allowed = tolerance * np.maximum(np.abs(force).max(axis=-1, initial=0.0), 1.0)
    if np.any(residual > allowed):
        raise ActuationError(_message(model, missing, residual))
    tau = np.zeros_like(force)
    tau[..., driven] = x[..., : driven.size]
    found = tau, x[..., driven.size :], residual[()]
    return ConstrainedTorques(*deliver(found, out))


def _driven(model: Model, actuated: str | Iterable[str] | None) -> np.ndarray:
    """The degrees of freedom of the joints that are actuated."""
    if actuated is None:
        free = [j.name for j in model.tree.joints if isinstance(j.type, Free)]
        names = [name for name in _moving(model) if name not in free]
    else:
        names = dict.fromkeys(names_of("actuated joints", actuated))
    return np.array([k for name in names for k in model.degrees_of_freedom(name)], int)


def _moving(model: Model) -> list[str]:
    """Names of the joints whose velocities are those of the model."""
    return list(getattr(model, "independent_joints", model.tree.joint_names))


def _message(model: Model, missing: np.ndarray, residual: np.ndarray) -> str:
    worst = missing.reshape(-1, model.nv)[np.nanargmax(residual)]
    k = int(np.argmax(worst))
    joint = next(name for name in _moving(model) if k in model.degrees_of_freedom(name))
    return (
        "neither actuated joints nor constraints give the forces that this motion takes: "
        f"{worst[k]:.3g} is missing at joint {joint!r}"
    )

"""Position servos for the joints of a model."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from ...checks import instance, real_array, shown
from ...errors import ModelError, ShapeError
from ...model.model import Model
from ...model.parts.actuators import Actuator
from ...model.parts.elements import Joint
from ...model.parts.joints import moves_by_velocities
from ...model.parts.names import names_of


def servos(
    model: Model,
    stiffness: ArrayLike,
    damping: ArrayLike,
    joints: str | Iterable[str] | None = None,
) -> tuple[Actuator, ...]:
    """f = kp (u - q) - kv v within +-effort_limit: a servo for each degree of freedom of joints.

    `model.replace(actuators=dl.servos(model, 100.0, 5.0))` is a model with them. Without names of
    joints it is all joints whose velocities are the derivatives of their coordinates (not free,
    spherical and planar ones), without those that are declared dependent. Gains are one number, or
    one for each servo. Servos are called `<joint>_servo`, and `<joint>_servo_0` and so on where a
    joint has several.
    """
    chosen = _chosen(instance("model", model, Model), joints)
    count = sum(joint.nv for joint in chosen)
    kp, kv = _gains("stiffness", stiffness, count), _gains("damping", damping, count)
    result: list[Actuator] = []
    for joint in chosen:
        for k in range(joint.nv):
            limit, i = float(joint.data.effort_limit[k]), len(result)
            result.append(
                Actuator(
                    f"{joint.name}_servo" + (f"_{k}" if joint.nv > 1 else ""),
                    joint.name,
                    "position",
                    gear=np.eye(joint.nv)[k],
                    stiffness=kp[i],
                    damping=kv[i],
                    force_range=None if np.isinf(limit) else (-limit, limit),
                )
            )
    return tuple(result)


def _chosen(model: Model, names: str | Iterable[str] | None) -> list[Joint]:
    if names is None:
        return [
            joint
            for joint in model.joints
            if moves_by_velocities(joint.type) and joint.independent is not False
        ]
    joints = [model.joint(name) for name in names_of("joints", names)]
    for joint in joints:
        if not moves_by_velocities(joint.type):
            raise ModelError(
                f"joint {joint.name!r} is {type(joint.type).__name__}, whose velocities are not "
                "the derivatives of its coordinates: declare its actuators one by one"
            )
    return joints


def _gains(name: str, given: ArrayLike, count: int) -> list[float]:
    array = real_array(name, given)
    if array.shape not in ((), (count,)):
        raise ShapeError(f"{name} takes one number or {count}, got {shown(given)}")
    return [float(x) for x in np.broadcast_to(array, (count,))]

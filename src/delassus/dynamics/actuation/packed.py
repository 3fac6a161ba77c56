"""Actuators as kernels read them: the arrays of a model, and a record for each actuator."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ...model.model import Model
from ...model.packed import INDEX, ModelArrays
from ...model.parts.actuators import Actuator
from ...model.parts.elements import Joint
from ...model.parts.joints import Spherical

_OWN = ("actuators", "effort_limit", "neutral")


def actuator_type(real: np.dtype) -> np.dtype:
    """The record of an actuator: f = gain u + bias[0] + bias[1] l + bias[2] l', within a range."""
    return np.dtype(
        [
            ("nv", INDEX),  # number of degrees of freedom that it acts on
            ("dofs", INDEX, (6,)),  # which these are
            ("turned", INDEX),  # where the quaternion starts in q by which the gear turns, or -1
            ("gear", real, (6,)),
            ("radius", real),  # |gear| where lengths count modulo 2 pi radius, else 0
            ("gain", real),
            ("bias", real, (3,)),
            ("control_lower", real),
            ("control_upper", real),
            ("force_lower", real),
            ("force_upper", real),
        ],
        align=True,
    )


class ActuatorArrays(namedtuple("ActuatorArrays", (*ModelArrays._fields, *_OWN))):
    """The arrays of a model and of its actuators.

    `effort_limit` has an entry for each degree of freedom, `neutral` is a configuration.
    """

    __slots__ = ()
    dimensions = ("nq", "nv", "n_bodies", "nu")

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        return (*ModelArrays.array_types(real), actuator_type(real), real, real)

    @classmethod
    def takes(cls, model) -> bool:
        """Whether these arrays can be packed from an object."""
        return isinstance(model, Model)

    @classmethod
    def pack(cls, model: Model, real: np.dtype) -> ActuatorArrays:
        """The arrays in one precision."""
        records = np.zeros(model.nu, actuator_type(real))
        for record, actuator in zip(records, model.actuators, strict=True):
            _fill(record, actuator, [model.joint(name) for name in actuator.joints])
        own = records, model.effort_limit.astype(real), model.neutral().astype(real)
        return cls(*ModelArrays.pack(model, real), *own)


def _fill(record, actuator: Actuator, joints: list[Joint]) -> None:
    first, dofs = joints[0], [k for joint in joints for k in range(joint.v.start, joint.v.stop)]
    record["nv"], record["dofs"][: len(dofs)], record["turned"] = len(dofs), dofs, -1
    if actuator.in_parent:
        record["turned"] = first.q.start + first.type.quaternion
    record["gear"][: len(dofs)] = actuator.gear
    if is_periodic(actuator, first):
        record["radius"] = np.linalg.norm(actuator.gear)
    record["gain"], record["bias"] = affine_law(actuator)
    ranges = {"control": actuator.control_range, "force": actuator.force_range}
    for name, limits in ranges.items():
        lower, upper = (-np.inf, np.inf) if limits is None else limits
        record[f"{name}_lower"], record[f"{name}_upper"] = lower, upper


def is_periodic(actuator: Actuator, joint: Joint) -> bool:
    """Whether a servo goes the shorter way round to its target."""
    is_servo = actuator.kind == "position" and actuator.scale == 1.0
    return is_servo and isinstance(joint.type, Spherical) and any(actuator.gear)


def affine_law(actuator: Actuator) -> tuple[float, tuple[float, float, float]]:
    """gain and (b0, b1, b2) of f = gain u + b0 + b1 l + b2 l'."""
    kp, kv = actuator.stiffness, actuator.damping
    factor = {"torque": 1.0, "position": kp, "velocity": kv}[actuator.kind]
    return factor * actuator.scale, (factor * actuator.offset, -kp, -kv)

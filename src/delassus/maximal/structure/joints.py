"""Joints between two bodies: every tree joint and every loop of a model, in one parameterisation.

Tsounis et al., On Solving the Dynamics of Constrained Rigid Multi-Body Systems with Kinematic
Loops, Sec. IV-B. A joint has a frame on its base and one on its follower.

| paper          | here                      | what it is                                          |
| -------------- | ------------------------- | --------------------------------------------------- |
| B_j, F_j       | base, follower            | the two bodies; 0 is the world, model body i is i+1 |
| B x_Bj, X_j    | on_base                   | joint's frame, from the base's centre of mass       |
| F x_Fj, X_j    | on_follower               | joint's frame, from the follower's centre of mass   |
| S_c,j          | linear, angular           | which axes of the base's frame are constrained      |
| S_a,j          | free_linear, free_angular | which axes are free, in the order of the joint's v  |
| m_j            | rows                      | number of rows                                      |

Departs from the paper: rows are in the axes of the frame on the base, at the origin of the frame on
the follower, so the linear rows are the exact rates of their errors. Four types need more than a
selection of axes: a screw couples advance and turn (pitch), a universal joint keeps the angle of
two axes, a distance has a direction of its own, a gimbal has velocities about axes that turn. The
paper's Cartesian joint is `Translation`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import ModelError
from ...model.model import Model
from ...model.parts.constraints import Closure, Connect, Constraint, Distance, Weld
from ...model.parts.elements import Frame
from ...model.parts.joints import (
    Cylindrical,
    Fixed,
    Free,
    Gimbal,
    Helical,
    JointType,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)
from ...spatial.transform import Transform

# Kinds of joints, by what their rows need besides a selection of axes.
AXES = 0  # nothing
UNIVERSAL = 1  # keeps the angle between an axis of the base and one of the follower
DISTANCE = 2  # keeps the distance of the two origins
GIMBAL = 3  # has velocities about three axes, of which each turns with those before

_X, _Y, _Z = np.eye(3, dtype=int)
_ALL, _NONE = _X + _Y + _Z, 0 * _X
# Axes along which and about which each type lets the follower move.
_FREE_AXES = {
    Revolute: (_NONE, _Z),
    Prismatic: (_Z, _NONE),
    Helical: (_NONE, _Z),
    Cylindrical: (_Z, _Z),
    Universal: (_NONE, _NONE),
    Gimbal: (_NONE, _NONE),
    Spherical: (_NONE, _ALL),
    Planar: (_X + _Y, _Z),
    Translation: (_ALL, _NONE),
    Free: (_ALL, _ALL),
    Fixed: (_NONE, _NONE),
}
# Types whose velocities are in the axes of the follower; those of the others are in the base's.
_MOVES_IN_OWN_AXES = (Spherical, Planar, Free)


@dataclass(frozen=True, eq=False)
class MaximalJoint:
    """A joint between two bodies; loops have no coordinates, so their nq and nv are zero."""

    name: str
    base: int
    follower: int
    on_base: Transform
    on_follower: Transform
    linear: np.ndarray
    angular: np.ndarray
    free_linear: np.ndarray
    free_angular: np.ndarray
    kind: int = AXES
    moves_in_own_axes: bool = False
    pitch: float = 0.0
    first: tuple[float, float, float] = (0.0, 0.0, 0.0)  # axis of a universal joint on the base
    second: tuple[float, float, float] = (0.0, 0.0, 0.0)  # and on the follower
    length: float = 0.0
    q: int = 0
    v: int = 0
    nq: int = 0
    nv: int = 0

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.linear.sum() + self.angular.sum()) + (self.kind in (UNIVERSAL, DISTANCE))


def tree_joints(model: Model) -> list[MaximalJoint]:
    """The joints that carry the bodies of a model, in the order of the bodies."""
    found = []
    for i, body in enumerate(model.bodies):
        joint = body.joint
        on_base = Frame(body.name, body.parent, body.placement)
        on_follower = Frame(body.name, i, Transform())
        indices = {"q": joint.q.start, "v": joint.v.start, "nq": joint.nq, "nv": joint.nv}
        found.append(_joint(model, joint.name, joint.type, on_base, on_follower, indices))
    return found


def loop_joints(model: Model, number: int, constraint: Constraint) -> list[MaximalJoint]:
    """The joint of a constraint between frames; none for one between joints."""
    match constraint:
        case Connect(frame, other):
            joint_type = Spherical()
        case Weld(frame, other):
            joint_type = Fixed()
        case Closure(joint_type, frame, other):
            pass
        case Distance(frame, other, length):
            joint_type = Free()
        case _:
            return []
    on_base, on_follower = model.frame(other), model.frame(frame)
    if on_base.body == on_follower.body:
        raise ModelError(
            f"frames {frame!r} and {other!r} are on the same body: a constraint between them "
            "restrains nothing"
        )
    name = f"{type(constraint).__name__} {number} of {frame!r} and {other!r}"
    more = {}
    if isinstance(constraint, Distance):
        more = {"kind": DISTANCE, "length": length}
    return [_joint(model, name, joint_type, on_base, on_follower, more)]


def _joint(
    model: Model, name: str, joint_type: JointType, base: Frame, follower: Frame, more: dict
) -> MaximalJoint:
    """A joint of a type between two frames."""
    if type(joint_type) not in _FREE_AXES:
        raise ModelError(f"joint {name!r}: the type {type(joint_type).__name__} is not known")
    linear, angular = _FREE_AXES[type(joint_type)]
    known = {
        "free_linear": linear,
        "free_angular": angular,
        "linear": 1 - linear,
        "angular": 1 - angular,
        "moves_in_own_axes": isinstance(joint_type, _MOVES_IN_OWN_AXES),
    }
    axes = np.eye(3)
    if isinstance(joint_type, Universal):
        known |= {"kind": UNIVERSAL, "angular": _NONE}
        known |= {"first": joint_type.first, "second": joint_type.second}
    elif isinstance(joint_type, Gimbal):
        known |= {"kind": GIMBAL, "angular": _NONE}
    elif not isinstance(joint_type, Fixed):
        axes = joint_type.primitives()[0].axes
    if isinstance(joint_type, Helical):
        known["pitch"] = joint_type.pitch
    turned = Transform(axes)
    return MaximalJoint(
        name,
        base.body + 1,
        follower.body + 1,
        _from_center(model, base.body, base.placement @ turned),
        _from_center(model, follower.body, follower.placement @ turned),
        **known | more,
    )


def _from_center(model: Model, body: int, placement: Transform) -> Transform:
    """A placement in a body's frame, as seen from its centre of mass."""
    if body < 0:
        return placement
    center = model.bodies[body].inertia.center
    return Transform(placement.rotation, placement.translation - center)

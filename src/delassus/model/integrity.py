"""What must hold between the parts of a model, however they came together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields

from ..checks import instance, shown
from ..errors import ModelError, UnknownNameError
from ..spatial.inertia import Inertia
from ..spatial.transform import Transform
from .parts.actuators import Actuator
from .parts.constraints import Constraint, Coupling, Gear, Implicit
from .parts.contacts import ContactExclusion, ContactPair
from .parts.elements import VELOCITY_DATA, WORLD, Body, Frame, Joint, JointData, Shape
from .parts.joints import JointType, moves_by_velocities
from .parts.names import closest


def check_name(name: object, what: str) -> None:
    """Raise an error unless this can be the name of a body, a joint or a frame."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"a {what} needs a name that is a string, got {shown(name)}")
    if name == WORLD:
        raise ModelError(f"{name!r} is the name of the world, not of a {what}")


_PARTS = {
    Body: {
        "name": str, "parent": int, "joint": Joint, "placement": Transform, "inertia": Inertia,
        "gravity_compensation": float,
    },
    Frame: {"name": str, "body": int, "placement": Transform, "inertia": Inertia},
    Joint: {"name": str, "type": JointType, "index": int, "data": JointData},
}  # fmt: skip


def _check_types(kind: type, part: Body | Frame | Joint) -> None:
    for name, expected in _PARTS[kind].items():
        instance(f"{name} of a {kind.__name__}", getattr(part, name), expected)


def check_parts(
    bodies: Sequence[Body],
    frames: Sequence[Frame],
    constraints: Iterable[Constraint],
    shapes: Iterable[Shape],
) -> None:
    """Raise an error unless these parts make a model."""
    for body in bodies:
        _check_types(Body, body)
        _check_types(Joint, body.joint)
    for frame in frames:
        _check_types(Frame, frame)
    _check_order(bodies)
    joints = {body.joint.name: body.joint for body in bodies}
    _check_unique("body", [body.name for body in bodies])
    _check_unique("joint", [body.joint.name for body in bodies])
    _check_unique("frame", [frame.name for frame in frames])
    for frame in frames:
        if not -1 <= frame.body < len(bodies):
            raise ModelError(f"frame {frame.name!r} is on body {frame.body}, which does not exist")
    names = {WORLD, *(frame.name for frame in frames)}
    for constraint in constraints:
        _check_constraint(constraint, names, joints)
    for shape in shapes:
        if shape.frame not in names:
            raise UnknownNameError(f"shape {shape.name!r}: there is no frame {shape.frame!r}")


def check_actuators(actuators: Sequence[Actuator], joints: Sequence[Joint]) -> None:
    """Raise an error unless actuators have names of their own, and joints that fit them."""
    types = {joint.name: joint.type for joint in joints}
    names = set()
    for actuator in actuators:
        if actuator.name in names:
            raise ModelError(f"there are two of the actuator name {actuator.name!r}")
        names.add(actuator.name)
        for name in actuator.joints:
            if name not in types:
                raise UnknownNameError(
                    f"actuator {actuator.name!r} names the joint {name!r}, which the model does "
                    f"not have{closest(name, types)}"
                )
        actuator.check_joints([types[name] for name in actuator.joints])


def check_contacts(
    exclusions: Iterable[ContactExclusion],
    pairs: Iterable[ContactPair],
    frames: Iterable[Frame],
    shapes: Sequence[Shape],
) -> None:
    """Raise an error unless frames of exclusions exist, and shapes of pairs, one of each name."""
    frame_names = [WORLD, *(frame.name for frame in frames)]
    for exclusion in exclusions:
        for name in exclusion.frames:
            if name not in frame_names:
                raise UnknownNameError(
                    f"a contact exclusion names the frame {name!r}, which the model does not "
                    f"have{closest(name, frame_names)}"
                )
    shape_names = [shape.name for shape in shapes if shape.role == "collision"]
    for pair in pairs:
        for name in pair.shapes:
            count = shape_names.count(name)
            if count == 0:
                raise UnknownNameError(
                    f"a contact pair names the collision shape {name!r}, which the model does not "
                    f"have{closest(name, shape_names)}"
                )
            if count > 1:
                raise ModelError(
                    f"a contact pair names the collision shape {name!r}, of which the model has "
                    f"{count}"
                )


def _check_unique(what: str, names: list[str]) -> None:
    seen = set()
    for name in names:
        check_name(name, what)
        if name in seen:
            raise ModelError(f"there are two of the {what} name {name!r}")
        seen.add(name)


def _check_order(bodies: Sequence[Body]) -> None:
    """Bodies stand depth first, and their joints divide q and v in this order."""
    path, q, v = [-1], 0, 0  # the bodies from the world to the last one
    for i, body in enumerate(bodies):
        joint = body.joint
        while path and path[-1] != body.parent:
            path.pop()
        expected = (i, slice(q, q + joint.nq), slice(v, v + joint.nv))
        if not path or (joint.index, joint.q, joint.v) != expected or joint.nv == 0:
            raise ModelError(f"body {body.name!r} does not stand depth first among the bodies")
        for field in fields(joint.data):
            count = joint.nv if field.name in VELOCITY_DATA else joint.nq
            if getattr(joint.data, field.name).shape != (count,):
                raise ModelError(f"joint {joint.name!r}: {field.name} must have {count} entries")
        path.append(i)
        q, v = joint.q.stop, joint.v.stop


def _check_constraint(constraint: Constraint, frames: set[str], joints: dict[str, Joint]) -> None:
    kind = type(constraint).__name__
    for name in constraint.frames:
        if name not in frames:
            raise UnknownNameError(
                f"{kind} names the frame {name!r}, which the model does not "
                f"have{closest(name, sorted(frames))}"
            )
    for name in constraint.joints:
        if name not in joints:
            raise UnknownNameError(
                f"{kind} names the joint {name!r}, which the model does not "
                f"have{closest(name, joints)}"
            )
        joint = joints[name]
        if isinstance(constraint, (Gear, Coupling)) and joint.nq != 1:
            raise ModelError(
                f"{kind} needs joints of one coordinate, but {name!r} is "
                f"{type(joint.type).__name__}"
            )
        if isinstance(constraint, Implicit) and not moves_by_velocities(joint.type):
            raise ModelError(
                "Implicit takes joints whose velocities are the derivatives of their "
                f"coordinates, but {name!r} is {type(joint.type).__name__}"
            )

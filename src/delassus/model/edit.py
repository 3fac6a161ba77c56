"""New models from old ones: one attached to another, or with joints locked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

import numpy as np
from numpy.typing import ArrayLike

from ..checks import instance, real_array, shown
from ..compile.recorded.programs import arguments_of_rows, flat
from ..errors import DataTypeError, ModelError
from ..spatial.transform import PlacementLike, Transform
from .builder import ModelBuilder
from .model import Model
from .parts.actuators import Actuator
from .parts.closure import closure_error
from .parts.constraints import Constraint, Coupling, Gear, Implicit, WithLocked
from .parts.contacts import ContactExclusion
from .parts.elements import WORLD, Body, Joint
from .parts.joints import Fixed
from .parts.keyframes import Keyframe

_SATISFIED = 1e-6  # the error up to which a constraint on locked joints alone holds


def attach(
    model: Model,
    other: Model,
    frame: str,
    placement: PlacementLike = None,
    prefix: str = "",
) -> Model:
    """A model in which what `other` has in its world is fixed to a frame of `model`.

    `placement` is that of the other model's world in the frame. `prefix` goes before all names of
    the other model. Bodies that were fixed to its world become part of the body that carries the
    frame, with their mass. If one of them has the frame's name and place, the two are one: a leg
    whose file starts with the trunk is attached to that trunk. Constraints, actuators and contact
    pairs of both models stay. Joints come depth first: those of the other model after what hangs on
    the same body already. Keyframes of one name become one; a model that lacks it is at its neutral
    configuration there. The first model's gravity holds, and its `describes_world`, unless the
    other is attached to the world and has it.
    """
    instance("model", model, Model)
    instance("other", other, Model)
    instance("prefix", prefix, str)
    target = model.frame(frame)
    at = Transform.of(placement)
    shared = _shared_frame(other, frame, at, prefix)
    _check_names(model, other, prefix, shared)
    builder = ModelBuilder(model.name, model.gravity)
    in_world = target.body < 0  # only there what stands around the other model stays around
    builder.describes_world = model.describes_world or (in_world and other.describes_world)
    _Copy(builder, model).add_all()
    copy = _Copy(builder, other, prefix)
    copy.shared_frame = shared
    copy.world_body = WORLD if target.body < 0 else model.bodies[target.body].name
    copy.world_placement = target.placement @ at
    copy.world_frame = frame
    if placement is not None and _names_world(other):
        copy.world_frame = f"{prefix or other.name + '_'}{WORLD}"
        builder.add_frame(copy.world_frame, copy.world_body, copy.world_placement)
    copy.add_all()
    result = builder.build()
    return result.replace(keyframes=_kept_keyframes(result, (model, ""), (other, prefix)))


def reduce(model: Model, lock: Mapping[str, ArrayLike]) -> Model:
    """A model in which some joints no longer move: `reduce(model, {"wrist": 0.3})`.

    A value is one number, or as many as the joint has coordinates. Bodies of locked joints become
    part of their parents; their frames stay. Constraints that name locked joints become relations
    of the remaining ones. Where nothing remains to move, a constraint must hold at the locked
    values, to 1e-6, and is left out. So are actuators of locked joints.
    """
    instance("model", model, Model)
    if not isinstance(lock, Mapping):
        raise DataTypeError(f"lock maps names of joints to values, got {shown(lock)}")
    values = {name: _value(model.joint(name), value) for name, value in lock.items()}
    builder = ModelBuilder(model.name, model.gravity)
    builder.describes_world = model.describes_world
    copy = _Copy(builder, model)
    copy.locked = values
    copy.add_all()
    result = builder.build()
    return result.replace(keyframes=_kept_keyframes(result, (model, "")))


def _kept_keyframes(result: Model, *sources: tuple[Model, str]) -> list[Keyframe]:
    """Keyframes of the models, each with its prefix, that a new one was made of."""
    joints, controls = set(result.joint_names), result.actuator_names
    keyframes = []
    for name in dict.fromkeys(name for source, _ in sources for name in source.keyframes):
        q, v, u = result.neutral(), np.zeros(result.nv), np.zeros(result.nu)
        given = [(s, prefix, s.keyframes[name]) for s, prefix in sources if name in s.keyframes]
        for source, prefix, keyframe in given:
            for joint in source.joints:
                if prefix + joint.name in joints:
                    new = result.joint(prefix + joint.name)
                    q[new.q], v[new.v] = keyframe.q[joint.q], keyframe.v[joint.v]
            for k, actuator in enumerate(source.actuators):
                if prefix + actuator.name in controls:
                    u[controls.index(prefix + actuator.name)] = keyframe.u[k]
        keyframes.append(Keyframe(name, q, v, u, given[0][2].time))
    return keyframes


def _value(joint: Joint, value: ArrayLike) -> np.ndarray:
    array = np.atleast_1d(real_array(f"the value of joint {joint.name!r}", value))
    if array.shape != (joint.nq,) or not np.isfinite(array).all():
        raise ModelError(
            f"joint {joint.name!r} is locked by {joint.nq} finite numbers, got {shown(value)}"
        )
    start = joint.type.quaternion
    if start is not None and not array[start : start + 4].any():
        raise ModelError(f"joint {joint.name!r}: the quaternion is zero")
    return array


class _Copy:
    """Adds a model's parts to a builder, renamed, moved, or with joints locked."""

    def __init__(self, builder: ModelBuilder, model: Model, prefix: str = ""):
        self.builder, self.model, self.prefix = builder, model, prefix
        self.locked: Mapping[str, np.ndarray] = {}
        self.world_body = self.world_frame = WORLD
        self.world_placement = Transform()
        self.shared_frame: str | None = None  # one that the builder has already
        self._named_frames = {frame.name: frame for frame in model.frames}

    def add_all(self) -> None:
        """Add bodies, frames, constraints, shapes, actuators and contacts."""
        for body in self.model.bodies:
            self._add_body(body)
        for frame in self.model.frames:
            if frame.name == self.shared_frame:
                self.builder.add_inertia(frame.name, frame.inertia)
                continue
            placement, inertia, held = frame.placement, frame.inertia, 0.0
            if frame.body < 0:
                placement = self.world_placement @ placement
            else:
                body = self.model.bodies[frame.body]
                if body.name == frame.name and body.joint.name in self.locked:
                    inertia = body.inertia.moved(placement.inverse())
                    held = body.gravity_compensation
            self.builder.add_frame(
                self.prefix + frame.name, self._body_name(frame.body), placement, inertia, held
            )
        for constraint in self.model.constraints:
            kept = self._constraint(constraint)
            if kept is not None:
                self.builder.add_constraint(kept)
        for shape in self.model.shapes:
            name, frame = self.prefix + shape.name, self._frame_name(shape.frame)
            self.builder.add_shape(replace(shape, name=name, frame=frame))
        self._add_equipment()

    def _add_equipment(self) -> None:
        """Add actuators of joints that still move, and what is said of contacts."""
        for actuator in self.model.actuators:
            if not all(name in self.locked for name in actuator.joints):
                self.builder.add_actuator(self._actuator(actuator))
        for exclusion in self.model.contact_exclusions:
            first, second = (self._frame_name(name) for name in exclusion.frames)
            if first != second:  # the world of one model may be a link of the other
                self.builder.add_contact_exclusion(ContactExclusion(first, second))
        for pair in self.model.contact_pairs:
            names = {key: self.prefix + getattr(pair, key) for key in ("shape", "other")}
            self.builder.add_contact_pair(replace(pair, **names))

    def _actuator(self, actuator: Actuator) -> Actuator:
        """An actuator on joints that still move; what others add to its length is constant."""
        name, moving = self.prefix + actuator.name, []
        if isinstance(actuator.joint, str):
            return replace(actuator, name=name, joint=self.prefix + actuator.joint)
        held = 0.0
        for joint, gear in zip(actuator.joint, actuator.gear, strict=True):
            if joint in self.locked:
                held += gear * float(self.locked[joint][0])
            else:
                moving.append((self.prefix + joint, gear))
        joints, gears = zip(*moving, strict=True)
        offset = actuator.offset - (held if actuator.kind == "position" else 0.0)
        return replace(actuator, name=name, joint=joints, gear=gears, offset=offset)

    def _add_body(self, body: Body) -> None:
        joint, name = body.joint, self.prefix + body.name
        placement = body.placement if body.parent >= 0 else self.world_placement @ body.placement
        parent = self._body_name(body.parent)
        if joint.name in self.locked:
            placement = placement @ joint.type.displacement(self.locked[joint.name])
            # The frame of the body's name, which most bodies have, brings the inertia with it.
            inertia = None if body.name in self._named_frames else body.inertia
            self.builder.add_body(
                name,
                parent,
                Fixed(),
                placement,
                inertia=inertia,
                named_frame=False,
                gravity_compensation=body.gravity_compensation,
            )
            return
        self.builder.add_body(
            name,
            parent,
            joint.type,
            placement,
            inertia=body.inertia,
            joint_name=self.prefix + joint.name,
            independent=joint.independent,
            named_frame=False,
            gravity_compensation=body.gravity_compensation,
            **{field.name: getattr(joint.data, field.name) for field in fields(joint.data)},
        )

    def _body_name(self, index: int) -> str:
        return self.world_body if index < 0 else self.prefix + self.model.bodies[index].name

    def _frame_name(self, name: str) -> str:
        return self.world_frame if name == WORLD else self.prefix + name

    # --- constraints ------------------------------------------------------------------------------

    def _constraint(self, constraint: Constraint) -> Constraint | None:
        """A constraint on the new model, None if it holds for good."""
        locked = [name for name in constraint.joints if name in self.locked]
        if constraint.frames:
            return self._between_frames(constraint)
        if not locked:
            return self._renamed(constraint)
        if isinstance(constraint, Implicit):
            return self._implicit_remainder(constraint)
        return self._remainder(constraint)

    def _implicit_remainder(self, constraint: Implicit) -> Implicit | None:
        """The rows that depend on joints that still move, as a function of these."""
        x, given = [], {}
        for joint in map(self.model.joint, constraint.joints):
            value = self.locked.get(joint.name)
            if value is not None:
                given.update(enumerate(map(float, value), start=len(x)))
            x += [0.0] * joint.nq if value is None else map(float, value)
        needed = arguments_of_rows(constraint.function, len(x))
        moving = tuple(k for k, arguments in enumerate(needed) if arguments - given.keys())
        with np.errstate(all="ignore"):
            value = list(flat(constraint.function(np.array(x))))
        error = max((abs(y) for k, y in enumerate(value) if k not in moving), default=0.0)
        if not error <= _SATISFIED:
            raise ModelError(
                f"the Implicit constraint on {', '.join(map(repr, constraint.joints))} does not "
                f"hold at the locked values (error {error:.3g}), and no joint is left to move it"
            )
        free = [self.prefix + name for name in constraint.joints if name not in self.locked]
        function = WithLocked(constraint.function, tuple(given.items()), moving)
        return Implicit(function, free) if moving else None

    def _renamed(self, constraint: Constraint) -> Constraint:
        if not self.prefix:
            return constraint
        if isinstance(constraint, Implicit):
            return Implicit(constraint.function, [self.prefix + n for n in constraint.joints])
        if isinstance(constraint, Coupling):
            coefficients = {self.prefix + n: c for n, c in constraint.coefficients.items()}
            return Coupling(coefficients, constraint.offset)
        return replace(
            constraint, joint=self.prefix + constraint.joint, other=self.prefix + constraint.other
        )

    def _between_frames(self, constraint: Constraint) -> Constraint | None:
        names = {role: self._frame_name(getattr(constraint, role)) for role in ("frame", "other")}
        result = replace(constraint, **names)
        frame, other = (self.builder.frame(name) for name in names.values())
        if frame.body != other.body or not self.locked:
            return result
        error = closure_error(constraint, other.placement.inverse() @ frame.placement)
        if error > _SATISFIED:
            raise ModelError(
                f"{constraint} does not hold at the locked values (error {error:.3g}), and no "
                "joint is left to move its frames"
            )
        return None

    def _remainder(self, constraint: Constraint) -> Constraint | None:
        """A linear relation with the locked joints' part moved to the other side."""
        if isinstance(constraint, Gear):
            given = {constraint.joint: 1.0, constraint.other: -constraint.ratio}
        else:
            given = constraint.coefficients
        offset = constraint.offset - sum(
            c * float(self.locked[n][0]) for n, c in given.items() if n in self.locked
        )
        free = {self.prefix + n: c for n, c in given.items() if n not in self.locked and c}
        if free:
            return Coupling(free, offset)
        if abs(offset) > _SATISFIED:
            raise ModelError(
                f"{constraint} does not hold at the locked values (error {abs(offset):.3g}), and "
                "all its joints are locked"
            )
        return None


def _names_world(model: Model) -> bool:
    """Whether something refers to the world by name."""
    in_constraints = any(WORLD in constraint.frames for constraint in model.constraints)
    in_contacts = any(WORLD in exclusion.frames for exclusion in model.contact_exclusions)
    return in_constraints or in_contacts or any(shape.frame == WORLD for shape in model.shapes)


def _shared_frame(other: Model, frame: str, at: Transform, prefix: str) -> str | None:
    """The name of a frame, if the other model has one of this name at the same place."""
    if prefix:
        return None
    for own in other.frames:
        if own.name == frame and own.body < 0 and (at @ own.placement).is_close(Transform()):
            return frame
    return None


def _check_names(model: Model, other: Model, prefix: str, shared: str | None) -> None:
    for kind in ("body", "joint", "frame", "actuator"):
        taken = set(getattr(model, f"{kind}_names"))
        if kind == "frame":
            taken.discard(shared)
        clashes = [n for n in getattr(other, f"{kind}_names") if prefix + n in taken]
        if clashes:
            raise ModelError(
                f"both models have the {kind} {', '.join(repr(prefix + n) for n in clashes[:3])}"
                f"{' and others' if len(clashes) > 3 else ''}; give a prefix, such as "
                f"prefix={other.name + '_'!r}"
            )

"""Builds models body by body; every reader of files ends here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from ..checks import finite_number, finite_vector, flag, instance, real_array, shown
from ..errors import ModelError, UnknownNameError
from ..spatial.constant import unit_vector
from ..spatial.inertia import Inertia
from ..spatial.transform import PlacementLike, Transform
from .integrity import check_name
from .model import Model
from .parts.actuators import Actuator
from .parts.constraints import Constraint
from .parts.contacts import ContactExclusion, ContactPair
from .parts.elements import VELOCITY_DATA, WORLD, Body, Frame, Joint, JointData, Shape
from .parts.joints import Fixed, JointType, Revolute
from .parts.keyframes import Keyframe
from .parts.names import closest

STANDARD_GRAVITY = (0.0, 0.0, -9.81)


@dataclass
class _Draft:
    """A moving body before the bodies are put in order."""

    name: str
    parent: int
    joint_name: str
    type: JointType
    placement: Transform
    inertia: Inertia
    data: JointData
    independent: bool | None
    # Masses that it is made of, and the part of the weight of each that is compensated.
    compensated: list[tuple[float, float]] = field(default_factory=list)

    def gravity_compensation(self) -> float:
        """The compensated part of the whole weight."""
        parts = {part for mass, part in self.compensated if mass > 0.0}
        if len(parts) <= 1:
            return parts.pop() if parts else 0.0
        weights = np.array(self.compensated)
        return float(weights.prod(axis=1).sum() / weights[:, 0].sum())


class ModelBuilder:
    """Collects bodies, frames and constraints; `build` makes the model.

    >>> b = ModelBuilder("pendulum")
    >>> b.add_body("rod", joint=Revolute([0, 1, 0]), mass=1.0, com=[0, 0, -0.5])
    >>> b.add_frame("tip", "rod", [0, 0, -1.0])
    >>> model = b.build()
    >>> model.nv
    1
    """

    def __init__(self, name: str = "model", gravity: ArrayLike = STANDARD_GRAVITY):
        self.name = instance("the name of a model", name, str)
        self.gravity = finite_vector("gravity", gravity, 3, ModelError)
        # Whether the model has what stands in its world, so that a simulator adds no ground.
        self.describes_world = False
        self._drafts: list[_Draft] = []
        self._joint_names: set[str] = set()
        # Every body, fixed ones too: the moving body it belongs to and its placement there.
        self._bodies: dict[str, tuple[int, Transform]] = {WORLD: (-1, Transform())}
        self._frames: dict[str, Frame] = {}
        self._constraints: list[Constraint] = []
        self._shapes: list[Shape] = []
        self._actuators: list[Actuator] = []
        self._exclusions: list[ContactExclusion] = []
        self._pairs: list[ContactPair] = []
        self._keyframes: list[Keyframe] = []

    def add_body(
        self,
        name: str,
        parent: str = WORLD,
        joint: JointType | None = None,
        placement: PlacementLike = None,
        *,
        mass: float = 0.0,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike | Inertia | None = None,
        joint_name: str | None = None,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        velocity_limit: ArrayLike | None = None,
        effort_limit: ArrayLike | None = None,
        damping: ArrayLike | None = None,
        friction: ArrayLike | None = None,
        armature: ArrayLike | None = None,
        stiffness: ArrayLike | None = None,
        rest: ArrayLike | None = None,
        independent: bool | None = None,
        origin: PlacementLike = None,
        named_frame: bool = True,
        gravity_compensation: float = 0.0,
    ) -> None:
        """Add a body that moves on `parent` by a joint (Revolute about z if none is given).

        `placement` is that of the joint in the parent's frame: a Transform, a 4x4 matrix, a
        translation or (rotation, translation). The body's frame is the joint's after its motion.
        `inertia` is about the centre of mass `com`, 3x3 or six numbers, or an Inertia that holds
        mass and centre too. Limits have nq entries or one, the other data nv entries or one.
        `rest` is where springs of the given stiffness are relaxed. `independent` is a hint for
        mechanisms with constraints: whether the joint is among those that drive the others.

        A frame of the body's name is made with it, unless `named_frame` is False. `origin` places
        that frame, to which the mass data and the placements of children refer, in the joint's;
        they are the same by default. `gravity_compensation` is the part of the body's weight that
        is held up (see `Body`); bodies that become one have the mean of theirs, by mass.
        """
        joint = Revolute() if joint is None else joint
        if not isinstance(joint, JointType):
            raise ModelError(f"body {shown(name)}: joint must be a joint type, got {shown(joint)}")
        name = self._new_name(name, self._bodies, "body")
        if flag("named_frame", named_frame):
            self._new_name(name, self._frames, "frame")
        joint_name = f"{name}_joint" if joint_name is None else joint_name
        taken = () if isinstance(joint, Fixed) else self._joint_names
        joint_name = self._new_name(joint_name, taken, "joint")
        independent = None if independent is None else flag("independent", independent)
        carrier, at = self._body(parent, f"parent of body {name!r}")
        try:
            where = at @ Transform.of(placement)
            own = inertia if isinstance(inertia, Inertia) else Inertia.of(mass, com, inertia)
            origin = Transform.of(origin)
            held = finite_number("gravity_compensation", gravity_compensation, ModelError)
            data = _joint_data(joint, lower, upper, rest, {
                "velocity_limit": velocity_limit, "effort_limit": effort_limit, "damping": damping,
                "friction": friction, "armature": armature, "stiffness": stiffness,
            })  # fmt: skip
        except ModelError as error:
            raise type(error)(f"body {name!r}: {error}") from None
        if isinstance(joint, Fixed):
            self._bodies[name] = (carrier, where @ origin)
            if named_frame:
                self.add_frame(name, name, inertia=own, gravity_compensation=held)
            else:
                self._give(own, carrier, where @ origin, held)
            return
        own = own.moved(origin)
        self._joint_names.add(joint_name)
        self._bodies[name] = (len(self._drafts), origin)
        self._drafts.append(
            _Draft(
                name, carrier, joint_name, joint, where, own, data, independent, [(own.mass, held)]
            )
        )
        if named_frame:
            self.add_frame(name, name)

    def add_frame(
        self,
        name: str,
        body: str = WORLD,
        placement: PlacementLike = None,
        inertia: Inertia | None = None,
        gravity_compensation: float = 0.0,
    ) -> None:
        """Add a frame that is fixed to a body, or to another frame, or to the world.

        An inertia given with it becomes part of the body; that of a frame in the world is kept with
        the frame, for when the model is attached to another. `gravity_compensation` is that of
        the inertia, as in `add_body`; in the world it is not kept.
        """
        name = self._new_name(name, self._frames, "frame")
        if not self.has_body(body) and self.has_frame(body):
            known = self._frames[body]
            carrier, at = known.body, known.placement
        else:
            carrier, at = self._body(body, f"body of frame {name!r}")
        where = at @ Transform.of(placement)
        if inertia is not None:
            instance("inertia", inertia, Inertia)
        self._frames[name] = Frame(name, carrier, where)
        if inertia is not None:
            self.add_inertia(name, inertia, gravity_compensation)

    def add_inertia(self, frame: str, inertia: Inertia, gravity_compensation: float = 0.0) -> None:
        """Add mass that is fixed to a frame: the body that carries it gets it.

        That of a frame in the world is kept with the frame, as in `add_frame`.
        """
        known = self.frame(frame)
        held = finite_number("gravity_compensation", gravity_compensation, ModelError)
        self._give(instance("inertia", inertia, Inertia), known.body, known.placement, held)
        if known.body < 0 and frame != WORLD:
            self._frames[frame] = replace(known, inertia=known.inertia + inertia)

    def _give(self, inertia: Inertia, carrier: int, where: Transform, held: float) -> None:
        """Add an inertia to that of the body that carries it; the world needs none."""
        if carrier >= 0:
            draft = self._drafts[carrier]
            draft.compensated.append((inertia.mass, held))
            draft.inertia = draft.inertia + inertia.moved(where)

    def frame(self, name: str) -> Frame:
        """A frame as it stands now, with its body in the order of addition."""
        if not self.has_frame(name):
            raise UnknownNameError(f"there is no frame {shown(name)}{closest(name, self._frames)}")
        return Frame(WORLD, -1, Transform()) if name == WORLD else self._frames[name]

    def has_frame(self, name: str) -> bool:
        """Whether a frame of this name exists already."""
        return isinstance(name, str) and (name == WORLD or name in self._frames)

    def has_body(self, name: str) -> bool:
        """Whether a body of this name, fixed or moving, exists already."""
        return isinstance(name, str) and name in self._bodies

    def add_constraint(self, constraint: Constraint) -> None:
        """Declare a constraint; the frames and joints it names are looked up by `build`."""
        if not isinstance(constraint, Constraint):
            raise ModelError(f"expected a constraint such as Connect(...), got {shown(constraint)}")
        self._constraints.append(constraint)

    def add_shape(self, shape: Shape) -> None:
        """Add what a body looks like or collides with."""
        if not isinstance(shape, Shape):
            raise ModelError(f"expected a Shape, got {shown(shape)}")
        if not self.has_frame(shape.frame):
            raise UnknownNameError(f"shape {shape.name!r}: there is no frame {shape.frame!r}")
        self._shapes.append(shape)

    def add_actuator(self, actuator: Actuator) -> None:
        """Add a motor or servo; `build` looks up its joint, which may have several."""
        if not isinstance(actuator, Actuator):
            raise ModelError(f"expected an Actuator, got {shown(actuator)}")
        self._actuators.append(actuator)

    def add_contact_exclusion(self, exclusion: ContactExclusion) -> None:
        """Declare that shapes of two frames never touch; `build` looks the frames up."""
        if not isinstance(exclusion, ContactExclusion):
            raise ModelError(f"expected a ContactExclusion, got {shown(exclusion)}")
        self._exclusions.append(exclusion)

    def add_contact_pair(self, pair: ContactPair) -> None:
        """Declare that two shapes can touch; `build` looks them up."""
        if not isinstance(pair, ContactPair):
            raise ModelError(f"expected a ContactPair, got {shown(pair)}")
        self._pairs.append(pair)

    def add_keyframe(self, keyframe: Keyframe) -> None:
        """Add a named state, in the order of coordinates and actuators that `build` gives."""
        if not isinstance(keyframe, Keyframe):
            raise ModelError(f"expected a Keyframe, got {shown(keyframe)}")
        self._keyframes.append(keyframe)

    def build(self) -> Model:
        """Make the model: bodies depth first, children in the order they were added."""
        order = self._depth_first()
        position = {old: new for new, old in enumerate(order)}
        position[-1] = -1
        bodies, q, v = [], 0, 0
        for index, old in enumerate(order):
            d = self._drafts[old]
            own_q, own_v = slice(q, q + d.type.nq), slice(v, v + d.type.nv)
            joint = Joint(d.joint_name, d.type, index, own_q, own_v, d.data, d.independent)
            q, v = joint.q.stop, joint.v.stop
            held = d.gravity_compensation()
            bodies.append(Body(d.name, position[d.parent], joint, d.placement, d.inertia, held))
        return Model(
            self.name,
            bodies,
            [replace(f, body=position[f.body]) for f in self._frames.values()],
            self._constraints,
            self._shapes,
            self.gravity,
            self._actuators,
            self._exclusions,
            self._pairs,
            self._keyframes,
            self.describes_world,
        )

    def _depth_first(self) -> list[int]:
        children: dict[int, list[int]] = {}
        for i, d in enumerate(self._drafts):
            children.setdefault(d.parent, []).append(i)
        order, stack = [], list(reversed(children.get(-1, [])))
        while stack:
            i = stack.pop()
            order.append(i)
            stack.extend(reversed(children.get(i, [])))
        return order

    def _new_name(self, name: str, taken, what: str) -> str:
        check_name(name, what)
        if name in taken:
            raise ModelError(f"there are two of the {what} name {name!r}")
        return name

    def _body(self, name: str, what: str) -> tuple[int, Transform]:
        if not self.has_body(name):
            raise UnknownNameError(
                f"{what}: there is no body {shown(name)}{closest(name, self._bodies)}"
            )
        return self._bodies[name]


def _joint_data(joint: JointType, lower, upper, rest, others: dict) -> JointData:
    limits = {
        "lower": _filled("lower", lower, joint.nq, -np.inf),
        "upper": _filled("upper", upper, joint.nq, np.inf),
    }
    lowest, highest = limits.values()
    if ((lowest > highest) | (lowest == np.inf) | (highest == -np.inf)).any():
        raise ModelError(f"the lower limit {shown(lower)} is above the upper limit {shown(upper)}")
    entries = {
        name: _filled(name, others[name], joint.nv, default)
        for name, default in VELOCITY_DATA.items()
    }
    for name, x in entries.items():
        if (x < 0.0).any():
            raise ModelError(f"{name} must not be negative, got {shown(others[name])}")
        if not name.endswith("limit") and not np.isfinite(x).all():
            raise ModelError(f"{name} must be finite, got {shown(others[name])}")
    relaxed = joint.neutral() if rest is None else _filled("rest", rest, joint.nq, 0.0)
    if not np.isfinite(relaxed).all():
        raise ModelError(f"rest must be finite, got {shown(rest)}")
    if (start := joint.quaternion) is not None:
        unit = unit_vector("the quaternion of rest", relaxed[start : start + 4], 4)
        relaxed = np.concatenate([relaxed[:start], unit])
    return JointData(**limits, **entries, rest=relaxed)


def _filled(name: str, value, count: int, default: float) -> np.ndarray:
    array = real_array(name, default if value is None else value, ModelError)
    if array.shape not in ((), (count,)) or np.isnan(array).any():
        raise ModelError(f"{name} takes one number or {count}, got {shown(value)}")
    return np.broadcast_to(array, (count,))

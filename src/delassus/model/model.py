"""The model of a mechanism: constant data, shared freely between threads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import finite_vector, flag, instance, items, shown
from ..errors import ModelError, UnknownNameError
from ..spatial.constant import Immutable, constant, with_constant_arrays
from ..spatial.transform import Transform
from . import configuration, configuration_derivatives, packed, saving, show
from .configuration import RandomLike
from .configuration_derivatives import DifferenceDerivatives, IntegrateDerivatives
from .integrity import check_actuators, check_contacts, check_parts
from .mechanism import Mechanism
from .parts.actuators import Actuator
from .parts.constraints import Constraint
from .parts.contacts import ContactExclusion, ContactPair
from .parts.elements import WORLD, Body, Frame, Joint, Shape
from .parts.keyframes import Keyframe
from .parts.names import closest

# What a model is made of, by the names of its attributes.
_PARTS = (
    "name", "bodies", "frames", "constraints", "shapes", "gravity", "actuators",
    "contact_exclusions", "contact_pairs", "keyframes", "describes_world",
)  # fmt: skip


class Model(Immutable, Mechanism):
    """Bodies, joints, frames, constraints and their numbers. Made by `load` or a `ModelBuilder`."""

    _instead = "; model.replace(gravity=...) makes a copy that differs"

    def __init__(
        self,
        name: str,
        bodies: Iterable[Body],
        frames: Iterable[Frame],
        constraints: Iterable[Constraint],
        shapes: Iterable[Shape],
        gravity: ArrayLike,
        actuators: Iterable[Actuator] = (),
        contact_exclusions: Iterable[ContactExclusion] = (),
        contact_pairs: Iterable[ContactPair] = (),
        keyframes: Iterable[Keyframe] | Mapping[str, Keyframe] = (),
        describes_world: bool = False,
    ):
        super().__init__()
        self.name: str = instance("the name of a model", name, str)
        self.bodies: tuple[Body, ...] = items("bodies", bodies, Body)
        self.frames: tuple[Frame, ...] = items("frames", frames, Frame)
        self.constraints: tuple[Constraint, ...] = items("constraints", constraints, Constraint)
        self.shapes: tuple[Shape, ...] = items("shapes", shapes, Shape)
        self.gravity = constant(finite_vector("gravity", gravity, 3, ModelError))
        # Whether what stands in the world is described too: then a simulator adds no ground.
        self.describes_world = flag("describes_world", describes_world)
        check_parts(self.bodies, self.frames, self.constraints, self.shapes)
        self.joints = tuple(b.joint for b in self.bodies)
        self.nq = sum(j.nq for j in self.joints)
        self.nv = sum(j.nv for j in self.joints)
        self._add_equipment(actuators, contact_exclusions, contact_pairs, keyframes)
        self._joint = {j.name: j for j in self.joints}
        self._body = {b.name: i for i, b in enumerate(self.bodies)}
        self._frame = {f.name: i for i, f in enumerate(self.frames)}
        self.lower, self.upper = self._gather("lower"), self._gather("upper")
        self.velocity_limit = self._gather("velocity_limit")
        self.effort_limit = self._gather("effort_limit")
        self.dimensions = packed.dimensions(self)
        self._is_made = True

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(with_constant_arrays(state))

    def replace(self, **changes: Any) -> Model:
        """A copy with another `name`, `gravity`, `frames`, `constraints`, `shapes`, `actuators`,
        `contact_exclusions`, `contact_pairs`, `keyframes` or `describes_world`.

        For other bodies and joints see `ModelBuilder`, `attach` and `reduce`. Where actuators
        change, the controls of keyframes follow by name, and those of new actuators are zero.
        """
        known = [name for name in _PARTS if name != "bodies"]
        for name in changes:
            if name not in known:
                raise UnknownNameError(
                    f"replace changes {', '.join(map(repr, known))}, not {name!r}"
                    + closest(name, known)
                )
        if "actuators" in changes and "keyframes" not in changes:
            actuators = items("actuators", changes["actuators"], Actuator)
            names = [actuator.name for actuator in actuators]
            moved = [x.with_controls(self.actuator_names, names) for x in self._keyframes.values()]
            changes |= {"actuators": actuators, "keyframes": moved}
        return Model(**{name: changes.get(name, getattr(self, name)) for name in _PARTS})

    def _add_equipment(
        self,
        actuators: Iterable[Actuator],
        exclusions: Iterable[ContactExclusion],
        pairs: Iterable[ContactPair],
        keyframes: Iterable[Keyframe] | Mapping[str, Keyframe],
    ) -> None:
        """Take what simulators need beyond bodies, joints and constraints."""
        self.actuators: tuple[Actuator, ...] = items("actuators", actuators, Actuator)
        check_actuators(self.actuators, self.joints)
        self.contact_exclusions: tuple[ContactExclusion, ...] = items(
            "contact_exclusions", exclusions, ContactExclusion
        )
        self.contact_pairs: tuple[ContactPair, ...] = items("contact_pairs", pairs, ContactPair)
        check_contacts(self.contact_exclusions, self.contact_pairs, self.frames, self.shapes)
        given = keyframes.values() if isinstance(keyframes, Mapping) else keyframes
        fitted = [
            keyframe.fitted(self.nq, self.nv, len(self.actuators))
            for keyframe in items("keyframes", given, Keyframe)
        ]
        self._keyframes = {keyframe.name: keyframe for keyframe in fitted}
        if len(self._keyframes) < len(fitted):
            raise ModelError("two keyframes have one name")

    # --- names ------------------------------------------------------------------------------------

    @property
    def n_bodies(self) -> int:
        """Number of moving bodies, which is that of joints."""
        return len(self.bodies)

    @property
    def joint_names(self) -> list[str]:
        """Names of the joints, depth first."""
        return [j.name for j in self.joints]

    @property
    def body_names(self) -> list[str]:
        """Names of the moving bodies, in the order of their joints."""
        return [b.name for b in self.bodies]

    @property
    def frame_names(self) -> list[str]:
        """Names of all frames."""
        return [f.name for f in self.frames]

    def joint(self, name: str) -> Joint:
        """The joint of a name; `.q` and `.v` are its slices of q and v."""
        if not isinstance(name, str) or name not in self._joint:
            raise UnknownNameError(
                f"model {self.name!r} has no joint {shown(name)}{closest(name, self._joint)}"
            )
        return self._joint[name]

    def degrees_of_freedom(self, joint: str) -> np.ndarray:
        """Numbers of a joint's velocities, in v."""
        own = self.joint(joint).v
        return np.arange(own.start, own.stop)

    def body(self, name: str) -> Body:
        """The moving body of a name."""
        return self.bodies[self.body_index(name)]

    def body_index(self, name: str) -> int:
        """Where a body stands among `bodies`, and so among external forces."""
        if not isinstance(name, str) or name not in self._body:
            raise UnknownNameError(
                f"model {self.name!r} has no moving body {shown(name)}{closest(name, self._body)}"
            )
        return self._body[name]

    def frame(self, name: str) -> Frame:
        """The frame of a name; "world" always exists."""
        index = self.frame_index(name)
        return self.frames[index] if index < len(self.frames) else _WORLD_FRAME

    def frame_index(self, name: str) -> int:
        """Where a frame stands among `frames`; the world stands after the last."""
        if isinstance(name, str) and name in self._frame:
            return self._frame[name]
        if isinstance(name, str) and name == WORLD:
            return len(self.frames)
        raise UnknownNameError(
            f"model {self.name!r} has no frame {shown(name)}{closest(name, self._frame)}"
        )

    @property
    def nu(self) -> int:
        """Number of actuators, and so of controls."""
        return len(self.actuators)

    @property
    def actuator_names(self) -> list[str]:
        """Names of the actuators, in the order of their controls."""
        return [a.name for a in self.actuators]

    @property
    def keyframes(self) -> Mapping[str, Keyframe]:
        """Named states, such as `model.keyframes["home"].q`."""
        return MappingProxyType(self._keyframes)

    @cached_property
    def mass(self) -> float:
        """Mass of all moving bodies."""
        return float(sum(b.inertia.mass for b in self.bodies))

    # --- configurations ---------------------------------------------------------------------------

    def neutral(self) -> np.ndarray:
        """The configuration in which no joint displaces its body."""
        return np.concatenate([j.type.neutral() for j in self.joints] or [np.zeros(0)])

    def random_configuration(
        self, rng: RandomLike = None, N: int | np.integer | None = None
    ) -> np.ndarray:
        """Random configurations within the limits, (nq,) or (N, nq).

        Coordinates without limits are drawn from [-pi, pi] (angles) or [-1, 1] (distances),
        quaternions uniformly from all rotations. `rng` is a NumPy generator, a seed or None.
        """
        return configuration.random(self, rng, N)

    def integrate(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        threads: int | None = None,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """The configuration reached from q by the velocity v held for one unit of time."""
        return configuration.integrate(self, (q, v), out, threads)

    def difference(
        self,
        q0: ArrayLike,
        q1: ArrayLike,
        *,
        threads: int | None = None,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """The velocity that leads from q0 to q1 in one unit of time."""
        return configuration.difference(self, (q0, q1), out, threads)

    def integrate_derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        *,
        threads: int | None = None,
        out: Sequence[np.ndarray] | None = None,
    ) -> IntegrateDerivatives:
        """integrate(q (+) x, v + y) = integrate(q, v) (+) (dq x + dv y) for small x and y.

        q (+) x stands for integrate(q, x): changes of configurations are velocities.
        """
        outputs = configuration_derivatives.integrate_derivatives(self, (q, v), out, threads)
        return IntegrateDerivatives(*outputs)

    def difference_derivatives(
        self,
        q0: ArrayLike,
        q1: ArrayLike,
        *,
        threads: int | None = None,
        out: Sequence[np.ndarray] | None = None,
    ) -> DifferenceDerivatives:
        """difference(q0 (+) x, q1 (+) y) = difference(q0, q1) + dq0 x + dq1 y for small x and y.

        q (+) x stands for integrate(q, x): changes of configurations are velocities.
        """
        outputs = configuration_derivatives.difference_derivatives(self, (q0, q1), out, threads)
        return DifferenceDerivatives(*outputs)

    def normalize(
        self, q: ArrayLike, *, threads: int | None = None, out: np.ndarray | None = None
    ) -> np.ndarray:
        """q with its quaternions, of whatever length, scaled to unit length; NaN for a zero one."""
        return configuration.normalize(self, (q,), out, threads)

    # --- files and people -------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, which `load` reads back to the same numbers."""
        saving.save(self, path)

    def __str__(self) -> str:
        return show.tree(self)

    def __repr__(self) -> str:
        return f"<Model {self.name!r}: {self.n_bodies} bodies, nq={self.nq}, nv={self.nv}>"

    def _gather(self, attribute: str) -> np.ndarray:
        parts = [getattr(j.data, attribute) for j in self.joints]
        return constant(np.concatenate(parts) if parts else np.zeros(0))


_WORLD_FRAME = Frame(WORLD, -1, Transform())

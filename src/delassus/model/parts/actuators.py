"""Actuators as they are declared: motors and servos of a joint, or of several by a tendon.

They live on `model.actuators`, and `actuator_forces` computes what they do. Symbols of the law:

| symbol | name here | what it is |
| --- | --- | --- |
| u | `u` of `actuator_forces` | the control, one number for each actuator |
| g | `gear` | one number for each degree of freedom of the joint or joints |
| l, l' | | length g . q and its rate g . v |
| kp, kv | `stiffness`, `damping` | gains of a servo |
| f | | the actuator's own force; the joint gets g f |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...checks import finite_number, flag, real_array, shown
from ...errors import DelassusError, ModelError
from .joints import Free, JointType, Planar, Spherical
from .names import known_name, names_of

KINDS = ("torque", "position", "velocity")
MOST_JOINTS = 6  # of a tendon, as many as the degrees of freedom of a joint
Range = tuple[float, float]


@dataclass(frozen=True)
class Actuator:
    """tau = g f on a joint, where f is a force (torque), or that of a servo, within a range.

    With the control u, clipped to `control_range`, and r = `scale` u + `offset`:

        f = r                         "torque"
        f = kp (r - l) - kv l'        "position"
        f = kv (r - l')               "velocity"

    f is clipped to `force_range`. The length is l = g . q and its rate l' = g . v, as in MuJoCo: so
    a servo's target is that of the motor's side of the gear, and both force and target have the
    gear's factor. What all actuators of a degree of freedom add up to is clipped to the joint's
    `effort_limit`.

    For a spherical joint q stands for the rotation vector of its quaternion. It has many, and the
    servo goes the shorter way round: of the lengths l + 2 pi k |g|, that nearest to u counts. (With
    a `scale` other than 1 it is the shortest rotation vector's, again as in MuJoCo.)

    `gear` is one number for each degree of freedom of the joint, in the order of its v; one number
    alone is for a joint of one. With `in_parent`, those of a spherical or free joint are along the
    axes of the joint's frame, which its motion does not turn, and not along the body's axes. A free
    or planar joint has no length, and so no position servo.

    `joint` may be the names of up to six joints of one degree of freedom each, on which the
    actuator pulls by a tendon: `gear` has a number for each of them.
    """

    name: str
    joint: str | tuple[str, ...]
    kind: str = "torque"
    gear: tuple[float, ...] = (1.0,)
    stiffness: float = 0.0  # kp
    damping: float = 0.0  # kv
    control_range: Range | None = None
    force_range: Range | None = None
    scale: float = 1.0
    offset: float = 0.0
    in_parent: bool = False

    if TYPE_CHECKING:  # one number is taken for a gear, and any two for a range

        def __init__(
            self,
            name: str,
            joint: str | Iterable[str],
            kind: str = "torque",
            gear: ArrayLike = 1.0,
            stiffness: float = 0.0,
            damping: float = 0.0,
            control_range: ArrayLike | None = None,
            force_range: ArrayLike | None = None,
            scale: float = 1.0,
            offset: float = 0.0,
            in_parent: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f"the name of an actuator is a string, got {shown(self.name)}")
        object.__setattr__(self, "joint", _joint_names(self.name, self.joint))
        try:
            values = self._checked()
        except DelassusError as error:
            told = f"actuator {self.name!r} of {self._target}: {error}"
            raise type(error)(told) from None
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _checked(self) -> dict:
        """The attributes as plain numbers and tuples."""
        known_name("its kind", self.kind, KINDS)
        numbers = {
            name: finite_number(name, getattr(self, name), ModelError)
            for name in ("stiffness", "damping", "scale", "offset")
        }
        for name in ("stiffness", "damping"):
            if numbers[name] < 0.0:
                raise ModelError(f"{name} must not be negative, got {numbers[name]}")
        if self.kind != "position" and numbers["stiffness"] > 0.0:
            raise ModelError(f"only a position servo has a stiffness, and this is a {self.kind}")
        if self.kind == "torque" and numbers["damping"] > 0.0:
            raise ModelError("only servos have a damping, and this is a torque")
        gear = np.atleast_1d(real_array("gear", self.gear, ModelError))
        if gear.ndim != 1 or not 1 <= len(gear) <= 6 or not np.isfinite(gear).all():
            raise ModelError(f"gear takes one to six finite numbers, got {shown(self.gear)}")
        return {
            **numbers,
            "gear": tuple(map(float, gear)),
            "control_range": number_range("control_range", self.control_range),
            "force_range": number_range("force_range", self.force_range),
            "in_parent": flag("in_parent", self.in_parent),
        }

    @property
    def joints(self) -> tuple[str, ...]:
        """The names of the joints that it acts on: one, or those of its tendon."""
        return (self.joint,) if isinstance(self.joint, str) else self.joint

    @property
    def _target(self) -> str:
        return f"joint {self.joint!r}" if isinstance(self.joint, str) else f"joints {self.joint}"

    def check_joints(self, types: Sequence[JointType]) -> None:
        """Raise an error unless the actuator can act on joints of these types."""
        if isinstance(self.joint, str):
            self._check_joint(types[0])
            return
        if len(self.gear) != len(types):
            raise ModelError(
                f"actuator {self.name!r}: the gear of {len(types)} joints takes as many numbers, "
                f"got {len(self.gear)}"
            )
        for name, joint in zip(self.joint, types, strict=True):
            if joint.nq != 1 or joint.nv != 1:
                raise ModelError(
                    f"actuator {self.name!r}: joint {name!r} is {type(joint).__name__}, and a "
                    "tendon runs over joints of one degree of freedom"
                )
        if self.in_parent:
            raise ModelError(f"actuator {self.name!r}: in_parent is for a single joint")

    def _check_joint(self, joint: JointType) -> None:
        about = f"actuator {self.name!r}: joint {self.joint!r} is {type(joint).__name__}"
        if len(self.gear) != joint.nv:
            raise ModelError(
                f"{about}, whose gear takes {joint.nv} number{'s' if joint.nv > 1 else ''}, "
                f"got {len(self.gear)}"
            )
        if self.in_parent and not isinstance(joint, (Free, Spherical)):
            raise ModelError(f"{about}, whose axes its motion does not turn (in_parent)")
        if self.kind == "position" and isinstance(joint, (Free, Planar)):
            raise ModelError(f"{about}, which has no length that a position servo could hold")


def _joint_names(actuator: str, given: str | Iterable[str]) -> str | tuple[str, ...]:
    """The name of a joint, or the names of several, each once; of one alone it is the name."""
    names = names_of(f"the joints of actuator {actuator!r}", given)
    if not 1 <= len(names) <= MOST_JOINTS or len(set(names)) < len(names) or not all(names):
        raise ModelError(
            f"actuator {actuator!r}: the joint of an actuator is a string, or one to "
            f"{MOST_JOINTS} different ones, got {shown(given)}"
        )
    return names[0] if len(names) == 1 else tuple(names)


def number_range(what: str, given: ArrayLike | None) -> Range | None:
    """Two numbers, the first not above the second, either of which may be infinite; or None."""
    if given is None:
        return None
    array = real_array(what, given, ModelError)
    if array.shape != (2,) or np.isnan(array).any():
        raise ModelError(f"{what} must be two numbers, got {shown(given)}")
    lower, upper = map(float, array)
    if lower > upper or lower == np.inf or upper == -np.inf:
        raise ModelError(f"{what} must be a lower and an upper number, got {shown(given)}")
    return lower, upper

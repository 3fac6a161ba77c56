"""The types of joints that a model can have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ...checks import finite_number, finite_vector
from ...errors import ModelError
from ...spatial.constant import unit_vector
from ...spatial.transform import (
    Transform,
    rotation_from_quaternion,
    rotation_from_rpy,
    rotation_to_axis,
)
from . import kinds

_Z = (0.0, 0.0, 1.0)
_X = (1.0, 0.0, 0.0)
_Y = (0.0, 1.0, 0.0)


@dataclass(frozen=True)
class Primitive:
    """A joint that kernels know; z of its axes is the axis of motion."""

    kind: int
    nq: int
    nv: int
    axes: np.ndarray = field(default_factory=lambda: np.eye(3))  # in the body's axes
    pitch: float = 0.0

    def displacement(self, q: np.ndarray) -> Transform:
        """Placement of the body in the joint's frame."""
        rotation, translation = np.eye(3), np.zeros(3)
        if self.kind in (kinds.REVOLUTE, kinds.HELICAL):
            rotation = rotation_from_rpy(0.0, 0.0, q[0])
            translation[2] = self.pitch * q[0]
        elif self.kind == kinds.PRISMATIC:
            translation[2] = q[0]
        elif self.kind == kinds.PLANAR:
            rotation, translation[:2] = rotation_from_rpy(0.0, 0.0, q[2]), q[:2]
        else:
            translation[:] = q[:3] if self.kind != kinds.SPHERICAL else 0.0
            if self.kind != kinds.TRANSLATION:
                rotation = rotation_from_quaternion(*q[-4:])
        return Transform(self.axes @ rotation @ self.axes.T, self.axes @ translation)


@dataclass(frozen=True)
class JointType:
    """Base of the joint types. `q` has nq entries and `v` has nv, in the order each type states."""

    nq: ClassVar[int]
    nv: ClassVar[int]

    def primitives(self) -> list[Primitive]:
        """The joints of kernels that this joint is made of, in order from the parent."""
        raise NotImplementedError

    def displacement(self, q: ArrayLike) -> Transform:
        """Placement of the body in the joint's frame at the joint's own q."""
        q = finite_vector(f"q of {type(self).__name__}", q, self.nq, ModelError)
        result, start = Transform(), 0
        for primitive in self.primitives():
            result = result @ primitive.displacement(q[start : start + primitive.nq])
            start += primitive.nq
        return result

    def neutral(self) -> np.ndarray:
        """The entries of q at which the joint does not displace its body."""
        return np.zeros(self.nq)

    def angles(self) -> np.ndarray:
        """Which entries of q are angles."""
        return np.zeros(self.nq, bool)

    @property
    def quaternion(self) -> int | None:
        """Where in the joint's q a unit quaternion starts, None if there is none."""
        return None


def _unit(axis: ArrayLike) -> tuple[float, float, float]:
    x, y, z = unit_vector("a joint's axis", axis, 3)
    return (float(x), float(y), float(z))


@dataclass(frozen=True)
class _Axial(JointType):
    axis: tuple[float, float, float] = _Z

    if TYPE_CHECKING:  # any three numbers are taken

        def __init__(self, axis: ArrayLike = _Z) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", _unit(self.axis))

    def _primitive(self, kind: int, nq: int = 1, pitch: float = 0.0) -> Primitive:
        return Primitive(kind, nq, nq, rotation_to_axis(np.array(self.axis)), pitch)


@dataclass(frozen=True, init=False)
class Revolute(_Axial):
    """Rotation about an axis; q is the angle. Without limits it is what URDF calls continuous."""

    nq = nv = 1

    def angles(self) -> np.ndarray:
        return np.array([True])

    def primitives(self) -> list[Primitive]:
        return [self._primitive(kinds.REVOLUTE)]


@dataclass(frozen=True, init=False)
class Prismatic(_Axial):
    """Translation along an axis; q is the distance."""

    nq = nv = 1

    def primitives(self) -> list[Primitive]:
        return [self._primitive(kinds.PRISMATIC)]


@dataclass(frozen=True)
class Helical(_Axial):
    """A screw: q is the angle, and the body advances `pitch` metres a radian."""

    pitch: float = 0.0
    nq = nv = 1

    if TYPE_CHECKING:

        def __init__(self, axis: ArrayLike = _Z, pitch: float = 0.0) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        pitch = finite_number("the pitch of a helical joint", self.pitch, ModelError)
        object.__setattr__(self, "pitch", pitch)

    def angles(self) -> np.ndarray:
        return np.array([True])

    def primitives(self) -> list[Primitive]:
        return [self._primitive(kinds.HELICAL, pitch=self.pitch)]


@dataclass(frozen=True, init=False)
class Cylindrical(_Axial):
    """Translation along an axis and rotation about it; q is (distance, angle)."""

    nq = nv = 2

    def angles(self) -> np.ndarray:
        return np.array([False, True])

    def primitives(self) -> list[Primitive]:
        return [self._primitive(kinds.PRISMATIC), self._primitive(kinds.REVOLUTE)]


@dataclass(frozen=True)
class Universal(JointType):
    """Rotation about a first axis, then about a second one that turns with it; q is both angles."""

    first: tuple[float, float, float] = _X
    second: tuple[float, float, float] = _Y
    nq = nv = 2

    if TYPE_CHECKING:

        def __init__(self, first: ArrayLike = _X, second: ArrayLike = _Y) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", _unit(self.first))
        object.__setattr__(self, "second", _unit(self.second))
        if np.linalg.norm(np.cross(self.first, self.second)) < 1e-6:
            raise ModelError("the two axes of a universal joint must not be parallel")

    def angles(self) -> np.ndarray:
        return np.array([True, True])

    def primitives(self) -> list[Primitive]:
        return [Revolute(axis).primitives()[0] for axis in (self.first, self.second)]


@dataclass(frozen=True)
class Gimbal(JointType):
    """Rotations about x, then y, then z, each of which turns with those before; q is three angles.

    Where the second angle is 90 degrees, the first and the third axis are parallel, and v has no
    answer for some motions: `Spherical` has no such place.
    """

    nq = nv = 3

    def angles(self) -> np.ndarray:
        return np.array([True, True, True])

    def primitives(self) -> list[Primitive]:
        return [Revolute(axis).primitives()[0] for axis in (_X, _Y, _Z)]


@dataclass(frozen=True)
class Spherical(JointType):
    """Any rotation; q is a unit quaternion x, y, z, w, v the angular velocity in body axes."""

    nq, nv = 4, 3

    def primitives(self) -> list[Primitive]:
        return [Primitive(kinds.SPHERICAL, 4, 3)]

    def neutral(self) -> np.ndarray:
        return np.array([0.0, 0.0, 0.0, 1.0])

    @property
    def quaternion(self) -> int | None:
        return 0


@dataclass(frozen=True, init=False)
class Planar(_Axial):
    """Motion in the plane whose normal is the axis.

    q is (x, y, angle); v is the linear velocity in the body's own axes and the angular velocity.
    The plane's x and y are the frame's, turned by the shortest rotation that takes z to the axis.
    """

    nq = nv = 3

    def angles(self) -> np.ndarray:
        return np.array([False, False, True])

    def primitives(self) -> list[Primitive]:
        return [self._primitive(kinds.PLANAR, 3)]


@dataclass(frozen=True)
class Translation(JointType):
    """Translation along x, y, z; q is the position."""

    nq = nv = 3

    def primitives(self) -> list[Primitive]:
        return [Primitive(kinds.TRANSLATION, 3, 3)]


@dataclass(frozen=True)
class Free(JointType):
    """Any motion; q is x, y, z and a unit quaternion x, y, z, w.

    v is linear then angular velocity, in the body's own axes.
    """

    nq, nv = 7, 6

    def primitives(self) -> list[Primitive]:
        return [Primitive(kinds.FREE, 7, 6)]

    def neutral(self) -> np.ndarray:
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])

    @property
    def quaternion(self) -> int | None:
        return 3


@dataclass(frozen=True)
class Fixed(JointType):
    """No motion: the body becomes part of its parent, and its frames stay."""

    nq = nv = 0

    def primitives(self) -> list[Primitive]:
        return []


_ALL = (
    Revolute, Prismatic, Helical, Cylindrical, Universal, Gimbal,
    Spherical, Planar, Translation, Free, Fixed,
)  # fmt: skip
JOINT_TYPES = {t.__name__: t for t in _ALL}


def moves_by_velocities(joint: JointType) -> bool:
    """Whether v is the derivative of q, coordinate by coordinate."""
    return joint.nq == joint.nv and not isinstance(joint, Planar)

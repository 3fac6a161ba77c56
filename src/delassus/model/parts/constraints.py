"""Constraints as they are declared: between frames, or between the coordinates of joints.

They live on `model.constraints`. Names are names of frames and joints of the model; "world" is a
frame that always exists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from ...checks import finite_number, shown
from ...compile.recorded.programs import flat
from ...errors import ModelError
from .joints import Fixed, Free, JointType
from .names import names_of

WORLD = "world"


@dataclass(frozen=True)
class Constraint:
    """Base of the declared constraints."""

    @property
    def frames(self) -> tuple[str, ...]:
        """The frames it names."""
        return ()

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints it names."""
        return ()


@dataclass(frozen=True)
class _BetweenFrames(Constraint):
    frame: str
    other: str = WORLD

    def __post_init__(self) -> None:
        _check_pair("frame", self.frame, self.other)

    @property
    def frames(self) -> tuple[str, ...]:
        return (self.frame, self.other)


@dataclass(frozen=True)
class Connect(_BetweenFrames):
    """The origins of two frames stay together: 3 rows."""


@dataclass(frozen=True)
class Weld(_BetweenFrames):
    """Two frames stay together: 6 rows."""


@dataclass(frozen=True)
class Closure(Constraint):
    """A loop joint: `frame` moves in `other` as a joint of this type allows, 6 - nv rows."""

    joint_type: JointType
    frame: str
    other: str = WORLD

    def __post_init__(self) -> None:
        if not isinstance(self.joint_type, JointType):
            raise ModelError(
                f"a closure needs a joint type such as Revolute(axis), got {shown(self.joint_type)}"
            )
        if isinstance(self.joint_type, Free):
            raise ModelError("a closure by a free joint constrains nothing")
        if isinstance(self.joint_type, Fixed):
            raise ModelError("a closure by a fixed joint is a Weld")
        _check_pair("frame", self.frame, self.other)

    @property
    def frames(self) -> tuple[str, ...]:
        return (self.frame, self.other)


@dataclass(frozen=True)
class Gear(Constraint):
    """q_joint = ratio * q_other + offset, for joints of one coordinate."""

    joint: str
    other: str
    ratio: float
    offset: float = 0.0

    def __post_init__(self) -> None:
        _check_pair("joint", self.joint, self.other)
        _make_finite(self, "ratio", "offset")

    @property
    def joints(self) -> tuple[str, ...]:
        return (self.joint, self.other)


@dataclass(frozen=True, eq=False)
class Coupling(Constraint):
    """The sum of coefficient * q over the named joints equals `offset`."""

    coefficients: Mapping[str, float]
    offset: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.coefficients, Mapping):
            raise ModelError(
                f"a coupling maps names of joints to coefficients, got {shown(self.coefficients)}"
            )
        if not self.coefficients:
            raise ModelError("a coupling names no joint")
        coefficients = {
            name: finite_number(f"coefficient of {name!r}", self.coefficients[name], ModelError)
            for name in names_of("joints", self.coefficients)
        }
        if not any(coefficients.values()):
            raise ModelError("a coupling whose coefficients are all zero constrains nothing")
        _make_finite(self, "offset")
        object.__setattr__(self, "coefficients", MappingProxyType(coefficients))

    def __reduce__(self) -> tuple:
        return Coupling, (dict(self.coefficients), self.offset)

    def __repr__(self) -> str:
        return f"Coupling(coefficients={dict(self.coefficients)}, offset={self.offset})"

    @property
    def joints(self) -> tuple[str, ...]:
        return tuple(self.coefficients)


@dataclass(frozen=True)
class Distance(Constraint):
    """The origins of two frames stay `length` apart: 1 row."""

    frame: str
    other: str
    length: float

    def __post_init__(self) -> None:
        _check_pair("frame", self.frame, self.other)
        _make_finite(self, "length")
        if self.length <= 0.0:
            raise ModelError(
                f"a distance must be positive, got {self.length} (use Connect for zero)"
            )

    @property
    def frames(self) -> tuple[str, ...]:
        return (self.frame, self.other)


@dataclass(frozen=True, eq=False)
class Implicit(Constraint):
    """phi(x) = 0, x the coordinates of the named joints, one joint after the other.

    phi is a plain Python function of an array, of operators and functions of NumPy. It is called
    once, with symbols (see `compile.recorded.programs.record`), and each entry of its result is a
    row. Velocities of the joints must be derivatives of their coordinates, which those of free,
    spherical and planar joints are not.
    """

    function: Callable
    on: tuple[str, ...]

    def __init__(self, function: Callable, joints: str | Iterable[str]):
        if not callable(function):
            raise ModelError(f"an implicit constraint needs a function, got {shown(function)}")
        names = names_of("joints", joints)
        if not names:
            raise ModelError("an implicit constraint names no joint")
        if len(set(names)) < len(names):
            raise ModelError(f"an implicit constraint names a joint twice: {', '.join(names)}")
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "on", names)

    @property
    def joints(self) -> tuple[str, ...]:
        return self.on


@dataclass(frozen=True)
class Polynomial:
    """x_0 - c_0 - c_1 y - c_2 y^2 - ..., y = x_1 - origin: the function of an `Implicit`."""

    coefficients: tuple[float, ...]
    origin: float = 0.0

    def __call__(self, x):
        y, value = x[1] - self.origin, 0.0
        for c in reversed(self.coefficients):
            value = value * y + c
        return x[0] - value


@dataclass(frozen=True)
class WithLocked:
    """Some rows of a function of x, at places of which numbers are put: one of the others."""

    function: Callable
    locked: tuple[tuple[int, float], ...]  # places and numbers
    rows: tuple[int, ...]

    def __call__(self, x):
        given, free = dict(self.locked), iter(x)
        count = len(x) + len(given)
        # A number among symbols must be one of them.
        full = [given[k] + 0.0 * x[0] if k in given else next(free) for k in range(count)]
        result = list(flat(self.function(np.array(full, np.asarray(x).dtype))))
        return [result[k] for k in self.rows]


def _check_pair(kind: str, first: str, second: str) -> None:
    """Raise an error unless these are the names of two frames, or of two joints."""
    for name in (first, second):
        if not isinstance(name, str):
            raise ModelError(f"a {kind} is named by a string, got {shown(name)}")
    if first == second:
        raise ModelError(f"a constraint between {kind} {first!r} and itself says nothing")


def _make_finite(constraint: Constraint, *names: str) -> None:
    """Make attributes of a constraint plain numbers."""
    kind = type(constraint).__name__
    for name in names:
        x = finite_number(f"{name} of {kind}", getattr(constraint, name), ModelError)
        object.__setattr__(constraint, name, x)

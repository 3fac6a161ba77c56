"""What a file says of contacts: surfaces of shapes, pairs that never touch, pairs that do.

Surfaces live on shapes, the others on `model.contact_exclusions` and `model.contact_pairs`. Which
shapes can touch, as in MuJoCo: those of a pair in any case. Of the others, two collision shapes
whose frames are not excluded, with surfaces a and b, if (a.contype & b.conaffinity) or
(b.contype & a.conaffinity) is not zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...checks import finite_number, finite_vector, not_negative, shown
from ...errors import ModelError, SettingError

# Numbers of a contact's softness: solref (2) and solimp (5) of MuJoCo.
SOFTNESS_SIZE = 7
Softness = tuple[float, ...]


@dataclass(frozen=True)
class Surface:
    """How a collision shape touches others.

    Two shapes with surfaces a and b can touch if (a.contype & b.conaffinity) or (b.contype &
    a.conaffinity) is not zero; both are sets of bits, and 1 by default. `friction` is the
    coefficient of sliding friction, `restitution` that of bouncing (0 to 1). `softness` is solref
    and solimp of MuJoCo, seven numbers. None stands for what the simulator takes by default. A
    contact counts from the distance `margin` on. Where two surfaces differ, that of the higher
    `priority` decides; if they are equal, a simulator takes the larger numbers. `condim` is that of
    MuJoCo: 1 for contacts without friction, whatever the coefficients, unless the other surface has
    3.
    """

    contype: int = 1
    conaffinity: int = 1
    friction: float | None = None
    restitution: float | None = None
    softness: Softness | None = None
    margin: float = 0.0
    priority: int = 0
    condim: int = 3

    if TYPE_CHECKING:  # any numbers are taken for the softness

        def __init__(
            self,
            contype: int = 1,
            conaffinity: int = 1,
            friction: float | None = None,
            restitution: float | None = None,
            softness: ArrayLike | None = None,
            margin: float = 0.0,
            priority: int = 0,
            condim: int = 3,
        ) -> None: ...

    def __post_init__(self) -> None:
        values = contact_numbers(self)
        values["margin"] = finite_number("margin", self.margin, ModelError)
        for name in ("contype", "conaffinity", "priority", "condim"):
            values[name] = _integer(name, getattr(self, name))
        if values["condim"] not in (1, 3):
            raise ModelError(
                f"condim must be 1, without friction, or 3, with it, got {shown(self.condim)}: "
                "there is no torsional or rolling friction"
            )
        for name, value in values.items():
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class ContactExclusion:
    """Shapes of `frame` never touch shapes of `other`: frames as the shapes name them."""

    frame: str
    other: str

    def __post_init__(self) -> None:
        _check_names("a contact exclusion", "frame", self.frame, self.other)

    @property
    def frames(self) -> tuple[str, str]:
        """The two frames."""
        return self.frame, self.other


@dataclass(frozen=True)
class ContactPair:
    """Two shapes, by their names, that can touch, and their contact in place of the shapes' own.

    What is None follows from the two shapes. See `Surface` for what the numbers mean.
    """

    shape: str
    other: str
    friction: float | None = None
    restitution: float | None = None
    softness: Softness | None = None
    margin: float | None = None

    if TYPE_CHECKING:  # any numbers are taken for the softness

        def __init__(
            self,
            shape: str,
            other: str,
            friction: float | None = None,
            restitution: float | None = None,
            softness: ArrayLike | None = None,
            margin: float | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        _check_names("a contact pair", "shape", self.shape, self.other)
        values = contact_numbers(self)
        if self.margin is not None:
            values["margin"] = finite_number("margin", self.margin, ModelError)
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def shapes(self) -> tuple[str, str]:
        """The names of the two shapes."""
        return self.shape, self.other


def contact_numbers(owner) -> dict:
    """Friction, restitution and softness of a surface or pair as plain numbers, where given."""
    values: dict = {}
    for name in ("friction", "restitution"):
        given = getattr(owner, name)
        if given is not None:
            try:
                values[name] = not_negative(name, given)
            except SettingError as error:
                raise ModelError(str(error)) from None
    if values.get("restitution", 0.0) > 1.0:
        raise ModelError(f"restitution must be at most 1, got {shown(owner.restitution)}")
    if owner.softness is not None:
        softness = finite_vector("softness", owner.softness, SOFTNESS_SIZE, ModelError)
        values["softness"] = tuple(map(float, softness))
    return values


def _integer(name: str, given: object) -> int:
    """An integer that 32 bits hold."""
    is_integer = isinstance(given, (int, np.integer)) and not isinstance(given, bool)
    if not is_integer or not -(2**31) <= given < 2**32:
        raise ModelError(f"{name} must be an integer of 32 bits, got {shown(given)}")
    return int(given)


def _check_names(what: str, kind: str, first: str, second: str) -> None:
    for name in (first, second):
        if not isinstance(name, str):
            raise ModelError(f"{what} names each {kind} by a string, got {shown(name)}")
    if first == second:
        raise ModelError(f"{what} is between {kind} {first!r} and itself")

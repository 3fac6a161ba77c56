"""Materials of shapes, and how those of two shapes that touch combine."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from ...checks import instance, not_negative
from ...errors import SettingError
from ...maximal.rows.softening import SOFTENING
from ...maximal.settings import Softening
from ...model.parts.contacts import ContactPair, Softness, Surface

_LEAST_IMPEDANCE, _MOST_IMPEDANCE = 1e-4, 0.9999  # as MuJoCo has them


@dataclass(frozen=True)
class Material:
    """Friction, restitution and softening of the surface of a shape.

    Where two shapes touch, the larger friction and the larger restitution count, as in MuJoCo: so
    the material of one shape can be set without knowing what it will touch. If one has a softening,
    it counts; if both have one, the mean of their numbers. Contacts without softening are hard.
    Soft ones bounce by their damping ratio, whatever the restitution.
    """

    friction: float = 0.8
    restitution: float = 0.0
    softening: Softening | None = None

    def __post_init__(self) -> None:
        for name in ("friction", "restitution"):
            object.__setattr__(self, name, not_negative(name, getattr(self, name)))
        if self.restitution > 1.0:
            raise SettingError(f"restitution must be at most 1, got {self.restitution}")
        if self.softening is not None:
            instance("softening", self.softening, Softening)

    def with_own(self, own: Surface | ContactPair, is_soft: bool = False) -> Material:
        """This material with what a surface or a pair says itself; its softness if asked for."""
        given = {
            name: getattr(own, name)
            for name in ("friction", "restitution")
            if getattr(own, name) is not None
        }
        if is_soft and own.softness is not None:
            given["softening"] = softening_of(own.softness)
        return replace(self, **given)

    def with_other(self, other: Material) -> Material:
        """The material of a contact with a shape of another material."""
        return Material(
            max(self.friction, other.friction),
            max(self.restitution, other.restitution),
            _combined(self.softening, other.softening),
        )


class SoftContacts(NamedTuple):
    """Softness counts: contacts whose material has a softening are springs and dampers.

    They have no rows before shapes overlap by `depth`: rows of hard contacts stop bodies at the
    surface. Time constants are at least `time`, as stiffer springs are unstable.
    """

    time: float = 0.0
    depth: float = 0.0

    def applied(self, material: Material, margin: float) -> tuple[Material, float]:
        """The material of a contact, and the distance from which on it has rows."""
        if material.softening is None:
            return material, margin
        time = max(material.softening.time_constant, self.time)
        softening = replace(material.softening, time_constant=time)
        return Material(material.friction, 0.0, softening), -self.depth


def _combined(a: Softening | None, b: Softening | None) -> Softening | None:
    if a is None or b is None:
        return b if a is None else a
    if a.law != b.law:
        raise SettingError(f"softening by the laws {a.law!r} and {b.law!r} has no mean")
    names = SOFTENING._fields[1:-1]
    means = {name: 0.5 * (getattr(a, name) + getattr(b, name)) for name in names}
    return Softening(**means, law=a.law)


def softening_of(softness: Softness) -> Softening:
    """solref and solimp of MuJoCo as a softening.

    A solref of two negative numbers is -stiffness and -damping: 1 / (T zeta)^2 and 2 / T.
    """
    first, second, d0, dw, width, midpoint, power = softness
    if first > 0.0 and second > 0.0:
        time, ratio = first, second
    elif first < 0.0 and second < 0.0:
        time = -2.0 / second
        ratio = 1.0 / (time * math.sqrt(-first))
    else:
        raise SettingError(
            f"solref must be two positive numbers, or two negative ones, got {first:g} {second:g}"
        )
    limits = _LEAST_IMPEDANCE, _MOST_IMPEDANCE
    return Softening(
        midpoint=min(max(midpoint, limits[0]), limits[1]),
        power=max(power, 1.0),
        width=max(width, 0.0),
        impedance=min(max(d0, limits[0]), limits[1]),
        impedance_at_width=min(max(dw, limits[0]), limits[1]),
        time_constant=time,
        damping_ratio=ratio,
    )

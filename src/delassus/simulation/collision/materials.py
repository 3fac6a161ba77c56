"""Materials of shapes, and how those of two shapes that touch combine."""

from __future__ import annotations

from dataclasses import dataclass

from ...checks import instance, not_negative
from ...errors import SettingError
from ...maximal.rows.softening import SOFTENING
from ...maximal.settings import Softening


@dataclass(frozen=True)
class Material:
    """Friction, restitution and softening of the surface of a shape.

    Where two shapes touch, the larger friction and the larger restitution count: so the material of
    one shape can be set without knowing what it will touch. If one has a softening, it counts; if
    both have one, the mean of their numbers.
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

    def with_other(self, other: Material) -> Material:
        """The material of a contact with a shape of another material."""
        return Material(
            max(self.friction, other.friction),
            max(self.restitution, other.restitution),
            _combined(self.softening, other.softening),
        )


def _combined(a: Softening | None, b: Softening | None) -> Softening | None:
    if a is None or b is None:
        return b if a is None else a
    if a.law != b.law:
        raise SettingError(f"softening by the laws {a.law!r} and {b.law!r} has no mean")
    names = SOFTENING._fields[1:-1]
    means = {name: 0.5 * (getattr(a, name) + getattr(b, name)) for name in names}
    return Softening(**means, law=a.law)

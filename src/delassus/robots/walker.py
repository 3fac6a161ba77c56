"""A walking figure with loops in its legs: 31 bodies, 36 hinges, six four-bars.

Its numbers of bodies, joints and loops are those of the Walker of Tsounis et al., Table II. Each
leg has a hip that turns about z and x, and thigh, shank and ankle, each of which a crank moves
through a rod; thigh and shank carry a rotor. All bodies stand aligned with the world at the neutral
configuration, where all loops are closed.
"""

from __future__ import annotations

import numpy as np

from ..checks import flag
from ..model.builder import ModelBuilder
from ..model.model import Model
from ..model.parts.constraints import Closure
from ..model.parts.elements import Shape
from ..model.parts.joints import Fixed, Free, Revolute

_X, _Y, _Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
_BASE = np.array([0.0, 0.0, 0.94])
_SOLE = 0.004  # radius of the spheres under the feet
# Bodies whose joints cranks move, or follow them.
_DRIVEN = ("thigh", "shank", "ankle", "rod_1", "rod_2", "rod_3")
# Points of a leg in its plane: x and z above the ground.
_HIP, _KNEE, _ANKLE = (0.0, 0.78), (0.02, 0.44), (0.0, 0.09)


class _Figure:
    """A builder whose bodies are told by points in the world at the neutral configuration."""

    def __init__(self, name: str):
        self.builder = ModelBuilder(name)
        self.origins: dict[str, np.ndarray] = {}

    def add(self, name: str, parent: str, anchor, axis, mass: float, com, size) -> None:
        """A box that turns about an axis through a point."""
        anchor, com = np.array(anchor, float), np.array(com, float)
        x, y, z = np.square(size)
        self.builder.add_body(
            name,
            parent,
            Revolute(axis),
            anchor - self.origins[parent],
            mass=mass,
            com=com - anchor,
            inertia=mass / 12.0 * np.diag([y + z, x + z, x + y]),
            independent=not name.endswith(_DRIVEN),
        )
        self.origins[name] = anchor

    def close(self, name: str, first: str, second: str, anchor) -> None:
        """A hinge about y between two bodies of the tree."""
        for end, body in (("a", first), ("b", second)):
            self.builder.add_frame(f"{name}_{end}", body, np.array(anchor) - self.origins[body])
        self.builder.add_constraint(Closure(Revolute(_Y), f"{name}_a", f"{name}_b"))

    def touch(self, name: str, body: str, point) -> None:
        """A small sphere that collides, above a point."""
        at = np.add(point, (0.0, 0.0, _SOLE)) - self.origins[body]
        self.builder.add_frame(name, body, at)
        self.builder.add_shape(Shape(name, name, "collision", "sphere", size=(_SOLE,)))


class _Leg:
    """One leg in the plane y = side / 10."""

    def __init__(self, figure: _Figure, letter: str, y: float):
        self.figure, self.letter, self.y = figure, letter, y

    def name(self, body: str) -> str:
        return body if body == "base" else f"{self.letter}_{body}"

    def point(self, xz) -> np.ndarray:
        return np.array([xz[0], self.y, xz[1]])

    def bar(self, name, parent, start, end, mass, width=0.03) -> None:
        """A bar between two points of the plane, which turns about the first."""
        start, end = self.point(start), self.point(end)
        length = np.linalg.norm(end - start)
        middle = 0.5 * (start + end)
        size = (width, width, length)
        self.figure.add(self.name(name), self.name(parent), start, _Y, mass, middle, size)

    def block(self, name, parent, anchor, axis, mass, com, size) -> None:
        self.figure.add(
            self.name(name),
            self.name(parent),
            self.point(anchor),
            axis,
            mass,
            self.point(com),
            size,
        )

    def drive(self, number, parent, driven, pivot, crank_end, lever) -> None:
        """A crank at `pivot` of the parent that moves a body by a rod to its point `lever`."""
        crank, rod = f"crank_{number}", f"rod_{number}"
        self.bar(crank, parent, pivot, crank_end, 0.08, 0.02)
        self.bar(rod, crank, crank_end, lever, 0.06, 0.02)
        loop = self.name(f"loop_{number}")
        self.figure.close(loop, self.name(rod), self.name(driven), self.point(lever))

    def build(self) -> None:
        cube = (0.06, 0.06, 0.06)
        self.block("yaw", "base", (0.0, 0.88), _Z, 0.4, (0.0, 0.87), cube)
        self.block("roll", "yaw", (0.0, 0.83), _X, 0.4, (0.0, 0.81), cube)
        self.bar("thigh", "roll", _HIP, _KNEE, 1.3, 0.07)
        self.drive(1, "roll", "thigh", (-0.08, 0.81), (-0.15, 0.75), (-0.05, 0.69))
        self.bar("rotor_1", "thigh", (0.0, 0.64), (0.0, 0.68), 0.1)
        self.bar("shank", "thigh", _KNEE, _ANKLE, 0.8, 0.05)
        self.drive(2, "thigh", "shank", (-0.06, 0.57), (-0.11, 0.52), (-0.05, 0.38))
        self.bar("rotor_2", "shank", (0.0, 0.3), (0.0, 0.34), 0.1)
        self.block("ankle", "shank", _ANKLE, _Y, 0.2, (0.0, 0.08), (0.05, 0.05, 0.05))
        self.drive(3, "shank", "ankle", (-0.05, 0.21), (-0.1, 0.18), (-0.05, 0.065))
        self.block("foot", "ankle", (0.0, 0.055), _X, 0.4, (0.02, 0.025), (0.17, 0.08, 0.03))
        self.block("toe", "foot", (0.1, 0.015), _Y, 0.1, (0.14, 0.014), (0.08, 0.08, 0.02))
        soles = [("foot", -0.06), ("foot", 0.09), ("toe", 0.18)]
        for number, (body, x) in enumerate(soles):
            for side, dy in (("in", -0.035), ("out", 0.035)):
                name = self.name(f"sole_{number}_{side}")
                self.figure.touch(name, self.name(body), (x, self.y + dy, 0.0))


def walker(*, floating_base: bool = True) -> Model:
    """The figure with a free base, or hung by its base.

    The six loops are closures of hinges. Twelve spheres under feet and toes touch the ground z = 0
    at the neutral configuration, whose base stands at z = 0.94.
    """
    floating_base = flag("floating_base", floating_base)
    figure = _Figure("walker")
    size = np.square((0.2, 0.2, 0.12))
    inertia = 6.0 / 12.0 * np.diag([size[1] + size[2], size[0] + size[2], size[0] + size[1]])
    joint = Free() if floating_base else Fixed()
    place = None if floating_base else _BASE
    figure.builder.add_body(
        "base", joint=joint, placement=place, mass=6.0, inertia=inertia, independent=True
    )
    figure.origins["base"] = _BASE
    for letter, y in (("l", 0.1), ("r", -0.1)):
        _Leg(figure, letter, y).build()
    return figure.builder.build()

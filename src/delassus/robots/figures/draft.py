"""Figures are drawn by points in the world, at the pose in which they start.

All bodies have the axes of the world there, and all coordinates of joints are zero. So two bodies
that share a point can be joined at it, and every loop is closed to rounding, whatever the lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ...model.builder import ModelBuilder
from ...model.model import Model
from ...model.parts.actuators import Actuator
from ...model.parts.constraints import Closure, Connect, Weld
from ...model.parts.contacts import ContactExclusion
from ...model.parts.elements import Shape
from ...model.parts.joints import Free, JointType, Revolute, Spherical
from ...model.parts.keyframes import Keyframe
from ...spatial.inertia import Inertia
from ...spatial.transform import Transform, rotation_to_axis
from .loads import servo_gains
from .shells import Shell, near_pairs, write_capsule

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
HOME = "home"
SOLE = 0.005  # radius of the spheres under feet, in m
Point = Sequence[float] | np.ndarray

_COLORS = {"link": (0.72, 0.74, 0.78, 1.0), "drive": (0.92, 0.55, 0.2, 1.0)}
_SHELL_COLOR = (0.35, 0.55, 0.8, 0.35)


def moved(point: Point, x: float, y: float, z: float) -> np.ndarray:
    """A point, moved by so much along each axis."""
    return np.add(point, (x, y, z))


@dataclass
class Part:
    """A body: a bar (solid cylinder) from start to end, or a box around the point between them."""

    name: str
    parent: str
    joint: JointType
    anchor: np.ndarray
    start: np.ndarray
    end: np.ndarray
    mass: float
    radius: float = 0.0
    size: np.ndarray | None = None  # edges of a box
    has_servo: bool = True
    is_independent: bool | None = None  # if not told, joints with a servo are
    moves: str = ""  # the body that the servo moves by a rod, if not this one
    lever: float = 1.0  # how much this joint turns for a turn of that body
    color: str = "link"

    @property
    def center(self) -> np.ndarray:
        """Centre of mass."""
        return 0.5 * (self.start + self.end)

    def inertia_matrix(self) -> np.ndarray:
        """Inertia about the centre of mass, of a homogeneous cylinder or box."""
        if self.size is not None:
            x, y, z = np.square(self.size)
            return self.mass / 12.0 * np.diag([y + z, x + z, x + y])
        along = self.end - self.start
        length2, radius2 = along @ along, self.radius**2
        u = along / np.sqrt(length2)
        across, about = (3.0 * radius2 + length2) / 12.0, radius2 / 2.0
        return self.mass * (across * np.eye(3) + (about - across) * np.outer(u, u))


@dataclass
class Draft:
    """A figure while it is drawn; `build` makes the model.

    `base` is "free" or "fixed"; a fixed base is a body that a Weld holds.
    """

    name: str
    seed: int
    base: str
    parts: dict[str, Part] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self._drawn: dict[str, float] = {}
        self._loops: list[tuple[JointType, str, str, np.ndarray]] = []
        self._soles: list[tuple[str, np.ndarray]] = []
        self._shells: list[Shell] = []

    # --- numbers that the seed draws --------------------------------------------------------------

    def vary(self, key: str, value: float, spread: float = 0.1) -> float:
        """A number within `spread` (a part of it) of a value; the same key gives the same number.

        So both sides of a figure have the same lengths.
        """
        if key not in self._drawn:
            self._drawn[key] = 1.0 + spread * self._rng.uniform(-1.0, 1.0)
        return value * self._drawn[key]

    def shift(self, key: str, spread: float) -> float:
        """A number from -spread to spread; the same key gives the same number."""
        return self.vary(key, 1.0, spread) - 1.0

    # --- bodies and loops -------------------------------------------------------------------------

    def root(self, name: str, center: Point, size: Point, mass: float) -> None:
        """The base, a box."""
        center = np.array(center, float)
        origin = np.zeros(3) if self.base == "fixed" else center
        size = np.array(size, float)
        mass = self.vary(f"mass {name}", mass)
        self.parts[name] = Part(
            name, "world", Free(), origin, center, center, mass, size=size, has_servo=False
        )

    def bar(
        self,
        name: str,
        parent: str,
        axis: Point | JointType,
        start: Point,
        end: Point,
        mass: float,
        radius: float,
        **more,
    ) -> None:
        """A solid cylinder that turns about its first point."""
        start, end = np.array(start, float), np.array(end, float)
        self._add(name, parent, axis, start, start, end, mass, radius=radius, **more)

    def box(
        self,
        name: str,
        parent: str,
        axis: Point | JointType,
        anchor: Point,
        center: Point,
        size: Point,
        mass: float,
        **more,
    ) -> None:
        """A box that turns about a point."""
        anchor, center = np.array(anchor, float), np.array(center, float)
        size = np.array(size, float)
        self._add(name, parent, axis, anchor, center, center, mass, size=size, **more)

    def _add(self, name, parent, axis, anchor, start, end, mass, **more) -> None:
        joint = axis if isinstance(axis, JointType) else Revolute(axis)
        # Bodies of the left and right side, l_... and r_..., are alike.
        mass = self.vary(f"mass {name.removeprefix('l_').removeprefix('r_')}", mass, 0.2)
        self.parts[name] = Part(name, parent, joint, anchor, start, end, mass, **more)

    def close(self, joint: JointType, body: str, other: str, at: Point) -> None:
        """Join two bodies that the tree does not join."""
        self._loops.append((joint, body, other, np.array(at, float)))

    # --- what collides ----------------------------------------------------------------------------

    def sole(self, body: str, point: Point) -> None:
        """A small sphere that stands on a point of the ground."""
        self._soles.append((body, np.add(point, (0.0, 0.0, SOLE))))

    def shell(self, body: str, start: Point, end: Point, radius: float) -> None:
        """A cover on a body, which may have parts of other bodies inside: a capsule."""
        number = sum(s.body == body for s in self._shells)
        start, end = np.array(start, float), np.array(end, float)
        self._shells.append(Shell(f"{body}_shell_{number}", body, start, end, radius))

    # --- the model --------------------------------------------------------------------------------

    def build(self, mass_ratio: float | None = None, meshes: Path | None = None) -> Model:
        """The model, with masses spread so that heaviest by lightest is as given."""
        if mass_ratio is not None:
            self._spread_masses(mass_ratio)
        builder = ModelBuilder(self.name)
        self._add_bodies(builder)
        self._add_loops(builder)
        self._add_collision(builder, meshes)
        feet = {body for body, _ in self._soles} if self.base == "free" else set()
        for name, stiffness, damping in servo_gains(self.parts, feet):
            servo = {"kind": "position", "stiffness": stiffness, "damping": damping}
            builder.add_actuator(Actuator(f"{name}_servo", f"{name}_joint", **servo))
        model = builder.build()
        q = model.neutral()
        q[:3] = next(iter(self.parts.values())).anchor  # the base comes first
        return model.replace(keyframes=[Keyframe(HOME, q)])

    def _spread_masses(self, ratio: float) -> None:
        """m -> m_max (m / m_max)^p, p such that the lightest has m_max / ratio."""
        heaviest = max(part.mass for part in self.parts.values())
        lightest = min(part.mass for part in self.parts.values())
        power = np.log(ratio) / np.log(heaviest / lightest)
        for part in self.parts.values():
            part.mass = heaviest * (part.mass / heaviest) ** power

    def _add_bodies(self, builder: ModelBuilder) -> None:
        for part in self.parts.values():
            is_root = part.parent == "world"
            told = part.is_independent
            at = np.zeros(3) if is_root else part.anchor - self.parts[part.parent].anchor
            builder.add_body(
                part.name,
                part.parent,
                part.joint,
                at,
                inertia=Inertia.of(part.mass, part.center - part.anchor, part.inertia_matrix()),
                independent=is_root or (part.has_servo if told is None else told),
            )
            self._add_visual(builder, part)

    def _add_visual(self, builder: ModelBuilder, part: Part) -> None:
        color, middle = _COLORS[part.color], part.center - part.anchor
        if part.size is not None:
            shape = ("box", Transform(np.eye(3), middle), part.size)
        else:
            along = part.end - part.start
            length = np.linalg.norm(along)
            turned = Transform(rotation_to_axis(along / length), middle)
            shape = ("cylinder", turned, (part.radius, length))
        kind, place, size = shape
        name = f"{part.name}_visual"
        builder.add_shape(Shape(name, part.name, "visual", kind, place, size, color=color))

    def _add_loops(self, builder: ModelBuilder) -> None:
        for number, (joint, body, other, at) in enumerate(self._loops):
            names = f"loop_{number}_a", f"loop_{number}_b"
            for name, owner in zip(names, (body, other), strict=True):
                builder.add_frame(name, owner, at - self.parts[owner].anchor)
            is_point = isinstance(joint, Spherical)
            builder.add_constraint(Connect(*names) if is_point else Closure(joint, *names))
        if self.base == "fixed":
            builder.add_constraint(Weld(next(iter(self.parts)), "world"))

    def _add_collision(self, builder: ModelBuilder, meshes: Path | None) -> None:
        shells = list(self._shells)
        for number, (body, at) in enumerate(self._soles):
            name = f"{body}_sole_{number}"
            place = Transform(np.eye(3), at - self.parts[body].anchor)
            builder.add_frame(name, body, place)
            builder.add_shape(Shape(name, name, "collision", "sphere", size=(SOLE,)))
            shells.append(Shell(name, body, at, at, SOLE, name))
        for shell in self._shells:
            self._add_shell(builder, shell, meshes)
        for pair in near_pairs(shells):
            builder.add_contact_exclusion(ContactExclusion(*pair))

    def _add_shell(self, builder: ModelBuilder, shell: Shell, meshes: Path | None) -> None:
        origin = self.parts[shell.body].anchor
        along = shell.end - shell.start
        length = float(np.linalg.norm(along))
        place = Transform(
            rotation_to_axis(along / length), 0.5 * (shell.start + shell.end) - origin
        )
        kind, size, path = "capsule", (shell.radius, length), None
        if meshes is not None:
            kind, size = "mesh", (1.0, 1.0, 1.0)
            path = write_capsule(meshes / f"{self.name}_{shell.name}.stl", shell.radius, length)
        for role in ("collision", "visual"):
            builder.add_shape(
                Shape(
                    f"{shell.name}_{role}", shell.body, role, kind, place, size, path, _SHELL_COLOR
                )
            )

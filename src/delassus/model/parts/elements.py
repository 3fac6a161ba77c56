"""The parts of a model: bodies, joints, frames and shapes."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...checks import finite_vector, shown
from ...errors import ModelError
from ...spatial.constant import ConstantArrays, constant
from ...spatial.inertia import Inertia
from ...spatial.transform import PlacementLike, Transform
from .contacts import Surface
from .joints import JointType
from .names import known_name

WORLD = "world"
ROLES = ("visual", "collision")
# Kinds of shapes, and of how many numbers their size is.
SHAPE_SIZES = {
    "box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "ellipsoid": 3, "plane": 0, "mesh": 3,
    "heightfield": 2,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class JointData(ConstantArrays):
    """What a joint knows besides its type; arrays have nq (limits) or nv entries."""

    lower: np.ndarray
    upper: np.ndarray
    velocity_limit: np.ndarray
    effort_limit: np.ndarray
    damping: np.ndarray
    friction: np.ndarray
    armature: np.ndarray
    stiffness: np.ndarray
    rest: np.ndarray  # the configuration at which the springs are relaxed, nq entries

    def __post_init__(self) -> None:
        for field_ in fields(self):
            object.__setattr__(self, field_.name, constant(getattr(self, field_.name)))


# Joint data of nv entries and their defaults; limits of q and the rest have nq entries.
VELOCITY_DATA = {
    "velocity_limit": np.inf,
    "effort_limit": np.inf,
    "damping": 0.0,
    "friction": 0.0,
    "armature": 0.0,
    "stiffness": 0.0,
}


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint: its type, its place in q and v, its limits and its passive data."""

    name: str
    type: JointType
    index: int
    q: slice
    v: slice
    data: JointData
    independent: bool | None = None  # a hint from the file: whether it drives other joints

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.type.nq

    @property
    def nv(self) -> int:
        """Number of degrees of freedom."""
        return self.type.nv


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body, the joint that carries it and where that joint sits on the parent."""

    name: str
    parent: int  # index among the bodies, -1 for the world
    joint: Joint
    placement: Transform  # of the joint in the parent body's frame
    inertia: Inertia
    # The part of its weight that is held up: a force of this many times -mass gravity acts at its
    # centre of mass. No function of dynamics adds it; 1 makes the body float.
    gravity_compensation: float = 0.0


@dataclass(frozen=True, eq=False)
class Frame:
    """A named frame that is fixed to a body, or to the world (body -1)."""

    name: str
    body: int
    placement: Transform
    inertia: Inertia = field(default_factory=Inertia)  # of a body fixed to the world here


@dataclass(frozen=True, eq=False)
class Shape:
    """What a body looks like or collides with; meshes are referenced, not read.

    `kind` is "box" (size: 3 edges), "sphere" (radius), "cylinder" or "capsule" (radius, length
    along z), "ellipsoid" (3 radii), "plane" (no size), "mesh" (size: 3 scales, `mesh`: the path) or
    "heightfield" (size: its edges along x and y). `heights` of a height field are z at points of a
    grid, whose rows lie along y and whose columns lie along x; its middle is at x = y = 0.
    `surface` says what a collision shape touches, and how.
    """

    name: str
    frame: str
    role: str  # "visual" or "collision"
    kind: str
    placement: Transform = field(default_factory=Transform)
    size: tuple[float, ...] = ()
    mesh: str | None = None
    color: tuple[float, float, float, float] | None = None
    surface: Surface = field(default_factory=Surface)
    heights: np.ndarray | None = None

    if TYPE_CHECKING:  # any numbers and placements are taken

        def __init__(
            self,
            name: str,
            frame: str,
            role: str,
            kind: str,
            placement: PlacementLike = None,
            size: ArrayLike = (),
            mesh: str | None = None,
            color: ArrayLike | None = None,
            surface: Surface = ...,
            heights: ArrayLike | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        for text in (self.name, self.frame, "" if self.mesh is None else self.mesh):
            if not isinstance(text, str):
                raise ModelError(f"a shape has names and paths that are strings, got {shown(text)}")
        known_name("the role of a shape", self.role, ROLES)
        count = SHAPE_SIZES[known_name("the kind of a shape", self.kind, SHAPE_SIZES)]
        size = finite_vector(f"the size of a {self.kind}", self.size, count, ModelError)
        if self.kind != "mesh" and (size < 0.0).any():
            raise ModelError(f"the size of a {self.kind} is negative: {shown(self.size)}")
        values = {"placement": Transform.of(self.placement), "size": tuple(map(float, size))}
        if self.color is not None:
            color = finite_vector("the color of a shape", self.color, 4, ModelError)
            values["color"] = tuple(map(float, color))
        if not isinstance(self.surface, Surface):
            raise ModelError(f"the surface of a shape is a Surface, got {shown(self.surface)}")
        if (self.heights is None) != (self.kind != "heightfield"):
            raise ModelError("a heightfield has heights, and no other shape has")
        if self.heights is not None:
            values["heights"] = _grid(self.heights)
        for name, value in values.items():
            object.__setattr__(self, name, value)


def _grid(heights: ArrayLike) -> np.ndarray:
    """Heights of a height field, checked."""
    try:
        grid = np.array(heights, float)
    except (TypeError, ValueError):
        raise ModelError(
            f"the heights of a heightfield are a table of numbers, got {shown(heights)}"
        ) from None
    if grid.ndim != 2 or min(grid.shape) < 2:
        raise ModelError(
            f"the heights of a heightfield have two rows and two columns at least, got the shape "
            f"{grid.shape}"
        )
    if not np.isfinite(grid).all():
        raise ModelError("the heights of a heightfield are not all finite")
    return constant(grid)


def height_points(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Points (n, 3) of a height field, and its triangles (m, 3) as numbers of points."""
    assert shape.heights is not None
    rows, columns = shape.heights.shape
    x, y = (
        0.5 * e * np.linspace(-1.0, 1.0, n)
        for e, n in zip(shape.size, (columns, rows), strict=True)
    )
    points = np.stack([*np.meshgrid(x, y), shape.heights], axis=-1).reshape(-1, 3)
    corner = (columns * np.arange(rows - 1)[:, None] + np.arange(columns - 1)).ravel()
    right, above = corner + 1, corner + columns
    halves = [(corner, right, above), (right, above + 1, above)]
    return points, np.stack([np.stack(half, axis=1) for half in halves], axis=1).reshape(-1, 3)

"""What is drawn of a model: shapes, each on a place that moves with a body, or in the world.

| group | what it has |
| --- | --- |
| "bodies" | visual shapes; for bodies without any, colliding shapes that have a colour, as geoms |
| | of MJCF do; for bodies without these, a box of the same inertia |
| "covers" | visual shapes that one can see through |
| "collision" | shapes that collide |
| "loops" | a ball at each joint that closes a loop |
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..errors import FileFormatError
from ..model.model import Model
from ..model.parts.elements import Shape, height_points
from ..spatial.transform import Transform
from .meshes import read_triangles, simplified

GROUPS = ("bodies", "covers", "collision", "loops")
HIDDEN = ("collision",)  # unless asked for
MOST_TRIANGLES = 6000  # of one mesh; larger ones are shown simplified
Color = tuple[float, float, float, float]
_GREY: Color = (0.72, 0.74, 0.78, 1.0)
_COLLISION: Color = (0.85, 0.35, 0.3, 0.5)
_LOOP: Color = (0.95, 0.25, 0.35, 1.0)


@dataclass(frozen=True, eq=False)
class Thing:
    """A shape on a place: number of a body, -1 for the world."""

    place: int
    kind: str
    size: tuple[float, ...]
    color: Color
    group: str
    placement: Transform  # in the body's frame
    mesh: int = -1  # among the scene's meshes
    own_color: Color | None = None  # of a shape that collides, which is drawn in another one


@dataclass(eq=False)
class Scene:
    """All that is drawn of a model, and what of it cannot be shown."""

    model: Model
    things: list[Thing] = field(default_factory=list)
    meshes: list[np.ndarray] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    _bare: set[int] = field(default_factory=set)  # bodies of which a visual mesh is missing

    @classmethod
    def of(cls, model: Model) -> Scene:
        """The scene of a model."""
        scene = cls(model)
        known: dict[str, int | None] = {}
        for shape in model.shapes:
            scene._add(shape, known)
        scene._replace_missing()
        scene._show_colored()
        seen = {t.place for t in scene.things if t.group in ("bodies", "covers")}
        for k, body in enumerate(model.bodies):
            if k not in seen and body.inertia.mass > 0.0:
                scene._add_inertia(k)
        scene._add_loops()
        return scene

    def _add(self, shape: Shape, known: dict[str, int | None]) -> None:
        if shape.kind == "plane":
            return  # as the ground
        frame, mesh = self.model.frame(shape.frame), -1
        if shape.kind == "mesh":
            number = self._mesh(shape, known)
            if number is None:
                if shape.role == "visual":
                    self._bare.add(frame.body)
                return
            mesh = number
        kind, size = shape.kind, shape.size
        if kind == "heightfield":
            points, corners = height_points(shape)
            kind, size, mesh = "mesh", (1.0, 1.0, 1.0), len(self.meshes)
            self.meshes.append(simplified(points[corners], MOST_TRIANGLES))
        color, group, own = shape.color or _GREY, "bodies", None
        if shape.role == "collision":
            color, group, own = _COLLISION, "collision", shape.color
        elif color[3] < 1.0:
            group = "covers"
        place = frame.placement @ shape.placement
        self.things.append(Thing(frame.body, kind, size, color, group, place, mesh, own))

    def _show_colored(self) -> None:
        """Shapes that collide and have a colour, on bodies without visual ones and in the world.

        Geoms of MJCF are both what is seen and what collides; other formats keep them apart, and
        give no colour to what collides.
        """
        seen = {t.place for t in self.things if t.group in ("bodies", "covers") and t.place >= 0}
        for t in list(self.things):
            if t.own_color is None or t.place in seen or t.own_color[3] == 0.0:
                continue
            group = "covers" if t.own_color[3] < 1.0 else "bodies"
            self.things.append(replace(t, group=group, color=t.own_color, own_color=None))

    def _replace_missing(self) -> None:
        """Where a visual mesh cannot be shown, the shapes that collide are shown in its place."""
        for t in list(self.things):
            if t.group == "collision" and t.place in self._bare:
                self.things.append(replace(t, group="bodies", color=_GREY, own_color=None))

    def _mesh(self, shape: Shape, known: dict[str, int | None]) -> int | None:
        """The number of a mesh, read once; None if it cannot be shown, which is listed."""
        path = str(shape.mesh)
        if path not in known:
            known[path] = None
            try:
                triangles = simplified(read_triangles(path), MOST_TRIANGLES)
                known[path] = len(self.meshes)
                self.meshes.append(triangles)
            except FileFormatError as error:
                self.missing.append(f"{Path(path).name}: {error}")
        return known[path]

    def _add_inertia(self, k: int) -> None:
        """A box with the mass and the moments of inertia of a body."""
        inertia = self.model.bodies[k].inertia
        moments, axes = np.linalg.eigh(inertia.matrix)
        if np.linalg.det(axes) < 0.0:
            axes[:, 0] = -axes[:, 0]
        squares = 6.0 / inertia.mass * (moments.sum() - 2.0 * moments)
        size = np.sqrt(np.maximum(squares, 1e-6))
        place = Transform(axes, inertia.center)
        self.things.append(Thing(k, "box", tuple(map(float, size)), _GREY, "bodies", place))

    def _add_loops(self) -> None:
        radius = 0.015 * self.reach()
        for constraint in self.model.constraints:
            if "world" in constraint.frames:
                continue  # it holds a base
            for name in constraint.frames[:1]:
                frame = self.model.frame(name)
                ball = Transform(np.eye(3), frame.placement.translation)
                self.things.append(Thing(frame.body, "sphere", (radius,), _LOOP, "loops", ball))

    def reach(self) -> float:
        """A length of the model: half the extent of its joints, at least 0.1 m."""
        at: list[Transform] = []
        for body in self.model.bodies:
            above = Transform() if body.parent < 0 else at[body.parent]
            at.append(above @ body.placement)
        points = np.array([t.translation for t in at] or np.zeros((1, 3)))
        return max(0.1, 0.5 * float(np.linalg.norm(np.ptp(points, axis=0))))


def grid(worlds: int, reach: float) -> np.ndarray:
    """Where worlds stand, (worlds, 3)."""
    side, numbers = int(np.ceil(np.sqrt(worlds))), np.arange(worlds)
    return 3.0 * reach * np.stack([numbers // side, numbers % side, 0 * numbers], axis=1)

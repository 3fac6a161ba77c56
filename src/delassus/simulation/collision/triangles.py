"""Surfaces of triangles: meshes as they are, and height fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_SAME = 1e-7  # corners closer than this part of the extent are one: files repeat them


@dataclass(frozen=True, eq=False)
class Triangles:
    """Corners (n, 3), and triangles as numbers of corners, counter-clockwise seen from outside.

    Of a surface with an upper side only, such as a height field, bodies are always above.
    """

    points: np.ndarray
    corners: np.ndarray
    has_upper_side_only: bool = False

    @classmethod
    def joined(cls, points: np.ndarray, corners: np.ndarray) -> Triangles:
        """A surface whose triangles share corners; those without area are left out."""
        low, extent = points.min(axis=0), np.ptp(points, axis=0).max()
        cells = np.round((points - low) / (_SAME * extent))
        _, first, numbers = np.unique(cells, axis=0, return_index=True, return_inverse=True)
        joined = np.ravel(numbers)[corners]
        a, b, c = joined.T
        return cls(points[first], joined[(a != b) & (b != c) & (a != c)])

    @property
    def is_closed(self) -> bool:
        """Whether each edge joins two triangles, one on each side."""
        a = self.corners
        edges = np.concatenate([a[:, [0, 1]], a[:, [1, 2]], a[:, [2, 0]]])
        there = {tuple(edge) for edge in edges.tolist()}
        return len(there) == len(edges) and all((b, a) in there for a, b in there)

    def moved(self, shift: np.ndarray) -> Triangles:
        """This surface, shifted."""
        return Triangles(self.points + shift, self.corners, self.has_upper_side_only)

    def form(self) -> Any:
        """This surface as coal has it."""
        import coal

        model = coal.BVHModelOBBRSS()
        model.beginModel(len(self.corners), len(self.points))
        model.addVertices(self.points)
        model.addTriangles(self.corners)
        model.endModel()
        return model

    def normals(self) -> np.ndarray:
        """Unit normals of the triangles; zero where there is no area."""
        x, y, z = self.points[self.corners].transpose(1, 0, 2)
        found = np.cross(y - x, z - x)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        return found / np.where(lengths > 0.0, lengths, 1.0)

    def around(self) -> list[set[int]]:
        """The triangles at each corner."""
        found: list[set[int]] = [set() for _ in self.points]
        for k, corners in enumerate(self.corners.tolist()):
            for corner in corners:
                found[corner].add(k)
        return found

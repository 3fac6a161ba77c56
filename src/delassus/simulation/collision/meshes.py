"""Convex hulls of meshes, read by coal: an optional package."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import numpy as np

from ...errors import MissingFileError, ModelError
from ...model.parts.elements import Shape

# With what meshes collide: planes are in the kernel, other shapes are left to coal.
MESHES = ("planes", "all", "none")
INSTALL = "pip install 'delassus[meshes]'"
# A hull thinner than this part of its largest extent has no inside.
_THINNEST = 1e-6


def can_read() -> bool:
    """Whether the package that reads meshes is installed."""
    return importlib.util.find_spec("coal") is not None


def hull_vertices(shape: Shape) -> np.ndarray:
    """Corners of the convex hull of a mesh in the shape's frame, (n, 3); its file is read."""
    what = f"collision shape {shape.name!r} on {shape.frame!r}"
    path = str(shape.mesh)
    if not os.path.isfile(path):
        raise MissingFileError(
            f"{what}: there is no mesh file {path}; without meshes a simulator is made by "
            "meshes='none'"
        )
    points = _read(what, path) * np.array(shape.size)
    if not np.isfinite(points).all():
        raise ModelError(f"{what}: mesh {path} has vertices that are not finite")
    extent = np.ptp(points, axis=0).max(initial=0.0)
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    if len(points) < 4 or not spread[-1] > _THINNEST * extent * np.sqrt(len(points)):
        raise ModelError(f"{what}: mesh {path} has no thickness")
    return np.array(convex_of(points).points())


def _read(what: str, path: str) -> np.ndarray:
    """Vertices of a mesh file."""
    import coal

    try:
        return np.array(coal.MeshLoader().load(path, np.ones(3)).vertices())
    except Exception as error:  # of many types, and with the file's name at most
        raise ModelError(f"{what}: mesh {path} cannot be read: {error}") from None


def convex_of(points: np.ndarray) -> Any:
    """The convex hull of points, as coal has it."""
    import coal

    model = coal.BVHModelOBBRSS()
    model.beginModel(0, len(points))
    model.addVertices(points)
    model.endModel()
    model.buildConvexHull(True, "Qt")
    return model.convex

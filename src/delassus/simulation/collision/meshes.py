"""Convex hulls of meshes, read by coal: an optional package."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import FileFormatError, MissingFileError, ModelError
from ...model.formats.mesh_files import check_coordinates, check_mesh
from ...model.parts.elements import Shape
from .triangles import Triangles

# With what meshes collide: planes are in the kernel, other shapes are left to coal.
MESHES = ("planes", "all", "raw", "none")
# A hull thinner than this part of its largest extent has no inside.
_THINNEST = 1e-6


def can_read() -> bool:
    """Whether the package that reads meshes is installed."""
    return importlib.util.find_spec("coal") is not None


def mesh_triangles(shape: Shape) -> Triangles:
    """A mesh in the shape's frame; its file is read."""
    what = f"collision shape {shape.name!r} on {shape.frame!r}"
    path = str(shape.mesh)
    if not os.path.isfile(path):
        raise MissingFileError(
            f"{what}: there is no mesh file {path}; without meshes a simulator is made by "
            "meshes='none'"
        )
    try:
        check_mesh(Path(path))
    except (FileFormatError, OSError) as error:
        raise ModelError(f"{what}: mesh {path} cannot be read: {error}") from None
    points, corners = _read(what, path)
    points = points * np.array(shape.size)
    try:
        check_coordinates(points)
    except FileFormatError as error:
        raise ModelError(f"{what}: mesh {path} cannot be used: {error}") from None
    extent = np.ptp(points, axis=0).max(initial=0.0)
    spread = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    if len(points) < 4 or not spread[-1] > _THINNEST * extent * np.sqrt(len(points)):
        raise ModelError(f"{what}: mesh {path} has no thickness")
    if np.prod(shape.size) < 0.0:  # a mirror turns triangles around
        corners = corners[:, ::-1]
    return Triangles.joined(points, corners)


def hull_vertices(points: np.ndarray) -> np.ndarray:
    """Corners of the convex hull of points, (n, 3)."""
    return np.array(convex_of(points).points())


def _read(what: str, path: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices of a mesh file, and its triangles."""
    import coal

    try:
        mesh = coal.MeshLoader().load(path, np.ones(3))
        triangles = [mesh.tri_indices(k) for k in range(mesh.num_tris)]
        corners = np.array([[t[0], t[1], t[2]] for t in triangles], int).reshape(-1, 3)
        return np.array(mesh.vertices()), corners
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

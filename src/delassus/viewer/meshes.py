"""Triangles of mesh files: STL and OBJ here, other formats by trimesh where it is installed."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from ..errors import FileFormatError
from ..extras import install_command
from ..model.formats.mesh_files import check_coordinates, check_mesh, stl_records


def read_triangles(path: str) -> np.ndarray:
    """Triangles (n, 3 corners, 3) of a file; FileFormatError says why there are none."""
    place = Path(path)
    if not place.is_file():
        raise FileFormatError("there is no such file")
    try:
        check_mesh(place)
        suffix = place.suffix.lower()
        if suffix == ".stl":
            triangles = _stl(place.read_bytes())
        elif suffix == ".obj":
            triangles = _obj(place.read_text(errors="replace"))
        else:
            triangles = _by_trimesh(place)
    except FileFormatError:
        raise
    except Exception as error:  # whatever a damaged file leads to: it is listed, never fails
        raise FileFormatError(f"it cannot be read: {error}") from None
    if not len(triangles):
        raise FileFormatError("it has no triangles")
    check_coordinates(triangles)
    return triangles


def _stl(content: bytes) -> np.ndarray:
    records = stl_records(content)
    if records is not None:
        return records["corners"].astype(float)
    lines = content.decode("ascii", "replace").split("\n")
    corners = [line.split()[1:4] for line in lines if line.strip().startswith("vertex")]
    return np.array(corners, float).reshape(-1, 3, 3)


def _obj(text: str) -> np.ndarray:
    corners, triangles = [], []
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            corners.append([float(x) for x in words[1:4]])
        elif words[:1] == ["f"]:
            numbers = [int(word.split("/")[0]) for word in words[1:]]
            index = [k - 1 if k > 0 else len(corners) + k for k in numbers]
            triangles += [(index[0], a, b) for a, b in pairwise(index[1:])]
    return np.array(corners, float)[np.array(triangles, int).reshape(-1, 3)]


def _by_trimesh(path: Path) -> np.ndarray:
    try:
        import trimesh
    except ImportError:
        raise FileFormatError(
            f"files of type {path.suffix} need trimesh: {install_command('viewer')}"
        ) from None
    try:
        return np.array(trimesh.load(str(path), force="mesh").triangles, float)
    except ImportError:
        raise FileFormatError(
            f"files of type {path.suffix} need more: {install_command('viewer')}"
        ) from None


def simplified(triangles: np.ndarray, most: int) -> np.ndarray:
    """At most so many triangles of about the same surface: corners are moved to points of a grid.

    The grid gets coarser until it suffices. For looking at only.
    """
    low, extent = triangles.min(axis=(0, 1)), np.ptp(triangles, axis=(0, 1)).max() or 1.0
    cells, kept = 512.0, triangles
    while len(kept) > most:
        points = np.round((triangles - low) * (cells / extent))
        a, b, c = points[:, 0], points[:, 1], points[:, 2]
        has_area = (a != b).any(axis=1) & (b != c).any(axis=1) & (a != c).any(axis=1)
        kept = np.unique(points[has_area].reshape(-1, 9), axis=0).reshape(-1, 3, 3)
        kept = low + kept * (extent / cells)
        cells /= 1.5
    return kept

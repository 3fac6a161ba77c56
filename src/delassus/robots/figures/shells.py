"""Covers of figures: capsules, as primitives or as files of triangles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

CLEARANCE = 0.02  # covers that start nearer to each other than this never touch, in m
_ROUND, _CAP = 16, 5  # corners of a ring, rings of a cap


class Shell(NamedTuple):
    """A capsule between two points of the world, on a body; `frame` is what names it in a model."""

    name: str
    body: str
    start: np.ndarray
    end: np.ndarray
    radius: float
    frame: str = ""


def near_pairs(shells: Sequence[Shell]) -> list[tuple[str, str]]:
    """Pairs of frames whose shells overlap or nearly so at the start."""
    found = []
    for i, a in enumerate(shells):
        for b in shells[i + 1 :]:
            pair = a.frame or a.body, b.frame or b.body
            gap = _distance(a, b) - a.radius - b.radius
            if a.body != b.body and gap < CLEARANCE and pair not in found:
                found.append(pair)
    return found


def _distance(a: Shell, b: Shell) -> float:
    """Distance of two segments, by alternating projections (it is a convex problem)."""
    s = t = 0.5
    for _ in range(50):
        s = _nearest(a, b.start + t * (b.end - b.start))
        t = _nearest(b, a.start + s * (a.end - a.start))
    difference = a.start + s * (a.end - a.start) - b.start - t * (b.end - b.start)
    return float(np.linalg.norm(difference))


def _nearest(shell: Shell, point: np.ndarray) -> float:
    """Where on a segment, from 0 to 1, the point is that is nearest to a given one."""
    along = shell.end - shell.start
    length2 = along @ along
    return float(np.clip((point - shell.start) @ along / length2, 0.0, 1.0)) if length2 else 0.0


def write_capsule(path: Path, radius: float, length: float) -> str:
    """Write the triangles of a capsule along z to a binary STL file; returns its path."""
    triangles = capsule_triangles(radius, length)
    edges = triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    normals = np.cross(*edges)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    content = np.zeros(len(triangles), record)
    content["normal"], content["corners"] = normals, triangles
    path.parent.mkdir(parents=True, exist_ok=True)
    header = b"capsule".ljust(80, b" ")
    path.write_bytes(header + np.uint32(len(triangles)).tobytes() + content.tobytes())
    return str(path)


def capsule_triangles(radius: float, length: float) -> np.ndarray:
    """Triangles (n, 3 corners, 3) of a capsule along z about the origin, outward normals."""
    polar = np.linspace(0.0, np.pi / 2.0, _CAP + 1)
    heights = np.concatenate(
        [length / 2 + radius * np.cos(polar), -length / 2 - radius * np.cos(polar[::-1])]
    )
    widths = np.concatenate([radius * np.sin(polar), radius * np.sin(polar[::-1])])
    angles = np.linspace(0.0, 2.0 * np.pi, _ROUND, endpoint=False)
    rings = np.stack(
        [
            np.outer(widths, np.cos(angles)),
            np.outer(widths, np.sin(angles)),
            np.repeat(heights[:, None], _ROUND, 1),
        ],
        axis=-1,
    )
    following = np.roll(rings, -1, axis=1)
    upper = np.stack([rings[:-1], rings[1:], following[1:]], axis=2)
    lower = np.stack([rings[:-1], following[1:], following[:-1]], axis=2)
    # At the poles one triangle of each pair has no area.
    return np.concatenate([upper.reshape(-1, 3, 3)[:-_ROUND], lower.reshape(-1, 3, 3)[_ROUND:]])

"""A convex shape and a surface of triangles: points where they touch, at most eight of them.

coal tells which triangles are near, and where each of them is nearest to the shape. Two kinds of
points follow, in the axes of the surface:

| point | normal, gap |
| --- | --- |
| a corner of the shape that is above a triangle | those of the triangle's plane |
| where a triangle is nearest, on its edges only if these stand out | as coal has them |

On an edge in a flat or hollow place the nearest point of one triangle has a normal that leans, as
the triangle behind the edge is not looked at. Such points are left out: what is there touches the
triangle behind. A corner is a ball: of radius zero, but at the ends of a capsule.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...maximal.rows.contacts import contact_frame
from ..narrow.records import BOX, CAPSULE, CYLINDER, FEATURES, HULL
from .shapes import CollisionShape
from .triangles import Triangles

MOST_POINTS = 8
_MOST_TRIANGLES = 200  # of one pair
_RIM = 8  # points of a rim of a cylinder
_ON_EDGE, _ON_CORNER = 1e-6, 1e-4  # weights of corners of a triangle that count as zero
_LEANS = 1e-3  # how far a triangle may stand out behind an edge
_SAME_NORMAL, _SAME_POINT = 0.9999, 1e-3
_FACING = 0.5  # least cosine between a triangle's normal and one that tells its side
_LEAN = 0.05  # of directions in which points are farthest out: see `narrow.hulls`
_ANGLES = 0.2 + 0.25 * np.pi * np.arange(8)


class Point(NamedTuple):
    """A point between shape and surface; the normal points to the shape."""

    feature: int
    point: np.ndarray  # midway between both
    normal: np.ndarray
    gap: float


class SurfaceFinder:
    """Finds points between one convex shape and one surface."""

    def __init__(self, shape: CollisionShape, surface: Triangles):
        self.surface, self.corners = surface, _corners(shape)
        points = surface.points[surface.corners]
        self.origins, self.middles, self.weights = (
            points[:, 0],
            points.mean(axis=1),
            _weights(points),
        )
        self.form, self.normals, self.around = surface.form(), surface.normals(), surface.around()
        self.ball = shape.half[0] if shape.kind == CAPSULE else 0.0
        self.size = shape.radius
        self.has_inside = surface.has_upper_side_only or surface.is_closed
        # A corner that is deeper is behind another part of the surface.
        self.deepest = self.size if surface.has_upper_side_only else 0.25 * self.size

    def points(self, form, R: np.ndarray, p: np.ndarray, margin: float) -> list[Point]:
        """Points of a shape that is turned by R and shifted by p from the surface."""
        found = self._nearest(form, R, p, margin)
        kept = self._above({t: normal for t, _, normal, _ in found}, R, p, margin)
        places = np.array([x.point for x in kept] or np.zeros((0, 3)))
        for t, near, normal, gap in sorted(found, key=lambda x: x[3]):
            away = places - near
            is_new = (away * away).sum(axis=1).min(initial=np.inf) > (_SAME_POINT * self.size) ** 2
            if is_new and self._stands_out(t, near - 0.5 * gap * normal, normal):
                feature = (4 * len(self.corners) + t) % FEATURES
                kept.append(Point(feature, near, normal, gap))
                places = np.concatenate([places, near[None]])
        return _numbered(_farthest(kept))

    def _nearest(self, form, R: np.ndarray, p: np.ndarray, margin: float) -> list[tuple]:
        """Triangle, midpoint, normal and gap where each near triangle is nearest."""
        import coal

        request, result = coal.CollisionRequest(), coal.CollisionResult()
        request.security_margin, request.num_max_contacts = margin, _MOST_TRIANGLES
        coal.collide(form, coal.Transform3s(R, p), self.form, coal.Transform3s(), request, result)
        found = []
        for k in range(result.numContacts()):
            contact = result.getContact(k)
            normal, gap = -np.array(contact.normal), contact.penetration_depth
            is_below = self.surface.has_upper_side_only and normal @ self.normals[contact.b2] <= 0.0
            if gap <= margin and not is_below:
                found.append((contact.b2, np.array(contact.pos), normal, gap))
        return found

    def _above(
        self, near: dict[int, np.ndarray], R: np.ndarray, p: np.ndarray, margin: float
    ) -> list[Point]:
        """Corners of the shape that are above near triangles, by the triangle's number.

        A triangle without an inside behind it is touched from the side of its nearest point, but
        for one at its edge, which tells no side.
        """
        if not near or not len(self.corners):
            return []
        t = np.array(sorted(near))
        m, a = self.normals[t], self.origins[t]
        if not self.has_inside:
            cosines = (m * np.array([near[k] for k in t])).sum(axis=1)
            is_faced = abs(cosines) >= _FACING
            t, m, a = t[is_faced], (np.sign(cosines)[:, None] * m)[is_faced], a[is_faced]
        away = (self.corners @ R.T + p) - a[:, None]
        gaps = np.einsum("tkx,tx->tk", away, m) - self.ball
        weights = np.einsum("twx,tkx->tkw", self.weights[t], away)
        is_above = (gaps <= margin) & (gaps >= -self.deepest)
        is_above &= (weights >= -_ON_EDGE).all(axis=2) & (weights.sum(axis=2) <= 1.0 + _ON_EDGE)
        kept = [
            (k, gaps[i, k], a[i] + away[i, k] - (0.5 * gaps[i, k] + self.ball) * m[i], m[i])
            for i, k in np.argwhere(is_above).tolist()
        ]
        found: list[Point] = []
        for k, gap, point, m in sorted(kept, key=lambda x: x[:2]):
            own = [x for x in found if x.feature // 4 == k]
            if len(own) < 4 and all(x.normal @ m < _SAME_NORMAL for x in own):
                found.append(Point(4 * k + len(own), point, m, gap))
        return found

    def _stands_out(self, t: int, x: np.ndarray, normal: np.ndarray) -> bool:
        """Whether no triangle at a point of the surface is in front of it along a normal."""
        s, r = self.weights[t] @ (x - self.origins[t])
        weights = zip(self.surface.corners[t].tolist(), (1.0 - s - r, s, r), strict=True)
        on = [self.around[corner] for corner, weight in weights if weight > _ON_CORNER]
        if len(on) == 3 or not on:
            return True
        middles = self.middles[list(set.intersection(*on))] - x
        return bool((middles @ normal <= _LEANS * np.linalg.norm(middles, axis=1)).all())


def _weights(points: np.ndarray) -> np.ndarray:
    """What gives the weights of second and third corners: (n, 2, 3), times a point less the first.

    NaN where a triangle has no area.
    """
    u, v = points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]
    uu, uv, vv = (u * u).sum(axis=1), (u * v).sum(axis=1), (v * v).sum(axis=1)
    whole = uu * vv - uv * uv
    whole = np.where(whole > 0.0, whole, np.nan)[:, None]
    return (
        np.stack([vv[:, None] * u - uv[:, None] * v, uu[:, None] * v - uv[:, None] * u], 1)
        / (whole[:, :, None])
    )


def _corners(shape: CollisionShape) -> np.ndarray:
    """Corners of a shape, or middles of the balls at its ends, in its own axes."""
    a, b, c = shape.half
    signs = np.array([-1.0, 1.0])
    match shape.kind:
        case k if k == CAPSULE:
            return np.array([[0.0, 0.0, -c], [0.0, 0.0, c]])
        case k if k == BOX:
            return np.stack(np.meshgrid(a * signs, b * signs, c * signs), axis=-1).reshape(-1, 3)
        case k if k == CYLINDER:
            angles = 2.0 * np.pi / _RIM * np.arange(_RIM)
            rim = np.stack([a * np.cos(angles), a * np.sin(angles), 0.0 * angles], axis=1)
            return np.concatenate([rim + np.array([0.0, 0.0, x]) for x in (-c, c)])
        case k if k == HULL:
            return shape.vertices
    return np.zeros((0, 3))


def _farthest(points: list[Point]) -> list[Point]:
    """At most eight of the points: the deepest, and those farthest out in directions across."""
    if len(points) <= MOST_POINTS:
        return points
    gaps = np.array([x.gap for x in points])
    chosen, n = [int(gaps.argmin())], np.sum([x.normal for x in points], axis=0)
    length = np.linalg.norm(n)
    n = n / length if length > 0.0 else points[chosen[0]].normal
    across = np.reshape(contact_frame(tuple(n)), (3, 3))[:, :2]
    places = np.array([x.point for x in points]) @ across
    for angle in _ANGLES:
        k = int((_LEAN * places @ [np.cos(angle), np.sin(angle)] - gaps).argmax())
        if k not in chosen and len(chosen) < MOST_POINTS:
            chosen.append(k)
    return [points[k] for k in chosen]


def _numbered(points: list[Point]) -> list[Point]:
    """Points with features that are all different."""
    used: set[int] = set()
    found = []
    for x in points:
        feature = x.feature
        while feature in used:
            feature = (feature + 1) % FEATURES
        used.add(feature)
        found.append(x._replace(feature=feature))
    return found

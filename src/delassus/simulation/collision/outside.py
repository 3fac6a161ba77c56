"""Contacts of pairs that no kernel handles, found by coal before each step.

They are those of hulls, of ellipsoids, and of surfaces of triangles: see `surfaces`.

| here     | what it is                                                                      |
| -------- | ------------------------------------------------------------------------------- |
| patch    | points of coal where two shapes touch, all with one distance                    |
| faces    | (A, b): a box or hull is where A x <= b, in its own axes                        |
| OUTSIDE  | a contact for a kernel: its id, then its record CONTACT                         |

Between boxes and hulls each point has a distance of its own, along the normal from face to face:
else a body that is tilted a little would not be set upright. Ids are those of directions from the
middle of the patch, in the axes of the first shape, so they need no memory of the last step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...compile import function, slots
from ...maximal.rows.contacts import CONTACT, contact_frame
from ..narrow.records import BOX, CAPSULE, CYLINDER, ELLIPSOID, FEATURES, HEIGHTS, HULL, SPHERE
from .meshes import convex_of
from .pairs import Pair
from .shapes import CollisionShape
from .surfaces import SurfaceFinder

if TYPE_CHECKING:
    from .geometry import Geometry

OUTSIDE = slots(id=1, contact=CONTACT.size)
_MOST_POINTS = 8
_SECTORS = 16
_TURN = 0.1  # corners of a square are not where one sector ends
# With these the normal of two round shapes is exact to 1e-3, by coal's own settings to 0.06. With a
# finer tolerance for overlaps coal fails at times.
_GJK_TOLERANCE, _EPA_TOLERANCE, _EPA_ITERATIONS = 1e-9, 1e-7, 128
_FACING = 0.1  # least cosine of the normal of a face that counts


@function
def add_outside(outside, count, room, contacts, ids):
    """Add contacts from outside, whose number comes first; returns how many there are in all."""
    for c in range(int(outside[0])):
        if count < room:
            at = 1 + c * OUTSIDE.size
            ids[count] = outside[at + OUTSIDE.id]
            for t in range(CONTACT.size):
                contacts[count * CONTACT.size + t] = outside[at + OUTSIDE.contact + t]
        count += 1
    return count


class Outside:
    """Finds contacts of the pairs of a geometry that are outside of kernels."""

    def __init__(self, geometry: Geometry):
        self.shapes, self.pairs = geometry.shapes, geometry.outside
        self.first_number = len(geometry.pairs)
        used = {k for pair in self.pairs for k in pair[:2]}
        convex = {k for k in used if self.shapes[k].kind != HEIGHTS}
        self.forms = {k: _form(self.shapes[k]) for k in convex}
        self.faces = {k: _faces(self.shapes[k]) for k in convex}
        self.finders = {pair[:2]: self._finder(pair) for pair in self.pairs}
        self.bodies = np.array([shape.body for shape in self.shapes], int)
        self.rotations = np.array([shape.placement.rotation for shape in self.shapes])
        self.positions = np.array([shape.placement.translation for shape in self.shapes])
        self.ends = np.array([pair[:2] for pair in self.pairs], int).reshape(-1, 2)
        self.reach = np.array([sum(self.shapes[k].radius for k in p[:2]) for p in self.pairs])
        self.margins = np.array([pair.margin for pair in self.pairs])
        self.is_soft = np.array([pair.material.softening is not None for pair in self.pairs], bool)

    def contacts(self, poses: np.ndarray, margin: float) -> np.ndarray:
        """Records OUTSIDE of contacts at poses (n_bodies, 7), in the order of their ids."""
        if not self.pairs:
            return np.zeros((0, OUTSIDE.size))
        R, p = self._placed(poses)
        apart = p[self.ends[:, 1]] - p[self.ends[:, 0]]
        within = np.where(self.is_soft, self.margins, np.maximum(self.margins, margin))
        near = np.linalg.norm(apart, axis=1) <= self.reach + within
        found = []
        for k in np.flatnonzero(near):
            pair = self.pairs[k]
            first = (self.first_number + k) * FEATURES
            for feature, point, normal, distance in self._touch(pair, R, p, within[k]):
                found.append((first + feature, *self._record(pair, point, normal, distance)))
        found.sort(key=lambda record: record[0])
        return np.array(found).reshape(-1, OUTSIDE.size)

    def _finder(self, pair: Pair) -> tuple[int, int, SurfaceFinder] | None:
        """The convex shape of a pair, the one of triangles, and what finds their points.

        Of two meshes the one of the world is as it is, the other is its hull; without one of the
        world, both are.
        """
        i, j = pair[:2]
        if self.shapes[i].triangles is not None and self.shapes[i].body == 0:
            i, j = j, i
        surface = self.shapes[j].triangles
        if surface is None or (self.shapes[i].triangles is not None and self.shapes[j].body > 0):
            return None
        return i, j, SurfaceFinder(self.shapes[i], surface)

    def _placed(self, poses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Rotations and positions of all shapes."""
        bodies = np.zeros((len(poses) + 1, 7))
        bodies[0, 6], bodies[1:] = 1.0, poses
        x, y, z, w = bodies[:, 3:].T
        R = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
            ]
        ).transpose(2, 0, 1)[self.bodies]
        p = bodies[self.bodies, :3] + np.einsum("nij,nj->ni", R, self.positions)
        return R @ self.rotations, p

    def _touch(self, pair: Pair, R: np.ndarray, p: np.ndarray, margin: float) -> list[tuple]:
        """Feature, point, normal and distance of the points of a pair."""
        import coal

        if self.finders[pair[:2]] is not None:
            return self._touch_surface(pair, R, p, margin)
        i, j = pair[:2]
        places = [coal.Transform3s(R[k], p[k]) for k in (i, j)]
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        request.security_margin, request.num_max_contacts = margin, 1
        request.gjk_tolerance, request.epa_tolerance = _GJK_TOLERANCE, _EPA_TOLERANCE
        request.epa_max_iterations = _EPA_ITERATIONS
        ends = (self.forms[i], places[0], self.forms[j], places[1])
        if not coal.collide(*ends, request, result):
            return []
        contact = result.getContact(0)
        patches = coal.ContactPatchResult()
        coal.computeContactPatch(*ends, result, coal.ContactPatchRequest(), patches)
        points = [np.array(contact.pos)]
        if patches.numContactPatches() > 0:
            patch = patches.getContactPatch(0)
            points = [np.array(patch.getPoint(k)) for k in range(patch.size())] or points
        n, distance = np.array(contact.normal), contact.penetration_depth
        features = _features(np.array(points), R[i], n)
        gaps = self._gaps(pair, R, p, n, points)
        found = []
        for feature, point, gap in zip(features, points, gaps, strict=True):
            if distance + gap <= margin:
                found.append((feature, point, n, distance + gap))
        chosen = np.linspace(0, len(found), min(len(found), _MOST_POINTS), endpoint=False)
        return [found[int(k)] for k in chosen]

    def _touch_surface(self, pair: Pair, R: np.ndarray, p: np.ndarray, margin: float) -> list:
        """Feature, point, normal and distance of the points of a convex shape and a surface."""
        i, j, finder = self.finders[pair[:2]]
        sign = -1.0 if i == pair.first else 1.0  # normals are from the first shape to the second
        own = finder.points(self.forms[i], R[j].T @ R[i], R[j].T @ (p[i] - p[j]), margin)
        return [(x.feature, R[j] @ x.point + p[j], sign * (R[j] @ x.normal), x.gap) for x in own]

    def _gaps(
        self, pair: Pair, R: np.ndarray, p: np.ndarray, n: np.ndarray, points: list[np.ndarray]
    ) -> np.ndarray:
        """By how much the gap at each point is more than the least one."""
        i, j = pair[:2]
        if self.faces[i] is None or self.faces[j] is None:
            return np.zeros(len(points))
        gaps = [
            -_height(self.faces[j], R[j].T @ (x - p[j]), -R[j].T @ n)
            - _height(self.faces[i], R[i].T @ (x - p[i]), R[i].T @ n)
            for x in points
        ]
        return np.array(gaps) - min(gaps)

    def _record(self, pair: Pair, point: np.ndarray, normal: np.ndarray, distance: float) -> list:
        """The record CONTACT of a point."""
        material = pair.material
        soft = [0.0] * (CONTACT.size - CONTACT.softening)
        if material.softening is not None:
            soft = material.softening.packed()
        ends = [float(self.shapes[k].body) for k in pair[:2]]
        numbers = [distance, material.friction, material.restitution]
        return [*ends, *point, *contact_frame(tuple(normal)), *numbers, *soft]


def moved(poses: np.ndarray, twists: np.ndarray, time: float) -> np.ndarray:
    """Poses (n, 7) that have moved with twists (n, 6) for a time, as `motion.move_poses` has it."""
    turns = time * twists[:, 3:]
    angles = np.linalg.norm(turns, axis=1, keepdims=True)
    a = 0.5 * np.sinc(0.5 * angles / np.pi) * turns
    aw, b, bw = np.cos(0.5 * angles), poses[:, 3:6], poses[:, 6:]
    v = aw * b + bw * a + np.cross(a, b)
    w = aw * bw - (a * b).sum(axis=1, keepdims=True)
    return np.concatenate([poses[:, :3] + time * twists[:, :3], v, w], axis=1)


def _features(points: np.ndarray, R: np.ndarray, n: np.ndarray) -> list[int]:
    """Numbers of points by their directions from the middle, each one once."""
    if len(points) == 1:
        return [2 * _SECTORS]
    frame = np.reshape(contact_frame(tuple(R.T @ n)), (3, 3))
    away = (points - points.mean(axis=0)) @ R @ frame
    angles = (np.arctan2(away[:, 1], away[:, 0]) + _TURN) % (2.0 * np.pi)
    found: list[int] = []
    for sector in (angles * _SECTORS / (2.0 * np.pi)).astype(int).tolist():
        while sector in found:
            sector += 4 * _SECTORS
        found.append(sector)
    return found


def _height(faces: tuple[np.ndarray, np.ndarray], x: np.ndarray, n: np.ndarray) -> float:
    """s at which x + s n leaves a polytope, by the faces towards n."""
    A, b = faces
    along = A @ n
    facing = along > min(_FACING, 0.9 * along.max())
    return float(((b[facing] - A[facing] @ x) / along[facing]).min())


def _form(shape: CollisionShape) -> Any:
    """A shape as coal has it."""
    import coal

    a, b, c = shape.half
    match shape.kind:
        case k if k == SPHERE:
            return coal.Sphere(a)
        case k if k == CAPSULE:
            return coal.Capsule(a, 2.0 * c)
        case k if k == BOX:
            return coal.Box(2.0 * a, 2.0 * b, 2.0 * c)
        case k if k == CYLINDER:
            return coal.Cylinder(a, 2.0 * c)
        case k if k == ELLIPSOID:
            return coal.Ellipsoid(a, b, c)
    return convex_of(shape.vertices)


def _faces(shape: CollisionShape) -> tuple[np.ndarray, np.ndarray] | None:
    """A and b of a box or hull, None for other shapes."""
    if shape.kind == BOX:
        return np.concatenate([np.eye(3), -np.eye(3)]), np.array([*shape.half] * 2)
    if shape.kind != HULL:
        return None
    hull = convex_of(shape.vertices)
    points = np.array(hull.points())
    corners = [[hull.polygons(k)[t] for t in range(3)] for k in range(hull.num_polygons)]
    x, y, z = points[np.array(corners)].transpose(1, 0, 2)
    normals = np.cross(y - x, z - x)
    areas = np.linalg.norm(normals, axis=1)
    large = areas > 1e-12 * areas.max()
    A, x = normals[large] / areas[large, None], x[large]
    outwards = np.sign(((x - points.mean(axis=0)) * A).sum(axis=1))[:, None]
    A = A * outwards
    return A, (A * x).sum(axis=1)

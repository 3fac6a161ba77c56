"""Starts above the ground and within limits, for models that come without a start of their own.

The neutral configuration of most robots has the base at z = 0, and so half of the robot in the
ground, and some of its joints beyond their limits.
"""

from __future__ import annotations

import inspect
from dataclasses import replace

import numpy as np

from ...constrained.rows.constraints import Constraints
from ...constrained.tasks.loops import close_loops
from ...errors import ConvergenceError
from ...maximal.system import MaximalSystem
from ...model.model import Model
from ...model.parts.joints import Free
from ..collision.geometry import Geometry
from ..collision.shapes import CollisionShape
from ..narrow.records import BOX, CAPSULE, CYLINDER, ELLIPSOID, PLANE, SPHERE

CLEARANCE = 1e-3  # m above the ground
_LITTLE = 1e-6  # rad or m that a joint may be beyond a limit
_NEARLY = 1e-6  # an error of loops, in m or rad, that counts as closed
_LEVEL = 1e-6  # how far the normal of a plane that is level may lean
_DOWN = np.array([0.0, 0.0, -1.0])


def within_limits(model: Model, q: np.ndarray) -> np.ndarray:
    """The configuration nearest to q that is within limits, with loops closed.

    Where loops cannot be closed within limits, it is one beyond these.
    """
    q = np.array(q)
    for joint in model.joints:
        if joint.nq == joint.nv:
            q[joint.q] = np.clip(q[joint.q], model.lower[joint.q], model.upper[joint.q])
    if not model.constraints:
        return q
    cs = Constraints(model, model.constraints)
    for respect_limits in (True, False):
        try:
            return np.asarray(close_loops(model, q, cs, respect_limits=respect_limits))
        except ConvergenceError as error:
            if np.max(error.error) < _NEARLY:
                return np.asarray(error.q)
    return q


def beyond_limits(model: Model, q: np.ndarray) -> list[str]:
    """Names of joints that are beyond their limits."""
    return [
        joint.name
        for joint in model.joints
        if (q[joint.q] < model.lower[joint.q] - _LITTLE).any()
        or (q[joint.q] > model.upper[joint.q] + _LITTLE).any()
    ]


def without_limits(model: Model, names: list[str]) -> Model:
    """A model in which some joints have no limits."""
    bodies = []
    for body in model.bodies:
        if body.joint.name in names:
            free = np.full(len(body.joint.data.lower), np.inf)
            data = replace(body.joint.data, lower=-free, upper=free)
            body = replace(body, joint=replace(body.joint, data=data))
        bodies.append(body)
    parts = {name: getattr(model, name) for name in inspect.signature(Model).parameters}
    return Model(**{**parts, "bodies": bodies})


def base_height(model: Model) -> int | None:
    """Where q has the height of a base that moves freely; None if there is none."""
    first = model.joints[0] if model.joints else None
    return first.q.start + 2 if first is not None and isinstance(first.type, Free) else None


def clearance(system: MaximalSystem, geometry: Geometry, q: np.ndarray) -> float:
    """How far the lowest point of bodies is above the level plane that it can touch, in metres.

    It is infinite where there is no such plane, and negative where something is in the ground.
    """
    poses = system.state(q[None], np.zeros((1, system.nv)))[0][0]
    least = np.inf
    for pair in (*geometry.pairs, *geometry.outside):
        shapes = geometry.shapes[pair.first], geometry.shapes[pair.second]
        for plane, shape in (shapes, shapes[::-1]):
            if plane.kind == PLANE and plane.body == 0 and shape.body > 0:
                normal = plane.placement.rotation[:, 2]
                if normal[2] > 1.0 - _LEVEL:
                    height = plane.placement.translation[2]
                    least = min(least, _lowest(shape, poses[shape.body - 1]) - height)
    return float(least)


def _lowest(shape: CollisionShape, pose: np.ndarray) -> float:
    """The height of the lowest point of a shape on a body at a pose."""
    R = _rotation(pose[3:])
    centre = pose[:3] + R @ shape.placement.translation
    down = (R @ shape.placement.rotation).T @ _DOWN  # in the shape's own axes
    a, b, c = shape.half
    flat = float(np.hypot(down[0], down[1]))
    reach = {
        SPHERE: a,
        CAPSULE: a + c * abs(down[2]),
        CYLINDER: a * flat + c * abs(down[2]),
        BOX: float(np.abs(down) @ np.array([a, b, c])),
        ELLIPSOID: float(np.linalg.norm(down * np.array([a, b, c]))),
    }.get(shape.kind)
    if reach is None:
        points = shape.vertices if shape.triangles is None else shape.triangles.points
        reach = float((points @ down).max(initial=0.0))
    return float(centre[2]) - reach


def _rotation(quaternion: np.ndarray) -> np.ndarray:
    """The matrix of a quaternion x, y, z, w."""
    x, y, z, w = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )

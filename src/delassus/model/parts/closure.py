"""How far two frames on one body are from what a constraint between them asks for."""

from __future__ import annotations

import numpy as np

from ...errors import ModelError
from ...spatial.transform import Transform
from .constraints import Closure, Connect, Constraint, Distance, Weld
from .joints import (
    Cylindrical,
    Gimbal,
    Helical,
    JointType,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)


def closure_error(constraint: Constraint, relative: Transform) -> float:
    """The largest violation, in metres and radians, where `frame` sits at `relative` in `other`."""
    p, R = relative.translation, relative.rotation
    if isinstance(constraint, Connect):
        return _norm(p)
    if isinstance(constraint, Weld):
        return max(_norm(p), _norm(R - np.eye(3)))
    if isinstance(constraint, Distance):
        return abs(_norm(p) - constraint.length)
    if isinstance(constraint, Closure):
        return max(_joint_errors(constraint.joint_type, p, R))
    raise ModelError(f"{type(constraint).__name__} is not a constraint between frames")


def _joint_errors(joint: JointType, p: np.ndarray, R: np.ndarray) -> list[float]:
    """Distances from the motions that a joint allows."""
    if isinstance(joint, (Spherical, Gimbal)):
        return [_norm(p)]
    if isinstance(joint, Translation):
        return [_norm(R - np.eye(3))]
    if isinstance(joint, Universal):
        first, second = np.array(joint.first), np.array(joint.second)
        return [_norm(p), abs(float(first @ R @ second - first @ second))]
    axis = np.array(joint.axis)
    along = float(axis @ p)
    across = _norm(p - along * axis)
    tilt = _norm(R @ axis - axis)
    if isinstance(joint, Prismatic):
        return [across, _norm(R - np.eye(3))]
    if isinstance(joint, Revolute):
        return [_norm(p), tilt]
    if isinstance(joint, Cylindrical):
        return [across, tilt]
    if isinstance(joint, Planar):
        return [abs(along), tilt]
    if isinstance(joint, Helical):
        return [across, tilt, _screw_error(joint, along, R)]
    raise ModelError(f"a closure by {type(joint).__name__} is not known")


def _screw_error(joint: Helical, along: float, R: np.ndarray) -> float:
    """How far the advance is from that of the nearest number of turns."""
    axis = np.array(joint.axis)
    twist = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    angle = np.arctan2(axis @ twist, np.trace(R) - 1.0)
    lead = 2.0 * np.pi * joint.pitch
    off = along - joint.pitch * angle
    return abs(off) if lead == 0.0 else abs(off - lead * round(off / lead))


def _norm(x: np.ndarray) -> float:
    return float(np.linalg.norm(x))

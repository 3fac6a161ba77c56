"""Poses that move with twists."""

from __future__ import annotations

from ..compile import function, sincos, sqrt
from ..maximal.rows.bodies import POSE, TWIST
from ..spatial.quaternions import multiply, unit
from ..spatial.vectors import dot, get3, get4, put4

_SMALL = 1e-12  # a rotation below which the quaternion of half the angle is exact to rounding


@function
def turn(quaternion, x):
    """A quaternion (x, y, z, w) turned by a rotation vector in world axes."""
    angle = sqrt(dot(x, x))
    if angle < _SMALL:
        return unit(multiply((0.5 * x[0], 0.5 * x[1], 0.5 * x[2], 1.0), quaternion))
    s, c = sincos(0.5 * angle)
    s = s / angle
    return unit(multiply((s * x[0], s * x[1], s * x[2], c), quaternion))


@function
def move_poses(n, poses, twists, dt):
    """Move all poses with their twists for a time."""
    for i in range(n):
        pose, twist = i * POSE.size, i * TWIST.size
        for k in range(3):
            poses[pose + k] = poses[pose + k] + dt * twists[twist + k]
        w = get3(twists, twist + TWIST.omega)
        x = (dt * w[0], dt * w[1], dt * w[2])
        put4(poses, pose + POSE.quaternion, turn(get4(poses, pose + POSE.quaternion), x))

"""States in MuJoCo's conventions and in those of this library; MuJoCo itself is not needed.

MuJoCo writes quaternions w x y z, and the linear velocity of a free joint in the world's axes; here
they are x y z w, and the body's axes. The order of joints is one and the same.
"""

from __future__ import annotations

import numpy as np

from ....spatial.constant import scaled_to_unit
from ...model import Model
from ...parts.joints import Free

SCALAR_FIRST = [3, 0, 1, 2]
SCALAR_LAST = [1, 2, 3, 0]


def with_quaternions(model: Model, states: np.ndarray, order: list[int]) -> np.ndarray:
    """Configurations, (..., nq), with the four numbers of each quaternion in another order."""
    result = states.copy()
    for start in quaternion_starts(model):
        result[..., start : start + 4] = states[..., [start + k for k in order]]
    return result


def quaternion_starts(model: Model) -> list[int]:
    """Where in q the quaternions start."""
    types = [(joint.q.start, joint.type.quaternion) for joint in model.joints]
    return [first + start for first, start in types if start is not None]


def with_linear_velocities(
    model: Model, q: np.ndarray, velocities: np.ndarray, to_world: bool
) -> np.ndarray:
    """Velocities with the linear part of each free joint turned by its rotation, or back."""
    result = velocities.copy()
    for joint in model.joints:
        if isinstance(joint.type, Free):
            linear = slice(joint.v.start, joint.v.start + 3)
            quaternion = q[..., joint.q.start + 3 : joint.q.stop]
            result[..., linear] = _rotated(quaternion, velocities[..., linear], to_world)
    return result


def _rotated(quaternion: np.ndarray, x: np.ndarray, forward: bool) -> np.ndarray:
    """Vectors turned by quaternions x y z w, or by their inverses."""
    unit = scaled_to_unit(quaternion)
    axis, scalar = unit[..., :3], unit[..., 3:]
    twice = 2.0 * np.cross(axis if forward else -axis, x)
    return x + scalar * twice + np.cross(axis if forward else -axis, twice)

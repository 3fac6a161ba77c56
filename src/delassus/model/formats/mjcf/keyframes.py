"""Keyframes of a compiled MJCF model, in this library's order and conventions."""

from __future__ import annotations

import numpy as np

from ....spatial.constant import scaled_to_unit
from ...model import Model
from ...parts.keyframes import Keyframe
from .names import MjcfNames, blamed
from .states import SCALAR_LAST, quaternion_starts, with_linear_velocities, with_quaternions


def with_keyframes(
    model: Model, compiled, names: MjcfNames, controls: list[int], freed: int | None
) -> Model:
    """The model with the file's keyframes.

    `controls` are the numbers in MuJoCo of the model's controls. `freed` is a body that the file
    holds in the world and that floats here, if there is one: it stays where the file puts it.
    """
    keyframes = []
    for i, name in enumerate(names.keys):
        qpos, qvel = np.array(compiled.key_qpos[i]), np.array(compiled.key_qvel[i])
        if freed is not None:  # its joint is the first
            pose = [*compiled.body_pos[freed], *compiled.body_quat[freed]]
            qpos, qvel = np.concatenate([pose, qpos]), np.concatenate([np.zeros(6), qvel])
        with blamed("key", name):
            q = _with_unit_quaternions(model, with_quaternions(model, qpos, SCALAR_LAST))
            v = with_linear_velocities(model, q, qvel, to_world=False)
            u = np.array(compiled.key_ctrl[i])[controls]
            keyframes.append(Keyframe(name, q, v, u, float(compiled.key_time[i])))
    return model.replace(keyframes=keyframes) if keyframes else model


def _with_unit_quaternions(model: Model, q: np.ndarray) -> np.ndarray:
    """q with quaternions as MuJoCo takes them: of unit length, a zero one as no rotation."""
    for start in quaternion_starts(model):
        given = q[start : start + 4]
        q[start : start + 4] = scaled_to_unit(given) if given.any() else [0.0, 0.0, 0.0, 1.0]
    return q

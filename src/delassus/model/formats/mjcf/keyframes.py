"""Keyframes of a compiled MJCF model, in this library's order and conventions."""

from __future__ import annotations

import numpy as np

from ....spatial.constant import scaled_to_unit
from ...model import Model
from ...parts.keyframes import HOME, INITIAL, Keyframe
from .names import MjcfNames, blamed
from .states import SCALAR_LAST, quaternion_starts, with_linear_velocities, with_quaternions


def with_keyframes(
    model: Model, compiled, names: MjcfNames, controls: list[int], freed: int | None
) -> Model:
    """The model with the file's keyframes, and qpos0 as one if there is no "home".

    qpos0 has the poses that the file gives to free bodies. It is added where it is not the neutral
    configuration. `controls` are the numbers in MuJoCo of the model's controls. `freed` is a body
    that the file holds in the world and that floats here, if there is one: it stays where the file
    puts it.
    """
    # A freed body's joint is the first.
    pose = [] if freed is None else [*compiled.body_pos[freed], *compiled.body_quat[freed]]
    rest = [] if freed is None else [0.0] * 6
    keyframes = []
    for i, name in enumerate(names.keys):
        qvel = np.concatenate([rest, compiled.key_qvel[i]])
        with blamed("key", name):
            q = _configuration(model, np.concatenate([pose, compiled.key_qpos[i]]))
            v = with_linear_velocities(model, q, qvel, to_world=False)
            u = np.array(compiled.key_ctrl[i])[controls]
            keyframes.append(Keyframe(name, q, v, u, float(compiled.key_time[i])))
    initial = _configuration(model, np.concatenate([pose, compiled.qpos0]))
    has_start = {HOME, INITIAL}.intersection(names.keys)
    if not has_start and not np.array_equal(initial, model.neutral()):
        keyframes.append(Keyframe(INITIAL, initial, np.zeros(model.nv), np.zeros(len(controls))))
    return model.replace(keyframes=keyframes) if keyframes else model


def _configuration(model: Model, qpos: np.ndarray) -> np.ndarray:
    """q of MuJoCo's qpos."""
    return _with_unit_quaternions(model, with_quaternions(model, qpos, SCALAR_LAST))


def _with_unit_quaternions(model: Model, q: np.ndarray) -> np.ndarray:
    """q with quaternions as MuJoCo takes them: of unit length, a zero one as no rotation."""
    for start in quaternion_starts(model):
        given = q[start : start + 4]
        q[start : start + 4] = scaled_to_unit(given) if given.any() else [0.0, 0.0, 0.0, 1.0]
    return q

"""Poses of bodies over time, and as small integers.

A position is low + step n with n of 16 bits, low and step those of the body over all frames; each
number of a quaternion is n / 32767 - 1. For a body that moves through a metre that is 0.015 mm.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..checks import instance
from ..dynamics.kinematics import forward_kinematics
from ..errors import ModelError, ShapeError
from ..model.model import Model
from ..simulation.told.recording import Recording

_MOST = 65535


class Motion(NamedTuple):
    """Positions (frames, bodies, 3) and quaternions x, y, z, w (frames, bodies, 4)."""

    positions: np.ndarray
    quaternions: np.ndarray


class Quantized(NamedTuple):
    """Numbers (frames, bodies, 7) of 16 bits, and low and step (bodies, 3) of the positions."""

    numbers: np.ndarray
    low: np.ndarray
    step: np.ndarray


class Placing:
    """Finds the poses of all bodies of a model."""

    def __init__(self, model: Model):
        self.model = model
        frames: dict[int, str] = {}
        for frame in model.frames:
            frames.setdefault(frame.body, frame.name)
        self._bodies = [k for k in range(model.n_bodies) if k in frames]
        self._frames = [frames[k] for k in self._bodies]
        back = [model.frame(name).placement.inverse() for name in self._frames]
        self._rotations = np.array([t.rotation for t in back]).reshape(-1, 3, 3)
        self._translations = np.array([t.translation for t in back]).reshape(-1, 3, 1)

    def __call__(self, q: np.ndarray) -> Motion:
        """Poses at configurations (frames, nq)."""
        n = len(q), self.model.n_bodies
        positions, quaternions = np.zeros((*n, 3)), np.zeros((*n, 4))
        quaternions[..., 3] = 1.0
        if self._bodies:
            placed = forward_kinematics(self.model, q, self._frames)
            shift = (placed.rotation @ self._translations)[..., 0]
            positions[:, self._bodies] = placed.translation + shift
            quaternions[:, self._bodies] = quaternions_of(placed.rotation @ self._rotations)
        return Motion(positions, quaternions)


def shown_states(recording: Recording, model: Model) -> np.ndarray:
    """Configurations (worlds, steps, nq) of a recording of this model, up to where it diverged."""
    instance("recording", recording, Recording)
    instance("model", model, Model)
    if (recording.nq, recording.nv) != (model.nq, model.nv):
        raise ModelError(
            f"the recording has {recording.nq} coordinates and {recording.nv} velocities, model "
            f"{model.name!r} has {model.nq} and {model.nv}: it is of another model"
        )
    if recording.name != model.name:
        raise ModelError(
            f"the recording is of model {recording.name!r}, which is another model than "
            f"{model.name!r}"
        )
    if len(recording) == 0:
        raise ShapeError("the recording is empty")
    q = recording.q if recording.is_many else recording.q[None]
    is_finite = np.isfinite(q).all(axis=(0, 2))
    end = len(is_finite) if is_finite.all() else int(np.argmin(is_finite))
    if end == 0:
        raise ShapeError("the recording has no step whose numbers are finite")
    return q[:, :end]


def body_poses(model: Model, q: np.ndarray) -> Motion:
    """Poses of all bodies at configurations (frames, nq)."""
    return Placing(model)(q)


def quaternions_of(R: np.ndarray) -> np.ndarray:
    """Unit quaternions x, y, z, w (..., 4) of rotations (..., 3, 3), with w not negative.

    A row of 4 p p^T, p being the quaternion, is p but for a factor; the longest row is taken.
    """
    a, b, c = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    plus, minus = R + R.swapaxes(-1, -2), R - R.swapaxes(-1, -2)
    xy, xz, yz = plus[..., 1, 0], plus[..., 2, 0], plus[..., 2, 1]
    xw, yw, zw = minus[..., 2, 1], minus[..., 0, 2], minus[..., 1, 0]
    rows = [
        [1.0 + a - b - c, xy, xz, xw],
        [xy, 1.0 - a + b - c, yz, yw],
        [xz, yz, 1.0 - a - b + c, zw],
        [xw, yw, zw, 1.0 + a + b + c],
    ]
    square = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)
    longest = np.argmax(np.diagonal(square, axis1=-2, axis2=-1), axis=-1)
    p = np.take_along_axis(square, longest[..., None, None], axis=-2)[..., 0, :]
    p = p / np.linalg.norm(p, axis=-1, keepdims=True)
    return np.where(p[..., 3:] < 0.0, -p, p)


def rotated(p: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Vectors (..., 3) turned by quaternions x, y, z, w (..., 4)."""
    twice = 2.0 * _cross(p[..., :3], v)
    return v + p[..., 3:] * twice + _cross(p[..., :3], twice)


def _cross(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a x b; numpy.cross takes three times as long for a few vectors."""
    (x, y, z), (u, v, w) = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)


def product(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The quaternion p q, first by q and then by p; both are x, y, z, w (..., 4)."""
    a, b, s, t = p[..., :3], q[..., :3], p[..., 3:], q[..., 3:]
    vector = s * b + t * a + _cross(a, b)
    return np.concatenate([vector, s * t - (a * b).sum(axis=-1, keepdims=True)], axis=-1)


def quantized(motion: Motion) -> Quantized:
    """Poses as integers of 16 bits."""
    low = motion.positions.min(axis=0)
    step = np.maximum(motion.positions.max(axis=0) - low, 1e-9) / _MOST
    numbers = np.empty((*motion.positions.shape[:2], 7), np.uint16)
    numbers[..., :3] = np.round((motion.positions - low) / step)
    numbers[..., 3:] = np.round((motion.quaternions + 1.0) * 32767.0)
    return Quantized(numbers, low, step)

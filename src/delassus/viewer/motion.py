"""Poses of bodies over time, and as small integers.

A position is low + step n with n of 16 bits, low and step those of the body over all frames; each
number of a quaternion is n / 32767 - 1. For a body that moves through a metre that is 0.015 mm.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..dynamics.kinematics import forward_kinematics
from ..model.model import Model
from ..spatial.transform import rotation_to_quaternion

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


def body_poses(model: Model, q: np.ndarray) -> Motion:
    """Poses of all bodies at configurations (frames, nq)."""
    frames: dict[int, str] = {}
    for frame in model.frames:
        frames.setdefault(frame.body, frame.name)
    positions = np.zeros((len(q), model.n_bodies, 3))
    quaternions = np.zeros((len(q), model.n_bodies, 4))
    quaternions[..., 3] = 1.0
    own = [k for k in range(model.n_bodies) if k in frames]
    if own:
        placed = forward_kinematics(model, q, [frames[k] for k in own])
        for column, k in enumerate(own):
            back = model.frame(frames[k]).placement.inverse()
            R = placed.rotation[:, column] @ back.rotation
            positions[:, k] = placed.translation[:, column] + (
                placed.rotation[:, column] @ back.translation
            )
            quaternions[:, k] = [rotation_to_quaternion(r) for r in R]
    return Motion(positions, quaternions)


def quantized(motion: Motion) -> Quantized:
    """Poses as integers of 16 bits."""
    low = motion.positions.min(axis=0)
    step = np.maximum(motion.positions.max(axis=0) - low, 1e-9) / _MOST
    numbers = np.empty((*motion.positions.shape[:2], 7), np.uint16)
    numbers[..., :3] = np.round((motion.positions - low) / step)
    numbers[..., 3:] = np.round((motion.quaternions + 1.0) * 32767.0)
    return Quantized(numbers, low, step)

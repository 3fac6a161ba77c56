"""Conversions of states to MuJoCo's conventions and back; MuJoCo itself is not needed.

Joints stand in the same order in both: depth first, as in the file. MuJoCo writes quaternions
w x y z, and the linear velocity of a free joint in the world's axes; here they are x y z w, and the
body's axes. All else agrees. One state or N states, as everywhere.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .checks import instance, real_array
from .errors import ModelError, ShapeError
from .model.formats.mjcf.states import (
    SCALAR_FIRST,
    SCALAR_LAST,
    with_linear_velocities,
    with_quaternions,
)
from .model.model import Model
from .model.parts.joints import (
    Cylindrical,
    Free,
    Gimbal,
    Prismatic,
    Revolute,
    Spherical,
    Translation,
    Universal,
)

# Joints of several axes are several joints of one axis in MuJoCo, with the same numbers.
_EQUIVALENT = (Revolute, Prismatic, Cylindrical, Universal, Gimbal, Translation, Spherical, Free)


def to_qpos(model: Model, q: ArrayLike) -> np.ndarray:
    """MuJoCo's qpos for configurations q, (nq,) or (N, nq)."""
    return _reordered(model, q, "q", SCALAR_FIRST)


def from_qpos(model: Model, qpos: ArrayLike) -> np.ndarray:
    """The configurations of MuJoCo's qpos, (nq,) or (N, nq)."""
    return _reordered(model, qpos, "qpos", SCALAR_LAST)


def to_qvel(model: Model, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """MuJoCo's qvel for velocities v at configurations q (this library's q, not qpos)."""
    return _turned(model, q, v, "v", to_world=True)


def from_qvel(model: Model, q: ArrayLike, qvel: ArrayLike) -> np.ndarray:
    """The velocities of MuJoCo's qvel at configurations q (this library's q, not qpos)."""
    return _turned(model, q, qvel, "qvel", to_world=False)


def _reordered(model: Model, given: ArrayLike, name: str, order: list[int]) -> np.ndarray:
    _check(model)
    return with_quaternions(model, _states(name, given, model.nq), order)


def _turned(model: Model, q: ArrayLike, v: ArrayLike, name: str, to_world: bool) -> np.ndarray:
    """Velocities with the linear part of each free joint turned by its rotation, or back."""
    _check(model)
    q, velocities = _states("q", q, model.nq), _states(name, v, model.nv)
    if q.shape[:-1] != velocities.shape[:-1]:
        raise ShapeError(
            f"q and {name} must be as many states, got shapes {q.shape} and {velocities.shape}"
        )
    return with_linear_velocities(model, q, velocities, to_world)


def _states(name: str, given: ArrayLike, size: int) -> np.ndarray:
    array = real_array(name, given, keep_single=True)
    if array.ndim not in (1, 2) or array.shape[-1] != size:
        raise ShapeError(
            f"{name} must have shape ({size},) for one state or (N, {size}) for N states of this "
            f"model, got {array.shape}"
        )
    return array


def _check(model: Model) -> None:
    for joint in instance("model", model, Model).joints:
        if not isinstance(joint.type, _EQUIVALENT):
            raise ModelError(
                f"joint {joint.name!r} is {type(joint.type).__name__}, which MuJoCo does not have"
            )

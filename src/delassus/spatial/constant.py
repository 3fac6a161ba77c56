"""Arrays that do not change, and vectors of unit length."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..checks import Error, finite_vector, real_array, shown
from ..errors import ModelError

_ROUNDING = 4.0 * np.finfo(float).eps


def constant(array: ArrayLike) -> np.ndarray:
    """An array of doubles that nobody can write to: a copy, unless it is one already."""
    is_array = type(array) is np.ndarray and array.dtype == float
    if is_array and array.base is None and not array.flags.writeable:
        return array
    array = np.array(array, float)
    array.setflags(write=False)
    return array


def make_constant(owner, **shapes: tuple[int, ...]) -> None:
    """Make arrays of a frozen dataclass constant: of these shapes, and of finite numbers."""
    for name, shape in shapes.items():
        given = getattr(owner, name)
        if type(given) is not np.ndarray or given.dtype != float:
            given = real_array(name, given, ModelError)
        if given.shape != shape:
            raise ModelError(f"{name} must have shape {shape}, got {given.shape}")
        if not np.isfinite(given).all():
            raise ModelError(f"{name} must be finite, got {shown(given.tolist())}")
        object.__setattr__(owner, name, constant(given))


def unit_vector(what: str, given: ArrayLike, count: int, error: Error = ModelError) -> np.ndarray:
    """A vector scaled to unit length, of whatever length it is; a zero one is an error.

    One of unit length stays as it is, so that a model that is saved and read again is the same.
    """
    vector = finite_vector(what, given, count, error)
    if not vector.any():
        raise error(f"{what} must not be zero")
    is_unit = abs(math.hypot(*vector) - 1.0) <= _ROUNDING
    return vector if is_unit else scaled_to_unit(vector)


def scaled_to_unit(vectors: np.ndarray) -> np.ndarray:
    """Vectors along the last axis, scaled to unit length; NaN where one is zero."""
    # The square of a very large or very small number is no number, so the largest entry is brought
    # near one first, by a power of two: this is exact.
    _, exponent = np.frexp(np.abs(vectors).max(axis=-1, keepdims=True))
    sized = np.ldexp(vectors, -exponent)
    with np.errstate(invalid="ignore"):
        return sized / np.linalg.norm(sized, axis=-1, keepdims=True)

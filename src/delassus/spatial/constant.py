"""Arrays and objects that do not change, and vectors of unit length."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..checks import Error, finite_vector, real_array, shown
from ..errors import ImmutableError, ModelError

_ROUNDING = 4.0 * np.finfo(float).eps


def constant(array: ArrayLike) -> np.ndarray:
    """An array of doubles that nobody can write to: a copy, unless it is one already."""
    if type(array) is np.ndarray and array.dtype == float and type(array.base) is bytes:
        return array
    copied = np.ascontiguousarray(array, float)
    # Memory of bytes can never be made writeable again, as that of other arrays can.
    return np.ndarray(np.shape(array), float, copied.tobytes())


class ConstantArrays:
    """Base of frozen dataclasses with arrays: those of a copy, or from a pickle, are constant."""

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(with_constant_arrays(state))


def with_constant_arrays(state: dict) -> dict:
    """The state of an object, its arrays made constant."""
    return {k: constant(x) if isinstance(x, np.ndarray) else x for k, x in state.items()}


class Immutable:
    """Base of objects whose attributes are set while they are made, and never again."""

    _is_made = False
    _instead = ""  # what to do in place of a change, for the message

    def __setattr__(self, name: str, value: object) -> None:
        if self._is_made:
            raise ImmutableError(
                f"a {type(self).__name__} does not change, so {name!r} cannot be set{self._instead}"
            )
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        raise ImmutableError(
            f"a {type(self).__name__} does not change, so {name!r} cannot be deleted"
        )


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

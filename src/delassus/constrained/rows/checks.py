"""Checks of arguments of functions on constraints."""

from __future__ import annotations

import numpy as np

from ...checks import not_negative, positive_integer, real_array
from ...compile import is_symbolic
from ...errors import DataTypeError, ModelError, SettingError, ShapeError
from ...model.model import Model
from ...model.parts.names import known_name
from .constraints import Constraints

__all__ = [
    "AUTO",
    "check_constraints",
    "check_method",
    "fitting",
    "not_negative",
    "per_row",
    "positive_integer",
    "positive_per_row",
    "state_count",
]

AUTO = "auto"  # leaves the choice of a method to the library
_LEAST_POSITIVE = np.finfo(float).tiny  # below it, 1 / x is infinite


def check_constraints(model: Model, constraints) -> Constraints:
    """The constraints, if they are Constraints of this model; else an error."""
    if not isinstance(constraints, Constraints):
        raise DataTypeError(f"expected Constraints(model, [...]), got {type(constraints).__name__}")
    if constraints.model is not model:
        raise ModelError("these constraints are those of another model")
    return constraints


def check_method(method: str, methods) -> str:
    """The name of a method, if it is one of `methods` or AUTO; else an error."""
    return known_name("method", method, (AUTO, *methods))


def state_count(q) -> int | None:
    """How many states q holds, None for one without a batch axis."""
    if type(q) is not np.ndarray:
        if is_symbolic(q):
            return None
        q = real_array("q", q)
    return len(q) if q.ndim > 1 else None


def per_row(cs: Constraints, x, name: str, count: int | None) -> np.ndarray:
    """An option as an array: one number, one for each row, or one for each state and row."""
    array = real_array(name, 0.0 if x is None else x)
    shapes = [(), (cs.size,)] + ([(count, cs.size)] if count is not None else [])
    if array.shape not in shapes:
        raise ShapeError(
            f"{name} must be a number or have {cs.size} entries, one a row of the constraints, "
            f"got shape {array.shape}"
        )
    if not np.isfinite(array).all():
        raise SettingError(f"{name} must be finite")
    return array


def positive_per_row(cs: Constraints, x, name: str, count: int | None) -> np.ndarray:
    """An option as in `per_row`, of positive numbers."""
    array = per_row(cs, x, name, count)
    if np.any(array < _LEAST_POSITIVE):
        raise SettingError(f"{name} must be positive")
    return array


def is_single(states) -> bool:
    """Whether all state inputs are in single precision, so that outputs are, too."""
    return all(getattr(y, "dtype", None) == np.float32 for y in states)


def fitting(x: np.ndarray, axes: int, real: np.dtype, state) -> np.ndarray:
    """An option's array in the precision of the states; for a batch, with a first axis.

    `axes` is the number of axes for one state. An option that is the same for all states of a batch
    has one row.
    """
    x = x.astype(real, copy=False)
    return x if state_count(state) is None or x.ndim != axes else x[None]

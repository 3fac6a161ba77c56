"""Checks of arguments that all layers share: numbers, lists, names and flags.

Each returns the argument in the form that the library works with, or raises an error that says what
was expected and what came.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from .errors import DataTypeError, DelassusError, SettingError

Error = type[DelassusError]

_LONGEST = 80  # characters of an argument that a message shows
_LARGEST = np.iinfo(np.int64).max


def shown(given: object) -> str:
    """An argument as a message shows it, whatever it is."""
    try:
        text = repr(given)
    except Exception:  # for one, that of an integer of 5000 digits
        text = f"<{type(given).__name__}>"
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def real_array(
    what: str, given: Any, error: Error = DataTypeError, keep_single: bool = False
) -> np.ndarray:
    """A new array of doubles, of any shape; one of float32 may be kept as such."""
    try:
        array = np.asarray(given)
    except Exception as reason:  # objects turn into arrays by code of their own
        raise error(f"{what} must hold real numbers, got {shown(given)}: {reason}") from None
    if array.dtype.kind not in "fiu" or isinstance(given, np.ma.MaskedArray):
        raise error(f"{what} must hold real numbers, got {shown(given)}")
    with np.errstate(over="ignore"):  # a number beyond doubles is infinite
        is_single = keep_single and array.dtype == np.float32
        return np.array(array, np.float32 if is_single else np.float64)


def has_shared_entries(x: np.ndarray) -> bool:
    """Whether two entries of an array are the same memory."""
    axes = [(abs(step), n) for step, n in zip(x.strides, x.shape, strict=True) if n > 1]
    if x.flags.c_contiguous or x.flags.f_contiguous or x.size < 2:
        return False
    reach = x.itemsize  # of axes that are looked at, those of the smallest strides first
    for step, n in sorted(axes):
        if step < reach:
            break
        reach += (n - 1) * step
    else:
        return False
    # Axes are between each other: all places are looked at.
    places = np.zeros(1, np.int64)
    for step, n in axes:
        places = np.add.outer(places, step * np.arange(n)).ravel()
    return bool(np.diff(np.sort(places)).min() < x.itemsize)


def finite_vector(what: str, given: Any, count: int, error: Error = DataTypeError) -> np.ndarray:
    """A new array of so many finite numbers."""
    array = real_array(what, given, error)
    if array.shape != (count,) or not np.isfinite(array).all():
        raise error(f"{what} must be {count} finite numbers, got {shown(given)}")
    return array


def number(what: str, given: Any, error: Error = DataTypeError) -> float:
    """A number, which may be infinite."""
    if type(given) is float:
        return given
    try:
        array = real_array(what, given, error)
    except error:
        array = np.zeros(0)
    if array.shape != ():
        raise error(f"{what} must be a number, got {shown(given)}")
    return float(array)


def finite_number(what: str, given: Any, error: Error = DataTypeError) -> float:
    """A number that is finite."""
    x = number(what, given, error)
    if not math.isfinite(x):
        raise error(f"{what} must be a finite number, got {shown(given)}")
    return x


def not_negative(what: str, given: Any) -> float:
    """A finite number that is not negative."""
    x = number(what, given)
    if not math.isfinite(x) or x < 0.0:
        raise SettingError(f"{what} must be finite and not negative, got {shown(given)}")
    return x


def positive_integer(what: str, given: Any) -> int:
    """An integer of at least one, which kernels can count to."""
    if isinstance(given, bool) or not isinstance(given, (int, np.integer)):
        raise DataTypeError(f"{what} must be an integer, got {shown(given)}")
    if not 1 <= given <= _LARGEST:
        raise SettingError(f"{what} must be positive and below 2**63, got {shown(given)}")
    return int(given)


def flag(what: str, given: Any) -> bool:
    """True or False."""
    if not isinstance(given, (bool, np.bool_)):
        raise DataTypeError(f"{what} must be True or False, got {shown(given)}")
    return bool(given)


def instance(what: str, given: Any, kind: type) -> Any:
    """An object of a class."""
    if not isinstance(given, kind):
        article = "an" if kind.__name__[0] in "aeioAEIO" else "a"
        has_one = isinstance(getattr(given, kind.__name__.lower(), None), kind)
        hint = f": give its .{kind.__name__.lower()}" if has_one else ""
        raise DataTypeError(f"{what} must be {article} {kind.__name__}, got {shown(given)}{hint}")
    return given


def items(what: str, given: Any, kind: type) -> tuple:
    """The items of a list or of anything else that can be gone through, all of one class."""
    try:
        found = None if isinstance(given, (str, bytes)) else tuple(given)
    except Exception:  # also of arrays without an axis, which have the method __iter__
        found = None
    if found is None:
        raise DataTypeError(f"{what} must be a list of {kind.__name__}, got {shown(given)}")
    for x in found:
        if not isinstance(x, kind):
            raise DataTypeError(f"{what} must be a list of {kind.__name__}, but one is {shown(x)}")
    return found


def file_path(given: Any) -> Path:
    """A path of a file or a folder."""
    name = os.fspath(given) if isinstance(given, (str, os.PathLike)) else None
    if not isinstance(name, str):
        raise DataTypeError(f"a file is named by a string or a Path, got {shown(given)}")
    return Path(name)

"""Checks of the numbers that functions on constraints are given besides states."""

from __future__ import annotations

import numpy as np

from ..errors import DataTypeError, SettingError


def not_negative(name: str, x) -> float:
    """A finite number from zero on."""
    if isinstance(x, bool) or not isinstance(x, (int, float, np.number)):
        raise DataTypeError(f"{name} must be a number, got {x!r}")
    if not np.isfinite(x) or x < 0.0:
        raise SettingError(f"{name} must be finite and not negative, got {x}")
    return float(x)


def positive_integer(name: str, x) -> int:
    """A number of things, at least one."""
    if isinstance(x, bool) or not isinstance(x, (int, np.integer)):
        raise DataTypeError(f"{name} must be an integer, got {x!r}")
    if x < 1:
        raise SettingError(f"{name} must be positive, got {x}")
    return int(x)

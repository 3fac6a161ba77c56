"""Arrays that do not change."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def constant(array: ArrayLike) -> np.ndarray:
    """An array of doubles that nobody can write to: a copy, unless it is one already."""
    is_array = type(array) is np.ndarray and array.dtype == float
    if is_array and array.base is None and not array.flags.writeable:
        return array
    array = np.array(array, float)
    array.setflags(write=False)
    return array


def make_constant(owner, *names: str) -> None:
    """Make arrays of a frozen dataclass constant."""
    for name in names:
        object.__setattr__(owner, name, constant(getattr(owner, name)))

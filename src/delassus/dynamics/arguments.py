"""Arguments that public functions fill in or look up before they call a kernel."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from ..checks import flag, has_shared_entries, items
from ..compile import is_symbolic
from ..errors import DataTypeError, ShapeError
from ..model.mechanism import Mechanism
from ..model.parts.names import known_name

# How the components of a frame's motion are written.
LOCAL, WORLD, ALIGNED = 0, 1, 2
REFERENCES = {"local": LOCAL, "world": WORLD, "aligned": ALIGNED}


def check_model(model) -> Mechanism:
    """The model itself, if it is one, or what stands in its place."""
    if not isinstance(model, Mechanism):
        raise DataTypeError(f"expected a Model, got {type(model).__name__}")
    return model


def numbers_of(name: str, given: ArrayLike) -> ArrayLike:
    """A state for work that no kernel does, which takes numbers only."""
    if is_symbolic(given):
        raise DataTypeError(f"{name} must be numbers here, not symbols")
    return given


def zero_velocity(model: Mechanism, like: ArrayLike) -> np.ndarray:
    """Zeros of nv entries for as many states as `like` has, without the memory of so many."""
    nv = check_model(model).nv
    if is_symbolic(like):
        return np.zeros(nv)
    try:
        array = np.asarray(like)
    except Exception:  # the kernel will say what is wrong with it
        return np.zeros(nv)
    zero = np.zeros(nv, np.float32 if array.dtype == np.float32 else np.float64)
    return zero if array.ndim < 2 else np.broadcast_to(zero, (*array.shape[:-1], nv))


def as_number(result):
    """The number of a kernel that gives one a state; the array where there are many states."""
    return result[()] if isinstance(result, np.ndarray) else result


def deliver(found: tuple, out) -> tuple:
    """Results that no kernel wrote, in the arrays of `out` if there are such."""
    if out is None:
        return found
    arrays = items("out", out, np.ndarray)
    if len(arrays) != len(found):
        raise ShapeError(f"out must hold {len(found)} arrays, got {len(arrays)}")
    for given, x in zip(arrays, found, strict=True):
        if given.dtype.kind != "f":
            raise DataTypeError(f"out must hold floating-point arrays, got {given.dtype}")
        if not given.flags.writeable:
            raise ShapeError("an array of out is read-only")
        if has_shared_entries(given):
            raise ShapeError(f"entries of out share memory, as its strides are {given.strides}")
        if given.shape != np.shape(x):
            raise ShapeError(
                f"an array of out must have the shape {np.shape(x)}, not {given.shape}"
            )
    for given, other in combinations(arrays, 2):
        if np.may_share_memory(given, other) and np.shares_memory(given, other):
            raise ShapeError("two arrays of out overlap; each result needs its own")
    for given, x in zip(arrays, found, strict=True):
        given[...] = x
    return arrays


def frame_and_reference(model: Mechanism, frame: str, reference: str) -> np.ndarray:
    """A frame's index and the code of a reference, as kernels take them."""
    check_model(model)
    if not isinstance(reference, str) or reference not in REFERENCES:
        known_name("reference", reference, REFERENCES)  # raises an error that names the known ones
    return np.array([model.frame_index(frame), REFERENCES[reference]], np.int64)


def with_flag(choice: np.ndarray, name: str, given: bool) -> np.ndarray:
    """A choice for a kernel, and a flag after it."""
    return np.array([*choice, flag(name, given)], np.int64)

"""The shape of a dual problem: how many rows of each kind. Kernels are called with it."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ..compile import Tabulated, function
from ..model.packed import INDEX


class ShapeArrays(NamedTuple):
    """What kernels read of a shape: numbers of eliminated, free, limit, bounded rows, contacts."""

    counts: np.ndarray

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        return (np.dtype(INDEX),)

    @classmethod
    def pack(cls, shape: ProblemShape, real: np.dtype) -> ShapeArrays:
        """The arrays of a shape."""
        return cls(np.array(shape.counts, INDEX))


ShapeArrays.dimensions = ("rows", "joint_rows", "cone_rows", "history")


class ProblemShape(Tabulated):
    """Numbers of rows: joints that are eliminated, free ones, limits, bounded ones, contacts."""

    def __init__(self, counts: tuple[int, ...], history: int):
        super().__init__()
        self.counts = counts
        joints, free, limits, bounded, contacts = counts
        cone_rows = free + limits + bounded + 3 * contacts
        self.dimensions = {
            "rows": joints + cone_rows,
            "joint_rows": joints,
            "cone_rows": cone_rows,
            "history": max(history, 1),
        }


@lru_cache(maxsize=1024)
def problem_shape(counts: tuple[int, ...], history: int = 0) -> ProblemShape:
    """The shape with these numbers of rows, and room for the history of so many iterations."""
    return ProblemShape(counts, history)


@function
def counts_of(model):
    """Numbers of free, limit and bounded rows, and of contacts, in cone rows."""
    c = model.counts
    return c[1], c[2], c[3], c[4]

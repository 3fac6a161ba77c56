"""What kernels read that follow strands: one class of arrays for each way to tie knots."""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ...compile import FLOAT64
from ...model.packed import INDEX
from ..recursion.plan import END, ENTRY, STRETCH, TURN
from ..rows.packed import DIMENSIONS, ROW_FIELDS, row_types
from .plan import Plan, Tree
from .strands import (
    ALONGSIDE,
    ALWAYS,
    BASE,
    BRANCH,
    CHEAPEST,
    KNOT,
    LIFT,
    NEVER,
    NODE,
    OMEGA,
    RUN,
    SPLIT,
    STRAND,
    TILE,
)

_FIELDS = ("others", "stretches", "supports", "is_first", "bare", "ends", "entries", "carriers")
_FIELDS = (*_FIELDS, "chains", "strands", "nodes", "runs", "lifts", "omegas", "knots", "tiles")
_FIELDS = (*_FIELDS, "places", "bases", "branches", "fillers", "is_plain")


class StrandArrays(namedtuple("StrandArrays", (*ROW_FIELDS, *_FIELDS))):
    """What kernels know of a model and of strands on it.

    - others, stretches, supports, is_first, bare: the order of elimination (see `recursion.plan`)
    - carriers: for each of the supports, which of them carries it
    - chains: degrees of freedom from each node to the world
    - places: where each row is in the matrix, all rows of a branch side by side
    - fillers: places of the matrix without a row, for strands that are not full
    - is_plain: one number, whether the matrix has the rows of constraints, each on one strand only
    """

    __slots__ = ()
    dimensions = DIMENSIONS
    mode = NEVER

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        own = (STRETCH, STRETCH, TURN, INDEX, INDEX, END, ENTRY, INDEX, INDEX, STRAND)
        own = (*own, NODE, RUN, LIFT, OMEGA, KNOT, TILE, INDEX, BASE, BRANCH)
        return (*row_types(real), *own, INDEX, INDEX)

    @classmethod
    def pack(cls, constraints, real: np.dtype) -> StrandArrays:
        """The arrays of rows and of their strands, in one precision."""
        found = constraints.paths(real)
        return cls(*found.rows, *Plan(Tree(found), cls.mode).arrays())

    @classmethod
    def sizes(cls, constraints) -> dict[str, int]:
        """Extents of work memory."""
        return Plan(Tree(constraints.paths(FLOAT64)), cls.mode).extents()


class KnottedArrays(StrandArrays):
    """Strands with knots at all nodes."""

    __slots__ = ()
    mode = ALWAYS


class ThriftyArrays(StrandArrays):
    """Strands with knots where they save arithmetic."""

    __slots__ = ()
    mode = CHEAPEST


class PropagatedArrays(StrandArrays):
    """Strands with knots at all nodes, between which all strands run as well."""

    __slots__ = ()
    mode = ALONGSIDE


class BranchArrays(StrandArrays):
    """Strands without knots, in branches that only a free base couples."""

    __slots__ = ()
    mode = SPLIT


KINDS = (StrandArrays, KnottedArrays, ThriftyArrays, PropagatedArrays, BranchArrays)

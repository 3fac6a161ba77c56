"""The arrays of plans of strands: one class for each mode, that is, which nodes tie knots."""

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
    """The arrays of a model, of rows on it, and of a plan of strands (see `strands`).

    - others, stretches, supports, is_first, bare: the order of elimination (see `recursion.plan`)
    - carriers: for each of `supports`, the number of its parent among them, or -1
    - chains: degrees of freedom from each node to the world
    - places: for each row, its place in the matrix, where rows of a branch are side by side
    - fillers: places of filler rows, of strands with fewer than three rows
    - is_plain: one number, whether each tile can be written to its place in the result at once
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
    """Strands with knots at all nodes, which also run on from each node to the next."""

    __slots__ = ()
    mode = ALONGSIDE


class BranchArrays(StrandArrays):
    """Strands without knots, in branches that only a free base couples with each other."""

    __slots__ = ()
    mode = SPLIT


KINDS = (StrandArrays, KnottedArrays, ThriftyArrays, PropagatedArrays, BranchArrays)

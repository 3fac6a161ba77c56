"""How wrenches of constraint rows run towards the world: what recursions on J M^-1 J^T follow.

Rows of an end (see `elimination`) are taken by three: a strand. Links where strands start or meet
are nodes: they support more ends than any of their children, the set N of Sathya and Carpentier,
Constrained Articulated Body Dynamics Algorithms, 2024, Algorithm 5. From node to node a strand
either runs through the joints, and leaves an entry of three numbers at each, or it is tied in a
knot: its wrenches are kept as they are, and six unit wrenches run in place of all strands that
arrive. All entries of a strand, six for a knot, stand side by side in the order in which it meets
them. So two strands that meet share a run of entries: those from their node on, up to the first
knot.

Which nodes tie knots is what methods differ in.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ...model.packed import INDEX, index_record
from ..elimination import END, ENTRY, STRETCH, TURN
from ..packed import DIMENSIONS, ROW_FIELDS, row_types

NONE = -1
WIDTH = 3  # rows of a strand
SLOT = 6 * WIDTH  # numbers of a strand's wrenches
SIX = 6
# Which nodes tie knots: none, all, those where it saves arithmetic; or all of them, while strands
# still run on for themselves. And none, where a free base is left to be coupled afterwards.
NEVER, ALWAYS, CHEAPEST, ALONGSIDE, SPLIT = range(5)

# Rows `first` on of an end, and the slot of their wrenches.
STRAND = index_record("end", "first", "count", "slot")
# What is done at a node, from the leaves on: unit wrenches start, strands run, others are lifted.
NODE = index_record("units", "first_run", "runs", "first_lift", "lifts")
# From slot to slot along some of the chains, and whether on through a free body to the world: then
# `root` is the record of its first degree of freedom.
RUN = index_record("source", "to", "first", "count", "panel", "root")
# Wrenches at a node as they are at the next, where unit wrenches have run there.
LIFT = index_record("source", "to", "units", "other_units")
# The inverse inertia at a node that ties knots: from the entries of its unit wrenches, and from
# that of the next such node, where they end.
OMEGA = index_record("panel", "other_panel", "count", "upper", "units", "other_units")
# A knot: the strand's wrenches, and the inverse inertia that answers them.
KNOT = index_record("slot", "panel", "omega")
# Two strands that meet: entries that they share, their place in the matrix, and the place of the
# transpose.
TILE = index_record("panel", "other_panel", "count", "at", "turned")
# Where a strand's entries at a free base start, and the place of its rows.
BASE = index_record("panel", "place")
BRANCH = index_record("start", "rows")

_FIELDS = ("others", "stretches", "supports", "is_first", "bare", "ends", "entries", "carriers")
_FIELDS = (*_FIELDS, "chains", "strands", "nodes", "runs", "lifts", "omegas", "knots", "tiles")
_FIELDS = (*_FIELDS, "places", "bases", "branches", "fillers", "extents")
EXTENTS = ("slots", "entries", "omegas", "rows", "is_plain")


class StrandArrays(namedtuple("StrandArrays", (*ROW_FIELDS, *_FIELDS))):
    """What kernels know of a model and of strands on it.

    `others`, `stretches`, `supports`, `is_first` and `bare` tell the order of elimination (see
    `elimination`); `carriers` tells for each of `supports` which of them carries it. `chains` are
    the records of degrees of freedom from each node to the world. `places` tells where each row is
    in the matrix, which has some more, `fillers`, for strands that are not full, and all rows of a
    branch side by side. `extents` counts slots, entries, inverse inertias and rows of the matrix,
    and tells whether these are the rows of constraints, and each is on one strand only.
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


class KnottedArrays(StrandArrays):
    """The same with knots at all nodes."""

    __slots__ = ()
    mode = ALWAYS


class ThriftyArrays(StrandArrays):
    """The same with knots where they save arithmetic."""

    __slots__ = ()
    mode = CHEAPEST


class PropagatedArrays(StrandArrays):
    """The same with knots at all nodes, between which all strands run."""

    __slots__ = ()
    mode = ALONGSIDE


class BranchArrays(StrandArrays):
    """The same without knots, and in branches that only a free base couples."""

    __slots__ = ()
    mode = SPLIT


KINDS = (StrandArrays, KnottedArrays, ThriftyArrays, PropagatedArrays, BranchArrays)

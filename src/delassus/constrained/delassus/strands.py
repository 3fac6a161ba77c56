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

from typing import NamedTuple

from ...model.packed import index_record

NONE = -1
WIDTH = 3  # rows of a strand
SLOT = 6 * WIDTH  # numbers of a strand's wrenches
SIX = 6
# Which nodes tie knots: none, all, those where it saves arithmetic; or all of them, while strands
# still run on for themselves. And none, where a free base is left to be coupled afterwards.
NEVER, ALWAYS, CHEAPEST, ALONGSIDE, SPLIT = range(5)


class Strand(NamedTuple):
    """Three rows of an end, or fewer."""

    end: int
    first: int  # of the end's rows
    count: int
    slot: int  # where its wrenches start


class Node(NamedTuple):
    """What is done at a node: unit wrenches start, strands run, others are lifted."""

    units: int  # slot of the first three unit wrenches, or NONE
    first_run: int
    runs: int
    first_lift: int
    lifts: int


class Run(NamedTuple):
    """A strand that runs from slot to slot along some of the chains."""

    source: int
    to: int  # a slot, or NONE
    first: int  # of the chains' entries
    count: int
    entry: int  # where its entries start
    root: int  # first degree of freedom of a free body that it goes on through, or NONE


class Lift(NamedTuple):
    """Wrenches at a node as they are at the next, where unit wrenches have run there."""

    source: int
    to: int
    units: int
    other_units: int


class Omega(NamedTuple):
    """The inverse inertia at a node that ties knots.

    From the entries of its unit wrenches, and from that of the next such node, where they end.
    """

    entry: int
    other_entry: int
    count: int
    upper: int  # the next such node, or NONE
    units: int
    other_units: int


class Knot(NamedTuple):
    """A strand's wrenches that are kept as they are, and the inverse inertia that answers them."""

    slot: int
    entry: int
    omega: int


class Tile(NamedTuple):
    """Two strands that meet: the entries that they share, and their place in the matrix."""

    entry: int
    other_entry: int
    count: int
    row: int
    column: int


class Base(NamedTuple):
    """Where a strand's entries at a free base start, and the place of its rows."""

    entry: int
    place: int


class Branch(NamedTuple):
    """Rows that nothing couples with others, but for a free base."""

    start: int
    rows: int


STRAND, NODE, RUN, LIFT, OMEGA, KNOT, TILE, BASE, BRANCH = (
    index_record(*record._fields)
    for record in (Strand, Node, Run, Lift, Omega, Knot, Tile, Base, Branch)
)

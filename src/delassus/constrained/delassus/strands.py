"""Strands: three rows of an end, whose wrenches are propagated through joints to the world.

All recursions on J M^-1 J^T follow strands. This file has the records of a plan, which `plan` makes
and the functions of `blocks` follow. Words:

- **strand**: three rows of an end (see `recursion.plan`), or fewer. Its **slot** is where its three
  wrenches are in memory.
- **node**: a link where strands start or meet. It supports more ends than any of its children.
- **entry**: three numbers, one for each row of a strand. A strand "runs" through joints and leaves
  an entry at each degree of freedom: y = S^T k for each of its wrenches k.
- **knot**: at a node that ties knots, strands stop. Their wrenches are kept as they are, as six
  entries, and six unit wrenches run on in their place. Strands are then "lifted" to the next node:
  their wrenches there follow from those of the unit wrenches.
- **tile**: the three by three entries of the matrix that belong to two strands.

All entries of a strand stand side by side, in the order in which it leaves them. So two strands
that meet at a node share a run of entries: those from this node on, up to the first knot. Their
tile is the sum of the products of shared entries. Methods differ in which nodes tie knots.

Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Algorithm 5
(`caba_osim` has a table of its lines):

| paper | here | what |
| --- | --- | --- |
| N | nodes of a plan, Node | links where constraints branch |
| N^anc(i) | the next node on the way to the world | |
| K_i^A | Strand.slot | wrenches of the rows of an end |
| ^iP_d | Run of unit wrenches, Omega.units | extended force propagator, from node d to link i |
| ^0Omega_i | Omega | inverse inertia of a node |
| ^jK_e | Lift.to, Knot.slot | wrenches of rows, as they act at node j |
| cca(i, j) | the node where two strands meet | closest common ancestor |
| ^0L_{i,j}^A | Tile | a part of the Delassus matrix |
"""

from __future__ import annotations

from typing import NamedTuple

from ...model.packed import index_record

NONE = -1
WIDTH = 3  # rows of a strand
SLOT = 6 * WIDTH  # numbers of a strand's wrenches
SIX = 6
# Modes of a plan, by which nodes tie knots. NEVER: none. ALWAYS: all. CHEAPEST: those where it
# saves arithmetic. ALONGSIDE: all, but strands run on as well. SPLIT: none, and entries at a free
# base are not part of tiles, as methods add what the base does afterwards.
NEVER, ALWAYS, CHEAPEST, ALONGSIDE, SPLIT = range(5)


class Strand(NamedTuple):
    """Three rows of an end, or fewer."""

    end: int
    first: int  # its first row among those of the end
    count: int
    slot: int


class Node(NamedTuple):
    """A node: unit wrenches start there, strands run from there, and others are lifted."""

    units: int  # slot of the first three unit wrenches, or NONE
    first_run: int
    runs: int
    first_lift: int
    lifts: int


class Run(NamedTuple):
    """A strand, or three unit wrenches, that run along degrees of freedom."""

    source: int  # slot of its wrenches
    to: int  # slot for its wrenches at the end, or NONE
    first: int  # its first degree of freedom in `chains`
    count: int  # number of degrees of freedom
    entry: int  # where its entries start
    root: int  # first degree of freedom of a free body, through which it reaches the world; or NONE


class Lift(NamedTuple):
    """A strand whose wrenches at the next node follow from unit wrenches that have run there."""

    source: int  # slot of its wrenches at this node
    to: int  # slot of its wrenches at the next node
    units: int  # slots of the six unit wrenches at the next node, three each
    other_units: int


class Omega(NamedTuple):
    """The inverse inertia of a node that ties knots.

    It follows from the entries of the node's unit wrenches, and from the inverse inertia of the
    next node that ties knots, where the unit wrenches end.
    """

    entry: int  # where the entries of the first three unit wrenches start
    other_entry: int  # where those of the other three start
    count: int  # number of entries of each
    upper: int  # number of that other node's Omega, or NONE
    units: int  # slots of the six unit wrenches where they end, three each
    other_units: int


class Knot(NamedTuple):
    """A strand that is tied in a knot at a node."""

    slot: int
    entry: int  # where its six entries start
    omega: int  # number of the node's Omega


class Tile(NamedTuple):
    """Two strands that meet: the entries that they share, and their place in the matrix."""

    entry: int  # where the shared entries of the one strand start
    other_entry: int  # where those of the other start
    count: int
    row: int
    column: int


class Base(NamedTuple):
    """The six entries of a strand at a free base."""

    entry: int  # where they start
    place: int  # first row of the strand in the matrix


class Branch(NamedTuple):
    """Rows of the matrix that only a free base couples with other rows."""

    start: int
    rows: int


STRAND, NODE, RUN, LIFT, OMEGA, KNOT, TILE, BASE, BRANCH = (
    index_record(*record._fields)
    for record in (Strand, Node, Run, Lift, Omega, Knot, Tile, Base, Branch)
)

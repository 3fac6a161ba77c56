"""How joints are eliminated where constraints tie links together: a plan that kernels read.

A row of a constraint pulls at one link, or at several: the `ends` of its piece. Where it pulls at
two, these are coupled by a block of six by six. The plan follows from the order of elimination (see
`order`): what each joint finds when its turn comes, and what it hands on. It names links, degrees
of freedom, blocks and forces by their numbers; where these are in memory is the kernels' business.
"""

from __future__ import annotations

from collections import namedtuple
from typing import NamedTuple

import numpy as np

from ...compile import FLOAT64
from ...dynamics.steps.links import floats
from ...model.packed import INDEX, index_record
from ..rows.packed import DIMENSIONS, ROW_FIELDS, Paths, row_types
from ..rows.pieces import CONNECT, COUPLING
from ..rows.wrenches import ROW
from .order import Blocks, apart, first_to_reach, links_with, order_links, stretches

AT_JOINTS = -1  # in place of a slot of ROW: a wrench that is made of joint coordinates
IS_PARENT, NONE = -1, -2  # in place of a number


class Stretch(NamedTuple):
    """Links with numbers in a row that are eliminated one after the other, from the last back."""

    last: int
    first: int
    turn: int  # number of the turn of the last
    steps: int  # how many steps of all may be done once these links are eliminated


class Turn(NamedTuple):
    """A link that supports constraints, when its joint is eliminated."""

    link: int
    is_free: int  # whether it is a free body in the world that nothing is coupled with
    carrier: int  # its number among those that carry links without ends, or NONE
    neighbours: int  # how many links it is coupled with
    opened: int  # how many blocks it is the first to need
    couples: int  # how many couples are in its own blocks
    first_neighbour: int
    first_opened: int
    first_couple: int


class Step(NamedTuple):
    """A degree of freedom of a link that supports constraints, as an iteration meets it.

    Its link takes the force `source`. What remains of that, and the force `add`, go `to` another.
    These are numbers of forces (see `load_of`): loads, of which the world's is zero and stands for
    none. Where links also have forces of their own, the first to come to a load adds the own force
    of the link there: then `source_with_own` and `add_with_own` hold.
    """

    k: int  # its number
    nth: int  # its number within the joint
    first_neighbour: int  # what its link is coupled with
    neighbours: int
    link: int
    before: int  # link whose motion it adds to
    source: int
    add: int
    to: int
    source_with_own: int
    add_with_own: int


class End(NamedTuple):
    """A link that a piece pulls at. Ends of a piece follow each other.

    Its pull, with the force `add`, is the load of the link. `add` is the world's load, which is
    zero, for the first end at a link; where links have forces of their own, it adds that.
    """

    link: int
    piece: int
    wrench: int  # slot of ROW with its wrench, or AT_JOINTS
    sign: int
    row: int  # first of its rows
    count: int  # of its rows
    pushes: int  # how many of these have a force; the others, which come last, only turn
    is_at_point: int  # whether they push along the world's axes at a point
    load: int
    add: int
    add_with_own: int
    first_entry: int  # at joints: what the wrench is made of
    entry_count: int


class Entry(NamedTuple):
    """The pull of a joint coordinate at the joint's own link, or at its parent with sign -1."""

    dof: int
    link: int  # the joint's own
    sign: int
    term: int


class Couple(NamedTuple):
    """Two ends of a piece, that of the link that is eliminated first before the other."""

    end: int
    other: int
    block: int


class Neighbour(NamedTuple):
    """A link that the eliminated one is coupled with."""

    link: int
    block: int  # of the two
    to_block: int  # of the parent and it; or IS_PARENT, or NONE where the parent is the world
    is_turned: int  # whether that has the parent's columns, not its rows
    pull: int  # where the pulls of the joint's degrees of freedom at it start
    first_block: int  # blocks with all neighbours that come after it
    others: int


STRETCH, TURN, STEP, END, ENTRY, COUPLE, NEIGHBOUR = (
    index_record(*record._fields) for record in (Stretch, Turn, Step, End, Entry, Couple, Neighbour)
)

_FIELDS = ("others", "stretches", "supports", "is_first", "ends", "piece_ends", "entries")
_FIELDS = (*_FIELDS, "couples", "steps", "drifting", "free", "early", "bare", "framed")
_FIELDS = (*_FIELDS, "neighbours", "fill", "opened")


class ArticulatedArrays(namedtuple("ArticulatedArrays", (*ROW_FIELDS, *_FIELDS))):
    """What kernels know of a model and of constraints that are eliminated joint by joint.

    - others: stretches of links that support no constraint, in the order of elimination
    - stretches: those of links that support some, which come after them
    - supports: the turns of these links
    - is_first: of each link whether it is the first to reach its parent
    - ends: of all pieces; piece_ends: where those of each piece start
    - entries: what ends at joints are made of
    - couples: ends of one piece, two by two
    - steps: degrees of freedom of supports but for free bodies, each after those that it carries
    - drifting: steps that carry pieces whose drift takes velocities of points
    - free: links of supports that are free bodies
    - early: links without ends that are neighbours of another
    - bare: links with ends that carry none of the others, and so get no inertia from these
    - framed: links with ends whose rows take the motion at the tree's origin
    - neighbours: those of each turn
    - fill: numbers of blocks that a neighbour shares with those after it
    - opened: numbers of blocks that turns are the first to need; a number is free again after the
      turn of its block's first link
    """

    __slots__ = ()
    dimensions = DIMENSIONS

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        own = (STRETCH, STRETCH, TURN, INDEX, END, INDEX, ENTRY, COUPLE, STEP)
        return (*row_types(real), *own, *[INDEX] * 5, NEIGHBOUR, INDEX, INDEX)

    @classmethod
    def pack(cls, constraints, real: np.dtype) -> ArticulatedArrays:
        """The arrays of rows and of their elimination, in one precision."""
        found = constraints.paths(real)
        return cls(*found.rows, *eliminate(found).arrays.values())

    @classmethod
    def sizes(cls, constraints) -> dict[str, int]:
        """Extents of work memory."""
        return eliminate(constraints.paths(FLOAT64)).sizes


class Elimination(NamedTuple):
    """An order of elimination and all that follows from it: the arrays, and sizes of memory."""

    arrays: dict[str, np.ndarray]
    sizes: dict[str, int]


def load_of(n_links: int, link: int) -> int:
    """The number of a link's load among forces: the own forces of all links come first."""
    return n_links + link


def find_order(found: Paths) -> list[int]:
    """The links in the order of their elimination."""
    ends, _ = find_ends(found)
    parents = found.arrays.links["parent"]
    coupled = [(ends[a].link, ends[b].link) for a, b in _couples(ends)]
    return order_links(parents, links_with(parents, {end.link for end in ends}), coupled)[0]


def eliminate(found: Paths) -> Elimination:
    """Choose an order, and follow what it couples."""
    links, parents = found.arrays.links, found.arrays.links["parent"]
    ends, entries = find_ends(found)
    pulled = {end.link for end in ends}
    supporting = links_with(parents, pulled)
    couples = _couples(ends)
    order, near = order_links(
        parents, supporting, [(ends[a].link, ends[b].link) for a, b in couples]
    )
    split = len(order) - len(supporting)
    others, supports = order[:split], order[split:]
    carriers = {int(parents[i]) for i in others} & supporting
    turns = _Turns(found, order, near, ends, couples)
    turns.put_all(supports, {i: t for t, i in enumerate(sorted(carriers))})
    free = [turn.link for turn in turns.turns if turn.is_free]
    early = {j for own in near.values() for j in own}
    steps = _steps(links, apart(parents, turns.turns), pulled, early)
    takes_velocities = [_takes_velocities(piece) for piece in found.records]
    framed = {end.link for end in ends if takes_velocities[end.piece]}
    drifting = links_with(parents, framed)
    arrays = (
        np.array([(*stretch, 0) for stretch in stretches(others)], STRETCH),
        np.array(_with_steps(stretches(supports), steps), STRETCH),
        np.array(turns.turns, TURN),
        first_to_reach(parents, others, supports, pulled),
        np.array(ends, END),
        np.searchsorted([end.piece for end in ends], range(len(found.records) + 1)).astype(INDEX),
        np.array(entries, ENTRY),
        np.array(turns.couples, COUPLE),
        np.array(steps, STEP),
        np.array([t for t, step in enumerate(steps) if step.link in drifting], INDEX),
        np.array(free, INDEX),
        np.array(sorted(early - pulled), INDEX),
        np.array(sorted(pulled - carriers), INDEX),
        np.array(sorted(framed), INDEX),
        np.array(turns.neighbours, NEIGHBOUR),
        np.array(turns.fill, INDEX),
        np.array(turns.blocks.opened, INDEX),
    )
    sizes = {"cross_blocks": turns.blocks.count, "pulls": turns.pulls}
    sizes |= {"supports": len(supports), "carriers": len(carriers)}
    return Elimination(dict(zip(_FIELDS, arrays, strict=True)), sizes)


class _Turns:
    """The turns of links that support constraints, and what each couples."""

    def __init__(self, found: Paths, order: list[int], near: dict, ends: list[End], couples: list):
        self.found, self.near, self.ends = found, near, ends
        self.links = found.arrays.links
        self.turn_of = {i: t for t, i in enumerate(order)}
        self.blocks = Blocks(self.turn_of)
        self.own_couples: dict[int, list[tuple[int, int]]] = {}
        for couple in couples:
            end, other = sorted(couple, key=lambda e: self.turn_of[ends[e].link])
            self.own_couples.setdefault(ends[end].link, []).append((end, other))
        self.turns: list[Turn] = []
        self.neighbours: list[Neighbour] = []
        self.couples: list[Couple] = []
        self.fill: list[int] = []
        self.pulls = 0

    def put_all(self, supports: list[int], carrier_of: dict[int, int]) -> None:
        """All turns, in their order."""
        readable = self.links.view(np.recarray)
        for i in supports:
            others = sorted(self.near[i], key=self.turn_of.__getitem__)
            is_free = not others and floats(self.found.arrays, readable[i])
            firsts = len(self.neighbours), len(self.blocks.opened), len(self.couples)
            for end, other in self.own_couples.get(i, ()):
                block = self.blocks.number(i, self.ends[other].link)
                self.couples.append(Couple(end, other, block))
            self._put_neighbours(i, others)
            lists = (self.neighbours, self.blocks.opened, self.couples)
            counts = [len(x) - first for x, first in zip(lists, firsts, strict=True)]
            self.turns.append(Turn(i, is_free, carrier_of.get(i, NONE), *counts, *firsts))
            self.blocks.close(i, others)

    def _put_neighbours(self, i: int, others: list[int]) -> None:
        """What link i is coupled with, and where that goes when its joint is eliminated."""
        parent = int(self.links[i]["parent"])
        for t, j in enumerate(others):
            to_block, is_turned = NONE, False
            if j == parent:
                to_block = IS_PARENT
            elif parent > 0:
                to_block = self.blocks.number(parent, j)
                is_turned = self.turn_of[j] < self.turn_of[parent]
            after = [self.blocks.number(j, other) for other in others[t + 1 :]]
            block, first = self.blocks.number(i, j), len(self.fill)
            self.neighbours.append(
                Neighbour(j, block, to_block, is_turned, self.pulls, first, len(after))
            )
            self.fill += after
            self.pulls += int(self.links[i]["nv"])


def _with_steps(stretches: list, steps: list[Step]) -> list[Stretch]:
    """Stretches, and how many steps come before the first of a link that is eliminated later."""
    found, done, count = [], set(), 0
    for last, first, turn in stretches:
        done.update(range(first, last + 1))
        while count < len(steps) and steps[count].link in done:
            count += 1
        found.append(Stretch(last, first, turn, count))
    return found


def _steps(links: np.ndarray, turns: list[Turn], pulled: set[int], early: set[int]) -> list[Step]:
    """Degrees of freedom as iterations meet them."""
    steps, reached, n = [], pulled | early, len(links)
    for turn in turns:
        i = turn.link
        parent, v, nv = (int(links[i][name]) for name in ("parent", "v", "nv"))
        if turn.is_free:
            continue
        for k in range(v + nv - 1, v - 1, -1):
            has_load = i in reached or k < v + nv - 1
            before = parent if k == v else i
            to = before if before > 0 else i  # what goes to the world goes where nobody looks
            is_next = k == v and parent in reached
            source, add = load_of(n, i if has_load else 0), load_of(n, to if is_next else 0)
            # The own force of link i has the number i; that of the world is zero.
            source_with_own = source if has_load else i
            add_with_own = add if is_next else (parent if k == v else 0)
            forces = source, add, load_of(n, to), source_with_own, add_with_own
            steps.append(Step(k, k - v, turn.first_neighbour, turn.neighbours, i, before, *forces))
        reached.add(parent)
    return steps


def find_ends(found: Paths) -> tuple[list[End], list[Entry]]:
    """The ends of all pieces, and the entries of those at joints."""
    links, frames = found.arrays.links, found.arrays.frames
    link_of = np.repeat(np.arange(len(links)), links["nv"])
    ends, entries, pulled, n = [], [], set(), len(links)

    def put_end(link: int, c: int, wrench: int, sign: int, own_entries: tuple[int, int]) -> None:
        """An end at a link, unless that is the world."""
        if link > 0:
            rows = [int(found.records[c][name]) for name in ("row", "count", "pushes")]
            is_at_point = int(found.records[c]["kind"] == CONNECT)
            load = load_of(n, link)
            adds = (load, load) if link in pulled else (load_of(n, 0), link)
            ends.append(End(link, c, wrench, sign, *rows, is_at_point, load, *adds, *own_entries))
            pulled.add(link)

    for c, piece in enumerate(found.records):
        if piece["kind"] < COUPLING:
            for side, wrench, sign in (("frame", ROW.n, 1), ("other", ROW.other_n, -1)):
                put_end(int(frames[piece[side]]["link"]), c, wrench, sign, (0, 0))
            continue
        pulls: dict[int, list[Entry]] = {}
        for t in range(piece["term_count"]):
            dof = int(found.terms[piece["first_term"] + t]["v"])
            link = int(link_of[dof])
            pulls.setdefault(link, []).append(Entry(dof, link, 1, t))
            pulls.setdefault(int(links[link]["parent"]), []).append(Entry(dof, link, -1, t))
        for link, own in sorted(pulls.items()):
            put_end(link, c, AT_JOINTS, 1, (len(entries), len(own)))
            entries += own
    return ends, entries


def _takes_velocities(piece) -> bool:
    """Whether the drift of a piece takes velocities of points: not of joints, nor a CONNECT's."""
    return piece["kind"] < COUPLING and piece["kind"] != CONNECT


def _couples(ends: list[End]) -> list[tuple[int, int]]:
    """Ends of the same piece, two by two."""
    by_piece: dict[int, list[int]] = {}
    for e, end in enumerate(ends):
        by_piece.setdefault(end.piece, []).append(e)
    return [(a, b) for own in by_piece.values() for k, a in enumerate(own) for b in own[k + 1 :]]

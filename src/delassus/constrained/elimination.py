"""How joints are eliminated where constraints tie links together, and what that fills.

A row of a constraint pulls at one link, or at several: the `ends` of its piece. Where it pulls at
two, these are coupled by a block of six by six. All that follows from the order of elimination (see
`elimination_order`) is written down here for kernels: what each joint finds, and hands on.
"""

from __future__ import annotations

from collections import namedtuple
from functools import partial
from typing import NamedTuple

import numpy as np

from ..compile import function, slots
from ..dynamics.aba import DOF, LINK
from ..dynamics.links import floats
from ..model.packed import INDEX, index_record
from .elimination_order import (
    Blocks,
    apart,
    first_to_reach,
    links_with,
    order_links,
    stretches,
)
from .packed import DIMENSIONS, ROW_FIELDS, Paths, row_types
from .pieces import CONNECT, COUPLING
from .rows import ROW

# Links that are eliminated one after the other, from the one with the last number to the one with
# the first; the number of the turn of the last; and how many steps have all that they need then.
STRETCH = index_record("last", "first", "turn", "steps")
# A link whose joint is eliminated: whether it is a free body in the world that nothing is coupled
# with, which of those it is that carry links without ends (or NONE); how many links it is coupled
# with, blocks it is the first to need, and couples are in its own blocks; and the first of each.
TURN = index_record(
    "link", "is_free", "carrier", "neighbours", "opened", "couples", "first_neighbour",
    "first_opened", "first_couple",
)  # fmt: skip
# The moment and force that reach a link from ends and from what it carries. Loads stand behind the
# records of links.
LOAD = slots(n=3, f=3)
# A degree of freedom of such a link, but for a free body's, as an iteration meets it: its number k,
# the how manieth of the joint's it is, and what its link is coupled with. The rest are places in
# work memory: its record; the records of links whose motion it starts from and gives; the load that
# it takes, the one that it adds to what it hands on, and where that goes. The world's load is zero,
# for what is the first to come to a place. If links have forces of their own, the first adds that:
# then these are the places of what it takes and adds.
STEP = index_record(
    "k", "nth", "first_neighbour", "neighbours", "dof", "before", "at", "source", "add", "to",
    "source_with_own", "add_with_own",
)  # fmt: skip
# Where a piece pulls. At frames: the link, where the wrench is in a row's record, and its sign. At
# joints, AT_JOINTS: by some entries. Ends of a piece follow each other. Rows start from one and are
# so many. Places in work memory: the record of the link; its load; the one that this end's pull is
# added to, which is the world's for the first end at a link, or the link's own force, if it has
# one; and in that of rows, the first row's wrench. The first few rows may push, the others only
# turn; those at a point push along the world's axes.
END = index_record(
    "link", "piece", "wrench", "sign", "row", "count", "pushes", "is_at_point", "at", "load",
    "add", "add_with_own", "place", "first_entry", "entry_count",
)  # fmt: skip
AT_JOINTS = -1
# The pull of a joint coordinate at the joint's own link, or at its parent with the opposite sign.
ENTRY = index_record("dof", "link", "sign", "term")
# Two ends of a piece, by which of their links is eliminated first, and their block.
COUPLE = index_record("end", "other", "block")
# A link that the eliminated one is coupled with: their block, that of the parent and it (or PARENT,
# if it is the parent, or NONE), whether that has the parent's columns, where the pulls of the
# joint's degrees of freedom at it are kept, and the blocks with all neighbours that come after it.
NEIGHBOUR = index_record("link", "block", "to_block", "is_turned", "pull", "first_block", "others")
IS_PARENT, NONE = -1, -2


_FIELDS = ("others", "stretches", "supports", "is_first", "ends", "piece_ends", "entries")
_FIELDS = (*_FIELDS, "couples", "steps", "drifting", "free", "early", "followed", "bare", "framed")
_FIELDS = (*_FIELDS, "neighbours", "fill", "opened", "counts")


class ArticulatedArrays(namedtuple("ArticulatedArrays", (*ROW_FIELDS, *_FIELDS))):
    """What kernels know of a model and of constraints that are eliminated joint by joint.

    `others` and then `stretches` are the links in the order of elimination, the latter those that
    carry ends: their turns are `supports`. `is_first` tells of each link whether it is the first to
    reach its parent. `steps` are degrees of freedom of supports, each after those that it carries;
    `drifting` are those that carry pieces whose drift takes velocities of points.
    `piece_ends` is where the ends of a piece start. `early` are links without ends that are
    neighbours of one. `followed` are links whose motion is asked for: those with ends, those that
    carry `others`, and free bodies. `bare` are links with ends that carry none of `others`: they
    have no inertia when these are eliminated. `framed` are links with ends at frames whose rows
    take the motion at the tree's origin. `fill` holds the numbers of blocks that a neighbour shares
    with those after it, and `opened` of those that turns are the first to need: a number is free
    again after the turn of its block's first link. `counts` is how many blocks there are at a time,
    pulls, supports that carry `others`, and pieces whose drift takes velocities of points.
    """

    __slots__ = ()
    dimensions = DIMENSIONS

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        own = (STRETCH, STRETCH, TURN, INDEX, END, INDEX, ENTRY, COUPLE, STEP)
        return (*row_types(real), *own, *[INDEX] * 6, NEIGHBOUR, INDEX, INDEX, INDEX)


class Elimination(NamedTuple):
    """An order of elimination and all that follows from it: the arrays, and sizes of memory."""

    arrays: dict[str, np.ndarray]
    sizes: dict[str, int]


def pack_elimination(found: Paths) -> ArticulatedArrays:
    """The arrays of rows and of their elimination."""
    return ArticulatedArrays(*found.rows, *eliminate(found).arrays.values())


def find_order(found: Paths) -> list[int]:
    """The links in the order of their elimination."""
    ends, _ = find_ends(found)
    parents = found.arrays.links["parent"]
    coupled = [(ends[a][0], ends[b][0]) for a, b in _couples(ends)]
    return order_links(parents, links_with(parents, {end[0] for end in ends}), coupled)[0]


def eliminate(found: Paths) -> Elimination:
    """Choose an order, and follow what it couples."""
    links = found.arrays.links
    readable = links.view(np.recarray)
    ends, entries = find_ends(found)
    couples = _couples(ends)
    carrying = links_with(links["parent"], {end[0] for end in ends})
    order, neighbours = order_links(
        links["parent"], carrying, [(ends[a][0], ends[b][0]) for a, b in couples]
    )
    turn_of = {i: t for t, i in enumerate(order)}
    blocks, own_couples = Blocks(turn_of), {}
    for couple in couples:
        end, other = sorted(couple, key=lambda e: turn_of[ends[e][0]])
        own_couples.setdefault(ends[end][0], []).append((end, other))
    split, pulled = len(order) - len(carrying), {end[0] for end in ends}
    carriers = {int(links[i]["parent"]) for i in order[:split]} & carrying
    number = {i: t for t, i in enumerate(sorted(carriers))}
    turns, neighbour_records, couple_records, fill = [], [], [], []
    pulls = 0
    for i in order[split:]:
        parent = int(links[i]["parent"])
        others = sorted(neighbours[i], key=turn_of.__getitem__)
        is_free = not others and floats(found.arrays, readable[i])
        firsts = len(neighbour_records), len(blocks.opened), len(couple_records)
        for end, other in own_couples.get(i, ()):
            couple_records.append((end, other, blocks.number(i, ends[other][0])))
        for k, j in enumerate(others):
            to, is_turned = NONE, False
            if j == parent:
                to = IS_PARENT
            elif parent > 0:
                to, is_turned = blocks.number(parent, j), turn_of[j] < turn_of[parent]
            after = [blocks.number(j, other) for other in others[k + 1 :]]
            record = (j, blocks.number(i, j), to, is_turned, pulls, len(fill), len(after))
            neighbour_records.append(record)
            fill += after
            pulls += int(links[i]["nv"])
        counts = len(others), len(blocks.opened) - firsts[1], len(couple_records) - firsts[2]
        turns.append((i, is_free, number.get(i, NONE), *counts, *firsts))
        blocks.close(i, others)
    free = [i for i, is_free, *_ in turns if is_free]
    early = {j for own in neighbours.values() for j in own}
    steps = _steps(links, apart(links["parent"], turns), pulled, early)
    link_of = np.repeat(np.arange(len(links)), links["nv"])
    drifts = [_takes_velocities(piece) for piece in found.records]
    framed = {end[0] for end in ends if drifts[end[1]]}
    drifting = links_with(links["parent"], framed)
    arrays = (
        np.array([(*stretch, 0) for stretch in stretches(order[:split])], STRETCH),
        np.array(_with_steps(stretches(order[split:]), links, steps), STRETCH),
        np.array(turns, TURN),
        first_to_reach(links["parent"], order[:split], order[split:], pulled),
        np.array(ends, END),
        np.searchsorted([end[1] for end in ends], range(len(found.records) + 1)).astype(INDEX),
        np.array(entries, ENTRY),
        np.array(couple_records, COUPLE),
        np.array(steps, STEP),
        np.array([t for t, step in enumerate(steps) if link_of[step[0]] in drifting], INDEX),
        np.array(free, INDEX),
        np.array(sorted(early - pulled), INDEX),
        np.array(sorted(carriers.union(pulled, free)), INDEX),
        np.array(sorted(pulled - carriers), INDEX),
        np.array(sorted(framed), INDEX),
        np.array(neighbour_records, NEIGHBOUR),
        np.array(fill, INDEX),
        np.array(blocks.opened, INDEX),
        np.array([blocks.count, pulls, len(carriers), sum(drifts)], INDEX),
    )
    sizes = {"cross_blocks": blocks.count, "pulls": pulls}
    sizes |= {"supports": len(carrying), "carriers": len(carriers)}
    return Elimination(dict(zip(_FIELDS, arrays, strict=True)), sizes)


def _with_steps(stretches: list, links: np.ndarray, steps: list) -> list[tuple[int, ...]]:
    """Stretches, and how many steps are there before the first of a link that comes later."""
    link_of, found, done = np.repeat(np.arange(len(links)), links["nv"]), [], set()
    count = 0
    for last, first, turn in stretches:
        done.update(range(first, last + 1))
        while count < len(steps) and link_of[steps[count][0]] in done:
            count += 1
        found.append((last, first, turn, count))
    return found


def _steps(links: np.ndarray, turns: list, pulled: set[int], early: set[int]) -> list[tuple]:
    """Degrees of freedom as iterations meet them."""
    steps, reached, load = [], pulled | early, partial(load_place, len(links))
    for i, is_free, _, count, _, _, first_neighbour, *_ in turns:
        parent, v, nv = (int(links[i][name]) for name in ("parent", "v", "nv"))
        if is_free:
            continue
        for k in range(v + nv - 1, v - 1, -1):
            has_load = i in reached or k < v + nv - 1
            before, to = (parent, parent) if k == v else (i, i)
            if to == 0:
                to = i  # where nobody looks
            is_next = k == v and parent in reached
            source, add = load(i if has_load else 0), load(to if is_next else 0)
            source_with_own = source if has_load else _own_force(i)
            add_with_own = add if is_next else _own_force(parent if k == v else 0)
            places = (k * DOF.size, before * LINK.size, i * LINK.size, source, add, load(to))
            places = (*places, source_with_own, add_with_own)
            steps.append((k, k - v, first_neighbour, count, *places))
        reached.add(parent)
    return steps


@function
def load_place(n_links, i):
    """Where the load of link i is, of so many."""
    return n_links * LINK.size + i * LOAD.size


def _own_force(i: int) -> int:
    """Where a link's own moment and force are."""
    return i * LINK.size + LINK.n


def find_ends(found: Paths) -> tuple[list, list]:
    """The ends of all pieces, and the entries of those at joints."""
    links, frames = found.arrays.links, found.arrays.frames
    link_of = np.repeat(np.arange(len(links)), links["nv"])
    ends, entries, pulled = [], [], set()

    def put_end(link: int, c: int, wrench: int, sign: int, entries: tuple[int, int]) -> None:
        """An end at a link, unless that is the world."""
        if link > 0:
            row, *rest = (int(found.records[c][name]) for name in ("row", "count", "pushes"))
            is_at_point = found.records[c]["kind"] == CONNECT
            load, of_world = load_place(len(links), link), load_place(len(links), 0)
            adds = (load, load) if link in pulled else (of_world, _own_force(link))
            places = (link * LINK.size, load, *adds, row * ROW.size + wrench)
            ends.append((link, c, wrench, sign, row, *rest, is_at_point, *places, *entries))
            pulled.add(link)

    for c, piece in enumerate(found.records):
        if piece["kind"] < COUPLING:
            for side, wrench, sign in (("frame", ROW.n, 1), ("other", ROW.other_n, -1)):
                put_end(int(frames[piece[side]]["link"]), c, wrench, sign, (0, 0))
            continue
        pulls: dict[int, list] = {}
        for t in range(piece["term_count"]):
            dof = int(found.terms[piece["first_term"] + t]["v"])
            link = int(link_of[dof])
            pulls.setdefault(link, []).append((dof, link, 1, t))
            pulls.setdefault(int(links[link]["parent"]), []).append((dof, link, -1, t))
        for link, own in sorted(pulls.items()):
            put_end(link, c, AT_JOINTS, 1, (len(entries), len(own)))
            entries += own
    return ends, entries


def _takes_velocities(piece) -> bool:
    """Whether it is neither of joint coordinates nor at points: in the world's axes."""
    return piece["kind"] < COUPLING and piece["kind"] != CONNECT


def _couples(ends: list) -> list[tuple[int, int]]:
    """Ends of the same piece, two by two."""
    by_piece: dict[int, list[int]] = {}
    for e, end in enumerate(ends):
        by_piece.setdefault(end[1], []).append(e)
    return [(a, b) for own in by_piece.values() for k, a in enumerate(own) for b in own[k + 1 :]]

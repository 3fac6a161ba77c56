"""How diagonal blocks of J M^-1 J^T come about: a plan made once, read by kernels as arrays.

All rows of a declared constraint are a group, and the ends of its pieces are the group's (see
`elimination`). Wrenches at these are carried towards the world, and added up where they meet, so
the way from end to end is gone through once. Ends in two trees never meet: of each tree a group has
a share. Once all ends of a share have met, a row is one wrench on one link.

Under a wrench k on itself a link moves by Omega k, with a symmetric matrix Omega that follows from
that of the parent. A link that knows Omega answers all that is carried there, and nothing goes
further. To know it costs as much, each degree of freedom, as to carry some nine rows. So links know
Omega where enough rows come from beyond, and the cost stays linear however long the way.

Wrenches are carried by threes, as strands, which leave entries behind (see `strands`). All
entries of a strand stand side by side, and a block is the sum of the products of its group's.
"""

from __future__ import annotations

from collections import Counter, namedtuple
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...compile import FLOAT64
from ...model.packed import INDEX, index_record
from ..recursion.plan import END, ENTRY, eliminate, find_ends
from ..rows.packed import DIMENSIONS, ROW_FIELDS, Paths, row_types
from .strands import KNOT, NONE, RUN, SIX, WIDTH, Knot, Run
from .sweeps import FACTOR, OperatorArrays, starts_and_end


class Start(NamedTuple):
    """An end, and where the wrench of its first row goes: a slot, and a row from there on."""

    end: int
    slot: int
    row: int


class Source(NamedTuple):
    """Where a factor has the link, and the degree of freedom, that an entry names."""

    link: int
    dof: int


class Answer(NamedTuple):
    """A link that knows Omega, from a free body in the world, from another link, or from the world.

    Then along degrees of freedom from there on.
    """

    root: int  # first degree of freedom of the free body, or NONE
    upper: int  # the other link's number among answers, or NONE
    first: int
    count: int


class Group(NamedTuple):
    """The rows of a declared constraint."""

    strands: int
    entry: int  # where the entries of the first strand start
    count: int  # how many each strand has
    rows: int
    at: int  # where its block starts among all blocks
    slot: int  # the first of its slots
    slots: int


START, SOURCE, ANSWER, GROUP = (
    index_record(*record._fields) for record in (Start, Source, Answer, Group)
)

_FIELDS = ("ends", "entries", "sources", "starts", "chains", "answers", "runs", "knots", "groups")
_FIELDS = (*_FIELDS, "factor_starts")

# Multiplications: to carry a strand past a degree of freedom, and past a free body; to multiply an
# entry with itself, and with that of another strand; to answer a strand; and to know Omega, by a
# degree of freedom, and of a free body.
_CARRY, _CARRY_ROOT = 39, 63
_SQUARE, _PRODUCT = 6, 9
_ANSWER = 108
_KNOW, _KNOW_ROOT = 134, 216


class DiagonalArrays(namedtuple("DiagonalArrays", (*ROW_FIELDS, *_FIELDS))):
    """What kernels know of a model and of groups of rows on it.

    - starts: where wrenches of ends go
    - sources: where a factor has what each of the entries names
    - chains: degrees of freedom, numbered as the factor has them
    - factor_starts: where the parts of a factor start, and the last ends (see `sweeps`)
    """

    __slots__ = ()
    dimensions = (*DIMENSIONS, "factor", "diagonal")

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        own = (END, ENTRY, SOURCE, START, INDEX, ANSWER, RUN, KNOT, GROUP, INDEX)
        return (*row_types(real), *own)

    @classmethod
    def pack(cls, constraints, real: np.dtype) -> DiagonalArrays:
        """The arrays of rows and of their groups, in one precision."""
        found = constraints.paths(real)
        known = {**constraints.dimensions, **OperatorArrays.sizes(constraints)}
        return cls(*found.rows, *Plan(found).arrays(), starts_and_end(FACTOR, known))

    @classmethod
    def sizes(cls, constraints) -> dict[str, int]:
        """How many numbers a factor and all blocks have, and extents of work memory."""
        plan = Plan(constraints.paths(FLOAT64))
        return OperatorArrays.sizes(constraints) | {"diagonal": plan.total, **plan.extents()}


class _Share:
    """Ends of a group in one tree, and the links where these start or meet, from the leaves on."""

    def __init__(self, ends: list[int], paths: list[list[int]]):
        self.ends = ends
        self.top = max(set.intersection(*map(set, paths)))  # what carries others comes before them
        children: dict[int, set[int]] = {self.top: set()}
        for path in paths:
            for link, parent in pairwise(path[: path.index(self.top) + 1]):
                children.setdefault(parent, set()).add(link)
        meetings = {link for link, own in children.items() if len(own) > 1}
        self.nodes = sorted({path[0] for path in paths} | meetings | {self.top}, reverse=True)


class Plan:
    """Where wrenches are carried, and which links know Omega."""

    def __init__(self, found: Paths):
        self.found, self.links = found, found.arrays.links
        self.parents = [int(parent) for parent in self.links["parent"]]
        self.ends, self.entry_records = find_ends(found)
        self._find_places()
        counts = np.bincount(found.groups, found.records["count"])
        self.group_sizes = [int(count) for count in counts]
        self.group_rows = np.cumsum([0, *self.group_sizes])
        self.shares = self._find_shares()
        self.known = self._find_known()
        self.chains: list[int] = []
        self.answers: list[tuple] = []
        self.answer_of = self._put_answers()
        self.starts, self.runs, self.knots, self.groups = [], [], [], []
        self.slots = self.entries = self.total = 0
        for group in range(len(self.group_sizes)):
            self._put_group(group)

    # --- the tree ---------------------------------------------------------------------------------

    def _find_places(self) -> None:
        """Numbers of links and of degrees of freedom in a factor."""
        supports = eliminate(self.found).arrays["supports"]
        order = [int(link) for link in supports["link"]]
        self.free = {int(turn["link"]) for turn in supports if turn["is_free"]}
        self.position = {link: t for t, link in enumerate(order)}
        dofs = [k for link in order for k in self._dofs(link)]
        self.dof = {k: t for t, k in enumerate(dofs)}

    def _dofs(self, link: int) -> range:
        """The degrees of freedom of a link's joint."""
        v = int(self.links[link]["v"])
        return range(v, v + int(self.links[link]["nv"]))

    def _path(self, link: int) -> list[int]:
        """A link and all that carry it."""
        path = []
        while link > 0:
            path.append(link)
            link = self.parents[link]
        return path

    def _follow(self, path: list[int], stops) -> tuple[list[int], int, int]:
        """Degrees of freedom on the way to a link where it stops; a free body's if there is none.

        Returns the places of the former, that of the free body's first or NONE, and the link or 0.
        """
        chain, root = [], NONE
        for link in path:
            if link in stops:
                return chain, NONE, link
            if link in self.free:
                root = self.dof[self._dofs(link)[0]]
            else:
                chain += [self.dof[k] for k in reversed(self._dofs(link))]
        return chain, root, 0

    def _find_shares(self) -> dict[int, list[_Share]]:
        """The shares of each group."""
        ends: dict[tuple[int, int], list[int]] = {}
        for e, end in enumerate(self.ends):
            tree = self._path(end.link)[-1]
            ends.setdefault((int(self.found.groups[end.piece]), tree), []).append(e)
        shares: dict[int, list[_Share]] = {group: [] for group in range(len(self.group_sizes))}
        for (group, _), own in ends.items():
            shares[group].append(_Share(own, [self._path(self.ends[e].link) for e in own]))
        return shares

    def _strands(self, group: int) -> int:
        return -(-self.group_sizes[group] // WIDTH)

    # --- who knows Omega --------------------------------------------------------------------------

    def _find_known(self) -> set[int]:
        """Links that know Omega, as do all that carry them: what takes the least arithmetic."""
        n = len(self.links)
        past, past_root, answer = np.zeros(n, int), np.zeros(n, int), np.zeros(n, int)
        for group, shares in self.shares.items():
            strands = self._strands(group)
            products = strands * _SQUARE + strands * (strands - 1) // 2 * _PRODUCT
            for share in shares:
                past[share.top] += strands * _CARRY + products
                past_root[share.top] += strands * _CARRY_ROOT + SIX * products
                answer[share.top] += strands * _ANSWER + SIX * products
        # What all beyond a link takes, it included: if everything is carried past it, or answered.
        carried, known = np.zeros(n, int), np.zeros(n, int)
        for i in range(n - 1, 0, -1):
            parent, count = self.parents[i], len(self._dofs(i))
            is_free = i in self.free
            carried[i] += past_root[i] if is_free else count * past[i]
            known[i] += _KNOW_ROOT if is_free else count * _KNOW
            if parent == 0:
                known[i] += answer[i]
            for cost in (past, past_root, answer, carried):
                cost[parent] += cost[i]
            known[parent] += min(carried[i], known[i])
        found = {0}
        for i in range(1, n):
            if self.parents[i] in found and known[i] < carried[i]:
                found.add(i)
        return found - {0}

    def _put_answers(self) -> dict[int, int]:
        """Links that keep Omega: those that answer, and those from which it goes on by two ways."""
        tops = {share.top for shares in self.shares.values() for share in shares}
        answering = {self._follow(self._path(top), self.known)[2] for top in tops}
        ways = Counter(self.parents[link] for link in self.known)
        kept = {link for link, count in ways.items() if count > 1}
        number: dict[int, int] = {}
        for link in sorted((kept | answering) - {0}):
            chain, root, upper = self._follow(self._path(link), number)
            first = len(self.chains)
            self.chains += reversed(chain)
            self.answers.append(Answer(root, number.get(upper, NONE), first, len(chain)))
            number[link] = len(number)
        return number

    # --- groups -----------------------------------------------------------------------------------

    def _put_group(self, group: int) -> None:
        """All that is done for a group: its strands go the same ways."""
        strands, size, first_slot = self._strands(group), self.group_sizes[group], self.slots
        runs, knots, count = [], [], 0
        for share in self.shares[group]:
            slots = {link: self._new_slots(strands) for link in share.nodes}
            self._put_starts(share, slots)
            for link in share.nodes:
                stops = self.known if link == share.top else slots.keys() - {link}
                chain, root, to = self._follow(self._path(link), stops)
                slot = slots[link]
                if to != link:
                    arrives = NONE
                    if to > 0:
                        arrives = slots[to] if link != share.top else self._new_slots(strands)
                    runs.append((slot, arrives, len(self.chains), len(chain), count, root))
                    self.chains += chain
                    count += len(chain) + (SIX if root >= 0 else 0)
                    slot = arrives
                if link == share.top and to > 0:
                    knots.append((slot, count, self.answer_of[to]))
                    count += SIX
        for s in range(strands):
            start = self.entries + s * count
            for slot, to, first, length, entry, root in runs:
                to = to + s if to >= 0 else NONE
                self.runs.append(Run(slot + s, to, first, length, start + entry, root))
            for slot, entry, answer in knots:
                self.knots.append(Knot(slot + s, start + entry, answer))
        slots = self.slots - first_slot
        group = Group(strands, self.entries, count, size, self.total, first_slot, slots)
        self.groups.append(group)
        self.entries += strands * count
        self.total += size * size

    def _new_slots(self, count: int) -> int:
        """Where the next slots start."""
        self.slots += count
        return self.slots - count

    def _put_starts(self, share: _Share, slots: dict[int, int]) -> None:
        """The ends of a share, each row in its place among those of the group."""
        for e in share.ends:
            end = self.ends[e]
            row = end.row - int(self.group_rows[self.found.groups[end.piece]])
            self.starts.append(Start(e, slots[end.link], row))

    # --- what kernels read ------------------------------------------------------------------------

    def extents(self) -> dict[str, int]:
        """How much memory there must be."""
        return {"slots": self.slots, "entries": self.entries, "omegas": len(self.answers)}

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays of DiagonalArrays that are neither of rows nor of the factor."""
        sources = [Source(self.position[e.link], self.dof[e.dof]) for e in self.entry_records]
        return (
            np.array(self.ends, END),
            np.array(self.entry_records, ENTRY),
            np.array(sources, SOURCE),
            np.array(self.starts, START),
            np.array(self.chains, INDEX),
            np.array(self.answers, ANSWER),
            np.array(self.runs, RUN),
            np.array(self.knots, KNOT),
            np.array(self.groups, GROUP),
        )

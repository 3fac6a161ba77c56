"""The plan of diagonal blocks of J M^-1 J^T: made once, and read by kernels as arrays.

- **group**: all rows of a declared constraint, with the ends of its pieces (see `recursion.plan`).
  Wrenches run from the ends towards the world, and are added up where they meet, so that no part of
  the way is run through twice.
- **share**: the ends of a group in one tree, as ends in two trees never meet. Once all ends of a
  share have met, a row is one wrench on one link, the **top** of the share.
- **Omega**: the inverse inertia of a link, which moves by Omega k under a wrench k on it. It
  follows from that of the parent. Wrenches stop at the first link whose Omega is known.
- **answer**: a link whose Omega is kept.

To find Omega costs, for each degree of freedom, as much as to run some nine rows through it. So
Omega is found for links that carry enough rows. The cost is then linear, however deep the tree is.

Wrenches run by threes, as strands, and leave entries (see `strands`). All entries of a strand stand
side by side, and a block is the sum of the products of the entries of its group's strands.
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
    """An end, and where its wrenches go: from a row of a slot on, which may be in later slots."""

    end: int
    slot: int
    row: int


class Source(NamedTuple):
    """Numbers, within a factor, of the link and the degree of freedom of an Entry."""

    link: int
    dof: int


class Answer(NamedTuple):
    """A link whose Omega is kept.

    It starts from the Omega of a free body in the world, of another answer, or of the world, which
    is zero; then it is propagated along degrees of freedom.
    """

    root: int  # first degree of freedom of the free body, or NONE
    upper: int  # number of the other answer, or NONE
    first: int  # the first of the degrees of freedom in `chains`
    count: int  # number of these


class Group(NamedTuple):
    """The rows of a declared constraint."""

    strands: int  # number of its strands
    entry: int  # where the entries of the first strand start
    count: int  # number of entries of each strand
    rows: int
    at: int  # where its block starts among all blocks
    slot: int  # the first of its slots
    slots: int  # number of its slots


START, SOURCE, ANSWER, GROUP = (
    index_record(*record._fields) for record in (Start, Source, Answer, Group)
)

_FIELDS = ("ends", "entries", "sources", "starts", "chains", "answers", "runs", "knots", "groups")
_FIELDS = (*_FIELDS, "factor_starts")

# Numbers of multiplications:
_CARRY, _CARRY_ROOT = 39, 63  # run a strand through a degree of freedom, through a free body
_SQUARE, _PRODUCT = 6, 9  # multiply an entry with itself, with the entry of another strand
_ANSWER = 108  # multiply the wrenches of a strand with Omega
_KNOW, _KNOW_ROOT = 134, 216  # propagate Omega past a degree of freedom; find that of a free body


class DiagonalArrays(namedtuple("DiagonalArrays", (*ROW_FIELDS, *_FIELDS))):
    """The arrays of a model, of rows on it, and of a plan of diagonal blocks.

    - starts: for each end, where its wrenches go
    - sources: for each of `entries`, the numbers of its link and degree of freedom in a factor
    - chains: degrees of freedom of answers and runs, by their numbers in a factor
    - factor_starts: where the parts of a factor start, and the last ends (see `delassus.sweeps`)
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
        """The arrays of rows and of the plan, in one precision."""
        found = constraints.paths(real)
        known = {**constraints.dimensions, **OperatorArrays.sizes(constraints)}
        return cls(*found.rows, *Plan(found).arrays(), starts_and_end(FACTOR, known))

    @classmethod
    def sizes(cls, constraints) -> dict[str, int]:
        """Extents: how many numbers a factor has, and all blocks; and those of work memory."""
        plan = Plan(constraints.paths(FLOAT64))
        return OperatorArrays.sizes(constraints) | {"diagonal": plan.total, **plan.extents()}


class _Share:
    """Ends of a group in one tree; `nodes` are links where these start or meet, leaves first."""

    def __init__(self, ends: list[int], paths: list[list[int]]):
        self.ends = ends
        self.top = max(set.intersection(*map(set, paths)))  # the last link that carries all ends
        children: dict[int, set[int]] = {self.top: set()}
        for path in paths:
            for link, parent in pairwise(path[: path.index(self.top) + 1]):
                children.setdefault(parent, set()).add(link)
        meetings = {link for link, own in children.items() if len(own) > 1}
        self.nodes = sorted({path[0] for path in paths} | meetings | {self.top}, reverse=True)


class Plan:
    """Runs of all groups' strands, and the links whose Omega is found."""

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
        """Find the numbers of links and of degrees of freedom in a factor."""
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
        """A link and all links that carry it."""
        path = []
        while link > 0:
            path.append(link)
            link = self.parents[link]
        return path

    def _follow(self, path: list[int], stops) -> tuple[list[int], int, int]:
        """Degrees of freedom along a path, up to the first link of `stops` or to the world.

        Returns their numbers in a factor, without a free body's; the number of a free body's first
        degree of freedom if the path goes through it to the world, or NONE; and the link, or 0.
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

    # --- where Omega is found ---------------------------------------------------------------------

    def _find_known(self) -> set[int]:
        """Links for which Omega is found, so that multiplications are fewest.

        Omega is then found for all links that carry these, too.
        """
        n = len(self.links)
        past, past_root, answer = np.zeros(n, int), np.zeros(n, int), np.zeros(n, int)
        for group, shares in self.shares.items():
            strands = self._strands(group)
            products = strands * _SQUARE + strands * (strands - 1) // 2 * _PRODUCT
            for share in shares:
                past[share.top] += strands * _CARRY + products
                past_root[share.top] += strands * _CARRY_ROOT + SIX * products
                answer[share.top] += strands * _ANSWER + SIX * products
        # Multiplications for a link and all that it carries: if all strands run past the link
        # (`carried`), or if Omega is found for it (`known`).
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
        """Answers: links where wrenches stop, and links from which Omega goes on to two links."""
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
        """Slots, starts, runs and knots of a group: all its strands run the same way."""
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
        """Reserve `count` slots, and return the first."""
        self.slots += count
        return self.slots - count

    def _put_starts(self, share: _Share, slots: dict[int, int]) -> None:
        """Starts of the ends of a share."""
        for e in share.ends:
            end = self.ends[e]
            row = end.row - int(self.group_rows[self.found.groups[end.piece]])
            self.starts.append(Start(e, slots[end.link], row))

    # --- what kernels read ------------------------------------------------------------------------

    def extents(self) -> dict[str, int]:
        """Extents of work memory."""
        return {"slots": self.slots, "entries": self.entries, "omegas": len(self.answers)}

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays of DiagonalArrays beyond those of rows, without `factor_starts`."""
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

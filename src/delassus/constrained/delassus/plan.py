"""Plans of strands: made once from a tree and its constraints, and read by kernels as arrays.

See `strands` for the words that are used here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...model.packed import INDEX
from ..recursion.plan import END, ENTRY, eliminate, find_ends
from ..rows.packed import Paths
from .strands import (
    ALONGSIDE,
    BASE,
    BRANCH,
    CHEAPEST,
    KNOT,
    LIFT,
    NEVER,
    NODE,
    NONE,
    OMEGA,
    RUN,
    SIX,
    SPLIT,
    STRAND,
    TILE,
    WIDTH,
    Base,
    Branch,
    Knot,
    Lift,
    Node,
    Omega,
    Run,
    Strand,
    Tile,
)


class _Node(NamedTuple):
    """A node, and the degrees of freedom from it to the world, which are its chain."""

    link: int
    above: int | None  # link of the next node
    count: int  # number of degrees of freedom up to the next node
    length: int  # number of degrees of freedom of its chain
    chain: int  # where its chain starts in `chains`
    root: int  # first degree of freedom of a free body at the end of the chain, or NONE


class _Thread:
    """A strand while the plan follows it to the world, and where its entries are."""

    def __init__(self):
        self.starts: dict[int, int] = {}  # by node, where its entries from there on start
        self.knots: list[int] = []  # where the entries of each knot end
        self.end = 0  # where all its entries end
        self.slot = self.base = NONE  # of its wrenches now; of its entries at a free base
        self.upper: int | None = None  # of unit wrenches: the node that ties knots where they end

    def shared_from(self, link: int) -> tuple[int, int]:
        """Where its entries from a node on start, and how many they are up to the first knot."""
        start = self.starts[link]
        return start, min((end for end in self.knots if end > start), default=self.end) - start


class Tree:
    """Nodes and their chains to the world, which do not depend on the mode of a plan."""

    def __init__(self, found: Paths):
        self.found, self.links = found, found.arrays.links
        self.parents = [int(parent) for parent in self.links["parent"]]
        self.ends, self.entry_records = find_ends(found)
        arrays = eliminate(found).arrays
        self.turns = [arrays[k] for k in ("others", "stretches", "supports", "is_first", "bare")]
        self.supports = arrays["supports"]
        self.free = {int(turn["link"]) for turn in self.supports if turn["is_free"]}
        self.chains: list[int] = []
        self.nodes = self._find_nodes()

    def path(self, link: int) -> list[int]:
        """A link and all links that carry it."""
        path = []
        while link > 0:
            path.append(link)
            link = self.parents[link]
        return path

    def _find_nodes(self) -> dict[int, _Node]:
        carried = [0] * len(self.links)
        for end in self.ends:
            for link in self.path(end.link):
                carried[link] += 1
        most = [0] * len(self.links)
        for link in range(1, len(self.links)):
            most[self.parents[link]] = max(most[self.parents[link]], carried[link])
        found = [i for i in range(len(self.links) - 1, 0, -1) if carried[i] > most[i]]
        return {link: self._node(link, set(found)) for link in found}

    def _node(self, link: int, nodes: set[int]) -> _Node:
        above, count, root, chain = None, None, NONE, len(self.chains)
        for i in self.path(link):
            if i != link and i in nodes and above is None:
                above, count = i, len(self.chains) - chain
            v, nv = int(self.links[i]["v"]), int(self.links[i]["nv"])
            if i in self.free:
                root = v
            else:
                self.chains += range(v + nv - 1, v - 1, -1)
        length = len(self.chains) - chain
        return _Node(link, above, length if count is None else count, length, chain, root)

    def saves(self, link: int) -> bool:
        """Whether knots at a node take fewer multiplications than strands that run on."""
        heights = self.found.records["height"]
        rows = sum(int(heights[end.piece]) for end in self.ends if link in self.path(end.link))
        pairs, node = rows * (rows + 1) // 2, self.nodes[link]
        above = node.length + (SIX if node.root >= 0 else 0)
        return 93 * above + 72 * rows + SIX * pairs < pairs * above + 12 * rows * node.count


class Plan:
    """Runs, knots, lifts and tiles of all strands, for one mode."""

    def __init__(self, tree: Tree, mode: int):
        self.tree, self.mode = tree, mode
        self.found, self.nodes, self.ends = tree.found, tree.nodes, tree.ends
        self.slots = self.entries = 0
        self.strands, self.knots = [], []
        self.runs: dict[int, list] = {link: [] for link in self.nodes}
        self.lifts: dict[int, list] = {link: [] for link in self.nodes}
        self.tied = self._tied()
        self.omega_of = {link: t for t, link in enumerate(self.tied)}
        if mode == ALONGSIDE:
            self.omega_of = {int(turn["link"]): t for t, turn in enumerate(tree.supports)}
        self.units: dict[int, int] = {}
        self.unit_threads = {link: self._unit_threads(link) for link in self.tied}
        self.threads = [self._end_threads(e) for e in range(len(self.ends))]

    def _tied(self) -> list[int]:
        """Nodes that tie knots, those near the world first."""
        if self.mode in (NEVER, SPLIT):
            return []
        nodes = sorted(self.nodes)
        return nodes if self.mode != CHEAPEST else [i for i in nodes if self.tree.saves(i)]

    # --- strands ----------------------------------------------------------------------------------

    def _new_slot(self, count: int = 1) -> int:
        self.slots += count
        return self.slots - count

    def _take(self, thread: _Thread, count: int) -> int:
        start = self.entries
        self.entries += count
        thread.end = self.entries
        return start

    def _run(self, thread: _Thread, link: int, is_split: bool) -> int | None:
        """Let a strand run from a node to the next node where it stops; return that node."""
        node = self.nodes[link]
        is_stop = is_split or self.mode == ALONGSIDE
        first, count = node.chain, 0
        while True:
            thread.starts[link] = self.entries + count
            count += self.nodes[link].count
            above = self.nodes[link].above
            if above is None or is_stop or above in self.omega_of:
                break
            link = above
        root = self.nodes[link].root if above is None else NONE
        entry = self._take(thread, count + (SIX if root >= 0 else 0))
        if root >= 0:
            thread.base = entry + count
        to = NONE if above is None else self._new_slot()
        self.runs[node.link].append(Run(thread.slot, to, first, count, entry, root))
        thread.slot = to
        return above

    def _end_threads(self, e: int) -> list[_Thread]:
        """The strands of an end, followed to the world."""
        link, c = self.ends[e].link, self.ends[e].piece
        threads = []
        for first in range(0, int(self.found.records[c]["height"]), WIDTH):
            thread = _Thread()
            thread.slot = self._new_slot()
            rows = min(int(self.found.records[c]["count"]) - first, WIDTH)
            self.strands.append(Strand(e, first, rows, thread.slot))
            self._follow(thread, link)
            threads.append(thread)
        return threads

    def _follow(self, thread: _Thread, link: int | None) -> None:
        while link is not None:
            if link not in self.tied:
                link = self._run(thread, link, False)
                continue
            thread.starts[link] = self.entries
            entry = self._take(thread, SIX)
            thread.knots.append(self.entries)
            self.knots.append(Knot(thread.slot, entry, self.omega_of[link]))
            if self.mode == ALONGSIDE:
                starts = dict(thread.starts)
                link = self._run(thread, link, True)
                thread.starts = starts
                continue
            above = self.nodes[link].above
            if above is not None:
                to = self._new_slot()
                self.lifts[link].append(Lift(thread.slot, to, *self.unit_threads[link][2:]))
                thread.slot = to
            link = above

    def _unit_threads(self, link: int) -> tuple:
        """Two threads of three unit wrenches that start at a node, and their slots at the next."""
        if self.mode == ALONGSIDE:
            return ()
        start = self.units[link] = self._new_slot(2)
        both, passed = [], []
        for k in range(2):
            thread = _Thread()
            thread.slot = start + k
            thread.upper = self._run(thread, link, True)
            passed.append(thread.slot)
            while thread.upper is not None and thread.upper not in self.tied:
                thread.upper = self._run(thread, thread.upper, False)
            both.append(thread)
        return (*both, *passed)

    # --- what kernels read ------------------------------------------------------------------------

    def extents(self) -> dict[str, int]:
        """Extents of work memory."""
        omegas = len(self.tree.supports) if self.mode == ALONGSIDE else len(self.tied)
        rows = int(self.found.records["height"].sum())
        counts = {"slots": self.slots, "entries": self.entries, "omegas": omegas}
        return counts | {"strand_rows": rows}

    def _is_plain(self, places: list[int]) -> bool:
        """Whether no two tiles have the same place in the matrix, and there are no filler rows."""
        pieces = [end.piece for end in self.ends]
        is_full = self.found.records["height"].sum() == len(places)
        is_single = pieces == list(range(len(self.found.records)))
        return bool(is_full) and is_single and places == list(range(len(places)))

    def _meetings(self) -> list[tuple[int, int, int]]:
        """Pairs of ends that meet, and the node. The first is of the same piece or a later one."""
        paths = [[i for i in self.tree.path(end.link) if i in self.nodes] for end in self.ends]
        found = []
        for e, end in enumerate(self.ends):
            for f, other in enumerate(self.ends):
                if end.piece >= other.piece:
                    common = next((i for i in paths[e] if i in paths[f]), None)
                    if common is not None:
                        found.append((e, f, common))
        return found

    def _is_split(self) -> bool:
        """Whether the mode is SPLIT, and all strands end at the same free body."""
        roots = {node.root for node in self.nodes.values()}
        return self.mode == SPLIT and len(roots) == 1 and NONE not in roots

    def _shared(self, is_split: bool) -> list[tuple]:
        """Pairs of strands that share entries: (end, number) of each, start of each, and count."""
        found = []
        for e, f, link in self._meetings():
            for g, one in enumerate(self.threads[e]):
                for h, other in enumerate(self.threads[f]):
                    if self.ends[e].piece == self.ends[f].piece and g < h:
                        continue
                    start, count = one.shared_from(link)
                    count -= SIX if is_split else 0
                    if count > 0:
                        found.append((e, g, f, h, start, other.shared_from(link)[0], count))
        return found

    def _branches(self, shared: list[tuple]) -> list[list[int]]:
        """Groups of pieces that share entries, directly or through others."""
        group = {c: {c} for c in range(len(self.found.records))}
        for e, _, f, *_ in shared:
            one, other = group[self.ends[e].piece], group[self.ends[f].piece]
            if one is not other:
                one |= other
                for c in other:
                    group[c] = one
        return [sorted(own) for c, own in group.items() if c == min(own)]

    def _omegas(self) -> list[tuple]:
        """Omegas of nodes that tie knots, those near the world first."""
        found = []
        for link, (one, other, *_) in self.unit_threads.items():
            start, count = one.shared_from(link)
            upper = NONE if one.upper is None else self.omega_of[one.upper]
            other_start, _ = other.shared_from(link)
            found.append(Omega(start, other_start, count, upper, one.slot, other.slot))
        return found

    def arrays(self) -> tuple[np.ndarray, ...]:
        """The arrays of StrandArrays beyond those of rows."""
        is_split = self._is_split()
        shared = self._shared(is_split)
        branches = self._branches(shared)
        records = self.found.records
        place_of, branch_records, total = {}, [], 0
        for own in branches:
            start = total
            for c in own:
                place_of[c] = total
                total += int(records[c]["height"])
            branch_records.append(Branch(start, total - start))
        places = [place_of[c] + t for c, p in enumerate(records) for t in range(int(p["count"]))]
        tiles = []
        for e, g, f, h, start, other, count in shared:
            row = place_of[self.ends[e].piece] + g * WIDTH
            column = place_of[self.ends[f].piece] + h * WIDTH
            if row < column:  # branches may have another order than pieces
                row, column, start, other = column, row, other, start
            tiles.append(Tile(start, other, count, row, column))
        bases = [
            Base(thread.base, place_of[self.ends[e].piece] + g * WIDTH)
            for e, own in enumerate(self.threads)
            for g, thread in enumerate(own)
            if is_split
        ]
        node_records, runs, lifts = [], [], []
        for link in self.nodes:
            own_runs, own_lifts = self.runs[link], self.lifts[link]
            units = self.units.get(link, NONE)
            node_records.append(Node(units, len(runs), len(own_runs), len(lifts), len(own_lifts)))
            runs += own_runs
            lifts += own_lifts
        turn_of = {int(link): t for t, link in enumerate(self.tree.supports["link"])}
        return (
            *self.tree.turns,
            np.array(self.ends, END),
            np.array(self.tree.entry_records, ENTRY),
            np.array([turn_of.get(self.tree.parents[link], NONE) for link in turn_of], INDEX),
            np.array(self.tree.chains, INDEX),
            np.array(self.strands, STRAND),
            np.array(node_records, NODE),
            np.array(runs, RUN),
            np.array(lifts, LIFT),
            np.array(self._omegas() if self.mode != ALONGSIDE else [], OMEGA),
            np.array(self.knots, KNOT),
            np.array(tiles, TILE),
            np.array(places, INDEX),
            np.array(bases, BASE),
            np.array(branch_records, BRANCH),
            np.array(sorted(set(range(total)) - set(places)), INDEX),
            np.array([self._is_plain(places)], INDEX),
        )

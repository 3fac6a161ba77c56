"""The order in which joints are eliminated, and the numbers of blocks that couple links meanwhile.

To eliminate a joint is to hand on all that is known of its link: to the parent, and to the links
that it is coupled with. These become coupled with the parent and with each other, unless they are
the parent. So a loop couples links only on the way from its ends to where they meet, if its joints
go one after the other: the joint goes first whose link is coupled with the fewest.

Links that carry no end of a constraint go before all others.
"""

from __future__ import annotations

import heapq
from itertools import pairwise

import numpy as np

from ...dynamics.steps.links import AT_ONCE
from ...model.packed import INDEX

# How many steps before it a link is best not among the children of.
_APART = 3


def order_links(parents: np.ndarray, carrying: set[int], coupled: list) -> tuple[list[int], dict]:
    """Links from the leaves on, those with few neighbours first; and the neighbours of each."""
    others = [i for i in range(len(parents) - 1, 0, -1) if i not in carrying]
    near: dict[int, set[int]] = {}
    for i, j in coupled:
        near.setdefault(i, set()).add(j)
        near.setdefault(j, set()).add(i)

    depth, touched = [0] * len(parents), [0] * len(parents)
    for i in range(1, len(parents)):
        depth[i] = depth[int(parents[i])] + 1

    def key(i: int) -> tuple[int, int, int, int]:
        """Few neighbours first, and else the last: what is near in memory is so in time.

        Of those with neighbours, before that, the one that was handed something last, or else the
        deepest: so loops go one by one.
        """
        count = len(near.get(i, ()))
        return (count, -touched[i], -depth[i], -i) if count > 0 else (0, 0, 0, -i)

    children = dict.fromkeys(carrying, 0)
    for i in carrying:
        if parents[i] > 0:
            children[int(parents[i])] += 1
    queue = [key(i) for i in carrying if children[i] == 0]
    heapq.heapify(queue)
    order, neighbours = [], {}
    done: set[int] = set()
    while queue:
        count, _, _, last = heapq.heappop(queue)
        i = -last
        own = near.get(i, set())
        if i in done:
            continue
        if count != len(own):  # has changed since
            heapq.heappush(queue, key(i))
            continue
        done.add(i)
        order.append(i)
        parent = int(parents[i])
        neighbours[i] = own
        touched[parent] = len(order)
        for j in own:
            touched[j] = len(order)
            near[j].discard(i)
            near[j] |= own - {j}
            if parent > 0 and j != parent:
                near[j].add(parent)
                near.setdefault(parent, set()).add(j)
        for j in own:
            if children[j] == 0:
                heapq.heappush(queue, key(j))
        if parent > 0:
            children[parent] -= 1
            if children[parent] == 0:
                heapq.heappush(queue, key(parent))
    return others + order, neighbours


def links_with(parents: np.ndarray, ends: set[int]) -> set[int]:
    """Links with ends, and all that carry them."""
    found: set[int] = set()
    for link in ends:
        while link > 0 and link not in found:
            found.add(link)
            link = int(parents[link])
    return found


def first_to_reach(
    parents: np.ndarray, others: list[int], supports: list[int], pulled: set[int]
) -> np.ndarray:
    """Whether each link is the first that gives its parent an inertia; ends have one by then."""
    found, reached = np.zeros(len(parents), INDEX), set()
    for order in (others, supports):
        for i in order:
            found[i] = parents[i] not in reached
            reached.add(parents[i])
        reached |= pulled
    return found


def stretches(order: list[int]) -> list[tuple[int, int, int]]:
    """Parts of an order, not too long, in which each link is the one before the last one's."""
    starts: list[int] = []
    for t, i in enumerate(order):
        if t == 0 or order[t - 1] != i + 1 or t == starts[-1] + AT_ONCE:
            starts.append(t)
    return [(order[a], order[b - 1], a) for a, b in pairwise([*starts, len(order)])]


def apart(parents: np.ndarray, turns: list) -> list:
    """Turns in an order in which few wait for one of those just before.

    Where links are coupled, the order of elimination stays.
    """
    if any(turn.neighbours > 0 for turn in turns):
        return turns
    own = {turn.link: turn for turn in turns}
    missing = dict.fromkeys(own, 0)
    for i in own:
        if parents[i] > 0:
            missing[int(parents[i])] += 1
    ready = [(-i, i) for i in own if missing[i] == 0]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        just_reached = {parents[i] for i in order[-_APART:]}
        held = []
        while len(ready) > 1 and ready[0][1] in just_reached:
            held.append(heapq.heappop(ready))
        i = heapq.heappop(ready)[1]
        for other in held:
            heapq.heappush(ready, other)
        order.append(i)
        parent = int(parents[i])
        if parent > 0:
            missing[parent] -= 1
            if missing[parent] == 0:
                heapq.heappush(ready, (-parent, parent))
    return [own[i] for i in order]


class Blocks:
    """Numbers of the blocks of two links, given again once a block is not needed any more."""

    def __init__(self, turn_of: dict[int, int]):
        self.turn_of = turn_of
        self.count = 0
        self.opened: list[int] = []
        self._open: dict[tuple[int, int], int] = {}
        self._free: list[int] = []

    def number(self, i: int, j: int) -> int:
        """The number of the block of two links."""
        pair = self._pair(i, j)
        if pair not in self._open:
            if not self._free:
                self._free.append(self.count)
                self.count += 1
            self._open[pair] = self._free.pop()
            self.opened.append(self._open[pair])
        return self._open[pair]

    def close(self, i: int, others: list[int]) -> None:
        """The blocks of a link with others are not needed any more."""
        self._free += [self._open.pop(self._pair(i, j)) for j in others]

    def _pair(self, i: int, j: int) -> tuple[int, int]:
        return (i, j) if self.turn_of[i] < self.turn_of[j] else (j, i)

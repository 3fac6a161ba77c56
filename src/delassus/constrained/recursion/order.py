"""The order in which joints are eliminated, and numbers for the blocks that couple links meanwhile.

When a joint is eliminated, what remains of its link's inertia goes to the parent, and what remains
of its blocks to the parent and to its neighbours, the links that it is coupled with. So neighbours
become coupled with the parent and with each other. If the joints of a loop are eliminated one after
the other, only links between the loop's ends and the link where they meet become coupled. This is
what the order aims at: the next joint is one whose link has the fewest neighbours.

Links that support no constraint are eliminated before all others.
"""

from __future__ import annotations

import heapq
from itertools import pairwise

import numpy as np

from ...dynamics.steps.links import AT_ONCE
from ...model.packed import INDEX

# A link should have no child among so many turns before its own (see `apart`).
_APART = 3


def order_links(parents: np.ndarray, carrying: set[int], coupled: list) -> tuple[list[int], dict]:
    """The order of elimination, and the neighbours that each link has at its turn.

    `carrying` are links that support constraints, `coupled` pairs of links that springs couple.
    Leaves come first, and of several the link with the fewest neighbours.
    """
    others = [i for i in range(len(parents) - 1, 0, -1) if i not in carrying]
    near: dict[int, set[int]] = {}
    for i, j in coupled:
        near.setdefault(i, set()).add(j)
        near.setdefault(j, set()).add(i)

    depth, touched = [0] * len(parents), [0] * len(parents)
    for i in range(1, len(parents)):
        depth[i] = depth[int(parents[i])] + 1

    def key(i: int) -> tuple[int, int, int, int]:
        """The link with the smallest key is next.

        It has the fewest neighbours. If it has some, it is the one that the latest elimination has
        changed, then the deepest: so loops are eliminated one after the other. Of equal links it
        has the highest number: links that are near in memory are then eliminated near in time.
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
        if count != len(own):  # its key is out of date
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
    """Links that support constraints: those with ends, and all that carry them."""
    found: set[int] = set()
    for link in ends:
        while link > 0 and link not in found:
            found.add(link)
            link = int(parents[link])
    return found


def first_to_reach(
    parents: np.ndarray, others: list[int], supports: list[int], pulled: set[int]
) -> np.ndarray:
    """For each link, whether it is the first that passes an articulated inertia to its parent.

    `others` are eliminated first. Before `supports` are, all links with ends (`pulled`) have one.
    """
    found, reached = np.zeros(len(parents), INDEX), set()
    for order in (others, supports):
        for i in order:
            found[i] = parents[i] not in reached
            reached.add(parents[i])
        reached |= pulled
    return found


def stretches(order: list[int]) -> list[tuple[int, int, int]]:
    """Parts of an order in which numbers fall by one: highest and lowest number, and start of each.

    No part has more than AT_ONCE links.
    """
    starts: list[int] = []
    for t, i in enumerate(order):
        if t == 0 or order[t - 1] != i + 1 or t == starts[-1] + AT_ONCE:
            starts.append(t)
    return [(order[a], order[b - 1], a) for a, b in pairwise([*starts, len(order)])]


def apart(parents: np.ndarray, turns: list) -> list:
    """Turns in another order, in which links do not come right after their children if possible.

    A processor then need not wait for the results of a child. Where links are coupled, the order of
    elimination stays as it is.
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
    """Numbers for the blocks that couple two links. The number of a closed block is used again."""

    def __init__(self, turn_of: dict[int, int]):
        self.turn_of = turn_of
        self.count = 0
        self.opened: list[int] = []
        self._open: dict[tuple[int, int], int] = {}
        self._free: list[int] = []

    def number(self, i: int, j: int) -> int:
        """The number of the block of two links, which is opened if it is not open."""
        pair = self._pair(i, j)
        if pair not in self._open:
            if not self._free:
                self._free.append(self.count)
                self.count += 1
            self._open[pair] = self._free.pop()
            self.opened.append(self._open[pair])
        return self._open[pair]

    def close(self, i: int, others: list[int]) -> None:
        """Close the blocks of link i with others: they are not needed any more."""
        self._free += [self._open.pop(self._pair(i, j)) for j in others]

    def _pair(self, i: int, j: int) -> tuple[int, int]:
        return (i, j) if self.turn_of[i] < self.turn_of[j] else (j, i)

"""The order in which bodies are eliminated from A = M + J^T S^-1 J, and where its blocks stand.

A has a block of 6x6 numbers for each body and for each two bodies that an element of rows touches.
Its factor A = U^T U has more of them. `find_order` looks for an order with few: of the bodies that
are left it takes the one with the fewest neighbours (minimum degree). Bodies of the front, those
that cone rows touch, come last, as a dense matrix.

| name | what |
| --- | --- |
| position | place of a body in the order |
| inside | bodies before the front |
| column | an inside body, and the blocks that couple it with later bodies |
| update | a block that the elimination of a column changes |

The numbers of A stand one after the other: diagonal blocks of inside bodies; the other blocks of
their columns; then the dense matrix of the front. All are stored by rows: a block of an inside body
has rows 6 numbers apart (its pitch), one of the front 6 n_front numbers. A block couples the
earlier body (rows) with the later one (columns). So the upper triangle is stored by rows, which is
the lower triangle by columns.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ...errors import ModelError

INDEX = np.dtype(np.int32)
BLOCK_SIZE = 36  # numbers of a block


def index_record(*names: str) -> np.dtype:
    """A record type whose fields are all of type INDEX."""
    return np.dtype([(name, INDEX) for name in names], align=True)


# Of a body: its position; where its diagonal block is, and how far its rows are apart.
PLACE = index_record("position", "at", "pitch")
# Of an inside body: the first of its blocks and one past the last, and the first of its updates.
COLUMN = index_record("block", "end", "update")
# Where a block is, and how far its rows are apart.
TARGET = index_record("at", "pitch")


class Order(NamedTuple):
    """An order of elimination as arrays that kernels read."""

    places: np.ndarray  # PLACE of each body
    columns: np.ndarray  # COLUMN of each inside body, by position
    rows: np.ndarray  # for each block of a column the position of its later body, ascending
    # TARGET of each two blocks of a column: (0, 0), (0, 1), ..., (1, 1), (1, 2), ...
    updates: np.ndarray
    bodies: np.ndarray  # the body at each position

    @property
    def n_inside(self) -> int:
        """Number of bodies that are eliminated before the front."""
        return len(self.columns)

    @property
    def n_front(self) -> int:
        """Number of bodies of the front."""
        return len(self.bodies) - len(self.columns)

    @property
    def matrix_size(self) -> int:
        """How many numbers A and its factor have."""
        return BLOCK_SIZE * (len(self.columns) + len(self.rows)) + (6 * self.n_front) ** 2

    @property
    def front(self) -> frozenset[int]:
        """The bodies that cone rows may touch."""
        return frozenset(self.bodies[self.n_inside :].tolist())

    def find_block(self, first: int, second: int) -> tuple[int, int]:
        """Place and pitch of the block of two bodies, of which the first is the earlier one."""
        i, j = (int(self.places["position"][body]) for body in (first, second))
        if i == j or i >= self.n_inside:
            at, pitch = (int(self.places[name][first]) for name in ("at", "pitch"))
            return at + 6 * (j - i), pitch
        block, end = (int(self.columns[name][i]) for name in ("block", "end"))
        found = block + int(np.searchsorted(self.rows[block:end], j))
        if found == end or self.rows[found] != j:
            raise ModelError(f"no element of rows couples bodies {first} and {second}")
        return BLOCK_SIZE * (self.n_inside + found), 6


def find_order(
    n_bodies: int, element_bodies: Iterable[Sequence[int]], front: Iterable[int] = ()
) -> Order:
    """The order of elimination of bodies that elements of rows couple, with the front last.

    Negative numbers of bodies stand for the world. The cost grows with the number of updates: it is
    linear for chains of loops. For a front of all bodies that have collision shapes, one order
    serves any contact among them.
    """
    front = _check(n_bodies, front, "the front")
    order, neighbours = _eliminate(_adjacency(n_bodies, element_bodies), front)
    n_inside = len(order)
    order += sorted(front)
    position = [0] * n_bodies
    for k, body in enumerate(order):
        position[body] = k
    structure = [sorted(position[j] for j in near) for near in neighbours]
    return _arrays(order, position, structure, n_inside)


def _check(n_bodies: int, bodies: Iterable[int], what: str) -> set[int]:
    """The bodies among these, without the world."""
    found = {int(body) for body in bodies if body >= 0}
    if found and max(found) >= n_bodies:
        raise ModelError(f"{what} has body {max(found)}, but there are {n_bodies} bodies")
    return found


def _adjacency(n_bodies: int, element_bodies: Iterable[Sequence[int]]) -> list[set[int]]:
    """The bodies that share an element with each body."""
    near: list[set[int]] = [set() for _ in range(n_bodies)]
    for k, bodies in enumerate(element_bodies):
        touched = _check(n_bodies, bodies, f"element {k}")
        for body in touched:
            near[body] |= touched
    for body, others in enumerate(near):
        others.discard(body)
    return near


def _eliminate(near: list[set[int]], front: set[int]) -> tuple[list[int], list[set[int]]]:
    """Inside bodies in their order, and the neighbours that each has when it is eliminated.

    Neighbours become neighbours of each other. Of bodies of the front that is not kept, as all of
    them are coupled anyway.
    """
    order: list[int] = []
    structure: list[set[int]] = []
    done = [body in front for body in range(len(near))]
    queue = [(len(others), body) for body, others in enumerate(near) if not done[body]]
    heapq.heapify(queue)
    while queue:
        degree, body = heapq.heappop(queue)
        if done[body] or degree != len(near[body]):
            continue  # an entry that a later one has replaced
        done[body] = True
        order.append(body)
        structure.append(near[body])
        for other in near[body]:
            if not done[other]:
                near[other] |= near[body]
                near[other] -= {body, other}
                heapq.heappush(queue, (len(near[other]), other))
    return order, structure


def _arrays(
    order: list[int], position: list[int], structure: list[list[int]], n_inside: int
) -> Order:
    """The arrays of an order, from the positions that each column couples with."""
    starts = [0]
    for rows in structure:
        starts.append(starts[-1] + len(rows))
    block = {(i, j): starts[i] + e for i, rows in enumerate(structure) for e, j in enumerate(rows)}
    n_front = len(order) - n_inside
    pitch, front_at = 6 * n_front, BLOCK_SIZE * (n_inside + starts[-1])

    def target(i: int, j: int) -> tuple[int, int]:
        if i >= n_inside:
            return front_at + 6 * (pitch * (i - n_inside) + j - n_inside), pitch
        return BLOCK_SIZE * (i if i == j else n_inside + block[i, j]), 6

    columns, updates = [], []
    for k, rows in enumerate(structure):
        columns.append((starts[k], starts[k + 1], len(updates)))
        updates += [target(i, j) for e, i in enumerate(rows) for j in rows[e:]]
    return Order(
        places=np.array([(k, *target(k, k)) for k in position], PLACE),
        columns=np.array(columns, COLUMN),
        rows=np.array([j for rows in structure for j in rows], INDEX),
        updates=np.array(updates, TARGET),
        bodies=np.array(order, INDEX),
    )


class Orders:
    """The orders of one set of elements by front: each is found once, the last used are kept."""

    def __init__(
        self, n_bodies: int, element_bodies: Iterable[Sequence[int]], most_kept: int = 256
    ):
        self.n_bodies = n_bodies
        self.element_bodies = tuple(tuple(int(body) for body in e) for e in element_bodies)
        self.most_kept = most_kept
        self._kept: OrderedDict[frozenset[int], Order] = OrderedDict()

    def with_front(self, front: Iterable[int]) -> Order:
        """The order with these bodies last."""
        key = frozenset(int(body) for body in front if body >= 0)
        if key not in self._kept:
            self._kept[key] = find_order(self.n_bodies, self.element_bodies, key)
            if len(self._kept) > self.most_kept:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]

"""Groups of six degrees of freedom, which take the place of bodies where joints are eliminated.

See `solution.joints`. Degrees of freedom that cone rows can touch come last, in the groups of the
front; the others are eliminated once a step. Groups are filled up to six with numbers that nothing
touches.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ...contact.operators.elements import (
    CONE,
    JOINT,
    MOST_BODIES,
    MOST_CONE_BODIES,
    PAIR,
    joint_records,
)
from ...contact.operators.order import (
    COLUMN,
    INDEX,
    PLACE,
    TARGET,
    Order,
    find_order,
    index_record,
)
from ...contact.operators.structure import extents
from ...maximal.structure.packed import SIDE
from ...maximal.system import MaximalSystem
from ..collision.geometry import Geometry
from .elements import Rows, joint_elements

_CONE_NUMBERS = 3 * SIDE * MOST_CONE_BODIES
# The degrees of freedom that move a body, from its own to those of the first one of its tree: the
# first of their steps and one past the last.
PATH = index_record("start", "end")
# Of a degree of freedom: where its motion stands among those of joints, and its place in vectors.
STEP = index_record("motion", "place")


class Groups(NamedTuple):
    """Arrays for kernels: see `world.WorldArrays`."""

    roots: np.ndarray
    group_places: np.ndarray
    group_columns: np.ndarray
    group_rows: np.ndarray
    group_updates: np.ndarray
    group_order: np.ndarray
    loops: np.ndarray
    loop_pairs: np.ndarray
    paths: np.ndarray  # PATH of each body
    steps: np.ndarray  # STEP of each degree of freedom on each path
    dof_steps: np.ndarray  # of each degree of freedom: its step on the path of its own body
    dof_places: np.ndarray  # its place in vectors
    dof_diagonals: np.ndarray  # its place on the diagonal of A
    mass_places: np.ndarray  # for each degree of freedom, and each on its path, their place in A
    fillers: np.ndarray  # places on the diagonal of A of what fills up groups


GROUP_TYPES = (
    *(INDEX, PLACE, COLUMN, INDEX, TARGET, INDEX, JOINT, PAIR),
    *(PATH, STEP, INDEX, INDEX, INDEX, INDEX, INDEX),
)
NO_GROUPS = Groups(*(np.zeros(0, kind) for kind in GROUP_TYPES))
_EXTENTS = (
    *("tree_bodies", "loop_numbers", "loop_rows"),
    *("grouped_table", "grouped_numbers", "grouped_rows"),
)
NO_EXTENTS = dict.fromkeys(_EXTENTS, 0)


class Tree:
    """The degrees of freedom of a system by bodies, and the groups that they are in.

    Without a front all are eliminated alike, in the order in which they stand.
    """

    def __init__(self, system: MaximalSystem, geometry: Geometry, has_front: bool = True):
        self.system = system
        moved = self._moved(geometry) if has_front else set()
        others = [k for k in range(system.nv) if k not in moved]
        chunks = [*_chunks(others), *_chunks(sorted(moved))]
        self.count, n_inside = len(chunks), len(_chunks(others))
        self.front = range(n_inside, self.count)
        # The group of each degree of freedom, and its number there.
        self.seats = {k: (g, m) for g, chunk in enumerate(chunks) for m, k in enumerate(chunk)}

    def _moved(self, geometry: Geometry) -> set[int]:
        """Degrees of freedom that cone rows can touch."""
        system = self.system
        found = {k for body in geometry.bodies() for k in self.path(body)} | set(system.bounded)
        for limit in system.limits:
            joint = system.joints[limit.joint]
            found |= set(range(joint.v, joint.v + joint.nv))
        return found

    def carriers(self, body: int) -> list[int]:
        """A body, the one that carries it, and so on; the world is 0 and not among them."""
        found = []
        while body > 0:
            found.append(body)
            body = self.system.joints[body - 1].base
        return found

    def path(self, body: int) -> list[int]:
        """Degrees of freedom that move a body, from its own last one on."""
        joints = [self.system.joints[b - 1] for b in self.carriers(body)]
        return [k for j in joints for k in range(j.v + j.nv - 1, j.v - 1, -1)]

    def touched(self, bodies: tuple[int, ...]) -> tuple[int, ...]:
        """Groups that move bodies: two bodies against each other, or any others."""
        paths = [set(self.path(body)) for body in bodies if body > 0]
        shared = set.intersection(*paths) if len(paths) == 2 else set()
        return tuple(sorted({self.seats[k][0] for path in paths for k in path - shared}))

    def loops(self) -> list[Rows]:
        """Loops and couplings."""
        return joint_elements(self.system)[self.system.n_bodies :]

    def coupled(self) -> Iterator[tuple[int, ...]]:
        """Groups that A couples: by masses, by loops."""
        for body in range(1, self.system.n_bodies + 1):
            path = self.path(body)
            yield from {(self.seats[k][0], self.seats[i][0]) for k in path for i in path}
        for _, bodies in self.loops():
            yield self.touched(bodies)

    def is_small(self) -> bool:
        """Whether loops touch as few groups as elements can, and the front has as few."""
        loops = [len(self.touched(bodies)) for _, bodies in self.loops()]
        return len(self.front) <= MOST_CONE_BODIES and max(loops, default=0) <= MOST_BODIES


def _chunks(dofs: list[int]) -> list[list[int]]:
    return [dofs[first : first + SIDE] for first in range(0, len(dofs), SIDE)]


def group(tree: Tree, slots: int) -> tuple[Groups, dict[str, int]]:
    """The arrays of groups, and extents of memory."""
    system, loops = tree.system, tree.loops()
    order = find_order(tree.count, tree.coupled(), tree.front)
    records, pairs = joint_records(
        order, [tree.touched(bodies) for _, bodies in loops], [height for height, _ in loops]
    )
    sizes = extents(order, records, slots)
    sizes |= {
        "tree_bodies": system.n_bodies,
        "loop_numbers": sizes["joint_numbers"],
        "loop_rows": sum(height for height, _ in loops),
        "grouped_table": CONE.size * slots,
        "grouped_numbers": _CONE_NUMBERS * slots,
        "grouped_rows": 3 * slots,
    }
    roots = np.array([tree.carriers(b)[-1] for b in range(1, system.n_bodies + 1)], INDEX)
    return Groups(roots, *order, records, pairs, *_tree_arrays(tree, order)), sizes


def _tree_arrays(tree: Tree, order: Order) -> list[np.ndarray]:
    """The arrays of paths and of degrees of freedom."""
    system = tree.system
    motions, places = {}, {}
    for j, joint in enumerate(system.joints[: system.n_bodies]):
        for m in range(joint.nv):
            motions[joint.v + m] = SIDE * (SIDE * j + joint.rows + m)
    for k, (g, m) in tree.seats.items():
        places[k] = SIDE * int(order.places["position"][g]) + m
    paths, steps, dof_steps = [], [], {}
    for body in range(1, system.n_bodies + 1):
        path, joint = tree.path(body), system.joints[body - 1]
        for m in range(joint.nv):
            dof_steps[joint.v + m] = len(steps) + joint.nv - 1 - m
        paths.append((len(steps), len(steps) + len(path)))
        steps += [(motions[k], places[k]) for k in path]
    owner = {joint.v + m: j for j, joint in enumerate(system.joints) for m in range(joint.nv)}
    dofs = range(system.nv)
    masses = [
        _place_in(order, places[k], place)
        for k in dofs
        for _, place in steps[dof_steps[k] : paths[owner[k]][1]]
    ]
    fillers = sorted(set(range(SIDE * tree.count)) - set(places.values()))
    return [
        np.array(paths, PATH),
        np.array(steps, STEP),
        np.array([dof_steps[k] for k in dofs], INDEX),
        np.array([places[k] for k in dofs], INDEX),
        np.array([_place_in(order, places[k], places[k]) for k in dofs], INDEX),
        np.array(masses, INDEX),
        np.array([_place_in(order, place, place) for place in fillers], INDEX),
    ]


def _place_in(order: Order, a: int, b: int) -> int:
    """Where A has the number of two places in vectors, in its upper triangle."""
    a, b = min(a, b), max(a, b)
    at, pitch = order.find_block(int(order.bodies[a // SIDE]), int(order.bodies[b // SIDE]))
    return at + pitch * (a % SIDE) + b % SIDE

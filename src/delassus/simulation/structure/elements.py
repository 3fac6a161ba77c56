"""Elements of rows of a system's bodies, as the operator over bodies reads them."""

from __future__ import annotations

import numpy as np

from ...contact.operators.elements import joint_records
from ...contact.operators.order import Order, index_record
from ...maximal.structure.packed import SIDE
from ...maximal.system import MaximalSystem
from ..collision.geometry import Geometry

Rows = tuple[int, tuple[int, ...]]  # how many rows, and the bodies that they touch; 0 is the world


# Bodies that joints hold together: the number of the first of them, and whether joints hold them in
# the world.
ISLAND = index_record("first", "is_anchored")


def islands(system: MaximalSystem) -> np.ndarray:
    """The ISLAND of each body."""
    first = list(range(system.n_bodies + 1))

    def root(body: int) -> int:
        while first[body] != body:
            body = first[body]
        return body

    held = [tuple(bodies) for rows, bodies in joint_elements(system) if rows > 0]
    for bodies in held:
        own = sorted({root(b) for b in bodies if b > 0})
        for b in own[1:]:
            first[b] = own[0]
    anchored = {root(b) for bodies in held if 0 in bodies for b in bodies if b > 0}
    roots = [root(b) for b in range(1, system.n_bodies + 1)]
    return np.array([(r - 1, int(r in anchored)) for r in roots], ISLAND)


def joint_elements(system: MaximalSystem) -> list[Rows]:
    """Joints of the tree, loops and couplings."""
    joints = [(j.rows, (j.base, j.follower)) for j in system.joints]
    return joints + [(c.rows, tuple(c.bodies(system.joints))) for c in system.couplings]


def cone_bodies(system: MaximalSystem, geometry: Geometry) -> set[int]:
    """Bodies that cone rows can touch, the first of the model being 0."""
    found = {body - 1 for body in geometry.bodies()}
    limited = {limit.joint for limit in system.limits}
    rubbing = [j for j in system.joints for k in range(j.v, j.v + j.nv) if k in set(system.bounded)]
    for joint in [system.joints[j] for j in limited] + rubbing:
        found |= {joint.base - 1, joint.follower - 1}
    return {body for body in found if body >= 0}


def elements(order: Order, given: list[Rows], first_pair: int = 0) -> tuple:
    """JOINT and PAIR records of elements whose blocks stand as `maximal.structure` has them.

    The world, body 0, has a block too, which is passed over; elements that touch nothing else have
    no height.
    """
    bodies = [tuple(b - 1 for b in touched if b > 0) for _, touched in given]
    heights = [height if own else 0 for (height, _), own in zip(given, bodies, strict=True)]
    records, pairs = joint_records(order, bodies, heights)
    at = row = 0
    for record, (height, touched) in zip(records, given, strict=True):
        skipped = next((k for k, b in enumerate(touched) if b > 0), 0)
        record["jacobian"], record["row"] = at + SIDE * height * skipped, row
        at, row = at + SIDE * height * len(touched), row + height
        record["pair"] += first_pair
        record["pair_end"] += first_pair
    return records, pairs

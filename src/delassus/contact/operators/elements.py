"""Elements of rows: up to six rows that touch up to eight bodies, and their products with vectors.

An element is a record with these fields, whatever keeps it:

| field | what |
| --- | --- |
| row, height | its first row, and how many it has |
| count | how many bodies it touches; the world is none |
| jacobian | where its Jacobian starts: `height` rows of 6 numbers for each body |
| places | where the velocities of these bodies start in a vector |

Joints never change: their records (JOINT) are arrays of integers. Cones come and go: their records
(CONE) are numbers in memory, as many of them as `Cones.count` tells. Vectors have the bodies of the
whole system by position in the order of elimination; those of the front start with its first body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...compile import function, part, slots
from ...spatial.vectors import get6, put6
from .blocks import Block, add_product, add_scaled6, dot6, front_block, scale6
from .order import INDEX, Order, index_record

# Of one element: a coupling of several joints touches the bodies of all of them.
MOST_BODIES, MOST_ROWS = 8, 6
MOST_CONE_BODIES = 8
PANEL = MOST_BODIES * MOST_ROWS * 6  # numbers of the largest Jacobian of an element

JOINT = np.dtype(
    [
        *((name, INDEX) for name in ("row", "height", "count", "jacobian")),
        ("pair", INDEX),  # the first of its PAIRs, and one past the last
        ("pair_end", INDEX),
        ("places", INDEX, (MOST_BODIES,)),
    ],
    align=True,
)
# Two bodies of a joint by their number in it, the earlier one first, and their block of A.
PAIR = index_record("first", "second", "at", "pitch")
# An element in memory of floating-point numbers.
CONE = slots(row=1, height=1, count=1, jacobian=1, places=MOST_CONE_BODIES)


class Element(NamedTuple):
    """An element that was read from memory of floating-point numbers."""

    row: int
    height: int
    count: int
    jacobian: int
    places: Any


class Cones(NamedTuple):
    """Cone rows: the number of elements, a CONE of each, and their Jacobians."""

    count: int
    elements: Any
    C: Any


@function
def cone_at(cones, k):
    """Element k of the cone rows."""
    at, n = k * CONE.size, cones.elements
    return Element(
        int(n[at + CONE.row]),
        int(n[at + CONE.height]),
        int(n[at + CONE.count]),
        int(n[at + CONE.jacobian]),
        part(n, at + CONE.places),
    )


@function
def place_of(element, e):
    """Where the velocities of the body e of an element start in a vector."""
    return int(element.places[e])


def joint_records(
    order: Order, bodies: Sequence[Sequence[int]], heights: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """The JOINT and PAIR records of elements: bodies (without the world) and rows of each."""
    joints, pairs, row, jacobian = [], [], 0, 0
    for touched, height in zip(bodies, heights, strict=True):
        position = [int(order.places["position"][body]) for body in touched]
        first = len(pairs)
        pairs += [
            (e, f, *order.find_block(touched[e], touched[f]))
            for e in range(len(touched))
            for f in range(len(touched))
            if position[e] <= position[f]
        ]
        places = [6 * p for p in position] + [0] * (MOST_BODIES - len(touched))
        joints.append((row, height, len(touched), jacobian, first, len(pairs), places))
        row, jacobian = row + height, jacobian + 6 * height * len(touched)
    return np.array(joints, JOINT), np.array(pairs, PAIR)


# --- products with vectors ------------------------------------------------------------------------


@function
def jacobian_block(element, J, e):
    """The Jacobian of an element for the body e of it."""
    return Block(J, element.jacobian + 6 * element.height * e, 6)


@function
def add_forces(element, J, x, f):
    """f + J^T x, for the rows of one element"""
    for e in range(element.count):
        at, start = place_of(element, e), element.jacobian + 6 * element.height * e
        force = get6(f, at)
        for r in range(element.height):
            force = add_scaled6(force, x[element.row + r], get6(J, start + 6 * r))
        put6(f, at, force)


@function
def row_velocity(element, J, r, u):
    """Row r of J u, for the rows of one element"""
    v = 0.0
    for e in range(element.count):
        start = element.jacobian + 6 * (element.height * e + r)
        v = v + dot6(get6(J, start), get6(u, place_of(element, e)))
    return v


# --- products J^T W J -----------------------------------------------------------------------------


@function
def weigh_rows(element, J, weights, panel):
    """W J of one element in `panel`, with a weight for each row"""
    for r in range(element.height):
        weight = weights[element.row + r]
        for e in range(element.count):
            at = 6 * (element.height * e + r)
            put6(panel, at, scale6(weight, get6(J, element.jacobian + at)))


@function
def weigh_by_block(element, J, W, at, panel):
    """W J of one element in `panel`; W is a square block by rows, from `at` on"""
    h = element.height
    for e in range(element.count):
        start = element.jacobian + 6 * h * e
        for r in range(h):
            row = scale6(W[at + h * r], get6(J, start))
            for m in range(1, h):
                row = add_scaled6(row, W[at + h * r + m], get6(J, start + 6 * m))
            put6(panel, 6 * (h * e + r), row)


@function
def add_joint(model, joint, J, panel, A):
    """A + J^T W J for the rows of one joint, with W J in `panel`"""
    for p in range(joint.pair, joint.pair_end):
        pair = model.pairs[p]
        X = jacobian_block(joint, J, pair.first)
        Y = Block(panel, 6 * joint.height * pair.second, 6)
        add_product(Block(A, pair.at, pair.pitch), 1.0, X, Y, joint.height)


@function
def add_cone(element, J, panel, is_symmetric, A, pitch):
    """A + J^T W J for the rows of one cone, with W J in `panel`; A is the front's matrix.

    Where it is symmetric, blocks below the diagonal are left out.
    """
    for e in range(element.count):
        i, X = place_of(element, e) // 6, jacobian_block(element, J, e)
        for f in range(element.count):
            j = place_of(element, f) // 6
            if i <= j or not is_symmetric:
                Y = Block(panel, 6 * element.height * f, 6)
                add_product(front_block(A, pitch, i, j), 1.0, X, Y, element.height)

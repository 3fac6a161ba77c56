"""Pairs of shapes that can touch, found once; and the function that finds points of each pair.

Not among them: shapes of one body, of bodies that a joint joins (of the tree or of a loop, also by
way of bodies that are welded to one of the two), and of the world alone. A free joint and a
distance join nothing. A plane of the world stays in, whatever joins a body to the world.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ...checks import shown
from ...errors import DataTypeError, UnknownNameError
from ...maximal.rows.softening import SOFTENING
from ...model.model import Model
from ...model.packed import INDEX
from ...model.parts.constraints import Closure, Connect, Constraint, Weld
from ...model.parts.joints import Fixed, Free
from ...model.parts.names import closest
from ..narrow.records import BOX, CAPSULE, CYLINDER, PLANE
from .shapes import CollisionShape

# Families of pairs, each with one function: see `narrow`.
WITH_PLANE, CAPSULES, CAPSULE_AND_SOLID, SOLIDS = range(4)
_SOLID = (BOX, CYLINDER)

Names = Iterable[tuple[str, str]]


class Pairs(NamedTuple):
    """Pairs of numbers of shapes, and those that no function handles."""

    pairs: list[tuple[int, int]]
    not_handled: list[tuple[int, int]]


def pair_type(real: np.dtype) -> np.dtype:
    """The record of a pair: its shapes, its family, and the material of its contacts."""
    numbers = [("friction", real), ("restitution", real), ("softening", real, (SOFTENING.size,))]
    return np.dtype([("first", INDEX), ("second", INDEX), ("family", INDEX), *numbers], align=True)


def family(first: int, second: int) -> int | None:
    """The family of a pair of kinds, the lower one first; None if no function handles it."""
    if first == PLANE:
        return None if second == PLANE else WITH_PLANE
    if second <= CAPSULE:
        return CAPSULES
    if second in _SOLID:
        return SOLIDS if first in _SOLID else CAPSULE_AND_SOLID
    return None


def packed_pairs(
    shapes: list[CollisionShape], pairs: list[tuple[int, int]], real: np.dtype
) -> np.ndarray:
    """Pairs as kernels read them."""
    records = np.zeros(len(pairs), pair_type(real))
    for record, (i, j) in zip(records, pairs, strict=True):
        a, b = shapes[i], shapes[j]
        material = a.material.with_other(b.material)
        record["first"], record["second"], record["family"] = i, j, family(a.kind, b.kind)
        record["friction"], record["restitution"] = material.friction, material.restitution
        if material.softening is not None:
            record["softening"] = material.softening.packed()
    return records


def find_pairs(
    model: Model,
    shapes: list[CollisionShape],
    constraints: Iterable[Constraint] | None = None,
    *,
    excluded: Names = (),
    only: Names | None = None,
) -> Pairs:
    """Pairs that can touch; in each the shape of the lower kind comes first.

    `excluded` and `only` are pairs of names of shapes, frames or bodies, or "world". Pairs that
    `only` names are taken even if a joint joins their bodies.
    """
    without = _named("excluded", shapes, excluded)
    chosen = None if only is None else _named("only", shapes, only)
    groups, joined = _joined(model, model.constraints if constraints is None else constraints)
    found = Pairs([], [])
    for i, a in enumerate(shapes):
        for j in range(i + 1, len(shapes)):
            b, key = shapes[j], (i, j)
            is_one_body = a.body == b.body
            if is_one_body or key in without or (chosen is not None and key not in chosen):
                continue
            one, other = groups[a.body], groups[b.body]
            is_floor = PLANE in (a.kind, b.kind) and 0 in (a.body, b.body)
            is_joined = one == other or (min(one, other), max(one, other)) in joined
            if chosen is None and is_joined and not is_floor:
                continue
            if a.kind > b.kind:
                key = (j, i)
            is_handled = family(*sorted((a.kind, b.kind))) is not None
            (found.pairs if is_handled else found.not_handled).append(key)
    return found


def _joined(model: Model, constraints: Iterable[Constraint]) -> tuple[list[int], set]:
    """The group of each body, of those that are welded together; and pairs of groups with a joint.

    A group has the number of its first body.
    """
    joints = [
        (body.parent + 1, i + 1, body.joint.type)
        for i, body in enumerate(model.bodies)
        if not isinstance(body.joint.type, Free)
    ]
    for c in constraints:
        if isinstance(c, (Connect, Weld, Closure)):
            a, b = (model.frame(name).body + 1 for name in c.frames)
            joints.append((a, b, Fixed() if isinstance(c, Weld) else None))
    groups = list(range(model.n_bodies + 1))
    for a, b, kind in joints:
        if isinstance(kind, Fixed):
            first, other = sorted((groups[a], groups[b]))
            groups = [first if g == other else g for g in groups]
    between = {tuple(sorted((groups[a], groups[b]))) for a, b, _ in joints}
    return groups, between


def _named(what: str, shapes: list[CollisionShape], given: Names) -> set[tuple[int, int]]:
    """Pairs of shapes that pairs of names mean."""
    try:
        named = [tuple(pair) for pair in given]
    except TypeError:
        named = [()]
    if any(len(p) != 2 or not all(isinstance(x, str) for x in p) for p in named):
        raise DataTypeError(f"{what} must be pairs of names, got {shown(given)}")
    known, found = set().union(*(shape.names for shape in shapes)), set()
    for pair in named:
        for name in pair:
            if name not in known:
                raise UnknownNameError(
                    f"{what}: there is no collision shape named {name!r}, nor one on a frame or "
                    f"body of this name{closest(name, known)}"
                )
        sides = [[k for k, shape in enumerate(shapes) if name in shape.names] for name in pair]
        found |= {(min(i, j), max(i, j)) for i in sides[0] for j in sides[1]}
    return found

"""Pairs of shapes that can touch, found once; and the function that finds points of each pair.

As in MuJoCo, `model.contact_pairs` are among them in any case. Others are unless

- their masks have no bit in common: see `Surface`;
- they are of one body, or of bodies that are welded together, be it by way of the world;
- a joint joins their bodies (or what is welded to these), and neither is the world;
- their frames are in one of `model.contact_exclusions`.

Departs from MuJoCo: a loop joins bodies as a joint of the tree does. A free joint and a distance
join nothing. Bodies that have neither mass nor shapes are parts of joints of several axes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...checks import shown
from ...errors import DataTypeError, UnknownNameError
from ...maximal.rows.softening import SOFTENING
from ...model.model import Model
from ...model.packed import INDEX
from ...model.parts.constraints import Closure, Connect, Constraint, Weld
from ...model.parts.contacts import ContactPair
from ...model.parts.joints import Fixed, Free
from ...model.parts.names import closest
from ..narrow.records import BOX, CAPSULE, CYLINDER, HULL, PLANE
from .materials import Material, SoftContacts
from .shapes import CollisionShape

# Families of pairs, each with one function: see `narrow`.
WITH_PLANE, CAPSULES, CAPSULE_AND_SOLID, SOLIDS, HULL_ON_PLANE = range(5)
_SOLID = (BOX, CYLINDER)

Names = Iterable[tuple[str, str]]


class Pair(NamedTuple):
    """Two shapes by their numbers, the lower kind first, and the contact that they make."""

    first: int
    second: int
    material: Material
    margin: float  # distance from which on the contact has rows; soft ones have no other margin


class Pairs(NamedTuple):
    """Pairs that can touch, and numbers of shapes of those that no function handles."""

    pairs: list[Pair]
    not_handled: list[Pair]


def pair_type(real: np.dtype) -> np.dtype:
    """The record of a pair: its shapes, its family, margin, and the material of its contacts."""
    numbers = [("margin", real), ("friction", real), ("restitution", real)]
    numbers.append(("softening", real, (SOFTENING.size,)))
    return np.dtype([("first", INDEX), ("second", INDEX), ("family", INDEX), *numbers], align=True)


def family(first: int, second: int) -> int | None:
    """The family of a pair of kinds, the lower one first; None if no function handles it."""
    if first == PLANE:
        return {PLANE: None, HULL: HULL_ON_PLANE}.get(second, WITH_PLANE)
    if second <= CAPSULE:
        return CAPSULES
    if second in _SOLID:
        return SOLIDS if first in _SOLID else CAPSULE_AND_SOLID
    return None


def packed_pairs(shapes: list[CollisionShape], pairs: Iterable[Pair], real: np.dtype) -> np.ndarray:
    """Pairs as kernels read them."""
    pairs = list(pairs)
    records = np.zeros(len(pairs), pair_type(real))
    for record, pair in zip(records, pairs, strict=True):
        kinds = shapes[pair.first].kind, shapes[pair.second].kind
        record["first"], record["second"], record["family"] = *pair[:2], family(*kinds)
        record["margin"], material = pair.margin, pair.material
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
    soft: SoftContacts | None = None,
) -> Pairs:
    """Pairs that can touch; in each the shape of the lower kind comes first.

    `excluded` and `only` are pairs of names of shapes, frames or bodies, or "world". Pairs that
    `only` names are taken whatever masks and joints say. Softness counts if there is a `soft`.
    """
    without = _named("excluded", shapes, excluded)
    chosen = None if only is None else _named("only", shapes, only)
    declared = {frozenset(pair.shapes): pair for pair in model.contact_pairs}
    apart = {frozenset(exclusion.frames) for exclusion in model.contact_exclusions}
    joints = _Joints(model, shapes, model.constraints if constraints is None else constraints)
    found = Pairs([], [])
    for i, a in enumerate(shapes):
        for j in range(i + 1, len(shapes)):
            b, key = shapes[j], (i, j)
            if a.body == b.body or key in without or (chosen is not None and key not in chosen):
                continue
            own = declared.get(frozenset((a.name, b.name)))
            is_free = (
                _share_bits(a, b)
                and frozenset((a.frame, b.frame)) not in apart
                and not joints.join(a.body, b.body)
            )
            if chosen is not None or own is not None or is_free:
                order = (i, j) if a.kind <= b.kind else (j, i)
                pair = Pair(*order, *_contact(a, b, own, soft))
                is_handled = family(*sorted((a.kind, b.kind))) is not None
                if is_handled:
                    found.pairs.append(pair)
                elif PLANE not in (a.kind, b.kind):  # two planes do not touch
                    found.not_handled.append(pair)
    return found


def _share_bits(a: CollisionShape, b: CollisionShape) -> bool:
    one, other = a.surface, b.surface
    return bool(one.contype & other.conaffinity or other.contype & one.conaffinity)


def _contact(
    a: CollisionShape, b: CollisionShape, own: ContactPair | None, soft: SoftContacts | None
) -> tuple[Material, float]:
    """Material and margin of the contact of two shapes; what a declared pair says goes before.

    By MuJoCo's rules: of the shape of the higher priority, else the larger numbers; and without
    friction where condim is 1. The ground that a simulator adds says nothing of its own.
    """
    both = (a, b)
    material = _decided(both)
    speaking = [shape for shape in both if not shape.is_silent]
    if len(speaking) == 1:
        said = speaking[0].material
        material = replace(material, friction=said.friction, restitution=said.restitution)
    if speaking and all(shape.surface.condim == 1 for shape in _deciding(speaking)):
        material = replace(material, friction=0.0)
    margin = a.surface.margin + b.surface.margin
    if own is not None:
        material = material.with_own(own, soft is not None)
        margin = margin if own.margin is None else own.margin
    return (material, margin) if soft is None else soft.applied(material, margin)


def _deciding(shapes: Sequence[CollisionShape]) -> list[CollisionShape]:
    """Those of the highest priority."""
    highest = max(shape.surface.priority for shape in shapes)
    return [shape for shape in shapes if shape.surface.priority == highest]


def _decided(shapes: Sequence[CollisionShape]) -> Material:
    """The material of a contact of two shapes, by those of the highest priority."""
    first, *others = _deciding(shapes)
    return first.material.with_other(others[0].material) if others else first.material


class _Joints:
    """Which bodies joints join; bodies that are welded together are one group.

    A group has the number of its first body.
    """

    def __init__(
        self, model: Model, shapes: list[CollisionShape], constraints: Iterable[Constraint]
    ):
        carried = {shape.body for shape in shapes}
        joints = []
        for i, body in enumerate(model.bodies):
            if not isinstance(body.joint.type, Free):
                parent = _carrier(model, body.parent, carried)
                joints.append((parent + 1, i + 1, body.joint.type))
        for c in constraints:
            if isinstance(c, (Connect, Weld, Closure)):
                a, b = (model.frame(name).body + 1 for name in c.frames)
                joints.append((a, b, Fixed() if isinstance(c, Weld) else None))
        groups = list(range(model.n_bodies + 1))
        for a, b, kind in joints:
            if isinstance(kind, Fixed):
                first, other = sorted((groups[a], groups[b]))
                groups = [first if g == other else g for g in groups]
        self.groups = groups
        self.joined = {frozenset((groups[a], groups[b])) for a, b, _ in joints}

    def join(self, body: int, other: int) -> bool:
        """Whether two bodies are of one group, or of two that a joint joins, not with the world."""
        one, two = self.groups[body], self.groups[other]
        return one == two or (one > 0 and two > 0 and frozenset((one, two)) in self.joined)


def _carrier(model: Model, parent: int, carried: set[int]) -> int:
    """The parent body, or the first one before it that has mass or shapes."""
    while parent >= 0 and parent + 1 not in carried and model.bodies[parent].inertia.mass == 0.0:
        parent = model.bodies[parent].parent
    return parent


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

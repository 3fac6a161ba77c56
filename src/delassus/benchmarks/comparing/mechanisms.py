"""Mechanisms of any size, made of equal rods on revolute joints: chains, trees, linkages."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ... import Connect, Constraints, Model, ModelBuilder, Revolute

LENGTH, _MASS, _RADIUS = 0.1, 0.1, 0.02  # of a rod, in metres and kilograms
_INERTIA = np.diag(
    [
        _MASS * _RADIUS**2 / 2.0,
        *2 * [_MASS * (LENGTH**2 / 12.0 + _RADIUS**2 / 4.0)],
    ]
)
_Y, _Z = (0, 1, 0), (0, 0, 1)
_BRANCH = 3  # rods from one branching of a tree to the next
REACH = 0.3  # largest random angle, in radians: small, so that a long chain does not curl up


def chain(rods: int) -> Model:
    """A chain with joint axes along z and y in turn."""
    builder = ModelBuilder(f"chain{rods}")
    for i in range(rods):
        parent, at = (f"link{i - 1}", LENGTH) if i else ("world", 0.0)
        _add_rod(builder, f"link{i}", parent, [at, 0.0, 0.0], [_Z, _Y][i % 2])
    return builder.build()


def hanging_chain(rods: int) -> Constraints:
    """A chain whose last rod's origin is connected to the world."""
    return Constraints(chain(rods), [Connect(f"link{rods - 1}")])


def binary_tree(levels: int) -> Constraints:
    """Branches of three rods that divide in two; the ends of the last ones are connected."""
    builder = ModelBuilder(f"tree{levels}")
    tips = ["world"]
    for level in range(levels):
        branches = [(tip, side) for tip in tips for side in range(2 if level else 1)]
        tips = [_add_branch(builder, tip, side) for tip, side in branches]
    return Constraints(builder.build(), [Connect(tip) for tip in tips])


def _add_branch(builder: ModelBuilder, parent: str, side: int) -> str:
    """Add three rods to a body, the first one to a side; return the name of the last."""
    stem = f"{parent}{'ab'[side]}" if parent != "world" else "t"
    for k in range(_BRANCH):
        name = stem if k == _BRANCH - 1 else f"{stem}_{k}"
        across = 0.05 * (2 * side - 1) if k == 0 else 0.0
        _add_rod(builder, name, parent, [LENGTH, across, 0.0], [_Z, _Y][k % 2])
        parent = name
    return stem


def four_bars(count: int) -> Constraints:
    """Four-bar linkages, each on the coupler of the one before; every loop is closed by a point."""
    builder = ModelBuilder(f"four-bars{count}")
    base, closures = "world", []
    for k in range(count):
        crank, coupler, rocker = (f"{part}{k}" for part in ("crank", "coupler", "rocker"))
        _add_rod(builder, crank, base, [0.0, 0.0, 0.0], _Y)
        _add_rod(builder, coupler, crank, [LENGTH, 0.0, 0.0], _Y)
        _add_rod(builder, rocker, base, [0.0, 0.0, LENGTH], _Y)
        for body in (coupler, rocker):
            builder.add_frame(f"{body}_tip", body, [LENGTH, 0.0, 0.0])
        closures.append(Connect(f"{coupler}_tip", f"{rocker}_tip"))
        base = coupler
    return Constraints(builder.build(), closures)


def _add_rod(
    builder: ModelBuilder, name: str, parent: str, at: Sequence[float], axis: Sequence[int]
) -> None:
    """Add a cylinder along x that turns about an axis through its end."""
    com = [LENGTH / 2.0, 0.0, 0.0]
    builder.add_body(name, parent, Revolute(axis), at, mass=_MASS, com=com, inertia=_INERTIA)

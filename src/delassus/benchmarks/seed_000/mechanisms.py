"""Mechanisms of any size: chains, binary trees, and loops in a row."""

from __future__ import annotations

import numpy as np

from ...constrained.rows.constraints import Constraints
from ...model.builder import ModelBuilder
from ...model.parts.constraints import Connect
from ...model.parts.joints import Revolute
from ..tree.growth import chain

_LENGTH, _MASS, _RADIUS = 0.1, 0.1, 0.02  # of a link, in metres and kilograms
_BRANCH = 3  # links from one branching to the next


def hanging_chain(links: int) -> Constraints:
    """A chain whose last link's origin is connected to the world."""
    model = chain(links)
    return Constraints(model, [Connect(f"link{links - 1}")])


def binary_tree(levels: int) -> Constraints:
    """Branches of three links that divide in two; the last link of each is connected."""
    builder = ModelBuilder(f"tree{levels}")
    tips, leaves = ["world"], []
    for level in range(levels):
        branches = [(tip, side) for tip in tips for side in range(2 if level else 1)]
        tips = [_branch(builder, tip, side) for tip, side in branches]
        leaves = tips
    return Constraints(builder.build(), [Connect(leaf) for leaf in leaves])


def _branch(builder: ModelBuilder, parent: str, side: int) -> str:
    """Three links on a body, the first to one side; the name of the last."""
    stem = f"{parent}{'ab'[side]}" if parent != "world" else "t"
    for k in range(_BRANCH):
        name = stem if k == _BRANCH - 1 else f"{stem}_{k}"
        across = 0.05 * (2 * side - 1) if k == 0 else 0.0
        _rod(builder, name, parent, [_LENGTH, across, 0.0], [[0, 0, 1], [0, 1, 0]][k % 2])
        parent = name
    return stem


def four_bars(count: int) -> Constraints:
    """Four-bar linkages, each on the coupler of the one before; every loop is closed by a point."""
    builder = ModelBuilder(f"four-bars{count}")
    base, closures = "world", []
    for k in range(count):
        crank, coupler, rocker = (f"{part}{k}" for part in ("crank", "coupler", "rocker"))
        _rod(builder, crank, base, [0.0, 0.0, 0.0], [0, 1, 0])
        _rod(builder, coupler, crank, [_LENGTH, 0.0, 0.0], [0, 1, 0])
        _rod(builder, rocker, base, [0.0, 0.0, _LENGTH], [0, 1, 0])
        for body in (coupler, rocker):
            builder.add_frame(f"{body}_tip", body, [_LENGTH, 0.0, 0.0])
        closures.append(Connect(f"{coupler}_tip", f"{rocker}_tip"))
        base = coupler
    return Constraints(builder.build(), closures)


def _rod(builder: ModelBuilder, name: str, parent: str, at: list[float], axis: list[int]) -> None:
    across = _MASS * (_LENGTH**2 / 12.0 + _RADIUS**2 / 4.0)
    along = _MASS * _RADIUS**2 / 2.0
    builder.add_body(
        name, parent, Revolute(axis), at,
        mass=_MASS, com=[_LENGTH / 2.0, 0.0, 0.0], inertia=np.diag([along, across, across]),
    )  # fmt: skip

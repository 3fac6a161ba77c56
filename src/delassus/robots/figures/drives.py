"""Cranks and rods that move a body, each of which closes a loop.

| function     | loop                                       | freedoms, rank   |
| ------------ | ------------------------------------------ | ---------------- |
| `four_bar`   | four parallel hinges                       | 4, of rank 3     |
| `rod_drive`  | hinge, universal, universal or point, body | 7, of rank 6     |
| `bearing`    | a hinge again, on the same axis            | 2, of rank 1     |

The body is drawn before, without a servo of its own; the crank has it.
"""

from __future__ import annotations

import numpy as np

from ...model.parts.joints import Revolute, Spherical, Universal
from .draft import Draft, Point, Y

_CRANK, _ROD = 0.08, 0.06  # kg
_CRANK_RADIUS, _ROD_RADIUS = 0.008, 0.005  # m


def four_bar(
    draft: Draft,
    name: str,
    parent: str,
    driven: str,
    points: tuple[Point, Point, Point],
    masses: tuple[float, float] = (_CRANK, _ROD),
) -> None:
    """A crank about y on the parent, and a rod from its tip to a point of the driven body.

    `points` are the crank's pivot, its tip, and the rod's end on the driven body.
    """
    _, tip, lever = (np.array(p, float) for p in points)
    _crank(draft, name, parent, driven, points, Y, masses[0])
    rod = {"has_servo": False, "color": "drive"}
    draft.bar(f"{name}_rod", f"{name}_crank", Y, tip, lever, masses[1], _ROD_RADIUS, **rod)
    draft.close(Revolute(Y), f"{name}_rod", driven, lever)


def rod_drive(
    draft: Draft,
    name: str,
    parent: str,
    driven: str,
    points: tuple[Point, Point, Point],
    *,
    axis: Point = Y,
    end: str = "universal",
    masses: tuple[float, float] = (_CRANK, _ROD),
) -> None:
    """A crank on the parent, and a rod with a universal joint at its tip.

    The rod's other end is a universal joint too, or a point ("point"). Both axes of a universal
    joint are across the rod, so that it does not spin.
    """
    _, tip, lever = (np.array(p, float) for p in points)
    _crank(draft, name, parent, driven, points, axis, masses[0])
    along = (lever - tip) / np.linalg.norm(lever - tip)
    first = np.array(axis, float) - along * (along @ np.array(axis, float))
    joint = Universal(first, np.cross(along, first))
    rod = {"has_servo": False, "color": "drive"}
    draft.bar(f"{name}_rod", f"{name}_crank", joint, tip, lever, masses[1], _ROD_RADIUS, **rod)
    closing = joint if end == "universal" else Spherical()
    draft.close(closing, f"{name}_rod", driven, lever)


def _crank(draft, name, parent, driven, points, axis, mass) -> None:
    pivot, tip, lever = (np.array(p, float) for p in points)
    arm = np.linalg.norm(lever - draft.parts[driven].anchor)
    more = {"moves": driven, "lever": arm / np.linalg.norm(tip - pivot), "color": "drive"}
    draft.bar(f"{name}_crank", parent, axis, pivot, tip, mass, _CRANK_RADIUS, **more)


def bearing(draft: Draft, body: str, offset: float) -> None:
    """A second bearing of a body's hinge, on the same axis, so far from the first."""
    part = draft.parts[body]
    axis = np.array(part.joint.axis)
    draft.close(Revolute(axis), body, part.parent, part.anchor + offset * axis)

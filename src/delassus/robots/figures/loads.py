"""Gains of servos, from what they carry.

A servo's joint feels the inertia I of the bodies that it moves, about its axis, and their weight
m g at a lever r. With a natural frequency w and a damping ratio of one:

    kp = I w^2 + 10 m g r,    kv = 2 sqrt(kp I)

so a weight moves it by less than a tenth of a radian. Joints of legs that stand carry the figure
instead: the larger of both sides counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...model.parts.joints import Revolute

if TYPE_CHECKING:
    from .draft import Part

FREQUENCY = 40.0  # rad/s
GRAVITY = 9.81
_LEAST = 1e-6  # kg m^2


def servo_gains(
    parts: Mapping[str, Part], feet: Collection[str] = ()
) -> Iterator[tuple[str, float, float]]:
    """Name, stiffness and damping of each servo; `feet` are the bodies that stand."""
    inside = _subtrees(parts)
    for part in parts.values():
        if not part.has_servo or not isinstance(part.joint, Revolute):
            continue
        moved = part.moves or part.name
        inertia, moment = _load(parts, parts[moved], inside[moved])
        if not set(feet).isdisjoint(inside[moved]):
            others = [name for name in parts if name not in inside[moved]]
            more = _load(parts, parts[moved], others)
            inertia, moment = max(inertia, more[0]), max(moment, more[1])
        inertia = max(inertia, _LEAST) / part.lever**2
        stiffness = inertia * FREQUENCY**2 + 10.0 * moment / part.lever**2
        yield part.name, float(stiffness), float(2.0 * np.sqrt(stiffness * inertia))


def _subtrees(parts: Mapping[str, Part]) -> dict[str, list[str]]:
    """The bodies that each body carries, itself included."""
    found: dict[str, list[str]] = {name: [] for name in parts}
    for name in parts:
        above = name
        while above != "world":
            found[above].append(name)
            above = parts[above].parent
    return found


def _load(parts: Mapping[str, Part], joint: Part, bodies: list[str]) -> tuple[float, float]:
    """Inertia of bodies about a joint's axis, and their weight times its distance."""
    axis = np.array(getattr(joint.joint, "axis", (0.0, 1.0, 0.0)))
    inertia, mass, first = 0.0, 0.0, np.zeros(3)
    for name in bodies:
        body = parts[name]
        r = body.center - joint.anchor
        across = np.cross(axis, r)
        inertia += body.mass * (across @ across) + axis @ body.inertia_matrix() @ axis
        mass, first = mass + body.mass, first + body.mass * r
    # The moment of the weight is largest when the lever lies flat.
    reach = np.linalg.norm(np.cross(axis, first))
    return float(inertia), float(GRAVITY * reach)

"""Linkages: a crank-rocker, a leg with a four-bar knee, an ankle with two rods.

At the neutral configuration their loops are closed and regular, and all bodies have the axes of the
world. Bars are uniform rods.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..checks import finite_number
from ..errors import ModelError
from ..model.builder import ModelBuilder
from ..model.model import Model
from ..model.parts.constraints import Closure, Connect, Distance
from ..model.parts.joints import JointType, Revolute, Universal
from ..model.parts.names import known_name
from ..spatial.inertia import Inertia
from .limbs import X, Y

RODS = ("bodies", "distances")
_ORIGIN = (0.0, 0.0, 0.0)
_DENSITY = 1.0  # kg/m of the bars of planar linkages
_THICKNESS = 0.01  # m: radius of gyration of bars about their own axis

# The ankle, in the frame of the pitch axis at the neutral configuration, in m. Cranks turn about x.
_ROLL_AXIS = np.array([0.0, 0.0, -0.01756])
# Of each rod: the crank's axis, the rod's upper end on the crank, its lower end on the foot.
_RODS = {
    "left": ((0.035, 0.0, 0.15087), (0.035, 0.01653, 0.1469), (0.022, 0.015, -0.00956)),
    "right": ((0.0395, 0.0, 0.21587), (0.0395, -0.01636, 0.21125), (0.022, -0.015, -0.00956)),
}


def crank_rocker(
    crank: float = 0.1, coupler: float = 0.35, rocker: float = 0.25, ground: float = 0.4
) -> Model:
    """A planar four-bar of these lengths whose crank turns round, and whose rocker swings.

    It stands upright and turns about y. At the neutral configuration the crank points up. The crank
    is independent.
    """
    given = {"crank": crank, "coupler": coupler, "rocker": rocker, "ground": ground}
    length = {name: finite_number(name, x, ModelError) for name, x in given.items()}
    short, *others = length.values()
    if not 0.0 < short < min(others) or short + 2.0 * max(others) >= sum(others):
        raise ModelError(
            "the crank turns round only if it is the shortest bar and, with the longest one, "
            f"shorter than the two others together; got {length}"
        )
    tip, pivot = np.array([0.0, 0.0, short]), np.array([length["ground"], 0.0, 0.0])
    joint = meeting_point(tip, length["coupler"], pivot, length["rocker"])
    b = ModelBuilder("crank_rocker")
    _add_bar(b, "crank", "world", _ORIGIN, tip, independent=True)
    _add_bar(b, "coupler", "crank", tip, joint - tip, independent=False)
    _add_bar(b, "rocker", "world", pivot, joint - pivot, independent=False)
    b.add_constraint(Closure(Revolute(Y), "coupler_end", "rocker_end"))
    return b.build()


def four_bar_leg() -> Model:
    """A planar leg: a hip, and a knee that a four-bar drives. It turns about y.

    The crank of the knee turns on the thigh, about the axis of the hip, and pulls a rod that moves
    the shank. Thigh and crank are independent. At the neutral configuration the leg is straight.
    """
    b = ModelBuilder("four_bar_leg")
    knee, crank, lever = np.array([0, 0, -0.35]), np.array([-0.04, 0, 0]), np.array([-0.05, 0, 0])
    _add_bar(b, "thigh", "world", _ORIGIN, knee, mass=2.0, independent=True)
    _add_bar(b, "crank", "thigh", _ORIGIN, crank, mass=0.1, independent=True)
    _add_bar(b, "rod", "crank", crank, knee + lever - crank, mass=0.1, independent=False)
    _add_bar(b, "shank", "thigh", knee, knee, mass=0.5, independent=False)
    b.add_frame("lever_end", "shank", lever)
    b.add_frame("foot", "shank", knee)
    b.add_constraint(Closure(Revolute(Y), "rod_end", "lever_end"))
    return b.build()


def parallel_ankle(rods: str = "bodies") -> Model:
    """A foot that turns by pitch and roll, moved by two cranks and two rods; size of a humanoid's.

    `rods` is `"bodies"`: each turns on its crank by a universal joint, so that it cannot spin, and
    is connected to the foot at a point. With `"distances"` rods have no mass: they keep points of
    cranks and foot at a distance. Pitch (`cross`) and roll (`foot`) are independent.
    """
    has_rods = known_name("rods", rods, RODS) == "bodies"
    b = ModelBuilder("parallel_ankle")
    cross = Inertia.of(0.07, (0.0, 0.0, 0.0), 2e-5 * np.eye(3))
    foot = Inertia.of(0.6, (0.026, 0.0, -0.016), np.diag([2.2e-4, 1.6e-3, 1.7e-3]))
    b.add_body("cross", "world", Revolute(Y), inertia=cross, independent=True)
    b.add_body("foot", "cross", Revolute(X), _ROLL_AXIS, inertia=foot, independent=True)
    for side, points in _RODS.items():
        axis, upper, lower = map(np.array, points)
        crank, rod, socket = f"{side}_crank", f"{side}_rod", f"{side}_socket"
        b.add_frame(socket, "foot", lower - _ROLL_AXIS)
        _add_bar(b, crank, "world", axis, upper - axis, Revolute(X), mass=0.05, independent=False)
        if has_rods:
            along = lower - upper
            joint = Universal(X, Y)
            _add_bar(b, rod, crank, upper - axis, along, joint, mass=0.03, independent=False)
            b.add_constraint(Connect(f"{rod}_end", socket))
        else:
            length = float(np.linalg.norm(lower - upper))
            b.add_constraint(Distance(f"{crank}_end", socket, length))
    return b.build()


def _add_bar(
    b: ModelBuilder,
    name: str,
    parent: str,
    at: Sequence[float],
    along: np.ndarray,
    joint: JointType | None = None,
    *,
    mass: float | None = None,
    independent: bool,
) -> None:
    """Add a uniform rod from its joint (about y if none is given) to a frame at its other end."""
    joint = Revolute(Y) if joint is None else joint
    length = np.linalg.norm(along)
    mass = _DENSITY * length if mass is None else mass
    unit = along / length
    across, about = length**2 / 12 + _THICKNESS**2 / 2, _THICKNESS**2
    matrix = mass * (across * np.eye(3) + (about - across) * np.outer(unit, unit))
    inertia = Inertia.of(mass, along / 2, matrix)
    b.add_body(name, parent, joint, at, inertia=inertia, independent=independent)
    b.add_frame(f"{name}_end", name, along)


def meeting_point(
    first: np.ndarray, first_radius: float, second: np.ndarray, second_radius: float
) -> np.ndarray:
    """Where two circles in the plane of x and z meet, on the upper side."""
    between = second - first
    distance = np.linalg.norm(between)
    u = between / distance
    up = np.array([-u[2], 0.0, u[0]])
    x = (distance**2 + first_radius**2 - second_radius**2) / (2.0 * distance)
    return first + x * u + np.sqrt(first_radius**2 - x**2) * up

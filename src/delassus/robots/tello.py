"""The Tello humanoid: differentials drive hips, and knees with ankles.

Sim and Ramos, Tello Leg: The Study of Design Principles and Metrics for Dynamic Humanoid Robots,
2022. Numbers: generalized_rbda, the library of Chignoli, Adrian, Kim and Wensing. Its arms are
those of the MIT Humanoid.

A differential has two motors and two joints, and each motor moves both joints:

| name   | what it is                                                        |
| ------ | ----------------------------------------------------------------- |
| m1, m2 | angles of the motors' shafts: those of the rotors divided by RATIO |
| l1, l2 | angles of the joints: gimbal and thigh, or shin and foot          |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..model.model import Model
from ..model.parts.constraints import Implicit
from ..spatial.inertia import Inertia
from ..spatial.transform import Transform
from .limbs import Assembly, Link, X, Y, Z, disc, mirrored, rolling
from .mit_humanoid import right_arm

RATIO = 6.0  # of all motors of the legs
_AXIAL = 51.512e-6  # moment of inertia of their rotors
# |dm/dl| at m = 0, for each joint of a differential; both of its motors turn at the same rate.
_MOTOR_RATES = {"gimbal": 0.875, "thigh": 0.988713489450, "shin": 1.0, "foot": 0.939155684487}
_TURN, _HALF_TURN = 1.5707963, 3.1415927  # a right angle and two, as published
# Orientation of a rotor whose axis points to the left (y) or to the right.
_LEFTWARD, _RIGHTWARD = (-_TURN, _HALF_TURN, 0.0), (_TURN, 0.0, 0.0)


def tello(rotors: str = "bodies", floating_base: bool = True) -> Model:
    """Tello with its arms: 37 bodies with rotors, 24 independent velocities.

    `rotors` is `"bodies"` (bodies, gears and differentials), `"diagonal"` or `"none"`. The
    rotors of differentials are independent, their links are not. With `"diagonal"` their inertia is
    reflected as at m = 0: it changes with the configuration, and armature does not.

    The neutral configuration does not satisfy the differentials: see `close_loops`.
    """
    robot = Assembly("tello", rotors)
    torso = Inertia.of(
        2.3008, (0.0073, -0.0013, -0.0023), (0.0366, 0.0, -0.0006, 0.0142, -0.0002, 0.0291)
    )
    robot.add_base("torso", torso, floating_base)
    _add_leg(robot, "left_", 0.126, roll=_HALF_TURN)
    _add_leg(robot, "right_", -0.126, roll=0.0)
    right = right_arm(lambda axis: disc(axis, mass=0.0, axial=168.4e-6, across=108.4e-6))
    robot.add_limb("torso", mirrored(right), "left_")
    robot.add_limb("torso", right, "right_")
    return robot.build()


def hip_differential(x):
    """phi(rotor 1, rotor 2, gimbal, thigh) = 0"""
    m1, m2, l1, l2 = x[0] / RATIO, x[1] / RATIO, x[2], x[3]
    return [_hip_rod(m1, l1, l2, 1.0), _hip_rod(m2, l1, l2, -1.0)]


def _hip_rod(m, l1, l2, side):
    """The equation of one rod between a motor and the thigh; the other is its mirror image."""
    return (
        57 / 2500 * np.sin(m)
        - 49 / 5000 * np.cos(l1)
        - side * 399 / 20000 * np.sin(l1)
        - 8 / 625 * np.cos(m) * np.cos(l2)
        - 57 / 2500 * np.cos(l1) * np.sin(l2)
        - side * 7 / 625 * np.sin(m) * np.sin(l1)
        + side * 7 / 625 * np.sin(l1) * np.sin(l2)
        - 8 / 625 * np.cos(l1) * np.sin(m) * np.sin(l2)
        + 3021 / 160000
    )


def knee_ankle_differential(x):
    """phi(rotor 1, rotor 2, shin, foot) = 0"""
    m1, m2, l1, l2 = x[0] / RATIO, x[1] / RATIO, x[2], x[3]
    s = m1 / 2 - m2 / 2
    rod = (
        21 / 6250 * np.cos(s + 1979 * np.pi / 4500)
        - 13 / 625 * np.cos(s + 493 * np.pi / 1500)
        - 273 / 12500 * np.cos(np.pi / 9)
        - 7 / 2500 * np.sin(s + l2 + 231 * np.pi / 500)
        + 91 / 5000 * np.sin(l2 + 2 * np.pi / 15)
        - 147 / 50000 * np.sin(l2 + np.pi / 45)
        + 163349 / 6250000
    )
    return [rod, l1 - m1 / 2 - m2 / 2]


def _add_leg(robot: Assembly, prefix: str, y: float, roll: float) -> None:
    """Add a leg at `y`; bodies of rotors stand before those of the links that they drive.

    `roll` is the roll of the clamp's rotor, which stands upright or upside down.
    """
    clamp, gimbal, thigh, shin, foot = _leg(y)
    at = Transform.from_rpy((0.0, y, -0.026), (roll, 0.0, 0.0))
    robot.add_rotor(f"{prefix}hip_clamp_rotor", "torso", Z, _rotor(), at)
    robot.add_link(f"{prefix}hip_clamp", "torso", clamp, RATIO**2 * _AXIAL)
    gear = rolling(f"{prefix}hip_clamp_rotor_joint", [f"{prefix}hip_clamp_joint"], RATIO)
    robot.add_constraint(gear)
    hip = [((0.0, 0.04, 0.0), _LEFTWARD), ((0.0, -0.04, 0.0), _RIGHTWARD)]
    _add_differential(robot, prefix, "hip_clamp", "hip", hip, (gimbal, thigh), hip_differential)
    knee = [((0.0, 0.02655, 0.0), _RIGHTWARD), ((0.0, -0.02655, 0.0), _LEFTWARD)]
    _add_differential(
        robot, prefix, "thigh", "knee_ankle", knee, (shin, foot), knee_ankle_differential
    )


def _add_differential(
    robot: Assembly,
    prefix: str,
    carrier: str,
    name: str,
    motors: Sequence[tuple[Sequence[float], Sequence[float]]],
    links: Sequence[Link],
    function: Callable,
) -> None:
    """Add two rotors at positions and orientations of the carrier, and two links in a row."""
    parent = f"{prefix}{carrier}"
    bodies = []
    for number, (position, orientation) in enumerate(motors, start=1):
        at = Transform.from_rpy(position, orientation)
        bodies.append(f"{prefix}{name}_rotor_{number}")
        robot.add_rotor(bodies[-1], parent, Z, _rotor(), at, independent=True)
    for link in links:
        reflected = 2 * (RATIO * _MOTOR_RATES[link.name]) ** 2 * _AXIAL
        bodies.append(f"{prefix}{link.name}")
        robot.add_link(bodies[-1], parent, link, reflected, independent=not robot.has_rotors)
        parent = bodies[-1]
    robot.add_constraint(Implicit(function, [f"{body}_joint" for body in bodies]))


def _leg(y: float) -> list[Link]:
    return [
        Link(
            "hip_clamp", Z, (0.0, y, -0.087),
            Inertia.of(1.3289, (-0.001, 0.0, -0.0069), (0.0032, 0.0, 0.0001, 0.0033, 0.0, 0.0027)),
        ),
        Link(
            "gimbal", X, (0.0, 0.0, -0.1425),
            Inertia.of(0.4433, (-0.0027, 0.0, 0.0258), np.diag([0.0018, 0.0017, 0.0015])),
        ),
        Link(
            "thigh", Y, (0.0, 0.0, 0.0),
            Inertia.of(
                1.5424, (0.003, -0.0001, -0.0323), (0.0103, 0.0, -0.0005, 0.0097, 0.0, 0.0027)
            ),
        ),
        Link(
            "shin", Y, (0.0, 0.0, -0.2268),
            Inertia.of(
                0.3072, (0.0047, -0.0003, -0.1043), (0.0054, 0.0, -0.0002, 0.0054, 0.0, 0.0001)
            ),
        ),
        Link(
            "foot", Y, (0.0, 0.0, -0.26),
            Inertia.of(
                0.1025, (0.0042, 0.0, -0.0251), (94e-6, 0.0, -3.8e-6, 177.3e-6, 0.0, 90.1e-6)
            ),
        ),
    ]  # fmt: skip


def _rotor() -> Inertia:
    return disc(Z, mass=0.07, axial=_AXIAL, across=25.984e-6)

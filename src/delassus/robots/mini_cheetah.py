"""The MIT Mini Cheetah: a quadruped whose twelve joints have a rotor each.

Katz, Di Carlo, Kim, Mini Cheetah: A Platform for Pushing the Limits of Dynamic Quadruped Control,
2019. Numbers: generalized_rbda, the library of Chignoli, Adrian, Kim and Wensing.
"""

from __future__ import annotations

import numpy as np

from ..model.model import Model
from ..spatial.inertia import Inertia
from ..spatial.transform import Transform
from .limbs import Assembly, Link, Motor, X, Y, disc, mirrored

_TURNED = (0.0, 0.0, np.pi)  # the axes of a thigh: x points back


def mini_cheetah(rotors: str = "bodies", floating_base: bool = True) -> Model:
    """The MIT Mini Cheetah: 25 bodies with rotors, 18 independent velocities.

    `rotors` is `"bodies"` (a body and a gear each), `"diagonal"` (reflected inertia as armature)
    or `"none"`. Legs are called FR, FL, HR and HL.
    """
    robot = Assembly("mini_cheetah", rotors)
    trunk = Inertia.of(3.3, (0.0, 0.0, 0.0), np.diag([0.011253, 0.036203, 0.042673]))
    robot.add_base("trunk", trunk, floating_base)
    for name, forward in (("F", 1.0), ("H", -1.0)):
        leg = _right_leg(forward)
        robot.add_limb("trunk", leg, f"{name}R_")
        robot.add_limb("trunk", mirrored(leg), f"{name}L_")
    return robot.build()


def _right_leg(forward: float) -> list[Link]:
    """The right leg at the front (forward 1) or hind (forward -1) end of the trunk."""
    return [
        Link(
            "abad", X, (forward * 0.19, -0.049, 0.0),
            Inertia.of(0.54, (0, -0.036, 0), (381e-6, -58e-6, 0.45e-6, 560e-6, -0.95e-6, 444e-6)),
            Motor((forward * 0.125, -0.049, 0.0), _rotor(X), 6.0),
        ),
        Link(
            "hip", Y, Transform.from_rpy((0.0, -0.062, 0.0), _TURNED),
            Inertia.of(
                0.634, (0, -0.016, -0.02), (1983e-6, -245e-6, 13e-6, 2103e-6, -1.5e-6, 408e-6)
            ),
            Motor(Transform.from_rpy((0.0, -0.04, 0.0), _TURNED), _rotor(Y), 6.0),
        ),
        Link(
            "knee", Y, (0.0, 0.0, -0.209),
            Inertia.of(0.064, (0, 0, -0.061), np.diag([6e-6, 248e-6, 245e-6])),
            Motor((0.0, 0.0, 0.0), _rotor(Y), 9.33),
        ),
    ]  # fmt: skip


def _rotor(axis: tuple[float, float, float]) -> Inertia:
    return disc(axis, mass=0.055, axial=63e-6, across=33e-6)

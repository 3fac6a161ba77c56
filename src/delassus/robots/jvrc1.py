"""JVRC-1: a humanoid of a simulated challenge, here with rotors on most of its joints.

Numbers: generalized_rbda, the library of Chignoli, Adrian, Kim and Wensing. As there, all rotors
have their largest moment of inertia about z, whatever axis they turn about, and it exceeds the sum
of the others; neck and wrists have no rotors; the right hip sits lower than the left one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.model import Model
from ..spatial.inertia import Inertia
from .limbs import Assembly, Link, Motor, X, Y, Z, mirrored

_RIGHT_HIP = (0.0, -0.096, -0.087)


def jvrc1(rotors: str = "bodies", floating_base: bool = True) -> Model:
    """JVRC-1: 58 bodies with 25 rotors, 38 independent velocities.

    `rotors` is `"bodies"` (a body and a gear each), `"diagonal"` (reflected inertia as armature)
    or `"none"`.
    """
    robot = Assembly("jvrc1", rotors)
    pelvis = Inertia.of(10.0, (-0.01, 0.0, 0.034), np.diag([0.089583, 0.089583, 0.1125]))
    robot.add_base("pelvis", pelvis, floating_base)
    robot.add_limb("pelvis", _waist())
    robot.add_limb("waist_roll", _neck())
    left_leg = _left_leg()
    robot.add_limb("pelvis", left_leg, "left_")
    robot.add_limb("pelvis", [_moved(left_leg[0], _RIGHT_HIP), *mirrored(left_leg[1:])], "right_")
    robot.add_limb("waist_roll", _left_arm(), "left_")
    robot.add_limb("waist_roll", mirrored(_left_arm()), "right_")
    return robot.build()


def _waist() -> list[Link]:
    return [
        _link("waist_yaw", Z, (0, 0, 0.192), 1.0, (0, 0, -0.07), (0.00173, 0.00173, 0.0032)),
        _link("waist_pitch", Y, (0, 0, 0), 1.0, (0, 0, 0), (0.002425, 0.002425, 0.002425)),
        _link("waist_roll", X, (0, 0, 0), 10.0, (0.02, 0, 0.24), (0.157083, 0.101083, 0.1367)),
    ]


def _neck() -> list[Link]:
    yaw, head = (0.000729167, 0.000729167, 0.000625), (0.00968, 0.00968, 0.00968)
    return [
        _link("neck_yaw", Z, (-0.003, 0, 0.453), 0.5, (0, 0, -0.05), yaw, driven=False),
        _link("neck_roll", X, (0, 0, 0), 0.5, (0, 0, 0), (0.0005, 0.0005, 0.0005), driven=False),
        _link("neck_pitch", Y, (0, 0, 0), 2.0, (0.01, 0, 0.11), head, driven=False),
    ]


def _left_leg() -> list[Link]:
    hip, bone = (0.00196, 0.00196, 0.00196), (0.031925, 0.034525, 0.00865)
    ankle, foot = (0.00064, 0.00064, 0.00064), (0.001417, 0.005617, 0.006217)
    return [
        _link("hip_pitch", Y, (0, 0.096, 0), 1.0, (0, 0, 0), hip),
        _link("hip_roll", X, (0, 0, 0), 1.0, (0, 0, 0), hip),
        _link("hip_yaw", Z, (0, 0, 0), 3.0, (0.01, 0, -0.22), bone),
        _link("knee", Y, (-0.02, 0, -0.389), 3.0, (0.04, 0, -0.16), bone),
        _link("ankle_roll", X, (0.04, 0, -0.357), 1.0, (0, 0, 0), ankle),
        _link("ankle_pitch", Y, (0, 0, 0), 1.5, (0.03, 0, -0.07), foot),
    ]


def _left_arm() -> list[Link]:
    shoulder, upper_arm = (0.00196, 0.00196, 0.00196), (0.01365, 0.0146, 0.00635)
    forearm, elbow = (0.010675, 0.010675, 0.0027), (0.00064, 0.00064, 0.00064)
    wrist, hand = (0.00032, 0.00032, 0.00032), (0.0004625, 0.0007625, 0.0004625)
    return [
        _link("shoulder_pitch", Y, (0, 0.24, 0.33), 1.0, (0, 0, 0), shoulder),
        _link("shoulder_roll", X, (0, 0, 0), 1.0, (0, 0, 0), shoulder),
        _link("shoulder_yaw", Z, (0, 0, 0), 2.0, (-0.01, 0, -0.19), upper_arm),
        _link("elbow_pitch", Y, (0.004, 0, -0.305), 1.0, (-0.02, 0, -0.1), forearm),
        _link("elbow_yaw", Z, (-0.004, 0, -0.239), 1.0, (0, 0, 0), elbow),
        _link("wrist_roll", X, (0, 0, 0), 0.5, (0, 0, 0), wrist, driven=False),
        _link("wrist_yaw", Z, (0, 0, 0), 0.5, (0, -0.01, -0.06), hand, driven=False),
    ]


def _link(
    name: str,
    axis: tuple[float, float, float],
    at: Sequence[float],
    mass: float,
    center: Sequence[float],
    moments: Sequence[float],
    driven: bool = True,
) -> Link:
    """A link with a rotor at its joint, or without one."""
    rotor = Inertia.of(0.07, (0.0, 0.0, 0.0), np.diag([2e-5, 2e-5, 5e-5]))
    motor = Motor(at, rotor, 6.0) if driven else None
    return Link(name, axis, at, Inertia.of(mass, center, np.diag(moments)), motor)


def _moved(link: Link, at: Sequence[float]) -> Link:
    """The link and its rotor at another place."""
    return link._replace(placement=at, motor=link.motor._replace(placement=at))

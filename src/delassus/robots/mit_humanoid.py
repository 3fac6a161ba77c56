"""The MIT Humanoid: rotors on all joints, and belts that drive knee and ankle in parallel.

Chignoli, Kim, Stanger-Jones, Kim, The MIT Humanoid Robot: Design, Motion Planning, and Control for
Acrobatic Behaviors, 2020. Numbers: generalized_rbda, the library of Chignoli, Adrian, Kim and
Wensing.
"""

from __future__ import annotations

from collections.abc import Callable

from ..model.model import Model
from ..spatial.inertia import Inertia
from ..spatial.transform import Transform
from .limbs import Assembly, Link, Motor, X, Y, Z, disc, mirrored, mirrored_inertia

Axis = tuple[float, float, float]


def mit_humanoid(rotors: str = "bodies", floating_base: bool = True) -> Model:
    """The MIT Humanoid: 37 bodies with rotors, 24 independent velocities.

    `rotors` is `"bodies"` (a body and a gear or belt each), `"diagonal"` (reflected inertia as
    armature) or `"none"`. The rotors of knee and ankle sit on the thigh (`hip_ry`); that of the
    ankle turns with the sum of both angles, so its inertia is part of the knee's armature too.
    """
    robot = Assembly("mit_humanoid", rotors)
    torso = Inertia.of(
        8.52,
        (0.009896, 0.004771, 0.100522),
        (0.172699, 0.001419, 0.004023, 0.105949, -0.001672, 0.091906),
    )
    robot.add_base("torso", torso, floating_base)
    for right in (_right_leg(), right_arm(_small_rotor)):
        robot.add_limb("torso", right, "right_")
        robot.add_limb("torso", mirrored(right), "left_")
    return robot.build()


def mit_humanoid_leg(rotors: str = "bodies") -> Model:
    """A leg of the MIT Humanoid on a fixed base: 10 bodies with rotors, 5 independent velocities.

    It is the leg whose torques are compared in Fig. 13 of Chignoli et al., A Propagation
    Perspective on Recursive Forward Dynamics for Systems with Kinematic Loops, 2023. As there, its
    joints are those of the right leg, its links those of the left, and its rotors have no mass.
    `rotors` is that of `mit_humanoid`.
    """
    robot = Assembly("mit_humanoid_leg", rotors)
    robot.add_limb("world", [_of_the_comparison(link) for link in _right_leg()])
    return robot.build()


def _of_the_comparison(link: Link) -> Link:
    """A link of the right leg with the inertia of the left one, and its rotor without mass."""
    motor = link.motor._replace(rotor=Inertia.of(0.0, (0, 0, 0), link.motor.rotor.matrix))
    return link._replace(inertia=mirrored_inertia(link.inertia), motor=motor)


def _right_leg() -> list[Link]:
    turned = Transform.from_rpy
    return [
        Link(
            "hip_rz", Z, turned((-0.00565, -0.082, -0.05735), (0.0, -0.174533, 0.0)),
            Inertia.of(0.84563, (-0.064842, 3.6e-05, -0.06309),
                       (1537.3e-6, -1.1e-6, 557.8e-6, 1425.2e-6, -2.4e-6, 1202.8e-6)),
            Motor(turned((-0.00842837, -0.082, -0.041593), (0.0, -0.174533, 0.0)),
                  _small_rotor(Z), 6.0),
        ),
        Link(
            "hip_rx", X, turned((-0.06435, 0.0, -0.07499), (0.0, 0.436332, 0.0)),
            Inertia.of(1.20868, (0.067232, 0.013018, 0.0001831),
                       (1753.5e-6, 6.3e-6, -80e-6, 3338e-6, 13e-6, 1992.7e-6)),
            Motor(turned((-0.0827, 0.0, -0.066436), (0.0, 0.436332, 0.0)), _small_rotor(X), 6.0),
        ),
        Link(
            "hip_ry", Y, turned((0.071, 0.0018375, 0.0), (0.0, -0.261799, 0.0)),
            Inertia.of(2.64093, (0.0132054, -0.0269864, -0.096021),
                       (24376.1e-6, -99.6e-6, 654.8e-6, 25901.5e-6, -2671.3e-6, 3892.9e-6)),
            Motor(turned((0.071, 0.024, 0.0), (0.0, -0.261799, 0.0)), _large_rotor(Y), 6.0),
        ),
        Link(
            "knee", Y, (0.0, 0.0, -0.267),
            Inertia.of(0.35435, (0.00528, -0.0014762, -0.13201),
                       (3051e-6, 0.0, 87.3e-6, 3033e-6, -39.3e-6, 252.9e-6)),
            Motor((0.013, -0.0497, -0.0178), _large_rotor(Y), 12.0),
        ),
        Link(
            "ankle", Y, (0.0, 0.0, -0.2785),
            Inertia.of(0.280951, (0.022623, 0.0, -0.012826),
                       (84.2e-6, 0.0, -48.8e-6, 795.9e-6, 0.0, 768.1e-6)),
            Motor((0.01563, -0.0454, -0.13354), _small_rotor(Y), 12.0, belt=("knee", "ankle")),
        ),
    ]  # fmt: skip


def right_arm(rotor: Callable[[Axis], Inertia]) -> list[Link]:
    """The right arm, whose rotors have the inertia that `rotor` makes of their axis."""
    return [
        Link(
            "shoulder_ry", Y, (0.01346, -0.17608, 0.24657),
            Inertia.of(0.788506, (0.009265, -0.052623, -0.0001249),
                       (1367.8e-6, -26.6e-6, 2.1e-6, 739.2e-6, 1.2e-6, 884e-6)),
            Motor((0.01346, -0.16, 0.24657), rotor(Y), 6.0),
        ),
        Link(
            "shoulder_rx", X, (0.0, -0.0575, 0.0),
            Inertia.of(0.80125, (0.0006041, -0.0001221, -0.082361),
                       (1152.4e-6, -0.7e-6, 39.6e-6, 1192.1e-6, -1.4e-6, 1238.6e-6)),
            Motor((0.0, -0.0575, 0.0), rotor(X), 6.0),
        ),
        Link(
            "shoulder_rz", Z, (0.0, 0.0, -0.1025),
            Inertia.of(0.905588, (0.0001703, 0.016797, -0.06),
                       (1271.3e-6, -1e-6, -8e-6, 1747.7e-6, 22.5e-6, 819.1e-6)),
            Motor((0.0, 0.0, -0.1025), rotor(Z), 6.0),
        ),
        Link(
            "elbow", Y, (0.0, 0.0, -0.1455),
            Inertia.of(0.34839, (-0.0059578, -0.000111, -0.0426735),
                       (1570e-6, -0.2e-6, 33.5e-6, 1616.7e-6, -3e-6, 61.9e-6)),
            Motor((0.0, 0.0325, -0.06), rotor(Y), 9.0),
        ),
    ]  # fmt: skip


def _small_rotor(axis: Axis) -> Inertia:
    return disc(axis, mass=0.05, axial=168.41e-6, across=108.4e-6)


def _large_rotor(axis: Axis) -> Inertia:
    return disc(axis, mass=0.1, axial=554.8e-6, across=344.3e-6)

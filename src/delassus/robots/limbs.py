"""Limbs: chains of links, and the motors that drive them.

A robot has the rotors of its motors in one of these ways.

| rotors       | the model                                                                        |
| ------------ | -------------------------------------------------------------------------------- |
| `"bodies"`   | a body for each rotor, and a Gear or Coupling between it and the joints it drives |
| `"diagonal"` | no rotors; armature of ratio^2 J for each joint, J the rotor's moment of inertia |
| `"none"`     | no rotors                                                                        |

A rotor that drives several joints adds to the armature of each. What it would add off the diagonal
of the mass matrix is left out. `"diagonal"` and `"none"` leave out the mass of rotors too, as the
published approximations of these robots do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from ..checks import flag
from ..model.builder import ModelBuilder
from ..model.formats.options import ROOT_JOINT
from ..model.model import Model
from ..model.parts.constraints import Constraint, Coupling, Gear
from ..model.parts.joints import Fixed, Free, Revolute
from ..model.parts.names import known_name
from ..spatial.inertia import Inertia
from ..spatial.transform import PlacementLike, Transform

ROTORS = ("bodies", "diagonal", "none")
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_MIRROR = np.diag([1.0, -1.0, 1.0])  # in the plane y = 0


class Motor(NamedTuple):
    """What drives a link: a rotor that turns about the link's axis, `ratio` times as fast.

    With a belt, it turns `ratio` times as fast as the sum of the angles of the links of the belt.
    The rotor sits on the body that carries the first of these links.
    """

    placement: PlacementLike
    rotor: Inertia
    ratio: float
    belt: tuple[str, ...] = ()  # names of links, the driven one last; only that one if empty

    def reflected(self, axis: Sequence[float]) -> float:
        """ratio^2 J: the rotor's inertia as its joint feels it."""
        return self.ratio**2 * float(np.array(axis) @ self.rotor.matrix @ np.array(axis))


class Link(NamedTuple):
    """A link of a limb: it turns on the link before it."""

    name: str
    axis: tuple[float, float, float]
    placement: PlacementLike  # of its joint
    inertia: Inertia
    motor: Motor | None = None


def disc(axis: Sequence[float], mass: float, axial: float, across: float) -> Inertia:
    """The inertia of a rotor: a moment about its axis, and another about all axes across it."""
    n = np.array(axis)
    return Inertia.of(mass, np.zeros(3), across * np.eye(3) + (axial - across) * np.outer(n, n))


def mirrored(limb: Iterable[Link]) -> list[Link]:
    """The limb on the other side of the robot; its joints turn about the same axes as before."""
    return [
        link._replace(
            placement=_mirrored_placement(link.placement),
            inertia=mirrored_inertia(link.inertia),
            motor=link.motor
            and link.motor._replace(placement=_mirrored_placement(link.motor.placement)),
        )
        for link in limb
    ]


def _mirrored_placement(placement: PlacementLike) -> Transform:
    M, placement = _MIRROR, Transform.of(placement)
    return Transform(M @ placement.rotation @ M, M @ placement.translation)


def mirrored_inertia(inertia: Inertia) -> Inertia:
    """The inertia of the body's mirror image."""
    M = _MIRROR
    return Inertia(inertia.mass, M @ inertia.center, M @ inertia.matrix @ M)


class Assembly:
    """A robot while it is built: its limbs, and its rotors in the way that was asked for."""

    def __init__(self, name: str, rotors: str):
        self.rotors = known_name("rotors", rotors, ROTORS)
        self.builder = ModelBuilder(name)

    @property
    def has_rotors(self) -> bool:
        """Whether rotors are bodies."""
        return self.rotors == "bodies"

    def add_base(self, name: str, inertia: Inertia, floating_base: bool) -> None:
        """Add the body that carries the limbs."""
        joint = Free() if flag("floating_base", floating_base) else Fixed()
        self.builder.add_body(
            name, joint=joint, inertia=inertia, joint_name=ROOT_JOINT, independent=True
        )

    def add_limb(self, parent: str, limb: Sequence[Link], prefix: str = "") -> None:
        """Add links one after the other, the first on `parent`, and after each its rotor."""
        carriers = {}  # the body that carries each link
        for link in limb:
            carriers[link.name] = parent
            name = prefix + link.name
            self.add_link(name, parent, link, sum(_reflected(limb, link)))
            if link.motor is not None:
                belt = link.motor.belt or (link.name,)
                rotor = link.motor.rotor, link.motor.placement
                self.add_rotor(f"{name}_rotor", carriers[belt[0]], link.axis, *rotor)
                joints = [f"{prefix}{driven}_joint" for driven in belt]
                self.add_constraint(rolling(f"{name}_rotor_joint", joints, link.motor.ratio))
            parent = name

    def add_link(
        self, name: str, parent: str, link: Link, reflected: float = 0.0, independent: bool = True
    ) -> None:
        """Add a link without its rotor; the reflected inertia is its armature if that is wanted."""
        self.builder.add_body(
            name,
            parent,
            Revolute(link.axis),
            link.placement,
            inertia=link.inertia,
            armature=reflected if self.rotors == "diagonal" else 0.0,
            independent=independent,
        )

    def add_rotor(
        self,
        name: str,
        parent: str,
        axis: Sequence[float],
        inertia: Inertia,
        placement: PlacementLike,
        independent: bool = False,
    ) -> None:
        """Add a rotor, if rotors are bodies."""
        if self.has_rotors:
            joint = Revolute(axis)
            self.builder.add_body(
                name, parent, joint, placement, inertia=inertia, independent=independent
            )

    def add_constraint(self, constraint: Constraint) -> None:
        """Add a constraint between rotors and links, if rotors are bodies."""
        if self.has_rotors:
            self.builder.add_constraint(constraint)

    def build(self) -> Model:
        """Make the model."""
        return self.builder.build()


def rolling(rotor: str, joints: Sequence[str], ratio: float) -> Constraint:
    """The rotor's joint turns `ratio` times the sum of the other joints' angles."""
    if len(joints) == 1:
        return Gear(rotor, joints[0], ratio)
    return Coupling({rotor: 1.0, **dict.fromkeys(joints, -ratio)})


def _reflected(limb: Iterable[Link], driven: Link) -> list[float]:
    """Inertias of all rotors that a link drives, as its joint feels them."""
    return [
        link.motor.reflected(link.axis)
        for link in limb
        if link.motor is not None and driven.name in (link.motor.belt or (link.name,))
    ]

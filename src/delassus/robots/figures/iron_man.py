"""Iron Man: a figure on a stand whose joints are moved by rods with universal joints.

| of | bodies | hinges | universal | spherical | loops | mobility |
| --- | --- | --- | --- | --- | --- | --- |
| pelvis, welded | 1 | | | | | 0 |
| 7 pairs of links, each pair by one crank and rod | 28 | 21 | 14 | | 7 | 7 |
| 4 links on universal joints, each by a crank and rod | 12 | 4 | 12 | | 4 | 4 |
| 2 shanks, each by a crank and a rod that ends in a point | 6 | 4 | 2 | 2 | 2 | 2 |
| 7 hinges: waist, head, mask, shoulders, hands | 7 | 7 | | | | 7 |
| all | 54 | 36 | 28 | 2 | 13 | 20 |

Each loop has seven freedoms and takes six, so that it moves as its crank tells. A pair of links
turns about two axes, of which the rod, as it cannot spin, leaves one freedom: likewise a link on a
universal joint. Loops stand on bodies that other loops move, up to five deep. The table's 100
degrees of freedom count four for a spherical joint; there are 98.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...model.model import Model
from ...model.parts.joints import Universal
from .draft import Draft, Point, Y, Z, moved
from .drives import rod_drive

MASS_RATIO = 25544.44
PASSIVE = {"has_servo": False}


def iron_man(seed: int = 0, mass_ratio: float = MASS_RATIO, meshes: Path | None = None) -> Model:
    """The figure; its home is the neutral configuration, feet above the ground."""
    d = Draft("iron_man", seed, "fixed")
    hip = 1.0
    d.root("pelvis", (0, 0, hip + 0.04), (0.2, 0.3, 0.14), 8.0)
    shoulder = hip + 0.25 + d.vary("trunk", 0.3)
    d.box("waist", "pelvis", Z, (0, 0, hip + 0.12), (0, 0, hip + 0.14), (0.12, 0.16, 0.04), 1.5)
    at = (0, 0, hip + 0.18)
    _pair(d, "chest", "waist", at, (0, 0, shoulder), (1.0, 22.0), 0.07, pull=(-0.14, 0.03, 0.05))
    top = shoulder + 0.1
    _pair(
        d,
        "neck",
        "chest",
        (0, 0, shoulder),
        (0, 0, top),
        (0.05, 0.3),
        0.02,
        pull=(-0.06, 0.01, 0.02),
    )
    _pair(
        d,
        "skull",
        "neck",
        (0, 0, top),
        (0, 0, top + 0.08),
        (0.04, 0.9),
        0.03,
        pull=(-0.05, 0.01, 0.02),
        masses=(0.004, 0.0012),
    )
    d.box("head", "skull", Z, (0, 0, top + 0.09), (0.01, 0, top + 0.16), (0.16, 0.14, 0.14), 1.5)
    d.box("mask", "head", Y, (0.05, 0, top + 0.22), (0.1, 0, top + 0.17), (0.02, 0.1, 0.1), 0.05)
    for side, s in (("l", 1.0), ("r", -1.0)):
        _add_leg(d, side, s, hip)
        _add_arm(d, side, s, shoulder - 0.04)
    d.shell("chest", (0, -0.06, shoulder - 0.1), (0, 0.06, shoulder - 0.1), 0.14)
    d.shell("head", (0.01, 0, top + 0.14), (0.01, 0, top + 0.18), 0.1)
    return d.build(mass_ratio, meshes)


def _add_leg(d: Draft, side: str, s: float, hip: float) -> None:
    name = (side + "_{}").format
    y = 0.1 * s
    knee = hip - 0.05 - d.vary("thigh", 0.38)
    ankle = knee - d.vary("shank", 0.36)
    _ball(d, name("thigh"), "pelvis", (0, y, hip - 0.05), (0, y, knee), 4.0, 0.05, s)
    d.bar(name("shank"), name("thigh"), Y, (0, y, knee), (0, y, ankle), 2.0, 0.035, **PASSIVE)
    lever = np.array([-0.05, y + 0.01 * s, knee - 0.05 + d.shift("knee", 0.01)])
    pull = (-0.06, y, knee + 0.15), (-0.12, y, knee + 0.12), lever
    rod_drive(d, name("knee"), name("thigh"), name("shank"), pull, end="point")
    foot = (0.08, y, ankle - 0.06)
    _pair(
        d,
        name("foot"),
        name("shank"),
        (0, y, ankle),
        foot,
        (0.1, 0.8),
        0.03,
        pull=(-0.06, 0.01 * s, -0.02),
        down=True,
    )
    d.shell(name("thigh"), (0, y, hip - 0.12), (0, y, knee + 0.06), 0.075)
    d.shell(name("shank"), (0, y, knee - 0.1), (0, y, ankle + 0.09), 0.055)
    d.shell(name("foot"), (0, y, ankle - 0.05), (0.1, y, ankle - 0.05), 0.035)


def _add_arm(d: Draft, side: str, s: float, z: float) -> None:
    name = (side + "_{}").format
    y = 0.24 * s
    elbow = z - d.vary("upper arm", 0.28)
    wrist = elbow - d.vary("forearm", 0.25)
    d.box(name("shoulder"), "chest", Y, (0, 0.18 * s, z), (0, 0.21 * s, z), (0.1, 0.06, 0.1), 1.2)
    _ball(d, name("upper_arm"), name("shoulder"), (0, y, z), (0, y, elbow), 1.8, 0.035, s)
    _pair(
        d,
        name("forearm"),
        name("upper_arm"),
        (0, y, elbow),
        (0, y, wrist),
        (0.1, 1.0),
        0.03,
        pull=(-0.06, 0.01 * s, -0.03),
        down=True,
    )
    d.box(
        name("hand"),
        name("forearm"),
        Z,
        (0, y, wrist),
        (0, y, wrist - 0.06),
        (0.04, 0.08, 0.1),
        0.4,
    )
    d.shell(name("upper_arm"), (0, y, z - 0.08), (0, y, elbow + 0.06), 0.055)
    d.shell(name("forearm"), (0, y, elbow - 0.07), (0, y, wrist + 0.02), 0.045)


def _pair(
    d: Draft,
    name: str,
    parent: str,
    at: Point,
    end: Point,
    masses_of_links: tuple[float, float],
    radius: float,
    *,
    pull: Point,
    down: bool = False,
    masses: tuple[float, float] = (0.08, 0.06),
) -> None:
    """Two links that turn about a tilted z and about y, moved by one crank on the parent.

    The rod ends at `at` + `pull` on the second link. Limbs that hang have cranks above them.
    """
    at, pull, key = (
        np.array(at, float),
        np.array(pull, float),
        name.removeprefix("l_").removeprefix("r_"),
    )
    mirror = -1.0 if name.startswith("r_") else 1.0
    tilt = np.array([d.shift(f"tilt {key}", 0.2), mirror * d.shift(f"roll {key}", 0.2), 1.0])
    up = 1.0 if down else -1.0
    turn = f"{name}_turn"
    d.box(
        turn,
        parent,
        tilt,
        at,
        at,
        (0.8 * radius, 0.8 * radius, 0.02),
        masses_of_links[0],
        **PASSIVE,
    )
    d.bar(name, turn, Y, at, end, masses_of_links[1], radius, **PASSIVE)
    size = abs(pull[0])
    pivot = moved(at, 0.9 * pull[0], 0.5 * pull[1], up * 1.7 * size)
    tip = moved(pivot, -size * d.vary(f"crank {key}", 0.8), 0.0, up * -0.2 * size)
    rod_drive(d, name, parent, name, (pivot, tip, at + pull), masses=masses)


def _ball(
    d: Draft, name: str, parent: str, at: Point, end: Point, mass: float, radius: float, s: float
) -> None:
    """A link on a universal joint, turning about a tilted z and about y, moved by one crank."""
    at, key = np.array(at, float), name[2:]
    tilt = np.array([d.shift(f"tilt {key}", 0.2), s * d.shift(f"roll {key}", 0.2), 1.0])
    d.bar(name, parent, Universal(tilt, Y), at, end, mass, radius, **PASSIVE)
    lever = moved(at, -0.08, 0.01 * s, -0.05 + d.shift(f"lever {key}", 0.01))
    pivot = moved(at, -0.07, 0.0, 0.09)
    rod_drive(d, name, parent, name, (pivot, moved(pivot, -0.07, 0.0, -0.02), lever))

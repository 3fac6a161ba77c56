"""Walker: a biped with arms and head, three four-bars and three double bearings.

| of | bodies | hinges | loops | mobility |
| --- | --- | --- | --- | --- |
| base, free | 1 | | | 6 |
| four-bars: knees, nod of the neck | 9 | 12 | 3 | 3 |
| waist and ankles, with two bearings each | 3 | 6 | 3 | 3 |
| other joints of the legs: yaw, roll, thigh, foot, toe | 10 | 10 | | 10 |
| head: pan and tilt; arms: three each | 8 | 8 | | 8 |
| all | 31 | 36 | 6 | 30 |

36 hinges in six loops have 24 freedoms, as many as the table's actuators, if loops take twelve: a
four-bar takes three, and a second bearing on the axis of the first takes one.
"""

from __future__ import annotations

from pathlib import Path

from ...model.model import Model
from .draft import Draft, X, Y, Z
from .drives import bearing, four_bar

MASS_RATIO = 99.55


def walker(seed: int = 0, mass_ratio: float = MASS_RATIO, meshes: Path | None = None) -> Model:
    """The figure; at home it stands on the ground z = 0."""
    d = Draft("walker", seed, "free")
    ankle = 0.09
    knee = ankle + d.vary("shank", 0.33)
    hip = knee + d.vary("thigh", 0.33)
    d.root("base", (0, 0, hip + 0.16), (0.16, 0.2, 0.12), 6.0)
    for side, s in (("l", 1.0), ("r", -1.0)):
        _add_leg(d, side, 0.1 * s, hip, knee, ankle)
    _add_trunk(d, hip + 0.22)
    return d.build(mass_ratio, meshes)


def _add_leg(d: Draft, side: str, y: float, hip: float, knee: float, ankle: float) -> None:
    name = (side + "_{}").format
    cube = (0.06, 0.06, 0.06)
    d.box(name("yaw"), "base", Z, (0, y, hip + 0.1), (0, y, hip + 0.08), cube, 0.4)
    d.box(name("roll"), name("yaw"), X, (0, y, hip + 0.05), (0, y, hip + 0.03), cube, 0.4)
    bent = 0.02 + d.shift("bent", 0.01)
    d.bar(name("thigh"), name("roll"), Y, (0, y, hip), (bent, y, knee), 1.3, 0.035)
    end = (0, y, ankle)
    d.bar(name("shank"), name("thigh"), Y, (bent, y, knee), end, 0.8, 0.025, has_servo=False)
    lever = -0.05 + d.shift("lever", 0.008)
    pull = (-0.06, y, knee + 0.13), (-0.11, y, knee + 0.08), (lever, y, knee - 0.06)
    four_bar(d, name("knee"), name("thigh"), name("shank"), pull)
    d.box(name("ankle"), name("shank"), Y, end, (0, y, 0.08), (0.05, 0.05, 0.05), 0.2)
    bearing(d, name("ankle"), 0.03)
    sole = d.vary("sole", 1.0)
    d.box(
        name("foot"),
        name("ankle"),
        X,
        (0, y, 0.055),
        (0.02, y, 0.025),
        (0.17 * sole, 0.08, 0.03),
        0.4,
    )
    hinge = 0.1 * sole
    d.box(
        name("toe"),
        name("foot"),
        Y,
        (hinge, y, 0.015),
        (hinge + 0.04, y, 0.014),
        (0.08, 0.08, 0.02),
        0.1,
    )
    for body, x in (("foot", -0.06), ("foot", hinge - 0.01), ("toe", hinge + 0.08)):
        for dy in (-0.035, 0.035):
            d.sole(name(body), (x, y + dy, 0.0))
    d.shell(name("thigh"), (0, y, hip - 0.05), (bent, y, knee + 0.05), 0.045)
    d.shell(name("shank"), (bent, y, knee - 0.08), (0, y, ankle + 0.08), 0.035)


def _add_trunk(d: Draft, z: float) -> None:
    shoulder = z + 0.05 + d.vary("trunk", 0.2)
    top = shoulder + 0.1
    d.box("waist", "base", Z, (0, 0, z), (0, 0, shoulder - 0.1), (0.14, 0.22, 0.16), 2.5)
    bearing(d, "waist", 0.04)
    d.bar("neck", "waist", Y, (0, 0, shoulder), (0, 0, top), 0.3, 0.02, has_servo=False)
    nod = (-0.05, 0, shoulder - 0.1), (-0.1, 0, shoulder - 0.08), (-0.04, 0, shoulder + 0.06)
    four_bar(d, "nod", "waist", "neck", nod, (0.08, 0.061))
    d.box("pan", "neck", Z, (0, 0, top), (0, 0, top + 0.02), (0.05, 0.05, 0.03), 0.15)
    d.box("head", "pan", Y, (0, 0, top + 0.04), (0.02, 0, top + 0.1), (0.14, 0.14, 0.12), 0.8)
    d.shell("head", (0.02, -0.01, top + 0.1), (0.02, 0.01, top + 0.1), 0.09)
    d.shell("waist", (0, -0.06, shoulder - 0.1), (0, 0.06, shoulder - 0.1), 0.09)
    arm = d.vary("arm", 0.2)
    for side, s in (("l", 1.0), ("r", -1.0)):
        y = 0.2 * s
        parts = f"{side}_shoulder", f"{side}_upper_arm", f"{side}_forearm"
        d.box(
            parts[0], "waist", Y, (0, 0.14 * s, shoulder), (0, y, shoulder), (0.06, 0.06, 0.06), 0.3
        )
        d.bar(parts[1], parts[0], X, (0, y, shoulder), (0, y, shoulder - arm), 0.5, 0.025)
        elbow = shoulder - arm
        d.bar(parts[2], parts[1], Y, (0, y, elbow), (0, y, elbow - arm), 0.35, 0.02)
        d.shell(parts[1], (0, y, shoulder - 0.05), (0, y, elbow + 0.03), 0.035)
        d.shell(parts[2], (0, y, elbow - 0.03), (0, y, elbow - arm), 0.03)

"""Gazelle: an animal on a stand, with universal and spherical joints in its front legs.

| of | bodies | hinges | universal | spherical | loops | mobility |
| --- | --- | --- | --- | --- | --- | --- |
| trunk, welded | 1 | | | | | 0 |
| two hooves, each by two cranks and two rods | 12 | 8 | 4 | 4 | 4 | 4 |
| four-bars: neck, front knees | 9 | 12 | | | 3 | 3 |
| shoulders, hips, hind knees | 8 | 8 | | | | 8 |
| neck, head, jaw, ears | 7 | 7 | | | | 7 |
| tail, without a servo | 1 | 1 | | | | 1 |
| all | 38 | 36 | 4 | 4 | 7 | 23 |

22 joints have servos: all freedoms but the tail's. The table's 60 degrees of freedom count four for
a spherical joint; there are 56.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...model.model import Model
from .draft import Draft, X, Y, Z, moved
from .drives import four_bar, rod_drive

MASS_RATIO = 1012.54


def gazelle(seed: int = 0, mass_ratio: float = MASS_RATIO, meshes: Path | None = None) -> Model:
    """The figure; its home is the neutral configuration, hooves above the ground."""
    d = Draft("gazelle", seed, "fixed")
    height, long = 0.95, d.vary("trunk", 0.3)
    d.root("trunk", (0, 0, height), (2 * long, 0.2, 0.24), 25.0)
    for side, s in (("l", 1.0), ("r", -1.0)):
        _add_front_leg(d, side, 0.12 * s, long - 0.05, height - 0.1)
        _add_hind_leg(d, side, 0.12 * s, 0.05 - long, height - 0.1)
    _add_neck(d, long, height + 0.1)
    tail = np.array([-long, 0, height + 0.1])
    hangs = {"has_servo": False, "is_independent": True}
    d.bar("tail", "trunk", Y, tail, moved(tail, -0.12, 0, -0.1), 0.2, 0.015, **hangs)
    d.shell("trunk", (-long + 0.08, 0, height), (long - 0.08, 0, height), 0.15)
    return d.build(mass_ratio, meshes)


def _add_front_leg(d: Draft, side: str, y: float, x: float, z: float) -> None:
    name = (side + "_{}").format
    knee = z - d.vary("front upper", 0.28)
    hoof = knee - d.vary("front lower", 0.3)
    d.box(name("shoulder"), "trunk", X, (x, y, z + 0.04), (x, y, z + 0.02), (0.06, 0.06, 0.06), 0.8)
    d.bar(name("fore"), name("shoulder"), Y, (x, y, z), (x, y, knee), 1.5, 0.035)
    end = (x, y, hoof)
    d.bar(name("cannon"), name("fore"), Y, (x, y, knee), end, 0.7, 0.02, has_servo=False)
    pull = (x - 0.06, y, knee + 0.13), (x - 0.11, y, knee + 0.08), (x - 0.05, y, knee - 0.05)
    four_bar(d, name("knee"), name("fore"), name("cannon"), pull, (0.09, 0.05))
    # The hoof turns by pitch and roll; two cranks above it move it by two rods.
    cross = {"has_servo": False}
    d.box(name("cross"), name("cannon"), Y, end, end, (0.02, 0.03, 0.02), 0.08, **cross)
    roll = np.array([x, y, hoof - 0.015])
    d.box(
        name("hoof"),
        name("cross"),
        X,
        roll,
        moved(roll, 0, 0, -0.03),
        (0.09, 0.06, 0.05),
        0.3,
        **cross,
    )
    for number, sign in ((1, 1.0), (2, -1.0)):
        dy = sign * (0.022 + d.shift("rods apart", 0.003))
        above = hoof + 0.1 + 0.05 * (number == 2)
        pivot = np.array([x + 0.01, y + dy, above])
        tip = moved(pivot, 0.035, 0, -0.005)
        lever = np.array([x + 0.04 + d.shift("lever", 0.004), y + dy, hoof - 0.012])
        points, masses = (pivot, tip, lever), (0.05, 0.03)
        rod_drive(
            d,
            name(f"hoof_{number}"),
            name("cannon"),
            name("hoof"),
            points,
            end="point",
            masses=masses,
        )
    d.shell(name("fore"), (x, y, z - 0.05), (x, y, knee + 0.05), 0.05)
    d.shell(name("cannon"), (x, y, knee - 0.08), (x, y, hoof + 0.08), 0.03)
    d.shell(name("hoof"), moved(roll, -0.02, 0, -0.03), moved(roll, 0.02, 0, -0.03), 0.03)


def _add_hind_leg(d: Draft, side: str, y: float, x: float, z: float) -> None:
    name = (side + "_{}").format
    knee, end = z - d.vary("hind upper", 0.3), 0.2
    middle = np.array([x + 0.06, y, knee])
    d.bar(name("hind"), "trunk", Y, (x, y, z), middle, 1.8, 0.04)
    d.bar(name("hind_cannon"), name("hind"), Y, middle, (x - 0.04, y, end), 0.8, 0.02)
    d.shell(name("hind"), (x, y, z - 0.06), moved(middle, 0, 0, 0.05), 0.05)
    d.shell(name("hind_cannon"), moved(middle, 0, 0, -0.08), (x - 0.04, y, end), 0.03)


def _add_neck(d: Draft, x: float, z: float) -> None:
    lower, upper = d.vary("neck", 0.16), d.vary("upper neck", 0.14)
    root = np.array([x + 0.03, 0, z + 0.03])
    middle, top = moved(root, 0.05, 0, lower), moved(root, 0.1, 0, lower + upper)
    d.box("neck_yaw", "trunk", Z, (x, 0, z), (x + 0.02, 0, z + 0.02), (0.08, 0.1, 0.04), 0.8)
    d.bar("neck", "neck_yaw", Y, root, middle, 0.9, 0.04, has_servo=False)
    pull = moved(root, -0.06, 0, 0), moved(root, -0.11, 0, 0.04), moved(root, -0.03, 0, 0.09)
    four_bar(d, "nod", "neck_yaw", "neck", pull, (0.09, 0.05))
    d.bar("upper_neck", "neck", Y, middle, top, 0.6, 0.03)
    d.box("head_roll", "upper_neck", X, top, moved(top, 0.01, 0, 0.02), (0.05, 0.05, 0.04), 0.2)
    head = moved(top, 0.02, 0, 0.04)
    d.box("head", "head_roll", Y, head, moved(head, 0.08, 0, 0), (0.2, 0.08, 0.09), 0.9)
    d.box(
        "jaw",
        "head",
        Y,
        moved(head, 0.03, 0, -0.04),
        moved(head, 0.11, 0, -0.05),
        (0.12, 0.05, 0.015),
        0.08,
    )
    for side, s in (("l", 1.0), ("r", -1.0)):
        ear = moved(head, -0.01, 0.045 * s, 0.04)
        d.bar(f"{side}_ear", "head", X, ear, moved(ear, -0.01, 0.03 * s, 0.06), 0.026, 0.012)
    d.shell("neck", moved(root, 0.01, 0, 0.05), moved(middle, 0, 0, -0.01), 0.06)
    d.shell("head", moved(head, 0.03, 0, 0.01), moved(head, 0.14, 0, 0.01), 0.06)

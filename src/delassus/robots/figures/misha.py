"""Misha: a figure from the waist up, with two four-bars, the second on the body the first moves.

| of | bodies | hinges | loops | mobility |
| --- | --- | --- | --- | --- |
| base, welded | 1 | | | 0 |
| four-bars: bow of the trunk, nod of the neck | 6 | 8 | 2 | 2 |
| waist, head, jaw, brow | 5 | 5 | | 5 |
| arms | 10 | 10 | | 10 |
| all | 22 | 23 | 2 | 17 |

All 23 hinges of the paper's figure are actuated. A planar loop takes three freedoms, and any loop
one at least, so that 23 hinges in two loops cannot all be independent; here 17 are, with servos.
"""

from __future__ import annotations

from pathlib import Path

from ...model.model import Model
from .draft import Draft, X, Y, Z
from .drives import four_bar

MASS_RATIO = 90.67


def misha(seed: int = 0, mass_ratio: float = MASS_RATIO, meshes: Path | None = None) -> Model:
    """The figure; its home is the neutral configuration."""
    d = Draft("misha", seed, "fixed")
    d.root("base", (0, 0, 0.25), (0.3, 0.3, 0.3), 6.0)
    waist, trunk = 0.45, d.vary("trunk", 0.3)
    neck, skull = waist + 0.05 + trunk, d.vary("neck", 0.1)
    d.box("waist", "base", Z, (0, 0, 0.42), (0, 0, 0.44), (0.16, 0.16, 0.05), 1.0)
    d.bar("trunk", "waist", Y, (0, 0, waist + 0.05), (0, 0, neck), 4.0, 0.05, has_servo=False)
    bow = (
        (-0.1, 0, waist),
        (-0.17, 0, waist + 0.05),
        (-0.08, 0, waist + 0.16 + d.shift("bow", 0.02)),
    )
    four_bar(d, "bow", "waist", "trunk", bow)
    top = neck + skull
    d.bar("neck", "trunk", Y, (0, 0, neck), (0, 0, top), 0.5, 0.03, has_servo=False)
    nod = (
        (-0.05, 0, neck - 0.1),
        (-0.1, 0, neck - 0.08),
        (-0.05, 0, neck + 0.05 + d.shift("nod", 0.01)),
    )
    four_bar(d, "nod", "trunk", "neck", nod, (0.08, 0.066))
    _add_head(d, top)
    for side, s in (("l", 1.0), ("r", -1.0)):
        _add_arm(d, side, s, neck - 0.03)
    d.shell("base", (0, 0, 0.2), (0, 0, 0.3), 0.14)
    d.shell("trunk", (0, 0, waist + 0.12), (0, 0, neck - 0.05), 0.12)
    return d.build(mass_ratio, meshes)


def _add_head(d: Draft, z: float) -> None:
    d.box("head_yaw", "neck", Z, (0, 0, z), (0, 0, z + 0.02), (0.06, 0.06, 0.03), 0.3)
    d.box("head", "head_yaw", X, (0, 0, z + 0.03), (0.03, 0, z + 0.12), (0.2, 0.16, 0.16), 1.5)
    d.box("jaw", "head", Y, (0, 0, z + 0.05), (0.09, 0, z + 0.04), (0.1, 0.08, 0.02), 0.1)
    d.box("brow", "head", Y, (0.1, 0, z + 0.2), (0.12, 0, z + 0.2), (0.04, 0.1, 0.01), 0.07)
    d.shell("head", (0.03, -0.02, z + 0.13), (0.03, 0.02, z + 0.13), 0.11)


def _add_arm(d: Draft, side: str, s: float, z: float) -> None:
    upper, lower = d.vary("upper arm", 0.2), d.vary("forearm", 0.18)
    y = s * 0.2
    elbow, wrist = z - upper, z - upper - lower
    name = (side + "_{}").format
    d.box(name("shoulder"), "trunk", Y, (0, s * 0.15, z), (0, s * 0.17, z), (0.06, 0.05, 0.06), 0.5)
    d.box(name("swing"), name("shoulder"), X, (0, y, z), (0, y, z - 0.02), (0.05, 0.05, 0.05), 0.3)
    d.bar(name("upper_arm"), name("swing"), Z, (0, y, z - 0.03), (0, y, elbow), 0.8, 0.03)
    d.bar(name("forearm"), name("upper_arm"), Y, (0, y, elbow), (0, y, wrist), 0.5, 0.025)
    d.box(
        name("paw"),
        name("forearm"),
        X,
        (0, y, wrist),
        (0, y, wrist - 0.04),
        (0.08, 0.05, 0.08),
        0.2,
    )
    d.shell(name("upper_arm"), (0, y, z - 0.06), (0, y, elbow + 0.03), 0.04)
    d.shell(name("forearm"), (0, y, elbow - 0.03), (0, y, wrist), 0.035)

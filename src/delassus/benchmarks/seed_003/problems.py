"""Robots that touch the world: what constrained dynamics is measured on."""

from __future__ import annotations

from ..comparing.problems import (
    G1_FEET,
    HANDS,
    SOLES,
    SOLO_FEET,
    TALOS_FEET,
    TALOS_FEET_AND_HANDS,
    Problem,
)

PROBLEMS = (
    Problem("solo12, feet", "solo12", SOLO_FEET),
    TALOS_FEET,
    TALOS_FEET_AND_HANDS,
    G1_FEET,
)
# Sec. V-F: both feet and a hand, all of it twice.
REDUNDANT = Problem("talos, feet and a hand, twice", "talos", 2 * (*SOLES, HANDS[0]))

"""The robots and contacts of Tables II and III, and the times that the paper measured.

The paper's arm is a KUKA iiwa, here a Panda. Its largest robot is an Atlas with two Shadow Hands of
five fingers each, here Talos with its grippers and two Allegro Hands of four fingers. One finger of
each gripper beside the eight fingers gives as many points, and rows, as the paper's ten fingers.
"""

from __future__ import annotations

from ... import Connect, Weld
from ..comparing.problems import (
    G1_FEET,
    HANDS,
    HUMANOID_WITH_HANDS,
    SOLES,
    SOLO_FEET,
    TALOS_FEET,
    TALOS_FEET_AND_HANDS,
    Problem,
    all_of,
)

_GO1_FEET = all_of(Connect, ("FL_foot", "FR_foot", "RL_foot", "RR_foot"))
_LEFT, _RIGHT = (
    all_of(Connect, [f"{side}_hand_link_{k}.0_tip" for k in (3, 7, 11, 15)])
    for side in ("left", "right")
)
_GRIPPERS = all_of(Connect, [f"gripper_{side}_fingertip_1_link" for side in ("left", "right")])

QUADRUPED = Problem("go1, 4 feet", "go1", _GO1_FEET)
SOLO_4_FEET = Problem("solo12, 4 feet", "solo12", SOLO_FEET)
FINGERTIPS = Problem("talos + hands, feet and 8 tips", HUMANOID_WITH_HANDS, SOLES + _LEFT + _RIGHT)
LARGEST = Problem(
    "talos + hands, feet and 10 tips", HUMANOID_WITH_HANDS, SOLES + _LEFT + _RIGHT + _GRIPPERS
)
PROBLEMS = (
    Problem("panda, hand, 3 rows", "panda", (Connect("panda_hand"),)),
    Problem("panda, hand, 6 rows", "panda", (Weld("panda_hand"),)),
    Problem("solo12, 2 feet", "solo12", SOLO_FEET[:2]),
    SOLO_4_FEET,
    QUADRUPED,
    TALOS_FEET,
    TALOS_FEET_AND_HANDS,
    G1_FEET,
    Problem("talos + hands, feet", HUMANOID_WITH_HANDS, SOLES),
    Problem("talos + hands, feet and 4 tips", HUMANOID_WITH_HANDS, SOLES + _LEFT),
    FINGERTIPS,
    LARGEST,
)
# The problems in the means of ratios to Pinocchio.
COMPARED = (TALOS_FEET, TALOS_FEET_AND_HANDS, SOLO_4_FEET, G1_FEET)
# Fig. 4: a welded hand leaves an arm little to move, so that rows for its elbow and forearm are
# redundant.
REDUNDANT = Problem(
    "talos, feet, a hand, elbow and forearm",
    "talos",
    (*SOLES, HANDS[0], Connect("arm_left_4_link"), Connect("arm_left_6_link")),
)

# The problems that the paper has too, in the order of the rows of its tables.
_OF_PAPER = (
    "panda, hand, 3 rows",
    "panda, hand, 6 rows",
    "solo12, 2 feet",
    "solo12, 4 feet",
    "talos, feet",
    "talos, feet and hands",
    "talos + hands, feet",
    "talos + hands, feet and 4 tips",
    "talos + hands, feet and 10 tips",
)
# Table II: microseconds of constrained dynamics with three iterations, by our names of the methods.
_TABLE_II = {
    "caba": (0.97, 1.02, 1.81, 2.25, 5.02, 6.21, 7.90, 9.95, 11.7),
    "prox-pv": (0.95, 1.33, 2.11, 2.84, 6.27, 8.84, 9.56, 14.0, 20.8),
    "prox-ltls": (0.99, 1.0, 2.06, 2.27, 7.14, 7.57, 13.4, 14.7, 15.0),
    "prox-ltl": (1.51, 2.0, 3.08, 4.06, 10.2, 14.5, 17.7, 26.5, 36.8),
}
# Table III: microseconds of the damped Delassus inverse; ltl is the paper's LTL-inv.
_TABLE_III = {
    "caba-osimf": (0.7, 0.77, 1.57, 1.94, 4.05, 4.57, 6.37, 8.8, 12.6),
    "caba-osim": (0.70, 0.77, 1.68, 2.28, 4.21, 4.95, 6.5, 9.3, 13.3),
    "ltl": (0.63, 0.81, 1.57, 2.48, 6.42, 10.9, 12.1, 21.2, 35.9),
}
# The paper's microseconds by contest, problem and method.
PAPER = {
    contest: {
        problem: {method: times[k] for method, times in table.items()}
        for k, problem in enumerate(_OF_PAPER)
    }
    for contest, table in (("dynamics", _TABLE_II), ("inverse", _TABLE_III))
}

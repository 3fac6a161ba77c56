"""Robots that touch the world: what constrained dynamics is measured on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from ...constrained.rows.constraints import Constraints
from ...model.parts.constraints import Connect, Constraint, Weld
from ..pinocchio_constraints import ConstrainedPeer
from ..pinocchio_peer import load_pair

DAMPING = 1e-6


@dataclass(frozen=True)
class Problem:
    """A robot and its contacts: points that stay, or frames that stay."""

    label: str
    robot: str
    kind: type[Constraint]
    frames: tuple[str, ...]

    def pair(self) -> tuple[Constraints, ConstrainedPeer]:
        """The same constraints in both libraries."""
        model, peer = _robot(self.robot)
        constraints = Constraints(model, [self.kind(frame) for frame in self.frames])
        return constraints, ConstrainedPeer(peer, constraints)


_robot = cache(load_pair)

_SOLES = ("left_sole_link", "right_sole_link")
_HANDS = ("gripper_left_base_link", "gripper_right_base_link")
_SOLO_FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
_ANKLES = ("left_ankle_roll_link", "right_ankle_roll_link")

FEET = Problem("talos, feet", "talos", Weld, _SOLES)
PROBLEMS = (
    Problem("solo12, feet", "solo12", Connect, _SOLO_FEET),
    FEET,
    Problem("talos, feet and hands", "talos", Weld, _SOLES + _HANDS),
    Problem("g1, feet", "g1", Weld, _ANKLES),
)
# Sec. V-F: both feet and a hand, all of it twice.
REDUNDANT = Problem("talos, feet and a hand, twice", "talos", Weld, 2 * (*_SOLES, _HANDS[0]))

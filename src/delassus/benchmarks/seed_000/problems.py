"""The systems of Tables II and III, as far as there are files of them, and what holds them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ... import robots
from ...constrained.rows.constraints import Constraints
from ...model.edit import attach
from ...model.model import Model
from ...model.parts.constraints import Connect, Constraint, Weld
from ..pinocchio_constraints import ConstrainedPeer
from ..pinocchio_peer import PinocchioPeer, load_pair, pinocchio

DAMPING = 1e-6
_HUMANOID_WITH_HANDS = "talos with Allegro hands"


@dataclass(frozen=True)
class Problem:
    """A robot and what fixes it to the world; ratios of times that the paper has for the like.

    The ratios are proxLTL / cABA of Table II, and LTL-inv / cABA of Table III; the bars are what is
    asked of ours in batches. The paper's hands have five fingers: its cases with 27 and 42 rows.
    """

    label: str
    robot: str
    contacts: Sequence[Constraint]
    paper: tuple[float, float] | None = None
    bars: tuple[float | None, float | None] = (None, None)

    def constraints(self) -> Constraints:
        """The constraints on our model."""
        return Constraints(robot_pair(self.robot)[0], self.contacts)

    def pair(self) -> tuple[Constraints, PinocchioPeer]:
        """The constraints on our model, and the same robot in Pinocchio."""
        return self.constraints(), robot_pair(self.robot)[1]


@cache
def robot_pair(name: str) -> tuple[Model, PinocchioPeer]:
    """A robot in both libraries."""
    if name == _HUMANOID_WITH_HANDS:
        model = humanoid_with_hands()
        return model, PinocchioPeer.from_model(model)
    return load_pair(name)


def humanoid_with_hands() -> Model:
    """Talos with its grippers, and a hand of four fingers at each wrist besides: 82 DoF."""
    model = robots.load("talos_full")
    for side in ("left", "right"):
        hand = robots.load(f"allegro_{side}")
        model = attach(model, hand, f"wrist_{side}_ft_tool_link", prefix=f"{side}_hand_")
    return model


def ordered_peer(peer: PinocchioPeer, constraints: Constraints) -> ConstrainedPeer:
    """What Pinocchio's recursion takes besides a state, joints brought into its order."""
    made = ConstrainedPeer(peer, constraints)
    pinocchio().computeJointMinimalOrdering(made.model, made.data, made.constraints)
    return made


def _all(kind: type[Constraint], frames: Sequence[str]) -> tuple[Constraint, ...]:
    return tuple(kind(frame) for frame in frames)


def _fingertips(side: str) -> tuple[Constraint, ...]:
    return _all(Connect, [f"{side}_hand_link_{k}.0_tip" for k in (3, 7, 11, 15)])


_SOLES = _all(Weld, ("left_sole_link", "right_sole_link"))
_HANDS = _all(Weld, ("gripper_left_base_link", "gripper_right_base_link"))
_SOLO_FEET = _all(Connect, ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"))
_GO1_FEET = _all(Connect, ("FL_foot", "FR_foot", "RL_foot", "RR_foot"))
_ANKLES = _all(Weld, ("left_ankle_roll_link", "right_ankle_roll_link"))
_TIPS = _fingertips("left") + _fingertips("right")
# With one finger of each gripper there are as many points as two hands of five fingers have.
_GRIPPER_TIPS = _all(Connect, ("gripper_left_fingertip_1_link", "gripper_right_fingertip_1_link"))

QUADRUPED = Problem("go1, 4 feet", "go1", _GO1_FEET)
FEET = Problem("talos, feet", "talos", _SOLES, (2.03, 1.52), (2.0, 1.5))
FEET_AND_HANDS = Problem(
    "talos, feet and hands", "talos", _SOLES + _HANDS, (2.33, 2.20), (2.3, 2.2)
)
SOLO_FEET = Problem("solo12, 4 feet", "solo12", _SOLO_FEET, (1.80, 1.09))
G1_FEET = Problem("g1, feet", "g1", _ANKLES)
FINGERTIPS = Problem(
    "talos + hands, feet and 8 tips", _HUMANOID_WITH_HANDS, _SOLES + _TIPS, None, (3.0, 2.6)
)
LARGEST = Problem(
    "talos + hands, feet and 10 tips", _HUMANOID_WITH_HANDS, _SOLES + _TIPS + _GRIPPER_TIPS,
    (3.15, 2.70), (3.0, 2.6),
)  # fmt: skip
PROBLEMS = (
    Problem("panda, hand, 3 rows", "panda", (Connect("panda_hand"),), (1.56, 0.90)),
    Problem("panda, hand, 6 rows", "panda", (Weld("panda_hand"),), (1.96, 1.05)),
    Problem("solo12, 2 feet", "solo12", _SOLO_FEET[:2], (1.70, 0.93)),
    SOLO_FEET,
    QUADRUPED,
    FEET,
    FEET_AND_HANDS,
    G1_FEET,
    Problem("talos + hands, feet", _HUMANOID_WITH_HANDS, _SOLES, (2.24, 1.86)),
    Problem(
        "talos + hands, feet and 4 tips", _HUMANOID_WITH_HANDS, _SOLES + _TIPS[:4], (2.66, 2.28)
    ),
    FINGERTIPS,
    LARGEST,
)
# Over these the means against Pinocchio are taken.
COMPARED = (FEET, FEET_AND_HANDS, SOLO_FEET, G1_FEET)
# Fig. 4: the elbow and the forearm of an arm whose hand is welded can do nothing of their own.
REDUNDANT = Problem(
    "talos, feet, a hand, elbow and forearm",
    "talos",
    (*_SOLES, _HANDS[0], Connect("arm_left_4_link"), Connect("arm_left_6_link")),
)

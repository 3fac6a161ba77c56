"""Problems of constrained dynamics: robots, and what fixes them to the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from ... import Connect, Constraints, Model, Weld, attach, robots
from ..peers.pinocchio import PinocchioPeer, load_pair

DAMPING = 1e-6
ITERATIONS = 3
# Without a tolerance, Pinocchio does all iterations, and we stop only where rounding is reached.
PROXIMAL = {"damping": DAMPING, "tolerance": 0.0, "max_iterations": ITERATIONS}
HUMANOID_WITH_HANDS = "talos with Allegro hands"


@dataclass(frozen=True)
class Problem:
    """A robot and its contacts: points (`Connect`) or frames (`Weld`) that stay where they are."""

    label: str
    robot: str
    contacts: Sequence[Connect | Weld]

    def __str__(self) -> str:
        return self.label

    def constraints(self) -> Constraints:
        """The constraints on our model."""
        return Constraints(robot_pair(self.robot)[0], self.contacts)

    def pair(self) -> tuple[Constraints, PinocchioPeer]:
        """The constraints on our model, and the robot in Pinocchio."""
        return self.constraints(), robot_pair(self.robot)[1]


@cache
def robot_pair(name: str) -> tuple[Model, PinocchioPeer]:
    """A robot in both libraries."""
    if name == HUMANOID_WITH_HANDS:
        model = humanoid_with_hands()
        return model, PinocchioPeer.from_model(model)
    return load_pair(name)


def humanoid_with_hands() -> Model:
    """Talos with its grippers and a further hand of four fingers at each wrist: 82 DoF."""
    model = robots.load("talos_full")
    for side in ("left", "right"):
        hand = robots.load(f"allegro_{side}")
        model = attach(model, hand, f"wrist_{side}_ft_tool_link", prefix=f"{side}_hand_")
    return model


def all_of(kind: type[Connect | Weld], frames: Sequence[str]) -> tuple[Connect | Weld, ...]:
    """A contact of one kind at each frame."""
    return tuple(kind(frame) for frame in frames)


SOLES = all_of(Weld, ("left_sole_link", "right_sole_link"))
HANDS = all_of(Weld, ("gripper_left_base_link", "gripper_right_base_link"))
SOLO_FEET = all_of(Connect, ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"))

TALOS_FEET = Problem("talos, feet", "talos", SOLES)
TALOS_FEET_AND_HANDS = Problem("talos, feet and hands", "talos", SOLES + HANDS)
G1_FEET = Problem("g1, feet", "g1", all_of(Weld, ("left_ankle_roll_link", "right_ankle_roll_link")))

"""Real robots, one core: one state and batches, against every path that Pinocchio offers."""

from __future__ import annotations

from itertools import product

from ..comparing.algorithms import (
    FORWARD_DYNAMICS,
    INVERSE_DYNAMICS,
    INVERSE_MASS_MATRIX,
    MASS_MATRIX,
    Algorithm,
)
from ..comparing.problems import robot_pair
from ..comparing.tree_dynamics import compare
from ..measuring.settings import Settings
from ..reporting.checks import Limit
from ..reporting.tables import Findings, Table, named, numbers
from ..runner import Part
from . import plots

ROBOTS = ("panda", "hyq", "talos", "g1")
ALGORITHMS = (INVERSE_DYNAMICS, FORWARD_DYNAMICS, MASS_MATRIX, INVERSE_MASS_MATRIX)

SINGLE = Table(
    "single",
    "One state a call: microseconds from Python, and Pinocchio's time divided by ours",
    [
        *named("robot", "nv", "algorithm"),
        *numbers(".3f", microseconds="ours", pinocchio_microseconds="Pinocchio"),
        *numbers(".2f", ratio="ratio"),
        *numbers(".3f", plain_microseconds="ours, plain"),
        *numbers(".3f", pinocchio_plain_microseconds="Pinocchio, plain"),
        *numbers(".2f", plain_ratio="ratio, plain"),
        *numbers(".0e", difference="difference"),
    ],
    note="First results are put into a given array: ours by out=, Pinocchio's by a copy.\n"
    "Then plain calls: ours makes a new array, Pinocchio's gives its own, written to by the next.",
)
BATCH = Table(
    "batch",
    "Batches on one core: microseconds a state, and Pinocchio's time divided by ours",
    [
        *named("robot", "nv", "algorithm"),
        *numbers(".3f", microseconds="ours", loop_microseconds="loop"),
        *numbers(".3f", function_microseconds="function"),
        *numbers(".2f", loop_ratio="/ loop", function_ratio="/ function", ratio="/ fastest"),
        *numbers(".0e", difference="difference"),
    ],
    note="loop: over Pinocchio's calls, each result copied to its place; function: its\n"
    "rneaInParallel and abaInParallel with one thread (it has none for matrices).\n"
    "Of Pinocchio's conventions (local or world axes) the faster counts.",
)


def measure(robot: str, algorithm: Algorithm, settings: Settings) -> Findings:
    """One record for one state, and one for a batch."""
    single, batch = compare(*robot_pair(robot), algorithm, settings)
    return {"single": [{"robot": robot} | single], "batch": [{"robot": robot} | batch]}


_DIFFERS = "{robot}, {algorithm}: differs from Pinocchio by {difference:.1e}"
PART = Part(
    "beside Pinocchio",
    cases=lambda _: product(ROBOTS, ALGORITHMS),
    measure=measure,
    tables=[SINGLE, BATCH],
    limits=[Limit(table.key, "difference", _DIFFERS) for table in (SINGLE, BATCH)],
    plots={"speed": plots.speed},
)

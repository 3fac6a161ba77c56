"""Ratios of times: ours, Pinocchio's and the paper's."""

from __future__ import annotations

from collections.abc import Iterator

from ..reporting.conclusions import Fact, spread
from ..reporting.ratios import Ratio, ratio_records, ratio_table
from ..reporting.tables import Findings
from ..runner import Derived
from .rows import CHOLESKY, DEDICATED, FORWARD, INVERSE, ROBOTS

# Entries of the times: ours in batches and alone, Pinocchio's loop and call, and the paper's.
_BATCH, _SINGLE = "microseconds", "single_microseconds"
_LOOP, _BARE, _CALL = "loop_microseconds", "bare_loop_microseconds", "call_microseconds"
_PAPER = "paper_microseconds"
# Pinocchio's time divided by ours: names in the summary, labels, and entries of theirs and ours.
_AGAINST = {
    "batch": ("Pinocchio's loop / our batch", _LOOP, _BATCH),
    "batch_against_bare_loop": ("Pinocchio's loop, no copies / our batch", _BARE, _BATCH),
    "single": ("Pinocchio's call / our one state", _CALL, _SINGLE),
}


class Times:
    """Records of times by robot and row."""

    def __init__(self, findings: Findings):
        self._records = {(r["robot"], r["row"]): r for r in findings["times"]}

    def quotient(self, robot: str, row: str, other: str, column: str) -> float:
        """How many times longer one row takes than the other."""
        return self._records[robot, row][column] / self._records[robot, other][column]

    def against_peer(self, robot: str, row: str, theirs: str, ours: str) -> float:
        """How many times longer Pinocchio takes than we do."""
        return self._records[robot, row][theirs] / self._records[robot, row][ours]


def find_ratios(findings: Findings) -> Iterator[Ratio]:
    """All ratios of each robot."""
    times = Times(findings)
    counted = {record["robot"]: record["ratio"] for record in findings["operations"]}
    for robot in ROBOTS:
        yield from _derivatives(times, robot, counted[robot])
        yield from _finite_differences(times, robot)
        yield from _inverses(times, robot)
        yield from _peers(times, robot)


def _derivatives(times: Times, robot: str, counted: float) -> Iterator[Ratio]:
    """What derivatives of inverse dynamics cost, in evaluations of inverse dynamics."""
    what, pair = f"{INVERSE.analytical} / {INVERSE.row}", (INVERSE.analytical, INVERSE.row)
    ours, theirs, paper = (times.quotient(robot, *pair, c) for c in (_SINGLE, _CALL, _PAPER))
    yield Ratio(robot, f"{what}, one state", ours, theirs, paper)
    yield Ratio(robot, f"{what}, operations", counted)


def _finite_differences(times: Times, robot: str) -> Iterator[Ratio]:
    for dynamics in (INVERSE, FORWARD):
        pair = dynamics.finite, dynamics.analytical
        ours, paper = (times.quotient(robot, *pair, c) for c in (_BATCH, _PAPER))
        yield Ratio(robot, f"{dynamics.finite} / analytical, batches", ours, paper=paper)


def _inverses(times: Times, robot: str) -> Iterator[Ratio]:
    """Both routes to the inverse of the mass matrix."""
    for label, own, peer in (("batches", _BATCH, _LOOP), ("one state", _SINGLE, _CALL)):
        found = [times.quotient(robot, CHOLESKY, DEDICATED, c) for c in (own, peer, _PAPER)]
        yield Ratio(robot, f"{CHOLESKY} / dedicated, {label}", *found)


def _peers(times: Times, robot: str) -> Iterator[Ratio]:
    for row in (INVERSE.analytical, FORWARD.analytical):
        for what, theirs, ours in _AGAINST.values():
            yield Ratio(robot, f"{row}: {what}", times.against_peer(robot, row, theirs, ours))


def conclude(findings: Findings) -> Iterator[Fact]:
    """Means of the derivatives of all robots, against Pinocchio."""
    for name, (what, _, _) in _AGAINST.items():
        values = [r["ours"] for r in findings["ratios"] if r["what"].endswith(what)]
        yield spread(name, f"derivatives, {what}", values)


RATIOS = Derived(
    ratio_table(
        "paper: Carpentier and Mansard 2018, of the times in Table I.\n"
        "Pinocchio: of its calls alone for one state, of loops over them for batches."
    ),
    lambda findings: ratio_records(find_ratios(findings)),
)

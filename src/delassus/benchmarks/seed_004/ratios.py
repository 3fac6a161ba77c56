"""The ratios that the paper claims, ours and Pinocchio's of the same run, and bars for ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..ratio import Ratio
from ..report import Column, Table
from ..timing import geometric_mean
from .rows import CHOLESKY, DEDICATED, FORWARD, HUMANOID, INVERSE, ROBOTS

_LEAST_AGAINST_FINITE = dict(zip(ROBOTS, (4.0, 7.0, 10.0), strict=True))
_LEAST_AGAINST_CHOLESKY = {HUMANOID: 1.5}
_LEAST_MEAN, _LEAST_IN_BATCHES, _LEAST_ALONE = 4.0, 2.5, 1.0

# Entries of the times: ours in batches and alone, Pinocchio's loop and call, and the paper's.
_BATCH, _SINGLE = "microseconds", "single_microseconds"
_LOOP, _BARE, _CALL = "loop_microseconds", "bare_loop_microseconds", "call_microseconds"
_PAPER = "paper_microseconds"
# Against Pinocchio: what is divided, and the entries of theirs and ours.
_AGAINST_LOOP = "Pinocchio's loop / our batch"
_AGAINST_BARE = "Pinocchio's loop, no copies / our batch"
_AGAINST_CALL = "Pinocchio's call / our one state"
_AGAINST = {
    _AGAINST_LOOP: (_LOOP, _BATCH),
    _AGAINST_BARE: (_BARE, _BATCH),
    _AGAINST_CALL: (_CALL, _SINGLE),
}


class Times:
    """Records of times by robot and row."""

    def __init__(self, records: Sequence[Mapping[str, object]]):
        self._records = {(r["robot"], r["row"]): r for r in records}

    def quotient(self, robot: str, row: str, other: str, column: str) -> float:
        """How many times longer one row takes than the other."""
        return self._records[robot, row][column] / self._records[robot, other][column]

    def against_peer(self, robot: str, row: str, theirs: str, ours: str) -> float:
        """How many times longer Pinocchio takes than we do."""
        return self._records[robot, row][theirs] / self._records[robot, row][ours]


def find_ratios(
    times: Sequence[Mapping[str, object]], operations: Sequence[Mapping[str, object]]
) -> list[Ratio]:
    """All ratios of each robot, then what holds for all robots together."""
    known = Times(times)
    counted = {record["robot"]: record["ratio"] for record in operations}
    found = []
    for robot in ROBOTS:
        found += _derivatives(known, robot, counted[robot])
        found += _finite_differences(known, robot)
        found += _inverses(known, robot)
        found += _peers(known, robot)
    return found + _together(found)


def _derivatives(times: Times, robot: str, counted: float) -> list[Ratio]:
    """What derivatives of inverse dynamics cost, in evaluations of inverse dynamics."""
    what, rows = f"{INVERSE.analytical} / {INVERSE.row}", (INVERSE.analytical, INVERSE.row)
    ours, theirs, paper = (times.quotient(robot, *rows, c) for c in (_SINGLE, _CALL, _PAPER))
    return [
        Ratio(robot, f"{what}, one state", ours, theirs, paper, bar=theirs, is_ceiling=True),
        Ratio(robot, f"{what}, operations", counted, None, paper),
    ]


def _finite_differences(times: Times, robot: str) -> list[Ratio]:
    return [
        Ratio(
            robot,
            f"{dynamics.finite} / analytical, batches",
            times.quotient(robot, dynamics.finite, dynamics.analytical, _BATCH),
            paper=times.quotient(robot, dynamics.finite, dynamics.analytical, _PAPER),
            bar=_LEAST_AGAINST_FINITE[robot] if dynamics is FORWARD else None,
        )
        for dynamics in (INVERSE, FORWARD)
    ]


def _inverses(times: Times, robot: str) -> list[Ratio]:
    """Both routes to the inverse of the mass matrix; the bar is for batches."""
    paper = times.quotient(robot, CHOLESKY, DEDICATED, _PAPER)
    return [
        Ratio(
            robot,
            f"{CHOLESKY} / dedicated, {label}",
            times.quotient(robot, CHOLESKY, DEDICATED, ours),
            times.quotient(robot, CHOLESKY, DEDICATED, theirs),
            paper,
            bar=_LEAST_AGAINST_CHOLESKY.get(robot) if ours == _BATCH else None,
        )
        for label, ours, theirs in (("batches", _BATCH, _LOOP), ("one state", _SINGLE, _CALL))
    ]


def _peers(times: Times, robot: str) -> list[Ratio]:
    return [
        Ratio(robot, f"{row}: {what}", times.against_peer(robot, row, *columns))
        for row in (INVERSE.analytical, FORWARD.analytical)
        for what, columns in _AGAINST.items()
    ]


def _together(ratios: Sequence[Ratio]) -> list[Ratio]:
    """Bars for the derivatives of all robots, against Pinocchio."""
    bars = {
        _AGAINST_LOOP: (_LEAST_MEAN, _LEAST_IN_BATCHES),
        _AGAINST_BARE: (None, None),
        _AGAINST_CALL: (None, _LEAST_ALONE),
    }
    found = []
    for what, (mean_bar, least_bar) in bars.items():
        values = [ratio.ours for ratio in ratios if ratio.what.endswith(what)]
        found += [
            Ratio("all", f"mean of {what}", geometric_mean(values), bar=mean_bar),
            Ratio("all", f"least of {what}", min(values), bar=least_bar),
        ]
    return found


def table(ratios: Sequence[Ratio]) -> Table:
    """A row a ratio."""
    columns = [
        Column("robot"), Column("what", ""),
        Column("ours", "ours", ".2f"),
        Column("pinocchio", "Pinocchio", ".2f"),
        Column("paper", "paper", ".2f"),
        Column("sense", "bar"), Column("bar", "", ".2f"),
        Column("verdict", ""),
    ]  # fmt: skip
    note = (
        "paper: Carpentier and Mansard 2018, of the times in Table I.\n"
        "Pinocchio: of its calls alone for one state, of loops over them for batches.\n"
        "The means are geometric."
    )
    records = [ratio.record() for ratio in ratios]
    return Table("ratios", "Ratios of times, and the bars for ours", columns, records, note)

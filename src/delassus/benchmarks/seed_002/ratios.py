"""Ratios of times: of others to embedded, and of embedded to robots without rotors."""

from __future__ import annotations

from collections.abc import Iterator

from ..reporting.conclusions import Fact, spread
from ..reporting.ratios import Ratio, ratio_records, ratio_table
from ..reporting.tables import Findings
from ..runner import Derived
from .counting import EMBEDDED, SOLVERS
from .motors import ROBOTS
from .times import BATCH, PEERS, ROTOR_FREE, SINGLE

_MODES = {BATCH: "batches", SINGLE: "one state"}
_SHORT = {BATCH: "batch", SINGLE: "single"}  # in names of the summary


def find_ratios(findings: Findings) -> Iterator[Ratio]:
    """All ratios for which both times were measured."""
    for table, mode in _MODES.items():
        for record in findings[table]:
            problem, embedded = record["problem"], record[EMBEDDED]
            if ROTOR_FREE in record:
                what = f"{EMBEDDED} / {ROTOR_FREE}, {mode}"
                yield Ratio(problem, what, embedded / record[ROTOR_FREE])
            for other in (*SOLVERS, *PEERS):
                if other in record:
                    yield Ratio(problem, _against(other, table), record[other] / embedded)
    for record in findings["motors"]:
        paper = 1.0 / (1.0 - ROBOTS[record["robot"]].paper / 100.0)
        what = f"{EMBEDDED} / {ROTOR_FREE}, operations"
        yield Ratio(record["robot"], what, record["forward_ratio"], paper=paper)


def _against(other: str, table: str) -> str:
    """The name of a ratio: how many times longer another takes than embedded."""
    label = f"Pinocchio's {other}" if other in PEERS else other
    return f"{label} / {EMBEDDED}, {_MODES[table]}"


def conclude(findings: Findings) -> Iterator[Fact]:
    """Means over all problems, of each contestant in each mode."""
    ratios = findings["ratios"]
    for table, mode in _MODES.items():
        for other in (*SOLVERS, *PEERS):
            values = [r["ours"] for r in ratios if r["what"] == _against(other, table)]
            if values:
                yield spread(f"{other}_{_SHORT[table]}", _against(other, table), values)
        what = f"{EMBEDDED} / {ROTOR_FREE}, {mode}"
        found = {r["robot"]: r["ours"] for r in ratios if r["what"] == what}
        shown = ", ".join(f"{robot} {x:.2f}" for robot, x in found.items())
        yield Fact(f"rotor_free_{_SHORT[table]}", found, f"{what}: {shown}")


RATIOS = Derived(
    ratio_table(
        "Above 1, embedded is faster; embedded / rotor-free is what motors cost.\n"
        "paper: Chignoli et al. 2023, of operations in Fig. 12.",
        robot="problem",
    ),
    lambda findings: ratio_records(find_ratios(findings)),
)

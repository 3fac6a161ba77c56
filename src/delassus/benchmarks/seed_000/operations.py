"""Arithmetic operations of all methods, counted by CasADi: Figs. 1 and 5 of the paper."""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import DelassusError
from ..methods import all_methods, count_method
from ..progress import Job
from ..report import Column, Table
from ..settings import Settings
from .contests import ITERATIONS
from .problems import DAMPING, FEET, FEET_AND_HANDS, FINGERTIPS, LARGEST, QUADRUPED, Problem

COUNTED = (QUADRUPED, FEET, FEET_AND_HANDS, FINGERTIPS, LARGEST)
_KINDS = ("add", "mul", "div", "sqrt", "trig", "total")


def jobs(settings: Settings) -> list[Job]:
    """A job for each problem and method; those of large robots take many seconds."""
    return [
        Job(f"counting {p.label}, {m}", lambda p=p, f=f, m=m: count(p, f, m))
        for p in COUNTED
        for f, m in all_methods()
    ]


def count(problem: Problem, function: str, method: str) -> dict[str, object] | None:
    """The operations of a method for one state, None if it does not take the problem."""
    try:
        found = count_method(function, method, problem.constraints(), DAMPING, ITERATIONS)
    except DelassusError:
        return None
    what = {"problem": problem.label, "function": function, "method": method}
    return what | {kind: getattr(found, kind) for kind in _KINDS}


def tables(records: Sequence[dict[str, object] | None]) -> list[Table]:
    """A row a problem and method."""
    columns = [
        Column("problem"), Column("function"), Column("method"),
        *(Column(kind, kind, ",") for kind in _KINDS),
    ]  # fmt: skip
    title = "Arithmetic operations a state"
    note = (
        f"Dynamics: {ITERATIONS} proximal iterations, for accelerations and multipliers; without\n"
        "tests of convergence, and without remedies for states that need one."
    )
    return [Table("operations", title, columns, [r for r in records if r], note)]

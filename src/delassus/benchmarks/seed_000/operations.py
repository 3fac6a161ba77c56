"""Arithmetic operations of all methods, counted by CasADi: Figs. 1 and 5 of the paper."""

from __future__ import annotations

from ... import DelassusError
from ..comparing.methods import all_methods, count_method
from ..comparing.problems import (
    DAMPING,
    ITERATIONS,
    TALOS_FEET,
    TALOS_FEET_AND_HANDS,
    Problem,
)
from ..measuring.settings import Settings
from ..reporting.tables import Findings, Table, named, numbers
from ..runner import Part
from . import plots
from .problems import FINGERTIPS, LARGEST, QUADRUPED

COUNTED = (QUADRUPED, TALOS_FEET, TALOS_FEET_AND_HANDS, FINGERTIPS, LARGEST)
_KINDS = ("add", "mul", "div", "sqrt", "trig", "total")

TABLE = Table(
    "operations",
    "Arithmetic operations a state",
    [*named("problem", "function", "method"), *numbers(",", **{kind: kind for kind in _KINDS})],
    note=f"Dynamics: {ITERATIONS} proximal iterations, for accelerations and multipliers; without\n"
    "tests of convergence, and without remedies for states that need one.",
)


def measure(problem: Problem, function: str, method: str, settings: Settings) -> Findings:
    """One record: the operations of a method for one state; none if it cannot solve the problem."""
    try:
        found = count_method(function, method, problem.constraints(), DAMPING, ITERATIONS)
    except DelassusError:
        return {}
    what = {"problem": problem.label, "function": function, "method": method}
    return {"operations": [what | {kind: getattr(found, kind) for kind in _KINDS}]}


# Counting takes some minutes for large robots, so that it needs the option --count.
PART = Part(
    "operations",
    cases=lambda settings: [
        (problem, *method)
        for problem in COUNTED
        for method in all_methods()
        if settings.count_operations
    ],
    measure=measure,
    tables=[TABLE],
    plots={"operations": plots.operations},
)

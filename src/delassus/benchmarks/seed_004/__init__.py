"""Derivatives of dynamics: Table I of Carpentier and Mansard, with Pinocchio in the same run.

Analytical Derivatives of Rigid Body Dynamics Algorithms, RSS 2018.
"""

from __future__ import annotations

from ..machine import describe
from ..report import Result
from ..runner import check_possible, run_parts
from ..settings import Settings
from . import measurement, plots, ratios
from .automatic import casadi
from .conclusions import conclude

__all__ = ["run"]


def run(settings: Settings | None = None) -> Result:
    """Measure dynamics and derivatives of an arm, a quadruped and a humanoid on this machine."""
    check_possible()
    casadi()
    settings = Settings() if settings is None else settings
    machine = describe()  # before the benchmark adds its own load
    tables = run_parts([measurement], settings, "seed-004")
    found = ratios.find_ratios(tables["times"].records, tables["operations"].records)
    tables["ratios"] = ratios.table(found)
    summary, conclusions, failures = conclude(tables, found)
    return Result(
        name="seed-004",
        title="Derivatives of dynamics against Pinocchio (Carpentier and Mansard 2018, Table I)",
        settings=settings,
        tables=list(tables.values()),
        summary=summary,
        conclusions=conclusions,
        plots={"times": lambda: plots.times(tables["times"].records)},
        failures=failures,
        machine=machine,
    )

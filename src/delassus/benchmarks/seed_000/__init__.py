"""Constrained dynamics and Delassus matrices: the measurements of Sathya and Carpentier.

Constrained Articulated Body Dynamics Algorithms, 2024, Sec. VIII: Tables II and III, Figs. 1 to 5.
"""

from __future__ import annotations

from ..machine import describe
from ..report import Result
from ..runner import check_possible, run_parts
from ..settings import Settings
from . import convergence, growth, operations, plots, ratios
from .conclusions import conclude
from .contests import DYNAMICS_CONTEST, INVERSE_CONTEST

__all__ = ["run"]


def run(settings: Settings | None = None) -> Result:
    """Measure all methods for constraints on this machine, and count operations if asked to."""
    check_possible()
    settings = Settings() if settings is None else settings
    machine = describe()  # before the benchmark adds its own load
    parts = [DYNAMICS_CONTEST, INVERSE_CONTEST, convergence, growth]
    if settings.count_operations:
        parts.append(operations)
    tables = run_parts(parts, settings, "seed-000")
    found = ratios.find_ratios(tables)
    tables["ratios"] = ratios.table(found)
    summary, conclusions, failures = conclude(tables, found)
    return Result(
        name="seed-000",
        title="Constrained dynamics by all methods (Sathya and Carpentier 2024)",
        settings=settings,
        tables=list(tables.values()),
        summary=summary,
        conclusions=conclusions,
        plots=plots.all_plots(tables),
        failures=failures,
        machine=machine,
    )

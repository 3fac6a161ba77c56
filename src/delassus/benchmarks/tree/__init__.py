"""Tree dynamics: inverse and forward dynamics, the mass matrix and its inverse."""

from __future__ import annotations

from ..machine import describe
from ..report import Result
from ..runner import check_possible, run_parts
from ..settings import Settings
from . import comparison, growth, plots, scaling, startup
from .conclusions import conclude

__all__ = ["run"]


def run(settings: Settings | None = None) -> Result:
    """Measure everything about tree dynamics against Pinocchio, on this machine, in one run."""
    check_possible()
    settings = Settings() if settings is None else settings
    machine = describe()  # before the benchmark adds its own load
    tables = run_parts((comparison, scaling, growth, startup), settings, "tree")
    summary, conclusions, failures = conclude(tables, settings)
    return Result(
        name="tree",
        title="Tree dynamics against Pinocchio",
        settings=settings,
        tables=list(tables.values()),
        summary=summary,
        conclusions=conclusions,
        plots={
            "speed": lambda: plots.speed(tables["single"].records, tables["batch"].records),
            "growth": lambda: plots.growth(tables["growth"].records),
        },
        failures=failures,
        machine=machine,
    )

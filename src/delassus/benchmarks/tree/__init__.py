"""Tree dynamics: inverse and forward dynamics, the mass matrix and its inverse."""

from __future__ import annotations

from ...compile import is_compiled
from ...errors import DelassusError
from ..machine import describe
from ..pinocchio_peer import pinocchio
from ..progress import run_jobs
from ..report import Result
from ..settings import Settings
from . import comparison, growth, plots, scaling, startup
from .conclusions import conclude

__all__ = ["run"]


def run(settings: Settings | None = None) -> Result:
    """Measure everything about tree dynamics against Pinocchio, on this machine, in one run."""
    if not is_compiled():
        raise DelassusError("a benchmark needs compilation, which DELASSUS_COMPILE=0 switches off")
    pinocchio()
    settings = Settings() if settings is None else settings
    machine = describe()  # before the benchmark adds its own load
    parts = (comparison, scaling, growth, startup)
    jobs = [part.jobs(settings) for part in parts]
    records = iter(run_jobs([job for part in jobs for job in part], "tree"))
    found = [[next(records) for _ in part] for part in jobs]
    tables = {t.key: t for part, rows in zip(parts, found, strict=True) for t in part.tables(rows)}
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

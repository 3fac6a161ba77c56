"""Constrained dynamics: the measurements of Carpentier, Budhiraja and Mansard, in the same run.

Proximal and Sparse Resolution of Constrained Dynamic Equations, RSS 2021, Sec. V and Fig. 2.
"""

from __future__ import annotations

from ..machine import describe
from ..report import Result
from ..runner import check_possible, run_parts
from ..settings import Settings
from . import convergence, derivatives, dynamics, factorization, plots
from .conclusions import conclude

__all__ = ["run"]


def run(settings: Settings | None = None) -> Result:
    """Measure constrained dynamics of legged robots on this machine."""
    check_possible()
    settings = Settings() if settings is None else settings
    machine = describe()  # before the benchmark adds its own load
    tables = run_parts((dynamics, derivatives, factorization, convergence), settings, "seed-003")
    summary, conclusions, failures = conclude(tables)
    return Result(
        name="seed-003",
        title="Constrained dynamics against Pinocchio (Carpentier, Budhiraja and Mansard 2021)",
        settings=settings,
        tables=list(tables.values()),
        summary=summary,
        conclusions=conclusions,
        plots={
            "times": lambda: plots.times(tables["dynamics"].records),
            "factorization": lambda: plots.factorization(tables["factorization"].records),
            "convergence": lambda: plots.convergence(tables["convergence"].records),
        },
        failures=failures,
        machine=machine,
    )

"""Samples of the thirteen systems of seed 001, solved by all solvers of contact.

| file | what it holds |
| --- | --- |
| `scenarios` | what happens to each system |
| `sampling`, `categories` | dual problems of its steps, and of which kind they are |
| `solving` | solvers on samples |
| `simulating`, `sweeping` | whole simulations, and parameters of stabilisation and softening |
| `store`, `running` | files of a run, and a run that can be stopped and goes on |
| `shown` | what came of it: tables, plots, sentences, the report |
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path

from ... import robots
from ..measuring.machine import describe
from ..measuring.settings import Settings
from ..peers.packages import package
from .running import Plan, Run
from .shown.findings import joints_table, sentences, wins_table
from .shown.report import Report
from .shown.simulations import beside_tables, simulations_table, sweeps_table
from .shown.tables import samples_tables

_MEANT = "auto"  # what has to drive every system; that others fail is what is measured
__all__ = ["SUITE", "Plan", "Run", "Suite", "report_of"]


@dataclass(frozen=True)
class Suite:
    """The benchmark suite; it runs by its name as others do, and goes on where it was stopped."""

    name: str = "suite"
    description: str = "thirteen systems: samples of their steps, all solvers, whole simulations"
    is_long: bool = True

    def run(self, settings: Settings | None = None, folder: Path | None = None) -> Report:
        """Run what is missing in a folder, and report all of it."""
        settings = Settings() if settings is None else settings
        package("matplotlib.figure", "plots need Matplotlib")
        systems = settings.suite_systems or tuple(robots.suite())
        part = "suite" if len(systems) == len(robots.suite()) else "suite-quick"
        place = Path("bench-results") if folder is None else folder
        plan = Plan(tuple(systems), settings.suite_samples, settings.suite_seeds)
        workers = min(2, os.cpu_count() or 1)
        run = Run(place / part, plan, workers)
        run.make_all()
        return report_of(run)


def report_of(run: Run) -> Report:
    """The report of all that is in the folder of a run."""
    records, simulated, swept = run.records(), run.simulations(), run.sweeps()
    failures = [
        f"{x['system']} by {x['driver']} diverged after {x['seconds_simulated']} s"
        for x in simulated
        if x["driver"] == _MEANT and "diverged" in x["failures"]
    ]
    tables = [*samples_tables(run.index(), records), joints_table(records), wins_table(records)]
    tables += [*beside_tables(simulated), simulations_table(simulated)]
    tables += [sweeps_table(swept)] if swept else []
    return Report(
        run.store.folder,
        describe(),
        asdict(run.plan),
        tables,
        records,
        run.curves(),
        simulated,
        swept,
        list(sentences(records, simulated)),
        failures,
    )


SUITE = Suite()

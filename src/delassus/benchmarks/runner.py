"""The runner of all benchmarks.

    settings -> jobs with a progress bar -> records -> tables -> checks, conclusions, plots, JSON

A benchmark declares its parts, and what it concludes; everything else is done here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from .. import DelassusError
from ..compile import is_compiled
from .measuring.jobs import Job, run_jobs
from .measuring.machine import describe
from .measuring.settings import Settings
from .peers.packages import pinocchio
from .reporting.checks import Limit, find_failures
from .reporting.conclusions import Fact
from .reporting.result import Result
from .reporting.tables import Findings, Record, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Part:
    """A part of a benchmark: what is measured on which cases, and how that is shown and checked.

    `cases` gives tuples of arguments, and `measure` is called with each of them and the settings;
    it returns records by the keys of the tables. A part without cases is left out.
    """

    name: str  # for the progress bar
    cases: Callable[[Settings], Iterable[tuple]]
    measure: Callable[..., Findings]
    tables: Sequence[Table]
    limits: Sequence[Limit] = ()
    plots: Mapping[str, Callable[[Findings], Figure]] = field(default_factory=dict)

    def jobs(self, settings: Settings) -> list[Job]:
        """One job per case; the case's text names it in the progress bar."""
        return [
            Job(", ".join((self.name, *map(str, case))), partial(self.measure, *case, settings))
            for case in self.cases(settings)
        ]


@dataclass(frozen=True)
class Derived:
    """A table that is computed from the records of the parts."""

    table: Table
    records: Callable[[Findings], Sequence[Record]]


@dataclass(frozen=True)
class Benchmark:
    """A benchmark against Pinocchio that can be run by its name."""

    name: str
    description: str  # a line for the list of benchmarks
    title: str  # of the report
    parts: Sequence[Part]
    conclusions: Sequence[Callable[[Findings], Iterable[Fact]]]
    derived: Sequence[Derived] = ()
    needs: Sequence[Callable[[], object]] = ()  # each raises an error if a package is missing
    is_long: bool = False  # only run if it is named

    def run(self, settings: Settings | None = None, folder: Path | None = None) -> Result:
        """Measure on this machine; everything that is reported comes from this one run.

        `folder` is for benchmarks that keep parts of a run: this one keeps none.
        """
        self._check_possible()
        settings = Settings() if settings is None else settings
        machine = describe()  # before the benchmark adds its own load
        findings, parts = self._measure(settings)
        tables = [table for part in parts for table in part.tables]
        for derived in self.derived:
            findings[derived.table.key] = derived.records(findings)
            tables.append(derived.table)
        facts = [fact for conclude in self.conclusions for fact in conclude(findings)]
        return Result(
            name=self.name,
            title=self.title,
            settings=settings,
            tables=[table.filled(findings[table.key]) for table in tables],
            summary={fact.name: fact.value for fact in facts},
            conclusions=[fact.line for fact in facts],
            machine=machine,
            plots={key: partial(draw, findings) for p in parts for key, draw in p.plots.items()},
            failures=[x for part in parts for x in find_failures(part.limits, findings)],
        )

    def _check_possible(self) -> None:
        """Raise an error if nothing can be measured, or compared."""
        if not is_compiled():
            raise DelassusError(
                "a benchmark needs compilation, which DELASSUS_COMPILE=0 switches off"
            )
        for package in (pinocchio, *self.needs):
            package()

    def _measure(self, settings: Settings) -> tuple[dict[str, list[Record]], list[Part]]:
        """The records of all jobs by the keys of the tables, and the parts that have any."""
        jobs = {part.name: part.jobs(settings) for part in self.parts}
        parts = [part for part in self.parts if jobs[part.name]]
        findings = {table.key: [] for part in parts for table in part.tables}
        for found in run_jobs([job for part in parts for job in jobs[part.name]], self.name):
            for key, records in found.items():
                findings[key] += records
        return findings, parts

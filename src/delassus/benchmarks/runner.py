"""What all benchmarks against Pinocchio do: check, run their parts, gather the tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..compile import is_compiled
from ..errors import DelassusError
from .pinocchio_peer import pinocchio
from .progress import Job, run_jobs
from .report import Table
from .settings import Settings


class Part(Protocol):
    """A module of a benchmark: jobs to run, and tables of what they return."""

    def jobs(self, settings: Settings) -> list[Job]:
        """What to measure."""

    def tables(self, records: Sequence) -> list[Table]:
        """The results of all jobs, in order, as tables."""


def check_possible() -> None:
    """Raise an error if nothing can be measured, or compared."""
    if not is_compiled():
        raise DelassusError("a benchmark needs compilation, which DELASSUS_COMPILE=0 switches off")
    pinocchio()


def run_parts(parts: Sequence[Part], settings: Settings, title: str) -> dict[str, Table]:
    """The tables of all parts by their keys."""
    jobs = [part.jobs(settings) for part in parts]
    records = iter(run_jobs([job for part in jobs for job in part], title))
    found = [[next(records) for _ in part] for part in jobs]
    return {t.key: t for part, rows in zip(parts, found, strict=True) for t in part.tables(rows)}

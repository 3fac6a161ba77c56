"""Benchmarks against other libraries: tables for people, JSON for programs, from the same run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .report import Result
from .seed_000 import run as run_seed_000
from .seed_003 import run as run_seed_003
from .seed_004 import run as run_seed_004
from .settings import Settings
from .tree import run as run_tree

__all__ = ["BENCHMARKS", "Benchmark", "Result", "Settings"]


@dataclass(frozen=True)
class Benchmark:
    """A benchmark that can be run by its name."""

    name: str
    description: str
    run: Callable[[Settings], Result]


BENCHMARKS = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark("tree", "tree dynamics of real robots against Pinocchio", run_tree),
        Benchmark("seed-000", "constrained dynamics by all methods", run_seed_000),
        Benchmark("seed-003", "constrained dynamics against Pinocchio", run_seed_003),
        Benchmark("seed-004", "derivatives of dynamics against Pinocchio", run_seed_004),
    )
}

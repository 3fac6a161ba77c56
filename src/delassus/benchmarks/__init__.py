"""Benchmarks against Pinocchio: tables and plots for people, JSON for programs, from one run.

| folder | what it holds |
| --- | --- |
| `peers/` | Pinocchio with our robots, states and constraints |
| `measuring/` | settings, random states, timers, jobs |
| `reporting/` | tables, ratios, checks, conclusions, plots, pages, files |
| `comparing/` | algorithms, methods and problems that several benchmarks share |
| `tree/`, `contact/`, `simulation/`, `seed_000/` ... | a benchmark each, for `runner.py` |
| `suite/` | thirteen systems, in a run of its own that can be stopped and goes on |
"""

from __future__ import annotations

from .contact import CONTACT
from .measuring.settings import Settings
from .reporting.result import Result
from .runner import Benchmark
from .seed_000 import SEED_000
from .seed_002 import SEED_002
from .seed_003 import SEED_003
from .seed_004 import SEED_004
from .simulation import SIMULATION
from .suite import SUITE, Suite
from .tree import TREE

__all__ = ["BENCHMARKS", "Benchmark", "Result", "Settings"]

BENCHMARKS: dict[str, Benchmark | Suite] = {
    benchmark.name: benchmark
    for benchmark in (TREE, SEED_000, SEED_002, SEED_003, SEED_004, CONTACT, SIMULATION, SUITE)
}

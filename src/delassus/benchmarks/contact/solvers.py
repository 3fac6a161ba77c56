"""All solvers on all problems, cold and warm: what they solve, in how many iterations and how long.

A warm start is the solution of a problem nearby times 0.9.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from timeit import Timer

import numpy as np

from ... import contact
from ..measuring.settings import Settings
from ..measuring.timing import MICROSECONDS, best_times, processor_clock
from ..reporting.checks import Limit
from ..reporting.conclusions import Fact
from ..reporting.tables import Column, Findings, Record, Table, numbers
from ..runner import Part
from . import plots
from .bodies import Sample
from .problems import KINDS, samples_of
from .profiles import CCP, MODES

TOLERANCE = 1e-6
DRAIN = 0.9  # of a warm start
ALL = "all"
_CLAIMED = 1e-6 * TOLERANCE  # rounding of a natural map of 1e-6 that is computed twice
_QUANTITIES = {
    "converged": (f"share of problems solved to a relative natural map of {TOLERANCE:.0e}", ".2f"),
    "iterations": ("iterations, median of the problems it solved", ".0f"),
    "microseconds": ("microseconds from Python, median of the problems it solved", ".0f"),
    "natural_map": ("natural map at the end, median of all problems", ".0e"),
}
NOTE = (
    "Default parameters and numbers of iterations. A warm start is the solution of a problem with\n"
    "twists that differ by 5 %, times 0.9. pgs-ccp and admm-ccp solve the convex problem, and are\n"
    "measured by its natural map. nbgs and the raisim solvers have other laws of friction: the\n"
    "natural map tells how far these are from Coulomb's. Times are of the processor, one core."
)


def key_of(quantity: str, mode: str) -> str:
    """The key of a table."""
    return f"{quantity}_{mode}"


def _table(quantity: str, mode: str) -> Table:
    title, format = _QUANTITIES[quantity]
    columns = [Column("solver"), *numbers(format, **dict.fromkeys([*KINDS, ALL], None))]
    columns.append(Column("values", is_shown=False))
    note = NOTE if quantity == "converged" and mode == "cold" else ""
    return Table(key_of(quantity, mode), f"{MODES[mode]}: {title}", columns, note=note)


TABLES = tuple(_table(quantity, mode) for mode in MODES for quantity in _QUANTITIES)


@dataclass(frozen=True)
class Run:
    """What a solver did with one problem; a time of None where it did not solve it."""

    converged: bool
    iterations: int | None
    microseconds: float | None
    natural_map: float
    claimed: float  # the relative one in plain NumPy where it says that it converged, else 0


@lru_cache(maxsize=4096)
def warm_start(sample: Sample) -> np.ndarray:
    """The reactions of the problem before, drained."""
    return DRAIN * contact.solve(sample.before, tolerance=1e-8).reactions


def run_solver(name: str, sample: Sample, mode: str, settings: Settings) -> Run:
    """Solve a problem, and take the time if that succeeds."""
    p, start = sample.problem, warm_start(sample) if mode == "warm" else None
    found = contact.solve(p, name, TOLERANCE, warm_start=start)
    natural = found.residuals.natural_map
    if not found.converged:
        return Run(False, None, None, natural, 0.0)
    law = "ccp" if name in CCP else "ncp"
    claimed = contact.residuals(p, found.reactions, law).relative_natural_map
    timer = Timer(lambda: contact.solve(p, name, TOLERANCE, warm_start=start))
    brief = replace(settings, repeats=min(settings.repeats, 5), match_seconds=0.0)
    seconds = best_times({name: timer}, brief, processor_clock())[name]
    return Run(True, found.iterations, MICROSECONDS * seconds, natural, claimed)


def measure(name: str, settings: Settings) -> Findings:
    """One record per table: a solver, and a number for each kind of problem."""
    findings: dict[str, list[Record]] = {}
    for mode in MODES:
        runs = {
            kind: [run_solver(name, x, mode, settings) for x in samples_of(kind, settings)]
            for kind in KINDS
        }
        every = [run for own in runs.values() for run in own]
        for quantity in _QUANTITIES:
            record: Record = {"solver": name}
            for kind, own in (*runs.items(), (ALL, every)):
                record[kind] = _summary(quantity, own)
            record["values"] = [getattr(run, quantity) for run in every]
            record["claimed"] = max(run.claimed for run in every)
            findings[key_of(quantity, mode)] = [record]
    return findings


def _summary(quantity: str, runs: Sequence[Run]) -> float | None:
    """The mean of flags, the median of numbers; None without any."""
    known = [x for run in runs if (x := getattr(run, quantity)) is not None]
    if not known:
        return None
    return float(np.mean(known) if quantity == "converged" else np.median(known))


def conclude(findings: Findings) -> Iterator[Fact]:
    """Shares of all problems that solvers solve."""
    for mode, label in MODES.items():
        found = {r["solver"]: r[ALL] for r in findings[key_of("converged", mode)]}
        count = len(findings[key_of("converged", mode)][0]["values"])
        order = sorted(found, key=lambda name: -found[name])
        shown = ", ".join(f"{name} {100.0 * found[name]:.0f} %" for name in order)
        yield Fact(f"solved_{mode}", found, f"solved of {count} problems, {label}: {shown}")


PART = Part(
    "solvers",
    cases=lambda _: [(name,) for name in contact.SOLVERS],
    measure=measure,
    tables=TABLES,
    limits=[
        Limit(
            key_of("natural_map", mode),
            "claimed",
            "{solver}: a natural map that it calls converged is {claimed:.3e}",
            TOLERANCE + _CLAIMED,
        )
        for mode in MODES
    ],
    plots={"solvers": plots.solved, "profiles": plots.profiles},
)

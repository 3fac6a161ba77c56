"""A solver on a sample: cold, warm started, and with joints as rows that it iterates on.

Metrics are those of seed 001, (174) to (176), of the nonlinear problem with Coulomb's law, for all
solvers alike. `own` is the natural map of the law that the solver has: those of the convex problem
are told apart by it. Reactions are kept, so that all of it can be computed again.
"""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import numpy as np

from ... import contact
from ..measuring.timing import MICROSECONDS, processor_clock
from .store import Store, write_arrays

TOLERANCE = 1e-6
MODES = {"cold": "cold", "warm": "warm started", "split": "cold, joints iterated on"}
_REPEATS = 5  # of a measurement, the shortest counts
_LONG = 0.01  # s; what takes longer is measured once
_HISTORY = 60  # points of a convergence curve


def law_of(solver: str) -> str:
    """The law that a solver has by default."""
    return "ccp" if "ccp" in solver else "ncp"


def metrics(p: contact.Problem, reactions: np.ndarray, solver: str) -> dict[str, float]:
    """Residuals of reactions: of the nonlinear problem, and the natural map of the solver's law."""
    found = contact.residuals(p, reactions, "ncp")
    own = found if law_of(solver) == "ncp" else contact.residuals(p, reactions, "ccp")
    told = {name: float(x) for name, x in found._asdict().items()}
    return {**told, "own": float(own.natural_map)}


def solve_sample(folder: Path, system: str, told: dict, solver: str, has_curve: bool) -> float:
    """Solve a sample by a solver in all modes, and keep what comes of it; the seconds it took."""
    begun = time.perf_counter()
    store = Store(folder)
    p, start = store.sample(system, told["number"])
    arrays, found = {}, {}
    for mode in MODES:
        if mode == "split" and p.n_joint_rows == 0:
            continue  # nothing to iterate on: the cold run again
        options = {"tolerance": TOLERANCE, "threads": 1}
        options |= {"warm_start": start} if mode == "warm" else {}
        options |= {"joints": "split"} if mode == "split" else {}
        solution, seconds = _timed(p, solver, options)
        arrays[mode] = solution.reactions
        found[mode] = {
            **metrics(p, solution.reactions, solver),
            "iterations": int(solution.iterations),
            "microseconds": MICROSECONDS * seconds,
        }
    if has_curve:
        history = contact.solve(p, solver, TOLERANCE, record=True, threads=1).history
        if history is not None and len(history):
            at = np.unique(np.geomspace(1, len(history), _HISTORY).astype(int)) - 1
            arrays["curve_at"], arrays["curve"] = at + 1, history[at]
    write_arrays(store.solution_path(system, told["number"], solver), arrays, found)
    return time.perf_counter() - begun


def _timed(p: contact.Problem, solver: str, options: dict) -> tuple[contact.Solution, float]:
    """A solution, and the shortest time of the processor that finding it took."""
    _load(solver)
    clock, best = processor_clock(), np.inf
    for _ in range(_REPEATS):
        begin = clock()
        found = contact.solve(p, solver, **options)
        best = min(best, clock() - begin)
        if best > _LONG:
            break
    return found, best


@cache
def _load(solver: str) -> None:
    """Compile a solver, or load it, which is not part of its times."""
    contact.solve(contact.Problem(np.eye(3), np.full(3, -1.0), friction=0.5), solver, threads=1)

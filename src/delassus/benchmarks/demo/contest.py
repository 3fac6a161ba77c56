"""Solvers on samples: dual problems of steps of the falls, from the touch-down on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from timeit import Timer

import numpy as np

from ... import contact, maximal, robots
from ..measuring.settings import Settings
from ..measuring.timing import MICROSECONDS, best_times, processor_clock
from ..reporting.tables import Column, Record, Table
from ..suite.sampling import State, problem_of
from .falls import Fall, simulator

# By methods: Newton's, ADMM, projected and nonsmooth Gauss-Seidel, proximal points.
SOLVERS = ("auto", "admm-ncp-sa", "pgs-ncp", "nbgs", "prox")
SAMPLES = 6  # of each fall
TOLERANCE = 1e-6
_MOST = 2000  # iterations
_SLOTS = 32
_TIMING = Settings(repeats=3, turn_seconds=2e-3, match_seconds=0.0)


@dataclass(frozen=True, eq=False)
class Contest:
    """What came of it: a table, and the natural map over iterations at the touch-down."""

    table: Table
    curves: dict[str, dict[str, np.ndarray]]


def prepare() -> None:
    """Compile what the contest needs, or load it: dual problems of steps, then the solvers."""
    box = robots.figure("box_on_plane").model
    system = maximal.MaximalSystem(box, contact_slots=_SLOTS)
    nothing = np.zeros(box.nv)
    problem_of(State(system, box.neutral(), nothing, (), nothing, np.zeros((1, 6))))
    load_solvers()


def load_solvers() -> None:
    """Compile the solvers, or load them."""
    small = contact.Problem(np.eye(3), np.full(3, -1.0), friction=0.5)
    for solver in SOLVERS:
        contact.solve(small, solver, threads=1)


def problems(one: Fall) -> list[contact.Problem]:
    """Problems of steps of a fall, closer in time at the touch-down than later."""
    (touching,) = np.nonzero(one.recording.metrics["contacts"] > 0)
    chosen = np.unique(np.geomspace(1, len(touching), SAMPLES).astype(int)) - 1
    mechanism, sim, at, found = one.mechanism, simulator(one.mechanism), 0, []
    system = maximal.MaximalSystem(mechanism.model, contact_slots=_SLOTS)
    pushes = np.zeros((mechanism.model.n_bodies, 6))
    for step in touching[chosen] + 1:
        if step > at:
            sim.rollout(int(step) - at, mechanism.control)
            at = int(step)
        here = State(system, sim.q.copy(), sim.v.copy(), sim.contacts, mechanism.control, pushes)
        problem = problem_of(here).problem
        if problem.n_rows > problem.n_joint_rows:
            found.append(problem)
    return found


def compare(samples_of: Mapping[str, Sequence[contact.Problem]]) -> Contest:
    """All solvers on all samples of each fall."""
    load_solvers()
    records, curves = [], {}
    for title, samples in samples_of.items():
        records += [_record(title, solver, samples) for solver in SOLVERS]
        curves[title] = {
            s: contact.solve(samples[0], s, TOLERANCE, _MOST, record=True, threads=1).history
            for s in SOLVERS
        }
    columns = [
        Column("mechanism", "samples of"), Column("solver"), Column("solved", "solved"),
        Column("iterations", "iterations", ".0f"),
        Column("natural_map", "largest natural map", ".1e"),
        Column("microseconds", "time", ".0f", " µs"),
    ]  # fmt: skip
    note = (
        f"{SAMPLES} steps of each fall, from the touch-down on, cold; asked for a natural map of "
        f"{TOLERANCE:.0e} in at most\n{_MOST} iterations. Iterations and times are medians; all "
        "eliminate joints first, which takes most of the time."
    )
    return Contest(Table("solvers", "Solvers on their samples", columns, records, note), curves)


def _record(title: str, solver: str, samples: Sequence[contact.Problem]) -> Record:
    """A solver on the samples of a fall."""
    found = [contact.solve(p, solver, TOLERANCE, _MOST, threads=1) for p in samples]

    def timed(p: contact.Problem) -> Timer:
        return Timer(lambda: contact.solve(p, solver, TOLERANCE, _MOST, threads=1))

    times = best_times({k: timed(p) for k, p in enumerate(samples)}, _TIMING, processor_clock())
    natural = [float(contact.residuals(p, x.reactions).natural_map)
               for p, x in zip(samples, found, strict=True)]  # fmt: skip
    return {
        "mechanism": title,
        "solver": solver,
        "solved": f"{sum(bool(x.converged) for x in found)} of {len(found)}",
        "iterations": float(np.median([x.iterations for x in found])),
        "natural_map": max(natural),
        "microseconds": MICROSECONDS * float(np.median(list(times.values()))),
    }

"""Constrained dynamics of one state and of batches, against Pinocchio with the same settings."""

from __future__ import annotations

from collections.abc import Sequence
from timeit import Timer

import numpy as np

import delassus

from ...constrained.rows.constraints import Constraints
from ..pinocchio_constraints import ConstrainedPeer, proximal_settings
from ..pinocchio_peer import pinocchio
from ..progress import Job
from ..report import Column, Table
from ..settings import Settings
from ..states import States, largest_difference
from ..timing import best_times, processor_clock
from .problems import DAMPING, PROBLEMS, Problem

ITERATIONS = 3
_MICROSECONDS = 1e6


def jobs(settings: Settings) -> list[Job]:
    """A job for each problem."""
    return [Job(p.label, lambda p=p: compare(p, settings)) for p in PROBLEMS]


def compare(problem: Problem, settings: Settings) -> dict[str, object]:
    """Times a state, alone and in a batch, ratios, and the difference of accelerations."""
    constraints, peer = problem.pair()
    model = constraints.model
    states = States.random(model, settings.states, settings.seed)
    iterations = _solve(constraints, states).iterations
    batch, difference = _race(constraints, peer, states, settings)
    sparse = best_times({"own": own_timer(constraints, states, "prox-ltl")}, settings)["own"]
    one = states.at(int(np.argmax(iterations)))
    single, single_difference = _race(constraints, peer, one, settings)
    return {
        "problem": problem.label, "nv": model.nv, "rows": constraints.size,
        "microseconds": batch["own"] / settings.states,
        "sparse_microseconds": _MICROSECONDS * sparse / settings.states,
        "loop_microseconds": batch["peer"] / settings.states,
        "batch_ratio": batch["peer"] / batch["own"],
        "single_microseconds": single["own"],
        "call_microseconds": single["peer"],
        "single_ratio": single["peer"] / single["own"],
        "iterations": float(iterations.mean()),
        "difference": max(difference, single_difference),
    }  # fmt: skip


def _race(
    constraints: Constraints, peer: ConstrainedPeer, states: States, settings: Settings
) -> tuple[dict[str, float], float]:
    """Microseconds of both libraries for one state or a batch, and how far they are apart."""
    theirs = np.zeros_like(states.v)
    timers = {
        "own": own_timer(constraints, states),
        "peer": peer_timer(peer, states.for_peer(peer.peer), theirs),
    }
    times = best_times(timers, settings)
    own = _solve(constraints, states).acceleration
    expected = peer.peer.from_velocity(theirs)
    difference = largest_difference(np.atleast_2d(own), np.atleast_2d(expected))
    return {name: _MICROSECONDS * seconds for name, seconds in times.items()}, difference


_OPTIONS = {"damping": DAMPING, "tolerance": 0.0, "max_iterations": ITERATIONS}


def _solve(constraints: Constraints, states: States) -> delassus.ConstrainedSolution:
    return delassus.constrained_dynamics(
        constraints.model, states.q, states.v, states.x, constraints, **_OPTIONS, threads=1
    )


def own_timer(constraints: Constraints, states: States, method: str = "auto") -> Timer:
    """A call of ours on one state, or on a batch by one thread into arrays that are there."""
    options = ", ".join(f"{name}={value!r}" for name, value in _OPTIONS.items())
    options += f", method={method!r}"
    scope = {"function": delassus.constrained_dynamics, "model": constraints.model,
             "constraints": constraints, **vars(states)}  # fmt: skip
    if states.v.ndim > 1:
        scope["out"] = _solve(constraints, states)
        options += ", threads=1, out=out"
    statement = f"function(model, q, v, x, constraints, {options})"
    return Timer(statement, timer=processor_clock(), globals=scope)


def peer_timer(peer: ConstrainedPeer, states: States, out: np.ndarray) -> Timer:
    """Pinocchio on one state, or on a batch state by state; accelerations are copied to `out`."""
    scope = {"function": pinocchio().constraintDynamics, **vars(peer),
             "settings": proximal_settings(DAMPING, ITERATIONS)}  # fmt: skip
    arrays = {"out": out, **vars(states)}
    loop = ""
    if states.v.ndim > 1:
        loop = f"for {', '.join(arrays)} in zip({', '.join(f'all_{name}' for name in arrays)}): "
        arrays = {f"all_{name}": array for name, array in arrays.items()}
    call = "function(model, data, q, v, x, constraints, constraint_data, settings)"
    return Timer(f"{loop}out[:] = {call}", timer=processor_clock(), globals=scope | arrays)


def tables(records: Sequence[dict[str, object]]) -> list[Table]:
    """A row a problem."""
    columns = [
        Column("problem"), Column("nv"), Column("rows"),
        Column("microseconds", "ours: batch", ".2f"),
        Column("sparse_microseconds", "by prox-ltl", ".2f"),
        Column("loop_microseconds", "Pinocchio: loop", ".2f"),
        Column("batch_ratio", "ratio", ".2f"),
        Column("single_microseconds", "ours: one state", ".2f"),
        Column("call_microseconds", "Pinocchio: one call", ".2f"),
        Column("single_ratio", "ratio", ".2f"),
        Column("iterations", "iterations", ".2f"),
        Column("difference", "difference", ".0e"),
    ]  # fmt: skip
    title = "Constrained dynamics: microseconds a state on one core"
    note = (
        f"Both with damping {DAMPING:g} and at most {ITERATIONS} proximal iterations. Pinocchio\n"
        "does all of them, and we the mean that is given, since nothing is done where rounding\n"
        "is left; the one state is one where we do as many, and a batch waits for the slowest.\n"
        "Pinocchio: constraintDynamics, accelerations copied to their places. Ours: the method\n"
        "that is chosen without asking, and the paper's own, prox-ltl, beside it; accelerations,\n"
        "multipliers and residuals, of a batch into arrays that are there. In time of the\n"
        "processor, on one thread.\n"
        "difference: of accelerations, relative, the largest of all states."
    )
    return [Table("dynamics", title, columns, records, note)]

"""Derivatives of constrained dynamics in batches, against Pinocchio with the same settings."""

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
# What Pinocchio leaves in its data, in the order of ours.
_THEIRS = ("ddq_dq", "ddq_dv", "ddq_dtau", "dlambda_dq", "dlambda_dv", "dlambda_dtau")
_OPTIONS = {"damping": DAMPING, "tolerance": 0.0, "max_iterations": ITERATIONS}


def jobs(settings: Settings) -> list[Job]:
    """A job for each problem."""
    return [Job(p.label, lambda p=p: compare(p, settings)) for p in PROBLEMS]


def compare(problem: Problem, settings: Settings) -> dict[str, object]:
    """Times a state, their ratio, and the difference of the accelerations' derivatives."""
    constraints, peer = problem.pair()
    states = States.random(constraints.model, settings.states, settings.seed)
    out = delassus.constrained_dynamics_derivatives(
        constraints.model, states.q, states.v, states.x, constraints, **_OPTIONS, threads=1
    )
    theirs = [np.zeros_like(x) for x in out]
    timers = {
        "own": own_timer(constraints, states, out),
        "peer": peer_timer(peer, states.for_peer(peer.peer), theirs),
    }
    times = best_times(timers, settings)
    motions = tuple(peer.peer.from_matrix(x) for x in theirs[:3])
    return {
        "problem": problem.label,
        "nv": constraints.model.nv,
        "rows": constraints.size,
        "microseconds": 1e6 * times["own"] / settings.states,
        "loop_microseconds": 1e6 * times["peer"] / settings.states,
        "ratio": times["peer"] / times["own"],
        "difference": largest_difference(tuple(out)[:3], motions),
    }


def own_timer(constraints: Constraints, states: States, out) -> Timer:
    """All derivatives of a batch, on one thread."""
    options = ", ".join(f"{name}={value!r}" for name, value in _OPTIONS.items())
    scope = {"function": delassus.constrained_dynamics_derivatives, "model": constraints.model,
             "constraints": constraints, "out": out, **vars(states)}  # fmt: skip
    statement = f"function(model, q, v, x, constraints, {options}, threads=1, out=out)"
    return Timer(statement, timer=processor_clock(), globals=scope)


def peer_timer(peer: ConstrainedPeer, states: States, out: list[np.ndarray]) -> Timer:
    """Pinocchio state by state; all its derivatives are copied to `out`."""

    def loop() -> None:
        module, settings = pinocchio(), proximal_settings(DAMPING, ITERATIONS)
        model, data, own, own_data = peer.model, peer.data, peer.constraints, peer.constraint_data
        dynamics, derivatives = (
            module.constraintDynamics,
            module.computeConstraintDynamicsDerivatives,
        )
        for q, v, x, *places in zip(states.q, states.v, states.x, *out, strict=True):
            dynamics(model, data, q, v, x, own, own_data, settings)
            derivatives(model, data, own, own_data, settings)
            for place, name in zip(places, _THEIRS, strict=True):
                place[:] = getattr(data, name)

    return Timer(loop, timer=processor_clock())


def tables(records: Sequence[dict[str, object]]) -> list[Table]:
    """A row a problem."""
    columns = [
        Column("problem"), Column("nv"), Column("rows"),
        Column("microseconds", "ours: batch", ".2f"),
        Column("loop_microseconds", "Pinocchio: loop", ".2f"),
        Column("ratio", "ratio", ".2f"),
        Column("difference", "difference", ".0e"),
    ]  # fmt: skip
    title = "Derivatives of constrained dynamics: microseconds a state on one core"
    note = (
        "Of accelerations and multipliers by q, v and tau, after three iterations with damping\n"
        f"{DAMPING:g}. Pinocchio: constraintDynamics, then computeConstraintDynamicsDerivatives, "
        "all six\nresults copied to their places. Ours: into arrays that are there.\n"
        "difference: of the accelerations' derivatives, relative, the largest of all states."
    )
    return [Table("derivatives", title, columns, records, note)]

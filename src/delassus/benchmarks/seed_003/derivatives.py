"""Derivatives of constrained dynamics in batches, against Pinocchio with the same settings."""

from __future__ import annotations

import numpy as np

from ... import constrained_dynamics_derivatives
from ..comparing.methods import evaluate, own_timer, peer_timer
from ..comparing.problems import DAMPING, ITERATIONS, PROXIMAL, Problem
from ..measuring.settings import Settings
from ..measuring.states import States, largest_difference
from ..measuring.timing import MICROSECONDS, best_times, processor_clock
from ..peers.constraints import derivatives_call
from ..reporting.checks import Limit
from ..reporting.tables import Findings, Table, named, numbers
from ..runner import Part
from .problems import PROBLEMS

TABLE = Table(
    "derivatives",
    "Derivatives of constrained dynamics: microseconds a state on one core",
    [
        *named("problem", "nv", "rows"),
        *numbers(".2f", microseconds="ours: batch", loop_microseconds="Pinocchio: loop"),
        *numbers(".2f", ratio="ratio"),
        *numbers(".0e", difference="difference"),
    ],
    note=f"Of accelerations and multipliers by q, v and tau, after {ITERATIONS} iterations with\n"
    f"damping {DAMPING:g}. Pinocchio: constraintDynamics, then\n"
    "computeConstraintDynamicsDerivatives, all six results copied to their places. Ours: into\n"
    "existing arrays.\n"
    "difference: of the accelerations' derivatives, relative, the largest of all states.",
)


def measure(problem: Problem, settings: Settings) -> Findings:
    """One record: times per state, their ratio, the difference of accelerations' derivatives."""
    constraints, peer = problem.pair()
    states = States.random(constraints.model, settings.states, settings.seed)
    own = evaluate(constrained_dynamics_derivatives, constraints, states, **PROXIMAL)
    theirs = [np.zeros_like(x) for x in own]
    call = derivatives_call(peer, constraints, DAMPING, ITERATIONS)
    timers = {
        "own": own_timer(constrained_dynamics_derivatives, constraints, states, **PROXIMAL),
        "peer": peer_timer(call, states.for_peer(peer), *theirs),
    }
    times = best_times(timers, settings, processor_clock())
    expected = tuple(peer.from_matrix(x) for x in theirs[:3])
    record = {
        "problem": problem.label,
        "nv": constraints.model.nv,
        "rows": constraints.size,
        "microseconds": MICROSECONDS * times["own"] / settings.states,
        "loop_microseconds": MICROSECONDS * times["peer"] / settings.states,
        "ratio": times["peer"] / times["own"],
        "difference": largest_difference(tuple(own)[:3], expected),
    }
    return {"derivatives": [record]}


PART = Part(
    "derivatives",
    cases=lambda _: [(problem,) for problem in PROBLEMS],
    measure=measure,
    tables=[TABLE],
    limits=[
        Limit("derivatives", "difference", "{problem}: derivatives differ by {difference:.1e}")
    ],
)

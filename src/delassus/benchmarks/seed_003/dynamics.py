"""Constrained dynamics of one state and of batches, against Pinocchio with the same settings."""

from __future__ import annotations

import numpy as np

from ... import Constraints, constrained_dynamics
from ..comparing.methods import evaluate, own_timer, peer_timer
from ..comparing.problems import DAMPING, ITERATIONS, PROXIMAL, Problem
from ..measuring.settings import Settings
from ..measuring.states import States, largest_difference
from ..measuring.timing import MICROSECONDS, best_times, processor_clock
from ..peers.constraints import dynamics_calls
from ..peers.pinocchio import PinocchioPeer
from ..reporting.checks import Limit
from ..reporting.tables import Findings, Table, named, numbers
from ..runner import Part
from . import plots
from .problems import PROBLEMS

_PAPERS_METHOD = "prox-ltl"

TABLE = Table(
    "dynamics",
    "Constrained dynamics: microseconds a state on one core",
    [
        *named("problem", "nv", "rows"),
        *numbers(".2f", microseconds="ours: batch", sparse_microseconds=f"by {_PAPERS_METHOD}"),
        *numbers(".2f", loop_microseconds="Pinocchio: loop", batch_ratio="ratio"),
        *numbers(".2f", single_microseconds="ours: one state"),
        *numbers(".2f", call_microseconds="Pinocchio: one call", single_ratio="ratio"),
        *numbers(".2f", iterations="iterations"),
        *numbers(".0e", difference="difference"),
    ],
    note=f"Both with damping {DAMPING:g} and at most {ITERATIONS} proximal iterations. Pinocchio\n"
    "does all of them, and we the mean that is given, since we stop where only rounding is\n"
    "left; the one state is one that takes us the most, and a batch waits for the slowest.\n"
    "Pinocchio: constraintDynamics, accelerations copied to their places. Ours: the default\n"
    f"method, and the paper's own, {_PAPERS_METHOD}, beside it; accelerations, multipliers and\n"
    "residuals, of a batch into existing arrays. In time of the processor, on one thread.\n"
    "difference: of accelerations, relative, the largest of all states.",
)


def measure(problem: Problem, settings: Settings) -> Findings:
    """One record: times of one state and of a batch, ratios, the difference of accelerations."""
    constraints, peer = problem.pair()
    states = States.random(constraints.model, settings.states, settings.seed)
    iterations = evaluate(constrained_dynamics, constraints, states, **PROXIMAL).iterations
    hardest = states.at(int(np.argmax(iterations)))
    batch, batch_difference = _race(constraints, peer, states, settings, _PAPERS_METHOD)
    single, single_difference = _race(constraints, peer, hardest, settings)
    record = {
        "problem": problem.label,
        "nv": constraints.model.nv,
        "rows": constraints.size,
        "microseconds": batch["auto"],
        "sparse_microseconds": batch[_PAPERS_METHOD],
        "loop_microseconds": batch["peer"],
        "batch_ratio": batch["peer"] / batch["auto"],
        "single_microseconds": single["auto"],
        "call_microseconds": single["peer"],
        "single_ratio": single["peer"] / single["auto"],
        "iterations": float(iterations.mean()),
        "difference": max(batch_difference, single_difference),
    }
    return {"dynamics": [record]}


def _race(
    constraints: Constraints,
    peer: PinocchioPeer,
    states: States,
    settings: Settings,
    *other_methods: str,
) -> tuple[dict[str, float], float]:
    """Microseconds per state of our methods and of Pinocchio, and the difference of results."""
    theirs = np.zeros_like(states.v)
    call = dynamics_calls(peer, constraints, DAMPING, ITERATIONS)["constraintDynamics"]
    timers = {
        name: own_timer(constrained_dynamics, constraints, states, method=name, **PROXIMAL)
        for name in ("auto", *other_methods)
    }
    timers["peer"] = peer_timer(call, states.for_peer(peer), theirs)
    times = best_times(timers, settings, processor_clock())
    scale = MICROSECONDS / states.count
    own = evaluate(constrained_dynamics, constraints, states, **PROXIMAL).acceleration
    pair = np.atleast_2d(own), np.atleast_2d(peer.from_velocity(theirs))
    return {name: scale * seconds for name, seconds in times.items()}, largest_difference(*pair)


PART = Part(
    "dynamics",
    cases=lambda _: [(problem,) for problem in PROBLEMS],
    measure=measure,
    tables=[TABLE],
    limits=[Limit("dynamics", "difference", "{problem}: differs by {difference:.1e}")],
    plots={"times": plots.times},
)

"""Long chains: how the time of the recursions grows with the number of joints."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from ... import Model, bias_forces, forward_dynamics, inverse_dynamics
from ..comparing.algorithms import (
    FORWARD_DYNAMICS,
    INVERSE_DYNAMICS,
    Algorithm,
    own_timer,
    peer_timers,
    result_array,
)
from ..comparing.mechanisms import REACH, chain
from ..measuring.settings import Settings
from ..measuring.states import States
from ..measuring.timing import NANOSECONDS, best_times
from ..peers.pinocchio import PinocchioPeer
from ..reporting.checks import Limit
from ..reporting.conclusions import Fact
from ..reporting.figures import distinct
from ..reporting.tables import Findings, Table, named, numbers
from ..runner import Part
from . import plots

_LONGEST_PEER = 100  # joints of the longest chain for Pinocchio
_SHORT, _LONG = 100, 1000  # joints of the chains that conclusions are about

TABLE = Table(
    "growth",
    "Nanoseconds a joint for chains of revolute joints, one core",
    [
        *named("algorithm", "joints"),
        *numbers(".1f", single_nanoseconds="one state", batch_nanoseconds="batch"),
        *numbers(".1f", pinocchio_nanoseconds="Pinocchio, one state"),
        *numbers(".0e", residual="residual"),
    ],
    note="residual: of the joint forces, inverse dynamics after forward dynamics.\n"
    f"Pinocchio up to {_LONGEST_PEER} joints: its memory grows with the cube of their number.",
)


def measure(algorithm: Algorithm, joints: int, settings: Settings) -> Findings:
    """One record: nanoseconds per joint, and how well results fulfil the equations of motion."""
    model = chain(joints)
    states = States.random(model, settings.chain_states, settings.seed, reach=REACH)
    one = states.first()
    out = result_array(algorithm, states)
    timers = {
        "single": own_timer(algorithm, model, one, result_array(algorithm, one)),
        "batch": own_timer(algorithm, model, states, out, threads=1),
    }
    if joints <= _LONGEST_PEER:
        peer = PinocchioPeer.from_model(model)
        timers |= peer_timers(algorithm, peer, one.for_peer(peer), result_array(algorithm, one))
    single, batch, *theirs = best_times(timers, settings).values()
    scale = NANOSECONDS / joints
    record = {
        "joints": joints,
        "algorithm": str(algorithm),
        "single_nanoseconds": scale * single,
        "batch_nanoseconds": scale * batch / len(states.q),
        "pinocchio_nanoseconds": scale * min(theirs) if theirs else None,
        "residual": _residual(model, algorithm, states, out),
    }
    return {"growth": [record]}


def _residual(model: Model, algorithm: Algorithm, states: States, out: np.ndarray) -> float:
    """How well inverse dynamics gives back the forces that forward dynamics was given.

    It is relative to the bias forces. Accelerations would not do: those of a long chain are so
    ill-conditioned that right answers differ in them.
    """
    tau = out if algorithm is INVERSE_DYNAMICS else states.x
    a = forward_dynamics(model, states.q, states.v, tau, threads=1)
    needed = inverse_dynamics(model, states.q, states.v, a, threads=1)
    bias = bias_forces(model, states.q, states.v, threads=1)
    return float((np.abs(needed - tau).max(axis=1) / np.abs(bias).max(axis=1)).max())


def conclude(findings: Findings) -> Iterator[Fact]:
    """How many times longer a long chain takes than a short one, if both were measured."""
    times = {(r["algorithm"], r["joints"]): r for r in findings["growth"]}
    labels = {"single_nanoseconds": "one state", "batch_nanoseconds": "batch"}
    found = {
        f"{name}, {label}": _LONG * times[name, _LONG][key] / (_SHORT * times[name, _SHORT][key])
        for name in distinct(findings["growth"], "algorithm")
        for key, label in labels.items()
        if (name, _LONG) in times and (name, _SHORT) in times
    }
    if found:
        lines = [f"{_LONG} joints against {_SHORT}, {what}: {x:.1f}" for what, x in found.items()]
        yield Fact("growth", found, "\n".join(lines))


PART = Part(
    "chains",
    cases=lambda settings: product((INVERSE_DYNAMICS, FORWARD_DYNAMICS), settings.chain_lengths),
    measure=measure,
    tables=[TABLE],
    limits=[
        Limit(
            "growth", "residual", "chain of {joints}, {algorithm}: the residual is {residual:.1e}"
        )
    ],
    plots={"growth": plots.growth},
)

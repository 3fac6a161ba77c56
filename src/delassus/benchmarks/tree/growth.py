"""Long chains: the recursions' cost must grow in proportion to the number of joints."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

import delassus

from ...model.builder import ModelBuilder
from ...model.model import Model
from ...model.parts.joints import Revolute
from ..algorithms import (
    FORWARD_DYNAMICS,
    INVERSE_DYNAMICS,
    Algorithm,
    own_timer,
    peer_timers,
    result_array,
)
from ..pinocchio_peer import PinocchioPeer
from ..progress import Job
from ..report import Column, Table
from ..settings import Settings
from ..states import States
from ..timing import best_times

_LENGTH, _MASS, _RADIUS = 0.1, 0.1, 0.02  # of a link, in metres and kilograms
_REACH = 0.3  # of the random angles, small so that the chain does not curl up
_LONGEST_PEER = 100
_NANOSECONDS = 1e9


def chain(joints: int) -> Model:
    """A chain of cylinders on revolute joints, whose axes take turns."""
    across = _MASS * (_LENGTH**2 / 12.0 + _RADIUS**2 / 4.0)
    along = _MASS * _RADIUS**2 / 2.0
    builder = ModelBuilder(f"chain{joints}")
    for i in range(joints):
        builder.add_body(
            f"link{i}",
            f"link{i - 1}" if i else "world",
            Revolute([[0, 0, 1], [0, 1, 0]][i % 2]),
            [_LENGTH if i else 0.0, 0.0, 0.0],
            mass=_MASS,
            com=[_LENGTH / 2.0, 0.0, 0.0],
            inertia=np.diag([along, across, across]),
        )
    return builder.build()


def jobs(settings: Settings) -> list[Job]:
    """A job for each algorithm and length."""
    make = cache(chain)
    return [
        Job(
            f"chain of {joints}, {algorithm.label}",
            lambda joints=joints, algorithm=algorithm: (
                {"joints": joints} | _measure(make(joints), algorithm, settings)
            ),
        )
        for algorithm in (INVERSE_DYNAMICS, FORWARD_DYNAMICS)
        for joints in settings.chain_lengths
    ]


def _measure(model: Model, algorithm: Algorithm, settings: Settings) -> dict[str, object]:
    states = States.random(model, settings.chain_states, settings.seed, reach=_REACH)
    one = states.first()
    out = result_array(algorithm, states)
    timers = {
        "single": own_timer(algorithm, model, one, result_array(algorithm, one)),
        "batch": own_timer(algorithm, model, states, out, threads=1),
    }
    if model.nv <= _LONGEST_PEER:
        peer = PinocchioPeer.from_model(model)
        timers |= peer_timers(algorithm, peer, one.for_peer(peer), result_array(algorithm, one))
    times = best_times(timers, settings)
    scale = _NANOSECONDS / model.nv
    theirs = [time for name, time in times.items() if name.startswith("peer")]
    return {
        "algorithm": algorithm.label,
        "single_nanoseconds": scale * times["single"],
        "batch_nanoseconds": scale * times["batch"] / len(states.q),
        "pinocchio_nanoseconds": scale * min(theirs) if theirs else None,
        "residual": _residual(model, algorithm, states, out),
    }


def _residual(model: Model, algorithm: Algorithm, states: States, out: np.ndarray) -> float:
    """How well inverse dynamics gives back the forces that forward dynamics was given.

    It is relative to the bias forces. Accelerations would not do: those of a long chain are so
    ill-conditioned that right answers differ in them.
    """
    tau = out if algorithm is INVERSE_DYNAMICS else states.x
    a = delassus.forward_dynamics(model, states.q, states.v, tau, threads=1)
    needed = delassus.inverse_dynamics(model, states.q, states.v, a, threads=1)
    bias = delassus.bias_forces(model, states.q, states.v, threads=1)
    return float((np.abs(needed - tau).max(axis=1) / np.abs(bias).max(axis=1)).max())


def tables(records: Sequence[dict]) -> list[Table]:
    """One table: a row an algorithm and length."""
    columns = [
        Column("algorithm"), Column("joints"),
        Column("single_nanoseconds", "one state", ".1f"),
        Column("batch_nanoseconds", "batch", ".1f"),
        Column("pinocchio_nanoseconds", "Pinocchio, one state", ".1f"),
        Column("residual", "residual", ".0e"),
    ]  # fmt: skip
    title = "Nanoseconds a joint for chains of revolute joints, one core"
    note = (
        "residual: of the joint forces, inverse dynamics after forward dynamics.\n"
        f"Pinocchio up to {_LONGEST_PEER} joints: its memory grows with the cube of their number."
    )
    return [Table("growth", title, columns, records, note)]

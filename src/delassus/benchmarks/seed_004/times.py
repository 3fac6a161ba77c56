"""Times of everything in Table I, of ours and of Pinocchio."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from timeit import Timer

from ... import Model
from ..comparing.algorithms import (
    Algorithm,
    Results,
    in_our_order,
    own_timer,
    peer_timers,
    result_array,
)
from ..measuring.settings import Settings
from ..measuring.states import States, largest_difference
from ..measuring.timing import MICROSECONDS, best_times, processor_clock
from ..peers.pinocchio import PinocchioPeer
from ..reporting.checks import Limit
from ..reporting.tables import Column, Record, Table, named, numbers
from .finite_differences import FORWARD_STEP, FiniteDifferences
from .rows import INVERSES, Dynamics

TABLE = Table(
    "times",
    "Microseconds a state on one core: ours, Pinocchio's and the paper's",
    [
        *named("robot", "nv"),
        Column("row", ""),
        *numbers(".2f", microseconds="ours: batch", single_microseconds="one state"),
        *numbers(".2f", new_microseconds="new results", loop_microseconds="Pinocchio: loop"),
        *numbers(".2f", bare_loop_microseconds="loop, no copies", call_microseconds="one call"),
        *numbers(".2f", paper_microseconds="paper"),
        *numbers(".0e", difference="difference"),
    ],
    note="ours: in a batch; one state, into existing arrays, and with new results.\n"
    "Pinocchio: a loop over its calls, results copied to their places (of two ways to take\n"
    "them the faster); a loop with results thrown away; a call alone.\n"
    "All in time of the processor, on one thread.\n"
    "Finite differences: ours, 3 nv + 1 evaluations a state, all in one batch.\n"
    "CasADi's: automatic differentiation of our dynamics, called from Python.\n"
    "paper: Carpentier and Mansard 2018, Table I, for KUKA LWR, HyQ and Atlas, from C++.\n"
    "difference: of batches to Pinocchio's results, relative.",
)
LIMIT = Limit("times", "difference", "{robot}, {row}: differs from Pinocchio by {difference:.1e}")


@dataclass(frozen=True)
class Contestant:
    """Something to time, and the row and column of the table for its time per state."""

    row: str
    column: str
    timer: Timer
    states: int = 1


def time_dynamics(
    model: Model, peer: PinocchioPeer, dynamics: Dynamics, automatic: Callable, settings: Settings
) -> list[Record]:
    """Records of inverse or forward dynamics, and of its derivatives by all methods.

    `automatic` is CasADi's function of one state.
    """
    states = States.random(model, settings.difference_states, settings.seed)
    one = vars(states.first())
    others = [
        _finite(dynamics, model, states),
        _finite(dynamics, model, states.first(1)),
        Contestant(
            dynamics.automatic, "single_microseconds",
            Timer("function(q, v, x)", globals={"function": automatic, **one}),
        ),
    ]  # fmt: skip
    algorithms = {dynamics.row: dynamics.algorithm, dynamics.analytical: dynamics.derivatives}
    return _compare(model, peer, algorithms, settings, others)


def time_inverses(model: Model, peer: PinocchioPeer, settings: Settings) -> list[Record]:
    """Records of both ways to invert the mass matrix."""
    return _compare(model, peer, INVERSES, settings)


def _finite(dynamics: Dynamics, model: Model, states: States) -> Contestant:
    differences = FiniteDifferences(dynamics.algorithm, model, states, FORWARD_STEP)
    column = "microseconds" if len(states.q) > 1 else "single_microseconds"
    return Contestant(dynamics.finite, column, Timer(differences), len(states.q))


def _compare(
    model: Model,
    peer: PinocchioPeer,
    algorithms: Mapping[str, Algorithm],
    settings: Settings,
    others: Sequence[Contestant] = (),
) -> list[Record]:
    """One record per row: times of one state and of a batch, and the difference to Pinocchio."""
    states = States.random(model, settings.states, settings.seed)
    results = {
        row: (result_array(algorithm, states), result_array(algorithm, states))
        for row, algorithm in algorithms.items()
    }
    contestants = []
    for row, algorithm in algorithms.items():
        contestants += _single(row, algorithm, model, peer, states.first())
        contestants += _batch(row, algorithm, model, peer, states, *results[row])
    contestants += others
    single = _compete([c for c in contestants if c.states == 1], settings)
    batch = _compete([c for c in contestants if c.states > 1], settings)
    records = {row: {"row": row} | single[row] | batch[row] for row in single}
    for row, (own, theirs) in results.items():
        theirs = in_our_order(theirs, algorithms[row], peer)
        records[row]["difference"] = largest_difference(own, theirs)
    return list(records.values())


def _compete(contestants: Sequence[Contestant], settings: Settings) -> dict[str, dict[str, float]]:
    """The columns of all rows; the fastest of several contestants for one place counts.

    All run on one thread. Loops over a batch last so long that on a busy machine other processes
    would interrupt every one of them, so the clock is that of the processor.
    """
    timers = {k: c.timer for k, c in enumerate(contestants)}
    times = best_times(timers, settings, processor_clock())
    columns: dict[str, dict[str, float]] = defaultdict(dict)
    for c, seconds in zip(contestants, times.values(), strict=True):
        known = columns[c.row].get(c.column, math.inf)
        columns[c.row][c.column] = min(known, MICROSECONDS * seconds / c.states)
    return columns


def _single(
    row: str, algorithm: Algorithm, model: Model, peer: PinocchioPeer, state: States
) -> list[Contestant]:
    timers = {
        "single_microseconds": own_timer(algorithm, model, state, result_array(algorithm, state)),
        "new_microseconds": own_timer(algorithm, model, state, None),
    }
    theirs = peer_timers(algorithm, peer, state.for_peer(peer), None).values()
    return [
        *(Contestant(row, column, timer) for column, timer in timers.items()),
        *(Contestant(row, "call_microseconds", timer) for timer in theirs),
    ]


def _batch(
    row: str, algorithm: Algorithm, model: Model, peer: PinocchioPeer, states: States,
    own: Results, theirs: Results,
) -> list[Contestant]:  # fmt: skip
    count, peer_states = len(states.q), states.for_peer(peer)
    loops = peer_timers(algorithm, peer, peer_states, theirs).values()
    bare_loops = peer_timers(algorithm, peer, peer_states, None).values()
    timer = own_timer(algorithm, model, states, own, threads=1)
    return [
        Contestant(row, "microseconds", timer, count),
        *(Contestant(row, "loop_microseconds", timer, count) for timer in loops),
        *(Contestant(row, "bare_loop_microseconds", timer, count) for timer in bare_loops),
    ]

"""Real robots, one core: one state and batches, against every path that Pinocchio offers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from ...model.model import Model
from ..algorithms import (
    FORWARD_DYNAMICS,
    INVERSE_DYNAMICS,
    INVERSE_MASS_MATRIX,
    MASS_MATRIX,
    Algorithm,
    in_our_order,
    own_timer,
    peer_batch_timer,
    peer_timers,
    result_array,
)
from ..pinocchio_peer import PinocchioPeer, load_pair
from ..progress import Job
from ..report import Column, Table
from ..settings import Settings
from ..states import States, largest_difference
from ..timing import best_times

ROBOTS = ("panda", "hyq", "talos", "g1")
ALGORITHMS = (INVERSE_DYNAMICS, FORWARD_DYNAMICS, MASS_MATRIX, INVERSE_MASS_MATRIX)
_MICROSECONDS = 1e6


def jobs(settings: Settings) -> list[Job]:
    """A job for each robot and algorithm."""
    pair = cache(load_pair)
    return [
        Job(
            f"{robot}, {algorithm.label}",
            lambda robot=robot, algorithm=algorithm: _named(
                robot, compare(*pair(robot), algorithm, settings)
            ),
        )
        for robot in ROBOTS
        for algorithm in ALGORITHMS
    ]


def _named(robot: str, records: tuple[dict, dict]) -> tuple[dict, dict]:
    single, batch = ({"robot": robot} | record for record in records)
    return single, batch


def compare(
    model: Model, peer: PinocchioPeer, algorithm: Algorithm, settings: Settings
) -> tuple[dict[str, object], dict[str, object]]:
    """Records for one state and for a batch: times a state, and ratios to Pinocchio's."""
    states = States.random(model, settings.states, settings.seed)
    what = {"nv": model.nv, "algorithm": algorithm.label}
    single = _single(model, peer, algorithm, states.first(), settings)
    batch = _batch(model, peer, algorithm, states, settings)
    return what | single, what | batch


def _single(model, peer, algorithm, state, settings) -> dict[str, object]:
    out, peer_out = result_array(algorithm, state), result_array(algorithm, state)
    timers = {"own": own_timer(algorithm, model, state, out)}
    timers |= peer_timers(algorithm, peer, state.for_peer(peer), peer_out)
    own, *theirs = best_times(timers, settings).values()
    return {
        "microseconds": _MICROSECONDS * own,
        "pinocchio_microseconds": _MICROSECONDS * min(theirs),
        "ratio": min(theirs) / own,
        "difference": largest_difference(out[None], in_our_order(peer_out, algorithm, peer)[None]),
    }


def _batch(model, peer, algorithm, states, settings) -> dict[str, object]:
    out, loop_out = result_array(algorithm, states), result_array(algorithm, states)
    theirs = states.for_peer(peer)
    timers = {"own": own_timer(algorithm, model, states, out, threads=1)}
    timers |= peer_timers(algorithm, peer, theirs, loop_out)
    peer_results = [loop_out]
    if algorithm.peer_batch:
        function_out = result_array(algorithm, states)
        timers["function"] = peer_batch_timer(algorithm, peer, theirs.as_columns(), function_out.T)
        peer_results.append(function_out)
    scale = _MICROSECONDS / len(states.q)
    times = {name: scale * time for name, time in best_times(timers, settings).items()}
    own, function = times.pop("own"), times.pop("function", None)
    loop = min(times.values())
    fastest = loop if function is None else min(loop, function)
    differences = [
        largest_difference(out, in_our_order(result, algorithm, peer)) for result in peer_results
    ]
    return {
        "microseconds": own,
        "loop_microseconds": loop,
        "function_microseconds": function,
        "loop_ratio": loop / own,
        "function_ratio": None if function is None else function / own,
        "ratio": fastest / own,
        "difference": max(differences),
    }


def tables(records: Sequence[tuple[dict, dict]]) -> list[Table]:
    """A table for one state and one for batches: a row a robot and algorithm."""
    single, batch = zip(*records, strict=True)
    what = [Column("robot"), Column("nv"), Column("algorithm")]
    ours = Column("microseconds", "ours", ".3f")
    return [
        Table(
            "single",
            "One state a call: microseconds from Python, and Pinocchio's time divided by ours",
            [
                *what, ours,
                Column("pinocchio_microseconds", "Pinocchio", ".3f"),
                Column("ratio", "ratio", ".2f"),
                Column("difference", "difference", ".0e"),
            ],
            single,
        ),
        Table(
            "batch",
            "Batches on one core: microseconds a state, and Pinocchio's time divided by ours",
            [
                *what, ours,
                Column("loop_microseconds", "loop", ".3f"),
                Column("function_microseconds", "function", ".3f"),
                Column("loop_ratio", "/ loop", ".2f"),
                Column("function_ratio", "/ function", ".2f"),
                Column("ratio", "/ fastest", ".2f"),
                Column("difference", "difference", ".0e"),
            ],
            batch,
            "loop: over Pinocchio's calls, each result copied to its place; function: its\n"
            "rneaInParallel and abaInParallel with one thread (it has none for matrices).\n"
            "Of Pinocchio's conventions (local or world axes) the faster counts.",
        ),
    ]  # fmt: skip

"""The time of an algorithm on a tree, for one state and for a batch, beside Pinocchio's."""

from __future__ import annotations

from ... import Model
from ..measuring.settings import Settings
from ..measuring.states import States, largest_difference
from ..measuring.timing import MICROSECONDS, best_times
from ..peers.pinocchio import PinocchioPeer
from ..reporting.tables import Record
from .algorithms import (
    Algorithm,
    in_our_order,
    own_timer,
    peer_batch_timer,
    peer_timers,
    result_array,
)


def compare(
    model: Model, peer: PinocchioPeer, algorithm: Algorithm, settings: Settings
) -> tuple[Record, Record]:
    """Records for one state and for a batch: times per state, and Pinocchio's divided by ours."""
    states = States.random(model, settings.states, settings.seed)
    what = {"nv": model.nv, "algorithm": str(algorithm)}
    single = _single(model, peer, algorithm, states.first(), settings)
    batch = _batch(model, peer, algorithm, states, settings)
    return what | single, what | batch


def _single(model, peer, algorithm, state, settings) -> Record:
    out, peer_out = result_array(algorithm, state), result_array(algorithm, state)
    theirs = state.for_peer(peer)
    kept = {"own": own_timer(algorithm, model, state, out)}
    kept |= peer_timers(algorithm, peer, theirs, peer_out)
    plain = {"own": own_timer(algorithm, model, state, None)}
    plain |= peer_timers(algorithm, peer, theirs, None)
    own, *others = best_times(kept, settings).values()
    own_plain, *others_plain = best_times(plain, settings).values()
    return {
        "microseconds": MICROSECONDS * own,
        "pinocchio_microseconds": MICROSECONDS * min(others),
        "ratio": min(others) / own,
        "plain_microseconds": MICROSECONDS * own_plain,
        "pinocchio_plain_microseconds": MICROSECONDS * min(others_plain),
        "plain_ratio": min(others_plain) / own_plain,
        "difference": largest_difference(out[None], in_our_order(peer_out, algorithm, peer)[None]),
    }


def _batch(model, peer, algorithm, states, settings) -> Record:
    out, loop_out = result_array(algorithm, states), result_array(algorithm, states)
    theirs = states.for_peer(peer)
    timers = {"own": own_timer(algorithm, model, states, out, threads=1)}
    timers |= peer_timers(algorithm, peer, theirs, loop_out)
    peer_results = [loop_out]
    if algorithm.peer_batch:
        function_out = result_array(algorithm, states)
        timers["function"] = peer_batch_timer(algorithm, peer, theirs.as_columns(), function_out.T)
        peer_results.append(function_out)
    scale = MICROSECONDS / len(states.q)
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

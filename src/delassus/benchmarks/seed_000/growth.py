"""Chains, trees and linkages of growing size: Fig. 3 of the paper, and loops besides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from timeit import Timer

import numpy as np

from ... import Constraints, DelassusError, constrained_dynamics
from ..comparing.mechanisms import REACH, binary_tree, four_bars, hanging_chain
from ..comparing.methods import DYNAMICS, evaluate, methods, own_timer, peer_timer
from ..comparing.problems import DAMPING
from ..measuring.settings import Settings
from ..measuring.states import States
from ..measuring.timing import NANOSECONDS, best_times, processor_clock
from ..peers.constraints import dynamics_calls
from ..peers.pinocchio import PinocchioPeer
from ..reporting.checks import FINITE, Limit
from ..reporting.tables import Findings, Table, named, numbers
from ..runner import Part
from . import plots

LINEAR = "caba"  # the method whose time is proportional to the number of links
COUNTS = (1, 3)  # numbers of iterations
# The most links for our other methods and for Pinocchio: the time of some methods grows with the
# cube of links or rows, and so does Pinocchio's memory.
_MOST_OF_OTHERS, _MOST_OF_PEER = 200, 100
# The linear method is measured this many times longer than the others. Its largest time per link is
# divided by its smallest, so every size must be measured while nothing disturbs the machine.
_LONGER = 50

# Numbers of levels of trees, and of linkages, that are measured.
_LEVELS = (2, 3, 4, 5, 6, 7, 8, 9)
_LINKAGES = (3, 10, 30, 100, 300)

TABLE = Table(
    "growth",
    "Growth: nanoseconds a link, one core",
    [
        *named("family", "links", "rows", "method", "iterations"),
        *numbers(".1f", single_nanoseconds="one state", batch_nanoseconds="batch"),
        *numbers(".0e", residual="residual"),
    ],
    note="Chains whose tip is connected to the world, binary trees with all leaves connected, and\n"
    f"four-bars on each other's couplers. Methods but {LINEAR} up to {_MOST_OF_OTHERS} links,\n"
    f"Pinocchio's functions up to {_MOST_OF_PEER}. residual: |J a + gamma - a*| of one state.",
)


def mechanisms(settings: Settings) -> dict[str, list[Callable[[], Constraints]]]:
    """Functions that make mechanisms of growing size, by family.

    All families have about as many links as the chains.
    """
    least, most = settings.chain_lengths[0] - 1, 1.6 * settings.chain_lengths[-1]
    levels = [n for n in _LEVELS if least <= 3 * (2**n - 1) <= most]
    linkages = [n for n in _LINKAGES if least <= 3 * n <= most]
    return {
        "chain": [partial(hanging_chain, n) for n in settings.chain_lengths],
        "tree": [partial(binary_tree, n) for n in levels],
        "four-bars": [partial(four_bars, n) for n in linkages],
    }


def measure(family: str, settings: Settings) -> Findings:
    """Records of a family: nanoseconds per link of all methods, by size and iterations.

    All sizes take turns, as they are compared with each other.
    """
    timers, residuals, rows = {}, {}, {}
    for make in mechanisms(settings)[family]:
        constraints = make()
        links = constraints.model.n_bodies
        own_timers, own_residuals = _contestants(constraints, settings)
        timers |= {(links, *key): timer for key, timer in own_timers.items()}
        residuals |= {(links, *key): x for key, x in own_residuals.items()}
        rows[links] = constraints.size
    linear = {key: timer for key, timer in timers.items() if key[1] == LINEAR}
    others = {key: timer for key, timer in timers.items() if key not in linear}
    longer = replace(settings, match_seconds=_LONGER * settings.match_seconds)
    times = best_times(linear, longer, processor_clock())
    times |= best_times(others, settings, processor_clock())
    records = []
    for links, name, count in dict.fromkeys(key[:3] for key in timers):
        single = times[links, name, count, "single"]
        batch = times.get((links, name, count, "batch"))
        scale, states = NANOSECONDS / links, settings.chain_states
        records.append(
            {
                "family": family,
                "links": links,
                "rows": rows[links],
                "method": name,
                "iterations": count,
                "single_nanoseconds": scale * single,
                "batch_nanoseconds": None if batch is None else scale * batch / states,
                "residual": residuals.get((links, name, count)),
            }
        )
    return {"growth": records}


def _contestants(
    constraints: Constraints, settings: Settings
) -> tuple[dict[tuple[str, int, str], Timer], dict[tuple[str, int], float]]:
    """Timers by method, iterations and mode; residuals of our methods by method and iterations."""
    model = constraints.model
    states = States.random(model, settings.chain_states, settings.seed, reach=REACH)
    one = states.first()
    timers, residuals = {}, {}
    for name in methods(DYNAMICS) if model.n_bodies <= _MOST_OF_OTHERS else [LINEAR]:
        for count in COUNTS:
            options = {"method": name, "damping": DAMPING, "tolerance": 0.0}
            options["max_iterations"] = count
            try:
                found = evaluate(constrained_dynamics, constraints, one, **options)
            except DelassusError:
                continue
            residuals[name, count] = float(np.max(found.residual))
            timer = partial(own_timer, constrained_dynamics, constraints, **options)
            timers[name, count, "single"] = timer(one)
            if name == LINEAR:
                timers[name, count, "batch"] = timer(states)
    if model.n_bodies <= _MOST_OF_PEER:
        timers |= _peer_timers(constraints, one)
    return timers, residuals


def _peer_timers(constraints: Constraints, state: States) -> dict[tuple[str, int, str], Timer]:
    """Timers of Pinocchio's functions on one state."""
    peer = PinocchioPeer.from_model(constraints.model)
    theirs = state.for_peer(peer)
    return {
        (name, count, "single"): peer_timer(call, theirs, np.zeros(constraints.model.nv))
        for count in COUNTS
        for name, call in dynamics_calls(peer, constraints, DAMPING, count).items()
    }


PART = Part(
    "growth",
    cases=lambda settings: [(family,) for family in mechanisms(settings)],
    measure=measure,
    tables=[TABLE],
    limits=[
        Limit(
            "growth", "residual", "{family} of {links}, {method}: the residual is no number", FINITE
        )
    ],
    plots={"growth": plots.growth},
)

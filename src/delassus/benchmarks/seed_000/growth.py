"""Chains, trees and linkages of growing size: Fig. 3 of the paper, and loops besides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from timeit import Timer

import numpy as np

import delassus

from ...constrained.rows.constraints import Constraints
from ...errors import DelassusError
from ..methods import DYNAMICS, methods
from ..pinocchio_peer import PinocchioPeer
from ..progress import Job
from ..report import Column, Table
from ..settings import Settings
from ..states import States
from ..timing import best_times, processor_clock
from .contests import DYNAMICS_CONTEST, dynamics_peers
from .mechanisms import binary_tree, four_bars, hanging_chain
from .problems import DAMPING

LINEAR = "caba"  # the method whose cost is to grow in proportion to the links
COUNTS = (1, 3)  # of iterations
# Up to so many links of the others: some take the cube of links, or of rows, and Pinocchio's
# memory grows with the cube.
_MOST_OF_OTHERS, _MOST_OF_PEER = 200, 100
_REACH = 0.3  # of random angles, small so that a chain does not curl up
# So many times longer than others do sizes of the method compete: each must meet the machine at its
# fastest, as the slowest is divided by the fastest.
_LONGER = 50
_NANOSECONDS = 1e9

# Makers of constraints by the number of links, branchings or linkages, with the numbers to try.
_LEVELS = (2, 3, 4, 5, 6, 7, 8, 9)
_LINKAGES = (3, 10, 30, 100, 300)


def jobs(settings: Settings) -> list[Job]:
    """A job for each family of mechanisms."""
    return [
        Job(f"growth of the {family}", lambda f=family, m=makers: measure(f, m, settings))
        for family, makers in mechanisms(settings).items()
    ]


def mechanisms(settings: Settings) -> dict[str, list[Callable[[], Constraints]]]:
    """Makers by family, of growing size; all families have about as many links as the chains."""
    least, most = settings.chain_lengths[0] - 1, 1.6 * settings.chain_lengths[-1]
    levels = [n for n in _LEVELS if least <= 3 * (2**n - 1) <= most]
    linkages = [n for n in _LINKAGES if least <= 3 * n <= most]
    return {
        "chain": [partial(hanging_chain, n) for n in settings.chain_lengths],
        "tree": [partial(binary_tree, n) for n in levels],
        "four-bars": [partial(four_bars, n) for n in linkages],
    }


def measure(
    family: str, makers: Sequence[Callable[[], Constraints]], settings: Settings
) -> list[dict[str, object]]:
    """Nanoseconds a link of all methods that are feasible, by size and iterations.

    All sizes take turns, as they are compared with each other.
    """
    timers, residuals, rows = {}, {}, {}
    for make in makers:
        constraints = make()
        links = constraints.model.n_bodies
        own_timers, own_residuals = _contestants(constraints, settings)
        timers |= {(links, *key): timer for key, timer in own_timers.items()}
        residuals |= {(links, *key): x for key, x in own_residuals.items()}
        rows[links] = constraints.size
    own = {key: timer for key, timer in timers.items() if key[1] == LINEAR}
    longer = replace(settings, match_seconds=_LONGER * settings.match_seconds)
    others = {key: timer for key, timer in timers.items() if key not in own}
    times = best_times(own, longer) | best_times(others, settings)
    return [
        {
            "family": family, "links": links, "rows": rows[links],
            "method": name, "iterations": count,
            "single_nanoseconds": _NANOSECONDS * times[links, name, count, "single"] / links,
            "batch_nanoseconds": (
                _NANOSECONDS * times[links, name, count, "batch"] / (links * settings.chain_states)
                if name == LINEAR
                else None
            ),
            "residual": residuals.get((links, name, count)),
        }
        for links, name, count, mode in timers
        if mode == "single"
    ]  # fmt: skip


def _contestants(
    constraints: Constraints, settings: Settings
) -> tuple[dict[tuple[str, int, str], Timer], dict[tuple[str, int], float]]:
    """Timers by method, iterations and mode; residuals of our methods by the first two."""
    model = constraints.model
    states = States.random(model, settings.chain_states, settings.seed, reach=_REACH)
    one = states.first()
    timers, residuals = {}, {}
    for name in methods(DYNAMICS) if model.n_bodies <= _MOST_OF_OTHERS else [LINEAR]:
        for count in COUNTS:
            try:
                residuals[name, count] = _largest_residual(constraints, one, name, count)
            except DelassusError:
                continue
            timers[name, count, "single"] = _timer(constraints, one, name, count)
            if name == LINEAR:
                timers[name, count, "batch"] = _timer(constraints, states, name, count)
    if model.n_bodies <= _MOST_OF_PEER:
        timers |= _peer_timers(constraints, one)
    return timers, residuals


def _solve(constraints: Constraints, states: States, method: str, iterations: int):
    return delassus.constrained_dynamics(
        constraints.model, states.q, states.v, states.x, constraints, method=method,
        damping=DAMPING, tolerance=0.0, max_iterations=iterations, threads=1,
    )  # fmt: skip


def _largest_residual(constraints, state: States, method: str, iterations: int) -> float:
    return float(np.max(_solve(constraints, state, method, iterations).residual))


def _timer(constraints: Constraints, states: States, method: str, iterations: int) -> Timer:
    call = partial(_solve, constraints, states, method, iterations)
    return Timer(call, timer=processor_clock())


def _peer_timers(constraints: Constraints, state: States) -> dict[tuple[str, int, str], Timer]:
    """Pinocchio's functions on one state."""
    peer, timers = PinocchioPeer.from_model(constraints.model), {}
    for count in COUNTS:
        calls = dynamics_peers(peer, constraints, count)
        out = {name: np.zeros(constraints.model.nv) for name in calls}
        made = DYNAMICS_CONTEST.peer_timers(calls, state.for_peer(peer), out)
        timers |= {(name, count, "single"): timer for name, timer in made.items()}
    return timers


def tables(records: Sequence[list[dict[str, object]]]) -> list[Table]:
    """A row a mechanism, method and number of iterations."""
    columns = [
        Column("family"), Column("links"), Column("rows"), Column("method"), Column("iterations"),
        Column("single_nanoseconds", "one state", ".1f"),
        Column("batch_nanoseconds", "batch", ".1f"),
        Column("residual", "residual", ".0e"),
    ]  # fmt: skip
    title = "Growth: nanoseconds a link, one core"
    note = (
        "Chains whose tip is connected to the world, binary trees with all leaves connected, and\n"
        f"four-bars on each other's couplers. Methods but {LINEAR} up to {_MOST_OF_OTHERS} links,\n"
        f"Pinocchio's functions up to {_MOST_OF_PEER}. residual: |J a + gamma - a*| of one state."
    )
    flat = [record for found in records for record in found]
    return [Table("growth", title, columns, flat, note)]

"""Chains, trees and linkages of growing size: Fig. 3 of the paper, and loops besides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from timeit import Timer

import numpy as np

import delassus

from ...constrained.constraints import Constraints
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
_NANOSECONDS = 1e9

# Makers of constraints by the number of links, branchings or linkages, with the numbers to try.
_LEVELS = (2, 3, 4, 5, 6, 7, 8, 9)
_LINKAGES = (3, 10, 30, 100, 300)


def jobs(settings: Settings) -> list[Job]:
    """A job for each mechanism."""
    return [
        Job(f"{family} of {size}", lambda f=family, make=make: measure(f, make, settings))
        for family, size, make in mechanisms(settings)
    ]


def mechanisms(settings: Settings) -> list[tuple[str, int, Callable[[], Constraints]]]:
    """Names, sizes and makers; trees and linkages have about as many links as the chains."""
    least, most = settings.chain_lengths[0] - 1, 1.6 * settings.chain_lengths[-1]
    levels = [n for n in _LEVELS if least <= 3 * (2**n - 1) <= most]
    linkages = [n for n in _LINKAGES if least <= 3 * n <= most]
    families = (
        ("chain", hanging_chain, settings.chain_lengths),
        ("tree", binary_tree, levels),
        ("four-bars", four_bars, linkages),
    )
    return [(name, n, partial(make, n)) for name, make, sizes in families for n in sizes]


def measure(
    family: str, make: Callable[[], Constraints], settings: Settings
) -> list[dict[str, object]]:
    """Nanoseconds a link of all methods that are feasible, by iterations."""
    constraints = make()
    links = constraints.model.n_bodies
    states = States.random(constraints.model, settings.chain_states, settings.seed, reach=_REACH)
    one = states.first()
    timers, residuals = {}, {}
    for name in methods(DYNAMICS) if links <= _MOST_OF_OTHERS else [LINEAR]:
        for count in COUNTS:
            try:
                residuals[name, count] = _largest_residual(constraints, one, name, count)
            except DelassusError:
                continue
            timers[name, count, "single"] = _timer(constraints, one, name, count)
            if name == LINEAR:
                timers[name, count, "batch"] = _timer(constraints, states, name, count)
    if links <= _MOST_OF_PEER:
        timers |= _peer_timers(constraints, one)
    times = best_times(timers, settings)
    scale = _NANOSECONDS / links
    return [
        {
            "family": family, "links": links, "rows": constraints.size,
            "method": name, "iterations": count,
            "single_nanoseconds": scale * times[name, count, "single"],
            "batch_nanoseconds": (
                scale * times[name, count, "batch"] / len(states.q) if name == LINEAR else None
            ),
            "residual": residuals.get((name, count)),
        }
        for name, count, mode in timers
        if mode == "single"
    ]  # fmt: skip


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

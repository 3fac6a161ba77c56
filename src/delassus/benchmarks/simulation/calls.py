"""What calls cost: a step from Python, two threads, the first step; and steps by a dense matrix."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np

from ... import Simulator, contact, robots
from ...maximal import MaximalSystem
from ..measuring.settings import Settings
from ..measuring.timing import MICROSECONDS, processor_clock
from ..reporting.tables import Column, Findings, Table, numbers
from ..runner import Part
from ..tree.startup import seconds_of
from .scenes import DT, Scene, walker

_STEPS, _WORLDS = 200, 64
_FIRST_STEP = """
import delassus as dl
dl.Simulator(dl.robots.walker()).step()
"""

CALLS = Table(
    "calls",
    "Calls",
    [Column("what", ""), *numbers(".3g", value="value"), Column("unit", "")],
)


def _best(settings: Settings, *turns: Callable[[], object], clock=None) -> list[float]:
    """The shortest time of each, which take turns."""
    clock, best = clock or processor_clock(), [np.inf] * len(turns)
    for _ in range(settings.repeats):
        for k, turn in enumerate(turns):
            begin = clock()
            turn()
            best[k] = min(best[k], clock() - begin)
    return best


def _record(what: str, value: float, unit: str) -> Findings:
    return {CALLS.key: [{"what": what, "value": value, "unit": unit}]}


def _settled(scene: Scene, **options):
    """A simulator of a scene that has come to rest."""
    sim = scene.simulator(**options)
    sim.reset(scene.q if sim.worlds is None else scene.starts(sim.worlds))
    sim.rollout(300, scene.control)
    return sim


def _overhead(settings: Settings) -> Findings:
    scene = walker()
    sim = _settled(scene)

    def one_by_one() -> None:
        for _ in range(_STEPS):
            sim.step(scene.control)

    single, many = _best(settings, one_by_one, lambda: sim.rollout(_STEPS, scene.control))
    more = MICROSECONDS * (single - many) / _STEPS
    return _record("sim.step(control), more than a step of a rollout", more, "microseconds")


def _threads(settings: Settings) -> Findings:
    scene = walker()
    one, two = (_settled(scene, worlds=_WORLDS, threads=threads) for threads in (1, 2))
    turns = [lambda s=s: s.rollout(20, scene.control) for s in (one, two)]
    alone, together = _best(settings, *turns, clock=time.perf_counter)
    return _record(f"two threads, {_WORLDS} worlds, times as fast", alone / together, "")


def _warm(_: Settings) -> Findings:
    return _record(
        "the first step, kernels compiled", min(seconds_of(_FIRST_STEP) for _ in range(3)), "s"
    )


def _dense(settings: Settings) -> Findings:
    model = robots.figure("iron_man").model
    sim = Simulator(model, DT, ground=False, threads=1, on_error="record")
    sim.rollout(300)
    system = MaximalSystem(model)
    dual = system.dual_problem(*system.state(sim.q, sim.v), DT)

    def by_matrix() -> None:
        D = dual.jacobian @ np.linalg.solve(dual.primal, dual.jacobian.T)
        problem = contact.Problem(D, dual.free_velocity, dual.n_joint_rows, check=False)
        contact.solve(problem)

    steps, dense = _best(settings, lambda: sim.rollout(_STEPS), by_matrix)
    ratio = dense / (steps / _STEPS)
    return _record("54 bodies, 67 joints: a step by a dense matrix / ours", ratio, "")


_MEASURES = {
    "overhead of a step": _overhead,
    "threads": _threads,
    "warm start": _warm,
    "a dense matrix": _dense,
}


def _cases(_: Settings) -> list[tuple[str]]:
    is_parallel = (os.cpu_count() or 1) > 1
    return [(what,) for what in _MEASURES if is_parallel or what != "threads"]


PART = Part(
    "calls", cases=_cases, measure=lambda what, settings: _MEASURES[what](settings), tables=[CALLS]
)

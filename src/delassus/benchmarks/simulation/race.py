"""Steps a second beside MuJoCo, in one world and in many, on one core.

Both make the same steps of the same models from the same starts: elliptic cones, `solref` 0.002 1
and the integrator implicitfast for MuJoCo, whose rollouts run on one thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import mujoco as conventions
from ..measuring.settings import Settings
from ..measuring.timing import MICROSECONDS, processor_clock
from ..peers.mujoco import mujoco, mujoco_model
from ..reporting.checks import Limit
from ..reporting.tables import Column, Findings, Table, numbers
from ..runner import Part
from .scenes import DT, SCENES, Scene, effort

_WORLDS = 64
_SETTLING = 1000  # steps before the first turn: what was dropped has come to rest
_STEPS = {1: 200, _WORLDS: 20}  # of a turn
_LEAST_SOLVED = 0.98

RACE = Table(
    "race",
    "A step, microseconds of one core",
    [
        Column("scene", ""),
        Column("worlds", "worlds"),
        *numbers(".1f", contacts="contacts", ours="delassus", theirs="MuJoCo"),
        *numbers(".2f", ratio="MuJoCo / delassus", iterations="iterations"),
        Column("unsolved", "unsolved", ".2%"),
        *numbers(".3f", height="height, m", their_height="MuJoCo's"),
    ],
    note="unsolved: steps whose natural map is above 1e-6. Means over all worlds and steps.",
)


class Peer:
    """Worlds of MuJoCo that move from one rollout to the next."""

    def __init__(self, scene: Scene, starts: np.ndarray):
        mj = mujoco()
        self.rollout = __import__("mujoco.rollout", fromlist=["rollout"])
        self.model = mujoco_model(scene.model, DT)
        if not scene.has_ground:
            self.model.geom_contype[:], self.model.geom_conaffinity[:] = 0, 0
        self.data, self.kind = mj.MjData(self.model), mj.mjtState.mjSTATE_FULLPHYSICS
        self.states = np.zeros((len(starts), mj.mj_stateSize(self.model, self.kind)))
        for state, q in zip(self.states, starts, strict=True):
            self.data.qpos[:] = conventions.to_qpos(scene.model, q)
            mj.mj_forward(self.model, self.data)
            mj.mj_getState(self.model, self.data, state, self.kind)
        self.control = scene.control if self.model.nu else None

    def run(self, steps: int) -> None:
        """Move all worlds, one after the other."""
        control: Any = None
        if self.control is not None:
            control = np.tile(self.control, (len(self.states), steps, 1))
        with self.rollout.Rollout(nthread=0) as made:
            told, _ = made.rollout([self.model], [self.data], self.states, control, nstep=steps)
        self.states = told[:, -1].copy()

    def height(self) -> float:
        """The mean of the third coordinate."""
        return float(self.states[:, 3].mean())  # after the time, x and y


def measure(name: str, worlds: int, settings: Settings) -> Findings:
    """One record: the best of several turns of each, which take turns, from what has settled.

    Turns that went on from each other would not be the same: after some seconds MuJoCo's walker
    falls over.
    """
    scene, clock, steps = SCENES[name](), processor_clock(), _STEPS[worlds]
    sim, starts = scene.simulator(worlds=worlds), scene.starts(worlds)
    sim.reset(starts)
    peer = Peer(scene, starts)
    sim.rollout(_SETTLING, scene.control)
    peer.run(_SETTLING)
    best, settled, their_settled = [np.inf, np.inf], sim.state(), peer.states
    for _ in range(settings.repeats):
        sim.set_state(settled)
        peer.states = their_settled
        for k, turn in enumerate(
            (lambda: sim.rollout(steps, scene.control), lambda: peer.run(steps))
        ):
            begin = clock()
            turn()
            best[k] = min(best[k], (clock() - begin) / (steps * worlds))
    told = sim.recording
    assert told is not None
    record = {
        "scene": name,
        "worlds": worlds,
        "contacts": float(told.metrics["contacts"].mean()),
        "ours": MICROSECONDS * best[0],
        "theirs": MICROSECONDS * best[1],
        "ratio": best[1] / best[0],
        **effort(told.metrics),
        "height": float(np.mean(told.q[..., -1, 2])),
        "their_height": peer.height(),
    }
    return {RACE.key: [record]}


PART = Part(
    "beside MuJoCo",
    cases=lambda _: [(name, worlds) for name in SCENES for worlds in (1, _WORLDS)],
    measure=measure,
    tables=[RACE],
    limits=[
        Limit(RACE.key, "unsolved", "{scene}: {unsolved:.1%} unsolved steps", 1 - _LEAST_SOLVED)
    ],
)

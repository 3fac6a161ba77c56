"""Recordings that need no simulator."""

import numpy as np

from delassus.simulation.runs import Run
from delassus.simulation.told.metrics import METRIC
from delassus.simulation.told.recording import Recording


class Steps:
    """What a recording asks of a simulator."""

    def __init__(self, model, dt, worlds):
        self.model, self.dt, self.worlds, self.n_controls = model, dt, worlds, 0
        self.v = np.zeros((worlds or 1, model.nv))


def recorded(model, q, dt=1e-3):
    """A recording of configurations (steps, nq) or (worlds, steps, nq)."""
    worlds = len(q) if q.ndim == 3 else None
    many = q if worlds else q[None]
    sim = Steps(model, dt, worlds)
    made = Recording.start(sim, None)
    trace = np.concatenate([many, np.zeros((*many.shape[:2], model.nv))], axis=2)
    metrics = np.ones((*many.shape[:2], METRIC.size))
    made.add(dt * np.arange(1, many.shape[1] + 1), Run(trace, metrics, trace, [], [], {}))
    return made


def swinging(model, steps=2000):
    """Free motion of an open pendulum chain: all joints turn slowly."""
    t = np.linspace(0.0, 1.0, steps)[:, None]
    start = model.keyframes["home"].q if "home" in model.keyframes else model.neutral()
    q = np.repeat(start[None], steps, axis=0)
    hinges = [j.q.start for j in model.joints if j.nq == 1]
    q[:, hinges] += 0.4 * np.sin(2 * np.pi * t)
    return q

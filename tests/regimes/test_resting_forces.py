"""Whatever stands still is held by forces that stay the same from step to step."""

import numpy as np
import pytest

import delassus as dl

from .cases import generated

SETTLING, WATCHED = 1.5, 400  # seconds, steps
MOST = 0.01  # of the weight: the largest change of the force on a body in a step


def largest_change(sim, control=None):
    """The largest change in a step of what one body feels of another, by the weight of all."""
    sim.rollout(int(SETTLING / sim.dt), control)
    rec = sim.rollout(WATCHED, control, contacts=True)
    found = rec.contacts
    pairs = found["first"].astype(str) + " on " + found["second"].astype(str)
    assert len(found) > 0
    change = 0.0
    for pair in np.unique(pairs):
        own = found[pairs == pair]
        force = np.zeros((len(rec), 3))
        np.add.at(force, own["step"], own["force"])
        change = max(change, np.abs(np.diff(force, axis=0)).max())
    return change / (9.81 * sim.model.mass)


@pytest.mark.parametrize("dt", [2.5e-4, 1e-3, 4e-3])
@pytest.mark.parametrize("name", ["walker", "quadruped"])
def test_robots_that_stand_on_servos_push_evenly(name, dt):
    model = dl.robots.figure(name).model
    home = model.keyframes["home"]
    sim = dl.Simulator(model, dt=dt, on_error="record", threads=1)
    sim.reset(home.q)
    assert largest_change(sim, home.u) < MOST


def stool(rng):
    """A body on three to six balls at random places, and where it nearly stands."""
    size, mass = 10.0 ** rng.uniform(-1, 0.5), 10.0 ** rng.uniform(-1, 3)
    b = dl.ModelBuilder("stool")
    b.add_body(
        "seat", "world", dl.Free(), mass=mass,
        inertia=mass * size**2 * np.diag(rng.uniform(0.1, 0.15, 3)),
    )  # fmt: skip
    count = int(rng.integers(3, 7))
    for k in range(count):
        angle = 2 * np.pi * (k + rng.uniform(-0.2, 0.2)) / count
        at = size * np.array([np.cos(angle), np.sin(angle), -1.0])
        ball = (dl.Transform(np.eye(3), at), (0.05 * size,))
        b.add_shape(dl.Shape(f"foot{k}", "seat", "collision", "sphere", *ball))
    model = b.build()
    q = model.neutral()
    q[2] = 1.06 * size
    return model, q


@generated(6, 1000)
def test_stools_push_evenly(seed):
    rng = np.random.default_rng(seed)
    model, q = stool(rng)
    sim = dl.Simulator(model, dt=10.0 ** rng.uniform(-3.5, -2.4), on_error="record", threads=1)
    sim.reset(q)
    assert largest_change(sim) < MOST


def test_the_walker_of_the_demonstration_comes_to_rest_when_it_has_landed():
    from delassus.benchmarks.demo import falls, mechanisms

    one = mechanisms.walker()
    sim = falls.simulator(one)
    rec = sim.rollout(600, one.control, contacts=True)
    found = rec.contacts
    lift = np.bincount(found["step"], found["force"][:, 2], minlength=len(rec))
    weight = 9.81 * one.model.mass
    assert lift.max() > 10 * weight  # of its landing
    assert np.abs(lift[300:] / weight - 1).max() < 0.02
    assert np.abs(np.diff(lift[300:])).max() < MOST * weight

"""Balls and cylinders on inclines: they roll where friction suffices, else they slide."""

import math

import numpy as np
import pytest

import delassus as dl
from simulation.cases.solids import GRAVITY, LYING, slope, solid

RADIUS = 0.1
SOLIDS = {  # size, I / (m r^2), placement
    "sphere": ((RADIUS,), 0.4, None),
    "cylinder": ((RADIUS, 0.3), 0.5, LYING),
}


def on_incline(kind, angle, **options):
    """Recording of a second on an incline."""
    size, _, placement = SOLIDS[kind]
    model, q = solid(kind, size, 1.5, RADIUS, slope(angle), placement)
    sim = dl.Simulator(model, **options)
    sim.reset(q)
    return sim.rollout(1000)


def acceleration(rec):
    """That of the centre in the second half. Velocities are in axes of the body that turns."""
    speed = np.linalg.norm(rec.v[:, :3], axis=1)
    return (speed[-1] - speed[499]) / (rec.time[-1] - rec.time[499])


@pytest.mark.parametrize("integrator", ["midpoint", "euler"])
@pytest.mark.parametrize("kind", SOLIDS)
@pytest.mark.parametrize("angle", [0.1, 0.4])
def test_what_rolls_without_slipping_accelerates_by_its_inertia(integrator, kind, angle):
    rec = on_incline(kind, angle, integrator=integrator, friction=0.8)
    expected = GRAVITY * math.sin(angle) / (1 + SOLIDS[kind][1])
    assert acceleration(rec) == pytest.approx(expected, rel=1e-5)
    speed, turning = (np.linalg.norm(rec.v[-1, part]) for part in (slice(3), slice(3, 6)))
    # Bodies rest a micrometre deep, so they roll on a radius that is shorter by as much.
    assert RADIUS * turning == pytest.approx(speed, rel=2e-5)
    assert abs(rec.q[-1, 1]) < 1e-6


@pytest.mark.parametrize("kind", SOLIDS)
@pytest.mark.parametrize("part", [0.9, 1.1])
def test_rolling_needs_a_friction_of_the_angle_and_the_inertia(kind, part):
    angle, k = 0.4, SOLIDS[kind][1]
    friction = part * math.tan(angle) * k / (1 + k)
    found = acceleration(on_incline(kind, angle, friction=friction))
    rolling = GRAVITY * math.sin(angle) / (1 + k)
    sliding = GRAVITY * (math.sin(angle) - friction * math.cos(angle))
    assert found == pytest.approx(sliding if part < 1.0 else rolling, rel=1e-5)
    assert sliding > rolling * 1.01 or part > 1.0

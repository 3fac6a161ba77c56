"""Balls that bounce: heights by the square of the restitution, energy that stays where it is 1."""

import numpy as np
import pytest

import delassus as dl
from simulation.cases.solids import GRAVITY, solid

RADIUS = 0.1


def dropped(height, seconds, **options):
    """Recording of a ball that falls from a height, and its heights."""
    model, q = solid("sphere", (RADIUS,), height=RADIUS + height)
    sim = dl.Simulator(model, **options)
    sim.reset(q)
    rec = sim.rollout(round(seconds / sim.dt))
    return rec, rec.q[:, 2] - RADIUS


def summits(heights):
    """Local maxima."""
    inner = heights[1:-1]
    return inner[(inner >= heights[:-2]) & (inner > heights[2:])]


@pytest.mark.parametrize("dt", [5e-4, 1e-3, 2e-3])
def test_a_ball_of_restitution_one_bounces_for_ever(dt):
    rec, heights = dropped(5.0, 20.0, dt=dt, restitution=1.0)
    energy = rec.metrics["kinetic_energy"] + rec.metrics["potential_energy"]
    assert np.abs(energy - energy[0]).max() < 1e-10 * GRAVITY * 5.0
    found = summits(heights)
    assert len(found) == 9  # one each 2 sqrt(2 h / g) = 2.02 s
    np.testing.assert_allclose(found, 5.0, atol=2e-5)


@pytest.mark.parametrize("dt", [5e-4, 1e-3, 2e-3])
def test_euler_keeps_the_heights_of_bounces_too(dt):
    _, heights = dropped(5.0, 20.0, dt=dt, restitution=1.0, integrator="euler")
    found = summits(heights)
    assert len(found) == 9
    np.testing.assert_allclose(found, 5.0, atol=3e-3)


@pytest.mark.parametrize("integrator", ["midpoint", "euler"])
@pytest.mark.parametrize("dt", [5e-4, 1e-3, 2e-3])
@pytest.mark.parametrize("restitution", [0.5, 0.8])
def test_bounces_are_as_high_as_the_square_of_the_restitution(integrator, dt, restitution):
    _, heights = dropped(5.0, 5.0, dt=dt, restitution=restitution, integrator=integrator)
    found = np.array([5.0, *summits(heights)[:3]])
    # The ball turns around up to a step early or late, at a height within v dt of the ground.
    speeds = np.sqrt(2 * GRAVITY * found[:-1])
    np.testing.assert_array_less(abs(found[1:] - restitution**2 * found[:-1]), speeds * dt)


def test_a_ball_without_restitution_stays_on_the_ground():
    _, heights = dropped(1.0, 1.0)
    landed = np.argmax(heights < 1e-3)
    assert np.abs(heights[landed:]).max() < 2e-6 + 9.81e-3 * 0.5
    assert np.abs(heights[-100:]).max() < 2e-6

"""Friction by Coulomb's law: inclines, straight paths, no lift by sliding, balls on a plate."""

import math

import numpy as np
import pytest

import delassus as dl
from simulation.cases.solids import GRAVITY, add_solid, slope, solid

INTEGRATORS = ("midpoint", "euler")
BLOCK = (0.4, 0.3, 0.2)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("friction", [0.3, 0.8])
@pytest.mark.parametrize("part", [0.9, 0.99, 1.01, 1.1, 1.5])
def test_a_block_slides_where_the_incline_is_steeper_than_its_friction(integrator, friction, part):
    angle = math.atan(part * friction)
    model, q = solid("box", BLOCK, mass=2.0, gravity=slope(angle))
    sim = dl.Simulator(model, integrator=integrator, friction=friction)
    sim.reset(q)
    rec = sim.rollout(1000)
    acceleration = (rec.v[-1, 0] - rec.v[499, 0]) / 0.5
    expected = GRAVITY * (math.sin(angle) - friction * math.cos(angle))
    assert acceleration == pytest.approx(max(expected, 0.0), abs=1e-5)
    if part < 1.0:
        assert np.abs(rec.q[-1, :2]).max() < 2e-6


def test_a_block_slides_on_a_tilted_plane_as_under_tilted_gravity():
    angle, friction = 0.4, 0.3
    turn = dl.Transform(
        [
            [math.cos(angle), 0, math.sin(angle)],
            [0, 1, 0],
            [-math.sin(angle), 0, math.cos(angle)],
        ],
        (0, 0, 0),
    )
    builder = dl.ModelBuilder("block")
    add_solid(builder, "block", "box", BLOCK)
    builder.add_shape(dl.Shape("incline", "world", "collision", "plane", turn))
    model = builder.build()
    q = model.neutral()
    q[:3] = turn.rotation @ (0, 0, 0.5 * BLOCK[2])
    q[3:] = (0, math.sin(0.5 * angle), 0, math.cos(0.5 * angle))
    sim = dl.Simulator(model, friction=friction)
    sim.reset(q)
    rec = sim.rollout(1000)
    path = (rec.q[:, :3] - q[:3]) @ turn.rotation
    expected = 0.5 * GRAVITY * (math.sin(angle) - friction * math.cos(angle))
    np.testing.assert_allclose(path[-1], (expected, 0, 0), atol=5e-6)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("direction", [0.0, 0.3, math.pi / 4, 1.1])
def test_a_thrown_block_slides_straight_and_stops_where_friction_has_taken_its_energy(
    integrator, direction
):
    along = np.array([math.cos(direction), math.sin(direction)])
    model, q = solid("box", BLOCK)
    sim = dl.Simulator(model, integrator=integrator, friction=0.3)
    sim.reset(q, np.array([*(2.0 * along), 0, 0, 0, 0]))
    end = sim.rollout(1000).q[-1]
    # Semi-implicit Euler stops half a step's way earlier, 2 m/s * 1 ms / 2.
    assert end[:2] @ along == pytest.approx(2.0**2 / (2 * 0.3 * GRAVITY), abs=1.1e-3)
    assert abs(end[:2] @ (-along[1], along[0])) < 1e-7
    assert np.abs(end[3:6]).max() < 1e-7  # it does not turn


@pytest.mark.parametrize("direction", [0.4, math.pi / 4])
def test_a_force_in_any_direction_moves_a_block_that_way(direction):
    along = np.array([math.cos(direction), math.sin(direction)])
    model, q = solid("box", BLOCK)
    for part in (0.99, 1.2):
        push = np.zeros((1, 6))
        push[0, :2] = part * 0.5 * GRAVITY * along
        push[0, 3:5] = 0.1 * push[0, 1], -0.1 * push[0, 0]  # as if at the ground
        sim = dl.Simulator(model, friction=0.5)
        sim.reset(q)
        end = sim.rollout(1000, wrenches=push).q[-1, :2]
        expected = max(part - 1.0, 0.0) * 0.5 * GRAVITY / 2
        np.testing.assert_allclose(end, expected * along, atol=2e-5)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("friction", [0.3, 0.8])
def test_a_disc_that_is_pulled_through_a_sheath_does_not_float(integrator, friction):
    # A solver of the convex (CCP) law lifts it by dt mu v, here 0.9 and 2.4 mm.
    radius, height, speed = 0.1, 0.05, 3.0
    builder = dl.ModelBuilder("sheath")
    add_solid(builder, "disc", "cylinder", (radius, height))
    lid = dl.Transform(np.eye(3), (2.0, 0.0, height + 0.053))  # 3 mm above the disc
    builder.add_shape(dl.Shape("lid", "world", "collision", "box", lid, (8.0, 1.0, 0.1)))
    model = builder.build()
    q = model.neutral()
    q[2] = 0.5 * height
    pull = friction * GRAVITY  # with a moment as if it acted at the ground
    sim = dl.Simulator(model, integrator=integrator, friction=friction)
    sim.reset(q, np.array([speed, 0, 0, 0, 0, 0]))
    rec = sim.rollout(1000, wrenches=np.array([[pull, 0, 0, 0, -0.5 * height * pull, 0]]))
    assert np.abs(rec.q[:, 2] - 0.5 * height).max() < 2e-6
    np.testing.assert_allclose(rec.v[-1], (speed, 0, 0, 0, 0, 0), atol=1e-5)


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("direction", [0.0, math.pi / 3])
def test_balls_roll_on_a_plate_that_is_pulled(integrator, direction):
    # On the plate a ball accelerates by 2/7 of the plate, which bears the friction of all.
    mass, balls, force, friction, radius = 10.0, 25, 150.0, 0.4, 0.1
    builder = dl.ModelBuilder("plate")
    add_solid(builder, "plate", "box", (2.0, 2.0, 0.1), mass, friction=friction)
    for k in range(balls):
        add_solid(builder, f"ball {k}", "sphere", (radius,), friction=0.8)
    model = builder.build()
    q = model.neutral().reshape(-1, 7)
    q[0, 2] = 0.05
    for k in range(balls):
        q[k + 1, :3] = 0.3 * (k % 5 - 2), 0.3 * (k // 5 - 2), 0.1 + radius
    along = np.array([math.cos(direction), math.sin(direction)])
    pull = np.zeros((balls + 1, 6))
    pull[0, :2] = force * along
    sim = dl.Simulator(model, integrator=integrator, friction=friction, contact_slots=32)
    sim.reset(q.ravel())
    places = sim.rollout(200, wrenches=pull).q.reshape(200, -1, 7)[:, :, :2]
    speeds = np.diff(places, axis=0) / sim.dt
    found = (speeds[-1] - speeds[49]) / (149 * sim.dt)
    of_plate = (force - friction * (mass + balls) * GRAVITY) / (mass + balls * 2 / 7)
    np.testing.assert_allclose(found[0], of_plate * along, atol=1e-5)  # 0.7385 m/s^2
    expected = np.tile(2 / 7 * of_plate * along, (balls, 1))  # 0.2110 m/s^2
    np.testing.assert_allclose(found[1:], expected, atol=1e-5)

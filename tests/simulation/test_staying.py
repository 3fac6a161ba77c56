"""Bodies at rest stay: no creep, no jumps of points; bodies that overlap part without a bang."""

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import delassus as dl
from simulation.collision.scenes import SIZES, bodies, random_pose

LYING = Rotation.from_euler("x", 0.5 * np.pi).as_quat()


def started(kinds, heights, turns=None, **options):
    """A simulator with bodies one above the other."""
    model = bodies(*kinds)
    sim, q = dl.Simulator(model, **options), model.neutral()
    for k, z in enumerate(heights):
        q[7 * k + 2] = z
        if turns is not None:
            q[7 * k + 3 : 7 * k + 7] = turns[k]
    sim.reset(q)
    return sim


SCENES = {
    "box": (["box"], [0.1], None),
    "standing cylinder": (["cylinder"], [0.2], None),
    "lying capsule": (["capsule"], [0.08], [LYING]),
    "stack of boxes": (["box", "box"], [0.1, 0.3], None),
    "cylinder on a box": ([("box", (0.5, 0.5, 0.2)), "cylinder"], [0.1, 0.4], None),
}


@pytest.mark.parametrize("scene", SCENES)
def test_points_and_tangents_stay_the_same_over_a_thousand_steps(scene):
    sim = started(*SCENES[scene])
    sim.rollout(200)
    kept = sim.contacts
    for _ in range(20):
        sim.rollout(50)
        found = sim.contacts
        assert len(found) == len(kept)
        np.testing.assert_allclose(found["point"], kept["point"], atol=1e-6)
        np.testing.assert_allclose(found["normal"], kept["normal"], atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("friction", [0.8, 0.3])
def test_a_box_at_rest_does_not_creep_in_a_minute(friction):
    # Velocities up to the tolerance remain: at 1e-6 m/s the box may creep by some micrometres.
    sim = started(["box"], [0.1], friction=friction, tolerance=1e-8)
    sim.rollout(1000)
    before = sim.q
    sim.rollout(60_000)
    assert np.abs(sim.model.difference(before, sim.q)).max() < 1e-8


def test_a_box_at_rest_takes_up_a_push_at_once():
    # At rest the reactions of the step before solve a step, and no solver is asked.
    sim = started(["box"], [0.1], friction=0.5)
    rec = sim.rollout(200)
    np.testing.assert_array_equal(rec.metrics["iterations"][-50:], 0.0)
    resting, push = sim.state(), np.zeros((1, 6))
    for of_weight, acceleration in [(0.4, 0.0), (0.9, 0.4 * 9.81), (0.0, 0.0)]:
        push[0, 0] = of_weight * 9.81
        sim.step(wrenches=push)
        assert sim.v[0] == pytest.approx(acceleration * sim.dt, abs=2e-6)
        sim.set_state(resting)


@pytest.mark.parametrize("kind", ["sphere", "capsule", "box", "cylinder"])
def test_a_body_deep_in_the_ground_comes_out_without_a_bang(kind):
    sim = started([kind], [0.0])
    with pytest.warns(RuntimeWarning, match="penetrate"):
        sim.step()
    rec = sim.rollout(1500)
    low = {"sphere": 0.13, "capsule": 0.33, "box": 0.1, "cylinder": 0.2}[kind]
    assert sim.q[2] == pytest.approx(low, abs=2e-3)
    assert rec.q[:, 2].max() < low + 0.06  # the height that 1 m/s reaches is 0.051 m
    assert np.abs(rec.v[:, 2]).max() < 1.1


def test_bodies_deep_in_each_other_part_without_a_bang():
    sim = started(["box", "box"], [0.3, 0.32], ground=False)
    with pytest.warns(RuntimeWarning, match="penetrate"):
        sim.step()
    rec = sim.rollout(100)
    assert np.abs(rec.v).max() < 2.5 + 9.81 * 0.1
    assert np.isfinite(rec.q).all()
    assert SIZES["box"][2] == 0.2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("first", "second"),
    [*itertools.product(["sphere"], SIZES), ("capsule", "capsule")],
)
def test_bodies_with_one_centre_part_at_the_stated_speed(first, second, seed):
    model, rng = bodies(first, second).replace(gravity=(0.0, 0.0, 0.0)), np.random.default_rng(seed)
    sim = dl.Simulator(model, ground=False, on_error="record")
    q = np.concatenate([random_pose(rng, 0.02), random_pose(rng, 0.02)])
    sim.reset(q)
    rec = sim.rollout(800)
    assert sim.failures[0].kind == "penetration"
    speeds = np.linalg.norm(rec.v.reshape(-1, 2, 6)[:, :, :3], axis=2)
    assert speeds.max() < 1.05
    assert rec.metrics["penetration"][-1] < 1e-3

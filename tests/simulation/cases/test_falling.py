"""The walking figure where loops pass dead points and impacts throw light bodies about."""

import numpy as np

import delassus as dl

MOVED = ("yaw", "roll", "crank", "rotor", "foot", "toe")
CLOSED = 1e-4  # m


def walker(servos, **options):
    model = dl.robots.walker()
    moved = [any(word in joint.name for word in MOVED) for joint in model.joints]
    gains = np.zeros(model.nv)
    gains[[j.v.start for j, m in zip(model.joints, moved, strict=True) if m]] = servos
    sim = dl.Simulator(model, stiffness=60 * gains, damping=3 * gains, on_error="record", **options)
    q = model.neutral()
    q[2] = 0.945
    sim.reset(q)
    return sim


def is_solved(metrics):
    natural = metrics["natural_map"]
    return np.mean(natural <= 1e-6) >= 0.98 and natural.max() <= 1e-3


def test_legs_without_servos_collapse_onto_dead_points_and_stay_whole():
    sim = walker(0.0)
    metrics = sim.rollout(1500).metrics
    assert sim.failures == []
    assert is_solved(metrics)
    assert metrics["joint_error"].max() <= 2 * CLOSED
    energy = metrics["kinetic_energy"] + metrics["potential_energy"]
    assert energy[-1] < energy[0]


def test_joints_stay_open_where_that_is_asked_for():
    stays = dl.maximal.Stabilization(
        joints=0.0, contacts=0.1, depenetration_speed=1.0, joint_opening=np.inf
    )
    metrics = walker(0.0, stabilization=stays).rollout(300).metrics
    assert metrics["joint_error"].max() > 2 * CLOSED


def test_a_figure_that_is_pushed_over_stays_whole():
    sim = walker(1.0)
    v = np.zeros(sim.model.nv)
    v[:6] = 2.0, 1.5, 0.0, 0.0, 0.0, 2.0
    sim.reset(sim.q, v)
    metrics = sim.rollout(2000).metrics
    assert is_solved(metrics)
    assert metrics["joint_error"].max() <= CLOSED


def test_contacts_of_a_robot_at_rest_push_alike_in_each_step():
    sim = walker(1.0)
    sim.rollout(1000)
    before = sim.contacts["force"]
    sim.step()
    assert np.abs(sim.contacts["force"] - before).max() < 1e-2 * np.abs(before).max()

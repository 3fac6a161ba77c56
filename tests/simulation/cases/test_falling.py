"""Robots with loops, where these pass dead points and impacts throw light bodies about."""

import numpy as np
import pytest

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


def held_arm():
    """An arm of six joints that holds on to the world, on a base that its lower limit pushes up."""
    b = dl.ModelBuilder("held arm")
    body = {"mass": 1.0, "inertia": 0.01 * np.eye(3)}
    b.add_body("base", joint=dl.Prismatic((0, 0, 1)), lower=0.2, upper=2.0, damping=1e7, **body)
    carrier, place = "base", dl.Transform(translation=(0, 0, 0.2))
    for i in range(6):
        axis = (0, 1, 0) if i % 2 == 0 else (1, 0, 0)
        b.add_body(f"link{i}", carrier, dl.Revolute(axis), place, **body)
        carrier, place = f"link{i}", dl.Transform(translation=(0.1, 0.02, 0.1))
    b.add_frame("hand", carrier, place)
    model = b.build()
    hand = dl.forward_kinematics(model, model.neutral(), ["hand"])
    b.add_frame("grip", placement=dl.Transform(hand.rotation[0], hand.translation[0]))
    b.add_constraint(dl.Weld("hand", "grip"))
    return b.build()


def test_joints_that_are_torn_open_at_a_dead_point_close_again():
    sim = dl.Simulator(held_arm(), dt=2e-3, on_error="record")
    metrics = sim.rollout(500).metrics
    assert metrics["relative_natural_map"].max() <= 1e-6
    assert metrics["joint_error"].max() > 10 * CLOSED  # it is pushed over one
    assert metrics["joint_error"][-1] <= CLOSED
    assert metrics["limit_error"][-1] < 0.01


def cassie():
    """Cassie with its rotors of 1 g behind gears, and a pose within its limits."""
    model = dl.robots.load("cassie")
    q = model.neutral()
    for side in ("left", "right"):
        q[model.joint(f"{side}-pitch-op").q] = 0.2734
        for name, angle in (("foot-op", -1.3759), ("tarsus-crank-joint", -1.3759)):
            q[model.joint(f"{side}-{name}").q] = angle
        q[model.joint(f"{side}-crank-rod-joint").q] = 1.3759
    for gear in model.constraints:
        if isinstance(gear, dl.Gear):
            q[model.joint(gear.other).q] = q[model.joint(gear.joint).q] / gear.ratio
    return model, q


@pytest.mark.parametrize("seed", [1, 2])
def test_cassie_that_is_thrown_without_servos_stays_whole(seed):
    model, q = cassie()
    rng = np.random.default_rng(seed)
    q[2:7] = 1.6, *(rng.normal(size=4))
    q[3:7] /= np.linalg.norm(q[3:7])
    v = np.zeros(model.nv)
    v[:6] = 2.0 * rng.normal(size=6)
    sim = dl.Simulator(model, on_error="record")
    sim.reset(q, v)
    metrics = sim.rollout(2000).metrics
    assert sim.failures == []
    assert metrics["contacts"].max() >= 3
    assert metrics["relative_natural_map"].max() <= 1e-6
    assert metrics["joint_error"].max() <= 5 * CLOSED
    assert metrics["kinetic_energy"][-1] < 0.1 * metrics["kinetic_energy"].max()

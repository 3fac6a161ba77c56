"""What integrators keep: energy, closed joints, their order, momentum; and who makes which step."""

from itertools import pairwise

import numpy as np
import pytest

import delassus as dl
from delassus.errors import SettingError
from delassus.maximal.settings import Softening, Stabilization

from .test_simulator import ball, crank_rocker, total_energy


def energy_error(model, q, seconds, **options):
    """Largest error of energy, of the largest kinetic energy, and the largest error of joints."""
    sim = dl.Simulator(model, ground=False, **options)
    sim.reset(q)
    rec = sim.rollout(round(seconds / sim.dt))
    start, largest = dl.potential_energy(model, q), rec.metrics["kinetic_energy"].max()
    return np.abs(total_energy(rec) - start).max() / largest, rec.metrics["joint_error"].max()


def all_joints():
    """A chain with one joint of each type."""
    b, parent = dl.ModelBuilder("chain"), "world"
    kinds = [
        *(dl.Universal((1, 0, 0), (0, 1, 0)), dl.Helical((0, 1, 0), 0.1), dl.Gimbal()),
        *(dl.Cylindrical((0, 0, 1)), dl.Planar((0, 1, 0)), dl.Spherical(), dl.Fixed()),
        *(dl.Translation(), dl.Revolute((1, 0, 0)), dl.Prismatic((1, 0, 0))),
    ]
    for k, joint in enumerate(kinds):
        b.add_body(
            f"link{k}", parent, joint, (0.1, 0.05, -0.2), mass=1.0 + 0.1 * k, com=(0.05, 0, -0.1),
            inertia=np.diag([0.02, 0.03, 0.025]),
        )  # fmt: skip
        parent = f"link{k}"
    model = b.build()
    return model, model.random_configuration(np.random.default_rng(0)), 1.0


def coupled():
    """Three hinges in a row, with a gear and a curve between their angles."""
    b = dl.ModelBuilder("coupled")
    for k, axis in enumerate([(0, 1, 0), (1, 0, 0), (0, 1, 0)]):
        b.add_body(
            f"link{k}", f"link{k - 1}" if k else "world", dl.Revolute(axis), (0.2, 0, 0),
            mass=1.0, com=(0.1, 0, 0), inertia=0.01 * np.eye(3),
        )  # fmt: skip
    b.add_constraint(dl.Gear("link0_joint", "link1_joint", 2.0))
    curve = dl.Implicit(
        lambda x: [x[0] - 0.5 * x[1] * x[1] - 0.3 * x[1]], ["link1_joint", "link2_joint"]
    )
    b.add_constraint(curve)
    model = b.build()
    return model, model.neutral(), 0.5


def ankle(rods):
    model = dl.robots.parallel_ankle(rods)
    return model, model.neutral(), 0.3


# --- displacement ---------------------------------------------------------------------------------


def test_with_displacement_the_loop_of_a_crank_rocker_stays_closed():
    model, q = crank_rocker()
    energy, error = energy_error(model, q, 5.0, dt=2.5e-3, displacement=True)
    assert energy < 1e-3
    assert error < 1e-7


def test_with_displacement_euler_needs_no_stabilisation_to_keep_joints_closed():
    model, q = crank_rocker()
    _, error = energy_error(model, q, 1.0, dt=2.5e-3, integrator="euler", displacement=True)
    assert error < 1e-5


def test_with_displacement_a_figure_stands_with_closed_joints():
    model = dl.robots.walker()
    q = model.neutral()
    q[2] = 0.945
    moved = ("yaw", "roll", "crank", "rotor", "foot", "toe")
    chosen = np.zeros(model.nv)
    for joint in model.joints:
        if any(word in joint.name for word in moved):
            chosen[joint.v.start] = 1.0
    sim = dl.Simulator(model, stiffness=60 * chosen, damping=3 * chosen, displacement=True)
    sim.reset(q)
    told = sim.rollout(400).metrics
    assert told["joint_error"].max() < 1e-9
    assert np.mean(told["natural_map"] <= 1e-6) > 0.98
    assert told["contacts"][-1] == 12


def test_a_loop_that_is_switched_off_is_not_closed_by_displacement():
    model, q = crank_rocker()
    for options in ({"displacement": True}, {"integrator": "rk4"}):
        sim = dl.Simulator(model, dt=2.5e-3, ground=False, **options)
        sim.reset(q)
        sim.disable(sim.constraint_names[0])
        rec = sim.rollout(100)
        assert rec.metrics["joint_error"].max() < 1e-7
        loop = dl.Constraints(model).position_error(rec.q[-1])
        assert np.abs(loop).max() > 0.01


# --- Runge-Kutta ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("dt", "bound"), [(2.5e-3, 1e-6), (1e-3, 1e-8)])
def test_with_rk4_a_crank_rocker_keeps_its_energy_and_its_loop(dt, bound):
    model, q = crank_rocker()
    energy, error = energy_error(model, q, 5.0, dt=dt, integrator="rk4")
    assert energy < bound
    assert error < 1e-12


@pytest.mark.parametrize("case", [all_joints, coupled, lambda: ankle("bodies"),
                                  lambda: ankle("distances")])  # fmt: skip
def test_half_the_step_has_a_sixteenth_of_the_error(case):
    """Which needs the drifts of all rows."""
    model, q, speed = case()
    v = speed * np.random.default_rng(0).normal(size=model.nv)
    ends = []
    for steps in (10, 20, 40):
        sim = dl.Simulator(model, dt=0.04 / steps, ground=False, integrator="rk4")
        sim.reset(q, v)
        sim.rollout(steps)
        ends.append(sim.q.copy())
    coarse, fine = (np.abs(model.difference(a, b)).max() for a, b in pairwise(ends))
    assert coarse > 1e-13
    assert 11 < coarse / fine < 24


def test_rk4_of_a_free_body_that_spins_keeps_momentum():
    b = dl.ModelBuilder("body", gravity=(0, 0, 0))
    b.add_body("body", joint=dl.Free(), mass=1.0, inertia=np.diag([1.0, 2.0, 2.8]))
    model = b.build()
    sim = dl.Simulator(model, ground=False, integrator="rk4")
    sim.reset(model.neutral(), np.array([0, 0, 0, 0.1, 3.0, 0.1]))
    rec = sim.rollout(5000)
    kinetic = rec.metrics["kinetic_energy"]
    assert np.abs(kinetic / kinetic[0] - 1).max() < 1e-10
    first, last = (
        dl.centroidal_momentum_matrix(model, rec.q[k])[3:] @ rec.v[k] for k in (0, -1)
    )  # fmt: skip
    assert np.abs(first - last).max() < 1e-10 * np.linalg.norm(first)


def test_midpoint_keeps_energy_and_momentum_of_a_free_body_for_a_minute():
    b = dl.ModelBuilder("body", gravity=(0, 0, 0))
    b.add_body("body", joint=dl.Free(), mass=1.0, inertia=np.diag([1.0, 2.0, 2.8]))
    model = b.build()
    sim = dl.Simulator(model, ground=False)
    sim.reset(model.neutral(), np.array([0, 0, 0, 0.1, 3.0, 0.1]))
    rec = sim.rollout(60_000)
    kinetic = rec.metrics["kinetic_energy"]
    assert np.abs(kinetic / kinetic[0] - 1).max() < 1e-3
    first, last = (
        dl.centroidal_momentum_matrix(model, rec.q[k])[3:] @ rec.v[k] for k in (0, -1)
    )  # fmt: skip
    assert np.abs(first - last).max() < 1e-3 * np.linalg.norm(first)


def test_steps_with_contact_are_those_of_midpoint():
    model, q = ball()
    sims = [dl.Simulator(model, integrator=name) for name in ("midpoint", "rk4")]
    runs = []
    for sim in sims:
        sim.reset(q, np.array([1.0, 0, 0, 0, 0, 0]))
        runs.append(sim.rollout(200))
    assert runs[0].metrics["contacts"].min() == 1
    assert np.allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-12)


def test_a_ball_that_falls_bounces_and_comes_to_rest():
    model, q = ball()
    q[2] = 0.3
    sim = dl.Simulator(model, integrator="rk4", restitution=0.5)
    sim.reset(q)
    rec = sim.rollout(3000)
    flight = np.flatnonzero(rec.metrics["contacts"])[0]
    fallen = q[2] - 0.5 * 9.81 * rec.time[:flight] ** 2
    assert np.abs(rec.q[:flight, 2] - fallen).max() < 1e-12
    assert rec.v[:, 2].max() > 0.4 * np.sqrt(2 * 9.81 * 0.2)
    assert rec.q[-1, 2] == pytest.approx(0.1, abs=1e-5)
    assert np.abs(rec.v[-1]).max() < 1e-6


def pendulum(**data):
    b = dl.ModelBuilder("pendulum")
    b.add_body(
        "rod", joint=dl.Revolute((0, 1, 0)), mass=1.0, com=(0, 0, -0.5), inertia=0.1 * np.eye(3),
        **data,
    )  # fmt: skip
    return b.build()


def test_limits_hold_with_rk4():
    model = pendulum(lower=-0.5, upper=0.5)
    sim = dl.Simulator(model, ground=False, integrator="rk4")
    sim.reset([0.0], [3.0])
    rec = sim.rollout(1000)
    assert 0.49 < np.abs(rec.q).max() < 0.5 + 1e-3


def test_dry_friction_holds_a_pendulum_with_rk4():
    model = pendulum(friction=10.0)
    sim = dl.Simulator(model, ground=False, integrator="rk4")
    sim.reset([0.5])
    assert np.abs(sim.rollout(200).q - 0.5).max() < 1e-6


def test_rk4_of_a_damped_pendulum_with_a_spring_and_a_motor_is_forward_dynamics():
    model = pendulum(damping=0.4, stiffness=3.0, armature=0.05)
    sim = dl.Simulator(model, dt=1e-2, ground=False, integrator="rk4")
    sim.reset([0.3], [1.0])
    sim.rollout(50, control=[0.7])

    def acceleration(q, v):
        tau = 0.7 - 0.4 * v - 3.0 * q
        return dl.forward_dynamics(model, [q], [v], [tau])[0]

    q, v, h = 0.3, 1.0, 1e-3  # an error of 1e-12 of the reference, 1e-9 of the simulation
    for _ in range(500):
        a1 = acceleration(q, v)
        a2 = acceleration(q + h / 2 * v, v + h / 2 * a1)
        a3 = acceleration(q + h / 2 * v + h * h / 4 * a1, v + h / 2 * a2)
        a4 = acceleration(q + h * v + h * h / 2 * a2, v + h * a3)
        q += h * v + h * h / 6 * (a1 + a2 + a3)
        v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    assert sim.q[0] == pytest.approx(q, abs=1e-7)
    assert sim.v[0] == pytest.approx(v, abs=1e-7)


@pytest.mark.parametrize("stiffness", [10.0, 1e5])
def test_servos_soft_and_stiff_reach_their_target_with_rk4(stiffness):
    model = pendulum()
    damping = 2 * np.sqrt(0.35 * stiffness)
    sim = dl.Simulator(
        model, ground=False, integrator="rk4", stiffness=stiffness, damping=damping
    )  # fmt: skip
    sim.reset([0.0])
    sim.rollout(3000, control=[0.4])
    q = sim.q[0]
    assert stiffness * (0.4 - q) == pytest.approx(9.81 * 0.5 * np.sin(q), rel=1e-2)


def test_reactions_of_rk4_are_those_of_statics():
    model = pendulum()
    sim = dl.Simulator(model, ground=False, integrator="rk4")
    sim.reset([0.0])
    sim.rollout(3)
    assert np.linalg.norm(sim.reaction("rod_joint")) == pytest.approx(9.81, abs=1e-6)


def test_rk4_takes_no_soft_joints():
    soft = Stabilization(soft_joints=Softening())
    with pytest.raises(SettingError, match="soft_joints"):
        dl.Simulator(pendulum(), integrator="rk4", stabilization=soft)

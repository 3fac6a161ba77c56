"""Actuators in simulations: implicit servos, limits of torques, gears, keyframes, wrenches."""

import numpy as np
import pytest

import delassus as dl


def pendulum(gravity=(0, 0, -9.81), effort=np.inf, **data):
    """A rod of 1 kg and 1 m that turns about y."""
    b = dl.ModelBuilder("pendulum", gravity=gravity)
    matrix = np.diag([1.0, 1.0, 0.0]) / 12 + 1e-4 * np.eye(3)
    b.add_body(
        "rod", joint=dl.Revolute((0, 1, 0)), mass=1.0, com=(0, 0, -0.5), inertia=matrix,
        effort_limit=effort, **data,
    )  # fmt: skip
    return b.build()


def servo(**more):
    given = {"stiffness": 100.0, "damping": 10.0, **more}
    return dl.Actuator("motor", "rod_joint", "position", **given)


def simulated(model, actuators, **more):
    return dl.Simulator(model, ground=False, actuators=actuators, **more)


INERTIA = 1 / 12 + 1e-4 + 0.25  # of the pendulum about its joint


def test_a_servo_holds_its_target_against_gravity():
    model = pendulum()
    sim = simulated(model, [servo()])
    sim.rollout(4000, control=[0.5])
    sag = 9.81 * 0.5 * np.sin(sim.q[0]) / 100.0  # torque of gravity by stiffness
    assert sim.q[0] == pytest.approx(0.5 - sag, abs=1e-6)
    assert sim.torques[0] == pytest.approx(9.81 * 0.5 * np.sin(sim.q[0]), abs=1e-5)


def test_a_stiff_servo_is_stable():
    model = pendulum()
    sim = simulated(model, [servo(stiffness=1e6, damping=1e3)])
    rec = sim.rollout(300, control=[1.0])
    assert np.isfinite(rec.q).all()
    assert rec.q[-1, 0] == pytest.approx(1.0, abs=1e-3)


def light_fingers(friction, **servo):
    """Two light fingers that a tendon closes, without gravity."""
    b = dl.ModelBuilder("fingers", gravity=(0, 0, 0))
    for name in ("left", "right"):
        joint = dl.Prismatic((1, 0, 0))
        b.add_body(name, joint=joint, mass=0.1, joint_name=name, damping=friction)
    law = {"gear": (0.5, 0.25), "kind": "position", **servo}
    b.add_actuator(dl.Actuator("tendon", ("left", "right"), **law))
    return b.build()


@pytest.mark.parametrize("integrator", ["euler", "midpoint"])
def test_a_stiff_tendon_is_stable_and_ends_where_it_is_told_to(integrator):
    model = light_fingers(0.0, stiffness=1e6, damping=1e3)
    sim = dl.Simulator(model, dt=2e-3, ground=False, integrator=integrator)
    rec = sim.rollout(2000, control=[0.1])
    assert np.abs(rec.q).max() < 0.5
    assert rec.q[-1] @ [0.5, 0.25] == pytest.approx(0.1, abs=1e-9)
    assert rec.v[-1] == pytest.approx([0.0, 0.0], abs=1e-9)
    assert rec.q[:, 1] == pytest.approx(0.5 * rec.q[:, 0], abs=1e-9)  # as their masses are equal


def test_half_the_step_has_half_the_error_of_a_tendon():
    model = light_fingers(0.1, stiffness=50.0, damping=1.0)
    ends = {}
    for dt, integrator in ((1e-3, "rk4"), (4e-3, "midpoint"), (2e-3, "midpoint")):
        sim = dl.Simulator(model, dt=dt, ground=False, integrator=integrator)
        ends[dt] = sim.rollout(round(0.2 / dt), control=[0.1]).q[-1]
    errors = [np.abs(ends[dt] - ends[1e-3]).max() for dt in (4e-3, 2e-3)]
    assert 1e-5 < errors[0] < 1e-2
    assert errors[0] / errors[1] == pytest.approx(2.0, abs=0.5)


def test_a_servo_with_a_limit_accelerates_by_its_limit_and_then_holds():
    model = pendulum(gravity=(0, 0, 0))
    sim = simulated(model, [servo(force_range=(-2.0, 2.0))])
    rec = sim.rollout(2000, control=[3.0], sensors=True)
    torque = rec.torques[:, 0]
    assert np.abs(torque).max() <= 2.0
    assert torque[:100] == pytest.approx(2.0)
    assert rec.v[99, 0] == pytest.approx(2.0 / INERTIA * 0.1, rel=1e-6)
    assert torque.min() < -0.5  # it brakes before the target
    # The law of the implicit servo holds in every step, limits included. Velocities change in the
    # middle of a step, so the position is that of half a step before.
    q = np.concatenate([[0.0], rec.q[:-1, 0]])
    v_before = np.concatenate([[0.0], rec.v[:-1, 0]])
    unlimited = 100.0 * (3.0 - (q + 0.5e-3 * v_before)) - (10.0 + 1e-3 * 100.0) * rec.v[:, 0]
    assert np.abs(torque - np.clip(unlimited, -2.0, 2.0)).max() < 1e-9
    assert rec.metrics["passes"].max() <= 3


def test_limits_of_the_joint_clip_the_sum_of_its_actuators():
    model = pendulum(gravity=(0, 0, 0), effort=1.5)
    motors = [dl.Actuator("one", "rod_joint"), dl.Actuator("two", "rod_joint", gear=2.0)]
    sim = simulated(model, motors)
    sim.step([0.5, 0.25])
    assert sim.torques[0] == pytest.approx(1.0)
    assert sim.v[0] == pytest.approx(1e-3 * 1.0 / INERTIA, rel=1e-9)
    sim.step([5.0, 5.0])
    assert sim.actuator_forces == pytest.approx([5.0, 5.0])
    assert sim.torques[0] == pytest.approx(1.5)


def test_a_limit_that_is_never_reached_changes_nothing():
    model = pendulum()
    free, limited = (simulated(model, [servo(force_range=given)]) for given in (None, (-1e3, 1e3)))
    assert np.array_equal(*(s.rollout(300, [0.5]).q for s in (free, limited)))


def test_a_limited_servo_that_cannot_hold_the_weight_falls_behind():
    model = pendulum()
    sim = simulated(model, [servo(force_range=(-3.0, 3.0))])
    sim.reset([0.0])
    sim.rollout(8000, control=[np.pi / 2])
    # It stops where gravity takes all of its torque.
    assert sim.torques[0] == pytest.approx(3.0, abs=1e-6)
    damping_free = np.arcsin(3.0 / (9.81 * 0.5))
    assert 0.0 < sim.q[0] < 2 * damping_free


def test_controls_are_clipped_and_gears_multiply():
    model = pendulum(gravity=(0, 0, 0))
    sim = simulated(model, [dl.Actuator("m", "rod_joint", gear=3.0, control_range=(-1.0, 1.0))])
    sim.step([7.0])
    assert sim.torques[0] == pytest.approx(3.0)


@pytest.mark.parametrize("kind", ["torque", "position", "velocity"])
def test_forces_of_slow_actuators_are_those_of_the_public_law(kind):
    gains = {"torque": {}, "position": {"stiffness": 5.0, "damping": 0.5}}
    gains["velocity"] = {"damping": 2.0}
    model = pendulum().replace(
        actuators=[
            dl.Actuator("m", "rod_joint", kind, gear=2.0, scale=0.5, offset=0.1, **gains[kind])
        ]
    )
    sim = dl.Simulator(model, dt=1e-6, ground=False)
    sim.reset([0.4], [0.3])
    expected = dl.actuator_forces(model, [0.4], [0.3], [0.7])
    sim.step([0.7])
    assert sim.torques == pytest.approx(expected, abs=1e-4)


LAWS = {
    "motors": '<motor joint="turn" gear="3" ctrlrange="-1 1"/>'
    '<motor joint="slide" gear="-2" forcerange="-1 0.5"/>',
    "servos": '<position joint="turn" kp="20" kv="2" gear="3" ctrlrange="-2 1"/>'
    '<velocity joint="slide" kv="5" gear="0.5" forcerange="-1 2"/>',
    "general": '<general joint="turn" gear="-2" gainprm="7" biastype="affine" biasprm="1 -20 -3"'
    ' forcerange="-30 20"/><general joint="slide" gainprm="7" biastype="affine" biasprm="1 0 -3"/>',
}


@pytest.mark.parametrize("laws", LAWS)
def test_implicit_forces_are_those_of_mujoco_at_the_end_of_the_step(tmp_path, laws):
    mujoco = pytest.importorskip("mujoco")
    path = tmp_path / "two.xml"
    path.write_text(f"""<mujoco><worldbody>
     <body><joint name="turn" axis="0 1 0"/><geom size="0.1"/></body>
     <body pos="1 0 0"><joint name="slide" type="slide" axis="0 1 0"/><geom size="0.1"/></body>
     </worldbody><actuator>{LAWS[laws]}</actuator></mujoco>""")
    sim = dl.Simulator(dl.load(path), dt=2e-3, integrator="euler", ground=False)
    reference, rng = mujoco.MjModel.from_xml_path(str(path)), np.random.default_rng(0)
    data = mujoco.MjData(reference)
    for scale in (1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 30.0, 30.0):
        u = scale * rng.standard_normal(2)
        sim.reset(*rng.standard_normal((2, 2)))
        sim.step(u)
        data.qpos, data.qvel, data.ctrl = sim.q, sim.v, u
        mujoco.mj_forward(reference, data)
        tolerance = 1e-12 * max(np.abs(data.actuator_force).max(), 1.0)
        assert sim.actuator_forces == pytest.approx(data.actuator_force, rel=0, abs=tolerance)
        assert sim.torques == pytest.approx(data.qfrc_actuator, rel=0, abs=3 * tolerance)


def ball_joint():
    b = dl.ModelBuilder("top", gravity=(0, 0, 0))
    b.add_body("top", joint=dl.Spherical(), mass=1.0, inertia=np.diag([0.1, 0.2, 0.3]))
    return b.build()


def test_actuators_of_a_ball_joint_turn_along_their_gear():
    model = ball_joint()
    for in_parent in (False, True):
        motor = dl.Actuator("m", "top_joint", gear=(0, 0.6, 0.8), in_parent=in_parent)
        sim = simulated(model, [motor])
        q = np.array([0.0, 0.0, np.sin(0.5), np.cos(0.5)])
        sim.reset(q)
        sim.step([2.0])
        expected = dl.actuator_forces(sim.model, q, np.zeros(3), [2.0])
        assert sim.torques == pytest.approx(expected)
        # What turns while it moves feels gyroscopic terms, of order 1e-8 here.
        assert sim.v == pytest.approx(1e-3 * expected / [0.1, 0.2, 0.3], rel=1e-4, abs=1e-7)


def test_servos_of_a_ball_joint_reach_their_target():
    model = ball_joint()
    axes = [
        dl.Actuator(f"m{k}", "top_joint", "position", gear=np.eye(3)[k], stiffness=20, damping=4)
        for k in range(3)
    ]
    sim = simulated(model, axes)
    sim.rollout(4000, control=[0.3, 0.0, 0.0])
    assert sim.q == pytest.approx([np.sin(0.15), 0, 0, np.cos(0.15)], abs=1e-6)


def test_servos_as_actuators_are_those_of_stiffness_and_damping():
    model = pendulum()
    old = dl.Simulator(model, ground=False, stiffness=50.0, damping=2.0)
    new = simulated(model, dl.servos(model, 50.0, 2.0))
    assert np.allclose(old.rollout(200, [0.3]).q, new.rollout(200, [0.3]).q, atol=1e-13)
    with pytest.raises(dl.SettingError, match="without actuators"):
        simulated(model, dl.servos(model, 50.0, 2.0), stiffness=1.0)


def test_a_body_with_gravity_compensation_floats():
    b = dl.ModelBuilder("balloon")
    b.add_body("up", joint=dl.Free(), mass=2.0, inertia=np.eye(3), gravity_compensation=1.0)
    b.add_body("half", joint=dl.Free(), mass=2.0, inertia=np.eye(3), gravity_compensation=0.5)
    sim = dl.Simulator(b.build(), ground=False)
    sim.rollout(100)
    assert sim.v[2] == pytest.approx(0.0, abs=1e-12)
    assert sim.v[8] == pytest.approx(-0.5 * 9.81 * 0.1)


# --- keyframes ------------------------------------------------------------------------------------


def test_reset_takes_the_home_keyframe_and_its_controls():
    frames = [dl.Keyframe("home", [0.5], u=[0.5]), dl.Keyframe("up", [2.0], [0.1], [2.0], time=3.0)]
    model = pendulum(gravity=(0, 0, 0)).replace(actuators=[servo()], keyframes=frames)
    sim = dl.Simulator(model, ground=False)
    assert sim.q == pytest.approx([0.5])
    sim.rollout(10)
    assert sim.q == pytest.approx([0.5], abs=1e-12)
    sim.reset(keyframe="up")
    assert (sim.q[0], sim.v[0], sim.time) == (2.0, 0.1, 3.0)
    assert sim.default_control == pytest.approx([2.0])
    sim.reset([0.2])
    assert sim.default_control == pytest.approx([0.0])
    with pytest.raises(dl.UnknownNameError, match="keyframe"):
        sim.reset(keyframe="down")


# --- wrenches -------------------------------------------------------------------------------------


def test_wrenches_are_the_external_forces_of_forward_dynamics():
    model = dl.robots.crank_rocker().replace(constraints=[])
    rng = np.random.default_rng(0)
    q, push = rng.standard_normal(model.nq), rng.standard_normal((model.n_bodies, 6))
    sim = dl.Simulator(model, dt=1e-6, ground=False)
    sim.reset(q)
    sim.step(wrenches=push)
    expected = dl.forward_dynamics(model, q, np.zeros(model.nv), np.zeros(model.nv), push)
    assert sim.accelerations == pytest.approx(expected, rel=1e-3, abs=1e-3)


def test_wrenches_may_change_with_steps_and_worlds():
    model = pendulum(gravity=(0, 0, 0))
    push = np.zeros((2, 30, 1, 6))
    push[1, 10:20, 0, 4] = 1.0
    sim = dl.Simulator(model, ground=False, worlds=2)
    rec = sim.rollout(30, wrenches=push)
    assert not rec.v[0].any()
    assert rec.v[1, 9, 0] == 0.0
    assert rec.v[1, 19:, 0] == pytest.approx(0.01 / INERTIA)
    asked = dl.Simulator(model, ground=False, worlds=2)
    again = asked.rollout(30, control=lambda sim: [0.0], wrenches=push)
    assert np.array_equal(again.q, rec.q)


def test_damping_of_a_ball_joint_slows_all_its_axes():
    b = dl.ModelBuilder("top", gravity=(0, 0, 0))
    b.add_body("top", joint=dl.Spherical(), mass=1.0, inertia=0.1 * np.eye(3), damping=0.5)
    sim = dl.Simulator(b.build(), ground=False)
    v = np.array([0.3, -0.2, 0.5])
    sim.reset(v=v)
    sim.rollout(100)
    assert sim.v == pytest.approx(v * (1 + 1e-3 * 0.5 / 0.1) ** -100, rel=1e-6)

"""Forces of actuators: the law that `Actuator` states, in NumPy, and limits."""

import pickle

import numpy as np
import pytest

import delassus as dl

pytestmark = pytest.mark.uncompiled

ANGLE = 0.7  # of the ball joint about the axis (0, 0.6, 0.8)


def machine(*actuators: dl.Actuator, **limits) -> dl.Model:
    """A hinge, a ball joint, two axes and a free body."""
    builder = dl.ModelBuilder()
    builder.add_body("hinge", mass=1.0, joint_name="hinge", **limits)
    builder.add_body("ball", "hinge", dl.Spherical(), mass=1.0, joint_name="ball")
    builder.add_body("cross", "hinge", dl.Universal(), mass=1.0, joint_name="cross")
    builder.add_body("drone", joint=dl.Free(), mass=1.0, joint_name="free")
    for actuator in actuators:
        builder.add_actuator(actuator)
    return builder.build()


def state(model: dl.Model) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    q, v = model.random_configuration(rng), rng.standard_normal(model.nv)
    half = 0.5 * ANGLE
    q[model.joint("ball").q] = [0.0, 0.6 * np.sin(half), 0.8 * np.sin(half), np.cos(half)]
    return q, v


def force_on(joint: str, actuator: dl.Actuator, u: float, **limits) -> np.ndarray:
    """The force on a joint, after a check that there is none on the others."""
    model = machine(actuator, **limits)
    tau = dl.actuator_forces(model, *state(model), [u])
    own = model.joint(joint).v
    assert not np.delete(tau, own).any()
    return tau[own]


def test_a_motors_control_is_the_force_before_the_gear():
    assert force_on("hinge", dl.Actuator("m", "hinge", gear=3.0), 0.5) == pytest.approx([1.5])
    assert force_on("cross", dl.Actuator("m", "cross", gear=[0, 3]), 0.5) == pytest.approx([0, 1.5])


def test_a_position_servo_is_a_spring_and_a_damper_on_its_side_of_the_gear():
    (q, *_), (v, *_) = state(machine())
    servo = dl.Actuator("p", "hinge", "position", gear=3.0, stiffness=20.0, damping=2.0)
    force = 20.0 * (0.4 - 3.0 * q) - 2.0 * 3.0 * v
    assert force_on("hinge", servo, 0.4) == pytest.approx([3.0 * force])


def fingers(**actuator) -> dl.Model:
    """Two hinges and a slide, with a tendon over a hinge and the slide."""
    builder = dl.ModelBuilder()
    builder.add_body("a", mass=1.0)
    builder.add_body("b", "a", mass=1.0)
    builder.add_body("c", "a", dl.Prismatic((1, 0, 0)), mass=1.0)
    builder.add_actuator(dl.Actuator("tendon", ("c_joint", "a_joint"), **actuator))
    return builder.build()


def test_a_tendon_pulls_on_all_its_joints():
    servo = {"kind": "position", "gear": (-0.5, 2.0), "stiffness": 20.0, "damping": 3.0}
    model, q, v = fingers(**servo), np.array([0.3, 0.1, -0.2]), np.array([1.0, -2.0, 0.7])
    g = np.array([2.0, 0.0, -0.5])
    force = 20.0 * (0.4 - g @ q) - 3.0 * g @ v
    np.testing.assert_allclose(dl.actuator_forces(model, q, v, [0.4]), g * force)
    limited = fingers(**servo, force_range=(-1.0, 1.0))
    np.testing.assert_allclose(dl.actuator_forces(limited, q, v, [9.0]), g)


def test_wrong_tendons_are_errors():
    with pytest.raises(dl.ModelError, match="gear of 2 joints takes as many numbers, got 1"):
        fingers()
    with pytest.raises(dl.ModelError, match="in_parent is for a single joint"):
        fingers(gear=(1.0, 1.0), in_parent=True)
    for joints, gear, message in (
        (("hinge", "ball"), (1.0, 1.0), "'ball' is Spherical, and a tendon runs over"),
        (("hinge", "hing"), (1.0, 1.0), "names the joint 'hing'.*did you mean 'hinge'"),
        (("hinge", "hinge"), (1.0, 1.0), "one to 6 different ones"),
        ((), (1.0,), "one to 6 different ones"),
        (tuple("abcdefg"), (1.0,) * 6, "one to 6 different ones"),
    ):
        with pytest.raises(dl.DelassusError, match=message):
            machine(dl.Actuator("m", joints, gear=gear))
    assert dl.Actuator("m", ["hinge"]).joint == "hinge"


def test_a_velocity_servo_brakes_what_is_faster_than_asked_for():
    v = state(machine())[1][0]
    servo = dl.Actuator("v", "hinge", "velocity", gear=-2.0, damping=5.0)
    assert force_on("hinge", servo, 0.4) == pytest.approx([-2.0 * 5.0 * (0.4 + 2.0 * v)])


def test_scale_and_offset_act_on_the_control_within_its_range():
    motor = dl.Actuator("m", "hinge", control_range=(-1, 2), scale=10.0, offset=0.5)
    for u, expected in ((0.1, 1.5), (9.0, 20.5), (-9.0, -9.5), (np.inf, 20.5)):
        assert force_on("hinge", motor, u) == pytest.approx([expected])


def test_a_servo_of_a_ball_joint_pulls_along_the_rotation_vector():
    v = state(machine())[1][1:4]
    gear = np.array([0.0, 0.0, 2.0])
    servo = dl.Actuator("p", "ball", "position", gear=gear, stiffness=3.0, damping=0.5)
    force = 3.0 * (0.1 - 2.0 * ANGLE * 0.8) - 0.5 * 2.0 * v[2]
    assert force_on("ball", servo, 0.1) == pytest.approx(force * gear)


def test_a_servo_of_a_ball_joint_goes_the_shorter_way_round():
    servo = dl.Actuator("p", "ball", "position", gear=[0.0, 1.2, 1.6], stiffness=3.0)
    length = 2.0 * ANGLE
    for away in (0.1, 6.0, -6.0):  # half a turn is 2 pi away
        for turns in (-1, 0, 2):
            force = force_on("ball", servo, length + away + 4.0 * np.pi * turns)
            assert force == pytest.approx(3.0 * away * np.array([0.0, 1.2, 1.6]))


def test_a_force_in_the_parents_axes_turns_with_the_body_the_other_way():
    gear = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    wrench = force_on("free", dl.Actuator("t", "free", gear=gear, in_parent=True), 2.0)
    model = machine()
    q, _ = state(model)
    R = dl.forward_kinematics(model, q, ["drone"]).rotation[0]
    expected = 2.0 * np.concatenate([R.T @ gear[:3], R.T @ gear[3:]])
    assert wrench == pytest.approx(expected)
    assert force_on("free", dl.Actuator("t", "free", gear=gear), 2.0) == pytest.approx(
        2.0 * np.array(gear)
    )


def test_the_actuators_range_comes_before_the_joints_limit_on_their_sum():
    motor = dl.Actuator("a", "hinge", gear=3.0, force_range=(-1, 2))
    assert force_on("hinge", motor, 100.0) == [6.0]
    assert force_on("hinge", motor, -100.0) == [-3.0]
    second = dl.Actuator("b", "hinge")
    model = machine(motor, second, effort_limit=4.0)
    q, v = state(model)
    assert dl.actuator_forces(model, q, v, [1.0, 0.5])[0] == 3.5
    assert dl.actuator_forces(model, q, v, [1.0, 5.0])[0] == 4.0
    assert dl.actuator_forces(model, q, v, [100.0, -5.0])[0] == 1.0


def test_batches_are_their_states_and_nan_comes_out():
    model = machine(
        dl.Actuator("p", "hinge", "position", stiffness=3.0, control_range=(-1, 1)),
        dl.Actuator("t", "ball", gear=[1, 2, 3], in_parent=True, force_range=(-1, 1)),
    )
    rng = np.random.default_rng(1)
    q, v = model.random_configuration(rng, 9), rng.standard_normal((9, model.nv))
    u = rng.standard_normal((9, 2))
    tau = dl.actuator_forces(model, q, v, u)
    each = [dl.actuator_forces(model, *x) for x in zip(q, v, u, strict=True)]
    np.testing.assert_allclose(tau, each, atol=1e-14)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(dl.actuator_forces(again, q, v, u), tau)
    u[3, 1] = np.nan
    assert np.isnan(dl.actuator_forces(model, q, v, u)).sum() == 3


def test_symbols_are_taken():
    pytest.importorskip("casadi")
    model = machine(
        dl.Actuator("p", "ball", "position", gear=[1, 2, 3], stiffness=3.0, in_parent=True),
        dl.Actuator("m", "hinge", control_range=(-0.1, 0.1)),
    )
    (q, v), u = state(model), [0.3, 0.4]
    traced = np.array(dl.symbolic(dl.actuator_forces, model)(q, v, u)).ravel()
    np.testing.assert_allclose(traced, dl.actuator_forces(model, q, v, u), atol=1e-13)


def test_a_model_without_actuators_has_no_forces_of_them():
    model = machine()
    assert not dl.actuator_forces(model, *state(model), []).any()


def test_wrong_controls_are_errors():
    model = machine(dl.Actuator("m", "hinge"))
    q, v = state(model)
    with pytest.raises(dl.ShapeError, match=r"u.*must have shape \(1,\)"):
        dl.actuator_forces(model, q, v, [1.0, 2.0])
    with pytest.raises(dl.DataTypeError):
        dl.actuator_forces(model, q, v, ["a"])
    with pytest.raises(dl.DataTypeError, match="Model"):
        dl.actuator_forces(dl.Constraints(model, []), q, v, [1.0])


def test_servos_hold_every_joint_whose_coordinates_are_plain_numbers():
    model = machine(effort_limit=7.0)
    made = dl.servos(model, 100.0, [1.0, 2.0, 3.0])
    assert [a.name for a in made] == ["hinge_servo", "cross_servo_0", "cross_servo_1"]
    assert [a.force_range for a in made] == [(-7.0, 7.0), None, None]
    assert [(a.stiffness, a.damping) for a in made] == [(100.0, 1.0), (100.0, 2.0), (100.0, 3.0)]
    driven = model.replace(actuators=made)
    q, v = state(driven)
    places = [0, *range(*driven.joint("cross").v.indices(driven.nv))]
    target = np.concatenate([q[:1], q[driven.joint("cross").q]]) + 0.01
    tau = dl.actuator_forces(driven, q, v, target)
    np.testing.assert_allclose(tau[places], 1.0 - np.array([1.0, 2.0, 3.0]) * v[places])


def test_servos_of_named_joints():
    model = machine()
    (only,) = dl.servos(model, 1.0, 2.0, "hinge")
    assert only.joint == "hinge"
    with pytest.raises(dl.ModelError, match="'ball' is Spherical"):
        dl.servos(model, 1.0, 2.0, ["hinge", "ball"])
    with pytest.raises(dl.UnknownNameError, match="no joint 'hing'"):
        dl.servos(model, 1.0, 2.0, ["hing"])
    with pytest.raises(dl.ShapeError, match="stiffness takes one number or 1"):
        dl.servos(model, [1.0, 2.0], 2.0, ["hinge"])
    with pytest.raises(dl.ModelError, match="'hinge': damping must not be negative"):
        dl.servos(model, 1.0, -2.0, ["hinge"])


def test_servos_leave_out_joints_that_are_declared_dependent():
    builder = dl.ModelBuilder()
    builder.add_body("a", independent=True)
    builder.add_body("b", independent=False)
    assert [a.joint for a in dl.servos(builder.build(), 1.0, 0.0)] == ["a_joint"]

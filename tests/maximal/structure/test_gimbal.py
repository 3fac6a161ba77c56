"""Gimbals: three hinges that meet in a point, in trees and in maximal coordinates."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import delassus as dl
from delassus.maximal.system import MaximalSystem
from dense import Textbook
from maximal.mechanisms import moved
from trees import JOINT_TYPES, random_states, random_tree, relative

pytestmark = pytest.mark.uncompiled
TYPES = [lambda rng: dl.Gimbal(), lambda rng: dl.Gimbal(), *JOINT_TYPES]


def gimbals(seed, **more):
    return random_tree(seed, 7, TYPES, **more)


def one_gimbal(com=(0.1, 0.2, -0.1), **more):
    builder = dl.ModelBuilder("one")
    inertia = np.diag([0.02, 0.03, 0.04])
    builder.add_body("body", joint=dl.Gimbal(), mass=2.0, com=com, inertia=inertia, **more)
    return builder.build()


def three_hinges(armature):
    """Hinges in place of the joint of `one_gimbal`, with bodies without mass between."""
    builder = dl.ModelBuilder("three")
    inertia = np.diag([0.02, 0.03, 0.04])
    x, y, z = (dl.Revolute(axis) for axis in np.eye(3))
    builder.add_body("outer", joint=x, armature=armature[0])
    builder.add_body("inner", "outer", y, armature=armature[1])
    builder.add_body("body", "inner", z, mass=2.0, com=[0.1, 0.2, -0.1], inertia=inertia,
                     armature=armature[2])  # fmt: skip
    return builder.build()


def test_angles_are_about_x_then_y_then_z():
    q = [0.3, -0.8, 1.2]
    expected = Rotation.from_euler("XYZ", q).as_matrix()
    assert np.allclose(dl.Gimbal().displacement(q).rotation, expected, atol=1e-15)
    poses, _ = MaximalSystem(one_gimbal()).state(q, np.zeros(3))
    assert np.allclose(Rotation.from_quat(poses[0, 3:]).as_matrix(), expected, atol=1e-14)


@pytest.mark.parametrize("seed", range(4))
def test_trees_with_gimbals_move_as_by_the_textbook(seed):
    model = gimbals(seed)
    q, v, tau = random_states(model, seed)
    textbook = Textbook(model, q, v)
    poses, twists = MaximalSystem(model, ()).state(q, v)
    for i, body in enumerate(model.bodies):
        (R, p), V, c = textbook.pose[i], textbook.velocity[i], body.inertia.center
        assert np.allclose(poses[i, :3], p + R @ c, atol=1e-12)
        assert np.allclose(twists[i, 3:], R @ V[3:], atol=1e-12)
    M = dl.mass_matrix(model, q)
    a = dl.forward_dynamics(model, q, v, tau)
    h = dl.inverse_dynamics(model, q, v, np.zeros(model.nv))
    assert relative(M @ a + h, tau) < 1e-9


def test_a_gimbal_is_three_hinges():
    armature = [0.1, 0.2, 0.3]
    one, three = one_gimbal(armature=armature), three_hinges(armature)
    rng = np.random.default_rng(0)
    q, v, tau = rng.standard_normal((3, 5, 3))
    expected = dl.forward_dynamics(three, q, v, tau)
    assert np.allclose(dl.forward_dynamics(one, q, v, tau), expected, rtol=1e-10)
    for k in range(5):
        found = MaximalSystem(one).accelerations(q[k], v[k], tau[k]).joint_accelerations
        assert np.allclose(found, expected[k], rtol=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_maximal_coordinates_accelerate_as_the_tree(seed):
    model = gimbals(seed)
    q, v, tau = random_states(model, seed)
    for joint in model.joints:  # near the lock, `accelerations` loses digits by differences
        if isinstance(joint.type, dl.Gimbal):
            q[joint.q.start + 1] *= 0.3
    found = MaximalSystem(model, ()).accelerations(q, v, tau).joint_accelerations
    assert relative(found, dl.forward_dynamics(model, q, v, tau)) < 1e-8


def test_the_inertia_of_motors_resists_the_rates_of_angles():
    """After a short step: (u+ - u) / dt along the angles is their acceleration less dJ_a/dt u."""
    model = one_gimbal([0.0, 0.0, 0.0], armature=[0.1, 0.2, 0.3])
    system, dt, h = MaximalSystem(model), 1e-7, 1e-4
    for second in (0.4, -1.1, 2.3):
        q, v = np.array([0.3, second, 0.5]), np.array([0.7, -1.2, 0.9])
        poses, twists = system.state(q, v)
        dual = system.dual_problem(poses, twists, dt, near=q)
        after = dual.twists(dl.contact.solve(dual.problem, tolerance=1e-15).reactions)
        rates = (system.coordinates(poses, after, near=q)[1] - v) / dt
        ends = [system.coordinates(moved(poses, twists, t), twists, near=q)[1] for t in (h, -h)]
        drift = (ends[0] - ends[1]) / (2 * h)
        assert np.abs(drift).max() > 0.1
        expected = dl.forward_dynamics(model, q, v, np.zeros(3))
        assert np.allclose(rates + drift, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("turns", [0, -3, 4])
@pytest.mark.parametrize("second", [0.4, -1.2, 2.5, -2.0])
def test_coordinates_come_back_on_both_sides_of_the_lock(second, turns):
    system = MaximalSystem(one_gimbal())
    q = np.array([1.0, second, -2.0]) + 2.0 * np.pi * turns
    v = np.array([0.3, -0.5, 0.8])
    found_q, found_v = system.coordinates(*system.state(q, v), near=q + 0.2 * np.sign(np.cos(q)))
    assert np.allclose(found_q, q, atol=1e-12)
    assert np.allclose(found_v, v, atol=1e-12)


def test_velocities_are_the_rates_of_angles():
    system, q, v, h = MaximalSystem(one_gimbal()), [0.2, 0.9, -0.4], [0.7, -0.3, 1.1], 1e-6
    poses, twists = system.state(q, v)
    ends = [system.coordinates(moved(poses, twists, t), twists, near=q)[0] for t in (h, -h)]
    # The centre of mass moves on a circle, so that of its line only the rotation counts.
    assert np.allclose((ends[0] - ends[1]) / (2 * h), v, atol=1e-8)


def test_at_the_lock_nothing_becomes_infinite():
    system = MaximalSystem(one_gimbal())
    q = np.array([0.3, 0.5 * np.pi, 0.1])
    poses, twists = system.state(q, [0.1, 0.2, 0.3])
    found_q, found_v = system.coordinates(poses, twists, near=q)
    assert np.isfinite(found_q).all()
    assert np.isfinite(found_v).all()
    rotation = dl.Gimbal().displacement(found_q).rotation
    assert np.allclose(rotation, dl.Gimbal().displacement(q).rotation, atol=1e-7)


def test_limits_of_a_gimbal_are_of_its_angles():
    model = one_gimbal(lower=[-0.5] * 3, upper=[0.5] * 3)
    system = MaximalSystem(model)
    q, v = np.array([0.5, -0.5, 0.2]), np.array([1.0, -2.0, 0.5])
    problem = system.dual_problem(*system.state(q, v), 0.01, near=q)
    assert problem.n_limit_rows == 2
    for row, (k, sign) in enumerate(problem.limits, start=problem.n_joint_rows):
        assert np.isclose(problem.velocity[row], sign * v[k])


def test_a_loop_closed_by_a_gimbal_is_one_closed_by_a_ball():
    model = random_tree(3, 6, trees=0.0)
    names = [body.name for body in model.bodies]
    cases = [[dl.Closure(joint, names[-1], names[0])] for joint in (dl.Gimbal(), dl.Spherical())]
    q = model.random_configuration(np.random.default_rng(1))
    J, expected = (dl.Constraints(model, case).jacobian(q) for case in cases)
    assert np.array_equal(J, expected)
    one, two = (MaximalSystem(model, case) for case in cases)
    assert one.n_joint_rows == two.n_joint_rows

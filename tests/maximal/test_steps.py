"""The dual problem of one step: free motion, implicit forces, limits, friction, contacts."""

import numpy as np
import pytest

import delassus as dl
from delassus.maximal.rows.contacts import OPEN, SLIP, STICK
from delassus.maximal.settings import Contact, Stabilization
from delassus.maximal.system import MaximalSystem
from maximal.mechanisms import COUPLINGS, ball, coupled, looped, moved, slider
from trees import random_states, random_tree, relative

pytestmark = pytest.mark.uncompiled

EXACT = Stabilization(joints=0.0)


def joints_only(problem):
    """u+ with all joint rows at rest, and their impulses."""
    k = problem.n_joint_rows
    D, v = problem.delassus[:k, :k], problem.free_velocity[:k]
    reactions = np.zeros(problem.size)
    reactions[:k] = -np.linalg.lstsq(D, v, rcond=1e-12)[0]
    return problem.twists(reactions)


def passive_without_friction(model, q, v):
    friction = np.concatenate([j.data.friction for j in model.joints])
    return dl.passive_forces(model, q, v) + friction * np.sign(v)


def tree_motion(model, q, v, tau, time, steps=20):
    """q and v after a time, by the classical Runge-Kutta method on the tree."""

    def rates(x, v):
        at = model.integrate(q, x)
        force = tau + passive_without_friction(model, at, v)
        return v, dl.forward_dynamics(model, at, v, force)

    h = time / steps
    for _ in range(steps):
        zero = np.zeros(model.nv)
        v1, a1 = rates(zero, v)
        v2, a2 = rates(h / 2 * v1, v + h / 2 * a1)
        v3, a3 = rates(h / 2 * v2, v + h / 2 * a2)
        v4, a4 = rates(h * v3, v + h * a3)
        q = model.integrate(q, h / 6 * (v1 + 2 * v2 + 2 * v3 + v4))
        v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return q, v


@pytest.mark.parametrize("seed", [0, 1])
def test_steps_tend_to_the_motion_of_the_tree(seed):
    """Half the step, half the error: a tree of all joint types with springs and dampers."""
    model = random_tree(seed, 9)
    system, time = MaximalSystem(model), 0.02
    q, v, tau = random_states(model, seed)
    expected_q, expected_v = tree_motion(model, q, v, tau, time)
    errors = []
    for steps in (10, 20):
        (poses, twists), near, dt = system.state(q, v), q, time / steps
        for _ in range(steps):
            problem = system.dual_problem(
                poses, twists, dt, near=near, tau=tau, stabilization=EXACT
            )
            twists = joints_only(problem)
            poses = moved(poses, twists, dt)
            near, found = system.coordinates(poses, twists, near)
        apart = model.difference(near, expected_q)
        errors.append([np.abs(found - expected_v).max(), np.abs(apart).max()])
    errors = np.array(errors)
    assert errors[0, 0] < 0.2 * np.abs(expected_v - v).max()
    assert (np.abs(errors[1] / errors[0] - 0.5) < 0.1).all()


def test_without_velocity_a_step_is_the_acceleration_exactly():
    model = random_tree(2, 7)
    system = MaximalSystem(model)
    q, _, tau = random_states(model, 2)
    zero = np.zeros(model.nv)
    poses, twists = system.state(q, zero)
    dt = 1e-9  # so short that springs and dampers do not change during the step
    problem = system.dual_problem(poses, twists, dt, near=q, tau=tau, stabilization=EXACT)
    force = tau + passive_without_friction(model, q, zero)
    found = system.accelerations(q, zero, force)
    assert relative(joints_only(problem) / dt, found.twist_rates) < 1e-6


def test_springs_and_dampers_are_implicit():
    k, d, m, dt, x, v = 300.0, 5.0, 2.0, 0.01, 0.2, -0.7
    model = slider(mass=m, stiffness=k, damping=d, armature=0.5)
    system = MaximalSystem(model)
    problem = system.dual_problem(*system.state([x], [v]), dt, stabilization=EXACT)
    u = joints_only(problem)
    m += 0.5
    assert np.isclose(u[0, 2], (m * v - dt * k * x) / (m + dt * (d + dt * k)), rtol=1e-12)


def test_gains_are_the_implicit_part_of_a_controller():
    kp, kd, dt, x, v = 300.0, 5.0, 0.01, 0.2, -0.7
    system = MaximalSystem(slider(mass=2.0))
    state = system.state([x], [v])
    problem = system.dual_problem(
        *state, dt, tau=[kp * (0.5 - x)], gains=[[kp, kd]], stabilization=EXACT
    )
    after = joints_only(problem)[0, 2]
    assert np.isclose(2.0 * (after - v), dt * (kp * (0.5 - x - dt * after) - kd * after))


@pytest.mark.parametrize("seed", range(3))
def test_motors_resist_the_change_of_a_joints_velocity(seed):
    """Which is not zero where twists do not change: g has -dt J_a^T armature dJ_a/dt u."""
    model = random_tree(seed, 9).replace(gravity=(0.0, 0.0, 0.0))
    system, h = MaximalSystem(model), 1e-4
    q, v, _ = random_states(model, seed)
    poses, twists = system.state(q, v)
    relaxed = -dl.passive_forces(model, q, np.zeros(model.nv))  # holds the springs
    after, before = (
        system.coordinates(moved(poses, twists, time), twists, q)[1] for time in (h, -h)
    )
    drift = (after - before) / (2 * h)
    armature = np.concatenate([joint.data.armature for joint in model.joints])
    short, long = (
        system.primal_problem(poses, twists, dt, near=q, tau=relaxed) for dt in (0.1, 0.2)
    )
    found = (long.momentum - short.momentum) / 0.1
    omega = twists[:, 3:]
    turning = np.cross(omega, np.einsum("nij,nj->ni", short.inertia[:, 3:, 3:], omega))
    expected = -system.coordinate_jacobian(poses, q).T @ (armature * drift)
    expected = expected.reshape(-1, 6) - np.hstack([np.zeros_like(turning), turning])
    assert np.abs(drift).max() > 0.1
    assert np.allclose(found, expected, atol=1e-6)


def test_a_free_body_feels_gravity_gyroscopic_moments_and_wrenches():
    builder = dl.ModelBuilder("top", gravity=(0, 0, -10))
    inertia = np.diag([0.1, 0.2, 0.4])
    builder.add_body("top", joint=dl.Free(), mass=2.0, inertia=inertia)
    model = builder.build()
    system = MaximalSystem(model)
    q, omega = model.neutral(), np.array([1.0, 2.0, 3.0])
    poses, twists = system.state(q, [0, 0, 0, *omega])
    wrench = np.array([[1.0, 0, 0, 0, 0.5, 0]])
    u = system.dual_problem(poses, twists, 0.1, wrenches=wrench).twists(np.zeros(0))
    assert np.allclose(u[0, :3], [0.05, 0.0, -1.0])
    rate = np.linalg.solve(inertia, wrench[0, 3:] - np.cross(omega, inertia @ omega))
    assert np.allclose(u[0, 3:], omega + 0.1 * rate)


@pytest.mark.parametrize("make", [lambda: looped("Revolute"), lambda: coupled(COUPLINGS["gear"])])
def test_eliminated_joints_move_as_joints_that_are_rows(make):
    model, q, v = make()
    system = MaximalSystem(model)
    poses, twists = system.state(q, v)
    touching = [Contact("world", "b3", poses[3, :3] + 0.1, [0.0, 0.0, 1.0], friction=0.5)]
    options = {"near": q, "contacts": touching}
    full = system.dual_problem(poses, twists, 1e-3, **options)
    less = system.dual_problem(poses, twists, 1e-3, **options, joints="eliminated")
    k = full.n_joint_rows
    D, v_f = full.delassus, full.free_velocity
    across = np.linalg.lstsq(D[:k, :k], np.column_stack([D[:k, k:], v_f[:k]]), rcond=1e-11)[0]
    assert relative(less.delassus, D[k:, k:] - D[k:, :k] @ across[:, :-1]) < 1e-7
    assert relative(less.free_velocity, v_f[k:] - D[k:, :k] @ across[:, -1]) < 1e-7
    assert less.n_joint_rows == 0 and less.friction.tolist() == [0.5]


def test_the_primal_problem_has_the_matrices_of_the_dual_one_in_blocks():
    model, q, v = coupled(COUPLINGS["coupling"])
    system = MaximalSystem(model)
    poses, twists = system.state(q, v)
    options = {"near": q, "contacts": [Contact("b1", "b4", poses[2, :3], [0.0, 1.0, 0.0])]}
    dual = system.dual_problem(poses, twists, 1e-3, **options)
    primal = system.primal_problem(poses, twists, 1e-3, **options)
    J, A = np.zeros((dual.size, 6 * 6)), np.zeros((6, 6, 6, 6))
    for row, height, bodies, blocks in primal.elements:
        for body, block in zip(bodies, blocks, strict=True):
            if body >= 0:
                J[row : row + height, 6 * body : 6 * body + 6] += block
    for i in range(6):
        A[i, :, i] += primal.inertia[i]
    for k, (body, weight) in enumerate(zip(model.bodies, primal.weights, strict=True)):
        ends = [(body.parent, 0), (k, 1)]  # each hinge has one degree of freedom
        for i, side in ends:
            for j, other in ends:
                if min(i, j) >= 0:
                    own = primal.free_blocks[k]
                    A[i, :, j] += weight * np.outer(own[side], own[other])
    assert np.allclose(J, dual.jacobian)
    assert np.allclose(A.reshape(36, 36), dual.primal)
    assert np.allclose(primal.bias, dual.bias)
    assert np.allclose(primal.velocity, J @ twists.ravel())


# --- stabilisation --------------------------------------------------------------------------------


def test_joints_are_drawn_together_by_a_part_of_their_error():
    system = MaximalSystem(slider())
    poses, twists = system.state([0.0], [0.0])
    poses[0, 0] += 0.03  # across the axis
    problem = system.dual_problem(poses, twists, 0.01, stabilization=Stabilization(joints=0.2))
    assert np.allclose(problem.bias, problem.residual * 0.2 / 0.01)
    assert np.isclose(np.abs(problem.residual).max(), 0.03)
    u = joints_only(problem)
    assert np.allclose(u[0], [-0.2 * 0.03 / 0.01, 0, 0, 0, 0, 0], atol=1e-12)


# --- limits and friction of joints ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "rows"),
    [
        (0.5, []),  # far from both limits
        (0.02, [(1.0, 0.02 / 0.01)]),  # two-sided: it may close the gap within the step
        (-0.02, [(1.0, -0.3 * 0.02 / 0.01)]),  # a part of the overlap
        (0.97, [(-1.0, 0.03 / 0.01)]),
        (1.04, [(-1.0, -0.3 * 0.04 / 0.01)]),
        (1.5, [(-1.0, -2.0)]),  # not faster than the cap
    ],
)
def test_limits_have_a_row_near_them(x, rows):
    system = MaximalSystem(slider(lower=0.0, upper=1.0))
    options = Stabilization(limits=0.3, limit_margin=0.1, depenetration_speed=2.0)
    state = system.state([x], [0.4])
    problem = system.dual_problem(*state, 0.01, stabilization=options)
    assert problem.n_limit_rows == len(rows) == len(problem.limits)
    for (index, sign), (expected, bias), row in zip(problem.limits, rows, [5], strict=False):
        assert (index, sign) == (0, expected)
        assert np.isclose(problem.bias[row], bias)
        assert np.isclose(problem.velocity[row], expected * 0.4)
        assert np.isclose(problem.delassus[row, row], 0.5)  # 1 / mass


@pytest.mark.parametrize("name", ["Planar", "Universal", "Free", "Cylindrical"])
def test_rows_of_limits_have_the_rates_of_coordinates(name):
    joints = {
        "Planar": (dl.Planar([0.3, 0.2, 1.0]), 3),
        "Universal": (dl.Universal([1, 0, 0], [1, 1, 0.5]), 2),
        "Free": (dl.Free(), 3),
        "Cylindrical": (dl.Cylindrical([0.3, 0.2, 1.0]), 2),
    }
    joint, count = joints[name]
    builder = dl.ModelBuilder("limited")
    far = np.where(np.arange(joint.nq) < count, 0.5, np.inf)
    builder.add_body(
        "body", joint=joint, mass=1.0, inertia=np.eye(3), com=[0.1, 0.2, 0.3], lower=-far, upper=far
    )
    model = builder.build()
    system = MaximalSystem(model)
    rng, h = np.random.default_rng(1), 1e-6
    q, v = model.neutral(), rng.standard_normal(model.nv)
    q[:count] = 0.4 * rng.uniform(-1.0, 1.0, count)
    rate = (model.integrate(q, h * v) - model.integrate(q, -h * v)) / (2 * h)
    wide = Stabilization(limit_margin=10.0)
    problem = system.dual_problem(*system.state(q, v), 0.01, near=q, stabilization=wide)
    assert problem.n_limit_rows == count
    for row, (k, sign) in enumerate(problem.limits, start=problem.n_joint_rows):
        assert np.isclose(problem.velocity[row], sign * rate[k], atol=1e-8)
        assert np.isclose(problem.residual[row], 0.5 + sign * q[k])


def test_dry_friction_is_a_bounded_row():
    system = MaximalSystem(slider(friction=3.0))
    problem = system.dual_problem(*system.state([0.0], [0.8]), 0.01)
    assert problem.bounds.tolist() == [0.03]
    assert problem.n_limit_rows == 0
    assert np.isclose(problem.velocity[-1], 0.8)
    assert np.isclose(problem.free_velocity[-1], 0.8)


# --- contacts -------------------------------------------------------------------------------------


def floor(**more):
    return Contact("world", "ball", [0.0, 0.0, 0.0], [0.0, 0.0, 1.0], **more)


def on_floor(v, contact, dt=0.01, **options):
    """The problem of a ball whose lowest point is 0.2 below its centre."""
    model = ball()
    q = model.neutral()
    q[2] = 0.2
    system = MaximalSystem(model)
    settings = Stabilization(**{"penetration_margin": 0.0, **options})
    return system.dual_problem(*system.state(q, v), dt, contacts=[contact], stabilization=settings)


def test_the_velocity_of_a_contact_is_that_of_the_second_body_less_the_first():
    v = [0.3, 0.0, -0.5, 0.0, 2.0, 0.0]  # rolls about y: the lowest point moves by -2 * 0.2 in x
    frame = np.eye(3)
    problem = on_floor(v, floor(frame=frame, friction=0.7))
    assert np.allclose(problem.velocity, [0.3 - 0.4, 0.0, -0.5])
    assert problem.friction.tolist() == [0.7]
    other = on_floor(v, Contact("ball", "world", [0, 0, 0], frame=np.diag([1.0, -1.0, -1.0])))
    assert np.allclose(other.velocity, [-(0.3 - 0.4), 0.0, -0.5])


def test_the_frame_of_a_normal_is_a_rotation():
    rng = np.random.default_rng(0)
    for n in (*rng.standard_normal((20, 3)), [0, 0, 1], [0, 0, -1], [1, 0, 0]):
        record = Contact("world", "ball", [0, 0, 0], n).packed(ball())
        R = record[5:14].reshape(3, 3)
        assert np.allclose(R.T @ R, np.eye(3), atol=1e-14)
        assert np.isclose(np.linalg.det(R), 1.0)
        assert np.allclose(R[:, 2], np.array(n) / np.linalg.norm(n))


@pytest.mark.parametrize(
    ("distance", "speed", "restitution", "bias"),
    [
        (0.001, 0.0, 0.0, 0.1),  # a gap may be closed within the step
        (-0.001, 0.0, 0.0, -0.02),  # a fifth of the overlap is taken away
        (-0.5, 0.0, 0.0, -3.0),  # but not faster than the cap
        (0.0, -2.0, 0.5, -1.0),  # bounces with half its speed
        (0.0, -0.01, 0.5, 0.0),  # too slow to bounce
        (0.0, 2.0, 0.5, 0.0),  # separates
        (0.001, -2.0, 0.5, -1.0),  # closes within this step
        (0.1, -2.0, 0.5, 10.0),  # does not yet
        (-0.001, -2.0, 0.5, -1.0),  # the faster of both, not the sum
        (-0.5, -2.0, 0.5, -3.0),
    ],
)
def test_biases_of_contacts(distance, speed, restitution, bias):
    contact = floor(distance=distance, restitution=restitution)
    options = {"contacts": 0.2, "depenetration_speed": 3.0, "restitution_speed": 0.05}
    problem = on_floor([0, 0, speed, 0, 0, 0], contact, **options)
    assert np.allclose(problem.bias, [0.0, 0.0, bias])
    assert np.isclose(problem.residual[2], distance)


def test_modes_of_contacts():
    problem = on_floor(np.zeros(6), floor(friction=0.5))
    assert problem.modes(np.array([0, 0, 1.0]), np.zeros(3)) == [OPEN]
    assert problem.modes(np.zeros(3), np.array([0.1, 0, 1.0])) == [STICK]
    assert problem.modes(np.array([-0.2, 0, 0.0]), np.array([0.5, 0, 1.0])) == [SLIP]


def test_a_block_at_rest_needs_its_weight():
    problem = on_floor(np.zeros(6), floor(friction=0.5))
    impulse = np.linalg.solve(problem.delassus, -problem.free_velocity)
    assert np.allclose(impulse, [0.0, 0.0, 2.0 * 10.0 * 0.01])
    assert np.allclose(problem.twists(impulse), 0.0)

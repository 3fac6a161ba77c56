"""Physics: energy, power, momentum, and the structure of the matrices."""

import itertools

import numpy as np
import pytest

import delassus as dl
from delassus.compile import is_compiled
from trees import chain, random_states, random_tree, relative

pytestmark = pytest.mark.uncompiled

SEEDS = range(6)
STEP = 1e-6


def derivative(f, model, q, v):
    """The rate of f(q) along v."""
    ahead, behind = model.integrate(q, STEP * v), model.integrate(q, -STEP * v)
    return (f(ahead) - f(behind)) / (2 * STEP)


@pytest.mark.parametrize("seed", SEEDS)
def test_coriolis_matrix_gives_the_bias_and_is_passive(seed):
    model = random_tree(seed, bodies=10)
    q, v, _ = random_states(model, seed, 3)
    C = dl.coriolis_matrix(model, q, v)
    bias = np.einsum("nij,nj->ni", C, v) + dl.gravity_forces(model, q)
    assert relative(bias, dl.bias_forces(model, q, v)) < 1e-12
    rate = derivative(lambda x: dl.mass_matrix(model, x), model, q, v)
    skew = rate - 2 * C
    assert np.abs(skew + skew.transpose(0, 2, 1)).max() < 1e-6 * np.abs(rate).max()


@pytest.mark.parametrize("seed", SEEDS)
def test_gravity_forces_are_the_gradient_of_potential_energy(seed):
    model = random_tree(seed, bodies=10)
    q, v, _ = random_states(model, seed, 3)
    power = np.einsum("ni,ni->n", dl.gravity_forces(model, q), v)
    assert relative(derivative(lambda x: dl.potential_energy(model, x), model, q, v), power) < 1e-6


@pytest.mark.parametrize("seed", SEEDS)
def test_power_of_joint_forces_is_the_rate_of_energy(seed):
    model = random_tree(seed, bodies=10)
    q, v, tau = random_states(model, seed, 3)
    a = dl.forward_dynamics(model, q, v, tau)

    def energy(t):
        x = model.integrate(q, t * v + t * t / 2 * a)
        return dl.kinetic_energy(model, x, v + t * a) + dl.potential_energy(model, x)

    rate = (energy(STEP) - energy(-STEP)) / (2 * STEP)
    assert relative(rate, np.einsum("ni,ni->n", tau, v)) < 1e-5


def test_a_passive_chain_keeps_its_energy():
    model = chain(6, 0.3)
    rng = np.random.default_rng(0)
    q, v, h = rng.standard_normal(6), rng.standard_normal(6), 2.5e-4
    tau = np.zeros(6)

    def energy():
        return dl.kinetic_energy(model, q, v) + dl.potential_energy(model, q)

    def acceleration(q, v):
        return dl.forward_dynamics(model, q, v, tau)

    start, scale = energy(), dl.kinetic_energy(model, q, v)
    for _ in range(4000 if is_compiled() else 400):  # Runge and Kutta's fourth-order step
        k1v, k1a = v, acceleration(q, v)
        k2v, k2a = v + h / 2 * k1a, acceleration(q + h / 2 * k1v, v + h / 2 * k1a)
        k3v, k3a = v + h / 2 * k2a, acceleration(q + h / 2 * k2v, v + h / 2 * k2a)
        k4v, k4a = v + h * k3a, acceleration(q + h * k3v, v + h * k3a)
        q = q + h / 6 * (k1v + 2 * k2v + 2 * k3v + k4v)
        v = v + h / 6 * (k1a + 2 * k2a + 2 * k3a + k4a)
    assert abs(energy() - start) < 1e-6 * scale


def test_momentum_of_a_free_body_system_changes_by_gravity_alone():
    builder = dl.ModelBuilder("satellite")
    builder.add_body("hull", joint=dl.Free(), mass=10.0, com=[0.1, 0, 0], inertia=np.eye(3))
    builder.add_body("arm", "hull", dl.Universal(), [0.5, 0, 0], mass=2.0, com=[0.4, 0, 0],
                     inertia=np.eye(3) * 0.1)  # fmt: skip
    model = builder.build()
    q, v, _ = random_states(model, 0)
    tau = np.array([0, 0, 0, 0, 0, 0, 3.0, -2.0])  # inner forces only
    a = dl.forward_dynamics(model, q, v, tau)

    def momentum(t):
        x = model.integrate(q, t * v + t * t / 2 * a)
        return dl.centroidal_momentum_matrix(model, x) @ (v + t * a)

    rate = (momentum(STEP) - momentum(-STEP)) / (2 * STEP)
    expected = np.concatenate([model.mass * model.gravity, np.zeros(3)])
    assert np.abs(rate - expected).max() < 1e-5


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("reference", ["local", "world", "aligned"])
def test_frame_motion_is_the_derivative_of_frame_placement(seed, reference):
    model = random_tree(seed, bodies=7)
    q, v, a = random_states(model, seed, 2)
    frame = f"f{seed}"
    J = dl.frame_jacobian(model, q, frame, reference)
    velocity = dl.frame_velocity(model, q, v, frame, reference)
    assert relative(np.einsum("nij,nj->ni", J, v), velocity) < 1e-12
    if reference == "aligned":
        point = derivative(
            lambda x: dl.forward_kinematics(model, x, frame).translation[:, 0], model, q, v
        )
        assert relative(point, velocity[:, :3]) < 1e-6

    def moving(t):
        x = model.integrate(q, t * v + t * t / 2 * a)
        return dl.frame_velocity(model, x, v + t * a, frame, reference)

    rate = (moving(STEP) - moving(-STEP)) / (2 * STEP)
    classical = reference == "aligned"
    found = dl.frame_acceleration(model, q, v, a, frame, reference, classical=classical)
    assert relative(found, rate) < 1e-6


def test_passive_forces_are_dampers_friction_and_springs_and_nowhere_else():
    builder = dl.ModelBuilder("damped")
    builder.add_body("a", joint=dl.Revolute(), mass=1.0, com=[1, 0, 0], inertia=np.eye(3),
                     damping=0.5, friction=2.0, stiffness=3.0, rest=0.25)  # fmt: skip
    builder.add_body("b", "a", dl.Spherical(), mass=1.0, inertia=np.eye(3), stiffness=4.0)
    model = builder.build()
    w = np.array([0.1, -0.2, 0.3])
    q = model.integrate(np.array([0.75, 0, 0, 0, 1.0]), np.concatenate([[0.0], w]))
    v = np.array([-2.0, 0.0, 0.0, 0.0])
    expected = np.concatenate([[1.0 + 2.0 - 1.5], -4.0 * w])
    assert np.allclose(dl.passive_forces(model, q, v), expected, atol=1e-12)
    bare = dl.ModelBuilder("bare")
    bare.add_body("a", joint=dl.Revolute(), mass=1.0, com=[1, 0, 0], inertia=np.eye(3))
    bare.add_body("b", "a", dl.Spherical(), mass=1.0, inertia=np.eye(3))
    same = dl.inverse_dynamics(bare.build(), q, v, v)
    assert np.array_equal(dl.inverse_dynamics(model, q, v, v), same)


def test_a_robot_far_from_the_origin_loses_no_digits():
    near, far = (dl.ModelBuilder(name) for name in ("near", "far"))
    for builder, where in ((near, [0, 0, 0]), (far, [1e6, -1e6, 1e6])):
        builder.add_body("base", joint=dl.Free(), placement=where, mass=5.0, inertia=np.eye(3))
        builder.add_body("leg", "base", dl.Revolute([0, 1, 0]), [0.2, 0, 0], mass=1.0,
                         com=[0, 0, -0.2], inertia=np.eye(3) * 0.01)  # fmt: skip
    q, v, tau = random_states(near.build(), 3)
    expected = dl.forward_dynamics(near.build(), q, v, tau)
    assert relative(dl.forward_dynamics(far.build(), q, v, tau), expected) < 1e-13
    M = dl.mass_matrix(near.build(), q)
    assert relative(dl.mass_matrix(far.build(), q), M) < 1e-13


def right_angled_rotations():
    """The 24 rotations that take axes to axes."""
    signed = (np.diag(s) for s in itertools.product((1.0, -1.0), repeat=3))
    for S, order in itertools.product(signed, itertools.permutations(range(3))):
        if np.linalg.det(S[:, order]) > 0:
            yield S[:, order]


@pytest.mark.parametrize("offset", [[0, 0, 0], [0, 0.2, 0], [0.1, -0.2, 0.3]])
def test_joints_along_the_axes_of_their_parents(offset):
    """Forward dynamics has a shortcut for them that inverse dynamics has not."""
    rotations = list(right_angled_rotations())
    assert len(rotations) == 24
    builder = dl.ModelBuilder("right angles")
    for k, rotation in enumerate(rotations):
        placement = dl.Transform(rotation, offset if k % 5 else [0.3, 0, 0])
        axis = np.eye(3)[k % 3] * (-1.0) ** (k // 3)
        parent = "world" if k == 0 else f"body {k - 1 if k % 7 else k // 2}"
        shape = {"mass": 1.0, "com": [0.05, 0.02, -0.1], "inertia": [0.02, 0.001, 0, 0.03, 0, 0.04]}
        builder.add_body(f"body {k}", parent, dl.Revolute(axis), placement, **shape)
    model = builder.build()
    q, v, tau = random_states(model, 1, 5)
    a = dl.forward_dynamics(model, q, v, tau)
    assert relative(dl.inverse_dynamics(model, q, v, a), tau) < 1e-11


def test_angles_of_many_turns():
    """Sines of very large angles take a way of their own, if any state has one."""
    model = chain(5)
    q, v, tau = random_states(model, 2, 7)
    q[3, 1] += 2.0e6
    q[6, 4] -= 9.0e5
    q[4, 0] = np.nan
    a = dl.forward_dynamics(model, q, v, tau)
    finite = [0, 1, 2, 3, 5, 6]
    assert relative(dl.inverse_dynamics(model, q, v, a)[finite], tau[finite]) < 1e-11
    assert not np.isfinite(a[4]).all()
    for k in finite:
        assert relative(dl.forward_dynamics(model, q[k], v[k], tau[k]), a[k]) < 1e-12


def test_massless_rotor_with_rotational_inertia_moves():
    builder = dl.ModelBuilder("rotor")
    builder.add_body("rotor", joint=dl.Revolute(), mass=0.0, inertia=np.diag([1e-4, 1e-4, 2e-4]))
    model = builder.build()
    assert np.allclose(dl.forward_dynamics(model, [0.3], [2.0], [1e-3]), [5.0])


def test_a_model_without_joints_has_empty_dynamics():
    builder = dl.ModelBuilder("rock")
    builder.add_body("rock", joint=dl.Fixed(), mass=1.0)
    model = builder.build()
    assert dl.inverse_dynamics(model, [], [], []).shape == (0,)
    assert dl.mass_matrix(model, np.zeros((4, 0))).shape == (4, 0, 0)
    assert dl.forward_kinematics(model, []).translation.shape == (1, 3)

"""Every algorithm against the dense textbook evaluation, on trees of all joint types."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delassus as dl
from dense import Textbook
from trees import TREES, random_states, random_tree, relative

pytestmark = pytest.mark.uncompiled

TOLERANCE = 1e-11


def textbook_batch(model, seed, count=3):
    q, v, a = random_states(model, seed, count)
    return q, v, a, [Textbook(model, q[i], v[i]) for i in range(count)]


@settings(max_examples=40)
@given(TREES, st.integers(0, 10**6))
def test_inverse_dynamics_is_mass_times_acceleration_plus_bias(model, seed):
    q, v, a, books = textbook_batch(model, seed)
    f = np.random.default_rng(seed).standard_normal((3, model.n_bodies, 6))
    expected = [b.M @ a[i] + b.b for i, b in enumerate(books)]
    assert relative(dl.inverse_dynamics(model, q, v, a), expected) < TOLERANCE
    assert relative(dl.bias_forces(model, q, v), [b.b for b in books]) < TOLERANCE
    pushed = [e - b.generalized(f[i]) for i, (e, b) in enumerate(zip(expected, books, strict=True))]
    assert relative(dl.inverse_dynamics(model, q, v, a, f), pushed) < TOLERANCE
    assert relative(dl.inverse_dynamics(model, q[0], v[0], a[0], f[0]), pushed[0]) < TOLERANCE


@settings(max_examples=40)
@given(TREES, st.integers(0, 10**6))
def test_forward_dynamics_solves_the_equation_of_motion(model, seed):
    q, v, tau, books = textbook_batch(model, seed)
    f = np.random.default_rng(seed).standard_normal((3, model.n_bodies, 6))
    for i, b in enumerate(books):
        a = dl.forward_dynamics(model, q[i], v[i], tau[i])
        assert relative(b.M @ a, tau[i] - b.b) < 1e-9
        a = dl.forward_dynamics(model, q[i], v[i], tau[i], f[i])
        assert relative(b.M @ a, tau[i] - b.b + b.generalized(f[i])) < 1e-9
    batch = dl.forward_dynamics(model, q, v, tau, f)
    assert relative(batch[2], dl.forward_dynamics(model, q[2], v[2], tau[2], f[2])) < 1e-9


@pytest.mark.parametrize("bodies", [15, 16, 17, 18, 33, 50])
@pytest.mark.parametrize("branching", [0.0, 0.4, 0.9])
def test_forward_dynamics_of_more_links_than_a_sweep_takes_at_once(bodies, branching):
    model = random_tree(bodies, bodies, [lambda rng: dl.Revolute([0, 1, 0])], branching)
    q, v, tau, books = textbook_batch(model, bodies)
    found = dl.forward_dynamics(model, q, v, tau)
    for i, b in enumerate(books):
        assert relative(b.M @ found[i], tau[i] - b.b) < 1e-9
        assert relative(dl.forward_dynamics(model, q[i], v[i], tau[i]), found[i]) < 1e-9


@settings(max_examples=40)
@given(TREES, st.integers(0, 10**6))
def test_mass_matrix_and_its_inverses(model, seed):
    q, _, _, books = textbook_batch(model, seed)
    M = dl.mass_matrix(model, q)
    assert relative(M, [b.M for b in books]) < TOLERANCE
    for method in ("dedicated", "cholesky"):
        inverse = dl.inverse_mass_matrix(model, q, method=method)
        assert relative(inverse, inverse.transpose(0, 2, 1)) < 1e-9
        product = inverse @ M
        assert np.abs(product - np.eye(model.nv)).max() < 1e-9 * np.linalg.cond(M).max() ** 0.5


@settings(max_examples=40)
@given(TREES, st.integers(0, 10**6))
def test_energy_is_that_of_the_mass_matrix(model, seed):
    q, v, _, books = textbook_batch(model, seed)
    expected = [v[i] @ b.M @ v[i] / 2 for i, b in enumerate(books)]
    assert relative(dl.kinetic_energy(model, q, v), expected) < TOLERANCE
    one = dl.kinetic_energy(model, q[0], v[0])
    assert np.ndim(one) == 0
    assert relative(one, expected[0]) < TOLERANCE
    height = [
        -sum(
            body.inertia.mass * model.gravity @ (R @ body.inertia.center + p)
            for body, (R, p) in zip(model.bodies, b.pose, strict=True)
        )
        for b in books
    ]
    assert relative(dl.potential_energy(model, q), height) < TOLERANCE


@settings(max_examples=40)
@given(TREES, st.integers(0, 10**6))
def test_kinematics_of_bodies(model, seed):
    q, v, a, books = textbook_batch(model, seed)
    names = model.body_names
    placed = dl.forward_kinematics(model, q, names)
    assert relative(placed.rotation, [[R for R, _ in b.pose] for b in books]) < TOLERANCE
    assert relative(placed.translation, [[p for _, p in b.pose] for b in books]) < TOLERANCE
    k = seed % model.n_bodies
    J = dl.frame_jacobian(model, q, names[k])
    assert relative(J, [b.J[k] for b in books]) < TOLERANCE
    velocity = dl.frame_velocity(model, q, v, names[k])
    assert relative(velocity, [b.velocity[k] for b in books]) < TOLERANCE
    expected = [b.J[k] @ a[i] + b.drift[k] for i, b in enumerate(books)]
    assert relative(dl.frame_acceleration(model, q, v, a, names[k]), expected) < TOLERANCE


@settings(max_examples=40)
@given(TREES, st.integers(0, 10**6))
def test_momentum_about_the_center_of_mass(model, seed):
    q, v, _, books = textbook_batch(model, seed)
    A = dl.centroidal_momentum_matrix(model, q)
    com = dl.center_of_mass(model, q)
    for i, b in enumerate(books):
        total, center, momentum = 0.0, np.zeros(3), np.zeros(6)
        for body, (R, p) in zip(model.bodies, b.pose, strict=True):
            total += body.inertia.mass
            center = center + body.inertia.mass * (R @ body.inertia.center + p)
        center /= total
        for body, (R, p), V in zip(model.bodies, b.pose, b.velocity, strict=True):
            x = R @ body.inertia.center + p
            linear = body.inertia.mass * R @ (V[:3] + np.cross(V[3:], body.inertia.center))
            momentum[:3] += linear
            momentum[3:] += np.cross(x - center, linear) + R @ body.inertia.matrix @ V[3:]
        assert relative(com[i], center) < TOLERANCE
        assert relative(A[i] @ v[i], momentum) < TOLERANCE

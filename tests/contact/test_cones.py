"""Projections onto Coulomb's cone, its dual, disks and intervals."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from contact.problems import mixed
from delassus import contact
from delassus.contact import plain
from delassus.contact.laws import cones

numbers = st.floats(-1e3, 1e3, allow_nan=False)
points = st.tuples(numbers, numbers, numbers)
frictions = st.one_of(st.just(0.0), st.floats(1e-6, 1e6))


def cone(mu, x):
    return np.array(cones.project_cone(mu, *x))


def dual(mu, x):
    return np.array(cones.project_dual_cone(mu, *x))


@given(frictions, points)
def test_projections_are_idempotent_and_in_their_cones(mu, x):
    scale = 1e-9 * (1.0 + np.abs(x).max())
    p, q = cone(mu, x), dual(mu, x)
    assert np.hypot(p[0], p[1]) <= mu * p[2] + scale
    assert mu * np.hypot(q[0], q[1]) <= q[2] + scale * (1.0 + mu)
    assert np.allclose(cone(mu, p), p, atol=scale)
    assert np.allclose(dual(mu, q), q, atol=scale)


@given(frictions, points, points)
def test_projections_do_not_lengthen_distances(mu, x, y):
    distance = np.linalg.norm(np.subtract(x, y))
    slack = 1e-10 * (np.linalg.norm(x) + np.linalg.norm(y))
    assert np.linalg.norm(cone(mu, x) - cone(mu, y)) <= distance + slack
    assert np.linalg.norm(dual(mu, x) - dual(mu, y)) <= distance + slack


@given(frictions, points)
def test_a_point_is_the_sum_of_its_two_projections(mu, x):
    p, q = cone(mu, x), dual(mu, -np.array(x))
    scale = 1e-10 * (1.0 + np.linalg.norm(x))
    assert np.allclose(p - q, x, atol=scale)
    assert abs(p @ q) <= scale * (1.0 + np.linalg.norm(x))


@given(frictions, points)
def test_numpy_and_compiled_forms_are_the_same(mu, x):
    scale = 1e-12 * (1.0 + np.linalg.norm(x))
    assert np.allclose(plain.project_cone(mu, x), cone(mu, x), atol=scale)
    assert np.allclose(plain.project_dual_cone(mu, x), dual(mu, x), atol=scale)


@given(st.floats(0.0, 10.0), numbers, numbers)
def test_disks(radius, x, y):
    p, q = cones.project_disk(radius, x, y)
    assert np.hypot(p, q) <= radius + 1e-12
    if np.hypot(x, y) <= radius:
        assert (p, q) == (x, y)


@settings(max_examples=30)
@given(st.integers(0, 1000))
def test_a_problem_projects_each_row_onto_its_own_set(seed):
    rng = np.random.default_rng(seed)
    p = mixed(rng)
    x = rng.standard_normal(p.n_rows)
    y = contact.project(p, x)
    assert np.allclose(contact.project(p, y), y, atol=1e-13)
    k = p.n_joint_rows
    assert np.array_equal(y[:k], x[:k])
    assert (y[k : k + p.n_limit_rows] >= 0).all()
    k += p.n_limit_rows
    assert (np.abs(y[k : k + p.n_bounded_rows]) <= p.bounds).all()

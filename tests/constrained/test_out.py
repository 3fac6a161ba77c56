"""Results in given arrays."""

import inspect

import numpy as np
import pytest

import delassus as dl
from constrained.mechanisms import standing
from trees import random_states

pytestmark = pytest.mark.uncompiled


@pytest.fixture(scope="module")
def problem():
    constraints = standing("solo12")
    return constraints, *random_states(constraints.model, 1, 3)


def test_every_batched_function_takes_threads_and_out():
    functions = [getattr(dl, name) for name in dl.__all__]
    options = [inspect.signature(f).parameters for f in functions if inspect.isfunction(f)]
    assert all("out" in names for names in options if "threads" in names)


@pytest.mark.parametrize("count", [None, 3])
@pytest.mark.parametrize("method", ["auto", "dense"])
def test_a_solution_takes_the_place_of_another(problem, method, count):
    constraints, q, v, tau = problem
    model = constraints.model
    if count is None:
        q, v, tau = q[0], v[0], tau[0]
    expected = dl.constrained_dynamics(model, q, v, tau, constraints, method=method)
    other = dl.constrained_dynamics(model, q, v, 2.0 * tau, constraints, method=method)
    pair = np.empty_like(expected.acceleration), np.empty_like(expected.multipliers)
    for out, array in ((other, other.acceleration), (pair, pair[0])):
        found = dl.constrained_dynamics(model, q, v, tau, constraints, method=method, out=out)
        assert found.acceleration is array
        assert np.array_equal(found.acceleration, expected.acceleration)
        assert np.array_equal(found.multipliers, expected.multipliers)
        assert np.array_equal(found.residual, expected.residual)
        assert np.all(found.converged)


def test_matrices_and_factors_in_given_arrays(problem):
    constraints, q, _, _ = problem
    model, m = constraints.model, constraints.size
    out = np.empty((len(q), m, m))
    assert dl.delassus_matrix(model, q, constraints, out=out) is out
    assert np.array_equal(out, dl.delassus_matrix(model, q, constraints))
    assert dl.delassus_inverse(model, q, constraints, 1e-6, out=out) is out
    assert np.array_equal(out, dl.delassus_inverse(model, q, constraints, 1e-6))
    expected = dl.kkt_factorization(model, q, constraints)
    other = dl.kkt_factorization(model, q, constraints, 1e-3)
    found = dl.kkt_factorization(model, q, constraints, out=other)
    assert found.U is other.U
    assert np.array_equal(found.U, expected.U)
    assert np.array_equal(found.D, expected.D)
    M = dl.mass_matrix(model, q)
    pair = np.empty_like(M), np.empty(M.shape[:-1])
    U, D = dl.tree_factorization(model, M, out=pair)
    assert U is pair[0]
    assert np.allclose((U * D[:, None]) @ U.swapaxes(-1, -2), M)


def test_impacts_and_torques_in_given_arrays(problem):
    constraints, q, v, tau = problem
    model = constraints.model
    expected = dl.impact(model, q, v, constraints)
    out = type(expected)(*(np.empty_like(x) for x in expected))
    found = dl.impact(model, q, v, constraints, out=out)
    assert found.velocity is out.velocity
    assert all(np.array_equal(x, y) for x, y in zip(found, expected, strict=True))
    a = dl.constrained_dynamics(model, q, v, 0.0 * tau, constraints).acceleration
    expected = dl.constrained_inverse_dynamics(model, q, v, a, constraints)
    out = type(expected)(*(np.empty_like(x) for x in expected))
    found = dl.constrained_inverse_dynamics(model, q, v, a, constraints, out=out)
    assert found.tau is out.tau
    assert all(np.array_equal(x, y) for x, y in zip(found, expected, strict=True))


def test_what_does_not_fit_is_told(problem):
    constraints, q, v, tau = problem
    model = constraints.model
    with pytest.raises(dl.DataTypeError, match="a pair of arrays"):
        dl.constrained_dynamics(model, q, v, tau, constraints, out=np.empty((3, 18)))
    with pytest.raises(dl.ShapeError):
        dl.delassus_matrix(model, q, constraints, out=np.empty((3, 2, 2)))
    with pytest.raises(dl.ShapeError, match="3 arrays"):
        dl.impact(model, q, v, constraints, out=(np.empty((3, 18)),))
    with pytest.raises(dl.ShapeError, match="shape"):
        dl.impact(model, q, v, constraints, out=(np.empty((2, 18)), np.empty((3, 12)), np.empty(3)))

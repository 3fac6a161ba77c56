"""Products of derivatives with vectors: the matrices they stand for, duality, growth, zeros."""

from inspect import signature
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delassus as dl
from delassus.dynamics.derivatives.aba import forward_dynamics_derivatives
from delassus.dynamics.derivatives.aba_products import (
    forward_dynamics_jvp,
    forward_dynamics_vjp,
    inverse_mass_matrix_product,
)
from delassus.dynamics.derivatives.mass_products import (
    mass_matrix_product,
    mass_matrix_product_derivative,
)
from delassus.dynamics.derivatives.rnea import inverse_dynamics_derivatives
from delassus.dynamics.derivatives.rnea_products import inverse_dynamics_jvp, inverse_dynamics_vjp
from trees import TREES, chain, random_states, random_tree, relative, unrelated

pytestmark = pytest.mark.uncompiled

SEEDS = st.integers(0, 10**6)


class Direction(NamedTuple):
    value: object
    derivatives: object
    jvp: object
    vjp: object


INVERSE = Direction(
    dl.inverse_dynamics, inverse_dynamics_derivatives, inverse_dynamics_jvp, inverse_dynamics_vjp
)
FORWARD = Direction(
    dl.forward_dynamics, forward_dynamics_derivatives, forward_dynamics_jvp, forward_dynamics_vjp
)
DIRECTIONS = {"inverse": INVERSE, "forward": FORWARD}
both = pytest.mark.parametrize("direction", DIRECTIONS.values(), ids=DIRECTIONS)
PRODUCTS = [
    inverse_dynamics_jvp,
    inverse_dynamics_vjp,
    forward_dynamics_jvp,
    forward_dynamics_vjp,
    mass_matrix_product,
    inverse_mass_matrix_product,
    mass_matrix_product_derivative,
]
each_product = pytest.mark.parametrize("product", PRODUCTS)


def vectors(model, seed, count=None):
    """dq, dv and dx, or weights."""
    shape = (model.nv,) if count is None else (count, model.nv)
    return np.random.default_rng(seed + 1).standard_normal((3, *shape))


def forces_on(model, seed, *count):
    return np.random.default_rng(seed + 2).standard_normal((*count, model.n_bodies, 6))


def arguments(product, model, seed, *count):
    """A state and vectors, as far as the product takes them, in its order."""
    q, v, x = random_states(model, seed, *count)
    dq, dv, dx = vectors(model, seed, *count)
    known = {"q": q, "v": v, "a": x, "tau": x, "dq": dq, "dv": dv, "da": dx, "dtau": dx}
    known |= {"w": dx, "x": dx, "external_forces": forces_on(model, seed, *count)}
    return [known[name] for name in signature(product).parameters if name in known]


def arrays(result):
    return result if isinstance(result, tuple) else (result,)


def times(matrix, x):
    """A product, and what its rounding errors are relative to."""
    return np.einsum("...ij,...j", matrix, x), np.einsum("...ij,...j", abs(matrix), abs(x)).max()


def weightless(model):
    """The same model without gravity."""
    return dl.Model(model.name, model.bodies, model.frames, (), (), np.zeros(3))


@both
@settings(max_examples=25)
@given(TREES, SEEDS)
def test_products_are_those_of_the_matrices(direction, model, seed):
    state, given_vectors = random_states(model, seed, 3), vectors(model, seed, 3)
    for f in ((), (forces_on(model, seed, 3),)):
        matrices = direction.derivatives(model, *state, *f)
        terms, scales = zip(*map(times, matrices, given_vectors), strict=True)
        found = direction.jvp(model, *state, *given_vectors, *f)
        assert np.abs(found - sum(terms)).max() < 1e-10 * max(scales)
        w = given_vectors[0]
        for found, matrix in zip(direction.vjp(model, *state, w, *f), matrices, strict=True):
            expected, scale = times(matrix.transpose(0, 2, 1), w)
            assert np.abs(found - expected).max() <= 1e-10 * max(scale, np.abs(w).max())


@both
@settings(max_examples=25)
@given(TREES, SEEDS)
def test_weighing_a_variation_from_either_side_is_the_same(direction, model, seed):
    """w^T (J x) = (w^T J) x"""
    state, given_vectors = random_states(model, seed), vectors(model, seed)
    w, f = np.random.default_rng(seed).standard_normal(model.nv), forces_on(model, seed)
    variation = direction.jvp(model, *state, *given_vectors, f)
    weighed = direction.vjp(model, *state, w, f)
    terms = [x @ y for x, y in zip(weighed, given_vectors, strict=True)]
    scale = sum(np.abs(x) @ np.abs(y) for x, y in zip(weighed, given_vectors, strict=True))
    assert abs(w @ variation - sum(terms)) < 1e-10 * (scale + np.abs(w) @ np.abs(variation))


@both
@settings(max_examples=25)
@given(TREES, SEEDS)
def test_a_variation_is_the_rate_along_a_motion(direction, model, seed):
    (q, v, x), (dq, dv, dx) = random_states(model, seed), vectors(model, seed)
    f, t = forces_on(model, seed), 1e-5

    def value(t):
        return direction.value(model, model.integrate(q, t * dq), v + t * dv, x + t * dx, f)

    found, rate = direction.jvp(model, q, v, x, dq, dv, dx, f), (value(t) - value(-t)) / (2 * t)
    assert np.abs(found - rate).max() < 1e-6 * max(np.abs(rate).max(), np.abs(value(0)).max())


@settings(max_examples=25)
@given(TREES, SEEDS)
def test_products_with_the_mass_matrix(model, seed):
    q, x, _ = random_states(model, seed, 3)
    product, scale = times(dl.mass_matrix(model, q), x)
    assert np.abs(mass_matrix_product(model, q, x) - product).max() < 1e-12 * scale
    product, scale = times(dl.inverse_mass_matrix(model, q), x)
    assert np.abs(inverse_mass_matrix_product(model, q, x) - product).max() < 1e-10 * scale
    derivative = mass_matrix_product_derivative(model, q, x)
    expected = inverse_dynamics_derivatives(weightless(model), q, np.zeros_like(x), x).dq
    scale = np.abs(mass_matrix_product(model, q, x)).max()
    assert np.abs(derivative - expected).max() < 1e-12 * max(scale, np.abs(expected).max())
    assert not derivative[:, unrelated(model)].any()


@both
@settings(max_examples=15)
@given(TREES, SEEDS)
def test_nothing_depends_on_velocity_at_rest(direction, model, seed):
    q, _, x = random_states(model, seed)
    rest, (w, dv, _), f = np.zeros(model.nv), vectors(model, seed), forces_on(model, seed)
    assert not direction.jvp(model, q, rest, x, rest, dv, rest, f).any()
    assert not direction.vjp(model, q, rest, x, w, f).dv.any()


@pytest.mark.parametrize("product", [f for f in PRODUCTS if f is not PRODUCTS[-1]])
def test_work_grows_with_the_number_of_joints(product):
    casadi = pytest.importorskip("casadi")

    def operations(joints):
        model = chain(joints)
        symbols = [casadi.SX.sym("x", *x.shape) for x in arguments(product, model, 0)]
        results = arrays(product(model, *symbols))
        return casadi.Function("f", symbols, list(results)).n_instructions()

    ten, twenty, forty = operations(10), operations(20), operations(40)
    assert forty - twenty == pytest.approx(2 * (twenty - ten), rel=0.01)


@both
def test_automatic_differentiation(direction):
    casadi = pytest.importorskip("casadi")
    model = random_tree(11, bodies=8)
    q, v, x = random_states(model, 5)
    w, given_vectors = np.ones(model.nv), vectors(model, 5)
    steps = [casadi.SX.sym(name, model.nv) for name in ("dq", "dv", "dx")]
    value = direction.value(model, model.integrate(q, steps[0]), v + steps[1], x + steps[2])
    gradients = [casadi.gradient(casadi.dot(w, value), step) for step in steps]
    rate = casadi.jtimes(value, casadi.vertcat(*steps), np.concatenate(given_vectors))
    automatic = casadi.Function("f", steps, [rate, *gradients])(*np.zeros((3, model.nv)))
    found = [direction.jvp(model, q, v, x, *given_vectors), *direction.vjp(model, q, v, x, w)]
    for own, expected in zip(found, automatic, strict=True):
        assert relative(own, np.array(expected).ravel()) < 1e-10


@each_product
def test_symbols_give_the_same_numbers(product):
    casadi = pytest.importorskip("casadi")
    model = random_tree(3, bodies=9)
    given_arguments = arguments(product, model, 0)
    symbols = [casadi.SX.sym("x", *x.shape) for x in given_arguments]
    traced = casadi.Function("f", symbols, list(arrays(product(model, *symbols))))
    found = traced.call(list(map(casadi.DM, given_arguments)))
    for own, expected in zip(found, arrays(product(model, *given_arguments)), strict=True):
        assert relative(np.array(own).reshape(expected.shape), expected) < 1e-10


@each_product
def test_batches_precision_and_given_arrays(product):
    model = random_tree(5, bodies=9)
    states = arguments(product, model, 0, 131)
    batch = arrays(product(model, *states, threads=1))
    shared = arrays(product(model, *states, threads=3))
    rough = arrays(product(model, *(x.astype(np.float32) for x in states)))
    single = arrays(product(model, *(x[130] for x in states)))
    for k, expected in enumerate(batch):
        assert np.array_equal(shared[k], expected)
        assert relative(single[k], expected[130]) < 1e-10
        assert rough[k].dtype == np.float32
        assert np.median(np.abs(rough[k] - expected)) < 1e-4 * np.abs(expected).max()
    out = [np.full_like(x, np.nan) for x in batch]
    result = arrays(product(model, *states, out=out if len(out) > 1 else out[0]))
    for k, expected in enumerate(batch):
        assert result[k] is out[k]
        assert np.array_equal(out[k], expected)


@each_product
def test_state_that_is_not_a_number_stays_alone(product):
    model = random_tree(7, bodies=6)
    states = arguments(product, model, 1, 6)
    clean = arrays(product(model, *states))
    states[0][2] = np.nan
    for before, after in zip(clean, arrays(product(model, *states)), strict=True):
        assert np.array_equal(np.delete(before, 2, 0), np.delete(after, 2, 0))
        assert np.isnan(after[2]).any()


@each_product
def test_far_from_the_origin_no_digits_are_lost(product):
    model = random_tree(8, bodies=4, types=[lambda rng: dl.Free()], trees=0.0)
    q, *others = arguments(product, model, 0)
    far = q.copy()
    far[:3] += 1e6
    near = arrays(product(model, q, *others))
    for found, expected in zip(arrays(product(model, far, *others)), near, strict=True):
        assert relative(found, expected) < 1e-10


@each_product
def test_a_model_without_joints(product):
    model = dl.ModelBuilder("nothing").build()
    for count in ((), (4,)):
        for result in arrays(product(model, *arguments(product, model, 0, *count))):
            assert result.size == 0

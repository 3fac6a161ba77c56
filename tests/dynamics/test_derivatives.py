"""Derivatives of dynamics: central differences, automatic differentiation, structure, zeros."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delassus as dl
from trees import TREES, random_states, random_tree, relative, unrelated

DERIVATIVES = {
    "inverse": (dl.inverse_dynamics, dl.inverse_dynamics_derivatives),
    "forward": (dl.forward_dynamics, dl.forward_dynamics_derivatives),
}
both = pytest.mark.parametrize("direction", DERIVATIVES)


def central_differences(f, model, q, v, x, step=1e-5):
    """Derivatives of f(q, v, x), along the tangent space for q; all evaluations in one batch."""
    nv = model.nv
    steps = np.concatenate([np.eye(nv), -np.eye(nv)]) * step
    rows = [np.repeat(y[None], 2 * nv, 0) for y in (q, v, x)]
    moved = [
        f(model.integrate(rows[0], steps), rows[1], rows[2]),
        f(rows[0], rows[1] + steps, rows[2]),
        f(rows[0], rows[1], rows[2] + steps),
    ]
    return [(y[:nv] - y[nv:]).T / (2 * step) for y in moved]


def check_central_differences(model, seed, direction):
    dynamics, derivatives = DERIVATIVES[direction]
    q, v, x = random_states(model, seed)
    forces = np.random.default_rng(seed).standard_normal((model.n_bodies, 6))

    def f(q, v, x):
        return dynamics(model, q, v, x, np.broadcast_to(forces, (len(q), *forces.shape)))

    expected = central_differences(f, model, q, v, x)
    for found, column in zip(derivatives(model, q, v, x, forces), expected, strict=True):
        scale = max(np.abs(e).max() for e in expected)  # some of them are zero
        assert np.abs(found - column).max() < 1e-6 * scale


@pytest.mark.uncompiled
@settings(max_examples=30)
@given(TREES, st.integers(0, 10**6), st.sampled_from([*DERIVATIVES]))
def test_central_differences(model, seed, direction):
    check_central_differences(model, seed, direction)


@both
@pytest.mark.parametrize("legs", [0, 1, 3])
def test_floating_base_without_motors(direction, legs):
    """The columns of a floating base's pose are known in closed form; so is that case checked."""
    builder = dl.ModelBuilder("floating", gravity=[1.0, 2.0, -9.0])
    rng = np.random.default_rng(legs)
    point = partial(rng.uniform, -1, 1, 3)
    builder.add_body("base", "world", dl.Free(), point(), mass=3.0, com=point(),
                     inertia=np.diag([0.3, 0.4, 0.5]))  # fmt: skip
    for leg in range(legs):
        parent = "base"
        for joint in range(2):
            name = f"leg{leg}{joint}"
            builder.add_body(name, parent, dl.Revolute(point()), point(), mass=1.0, com=point(),
                             inertia=np.eye(3) * 0.1)  # fmt: skip
            parent = name
    check_central_differences(builder.build(), legs, direction)


@both
@pytest.mark.parametrize("robot", ["panda", "solo12", "tree"])
def test_automatic_differentiation(direction, robot):
    casadi = pytest.importorskip("casadi")
    model = random_tree(11, bodies=8) if robot == "tree" else dl.robots.load(robot)
    dynamics, derivatives = DERIVATIVES[direction]
    q, v, x = random_states(model, 5)
    step, v_symbol, x_symbol = (casadi.SX.sym(name, model.nv) for name in ("dq", "v", "x"))
    value = dynamics(model, model.integrate(q, step), v_symbol, x_symbol)
    arguments = [step, v_symbol, x_symbol]
    automatic = casadi.Function("f", arguments, [casadi.jacobian(value, s) for s in arguments])
    expected = automatic(np.zeros(model.nv), v, x)
    for found, matrix in zip(derivatives(model, q, v, x), expected, strict=True):
        assert relative(found, np.array(matrix)) < 1e-10


@both
def test_symbols_give_the_same_numbers(direction):
    casadi = pytest.importorskip("casadi")
    model = random_tree(3, bodies=7)
    state = random_states(model, 0)
    traced = dl.symbolic(DERIVATIVES[direction][1], model)
    assert isinstance(traced, casadi.Function)
    for found, expected in zip(
        traced(*state), DERIVATIVES[direction][1](model, *state), strict=True
    ):
        assert relative(np.array(found), expected) < 1e-10


@settings(max_examples=20)
@given(TREES, st.integers(0, 10**6))
def test_nothing_depends_on_velocity_at_rest(model, seed):
    """Exact zeros: no velocity, so no derivative by it, whatever accelerates or pushes."""
    q, _, a = random_states(model, seed)
    rest = np.zeros(model.nv)
    forces = np.random.default_rng(seed).standard_normal((model.n_bodies, 6))
    for _, derivatives in DERIVATIVES.values():
        assert not derivatives(model, q, rest, a, forces).dv.any()


@both
def test_nothing_depends_on_anything_in_free_space(direction):
    """At rest without gravity and forces, no force is needed in any configuration."""
    builder = dl.ModelBuilder("space", gravity=[0.0, 0.0, 0.0])
    rng = np.random.default_rng(0)
    for i, joint in enumerate([dl.Free(), dl.Spherical(), dl.Revolute([0, 1, 0]), dl.Planar()]):
        builder.add_body(f"b{i}", f"b{i - 1}" if i else "world", joint, rng.uniform(-1, 1, 3),
                         mass=1.0, com=rng.uniform(-1, 1, 3), inertia=np.eye(3))  # fmt: skip
    model = builder.build()
    q, zero = model.random_configuration(rng, 5), np.zeros((5, model.nv))
    result = DERIVATIVES[direction][1](model, q, zero, zero)
    assert not result.dq.any()
    assert not result.dv.any()


@pytest.mark.uncompiled
@settings(max_examples=20)
@given(TREES, st.integers(0, 10**6))
def test_structure(model, seed):
    q, v, a = random_states(model, seed, 3)
    inverse = dl.inverse_dynamics_derivatives(model, q, v, a)
    assert relative(inverse.da, dl.mass_matrix(model, q)) < 1e-12
    tau = dl.inverse_dynamics(model, q, v, a)
    forward = dl.forward_dynamics_derivatives(model, q, v, tau)
    assert relative(forward.dtau, dl.inverse_mass_matrix(model, q)) < 1e-12
    tolerance = 1e-11 * np.linalg.cond(inverse.da).max()
    assert relative(inverse.da @ forward.dq, -inverse.dq) < tolerance
    assert relative(inverse.da @ forward.dv, -inverse.dv) < tolerance
    apart = unrelated(model)
    assert not inverse.dq[:, apart].any()
    assert not inverse.dv[:, apart].any()


@both
@pytest.mark.parametrize("count", [1, 2, 3, 130])
def test_batches_of_any_size(direction, count):
    model = random_tree(7, bodies=12)
    derivatives = DERIVATIVES[direction][1]
    state = random_states(model, 1, count)
    batch = derivatives(model, *state, threads=1)
    shared = derivatives(model, *state, threads=2)
    for i in {0, count // 2, count - 1}:
        one = derivatives(model, *(x[i] for x in state))
        for k in range(3):
            assert batch[k].shape == (count, model.nv, model.nv)
            assert np.array_equal(batch[k], shared[k])
            assert relative(batch[k][i], one[k]) < 1e-11


@both
def test_state_that_is_not_a_number_stays_alone(direction):
    model = random_tree(7, bodies=6)
    q, v, x = random_states(model, 1, 6)
    clean = DERIVATIVES[direction][1](model, q, v, x)
    v[2] = np.nan
    spoilt = DERIVATIVES[direction][1](model, q, v, x)
    others = [0, 1, 3, 4, 5]
    for before, after in zip(clean, spoilt, strict=True):
        assert np.array_equal(before[others], after[others])
    assert np.isnan(spoilt.dv[2]).any()


@both
def test_results_go_where_they_are_asked_to(direction):
    model = random_tree(7, bodies=6)
    derivatives = DERIVATIVES[direction][1]
    for count in (None, 5):
        state = random_states(model, 1, count)
        expected = derivatives(model, *state)
        out = type(expected)(*(np.full_like(x, np.nan) for x in expected))
        result = derivatives(model, *state, out=out)
        for given_array, found, wanted in zip(out, result, expected, strict=True):
            assert found is given_array
            assert np.array_equal(found, wanted)


@both
def test_single_precision(direction):
    model = dl.robots.load("panda")
    state = random_states(model, 1, 9)
    derivatives = DERIVATIVES[direction][1]
    single = derivatives(model, *(x.astype(np.float32) for x in state))
    for low, high in zip(single, derivatives(model, *state), strict=True):
        assert low.dtype == np.float32
        assert relative(low, high) < 1e-3

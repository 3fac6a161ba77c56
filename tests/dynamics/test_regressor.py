"""The regressor: inverse dynamics is linear in the inertial parameters."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delassus as dl
from delassus.benchmarks.peers.pinocchio import load_pair
from delassus.dynamics.derivatives.regressor import (
    inertial_parameters,
    inverse_dynamics_regressor,
)
from trees import TREES, random_states, random_tree, relative

SEEDS = st.integers(0, 10**6)
uncompiled = pytest.mark.uncompiled


def armature(model):
    return np.concatenate([j.data.armature for j in model.joints])


def with_parameters(model, parameters):
    """The same model with other inertias."""
    bodies = []
    for body, (mass, *moment, xx, xy, yy, xz, yz, zz) in zip(
        model.bodies, parameters.reshape(-1, 10), strict=True
    ):
        center = np.array(moment) / mass
        about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        matrix = about_origin - mass * (center @ center * np.eye(3) - np.outer(center, center))
        bodies.append(replace(body, inertia=dl.Inertia(mass, center, matrix)))
    return dl.Model(model.name, bodies, model.frames, (), (), model.gravity)


def carries(model):
    """Whether each degree of freedom carries each body."""
    result = np.zeros((model.nv, model.n_bodies), bool)
    for i in range(model.n_bodies):
        j = i
        while j >= 0:
            result[model.joints[j].v, i] = True
            j = model.bodies[j].parent
    return result


@uncompiled
@settings(max_examples=40)
@given(TREES, SEEDS)
def test_regressor_times_parameters_is_inverse_dynamics(model, seed):
    q, v, a = random_states(model, seed, 3)
    Y = inverse_dynamics_regressor(model, q, v, a)
    assert Y.shape == (3, model.nv, 10 * model.n_bodies)
    tau = Y @ inertial_parameters(model) + armature(model) * a
    assert relative(tau, dl.inverse_dynamics(model, q, v, a)) < 1e-12
    assert relative(inverse_dynamics_regressor(model, q[1], v[1], a[1]), Y[1]) < 1e-13


@uncompiled
@settings(max_examples=10)
@given(TREES, SEEDS)
def test_each_column_is_the_change_with_its_parameter(model, seed):
    q, v, a = random_states(model, seed)
    Y, parameters = inverse_dynamics_regressor(model, q, v, a), inertial_parameters(model)
    before = dl.inverse_dynamics(model, q, v, a)
    scale = max(np.abs(Y).max(), np.abs(before).max())
    for k in range(len(parameters)):
        changed = with_parameters(model, parameters + np.eye(len(parameters))[k])
        column = dl.inverse_dynamics(changed, q, v, a) - before
        assert np.abs(Y[:, k] - column).max() < 1e-11 * scale


@uncompiled
@settings(max_examples=20)
@given(TREES, SEEDS)
def test_joints_feel_nothing_of_bodies_that_they_do_not_carry(model, seed):
    Y = inverse_dynamics_regressor(model, *random_states(model, seed, 3))
    by_body = Y.reshape(3, model.nv, model.n_bodies, 10)
    assert (by_body[:, ~carries(model)] == 0.0).all()
    assert (by_body[:, carries(model)] != 0.0).any(axis=-1).all()


@pytest.mark.filterwarnings("ignore::delassus.ModelFileWarning")
@pytest.mark.parametrize("name", ["panda", "ur5", "tiago", "hyq", "solo12", "talos"])
def test_pinocchio_agrees(name):
    pin = pytest.importorskip("pinocchio")
    model, peer = load_pair(name)
    ids = [peer.model.getJointId(joint) for joint in model.joint_names]
    columns = np.concatenate([10 * (k - 1) + np.arange(10) for k in ids])
    expected = np.concatenate([peer.model.inertias[k].toDynamicParameters() for k in ids])
    assert relative(inertial_parameters(model), expected) < 1e-12
    q, v, a = random_states(model, 0, 3)
    Y = inverse_dynamics_regressor(model, q, v, a)
    for i in range(3):
        state = peer.configuration(q[i]), peer.velocity(v[i]), peer.velocity(a[i])
        expected = pin.computeJointTorqueRegressor(peer.model, peer.data, *state)
        assert relative(Y[i], peer.from_velocity(expected.T).T[:, columns]) < 1e-12


@uncompiled
def test_a_merged_body_is_one():
    builder = dl.ModelBuilder("two in one")
    builder.add_body("arm", joint=dl.Revolute([0, 1, 0]), mass=2.0, com=[0, 0, 1.0])
    builder.add_body("tool", "arm", dl.Fixed(), [0, 0, 2.0], mass=3.0)
    expected = [5, 0, 0, 8, 14, 0, 14, 0, 0, 0]
    assert np.allclose(inertial_parameters(builder.build()), expected, rtol=0, atol=1e-14)
    nothing = dl.ModelBuilder("nothing").build()
    assert inertial_parameters(nothing).shape == (0,)
    assert inverse_dynamics_regressor(nothing, *np.zeros((3, 4, 0))).shape == (4, 0, 0)


@uncompiled
def test_far_from_the_origin_no_digits_are_lost():
    model = random_tree(8, bodies=4, types=[lambda rng: dl.Free()], trees=0.0)
    q, v, a = random_states(model, 0)
    far = q.copy()
    far[:3] += 1e6
    near = inverse_dynamics_regressor(model, q, v, a)
    assert relative(inverse_dynamics_regressor(model, far, v, a), near) < 1e-13


def test_precision_threads_and_given_arrays():
    model = random_tree(5, bodies=9)
    q, v, a = random_states(model, 0, 301)
    Y = inverse_dynamics_regressor(model, q, v, a, threads=1)
    assert np.array_equal(inverse_dynamics_regressor(model, q, v, a, threads=3), Y)
    rough = inverse_dynamics_regressor(model, *(x.astype(np.float32) for x in (q, v, a)))
    assert rough.dtype == np.float32
    assert relative(rough, Y) < 1e-4
    for out in (np.empty(Y.shape), np.empty(Y.shape, order="F")):
        assert inverse_dynamics_regressor(model, q, v, a, out=out) is out
        assert np.array_equal(out, Y)
    one = np.empty(Y.shape[1:])
    assert inverse_dynamics_regressor(model, q[0], v[0], a[0], out=one) is one
    with pytest.raises(dl.ShapeError, match=r"out for Y must have shape \(301, 22, 90\)"):
        inverse_dynamics_regressor(model, q, v, a, out=one)
    for f in (inertial_parameters, lambda m: inverse_dynamics_regressor(m, q, v, a)):
        with pytest.raises(dl.DataTypeError, match="expected a Model"):
            f("panda")


@uncompiled
def test_symbols():
    casadi = pytest.importorskip("casadi")
    model = random_tree(3, bodies=9)
    q, v, a = random_states(model, 0)
    traced = dl.symbolic(inverse_dynamics_regressor, model)
    expected = inverse_dynamics_regressor(model, q, v, a)
    assert relative(np.array(traced(q, v, a)), expected) < 1e-13
    symbol = casadi.SX.sym("a", model.nv)
    Y = inverse_dynamics_regressor(model, q, v, symbol)
    assert Y.shape == expected.shape
    tau = Y @ inertial_parameters(model) + armature(model) * symbol
    M = casadi.Function("M", [symbol], [casadi.jacobian(tau, symbol)])
    assert relative(np.array(M(a)), dl.mass_matrix(model, q)) < 1e-12

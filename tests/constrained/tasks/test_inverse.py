"""Torques for motions under constraints."""

import numpy as np
import pytest

import delassus as dl
from constrained.mechanisms import consistent, four_bar, random_loops, repeated, standing
from delassus.constrained.tasks.inverse import constrained_inverse_dynamics
from delassus.constrained.tasks.loops import close_loops
from delassus.errors import ActuationError
from trees import random_states, relative


def states(cs, seed, count):
    """Closed configurations, velocities that keep them closed, torques."""
    q, v, tau = random_states(cs.model, seed, count)
    q = close_loops(cs.model, q, cs)
    v = np.array([consistent(cs, x, y) for x, y in zip(q, v, strict=True)])
    return q, v, tau


def balance(cs, q, v, a, found, forces=None):
    """M a + b - tau - J^T multipliers"""
    push = np.einsum("kij,ki->kj", cs.jacobian(q), found.multipliers)
    return dl.inverse_dynamics(cs.model, q, v, a, forces) - found.tau - push


@pytest.mark.parametrize("seed", [0, 1])
def test_torques_give_the_motion_they_are_asked_for(seed):
    cs = random_loops(seed)
    model = cs.model
    q, v, tau = states(cs, seed, 3)
    forces = np.random.default_rng(seed).standard_normal((3, model.n_bodies, 6))
    a = dl.constrained_dynamics(model, q, v, tau, cs, forces).acceleration
    found = constrained_inverse_dynamics(model, q, v, a, cs, forces, actuated=model.joint_names)
    assert np.abs(balance(cs, q, v, a, found, forces)).max() < 1e-8
    again = dl.constrained_dynamics(model, q, v, found.tau, cs, forces)
    assert relative(again.acceleration, a) < 1e-7
    assert (found.residual < 1e-8).all()


def test_one_crank_drives_a_four_bar():
    model = four_bar()
    cs = dl.Constraints(model)
    q, v, tau = states(cs, 2, 4)
    tau[:, 1:] = 0.0
    a = dl.constrained_dynamics(model, q, v, tau, cs).acceleration
    found = constrained_inverse_dynamics(model, q, v, a, cs, actuated=["crank_joint"])
    np.testing.assert_allclose(found.tau, tau, atol=1e-6)
    np.testing.assert_allclose(
        constrained_inverse_dynamics(model, q[0], v[0], a[0], cs, actuated="crank_joint").tau,
        found.tau[0],
        atol=1e-9,
    )


@pytest.mark.parametrize("times", [1, 2])
def test_a_standing_robot_needs_no_forces_at_its_base(times):
    cs = repeated(standing("solo12"), times)
    model = cs.model
    q = np.tile(model.neutral(), (2, 1))
    q[:, 7:] = np.random.default_rng(0).uniform(-1.0, 1.0, (2, model.nq - 7))
    still = np.zeros((2, model.nv))
    found = constrained_inverse_dynamics(model, q, still, still, cs)
    assert np.array_equal(found.tau[:, :6], still[:, :6])
    assert np.abs(balance(cs, q, still, still, found)).max() < 1e-7
    weight = found.multipliers.reshape(2, -1, 3).sum(axis=1)
    np.testing.assert_allclose(weight, -model.mass * np.tile(model.gravity, (2, 1)), atol=1e-6)


def test_a_motion_that_nothing_drives_is_an_error_that_says_what_is_missing():
    model = four_bar()
    cs = dl.Constraints(model, [dl.Coupling({"crank_joint": 1.0, "coupler_joint": 1.0})])
    q, v, a = random_states(model, 3, 2)
    with pytest.raises(ActuationError, match="missing at joint 'rocker_joint'") as caught:
        constrained_inverse_dynamics(model, q, v, a, cs, actuated=["crank_joint"])
    assert isinstance(caught.value, dl.DelassusError)
    assert isinstance(caught.value, ValueError)
    free = dl.Constraints(model, [])
    with pytest.raises(ActuationError, match="missing"):
        constrained_inverse_dynamics(model, q, v, a, free, actuated=[])


def test_without_constraints_it_is_inverse_dynamics():
    model = four_bar()
    q, v, a = random_states(model, 4, 3)
    found = constrained_inverse_dynamics(model, q, v, a, dl.Constraints(model, []))
    np.testing.assert_allclose(found.tau, dl.inverse_dynamics(model, q, v, a), atol=1e-12)
    assert found.multipliers.shape == (3, 0)


def test_a_state_that_is_not_a_number_spoils_no_other():
    model = four_bar()
    cs = dl.Constraints(model)
    q, v, a = random_states(model, 5, 3)
    expected = constrained_inverse_dynamics(model, q, v, a, cs)
    q[1, 0] = np.nan
    found = constrained_inverse_dynamics(model, q, v, a, cs)
    assert np.isnan(found.tau[1]).all()
    assert np.array_equal(found.tau[[0, 2]], expected.tau[[0, 2]])


def test_wrong_arguments():
    model = four_bar()
    cs = dl.Constraints(model)
    q, v, a = random_states(model, 6, 3)
    with pytest.raises(dl.ShapeError, match="a must have shape"):
        constrained_inverse_dynamics(model, q, v, a[:, :2], cs)
    with pytest.raises(dl.UnknownNameError, match="no joint"):
        constrained_inverse_dynamics(model, q, v, a, cs, actuated=["motor"])
    with pytest.raises(dl.DelassusError, match="tolerance"):
        constrained_inverse_dynamics(model, q, v, a, cs, tolerance=-1.0)
    with pytest.raises(dl.ModelError, match="another model"):
        constrained_inverse_dynamics(four_bar(), q, v, a, cs)

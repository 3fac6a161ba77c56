"""Subspaces of clusters, actuators anywhere, and motions of whole embeddings."""

import numpy as np
import pytest

import delassus as dl
from embedding.mechanisms import closed_states, four_bar, geared
from trees import relative

MECHANISMS = {
    "four-bar": lambda: four_bar(base=True),
    "motors": lambda: geared(1, joints=2),
    "parallel ankle": dl.robots.parallel_ankle,
    "leg": dl.robots.mit_humanoid_leg,
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_subspaces_of_clusters(name):
    emb = dl.embed(MECHANISMS[name]())
    q, *_ = closed_states(emb, 1, 2)
    for number, cluster in enumerate(emb.clusters):
        S, Ta, Tc = emb.subspaces(q, number)
        ny = S.shape[-1]
        assert S.shape == (2, 6 * len(cluster.bodies), ny)
        assert Tc.shape == (2, 6 * len(cluster.bodies), 6 * len(cluster.bodies) - ny)
        one = np.broadcast_to(np.eye(ny), (2, ny, ny))
        assert relative(S.swapaxes(1, 2) @ Ta, one) < 1e-12
        assert np.abs(S.swapaxes(1, 2) @ Tc).max(initial=0.0) < 1e-13
    with pytest.raises(dl.SettingError, match="cluster must be a number from 0 to"):
        emb.subspaces(q, len(emb.clusters))


def test_actuators_of_joints_and_loop_joints():
    model = four_bar()
    (closure,) = model.constraints
    emb = dl.embed(model, actuators=["crank_joint", "rocker_joint", closure, "tool_joint"])
    q, v, tau, _ = closed_states(emb, 1, 3)
    W = emb.W(q)
    assert W.shape == (3, 2, 4)
    # The rate of the loop joint, by differences of the angle between its links.
    ahead, behind = emb.integrate(q, 1e-6 * v), emb.integrate(q, -1e-6 * v)
    angles = [x[:, 0] + x[:, 1] - x[:, 2] for x in (ahead, behind)]
    rate = (angles[0] - angles[1]) / 2e-6
    assert relative((W.swapaxes(1, 2) @ v[..., None])[:, 2, 0], rate) < 1e-7
    efforts = emb.efforts(q, tau)
    assert relative((W @ efforts[..., None])[..., 0], tau) < 1e-12
    least = np.einsum("nij,nj->ni", np.linalg.pinv(W), tau)
    assert relative(efforts, least) < 1e-10
    # Forces of the tree do as forces of y.
    wide = np.zeros((3, model.nv))
    for name, effort in zip(("crank_joint", "rocker_joint"), efforts.T[:2], strict=True):
        wide[:, model.joint(name).v.start] = effort
    expected = (W[:, :, :2] @ efforts[:, :2, None])[..., 0]
    a = dl.forward_dynamics(emb, q, v, wide)
    assert relative(a, dl.forward_dynamics(emb, q, v, expected)) < 1e-11


def test_actuators_that_cannot_do_it_are_an_error():
    emb = dl.embed(four_bar(), actuators=["crank_joint"])
    q, _, tau, _ = closed_states(emb, 1, 3)
    with pytest.raises(dl.ActuationError, match="cannot make these forces"):
        emb.efforts(q, tau)
    with pytest.raises(dl.DataTypeError, match="no actuators"):
        dl.embed(four_bar()).W(q)
    with pytest.raises(dl.ModelError, match="needs a hinge or a slider"):
        dl.embed(four_bar(), actuators=[dl.Closure(dl.Spherical(), "coupler_end", "rocker_end")])


@pytest.mark.parametrize("name", MECHANISMS)
def test_integration_keeps_loops_closed_and_differences_undo_it(name):
    emb = dl.embed(MECHANISMS[name]())
    q, v = emb.random_configuration(0, 3), np.random.default_rng(0).standard_normal((3, emb.nv))
    there = emb.integrate(q, 0.01 * v)
    assert np.abs(emb.constraints.position_error(there)).max() < 1e-10
    assert relative(emb.difference(q, there), 0.01 * v) < 1e-10
    assert np.abs(emb.constraints.position_error(emb.neutral())).max() < 1e-10
    several = emb.random_configuration(0, 5)
    assert several.shape == (5, emb.model.nq)
    assert np.abs(emb.constraints.position_error(several)).max() < 1e-10
    assert emb.random_configuration(0).shape == (emb.model.nq,)


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_inverse_mass_matrix(name):
    emb = dl.embed(MECHANISMS[name]())
    q, _, tau, _ = closed_states(emb, 2, 3)
    M, inverse = dl.mass_matrix(emb, q), dl.inverse_mass_matrix(emb, q)
    assert relative(M @ inverse, np.broadcast_to(np.eye(emb.nv), M.shape)) < 1e-8
    none = np.zeros_like(tau)
    pushed = dl.forward_dynamics(emb, q, none, tau) - dl.forward_dynamics(emb, q, none, none)
    assert relative((inverse @ tau[..., None])[..., 0], pushed) < 1e-8
    bias = dl.inverse_dynamics(emb, q, none, none)
    assert relative(dl.bias_forces(emb, q, none), bias) < 1e-12
    assert relative(dl.gravity_forces(emb, q), bias) < 1e-12

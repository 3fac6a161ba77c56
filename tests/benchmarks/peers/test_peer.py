"""The way between our coordinates and Pinocchio's."""

import numpy as np
import pytest

import delassus as dl
from delassus.benchmarks.peers.pinocchio import PinocchioPeer, load_pair

pin = pytest.importorskip("pinocchio")


def test_children_are_found_by_name():
    model, peer = load_pair("hyq")
    v = np.arange(float(model.nv))
    theirs = peer.velocity(v)
    for joint in model.joints:
        other = peer.model.joints[peer.model.getJointId(joint.name)]
        assert np.array_equal(theirs[other.idx_v : other.idx_v + other.nv], v[joint.v])
    assert np.array_equal(peer.from_velocity(theirs), v)
    assert np.array_equal(peer.from_matrix(np.outer(theirs, theirs)), np.outer(v, v))


def test_continuous_joints_become_cosine_and_sine():
    model, peer = load_pair("kinova")
    q = model.random_configuration(0, 5)
    theirs = peer.configuration(q)
    assert theirs.shape == (5, peer.model.nq)
    assert peer.model.nq > model.nq
    v, a = np.random.default_rng(0).standard_normal((2, 5, model.nv))
    ours = dl.inverse_dynamics(model, q, v, a)
    v, a = peer.velocity(v), peer.velocity(a)
    for k in range(5):
        tau = pin.rnea(peer.model, peer.data, theirs[k], v[k], a[k])
        assert np.allclose(peer.from_velocity(tau), ours[k], rtol=1e-10, atol=1e-10)


def test_a_peer_is_built_from_any_model_of_simple_joints():
    builder = dl.ModelBuilder("mixed", gravity=[0.1, 0.2, -3.0])
    builder.add_body("base", joint=dl.Free(), mass=2.0, inertia=np.eye(3))
    builder.add_body(
        "arm", "base", dl.Revolute([1, 2, 3]), [0.1, 0.2, 0.3], mass=1.0, com=[0, 0, 0.2],
        inertia=np.eye(3) * 0.1, armature=0.5,
    )  # fmt: skip
    builder.add_body("slider", "arm", dl.Prismatic([0, 1, 0]), [0, 0, 0.5], mass=0.5)
    model = builder.build()
    peer = PinocchioPeer.from_model(model)
    q = model.random_configuration(1)
    expected = pin.crba(peer.model, peer.data, peer.configuration(q))
    assert np.allclose(dl.mass_matrix(model, q), peer.from_matrix(expected), atol=1e-12)
    zero = np.zeros(model.nv)
    expected = pin.rnea(peer.model, peer.data, peer.configuration(q), zero, zero)
    assert np.allclose(dl.gravity_forces(model, q), peer.from_velocity(expected), atol=1e-12)


def test_what_does_not_fit_is_refused():
    builder = dl.ModelBuilder("screw")
    builder.add_body("nut", joint=dl.Helical([0, 0, 1], pitch=0.1), mass=1.0)
    with pytest.raises(dl.ModelError, match="no peer for a Helical joint"):
        PinocchioPeer.from_model(builder.build())
    model, _ = load_pair("panda")
    _, other = load_pair("hyq")
    with pytest.raises(dl.ModelError, match="degrees of freedom"):
        PinocchioPeer(model, other.model)

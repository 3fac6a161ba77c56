"""Real robots: the same numbers as Pinocchio."""

from pathlib import Path

import numpy as np
import pytest

import delassus as dl
from delassus.benchmarks.peers.pinocchio import PinocchioPeer
from trees import random_states, relative

pin = pytest.importorskip("pinocchio")
ROBOTS = dl.robots.path("panda").parents[2]
FILES = sorted(str(p.relative_to(ROBOTS)) for p in ROBOTS.rglob("*.urdf"))
BROKEN = {"falcon_description/urdf/falcon.urdf", "ur_description/urdf/ur3.urdf"}
UNREADABLE = BROKEN.intersection(FILES)  # releases of the collection differ
TOLERANCE = 1e-10
DERIVATIVE_TOLERANCE = 1e-9

pytestmark = pytest.mark.filterwarnings("ignore::delassus.ModelFileWarning")


def test_all_files_are_found():
    assert len(FILES) >= 69
    assert UNREADABLE


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize("file", [f for f in FILES if f not in UNREADABLE])
def test_robot_agrees(file, floating):
    path = Path(ROBOTS / file)
    model = dl.load(path, floating_base=floating)
    root = [pin.JointModelFreeFlyer()] if floating else []
    peer_model = pin.buildModelFromUrdf(str(path), *root)
    assert set(model.joint_names) == set(list(peer_model.names)[1:])
    assert model.nv == peer_model.nv
    extra = sum(j.nq - 1 for j in peer_model.joints if "RUB" in j.shortname())
    assert model.nq == peer_model.nq - extra
    assert np.isclose(model.mass, sum(i.mass for i in list(peer_model.inertias)[1:]), rtol=1e-12)
    if model.nv == 0:
        return
    peer = PinocchioPeer(model, peer_model)
    states = random_states(model, 1, 3)
    check_dynamics(model, peer, *states)
    check_kinematics(model, peer, *states)
    check_derivatives(model, peer, *states)


def check_dynamics(model, peer, q, v, a):
    m, d = peer.model, peer.data
    qp, vp, ap = peer.configuration(q), peer.velocity(v), peer.velocity(a)
    n = range(len(q))

    def vectors(f):
        return peer.from_velocity(np.array([f(m, d, qp[i], vp[i], ap[i]) for i in n]))

    def matrices(f):
        upper = np.array([np.triu(f(m, d, qp[i])) for i in n])
        return peer.from_matrix(upper + np.triu(upper, 1).transpose(0, 2, 1))

    M = dl.mass_matrix(model, q)
    assert relative(dl.inverse_dynamics(model, q, v, a), vectors(pin.rnea)) < TOLERANCE
    assert relative(M, matrices(pin.crba)) < TOLERANCE
    found, expected = dl.forward_dynamics(model, q, v, a), vectors(pin.aba)
    inverse, expected_inverse = dl.inverse_mass_matrix(model, q), matrices(pin.computeMinverse)
    if np.linalg.cond(M).max() > 1e15:  # bodies without inertia: no answer, and none is made up
        assert not np.isfinite(expected).all()
        assert not np.isfinite(found).all()
        assert not np.isfinite(inverse).all()
        return
    assert relative(found, expected) < TOLERANCE
    # Where Pinocchio's own inverse has lost digits, ours is held to what it is the inverse of.
    peers_error = relative(expected_inverse @ M, np.broadcast_to(np.eye(model.nv), M.shape))
    assert relative(inverse, expected_inverse) < max(TOLERANCE, peers_error)
    own_error = relative(inverse @ M, np.broadcast_to(np.eye(model.nv), M.shape))
    assert own_error < max(TOLERANCE, 10 * peers_error)


def check_derivatives(model, peer, q, v, a):
    m, d = peer.model, peer.data
    states = list(zip(peer.configuration(q), peer.velocity(v), peer.velocity(a), strict=True))

    def stacked(f, *names):
        """Results of Pinocchio's for all states; of the symmetric last one it fills a triangle."""
        rows = []
        for state in states:
            f(m, d, *state)
            matrices = [getattr(d, name).copy() for name in names]
            matrices[-1] = np.triu(matrices[-1]) + np.triu(matrices[-1], 1).T
            rows.append(matrices)
        return [peer.from_matrix(np.array(x)) for x in zip(*rows, strict=True)]

    names = ("dtau_dq", "dtau_dv", "M")
    inverse = dl.inverse_dynamics_derivatives(model, q, v, a)
    for found, expected in zip(inverse, stacked(pin.computeRNEADerivatives, *names), strict=True):
        scale = max(np.abs(expected).max(), np.abs(inverse.da).max())  # may vanish itself
        assert np.abs(found - expected).max() < DERIVATIVE_TOLERANCE * scale
    M = inverse.da
    if np.linalg.cond(M).max() > 1e15:
        return
    forward = dl.forward_dynamics_derivatives(model, q, v, a)
    peers = stacked(pin.computeABADerivatives, "ddq_dq", "ddq_dv", "Minv")
    # Where Pinocchio's own inverse has lost digits, its derivatives have lost some more; ours are
    # held to the equations of motion that they solve.
    peers_error = relative(peers[-1] @ M, np.broadcast_to(np.eye(model.nv), M.shape))
    for found, expected in zip(forward, peers, strict=True):
        tolerance = max(DERIVATIVE_TOLERANCE, 10 * peers_error)
        assert np.abs(found - expected).max() < tolerance * max(np.abs(expected).max(), 1.0)
    torque = dl.inverse_dynamics_derivatives(model, q, v, dl.forward_dynamics(model, q, v, a))
    for found, needed in ((forward.dq, torque.dq), (forward.dv, torque.dv)):
        scale = max(np.abs(needed).max(), np.abs(M).max())  # may vanish itself
        assert np.abs(M @ found + needed).max() < DERIVATIVE_TOLERANCE * scale


def check_kinematics(model, peer, q, v, a):
    m, d = peer.model, peer.data
    qp, vp, ap = peer.configuration(q), peer.velocity(v), peer.velocity(a)
    names = [
        f.name for f in m.frames if f.type == pin.FrameType.BODY and f.name in model.frame_names
    ]
    assert len(names) >= model.n_bodies
    placed = dl.forward_kinematics(model, q, names)
    references = {
        "local": pin.ReferenceFrame.LOCAL,
        "world": pin.ReferenceFrame.WORLD,
        "aligned": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED,
    }
    order = peer._order
    for i in range(len(q)):
        pin.forwardKinematics(m, d, qp[i], vp[i], ap[i])
        pin.updateFramePlacements(m, d)
        pin.computeJointJacobians(m, d, qp[i])
        ids = [m.getFrameId(name, pin.FrameType.BODY) for name in names]
        assert relative(placed.rotation[i], [d.oMf[k].rotation for k in ids]) < TOLERANCE
        assert relative(placed.translation[i], [d.oMf[k].translation for k in ids]) < TOLERANCE
        for reference, code in references.items():
            name, k = names[-1], ids[-1]
            J = dl.frame_jacobian(model, q[i], name, reference)
            assert relative(J, pin.getFrameJacobian(m, d, k, code)[:, order]) < TOLERANCE
            velocity = dl.frame_velocity(model, q[i], v[i], name, reference)
            assert relative(velocity, pin.getFrameVelocity(m, d, k, code).vector) < TOLERANCE
            found = dl.frame_acceleration(model, q[i], v[i], a[i], name, reference)
            expected = pin.getFrameAcceleration(m, d, k, code).vector
            assert relative(found, expected) < TOLERANCE
            found = dl.frame_acceleration(model, q[i], v[i], a[i], name, reference, classical=True)
            if reference != "world":
                expected = pin.getFrameClassicalAcceleration(m, d, k, code).vector
                assert relative(found, expected) < TOLERANCE
    com = [pin.centerOfMass(m, d, qp[i]).copy() for i in range(len(q))]
    assert relative(dl.center_of_mass(model, q), com) < TOLERANCE
    momentum = [pin.computeCentroidalMap(m, d, qp[i])[:, order] for i in range(len(q))]
    assert relative(dl.centroidal_momentum_matrix(model, q), momentum) < TOLERANCE
    coriolis = [pin.computeCoriolisMatrix(m, d, qp[i], vp[i]).copy() for i in range(len(q))]
    error = dl.coriolis_matrix(model, q, v) - peer.from_matrix(np.array(coriolis))
    scale = max(np.abs(coriolis).max(), np.abs(dl.mass_matrix(model, q)).max())  # may vanish itself
    assert np.abs(error).max() < TOLERANCE * scale


@pytest.mark.parametrize("file", sorted(UNREADABLE))
def test_unreadable_file_says_what_is_wrong(file):
    with pytest.raises(dl.FileFormatError, match=Path(file).name):
        dl.load(ROBOTS / file)

"""Constraints of ours in Pinocchio."""

import numpy as np
import pytest

pytest.importorskip("pinocchio")

import delassus as dl
from delassus.benchmarks.comparing.methods import peer_timer
from delassus.benchmarks.measuring.states import States, largest_difference
from delassus.benchmarks.peers.constraints import ConstrainedPeer, derivatives_call, inverse_calls
from delassus.benchmarks.peers.pinocchio import load_pair

DAMPING = 1e-3


@pytest.fixture(scope="module")
def solo():
    model, peer = load_pair("solo12")
    return dl.Constraints(model, [dl.Connect("FL_FOOT"), dl.Connect("HR_FOOT")]), peer


def test_constraints_without_a_peer_are_refused(solo):
    constraints, peer = solo
    distance = dl.Constraints(constraints.model, [dl.Distance("FL_FOOT", "FR_FOOT", 0.3)])
    with pytest.raises(dl.ModelError, match="no peer for a constraint of type Distance"):
        ConstrainedPeer(peer, distance)


def test_springs_give_the_damped_inverse(solo):
    constraints, peer = solo
    states = States.random(constraints.model, 3, 0)
    out = np.zeros((3, 6, 6))
    call = inverse_calls(peer, constraints, DAMPING)["computeDelassusMatrix"]
    peer_timer(call, states.for_peer(peer), out).timeit(1)
    J, M = constraints.jacobian(states.q), dl.mass_matrix(constraints.model, states.q)
    expected = np.linalg.inv(J @ np.linalg.solve(M, J.swapaxes(1, 2)) + DAMPING * np.eye(6))
    # The rows of Pinocchio have other axes.
    assert largest_difference(*map(np.linalg.eigvalsh, (out, expected))) < 1e-6


def test_all_six_derivatives_are_copied(solo):
    constraints, peer = solo
    states = States.random(constraints.model, 3, 0)
    nv = constraints.model.nv
    out = [np.zeros((3, rows, nv)) for rows in (nv, nv, nv, 6, 6, 6)]
    call = derivatives_call(peer, constraints, DAMPING, 3)
    peer_timer(call, states.for_peer(peer), *out).timeit(1)
    assert all(np.abs(x).max(axis=(1, 2)).min() > 0.0 for x in out)

"""Constrained dynamics: the same motions and forces as Pinocchio's."""

import numpy as np
import pytest

import delassus as dl
from constrained.mechanisms import ALL_PURPOSE, CONTACTS, HANDS, consistent, random_loops
from trees import random_states, relative

pytest.importorskip("pinocchio")

from delassus.benchmarks.peers.constraints import ConstrainedPeer, proximal_settings
from delassus.benchmarks.peers.pinocchio import PinocchioPeer, load_pair

TOLERANCE = 1e-9
SIMPLE = [
    lambda rng: dl.Revolute(rng.standard_normal(3)),
    lambda rng: dl.Prismatic(rng.standard_normal(3)),
    lambda rng: dl.Revolute(),
    lambda rng: dl.Free(),
]


def in_axes_of_the_world(constraints, q, multipliers):
    """Pinocchio's forces in our axes: those of a Connect are the world's, of a Weld the frame's."""
    result = multipliers.copy()
    for declared, rows in zip(constraints.declared, constraints.slices, strict=True):
        if isinstance(declared, dl.Connect):
            R = dl.forward_kinematics(constraints.model, q, [declared.frame]).rotation[0]
            result[rows] = R @ multipliers[rows]
    return result


def check(constraints, peer, q, v, tau, method):
    theirs, settings = ConstrainedPeer(peer, constraints), proximal_settings(1e-6, 20, 1e-12)
    found = dl.constrained_dynamics(
        constraints.model, q, v, tau, constraints, method=method, tolerance=1e-13
    )
    for i in range(len(q)):
        acceleration, multipliers = theirs.solve(q[i], v[i], tau[i], settings)
        expected = in_axes_of_the_world(constraints, q[i], multipliers)
        assert relative(found.acceleration[i], acceleration) < TOLERANCE
        assert relative(found.multipliers[i], expected) < TOLERANCE


@pytest.mark.parametrize("method", ALL_PURPOSE)
@pytest.mark.parametrize("name", CONTACTS)
def test_robots_in_contact(name, method):
    model, peer = load_pair(name)
    kind, frames = CONTACTS[name]
    constraints = dl.Constraints(model, [kind(frame) for frame in frames])
    check(constraints, peer, *random_states(model, 1, 5), method)


@pytest.mark.parametrize("method", ALL_PURPOSE)
def test_feet_and_hands(method):
    model, peer = load_pair("talos")
    frames = CONTACTS["talos"][1] + HANDS
    constraints = dl.Constraints(model, [dl.Weld(frame) for frame in frames])
    check(constraints, peer, *random_states(model, 2, 5), method)


@pytest.mark.parametrize("method", ALL_PURPOSE)
@pytest.mark.parametrize("kind", [dl.Connect, dl.Weld])
def test_hands_that_hold_each_other(kind, method):
    model, peer = load_pair("talos")
    declared = [dl.Weld("left_sole_link"), kind(HANDS[0], HANDS[1])]
    check(dl.Constraints(model, declared), peer, *random_states(model, 3, 5), method)


@pytest.mark.parametrize("method", ALL_PURPOSE)
@pytest.mark.parametrize("seed", range(8))
def test_loops_in_random_trees(seed, method):
    """Loops across and along branches, the first also welded where that leaves it to move."""
    loops = random_loops(seed, SIMPLE)
    model = loops.model
    peer = PinocchioPeer.from_model(model)
    q, v, tau = random_states(model, seed, 3)
    across, along = loops.declared
    welded = dl.Constraints(model, [dl.Weld(*across.frames), along])
    check(loops, peer, q, v, tau, method)
    if np.all(welded.rank(q) == welded.size):
        check(welded, peer, q, v, tau, method)


@pytest.mark.parametrize("method", ALL_PURPOSE)
@pytest.mark.parametrize("seed", range(4))
def test_loops_that_move_as_they_may(seed, method):
    loops = random_loops(seed, SIMPLE)
    q, v, tau = random_states(loops.model, seed, 3)
    v = np.array([consistent(loops, *state) for state in zip(q, v, strict=True)])
    check(loops, PinocchioPeer.from_model(loops.model), q, v, tau, method)

"""Accelerations and reactions in maximal coordinates are those of the same model's tree."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delassus as dl
from constrained.mechanisms import (
    close,
    consistent,
    four_bar,
    hanging,
    repeated,
    six_bar,
    standing_cassie,
)
from delassus.maximal.system import MaximalSystem
from dense import Textbook, cross_motion, spatial_inertia
from maximal.mechanisms import COUPLINGS, LOOPS, coupled, looped
from trees import TREES, random_states, random_tree, relative

pytestmark = pytest.mark.uncompiled


def forces_on(model, seed):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(model.nv), rng.standard_normal((model.n_bodies, 6))


@settings(max_examples=30)
@given(TREES, st.integers(0, 10**6))
def test_a_tree_accelerates_as_by_forward_dynamics(model, seed):
    q, v, _ = random_states(model, seed)
    tau, external = forces_on(model, seed)
    found = MaximalSystem(model, ()).accelerations(q, v, tau, external)
    expected = dl.forward_dynamics(model, q, v, tau, external)
    assert relative(found.joint_accelerations, expected) < 1e-8


@pytest.mark.parametrize("seed", range(6))
def test_wrenches_across_joints_are_those_of_newton_and_euler(seed):
    """f of a joint is what its subtree's motion takes, less gravity and external forces."""
    model = random_tree(seed, 9)
    q, v, _ = random_states(model, seed)
    tau, external = forces_on(model, seed)
    found = MaximalSystem(model, ()).accelerations(q, v, tau, external)
    textbook, a = Textbook(model, q, v), dl.forward_dynamics(model, q, v, tau, external)
    force, moment = np.zeros((9, 3)), np.zeros((9, 3))  # in world axes, about the world's origin
    for i in reversed(range(9)):
        body, (R, p), V = model.bodies[i], textbook.pose[i], textbook.velocity[i]
        inertia = spatial_inertia(body.inertia)
        gravity = np.concatenate([R.T @ model.gravity, np.zeros(3)])
        rate = textbook.J[i] @ a + textbook.drift[i] - gravity
        own = inertia @ rate - cross_motion(V).T @ inertia @ V - external[i]
        force[i] += R @ own[:3]
        moment[i] += R @ own[3:] + np.cross(p, R @ own[:3])
        scale = np.abs(force).max()
        at_origin = moment[i] - np.cross(p, force[i])
        assert np.allclose(found.wrenches[i, :3], force[i], atol=1e-8 * scale)
        assert np.allclose(found.wrenches[i, 3:], at_origin, atol=1e-8 * scale)
        if body.parent >= 0:
            force[body.parent] += force[i]
            moment[body.parent] += moment[i]


def assert_same_motion(constraints, q, v, seed=0, tolerance=1e-8):
    model = constraints.model
    tau, external = forces_on(model, seed)
    expected = dl.constrained_dynamics(model, q, v, tau, constraints, external, method="dense")
    found = MaximalSystem(model, constraints).accelerations(q, v, tau, external)
    assert relative(found.joint_accelerations, expected.acceleration) < tolerance
    return found, expected


@pytest.mark.parametrize("kind", LOOPS)
def test_loops_of_all_types_give_the_accelerations_of_the_constrained_tree(kind):
    model, q, v = looped(kind)
    assert_same_motion(dl.Constraints(model), q, v)


@pytest.mark.parametrize("kind", COUPLINGS)
def test_couplings_give_the_accelerations_and_reactions_of_the_constrained_tree(kind):
    model, q, v = coupled(COUPLINGS[kind])
    found, expected = assert_same_motion(dl.Constraints(model), q, v)
    count = len(expected.multipliers)
    assert relative(found.reactions[-count:], expected.multipliers) < 1e-8


def test_the_reaction_of_a_loop_is_the_multiplier_of_its_rows():
    model, q, v = looped("connect")
    found, expected = assert_same_motion(dl.Constraints(model), q, v)
    assert relative(found.wrenches[-1, :3], expected.multipliers) < 1e-8


@pytest.mark.parametrize("make", [four_bar, six_bar])
def test_linkages_whose_rows_are_redundant(make):
    model = make()
    constraints = dl.Constraints(model)
    rng = np.random.default_rng(1)
    q = close(constraints, np.array([0.7, -0.4, 1.1, -0.6, 1.2])[: model.nq])
    v = consistent(constraints, q, rng.standard_normal(model.nv))
    assert_same_motion(constraints, q, v)


def test_rows_that_are_said_twice():
    model, q, v = looped("Revolute")
    assert_same_motion(repeated(dl.Constraints(model)), q, v)


def test_bodies_without_mass_are_carried():
    builder = dl.ModelBuilder("light")
    builder.add_body("a", joint=dl.Revolute([0, 1, 0]))  # no mass at all
    builder.add_body("b", "a", dl.Revolute([1, 0, 0]), [0.1, 0, 0], mass=1.0, com=[0.2, 0, 0.1],
                     inertia=np.eye(3) * 0.02)  # fmt: skip
    model = builder.build()
    q, v, tau = random_states(model, 3)
    found = MaximalSystem(model).accelerations(q, v, tau)
    assert relative(found.joint_accelerations, dl.forward_dynamics(model, q, v, tau)) < 1e-8


def test_cassie_whose_loops_are_closed_by_hinges_and_rods():
    """Of its 36 rows 8 follow from others, and two more nearly do."""
    model = dl.robots.load("cassie")
    constraints, q = dl.Constraints(model), model.neutral()
    v = np.random.default_rng(0).standard_normal(model.nv)
    J = constraints.jacobian(q)
    v -= np.linalg.pinv(J, rcond=1e-10) @ (J @ v)
    assert_same_motion(constraints, q, v)


def test_cassie_that_stands_on_lines():
    constraints = standing_cassie()
    q = hanging(constraints.model)
    assert_same_motion(constraints, q, np.zeros(constraints.model.nv))

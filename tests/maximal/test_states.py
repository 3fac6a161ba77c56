"""States of bodies from coordinates of trees, and back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import delassus as dl
from delassus.maximal.system import MaximalSystem
from dense import Textbook
from trees import JOINT_TYPES, TREES, random_states, random_tree

pytestmark = pytest.mark.uncompiled


def wound(model, q, turns):
    """The configuration after joints that turn about an axis have turned several times."""
    angles = np.concatenate([joint.type.angles() for joint in model.joints])
    return np.where(angles, q + 2.0 * np.pi * turns, q)


@settings(max_examples=30)
@given(TREES, st.integers(0, 10**6), st.integers(-9, 9))
def test_coordinates_are_those_that_the_state_was_made_of(model, seed, turns):
    system = MaximalSystem(model, ())
    q, v, _ = random_states(model, seed)
    q = wound(model, q, turns)
    found_q, found_v = system.coordinates(*system.state(q, v), near=q + 0.3)
    assert np.allclose(found_q, q, rtol=0.0, atol=1e-12)
    assert np.allclose(found_v, v, rtol=0.0, atol=1e-12)


@settings(max_examples=20)
@given(TREES, st.integers(0, 10**6))
def test_bodies_are_where_the_textbook_has_them(model, seed):
    q, v, _ = random_states(model, seed)
    poses, twists = MaximalSystem(model, ()).state(q, v)
    textbook = Textbook(model, q, v)
    for i, body in enumerate(model.bodies):
        (R, p), V, c = textbook.pose[i], textbook.velocity[i], body.inertia.center
        assert np.allclose(Rotation.from_quat(poses[i, 3:]).as_matrix(), R, atol=1e-13)
        assert np.allclose(poses[i, :3], p + R @ c, atol=1e-12)
        assert np.allclose(twists[i, :3], R @ (V[:3] + np.cross(V[3:], c)), atol=1e-12)
        assert np.allclose(twists[i, 3:], R @ V[3:], atol=1e-12)


def test_batches_are_states_one_by_one():
    model = random_tree(4, 9)
    system = MaximalSystem(model)
    q, v, _ = random_states(model, 1, 5)
    poses, twists = system.state(q, v)
    assert poses.shape == (5, 9, 7)
    found_q, found_v = system.coordinates(poses, twists, q)
    for k in range(5):
        one = system.state(q[k], v[k])
        assert np.allclose(poses[k], one[0], atol=1e-14)
        assert np.allclose(twists[k], one[1], atol=1e-14)
        alone = system.coordinates(*one, q[k])
        assert np.allclose(found_q[k], alone[0], atol=1e-14)
        assert np.allclose(found_v[k], alone[1], atol=1e-14)


def test_a_joint_that_turns_on_counts_its_turns():
    builder = dl.ModelBuilder("wheel")
    builder.add_body("wheel", joint=dl.Revolute([0.2, -1.0, 0.4]), mass=1.0, inertia=np.eye(3))
    system = MaximalSystem(builder.build())
    angle = np.zeros(1)
    for true in np.arange(0.0, 40.0, 2.5):
        angle, _ = system.coordinates(*system.state([true], [0.0]), near=angle)
        assert abs(angle[0] - true) < 1e-12


def test_without_a_neighbour_angles_are_within_half_a_turn_and_screws_count_their_advance():
    builder = dl.ModelBuilder("two")
    builder.add_body("wheel", joint=dl.Revolute(), mass=1.0, inertia=np.eye(3))
    builder.add_body("screw", joint=dl.Helical(pitch=0.02), mass=1.0, inertia=np.eye(3))
    system = MaximalSystem(builder.build())
    q, _ = system.coordinates(*system.state([1.0 + 6.0 * np.pi, 31.0], [0.0, 0.0]))
    assert np.allclose(q, [1.0, 31.0], atol=1e-10)


@pytest.mark.parametrize("make", JOINT_TYPES)
def test_a_quaternion_stays_on_the_side_of_its_neighbour(make):
    rng = np.random.default_rng(2)
    builder = dl.ModelBuilder("one")
    builder.add_body("body", joint=make(rng), mass=1.0, inertia=np.eye(3))
    model = builder.build()
    system, q = MaximalSystem(model), model.random_configuration(rng)
    if (start := model.joints[0].type.quaternion) is not None:
        q[start : start + 4] *= -np.sign(q[-1])  # w is negative
    found, _ = system.coordinates(*system.state(q, np.zeros(model.nv)), near=q)
    assert np.allclose(found, q, atol=1e-13)

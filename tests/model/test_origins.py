"""Origins of links are where joints' axes meet, so that many links share one."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import delassus as dl
from delassus.model.packed import REVOLUTE, SPHERICAL, pack
from trees import random_tree, relative


def packed(model):
    return pack(model, np.dtype(float))


def shared(model):
    """How many links share the origin of their parent."""
    return int(packed(model).links["shares_origin"].sum())


# Three joints of each hip and of wrists and shoulders, where axes meet to the last digit.
@pytest.mark.parametrize(
    ("name", "count"), [("go1", 4), ("anymal", 4), ("solo12", 4), ("panda", 3), ("cassie", 6)]
)
def test_axes_of_robots_meet(name, count):
    assert shared(dl.robots.load(name)) == count


def crossing(angle, distance=1.0):
    """Two joints whose axes cross at an angle, where the frames are not."""
    axis = np.array([np.sin(angle), 0.0, np.cos(angle)])
    builder = dl.ModelBuilder("crossing")
    builder.add_body("a", "world", dl.Revolute([0, 0, 1]), mass=1.0, inertia=np.eye(3))
    at = [0.0, 0.0, 0.3] + distance * axis
    builder.add_body("b", "a", dl.Revolute(axis), at, mass=1.0, inertia=np.eye(3))
    return builder.build()


def test_axes_that_cross_share_an_origin():
    arrays = packed(crossing(1.0))
    assert arrays.links["shares_origin"][2] == 1
    np.testing.assert_array_equal(arrays.links["position"][2], 0.0)
    np.testing.assert_allclose(arrays.solids["height"][1:], [-0.3, 1.0], atol=1e-15)


@pytest.mark.parametrize("angle", [0.0, 1e-3, 0.1])
def test_origins_stay_near_where_axes_are_nearly_parallel(angle):
    model = dl.ModelBuilder("nearly parallel")
    axis = np.array([np.sin(angle), 0.0, np.cos(angle)])
    model.add_body("a", "world", dl.Revolute([0, 0, 1]), mass=1.0, inertia=np.eye(3))
    model.add_body("b", "a", dl.Revolute(axis), [1.0, 0.0, 0.0], mass=1.0, inertia=np.eye(3))
    arrays = packed(model.build())
    assert arrays.links["shares_origin"].sum() == 0
    assert np.abs(arrays.solids["height"]).max() <= 2.0


def heights_to_try(links):
    """Where each link's axis is at a point of the grid."""
    return [np.arange(-6, 7) * 0.1 if kind == REVOLUTE else [0.0] for kind in links["kind"][1:]]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_no_choice_on_the_grid_shares_more(seed):
    model = random_tree(seed, bodies=3, trees=0.0, is_square=True)
    arrays = packed(model)
    links, own = arrays.links, -arrays.solids["height"]
    parents, R = links["parent"], links["rotation"].reshape(-1, 3, 3)
    # The joints as they were given. Where two turn about one axis, the choice is not the best.
    positions = links["position"] - own[:, None] * R[:, :, 2]
    positions[:, 2] += own[parents]
    is_parallel = (np.abs(R[:, 2, 2]) == 1.0) & (links["kind"] == REVOLUTE)
    is_parallel &= (links["kind"][parents] == REVOLUTE) & (parents > 0)
    assume(not (is_parallel & ~positions[:, :2].any(1)).any())
    pivots = np.isin(links["kind"], (REVOLUTE, SPHERICAL)) & (parents > 0)
    most = 0
    for heights in itertools.product([0.0], *heights_to_try(links)):
        moved = positions + np.array(heights)[:, None] * R[:, :, 2]
        moved[:, 2] -= np.take(heights, parents)
        most = max(most, int(np.sum(pivots & (np.abs(moved).max(1) < 1e-9))))
    assert shared(model) == most


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_bodies_stay_where_they_are(seed):
    model = random_tree(seed, bodies=8, is_square=True)
    q = model.random_configuration(np.random.default_rng(seed))
    placed = dl.forward_kinematics(model, q, [body.name for body in model.bodies])
    arrays = packed(model)
    assert relative(arrays.links["mass"].sum(), model.mass) < 1e-15
    weights = np.array([body.inertia.mass for body in model.bodies])
    centers = [
        R @ body.inertia.center for R, body in zip(placed.rotation, model.bodies, strict=True)
    ]
    expected = weights @ (placed.translation + np.array(centers)) / weights.sum()
    np.testing.assert_allclose(dl.center_of_mass(model, q), expected, atol=1e-12)

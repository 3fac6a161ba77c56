"""Contacts of two shapes: distances, points and normals are those of geometry."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from simulation.collision.scenes import (
    FLAT,
    SIZES,
    moved,
    on_ground,
    pair,
    peer_distance,
    random_pose,
    touches,
)

KINDS = ("sphere", "capsule", "box", "cylinder")
ROUND = ("sphere", "capsule")
PAIRS = list(itertools.product(KINDS, repeat=2))
ONCE = list(itertools.combinations_with_replacement(KINDS, 2))
MARGIN = 0.05
seeds = st.integers(0, 2**32 - 1)


def random_poses(seed):
    rng = np.random.default_rng(seed)
    return np.array([random_pose(rng, 0.0), random_pose(rng, 0.35)])


def surface_distance(kind, x):
    """Signed distance of points (n, 3) in the axes of a shape of the usual size."""
    size = np.array(SIZES[kind])
    if kind == "sphere":
        return np.linalg.norm(x, axis=-1) - size[0]
    if kind == "capsule":
        along = np.clip(x[..., 2], -0.5 * size[1], 0.5 * size[1])
        return np.linalg.norm(x - along[..., None] * [0.0, 0.0, 1.0], axis=-1) - size[0]
    if kind == "box":
        q = np.abs(x) - 0.5 * size
    else:
        rho = np.hypot(x[..., 0], x[..., 1])
        q = np.stack([rho - size[0], np.abs(x[..., 2]) - 0.5 * size[1]], axis=-1)
    return np.linalg.norm(np.maximum(q, 0.0), axis=-1) + np.minimum(q.max(axis=-1), 0.0)


def on_body(pose, x):
    return Rotation.from_quat(pose[3:]).inv().apply(np.asarray(x) - pose[:3])


def sphere_points(n):
    """n^2 unit vectors, evenly spread."""
    k = np.arange(n * n) + 0.5
    polar, turn = np.arccos(1.0 - 2.0 * k / n**2), np.pi * (1.0 + 5.0**0.5) * k
    return np.stack(
        [np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar), np.cos(polar)], axis=1
    )


def surface(kind, n=150):
    """Points all over the surface of a shape, (m, 3), from rays in all directions."""
    rays = sphere_points(n)
    low, high = np.zeros(len(rays)), np.ones(len(rays))
    for _ in range(40):
        middle = 0.5 * (low + high)
        is_out = surface_distance(kind, middle[:, None] * rays) > 0.0
        low, high = np.where(is_out, low, middle), np.where(is_out, middle, high)
    return high[:, None] * rays


# --- distance -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), [p for p in ONCE if p[0] in ROUND])
def test_shapes_are_as_far_apart_as_points_all_over_their_surfaces(first, second):
    """The distance of sampled points is at most a spacing of points too large."""
    points, rng, tested = surface(first), np.random.default_rng(7), 0
    while tested < 10:
        poses = np.array([random_pose(rng, 0.0), random_pose(rng, 0.35)])
        x = Rotation.from_quat(poses[0, 3:]).apply(points) + poses[0, :3]
        sampled = surface_distance(second, on_body(poses[1], x)).min()
        if 0.002 < sampled < 0.9 * MARGIN:
            tested += 1
            distance = min(t.distance for t in touches(pair(first, second), poses, MARGIN))
            assert sampled - 0.001 < distance < sampled + 1e-9


def reach(kind, pose, directions):
    """How far a box or cylinder extends from its centre along directions (n, 3)."""
    size, x = np.array(SIZES[kind]), Rotation.from_quat(pose[3:]).inv().apply(directions)
    if kind == "box":
        return np.abs(x) @ (0.5 * size)
    return 0.5 * size[1] * np.abs(x[:, 2]) + size[0] * np.hypot(x[:, 0], x[:, 1])


@pytest.mark.parametrize(("first", "second"), [p for p in ONCE if p[0] not in ROUND])
def test_solids_overlap_by_the_least_shift_that_would_separate_them(first, second):
    directions, rng, errors = sphere_points(300), np.random.default_rng(9), []
    while len(errors) < 50:
        poses = np.array([random_pose(rng, 0.0), random_pose(rng, 0.35)])
        apart = np.abs(directions @ (poses[1, :3] - poses[0, :3]))
        reaches = reach(first, poses[0], directions) + reach(second, poses[1], directions)
        sampled = (reaches - apart).min()
        if 0.0 < sampled < 0.1:
            depth = -min(t.distance for t in touches(pair(first, second), poses, MARGIN))
            errors.append(sampled - depth)
    assert min(errors) > -1e-4  # by so much faces are preferred
    assert np.quantile(errors, 0.9) < 0.003
    assert max(errors) < (0.003 if second == "box" else 0.02)


@pytest.mark.parametrize(("first", "second"), ONCE)
def test_distances_are_those_of_mujoco(first, second):
    rng, errors = np.random.default_rng(3), []
    is_core = first == "capsule" and second in ("box", "cylinder")
    for _ in range(200):
        poses = np.array([random_pose(rng, 0.0), random_pose(rng, 0.35)])
        expected = peer_distance(first, second, poses)
        found = touches(pair(first, second), poses, MARGIN)
        # MuJoCo takes the least of a few points where the inside of a capsule meets a solid.
        if expected < 0.0 and not (is_core and min(t.distance for t in found) < -0.08):
            errors.append(abs(min(t.distance for t in found) - expected))
    assert len(errors) > 20
    # Where the deepest point of a side is beside the face of a box, others stand for it.
    assert np.quantile(errors, 0.95) < 1e-6
    assert max(errors) < (0.01 if "cylinder" in (first, second) else 1e-6)


@pytest.mark.parametrize("kind", SIZES)
def test_the_ground_is_as_far_away_as_the_lowest_point_of_a_shape(kind):
    points, rng = None if kind == "ellipsoid" else surface(kind), np.random.default_rng(5)
    for _ in range(20):
        pose = random_pose(rng)
        R, size = Rotation.from_quat(pose[3:]).as_matrix(), np.array(SIZES[kind])
        found = touches(on_ground(kind), [pose], margin=10.0)
        distance = min(t.distance for t in found)
        if kind == "ellipsoid":
            assert distance == pytest.approx(pose[2] - np.linalg.norm(R[2] * size), abs=1e-12)
            continue
        assert distance <= (points @ R[2]).min() + pose[2] + 1e-12
        assert distance > (points @ R[2]).min() + pose[2] - 0.01
        for t in found:
            low = t.point + 0.5 * t.distance * t.normal
            outside = surface_distance(kind, on_body(pose, low))
            assert outside < 1e-9  # the upper end of a capsule may be inside of it
            if t.distance == distance:
                assert outside == pytest.approx(0.0, abs=1e-9)


# --- normals and points ---------------------------------------------------------------------------


def from_surfaces(kinds, poses, t):
    """How far outside of either shape a contact's ends are, half its distance from its point."""
    ends = t.point - 0.5 * t.distance * t.normal, t.point + 0.5 * t.distance * t.normal
    return [
        surface_distance(kinds[body - 1], on_body(poses[body - 1], end))
        for body, end in zip((t.a, t.b), ends, strict=True)
    ]


@pytest.mark.parametrize(("first", "second"), PAIRS)
@given(seed=seeds)
@settings(max_examples=30)
def test_normals_point_from_a_to_b_and_points_are_near_both_surfaces(first, second, seed):
    poses = random_poses(seed)
    for t in touches(pair(first, second), poses, MARGIN):
        assert {t.a, t.b} == {1, 2}
        assert np.linalg.norm(t.normal) == pytest.approx(1.0, abs=1e-9)
        outside = from_surfaces((first, second), poses, t)
        # The end of a side may be beside the face that it is beneath, and corners of shapes that
        # are apart are not quite nearest to each other.
        assert max(outside) < 5e-3 + 0.3 * abs(t.distance)
        if abs(t.distance) < 0.02:
            assert min(outside) > -0.1


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_points_are_on_both_surfaces_but_for_a_few(first, second):
    kinds, outside = (first, second), []
    for seed in range(500):
        poses = random_poses(seed)
        found = touches(pair(first, second), poses, MARGIN)
        outside += [max(from_surfaces(kinds, poses, t)) for t in found]
    assert len(outside) > 100
    assert np.quantile(outside, 0.98) < 1e-5


def test_the_end_of_a_side_beside_a_cap_that_it_is_beneath():
    poses = random_poses(20968249)
    (t,) = touches(pair("cylinder", "cylinder"), poses, MARGIN)
    assert t.distance == pytest.approx(peer_distance("cylinder", "cylinder", poses), abs=1e-5)
    assert max(from_surfaces(("cylinder", "cylinder"), poses, t)) < 1e-3


@pytest.mark.parametrize(("first", "second"), PAIRS)
@given(seed=seeds)
@settings(max_examples=30)
def test_moving_both_shapes_moves_their_contacts(first, second, seed):
    poses, rng = random_poses(seed), np.random.default_rng(seed)
    shift, turn = rng.uniform(-1.0, 1.0, 3), Rotation.random(random_state=rng)
    before = touches(pair(first, second), poses, MARGIN)
    after = {t.id: t for t in touches(pair(first, second), moved(poses, shift, turn), MARGIN)}
    for t in before:
        if abs(t.distance - MARGIN) > 1e-6 and t.id in after:
            other = after[t.id]
            assert other.distance == pytest.approx(t.distance, abs=1e-6)
            np.testing.assert_allclose(other.normal, turn.apply(t.normal), atol=1e-5)
            np.testing.assert_allclose(other.point, turn.apply(t.point) + shift, atol=1e-4)
    near = [t for t in before if t.distance < 0.9 * MARGIN]
    assert sum(t.id in after for t in near) == len(near)


@pytest.mark.parametrize(("first", "second"), PAIRS)
@given(seed=seeds)
@settings(max_examples=30)
def test_swapping_shapes_turns_normals_around(first, second, seed):
    poses = random_poses(seed)
    one, other = pair(first, second), pair(second, first)
    before, after = touches(one, poses, MARGIN), touches(other, poses[::-1], MARGIN)
    if first != second:
        assert [t.id for t in before] == [t.id for t in after]
    for t, s in zip(before, after, strict=False):
        if first != second:  # the order is that of kinds
            assert (t.a, t.b) == (3 - s.a, 3 - s.b)
            np.testing.assert_allclose(t.normal, s.normal, atol=1e-12)
    if before and after and first == second != "box":
        deepest = [min(found, key=lambda t: t.distance) for found in (before, after)]
        assert deepest[0].distance == pytest.approx(deepest[1].distance, abs=1e-4)


def test_balls_touch_midway():
    (t,) = touches(pair("sphere", "sphere"), [[0, 0, 0, *FLAT], [0.3, 0, 0, *FLAT]], 0.1)
    assert (t.a, t.b) == (1, 2)
    assert t.distance == pytest.approx(0.3 - 0.26)
    np.testing.assert_allclose(t.point, [0.15, 0.0, 0.0])
    np.testing.assert_allclose(t.normal, [1.0, 0.0, 0.0])


def test_shapes_of_one_centre_have_a_normal_too():
    for first, second in PAIRS:
        for t in touches(pair(first, second), [[0, 0, 0, *FLAT], [0, 0, 0, *FLAT]]):
            assert np.isfinite(t.point).all()
            assert np.linalg.norm(t.normal) == pytest.approx(1.0)
            assert t.distance < 0.0


@pytest.mark.parametrize("second", ["box", "cylinder"])
def test_ends_of_a_capsule_that_pierces_a_solid_do_not_push_against_each_other(second):
    rng = np.random.default_rng(0)
    for _ in range(50):
        poses = [random_pose(rng, 0.02), random_pose(rng, 0.02)]
        found = touches(pair("capsule", second), poses)
        assert 1 <= len(found) <= 2
        for t in found:
            np.testing.assert_allclose(t.normal, found[0].normal, atol=1e-12)


def test_a_pose_that_is_no_number_has_no_contacts():
    for first, second in PAIRS:
        for bad in (np.nan, np.inf):
            for at in (0, 4):
                poses = np.array([[0, 0, 0, *FLAT], [0, 0, 0, *FLAT]], float)
                poses[1, at] = bad
                for t in touches(pair(first, second), poses):
                    assert not np.isfinite(t.distance) or np.isfinite(t.point).all()


def test_parallel_capsules_touch_at_both_ends_of_where_they_meet():
    poses = [[0, 0, 0, *FLAT], [0.165, 0, 0.1, *FLAT]]
    found = touches(pair("capsule", "capsule"), poses)
    assert sorted(t.point[2] for t in found) == pytest.approx([-0.15, 0.25])
    assert [t.distance for t in found] == pytest.approx([0.005, 0.005])


def test_a_capsule_lies_on_a_box_at_both_ends_of_the_face():
    lying = Rotation.from_euler("y", 90, degrees=True).as_quat()
    poses = [[0, 0, 0.18, *lying], [0, 0, 0, *FLAT]]
    found = touches(pair("capsule", "box"), poses)
    level = [t for t in found if t.distance < 1e-6]
    assert sorted(t.point[0] for t in level) == pytest.approx([-0.15, 0.15], abs=1e-4)
    across = Rotation.from_euler("x", 90, degrees=True).as_quat()
    found = touches(pair("capsule", "box"), [[0, 0, 0.18, *across], [0, 0, 0, *FLAT]])
    assert sorted(t.point[1] for t in found) == pytest.approx([-0.25, 0.25], abs=1e-6)

"""Shapes that rest: which points touch, and that they stay the same while a shape slides."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from simulation.collision.scenes import FLAT, SIZES, on_ground, pair, touches

pytestmark = pytest.mark.uncompiled


def upright(x, y, z, yaw=0.0, roll=0.0):
    return [x, y, z, *Rotation.from_euler("xz", [roll, yaw]).as_quat()]


def lying(x, y, z, yaw=0.0):
    return [x, y, z, *Rotation.from_euler("xz", [0.5 * np.pi, yaw]).as_quat()]


def test_a_box_on_the_ground_keeps_its_four_corners_while_it_slides_and_turns():
    half, geometry, before = 0.5 * np.array(SIZES["box"]), on_ground("box"), None
    for k in range(50):
        pose = upright(0.1 * k, -0.05 * k, 0.1 - 1e-5, yaw=0.2 * k)
        found = touches(geometry, [pose])
        corners = {
            t.id: Rotation.from_quat(pose[3:]).inv().apply(t.point - pose[:3])[:2] for t in found
        }
        assert len(corners) == 4
        for t in found:
            assert (t.a, t.b) == (0, 1)
            assert t.distance == pytest.approx(-1e-5)
            np.testing.assert_allclose(t.normal, [0.0, 0.0, 1.0])
        for corner in corners.values():
            np.testing.assert_allclose(np.abs(corner), half[:2], atol=1e-12)
        if before is not None:
            assert corners.keys() == before.keys()
            for id in corners:
                np.testing.assert_allclose(corners[id], before[id], atol=1e-12)
        before = corners


def test_a_box_on_a_box_touches_at_the_corners_of_the_overlap():
    for shift in ([0.0, 0.0], [0.1, 0.2], [-0.05, 0.3]):
        found = touches(pair("box", "box"), [[0, 0, 0, *FLAT], [*shift, 0.2 - 1e-4, *FLAT]])
        half = np.array([0.15, 0.25])
        low, high = np.maximum(-half, shift - half), np.minimum(half, shift + half)
        expected = {(x, y) for x in (low[0], high[0]) for y in (low[1], high[1])}
        assert len(found) == 4
        for t in found:
            assert min(np.hypot(*(t.point[:2] - e)) for e in expected) < 1e-5
            assert t.distance == pytest.approx(-1e-4)
            np.testing.assert_allclose(t.normal, [0.0, 0.0, 1.0])


def test_a_box_that_is_turned_on_another_touches_at_up_to_eight_corners():
    poses = [[0, 0, 0, *FLAT], upright(0, 0, 0.2 - 1e-4, yaw=0.4)]
    found = touches(pair("box", "box"), poses)
    assert 4 < len(found) <= 8
    turn = Rotation.from_quat(poses[1][3:])
    for t in found:
        for x in (t.point, turn.inv().apply(t.point)):
            assert (np.abs(x[:2]) < [0.15 + 1e-5, 0.25 + 1e-5]).all()


def test_a_pair_has_eight_points_at_most_which_stay_and_bear_all_around():
    kept = None
    for k in range(20):
        tilt = Rotation.from_rotvec([1e-7 * (-1) ** k, 1e-7, 0.0]).as_quat()
        found = touches(pair("cylinder", "cylinder"), [[0, 0, 0, *FLAT], [0.01, 0, 0.4, *tilt]])
        assert 6 <= len(found) <= 8
        angles = np.sort([np.arctan2(*t.point[:2]) for t in found])
        assert np.diff([*angles, angles[0] + 2 * np.pi]).max() < 0.4 * np.pi
        ids = [t.id for t in found]
        assert kept is None or ids == kept
        kept = ids


def test_ids_of_a_stack_stay_while_it_tilts_a_little():
    rng, kept = np.random.default_rng(0), None
    for _ in range(50):
        tilt = Rotation.from_rotvec(1e-5 * rng.standard_normal(3)).as_quat()
        shift = 1e-5 * rng.standard_normal(2)
        poses = [[0, 0, 0, *FLAT], [0.05 + shift[0], 0.03 + shift[1], 0.2, *tilt]]
        ids = [t.id for t in touches(pair("box", "box"), poses)]
        assert kept is None or ids == kept
        kept = ids


def test_crossed_edges_of_boxes_touch_at_one_point():
    one = Rotation.from_euler("x", 45, degrees=True)
    other = Rotation.from_euler("y", 45, degrees=True)
    size = ("box", (0.2, 0.2, 0.2))
    away = 0.2 * np.sqrt(2.0) - 1e-3
    poses = [[0, 0, 0, *one.as_quat()], [0, 0, away, *other.as_quat()]]
    (t,) = touches(pair(size, size), poses)
    assert t.distance == pytest.approx(-1e-3)
    np.testing.assert_allclose(t.normal, [0.0, 0.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(t.point, [0.0, 0.0, 0.5 * away], atol=1e-9)


def test_a_cylinder_stands_on_four_points_and_lies_on_two():
    geometry = on_ground("cylinder")
    standing = touches(geometry, [upright(0.3, 0.2, 0.2)])
    assert len(standing) == 4
    for t in standing:
        assert np.hypot(*(t.point[:2] - [0.3, 0.2])) == pytest.approx(0.15)
    found = touches(geometry, [lying(0, 0, 0.15)])
    assert sorted(t.point[1] for t in found) == pytest.approx([-0.2, 0.2])
    tilted = touches(geometry, [upright(0, 0, 0.0, roll=0.5)], margin=10.0)
    lowest = min(t.distance for t in tilted)
    assert lowest == pytest.approx(-0.2 * np.cos(0.5) - 0.15 * np.sin(0.5))


def test_points_of_a_rolling_cylinder_stay_below_it():
    geometry = on_ground("cylinder")
    for k in range(50):
        roll = Rotation.from_quat(lying(0, 0, 0)[3:]) * Rotation.from_euler("z", 0.1 * k)
        found = touches(geometry, [[0.015 * k, 0, 0.15, *roll.as_quat()]])
        assert len(found) == 2
        for t in found:
            assert t.point[0] == pytest.approx(0.015 * k)
            assert t.distance == pytest.approx(0.0, abs=1e-12)


def test_a_cylinder_on_a_box_stands_on_its_rim_and_lies_on_its_side():
    poses = [[0, 0, 0, *FLAT], [0.02, 0.03, 0.3, *FLAT]]
    found = touches(pair(("box", (1.0, 1.0, 0.2)), "cylinder"), poses)
    assert len(found) == 6
    for t in found:
        np.testing.assert_allclose(t.normal, [0.0, 0.0, 1.0], atol=1e-9)
        assert np.hypot(*(t.point[:2] - [0.02, 0.03])) == pytest.approx(0.15)
    found = touches(pair("box", "cylinder"), [[0, 0, 0, *FLAT], lying(0, 0, 0.25)])
    assert sorted(t.point[1] for t in found) == pytest.approx([-0.2, 0.2])
    assert [t.distance for t in found] == pytest.approx([0.0, 0.0], abs=1e-9)


def test_a_wheel_touches_the_edge_of_a_step():
    wheel = lying(0.0, 0.0, 0.0)
    turn = Rotation.from_euler("y", 30, degrees=True)
    at = turn.apply([0.15 + 1e-3, 0.0, 0.0])  # from the axis to the edge
    step = ("box", (0.2, 1.0, 0.2))
    pose = [at[0] + 0.1, at[1], at[2] - 0.1, *FLAT]
    found = touches(pair(step, "cylinder"), [pose, wheel])
    assert len(found) == 2
    for t in found:
        assert t.distance == pytest.approx(1e-3, abs=1e-7)
        np.testing.assert_allclose(t.normal, -turn.apply([1.0, 0.0, 0.0]), atol=1e-5)


def test_cylinders_stack_and_lie_side_by_side():
    found = touches(pair("cylinder", "cylinder"), [[0, 0, 0, *FLAT], [0.05, 0, 0.4, *FLAT]])
    assert 6 <= len(found) <= 8
    for t in found:
        assert t.distance == pytest.approx(0.0, abs=1e-9)
        for middle in ([0.0, 0.0], [0.05, 0.0]):
            assert np.hypot(*(t.point[:2] - middle)) < 0.15 * (1.0 + 2e-5)
    found = touches(pair("cylinder", "cylinder"), [lying(0, 0, 0), lying(0.3, 0.1, 0)])
    assert sorted(t.point[1] for t in found) == pytest.approx([-0.1, 0.2])
    for t in found:
        np.testing.assert_allclose(t.normal, [1.0, 0.0, 0.0], atol=1e-6)


def test_a_ball_that_rolls_over_an_edge_has_a_normal_that_turns_slowly():
    before = None
    for x in np.linspace(0.0, 0.25, 200):
        height = 0.1 + np.sqrt(0.13**2 - max(0.0, x - 0.15) ** 2)
        (t,) = touches(pair("sphere", "box"), [[x, 0, height, *FLAT], [0, 0, 0, *FLAT]])
        assert t.distance == pytest.approx(0.0, abs=1e-12)
        assert before is None or np.linalg.norm(t.normal - before) < 0.02
        before = t.normal

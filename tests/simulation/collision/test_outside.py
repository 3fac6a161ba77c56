"""Contacts that coal finds: meshes among each other and with other shapes, ellipsoids."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import delassus as dl
from delassus.maximal.rows.contacts import CONTACT
from delassus.simulation.collision.geometry import Geometry
from delassus.simulation.collision.outside import OUTSIDE, Outside, moved
from delassus.simulation.motion import move_poses
from simulation.collision.scenes import (
    FLAT,
    SIZES,
    bodies,
    pair,
    peer_distance,
    random_pose,
    touches,
)
from simulation.collision.test_hulls import CUBE, write_mesh

pytestmark = pytest.mark.uncompiled
pytest.importorskip("coal")


def two(tmp_path, other):
    """A mesh, which is a box of the usual size, and another shape: a kind, or "mesh" again."""
    mesh = write_mesh(tmp_path / "cube.obj", CUBE)
    b = dl.ModelBuilder("two")
    for k, kind in enumerate(("mesh", other)):
        b.add_body(f"body {k}", joint=dl.Free(), mass=1.0, inertia=0.02 * np.eye(3))
        own = {"size": (1, 1, 1), "mesh": mesh} if kind == "mesh" else {"size": SIZES[kind]}
        b.add_shape(dl.Shape(f"shape {k}", f"body {k}", "collision", kind, **own))
    return b.build()


def outside(geometry, poses, margin=0.05):
    """Contacts from outside: distances, points and normals."""
    found = Outside(geometry).contacts(np.array(poses), margin)
    assert (np.diff(found[:, OUTSIDE.id]) > 0).all()
    records = found[:, OUTSIDE.contact :]
    frames = records[:, CONTACT.frame : CONTACT.distance].reshape(-1, 3, 3)
    points = records[:, CONTACT.point : CONTACT.frame]
    return records[:, CONTACT.distance], points, frames[:, :, 2]


@pytest.mark.parametrize("other", ["sphere", "capsule", "box", "cylinder", "mesh"])
def test_a_mesh_is_as_far_from_others_as_the_box_that_it_is(tmp_path, other):
    geometry, rng, count = Geometry(two(tmp_path, other), meshes="all"), np.random.default_rng(0), 0
    kinds = ("box", "box" if other == "mesh" else other)
    for _ in range(300):
        poses = [random_pose(rng, 0.0), random_pose(rng, 0.4)]
        distance = peer_distance(*kinds, poses)
        found, _, _ = outside(geometry, poses)
        assert (len(found) > 0) == (distance <= 0.05)
        if 0.0 < distance <= 0.05:
            count += 1
            assert found.min() == pytest.approx(distance, abs=2e-6)
    assert count > 5


def test_ellipsoids_that_are_balls_touch_as_balls_do():
    ball = ("ellipsoid", (0.13, 0.13, 0.13))
    geometry, rng = Geometry(bodies(ball, ball)), np.random.default_rng(1)
    for gap in np.linspace(-2e-3, 8e-3, 60):
        poses = np.array([random_pose(rng, 0.0), random_pose(rng)])
        poses[1, :3] *= (0.26 + gap) / np.linalg.norm(poses[1, :3])
        found, points, normals = outside(geometry, poses, 0.01)
        (t,) = touches(pair("sphere", "sphere"), poses)
        assert found == pytest.approx([t.distance], abs=5e-6)
        np.testing.assert_allclose(normals[0], t.normal, atol=5e-3)
        np.testing.assert_allclose(points[0], t.point, atol=1e-3)


def test_a_tilted_cube_on_a_cube_has_corners_at_heights_of_their_own(tmp_path):
    tilt = Rotation.from_euler("x", 1e-4)
    poses = [[0, 0, 0, *FLAT], [0, 0, 0.2, *tilt.as_quat()]]
    found, points, normals = outside(Geometry(two(tmp_path, "mesh"), meshes="all"), poses)
    assert len(found) == 4
    np.testing.assert_allclose(found, 1e-4 * points[:, 1], atol=1e-7)
    np.testing.assert_allclose(normals, np.tile([0, 0, 1], (4, 1)), atol=2e-4)


def test_ids_of_a_cube_on_a_cube_stay_while_it_trembles_and_both_turn(tmp_path):
    geometry, rng, kept = (
        Geometry(two(tmp_path, "mesh"), meshes="all"),
        np.random.default_rng(0),
        None,
    )
    finder = Outside(geometry)
    for k in range(40):
        yaw, tilt = Rotation.from_euler("z", 0.3 * k), 1e-7 * rng.standard_normal(3)
        turn = (Rotation.from_rotvec(tilt) * yaw).as_quat()
        at = yaw.apply([0.05, 0.03, 0.2])
        poses = [[0, 0, 0, *yaw.as_quat()], [*at, *turn]]
        ids = finder.contacts(np.array(poses), 2e-3)[:, OUTSIDE.id].tolist()
        assert len(ids) == 4
        assert kept is None or ids == kept
        kept = ids


def test_poses_move_as_in_the_kernel():
    rng = np.random.default_rng(0)
    poses = np.array([random_pose(rng) for _ in range(5)])
    twists = rng.standard_normal((5, 6))
    twists[0] = 0.0
    expected = poses.ravel().copy()
    move_poses(5, expected, twists.ravel(), 0.3)
    np.testing.assert_allclose(moved(poses, twists, 0.3).ravel(), expected, atol=1e-14)


def stacked(tmp_path, **options):
    model = two(tmp_path, "mesh")
    sim, q = dl.Simulator(model, meshes="all", **options), model.neutral()
    q[[2, 7, 8, 9]] = 0.1, 0.02, 0.03, 0.3005
    sim.reset(q)
    return sim


def test_a_stack_of_meshes_comes_to_rest(tmp_path):
    sim = stacked(tmp_path)
    sim.rollout(60)
    found = sim.contacts
    between = found[found["first"] == "body 0"]
    assert between["force"][:, 2].sum() == pytest.approx(9.81, abs=1e-2)
    assert sim.q[9] == pytest.approx(0.3, abs=1e-5)


def test_slots_grow_and_a_rollout_from_a_state_comes_out_the_same(tmp_path):
    sim = stacked(tmp_path, contact_slots=2, worlds=2)
    sim.rollout(3)
    assert sim.system.contact_slots == 8
    kept = sim.state()
    first = sim.rollout(5).q
    sim.set_state(kept)
    for _ in range(5):
        sim.step()
    assert np.array_equal(sim.q, first[:, -1])
    np.testing.assert_array_equal(first[0], first[1])


def test_meshes_touch_planes_only_if_nothing_more_is_asked_for(tmp_path):
    with pytest.warns(UserWarning, match="these meshes touch planes only: shape 0, shape 1; "):
        sim = dl.Simulator(two(tmp_path, "mesh"))
    assert sim._worlds.geometry.outside == ()
    assert len(sim._worlds.geometry.pairs) == 2
    with pytest.raises(dl.DelassusError, match="meshes"):
        dl.Simulator(two(tmp_path, "mesh"), meshes="some")

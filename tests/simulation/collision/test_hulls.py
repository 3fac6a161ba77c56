"""Meshes as convex hulls on planes: as far as the shape they are made of, on points that stay."""

import itertools

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import delassus as dl
from delassus.simulation.collision import geometry, shapes
from delassus.simulation.collision.geometry import Geometry
from delassus.simulation.collision.shapes import ground_plane
from simulation.collision.scenes import touches

pytestmark = pytest.mark.uncompiled
pytest.importorskip("coal")

CUBE = np.array(list(itertools.product((-0.15, 0.15), (-0.25, 0.25), (-0.1, 0.1))))


def write_mesh(path, points):
    """An .obj file with points and the triangles of their hull."""
    lines = ["v " + " ".join(map(str, p)) for p in points]
    try:
        triangles = ConvexHull(points).simplices
    except Exception:  # flat, or not finite
        triangles = [[k, k + 1, k + 2] for k in range(len(points) - 2)]
    lines += ["f " + " ".join(str(k + 1) for k in t) for t in triangles]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def body_of(mesh, at=(0.0, 0.0, 0.0), scale=(1.0, 1.0, 1.0)):
    b = dl.ModelBuilder("body")
    b.add_body("body", joint=dl.Free(), mass=1.0, inertia=0.02 * np.eye(3))
    b.add_shape(dl.Shape("mesh", "body", "collision", "mesh", at, scale, mesh))
    return b.build()


def on_ground(*given, **more):
    return Geometry(body_of(*given, **more), [ground_plane()])


def test_a_cube_stands_on_its_four_corners(tmp_path):
    inside = 0.3 * CUBE  # not part of the hull
    geometry = on_ground(write_mesh(tmp_path / "cube.obj", np.concatenate([CUBE, inside])))
    assert len(geometry.shapes[1].vertices) == 8
    kept = None
    for k in range(20):
        turn = Rotation.from_euler("z", 0.3 * k)
        found = touches(geometry, [[0.1 * k, 0, 0.1 - 1e-5, *turn.as_quat()]])
        local = turn.inv().apply([t.point - [0.1 * k, 0, 0] for t in found])
        assert len(found) == 4
        np.testing.assert_allclose(np.abs(local[:, :2]), np.tile([0.15, 0.25], (4, 1)), atol=1e-7)
        assert [t.distance for t in found] == pytest.approx(
            [-1e-5] * 4, abs=1e-8
        )  # single precision
        assert kept is None or [t.id for t in found] == kept
        kept = [t.id for t in found]


def test_the_lowest_corner_counts_however_a_hull_is_turned(tmp_path):
    rng = np.random.default_rng(0)
    points = rng.standard_normal((200, 3))
    points *= 0.2 / np.linalg.norm(points, axis=1)[:, None]
    at, scale = np.array([0.3, -0.1, 0.2]), (1.0, 0.5, -2.0)
    geometry = on_ground(write_mesh(tmp_path / "round.obj", points), at=at, scale=scale)
    for _ in range(50):
        turn = Rotation.random(random_state=rng)
        heights = turn.apply(points * scale + at)[:, 2]
        found = touches(geometry, [[0, 0, 1e-3 - heights.min(), *turn.as_quat()]])
        assert min(t.distance for t in found) == pytest.approx(1e-3, abs=3e-5)
        assert len(found) <= 9


def test_a_sole_of_many_corners_keeps_its_points_while_it_trembles(tmp_path):
    angles = np.linspace(0.0, 2 * np.pi, 60, endpoint=False)
    sole = np.stack([0.1 * np.cos(angles), 0.05 * np.sin(angles), 0.0 * angles], axis=1)
    geometry = on_ground(write_mesh(tmp_path / "sole.obj", [*sole, *(sole * 0.5 + [0, 0, 0.1])]))
    rng, kept = np.random.default_rng(0), None
    for _ in range(50):
        tilt = Rotation.from_rotvec(1e-7 * rng.standard_normal(3)).as_quat()
        ids = [t.id for t in touches(geometry, [[0, 0, 0, *tilt]])]
        assert len(ids) == 8
        assert kept is None or ids == kept
        kept = ids


def test_a_cube_of_a_mesh_comes_to_rest_as_one_that_is_a_box(tmp_path):
    model = body_of(write_mesh(tmp_path / "cube.obj", CUBE))
    sim = dl.Simulator(model)
    q = model.neutral()
    q[2] = 0.101
    sim.reset(q)
    sim.rollout(60)
    assert sim.q[2] == pytest.approx(0.1, abs=2e-6)
    assert sim.contacts["force"][:, 2].sum() == pytest.approx(9.81, abs=1e-3)


def test_wrong_meshes_are_named(tmp_path):
    with pytest.raises(
        dl.MissingFileError, match=r"'mesh' on 'body': there is no mesh file .*no.stl"
    ):
        on_ground(str(tmp_path / "no.stl"))
    (tmp_path / "text.stl").write_text("nothing")
    with pytest.raises(dl.ModelError, match=r"'mesh' on 'body': mesh .*text.stl cannot be read"):
        on_ground(str(tmp_path / "text.stl"))
    flat = write_mesh(tmp_path / "flat.obj", CUBE[::2])
    with pytest.raises(dl.ModelError, match=r"'mesh' on 'body': mesh .*flat.obj has no thickness"):
        on_ground(flat)
    with pytest.raises(dl.ModelError, match="has no thickness"):
        on_ground(write_mesh(tmp_path / "cube.obj", CUBE), scale=(1.0, 0.0, 1.0))
    lost = CUBE.copy()
    lost[0, 0] = np.nan
    with pytest.raises(dl.ModelError, match=r"'mesh' on 'body': mesh .*lost.obj"):
        on_ground(write_mesh(tmp_path / "lost.obj", lost))


def test_without_coal_meshes_are_named(tmp_path, monkeypatch):
    model = body_of(write_mesh(tmp_path / "cube.obj", CUBE))
    assert Geometry(model, meshes="none").shapes == ()
    for place in (shapes, geometry):
        monkeypatch.setattr(place, "can_read", lambda: False)
    with pytest.warns(UserWarning, match=r"without coal \(pip install .*\): mesh"):
        dl.Simulator(model)

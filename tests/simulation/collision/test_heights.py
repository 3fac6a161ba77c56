"""Surfaces of triangles: height fields, and meshes as they are."""

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import delassus as dl
from delassus.model.parts.elements import height_points
from delassus.simulation.collision import geometry, shapes
from delassus.simulation.collision.geometry import Geometry
from delassus.simulation.collision.outside import OUTSIDE, Outside
from delassus.simulation.collision.triangles import Triangles
from delassus.viewer.scene import Scene
from simulation.cases.solids import GRAVITY
from simulation.collision.scenes import FLAT, SIZES, random_pose
from simulation.collision.test_hulls import CUBE, write_mesh
from simulation.collision.test_outside import outside

pytest.importorskip("coal")

RESTING = {"sphere": 0.13, "capsule": 0.08, "box": 0.1, "cylinder": 0.2, "mesh": 0.1}
LYING = Rotation.from_euler("y", 0.5 * np.pi).as_quat()


def scene(ground, kind="sphere", mesh=None, size=None):
    """A model of one free body and a shape of the world."""
    b = dl.ModelBuilder("scene")
    b.add_shape(ground)
    b.add_body("body", joint=dl.Free(), mass=1.0, inertia=0.01 * np.eye(3))
    size = (1, 1, 1) if kind == "mesh" else SIZES[kind] if size is None else size
    b.add_shape(dl.Shape("shape", "body", "collision", kind, None, size, mesh))
    return b.build()


def field(heights, edges=(4.0, 4.0), at=None, **surface):
    own = dl.Surface(**surface)
    return dl.Shape(
        "field", "world", "collision", "heightfield", at, edges, heights=heights, surface=own
    )


def waves(n=41, edge=2.0):
    x, y = np.meshgrid(*[np.linspace(-0.5 * edge, 0.5 * edge, n)] * 2)
    return 0.1 * np.sin(4 * x) * np.cos(3 * y)


def started(model, position, quaternion=FLAT, **options):
    sim, q = dl.Simulator(model, **options), model.neutral()
    q[:3], q[3:7] = position, quaternion
    sim.reset(q)
    return sim


@pytest.mark.parametrize("points", [2, 21])
@pytest.mark.parametrize("kind", RESTING)
def test_what_rests_on_a_flat_field_is_as_high_as_on_a_plane(tmp_path, kind, points):
    mesh = write_mesh(tmp_path / "cube.obj", CUBE) if kind == "mesh" else None
    model = scene(field(np.zeros((points, points))), kind, mesh)
    turn = LYING if kind == "capsule" else FLAT
    sim = started(model, [0.13, 0.07, RESTING[kind] + 5e-4], turn)
    assert not any(shape.name == "ground" for shape in sim._worlds.geometry.shapes)
    sim.rollout(200)
    np.testing.assert_allclose(sim.q[:3], [0.13, 0.07, RESTING[kind] - 1e-6], atol=1e-7)
    found = sim.contacts
    assert 1 <= len(found) <= 8
    np.testing.assert_allclose(np.abs(found["normal"][:, 2]), 1.0, atol=1e-3)
    assert np.abs(found["force"][:, 2].sum()) == pytest.approx(GRAVITY, rel=1e-3)


def test_a_ball_rolls_down_a_field_as_on_an_incline_without_a_bump():
    slope, n = 0.2, 30
    x = np.linspace(-2.0, 2.0, n)
    model = scene(field(np.tile(-slope * x, (n, 1))))
    angle = np.arctan(slope)
    start = np.array([-1.5, 0.05, 0.3]) + 0.13 * np.array([np.sin(angle), 0.0, np.cos(angle)])
    sim = started(model, start)
    rec = sim.rollout(600)
    factor = 1.0 / (1.0 + 0.01 / 0.13**2)  # of a body with the inertia 0.01 kg m^2
    along = 0.5 * factor * GRAVITY * np.sin(angle) * rec.time**2
    moved = (rec.q[:, :3] - start) @ [np.cos(angle), 0.0, -np.sin(angle)]
    np.testing.assert_allclose(moved, along, atol=1e-5)
    away = (rec.q[:, :3] - start) @ [np.sin(angle), 0.0, np.cos(angle)]
    assert np.abs(away).max() < 5e-6
    assert np.abs(rec.q[:, 1] - 0.05).max() < 1e-3


def nearest(points, corners, x):
    """The distance of a point from triangles, by many samples of each."""
    a, b, c = points[corners].transpose(1, 0, 2)
    s = np.linspace(0.0, 1.0, 25)
    weights = np.array([(1 - u - v, u, v) for u in s for v in s if u + v <= 1.0 + 1e-12])
    samples = np.einsum("wk,ktx->wtx", weights, np.stack([a, b, c])).reshape(-1, 3)
    return np.linalg.norm(samples - x, axis=1).min()


def test_a_ball_is_as_far_from_a_field_as_its_triangles_are():
    ground = field(waves(), (2.0, 2.0))
    points, corners = height_points(ground)
    model, rng = scene(ground, size=(0.1,)), np.random.default_rng(0)
    found = Geometry(model)
    assert len(found.outside) == 1
    for _ in range(30):
        x, y = rng.uniform(-0.8, 0.8, 2)
        near = np.linalg.norm(points[corners].mean(axis=1)[:, :2] - [x, y], axis=1) < 0.3
        z = 0.1 * np.sin(4 * x) * np.cos(3 * y) + 0.11
        distance = nearest(points, corners[near], np.array([x, y, z])) - 0.1
        gaps, touched, normals = outside(found, [[x, y, z, *FLAT]], 0.02)
        assert gaps.min() == pytest.approx(distance, abs=2e-4)
        assert (np.linalg.norm(touched - [x, y, z], axis=1) < 0.125).all()
        assert (normals[:, 2] < 0.0).all()  # from the ball to the field


def test_a_box_touches_a_peak_under_its_face():
    heights = np.zeros((5, 5))
    heights[2, 2] = 0.3
    model = scene(field(heights), "box")
    gaps, points, normals = outside(Geometry(model), [[0.05, 0.02, 0.399, *FLAT]], 0.01)
    assert gaps == pytest.approx([-1e-3], abs=1e-5)
    np.testing.assert_allclose(points, [[0.0, 0.0, 0.2995]], atol=1e-5)
    np.testing.assert_allclose(normals, [[0.0, 0.0, -1.0]], atol=1e-3)


@pytest.mark.parametrize("kind", ["sphere", "box", "cylinder", "capsule"])
def test_bodies_that_fall_on_waves_stay_above_them(kind):
    model = scene(field(waves(), (2.0, 2.0)), kind)
    rng = np.random.default_rng(1)
    pose = random_pose(rng, 0.1)
    sim = started(model, [*pose[:2], 0.6], pose[3:])
    rec = sim.rollout(800)
    assert rec.metrics["penetration"].max() < 5e-3
    assert rec.q[-1, 2] > -0.1
    energy = rec.metrics["kinetic_energy"] + rec.metrics["potential_energy"]
    assert np.diff(energy).max() < 1e-2


# --- meshes as they are ---------------------------------------------------------------------------


def write_bowl(path, radius, rings=48, sectors=48):
    """The lower part of a sphere around the origin, seen from inside."""
    angles = np.linspace(0.0, 1.2, rings + 1)[1:]
    turns = 2 * np.pi / sectors * np.arange(sectors)
    ring = [
        [radius * np.sin(a) * np.cos(t), radius * np.sin(a) * np.sin(t), -radius * np.cos(a)]
        for a in angles
        for t in turns
    ]
    faces = [[0, 1 + k, 1 + (k + 1) % sectors] for k in range(sectors)]
    for r in range(rings - 1):
        for k in range(sectors):
            a, b = 1 + r * sectors + k, 1 + r * sectors + (k + 1) % sectors
            faces += [[a, a + sectors, b], [b, a + sectors, b + sectors]]
    lines = [f"v {x} {y} {z}" for x, y, z in [[0.0, 0.0, -radius], *ring]]
    lines += ["f " + " ".join(str(k + 1) for k in face) for face in faces]
    path.write_text("\n".join(lines) + "\n")
    return dl.Shape("bowl", "world", "collision", "mesh", None, (1, 1, 1), str(path))


def test_a_ball_swings_in_a_bowl_that_is_not_its_hull(tmp_path):
    radius, ball, angle = 1.0, 0.1, 0.3
    model = scene(write_bowl(tmp_path / "bowl.obj", radius), size=(ball,))
    reach = radius - ball
    start = (reach - 2e-3) * np.array([np.sin(angle), 0.0, -np.cos(angle)])
    with pytest.warns(UserWarning, match="mesh 'bowl' is not closed"):
        sim = started(model, start, dt=2e-3, ground=False, meshes="raw")
    rec = sim.rollout(1200)
    spin = 1.0 + 0.01 / ball**2
    period = 2 * np.pi * np.sqrt(spin * reach / GRAVITY) * (1 + angle**2 / 16)
    crossings = np.flatnonzero(np.diff(np.sign(rec.q[:, 0])))
    assert np.diff(rec.time[crossings])[0] == pytest.approx(0.5 * period, rel=0.03)
    distance = np.linalg.norm(rec.q[:, :3], axis=1)
    assert distance.max() < reach + 3e-3  # facets are inside of the sphere
    hull = started(model, start, ground=False, meshes="all")
    with pytest.warns(RuntimeWarning, match="penetrate"):
        hull.rollout(1)  # in the bowl's hull


@pytest.mark.parametrize("kind", ["sphere", "box", "cylinder", "capsule"])
def test_a_raw_cube_is_as_far_away_as_its_hull(tmp_path, kind):
    model = scene(
        dl.Shape(
            "cube", "world", "collision", "mesh", None, (1, 1, 1),
            write_mesh(tmp_path / "cube.obj", CUBE),
        ),
        kind,
    )  # fmt: skip
    raw, hull = (Geometry(model, meshes=meshes) for meshes in ("raw", "all"))
    rng, count = np.random.default_rng(0), 0
    for _ in range(300):
        pose = [random_pose(rng, 0.5)]
        one, other = outside(raw, pose, 0.02)[0], outside(hull, pose, 0.02)[0]
        if len(other) and other.min() > 1e-3:
            count += 1
            assert one.min() == pytest.approx(other.min(), abs=1e-4)
            assert len(one) <= 8
        elif not len(other):
            assert len(one) == 0
    assert count > 5


def test_the_ids_of_a_box_that_trembles_on_a_field_stay():
    geometry_, rng, kept = (
        Geometry(scene(field(waves(5) * 0.0), "box")),
        np.random.default_rng(0),
        None,
    )
    finder = Outside(geometry_)
    for _ in range(30):
        turn = Rotation.from_rotvec(1e-6 * rng.standard_normal(3)).as_quat()
        ids = finder.contacts(np.array([[0.1, 0.05, 0.1, *turn]]), 2e-3)[:, OUTSIDE.id].tolist()
        assert len(ids) >= 4
        assert kept is None or ids == kept
        kept = ids


def test_closed_surfaces_are_known():
    points, corners = height_points(field(np.zeros((3, 3))))
    assert not Triangles(points, corners).is_closed
    tetrahedron = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]])
    corners = np.eye(4)[:, :3]
    assert Triangles(corners, tetrahedron).is_closed
    turned = tetrahedron.copy()
    turned[0] = turned[0, ::-1]
    assert not Triangles(corners, turned).is_closed
    repeated = Triangles.joined(corners[tetrahedron.ravel()], np.arange(12).reshape(4, 3))
    assert repeated.is_closed
    assert len(repeated.points) == 4


# --- files and errors -----------------------------------------------------------------------------


def test_a_field_of_a_file_is_as_high_as_mujocos(tmp_path):
    rng = np.random.default_rng(0)
    data = rng.uniform(0.0, 1.0, (4, 6))
    data[0, 0], data[1, 1] = 0.0, 1.0  # the compiler scales data to this range
    text = " ".join(f"{x:.17g}" for x in data[::-1].ravel())  # rows of a file are from the top
    path = tmp_path / "field.xml"
    path.write_text(
        f"""<mujoco><asset><hfield name="h" nrow="4" ncol="6" size="1.5 0.9 0.4 0.1"
        elevation="{text}"/></asset><worldbody>
        <geom name="f" type="hfield" hfield="h" pos="0.1 0.2 0.3" euler="0 0 30"/>
        <body pos="0 0 2"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""
    )
    model = dl.load(path)
    shape = next(s for s in model.shapes if s.kind == "heightfield")
    np.testing.assert_allclose(shape.size, (3.0, 1.8))
    peer = mujoco.MjModel.from_xml_path(str(path))
    state = mujoco.MjData(peer)
    mujoco.mj_forward(peer, state)
    points, _ = height_points(shape)
    R, p = shape.placement.rotation, shape.placement.translation
    for x in points[[7, 8, 9, 14, 15]] + np.array([1e-6, 1e-6, 0.0]):
        above = R @ (x + np.array([0.0, 0.0, 1.0])) + p
        down = mujoco.mj_ray(
            peer, state, above, np.array([0.0, 0.0, -1.0]), None, 1, -1, np.zeros(1, np.int32)
        )
        assert down == pytest.approx(1.0, abs=1e-4)


def test_a_field_is_saved_read_again_and_shown(tmp_path):
    model = scene(field(waves(7), friction=0.4))
    model.save(tmp_path / "scene.json")
    again = dl.load(tmp_path / "scene.json").shapes[0]
    np.testing.assert_array_equal(again.heights, waves(7))
    assert (again.kind, again.size, again.surface.friction) == ("heightfield", (4.0, 4.0), 0.4)
    shown = Scene.of(model)
    assert shown.missing == []
    assert [len(triangles) for triangles in shown.meshes] == [72]


def test_wrong_fields_are_named():
    for heights, message in [
        ([[0.0, 1.0]], "two rows and two columns"),
        ([[0.0, np.nan], [0.0, 0.0]], "not all finite"),
        ("flat", "table of numbers"),
        (None, "a heightfield has heights"),
    ]:
        with pytest.raises(dl.ModelError, match=message):
            field(heights)
    with pytest.raises(dl.ModelError, match="no other shape has"):
        dl.Shape("ball", "world", "collision", "sphere", None, (1.0,), heights=np.zeros((2, 2)))
    with pytest.raises(dl.ModelError, match="'field' on 'world': a heightfield must not have"):
        Geometry(scene(field(np.zeros((2, 2)), (0.0, 1.0))))
    b = dl.ModelBuilder("moving")
    b.add_body("body", joint=dl.Free(), mass=1.0, inertia=np.eye(3))
    b.add_shape(dl.Shape("f", "body", "collision", "heightfield", None, (1, 1), heights=np.eye(2)))
    with pytest.raises(dl.ModelError, match="'f' on 'body': a heightfield is fixed to the world"):
        Geometry(b.build())


def test_without_coal_a_field_is_named_with_what_to_install(monkeypatch):
    for place in (shapes, geometry):
        monkeypatch.setattr(place, "can_read", lambda: False)
    with pytest.warns(UserWarning, match=r"without coal \(pip install .*\): shape and field"):
        dl.Simulator(scene(field(np.zeros((2, 2)))))

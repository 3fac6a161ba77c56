"""Shapes and pairs from a model: what collides, with what, of which material."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import delassus as dl
from delassus.maximal.rows.contacts import CONTACT, contact_frame
from delassus.maximal.settings import Softening
from delassus.maximal.system import MaximalSystem
from delassus.model.parts.elements import Shape
from delassus.simulation.collision import geometry as module
from delassus.simulation.collision.contacts import find_contacts
from delassus.simulation.collision.geometry import Geometry
from delassus.simulation.collision.materials import Material
from delassus.simulation.collision.shapes import ground_plane
from simulation.collision.scenes import FLAT, bodies, on_ground, touches

pytestmark = pytest.mark.uncompiled


def ball(name, radius=0.1, at=(0.0, 0.0, 0.0), frame=None):
    placement = dl.Transform(np.eye(3), at)
    return Shape(name, frame or name, "collision", "sphere", placement, (radius,))


def chain(joint=None, loop=(), extra=()):
    """Four bodies with a ball each, one below the other, the first free."""
    builder = dl.ModelBuilder("chain")
    for k, name in enumerate("abcd"):
        builder.add_body(
            name,
            parent="world" if k == 0 else "abcd"[k - 1],
            joint=dl.Free() if k == 0 else joint or dl.Revolute([0.0, 1.0, 0.0]),
            placement=dl.Transform(np.eye(3), [0.0, 0.0, -0.15 if k else 0.0]),
            mass=1.0,
            inertia=np.eye(3) * 0.01,
            com=(0.0, 0.02, 0.0),
        )
        builder.add_shape(ball(name))
    for shape in extra:
        builder.add_shape(shape)
    for constraint in loop:
        builder.add_constraint(constraint)
    return builder.build()


def pairs(geometry):
    return {frozenset(geometry.shapes[k].name for k in pair[:2]) for pair in geometry.pairs}


def named(*texts):
    return {frozenset(text) for text in texts}


# --- pairs ----------------------------------------------------------------------------------------


def test_bodies_that_a_joint_joins_do_not_collide():
    assert pairs(Geometry(chain())) == named("ac", "ad", "bd")


def test_bodies_that_a_loop_joins_do_not_collide():
    assert pairs(Geometry(chain(loop=[dl.Connect("a", "d")]))) == named("ac", "bd")
    assert pairs(Geometry(chain(), constraints=[dl.Connect("a", "d")])) == named("ac", "bd")
    rod = dl.Distance("a", "d", 0.45)
    assert pairs(Geometry(chain(loop=[rod]))) == named("ac", "ad", "bd")


def test_welded_bodies_count_as_one():
    assert pairs(Geometry(chain(loop=[dl.Weld("a", "d")]))) == set()  # a ring of three
    assert pairs(Geometry(chain(loop=[dl.Weld("a", "c")]))) == named("bd")


def test_the_ground_touches_all_bodies_and_never_the_world():
    wall = Shape("wall", "world", "collision", "box", None, (1.0, 1.0, 1.0))
    geometry = Geometry(chain(extra=[wall]), [ground_plane()])
    assert {frozenset(("ground", name)) for name in "abcd"} < pairs(geometry)
    assert {frozenset(("wall", name)) for name in "abcd"} < pairs(geometry)
    assert frozenset(("wall", "ground")) not in pairs(geometry)


def test_a_body_on_a_joint_to_the_world_touches_shapes_of_the_world():
    builder = dl.ModelBuilder("door")
    builder.add_body("door", joint=dl.Revolute([0.0, 0.0, 1.0]), mass=1.0, inertia=np.eye(3))
    builder.add_shape(ball("door"))
    builder.add_shape(Shape("wall", "world", "collision", "box", None, (1.0, 1.0, 1.0)))
    geometry = Geometry(builder.build(), [ground_plane()])
    assert pairs(geometry) == {frozenset(("ground", "door")), frozenset(("wall", "door"))}


def test_a_joint_of_several_axes_joins_what_a_joint_of_one_does():
    builder = dl.ModelBuilder("hip")
    builder.add_body("trunk", joint=dl.Free(), mass=1.0, inertia=np.eye(3))
    builder.add_body("between", "trunk", dl.Revolute([1.0, 0.0, 0.0]))
    builder.add_body("leg", "between", dl.Revolute([0.0, 1.0, 0.0]), mass=1.0, inertia=np.eye(3))
    for name in ("trunk", "leg"):
        builder.add_shape(ball(name))
    assert pairs(Geometry(builder.build())) == set()


def test_excluded_frames_do_not_touch_and_declared_pairs_do_in_any_case():
    model = chain().replace(
        contact_exclusions=[dl.ContactExclusion("a", "c"), dl.ContactExclusion("a", "d")],
        contact_pairs=[dl.ContactPair("a", "b"), dl.ContactPair("d", "a")],
    )
    assert pairs(Geometry(model)) == named("ab", "ad", "bd")


def test_pairs_can_be_excluded_and_chosen():
    model = chain()
    assert pairs(Geometry(model, excluded=[("a", "c")])) == named("ad", "bd")
    assert pairs(Geometry(model, only=[("a", "b"), ("a", "d")])) == named("ab", "ad")
    assert pairs(Geometry(model, [ground_plane()], only=[("world", "d")])) == {
        frozenset(("ground", "d"))
    }


def test_what_no_kernel_handles_is_outside_or_without_coal_listed(monkeypatch):
    egg = Shape("egg", "d", "collision", "ellipsoid", None, (0.1, 0.1, 0.2))
    handled = Geometry(chain(extra=[egg]), [ground_plane()])
    assert (len(handled.outside), handled.not_handled) == (2, ())
    monkeypatch.setattr(module, "can_read", lambda: False)
    geometry = Geometry(chain(extra=[egg]), [ground_plane()])
    assert geometry.outside == ()
    assert {frozenset(pair) for pair in geometry.not_handled} == {
        frozenset(("egg", "a")),
        frozenset(("egg", "b")),
    }
    assert frozenset(("egg", "ground")) in pairs(geometry)


# --- places ---------------------------------------------------------------------------------------


def test_shapes_are_where_the_frames_of_their_bodies_are():
    turned = dl.Transform(np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]), [0.1, 0.2, 0.3])
    builder = dl.ModelBuilder("offset")
    builder.add_body("body", joint=dl.Free(), mass=1.0, com=(0.3, -0.1, 0.2), inertia=np.eye(3))
    builder.add_frame("tool", "body", turned)
    builder.add_shape(ball("tip", 0.05, (0.4, 0.0, 0.0), "tool"))
    model = builder.build()
    q = model.random_configuration(3)
    q[:3] = [0.1, 0.2, 0.3]
    poses, _ = MaximalSystem(model).state(q, np.zeros(model.nv))
    (t,) = touches(Geometry(model, [ground_plane()]), poses, margin=10.0)
    # A free joint has the position and the quaternion of the body's frame.
    body = dl.Transform(Rotation.from_quat(q[3:]).as_matrix(), q[:3])
    tip = (body @ turned @ dl.Transform(np.eye(3), [0.4, 0.0, 0.0])).translation
    np.testing.assert_allclose(t.point[:2], tip[:2], atol=1e-12)
    assert t.distance == pytest.approx(tip[2] - 0.05)


def test_the_ground_can_be_raised_and_tilted():
    normal = np.array([0.6, 0.0, 0.8])
    geometry = Geometry(bodies("sphere"), [ground_plane(None, 0.5, normal)])
    (t,) = touches(geometry, [[*(0.7 * normal), *FLAT]], margin=1.0)
    assert t.distance == pytest.approx(0.2 - 0.13)
    np.testing.assert_allclose(t.normal, normal)


# --- materials ------------------------------------------------------------------------------------


def contact_of(model, ground, materials, z=0.1):
    geometry = Geometry(model, [ground_plane(ground)], materials=materials)
    poses = np.tile([0.0, 0.0, z, *FLAT], (model.n_bodies, 1))
    found, _, count = find_contacts(geometry, (poses, np.array([0.5])))
    assert count[0] == 1.0
    return found[0]


def test_the_larger_friction_and_restitution_count():
    ground, other = Material(0.2, 0.5), Material(0.9, 0.1)
    found = contact_of(bodies("sphere"), ground, {"body 0": other})
    assert found[CONTACT.friction] == 0.9
    assert found[CONTACT.restitution] == 0.5
    assert not found[CONTACT.softening :].any()
    assert contact_of(bodies("sphere"), ground, other)[CONTACT.friction] == 0.9
    assert contact_of(bodies("sphere"), ground, {"shape 0": Material(0.0)})[CONTACT.friction] == 0.2


def test_softening_of_one_counts_and_two_have_a_mean():
    one, other = Softening(width=0.01), Softening(width=0.03)
    assert Material().with_other(Material(softening=one)).softening == one
    both = Material(softening=one).with_other(Material(softening=other))
    assert both.softening.width == pytest.approx(0.02)
    found = contact_of(bodies("sphere"), Material(softening=one), None)
    np.testing.assert_allclose(found[CONTACT.softening :], one.packed())
    with pytest.raises(dl.SettingError, match="no mean"):
        Material(softening=one).with_other(Material(softening=Softening(law="printed")))


# --- slots, tangents ------------------------------------------------------------------------------


def test_too_few_slots_is_an_answer():
    geometry = Geometry(bodies("box"), [ground_plane()], slots=3)
    poses = np.array([[0.0, 0.0, 0.1, *FLAT]])
    found, ids, count = find_contacts(geometry, (poses, np.array([0.01])))
    assert count[0] == 4.0
    assert found.shape == (3, CONTACT.size)
    assert (ids >= 0.0).all()


def test_many_worlds_are_answered_as_one_by_one():
    geometry, rng = on_ground("box", "cylinder", "capsule"), np.random.default_rng(0)
    poses = np.tile([0.0, 0.0, 0.1, *FLAT], (5, 3, 1))
    poses[:, :, :3] += rng.uniform(-0.1, 0.1, (5, 3, 3))
    together = find_contacts(geometry, (poses, np.array([[0.01]])))
    for k, pose in enumerate(poses):
        alone = find_contacts(geometry, (pose, np.array([0.01])))
        assert alone[2][0] > 0.0
        for x, y in zip(together, alone, strict=True):
            np.testing.assert_allclose(x[k], y, atol=1e-12)


def test_tangents_do_not_turn_around_where_a_wall_leans_a_little():
    rng = np.random.default_rng(0)
    for angle in np.linspace(0.0, 6.3, 50):
        wall = np.array([np.cos(angle), np.sin(angle), 0.0])
        frames = [
            np.reshape(contact_frame(n / np.linalg.norm(n)), (3, 3))
            for n in wall + 1e-9 * rng.standard_normal((10, 3))
        ]
        for frame in frames:
            np.testing.assert_allclose(frame, frames[0], atol=1e-7)
    for n in rng.standard_normal((100, 3)):
        frame = np.reshape(contact_frame(n / np.linalg.norm(n)), (3, 3))
        np.testing.assert_allclose(frame.T @ frame, np.eye(3), atol=1e-14)
        assert np.linalg.det(frame) == pytest.approx(1.0)


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "size"),
    [
        ("sphere", (0.0,)),
        ("box", (0.1, 0.0, 0.1)),
        ("cylinder", (0.1, 0.0)),
        ("capsule", (0.0, 0.2)),
        ("ellipsoid", (0.1, 0.1, 0.0)),
    ],
)
def test_shapes_without_thickness_are_named(kind, size):
    with pytest.raises(dl.ModelError, match=rf"'shape 0' on 'body 0': a {kind} must not"):
        Geometry(bodies((kind, size)))


def test_a_capsule_of_no_length_is_a_ball():
    geometry = Geometry(bodies(("capsule", (0.1, 0.0)), "sphere"))
    (t,) = touches(geometry, [[0, 0, 0, *FLAT], [0, 0, 0.23, *FLAT]])
    assert t.distance == pytest.approx(0.0, abs=1e-12)


def test_bad_input_has_clear_errors():
    model = chain()
    with pytest.raises(dl.DataTypeError, match="must be a Model"):
        Geometry("chain")
    with pytest.raises(dl.UnknownNameError, match="no collision shape named 'e'"):
        Geometry(model, excluded=[("a", "e")])
    with pytest.raises(dl.DataTypeError, match="only must be pairs of names"):
        Geometry(model, only=["abc"])
    with pytest.raises(dl.DataTypeError, match="excluded must be pairs of names"):
        Geometry(model, excluded=3)
    with pytest.raises(dl.UnknownNameError, match="no collision shape named 'foot'"):
        Geometry(model, materials={"foot": Material()})
    with pytest.raises(dl.DataTypeError, match="materials must be"):
        Geometry(model, materials=0.5)
    with pytest.raises(dl.SettingError, match="friction must be"):
        Material(-0.1)
    with pytest.raises(dl.SettingError, match="restitution must be at most 1"):
        Material(0.5, 1.5)
    with pytest.raises(dl.DataTypeError, match="surroundings must be"):
        Geometry(model, [model.shapes[0]])

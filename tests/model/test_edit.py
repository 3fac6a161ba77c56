"""Models attached to models, and models with joints locked, move as they should."""

import numpy as np
import pytest

import delassus as dl
from delassus.model.edit import attach, reduce
from delassus.model.parts.elements import Shape

INERTIA = np.diag([0.1, 0.2, 0.25])


def arm() -> dl.Model:
    """Three links in a row, the middle joint spherical, and a side branch."""
    builder = dl.ModelBuilder("arm")
    builder.add_body("base", joint=dl.Fixed(), mass=9.0, inertia=INERTIA)
    add = {"mass": 1.0, "com": [0, 0, 0.3], "inertia": INERTIA}
    builder.add_body("upper", "base", dl.Revolute((0, 1, 0)), [0, 0, 1], joint_name="a", **add)
    builder.add_body("fore", "upper", dl.Spherical(), [0, 0, 1], joint_name="b", **add)
    builder.add_body("hand", "fore", dl.Revolute((1, 0, 0)), [0, 0, 1], joint_name="c", **add)
    builder.add_body("side", "upper", dl.Prismatic((1, 0, 0)), [0, 1, 0], joint_name="d", **add)
    builder.add_frame("tip", "hand", dl.Transform.from_rpy([0, 0, 0.5], [0.1, 0.2, 0.3]))
    builder.add_shape(Shape("ball", "tip", "visual", "sphere", size=(0.1,)))
    return builder.build()


def positions(model, q, frames):
    poses = dl.forward_kinematics(model, q)
    return np.array([poses.translation[model.frame_index(name)] for name in frames])


def split(model, reduced, q):
    """The reduced model's q, and the indices of its velocities in the full one's."""
    own = np.concatenate([q[model.joint(n).q] for n in reduced.joint_names])
    v = np.concatenate([np.arange(model.nv)[model.joint(n).v] for n in reduced.joint_names])
    return own, v


@pytest.mark.parametrize("locked", [["b"], ["a"], ["a", "c"], ["c", "d"], ["a", "b", "c"]])
def test_a_reduced_model_is_the_full_one_with_some_velocities_zero(locked):
    model = arm()
    rng = np.random.default_rng(0)
    q = model.random_configuration(rng)
    reduced = reduce(model, lock={n: q[model.joint(n).q] for n in locked})
    assert reduced.joint_names == [n for n in model.joint_names if n not in locked]
    own, rows = split(model, reduced, q)
    full = np.zeros(model.nv)
    full[rows] = v = rng.standard_normal(reduced.nv)
    matrix = dl.mass_matrix(model, q)[np.ix_(rows, rows)]
    np.testing.assert_allclose(dl.mass_matrix(reduced, own), matrix, atol=1e-12)
    bias = dl.bias_forces(model, q, full)[rows]
    np.testing.assert_allclose(dl.bias_forces(reduced, own, v), bias, atol=1e-11)
    names = model.frame_names
    assert reduced.frame_names == names
    np.testing.assert_allclose(
        positions(reduced, own, names), positions(model, q, names), atol=1e-12
    )


def test_a_scalar_locks_a_joint_of_one_coordinate():
    model = arm()
    one, other = reduce(model, {"a": 0.3}), reduce(model, {"a": [0.3]})
    assert one.bodies[0].placement.is_close(other.bodies[0].placement, 0.0)


def test_locking_every_joint_leaves_a_model_that_cannot_move():
    model = arm()
    reduced = reduce(model, {j.name: j.type.neutral() for j in model.joints})
    assert (reduced.nv, reduced.n_bodies) == (0, 0)
    assert reduced.frame("hand").inertia.mass == 1.0


@pytest.mark.parametrize(
    ("lock", "error", "message"),
    [
        ({"x": 0.0}, KeyError, "no joint 'x'"),
        ({"b": 0.0}, ValueError, "locked by 4 finite numbers"),
        ({"b": [0, 0, 0, 0]}, ValueError, "quaternion is zero"),
        ({"a": np.nan}, ValueError, "finite"),
        ({"a": "x"}, TypeError, "must hold real numbers"),
        (["a"], TypeError, "maps names of joints to values"),
    ],
)
def test_wrong_locks_are_errors(lock, error, message):
    with pytest.raises(error, match=message) as caught:
        reduce(arm(), lock)
    assert isinstance(caught.value, dl.DelassusError)


def chain(*constraints: dl.Implicit | dl.Gear | dl.Connect) -> dl.Model:
    builder = dl.ModelBuilder("chain")
    for i in range(4):
        builder.add_body(f"l{i}", f"l{i - 1}" if i else "world", dl.Revolute(), [1, 0, 0], mass=1.0)
    builder.add_frame("end", "l3", [1, 0, 0])
    for constraint in constraints:
        builder.add_constraint(constraint)
    return builder.build()


def test_linear_relations_keep_their_remaining_joints():
    gear = dl.Gear("l0_joint", "l1_joint", 2.0, 0.1)
    coupling = dl.Coupling({"l0_joint": 1.0, "l2_joint": 3.0, "l3_joint": -1.0}, 0.2)
    model = chain(gear, coupling)
    assert reduce(model, {}).constraints == (gear, coupling)
    first, second = reduce(model, {"l0_joint": 0.5}).constraints
    assert (first.coefficients, first.offset) == ({"l1_joint": -2.0}, pytest.approx(-0.4))
    assert (second.coefficients, second.offset) == (
        {"l2_joint": 3.0, "l3_joint": -1.0},
        pytest.approx(-0.3),
    )


def test_a_relation_of_locked_joints_alone_must_hold():
    model = chain(dl.Gear("l0_joint", "l1_joint", 2.0))
    assert reduce(model, {"l0_joint": 0.5, "l1_joint": 0.25}).constraints == ()
    with pytest.raises(dl.ModelError, match=r"does not hold at the locked values \(error 0\.3\)"):
        reduce(model, {"l0_joint": 0.5, "l1_joint": 0.1})


def test_an_implicit_constraint_keeps_the_rows_of_joints_that_move():
    def rows(x):
        return x[0] ** 2 + np.sin(x[1]), x[1] - 0.5, [x[2] * x[1]]

    model = chain(dl.Implicit(rows, ["l0_joint", "l1_joint", "l2_joint"]))
    assert reduce(model, {"l3_joint": 0.0}).constraints == model.constraints
    (first,) = reduce(model, {"l1_joint": 0.5}).constraints
    assert first.joints == ("l0_joint", "l2_joint")
    x = np.array([0.3, 0.7])
    np.testing.assert_allclose(first.function(x), [0.09 + np.sin(0.5), 0.35])
    (second,) = reduce(model, {"l0_joint": 0.0, "l2_joint": 0.4}).constraints
    np.testing.assert_allclose(second.function(x[:1]), [np.sin(0.3), -0.2, 0.12])
    with pytest.raises(dl.ModelError, match=r"does not hold at the locked values \(error 0\.5\)"):
        reduce(model, {"l1_joint": 0.0})
    held = chain(dl.Implicit(rows, ["l0_joint", "l1_joint", "l2_joint"]))
    with pytest.raises(dl.ModelError, match="no joint is left"):
        reduce(held, {"l0_joint": 0.0, "l1_joint": 0.5, "l2_joint": 0.0})


X, Z = (1, 0, 0), (0, 0, 1)


@pytest.mark.parametrize(
    ("constraint", "angle"),
    [
        (lambda f, o: dl.Connect(f, o), None),
        (lambda f, o: dl.Weld(f, o), None),
        (lambda f, o: dl.Distance(f, o, 2.0), 0.0),
        (lambda f, o: dl.Closure(dl.Revolute(X), f, o), None),
        (lambda f, o: dl.Closure(dl.Spherical(), f, o), None),
        (lambda f, o: dl.Closure(dl.Prismatic(X), f, o), 0.0),
        (lambda f, o: dl.Closure(dl.Translation(), f, o), 0.0),
        (lambda f, o: dl.Closure(dl.Cylindrical(X), f, o), 0.0),
        (lambda f, o: dl.Closure(dl.Helical(X, 1.0 / np.pi), f, o), 0.0),
        (lambda f, o: dl.Closure(dl.Planar(Z), f, o), 0.7),
        (lambda f, o: dl.Closure(dl.Universal(X, Z), f, o), None),
    ],
)
def test_a_loop_within_one_body_must_hold(constraint, angle):
    """The frames "end" and "l2" are 2 apart, in a row where the joint between them is at zero."""
    model = chain(constraint("end", "l2"))
    assert len(reduce(model, {"l2_joint": 0.4}).constraints) == 1
    if angle is None:
        with pytest.raises(dl.ModelError, match="does not hold"):
            reduce(model, {"l3_joint": 0.0})
        return
    assert reduce(model, {"l3_joint": angle}).constraints == ()
    if angle == 0.0:
        with pytest.raises(dl.ModelError, match="does not hold"):
            reduce(model, {"l3_joint": 0.3})


def test_a_loop_to_the_world_is_kept_while_something_moves():
    model = chain(dl.Connect("end"))
    assert reduce(model, {"l3_joint": 0.0}).constraints == model.constraints


def gripper() -> dl.Model:
    builder = dl.ModelBuilder("gripper")
    builder.add_body("palm", joint=dl.Fixed(), mass=2.0, com=[0, 0, 0.1], inertia=INERTIA)
    for i in range(2):
        add = {"mass": 0.5, "inertia": INERTIA, "joint_name": f"f{i}"}
        builder.add_body(f"finger{i}", "palm", dl.Prismatic((1, 0, 0)), [0, i, 0.2], **add)
    builder.add_constraint(dl.Gear("f0", "f1", -1.0))
    builder.add_constraint(dl.Distance("finger0", "world", 0.2))
    builder.add_constraint(dl.Coupling({"f0": 1.0}, 0.5))
    builder.add_constraint(dl.Implicit(lambda q: q, ["f1"]))
    return builder.build()


PLACE = dl.Transform.from_rpy([0, 0, 0.2], [0, 0, 0.3])


def test_attaching_is_the_same_as_building_both_at_once():
    attached = attach(arm(), gripper(), "tip", PLACE, prefix="g_")
    builder = dl.ModelBuilder("both")
    base = arm()
    for body in base.bodies:
        parent = "world" if body.parent < 0 else base.bodies[body.parent].name
        builder.add_body(body.name, parent, body.joint.type, body.placement, inertia=body.inertia)
    at = base.frame("tip").placement @ PLACE
    palm = {"mass": 2.0, "com": [0, 0, 0.1], "inertia": INERTIA}
    builder.add_body("palm", "hand", dl.Fixed(), at, **palm)
    for i in range(2):
        finger = {"mass": 0.5, "inertia": INERTIA}
        builder.add_body(f"finger{i}", "palm", dl.Prismatic((1, 0, 0)), [0, i, 0.2], **finger)
    expected = builder.build()
    q = expected.random_configuration(0)
    matrix = dl.mass_matrix(expected, q)
    np.testing.assert_allclose(dl.mass_matrix(attached, q), matrix, atol=1e-12)
    assert attached.mass == pytest.approx(arm().mass + 3.0)
    assert attached.joint_names == ["a", "b", "c", "g_f0", "g_f1", "d"]


def test_attached_constraints_are_renamed_and_the_world_becomes_the_frame():
    plain = attach(arm(), gripper(), "tip", prefix="g_")
    gear, distance, coupling, implicit = plain.constraints
    assert gear == dl.Gear("g_f0", "g_f1", -1.0)
    assert distance == dl.Distance("g_finger0", "tip", 0.2)
    assert coupling.coefficients == {"g_f0": 1.0}
    assert implicit.joints == ("g_f1",)
    moved = attach(arm(), gripper(), "tip", [0, 0, 1], prefix="g_")
    assert moved.constraints[1] == dl.Distance("g_finger0", "g_world", 0.2)
    at = arm().frame("tip").placement @ dl.Transform.of([0, 0, 1])
    assert moved.frame("g_world").placement.is_close(at)


def test_a_model_may_be_attached_to_the_world():
    both = attach(arm(), gripper(), "world", [1, 0, 0])
    assert both.nv == arm().nv + 2
    assert both.frame("palm").inertia.mass == 2.0


def test_names_that_clash_are_an_error_that_suggests_a_prefix():
    with pytest.raises(dl.ModelError, match=r"'upper', 'fore', 'hand' and others.*prefix='arm_'"):
        attach(arm(), arm(), "tip")
    twice = attach(arm(), arm(), "tip", prefix="arm_")
    assert twice.nv == 2 * arm().nv
    assert {shape.frame for shape in twice.shapes} == {"tip", "arm_tip"}


def test_a_root_that_has_the_name_and_place_of_the_frame_is_the_frame():
    """A part of a robot that starts with the link it hangs on."""
    part = dl.ModelBuilder("part")
    part.add_body("hand", joint=dl.Fixed(), mass=0.25)
    part.add_body("finger", "hand", placement=[0, 0, 0.1])
    hand, before = arm().frame("hand"), arm().mass
    model = dl.attach(arm(), part.build(), "hand")
    finger = model.body("finger")
    assert model.frame_names.count("hand") == 1 and finger.parent == hand.body
    assert finger.placement.is_close(hand.placement @ dl.Transform.of([0, 0, 0.1]))
    assert model.mass == pytest.approx(before + 0.25)
    with pytest.raises(dl.ModelError, match="both models have the frame 'hand'"):
        dl.attach(arm(), part.build(), "hand", [0, 0, 1])


def test_wrong_arguments_of_attach_are_errors():
    with pytest.raises(KeyError, match="no frame 'nose'"):
        attach(arm(), gripper(), "nose")
    with pytest.raises(TypeError, match="other must be a Model"):
        attach(arm(), "gripper", "tip")

"""What simulators need beyond bodies and joints stays with a model: saved, attached, reduced."""

import json
import pickle

import numpy as np
import pytest

import delassus as dl
from delassus.model.formats import load

SOFT = (0.01, 1.0, 0.9, 0.95, 0.001, 0.5, 2.0)


def robot(*contacts: dl.ContactExclusion | dl.ContactPair, **keyframe) -> dl.Model:
    """Two legs and a tail on a trunk, with motors, shapes, contacts and keyframes."""
    builder = dl.ModelBuilder("robot")
    builder.add_body("trunk", joint=dl.Planar(), mass=1.0, joint_name="base")
    for name in ("left", "right"):
        builder.add_body(name, "trunk", joint_name=f"{name}_hip", mass=1.0)
        builder.add_shape(
            dl.Shape(
                f"{name}_foot", name, "collision", "sphere", size=[0.1],
                surface=dl.Surface(6, 0, 0.7, 0.1, SOFT, margin=0.001, priority=1),
            )
        )  # fmt: skip
    builder.add_body("tail", "trunk", mass=0.1, gravity_compensation=1 / 3)
    builder.add_actuator(dl.Actuator("l", "left_hip", gear=2.0, force_range=(-np.inf, 1 / 3)))
    servo = {"kind": "position", "stiffness": 0.1, "damping": 1 / 7, "control_range": (-1, 1)}
    builder.add_actuator(dl.Actuator("r", "right_hip", **servo))
    hips = ("left_hip", "right_hip")
    tendon = {"gear": (1.0, -1 / 3), "kind": "position", "stiffness": 5.0, "offset": 0.25}
    builder.add_actuator(dl.Actuator("t", hips, **tendon))
    builder.add_contact_exclusion(dl.ContactExclusion("left", "right"))
    builder.add_contact_exclusion(dl.ContactExclusion("trunk", "world"))
    builder.add_contact_pair(dl.ContactPair("left_foot", "right_foot", friction=0.2, margin=0.01))
    for contact in contacts:
        is_pair = isinstance(contact, dl.ContactPair)
        add = builder.add_contact_pair if is_pair else builder.add_contact_exclusion
        add(contact)
    home = {"q": np.arange(6) / 7, "v": np.arange(6), "u": [3.0, 4.0, 2.0], "time": 0.5}
    builder.add_keyframe(dl.Keyframe("home", **(home | keyframe)))
    builder.add_keyframe(dl.Keyframe("rest", np.zeros(6)))
    return builder.build()


def assert_same(a: dl.Model, b: dl.Model) -> None:
    for part in ("actuators", "contact_exclusions", "contact_pairs"):
        assert getattr(a, part) == getattr(b, part)
    assert list(a.keyframes) == list(b.keyframes)
    for name, key in a.keyframes.items():
        other = b.keyframes[name]
        for array in ("q", "v", "u", "time"):
            np.testing.assert_array_equal(getattr(key, array), getattr(other, array))
    assert [x.surface for x in a.shapes] == [x.surface for x in b.shapes]
    assert [x.gravity_compensation for x in a.bodies] == [x.gravity_compensation for x in b.bodies]


def test_a_saved_model_keeps_everything(tmp_path):
    model = robot()
    model.save(tmp_path / "model.json")
    assert_same(model, load(tmp_path / "model.json"))
    assert_same(model, pickle.loads(pickle.dumps(model)))
    assert_same(model, model.replace(name="other"))


def test_files_from_before_load_and_plain_models_are_written_as_before(tmp_path):
    path = tmp_path / "model.json"
    builder = dl.ModelBuilder()
    builder.add_body("a", mass=1.0)
    builder.add_shape(dl.Shape("s", "a", "collision", "sphere", size=[0.1]))
    builder.build().save(path)
    record = json.loads(path.read_text())
    known = ["format", "version", "name", "gravity", "bodies", "frames", "constraints", "shapes"]
    assert list(record) == known
    assert list(record["bodies"][0]) == ["name", "parent", "joint", "placement", "inertia"]
    assert list(record["shapes"][0])[-2:] == ["mesh", "color"]
    model = load(path)
    assert (model.actuators, dict(model.keyframes)) == ((), {})
    assert model.shapes[0].surface == dl.Surface()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r["actuators"][0].update(joint="hip"), "names the joint 'hip'"),
        (lambda r: r["actuators"][0].update(gear="x"), r"actuators\[0\].gear: expected a list"),
        (lambda r: r["actuators"][1].update(kind="x"), r"actuators\[1\]: .*its kind must be"),
        (lambda r: r["actuators"][0].pop("kind"), r"actuators\[0\]: needs 'kind'"),
        (lambda r: r["contact_pairs"][0].update(shape="toe"), "collision shape 'toe'"),
        (lambda r: r["contact_pairs"][0].update(friction=-1), r"contact_pairs\[0\]: friction"),
        (lambda r: r["contact_exclusions"][0].update(more=1), r"\[0\]: has an unknown entry"),
        (lambda r: r["keyframes"][0].update(q=[0.0]), "'home': q takes 6 numbers, got 1"),
        (lambda r: r["keyframes"][0].update(u=["inf", 0]), r"u\[0\]: expected a finite number"),
        (lambda r: r["keyframes"][1].update(name="home"), "two keyframes have one name"),
        (lambda r: r["shapes"][0].update(contype=0.5), r"contype: expected an integer"),
        (lambda r: r["bodies"][3].update(gravity_compensation="x"), "gravity_compensation: exp"),
    ],
)
def test_errors_in_saved_files_say_where(tmp_path, change, message):
    path = tmp_path / "model.json"
    robot().save(path)
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))
    with pytest.raises(dl.FileFormatError, match=r"^model\.json: .*" + message):
        load(path)


def test_contacts_name_frames_and_single_collision_shapes_that_exist():
    with pytest.raises(dl.UnknownNameError, match=r"the frame 'lift'.*did you mean 'left'"):
        robot(dl.ContactExclusion("lift", "right"))
    with pytest.raises(dl.UnknownNameError, match="collision shape 'left_toe'"):
        robot(dl.ContactPair("left_toe", "left_foot"))
    with pytest.raises(dl.ModelError, match="and itself"):
        dl.ContactPair("left_foot", "left_foot")
    shapes = (*robot().shapes, robot().shapes[0])
    with pytest.raises(dl.ModelError, match="of which the model has 2"):
        robot().replace(shapes=shapes)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"friction": -0.1}, "friction must be finite and not negative"),
        ({"restitution": 1.1}, "restitution must be at most 1"),
        ({"softness": [1, 2]}, "softness must be 7 finite numbers"),
        ({"contype": 0.5}, "contype must be an integer of 32 bits"),
        ({"margin": np.nan}, "margin must be a finite number"),
        ({"condim": 4}, "condim must be 1, without friction, or 3"),
    ],
)
def test_wrong_numbers_of_contacts_are_errors(given, message):
    with pytest.raises(dl.ModelError, match=message):
        dl.Surface(**given)


def test_a_keyframe_must_fit_the_model_and_cannot_be_changed():
    with pytest.raises(dl.ModelError, match="'home': v takes 6 numbers, got 2"):
        robot(v=[1, 2])
    with pytest.raises(dl.ModelError, match="'home': u takes 3 numbers, got 4"):
        robot(u=[1, 2, 3, 4])
    with pytest.raises(dl.ModelError, match="q of keyframe 'home' must be finite"):
        robot(q=[np.nan] * 6)
    home, rest = robot().keyframes.values()
    assert (rest.v.tolist(), rest.u.tolist()) == ([0.0] * 6, [0.0] * 3)
    with pytest.raises(ValueError, match="read-only"):
        home.q[0] = 1.0
    with pytest.raises(TypeError):
        robot().keyframes["home"] = rest


def test_a_reduced_model_keeps_what_still_moves():
    reduced = dl.reduce(robot(), {"left_hip": 0.3, "tail_joint": 0.0})
    assert reduced.actuator_names == ["r", "t"]
    tendon = reduced.actuators[1]  # the length along the other joint is part of its offset
    assert (tendon.joint, tendon.gear) == ("right_hip", (-1 / 3,))
    assert tendon.offset == pytest.approx(0.25 - 0.3)
    q, v, u = np.array([0.1, 0.2, 0.3, 0.4]), np.ones(4), [0.5, 0.6]
    whole = dl.actuator_forces(
        robot(), [0.1, 0.2, 0.3, 0.3, 0.4, 0.0], [1, 1, 1, 0, 1, 0], [0.0, *u]
    )
    np.testing.assert_allclose(dl.actuator_forces(reduced, q, v, u), whole[[0, 1, 2, 4]])
    assert dl.reduce(robot(), dict.fromkeys(("left_hip", "right_hip"), 0.1)).actuator_names == []
    home = reduced.keyframes["home"]
    np.testing.assert_array_equal(home.q, np.array([0, 1, 2, 4]) / 7)
    np.testing.assert_array_equal(home.v, [0, 1, 2, 4])
    assert (home.u.tolist(), home.time) == ([4.0, 2.0], 0.5)
    assert reduced.contact_exclusions == robot().contact_exclusions
    assert reduced.contact_pairs == robot().contact_pairs
    # The trunk's part of the weight that is held is that of the tail, which it now has.
    assert reduced.body("trunk").gravity_compensation == pytest.approx(0.1 / 3 / 2.1)


def test_an_attached_model_brings_its_own():
    other = robot(q=np.ones(6), u=[5.0, 6.0, 7.0])
    both = dl.attach(robot(), other, "tail", [0, 0, 1], prefix="x_")
    assert both.actuator_names == ["l", "r", "t", "x_l", "x_r", "x_t"]
    hips = "x_left_hip", "x_right_hip"
    assert [a.joint for a in both.actuators[3:]] == [*hips, hips]
    assert both.contact_pairs[1].shapes == ("x_left_foot", "x_right_foot")
    assert [x.frames for x in both.contact_exclusions[2:]] == [
        ("x_left", "x_right"),
        ("x_trunk", "x_world"),
    ]
    home = both.keyframes["home"]
    np.testing.assert_array_equal(home.q[both.joint("left_hip").q], [3 / 7])
    np.testing.assert_array_equal(home.q[both.joint("x_left_hip").q], [1.0])
    assert home.u.tolist() == [3.0, 4.0, 2.0, 5.0, 6.0, 7.0]
    assert both.body("x_tail").gravity_compensation == 1 / 3
    with pytest.raises(dl.ModelError, match="both models have"):
        dl.attach(robot(), robot(), "tail")


def test_a_keyframe_of_one_model_alone_has_the_other_at_neutral():
    other = robot().replace(keyframes=[])
    home = dl.attach(other, robot(), "tail", prefix="x_").keyframes["home"]
    np.testing.assert_array_equal(home.q, [*np.zeros(6), *np.arange(6) / 7])
    assert home.u.tolist() == [0.0, 0.0, 0.0, 3.0, 4.0, 2.0]


def test_controls_of_keyframes_follow_their_actuators():
    model = robot()
    new = dl.Actuator("new", "tail_joint")
    changed = model.replace(actuators=[new, model.actuators[1]])
    assert changed.keyframes["home"].u.tolist() == [0.0, 4.0]
    assert changed.replace(actuators=[]).keyframes["home"].u.size == 0


def test_fixed_bodies_share_their_weight_compensation_by_mass():
    builder = dl.ModelBuilder()
    builder.add_body("arm", mass=1.0, gravity_compensation=1.0)
    builder.add_body("hand", "arm", dl.Fixed(), mass=3.0, gravity_compensation=0.2)
    builder.add_body("mark", "arm", dl.Fixed())
    assert builder.build().body("arm").gravity_compensation == pytest.approx(0.4)


def test_a_keyframe_of_a_model_without_keyframes_is_said_not_to_exist():
    from delassus.simulation.given.starting import chosen_start

    b = dl.ModelBuilder("bare")
    b.add_body("a", mass=1.0)
    with pytest.raises(dl.UnknownNameError, match="there is no keyframe 'home': there are none"):
        chosen_start(b.build(), None, None, "home")

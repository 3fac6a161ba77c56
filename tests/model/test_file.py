"""A saved model reads back to the same numbers, and saving loses nothing."""

import dataclasses
import json
import math
import warnings

import numpy as np
import pytest

import delassus as dl
from delassus import robots
from delassus.model.formats import load
from delassus.model.parts.elements import Shape

PARTS = ("name", "bodies", "frames", "constraints", "shapes", "gravity", "lower", "effort_limit")


def everything() -> dl.Model:
    """A model with a joint of every type, every constraint that can be saved, and a shape."""
    rng = np.random.default_rng(0)
    axis = tuple(rng.standard_normal(3))
    types = [
        dl.Revolute(axis),
        dl.Prismatic(axis),
        dl.Helical(axis, 0.1 / 3.0),
        dl.Cylindrical(axis),
        dl.Universal(axis, (1, 0, 0)),
        dl.Spherical(),
        dl.Planar(axis),
        dl.Translation(),
        dl.Free(),
    ]
    builder = dl.ModelBuilder("everything", gravity=rng.standard_normal(3))
    builder.add_body("ground", joint=dl.Fixed(), mass=3.0)
    for i, kind in enumerate(types):
        builder.add_body(
            f"body{i}",
            f"body{i // 2 - 1}" if i > 1 else "world",
            kind,
            dl.Transform.from_rpy(rng.standard_normal(3), rng.standard_normal(3)),
            mass=rng.uniform(),
            com=rng.standard_normal(3),
            inertia=np.diag(rng.uniform(1.0, 1.5, 3)),
            lower=-rng.uniform(0.1, 1.0, kind.nq) if i % 2 else None,
            damping=rng.uniform(size=kind.nv),
            armature=0.1,
            stiffness=rng.uniform(),
            independent=[None, True, False][i % 3],
            origin=rng.standard_normal(3) if i % 2 else None,
        )
    builder.add_frame("tip", "body8", dl.Transform.from_rpy([1, 2, 3], rng.standard_normal(3)))
    builder.add_constraint(dl.Connect("tip"))
    builder.add_constraint(dl.Weld("tip", "body3"))
    builder.add_constraint(dl.Closure(dl.Helical(axis, 0.2), "tip", "body2"))
    builder.add_constraint(dl.Closure(dl.Universal(axis), "tip", "body1"))
    builder.add_constraint(dl.Gear("body0_joint", "body1_joint", 1.0 / 3.0, np.float64(0.1)))
    builder.add_constraint(dl.Coupling({"body0_joint": 1.0, "body2_joint": -0.7}, 0.3))
    builder.add_constraint(dl.Distance("tip", "body4", 0.7))
    builder.add_shape(Shape("s", "tip", "visual", "mesh", size=(1.0, 1.0, 1.0), mesh="a/b.stl"))
    builder.add_shape(Shape("t", "tip", "collision", "sphere", size=(0.1,), color=(1, 0, 0, 0.5)))
    return builder.build()


def assert_same(a, b, where=""):
    """Equal to the last bit, however deep."""
    if isinstance(a, np.ndarray):
        np.testing.assert_array_equal(a, b, err_msg=where)
    elif dataclasses.is_dataclass(a):
        assert type(a) is type(b), where
        for field in dataclasses.fields(a):
            name = field.name
            assert_same(getattr(a, name), getattr(b, name), f"{where}.{name}")
    elif isinstance(a, (tuple, list)):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_same(x, y, f"{where}[{i}]")
    else:
        assert a == b, where


def assert_same_models(a, b):
    for part in PARTS:
        assert_same(getattr(a, part), getattr(b, part), part)


def test_everything_reads_back_to_the_last_bit(tmp_path):
    model = everything()
    model.save(tmp_path / "model.json")
    assert_same_models(model, load(tmp_path / "model.json"))


@pytest.mark.parametrize("name", ["talos_full", "tiago", "icub", "cassie"])
def test_robots_read_back_to_the_last_bit(tmp_path, name):
    try:
        model = robots.load(name)
    except dl.MissingDependencyError:
        pytest.skip("example-robot-data is not installed")
    model.save(str(tmp_path / "model"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_same_models(model, load(tmp_path / "model"))


def test_the_file_is_json_without_infinities(tmp_path):
    everything().save(tmp_path / "model.json")

    def refuse(name):
        raise AssertionError(name)

    text = (tmp_path / "model.json").read_text()
    assert json.loads(text, parse_constant=refuse)["format"] == "delassus model"


def functions(x):
    """Every operation that a recorded function may have."""
    a, b, c = x
    return [
        np.sin(a) * np.cos(b) + np.tan(c) / 3.0 - 0.25,
        [np.arctan2(a, b) - np.arctan(c), np.arcsin(a / 9) + np.arccos(b / 9)],
        np.exp(-a) * np.log(2.0 + b * b) + np.sqrt(1.0 + c**4) - abs(a) / (1.0 + b**2),
        2.0 / (3.0 + c * c) + 1.0 / a - a**-3 + b**0.5 + 2.0**c - np.hypot(a, b),
        c,
    ]


def test_functions_of_constraints_are_saved_as_what_they_compute(tmp_path):
    path, again = tmp_path / "model.json", tmp_path / "again.json"
    builder = dl.ModelBuilder()
    for name in ("a", "b", "c"):
        builder.add_body(name, mass=1.0)
    joints = [f"{name}_joint" for name in ("b", "c", "a")]
    builder.add_constraint(dl.Implicit(functions, joints))
    model = builder.build()
    model.save(path)
    loaded = load(path)
    assert loaded.constraints[0].joints == tuple(joints)
    loaded.save(again)
    assert again.read_text() == path.read_text()
    q = np.random.default_rng(0).uniform(0.2, 1.0, (20, 3))
    before, after = dl.Constraints(model), dl.Constraints(loaded)
    np.testing.assert_allclose(after.position_error(q), before.position_error(q), rtol=1e-14)
    np.testing.assert_allclose(after.jacobian(q), before.jacobian(q), rtol=1e-13)
    x = q[0, [1, 2, 0]]
    rows = [entry for row in functions(x) for entry in np.ravel(row)]
    np.testing.assert_allclose(loaded.constraints[0].function(x), rows, rtol=1e-14)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r["steps"].append(["sine", 0]), r"steps\[1\]: expected a step by one of"),
        (lambda r: r["steps"].append([]), r"steps\[1\]: expected a step"),
        (lambda r: r["steps"].append(["sin"]), r"steps\[1\]: sin takes 1 entries"),
        (lambda r: r["steps"].append(["add", 0, -1]), r"\[1\]\[2\]: expected a count.*got -1"),
        (lambda r: r["steps"].append(["power", 0, 0.5]), r"\[1\]\[2\]: expected a count.*got 0.5"),
        (lambda r: r["steps"].append(["scale", 0, "x"]), r"\[2\]: expected a finite number"),
        (lambda r: r["steps"].append(["sin", 7]), r"constraints\[0\]: .*cannot be recorded"),
        (lambda r: r.update(rows=[]), r"constraints\[0\]: .*gives no rows"),
        (lambda r: r.update(rows=[9]), r"constraints\[0\]: .*cannot be recorded"),
        (lambda r: r.update(joints=["ghost"]), "'ghost'"),
    ],
)  # fmt: skip
def test_wrong_functions_are_errors_that_say_where(tmp_path, change, message):
    path = tmp_path / "model.json"
    builder = dl.ModelBuilder()
    builder.add_body("a")
    builder.add_constraint(dl.Implicit(lambda q: np.sin(q[0]), ["a_joint"]))
    builder.build().save(path)
    record = json.loads(path.read_text())
    change(record["constraints"][0])
    path.write_text(json.dumps(record))
    with pytest.raises(dl.FileFormatError, match=r"^model\.json: .*" + message):
        load(path)


def test_a_function_that_cannot_be_recorded_is_not_saved_and_the_old_file_stays(tmp_path):
    path = tmp_path / "model.json"
    builder = dl.ModelBuilder()
    builder.add_body("a")
    builder.build().save(path)
    before = path.read_bytes()
    builder.add_constraint(dl.Implicit(lambda q: math.sin(q[0]), ["a_joint"]))
    with pytest.raises(dl.ModelError, match=r"'a_joint' .* cannot be saved: .*np\.sin in place"):
        builder.build().save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_while_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    path.write_text("old")

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="no space"):
        everything().save(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_does_not_exist_is_our_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder") as error:
        everything().save(tmp_path / "absent" / "model.json")
    assert isinstance(error.value, dl.DelassusError)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r.update(version=2), "version 2"),
        (lambda r: r.update(format="other"), "not one that Model.save wrote"),
        (lambda r: r.pop("frames"), "needs 'frames'"),
        (lambda r: r.update(extra=1), "unknown entry 'extra'"),
        (lambda r: r["bodies"][2].update(parent="ghost"), r"bodies\[2\]: .*'ghost'"),
        (lambda r: r["bodies"][1].update(name="body0"), r"bodies\[1\]: .*two of the body name"),
        (lambda r: r["bodies"][0]["inertia"].update(mass=-1), r"\[0\].inertia.mass: .*negative"),
        (lambda r: r["bodies"][0]["joint"]["type"].update(axis=[0, 0, 0]), "must not be zero"),
        (lambda r: r["bodies"][0]["joint"]["type"].update(type="Fixed"), "the type of a joint"),
        (lambda r: r["bodies"][0]["joint"].update(lower=["nan"]), r"lower\[0\]: .*got 'nan'"),
        (lambda r: r["bodies"][0]["placement"].update(rotation=[1] * 9), "not a rotation"),
        (lambda r: r["frames"][0].update(body="ghost"), r"frames\[0\].body: .*no body 'ghost'"),
        (lambda r: r["constraints"][0].update(frame="ghost"), "frame 'ghost'"),
        (lambda r: r["constraints"][0].update(type="Glue"), r"\[0\]: expected a constraint"),
        (lambda r: r["shapes"][0].update(frame="ghost"), r"shapes\[0\]: .*'ghost'"),
        (lambda r: r.update(gravity=[0, 0]), "gravity: expected 3 numbers, got 2"),
    ],
)  # fmt: skip
def test_errors_say_where(tmp_path, change, message):
    path = tmp_path / "model.json"
    everything().save(path)
    record = json.loads(path.read_text())
    change(record)
    path.write_text(json.dumps(record))
    with pytest.raises(dl.FileFormatError, match=r"^model\.json: .*" + message):
        load(path)


def test_a_saved_model_says_itself_whether_its_base_floats(tmp_path):
    path = tmp_path / "model.json"
    builder = dl.ModelBuilder()
    builder.add_body("a")
    builder.build().save(path)
    with pytest.raises(dl.ModelError, match="without a floating base"):
        load(path, floating_base=True)
    builder.add_body("b", joint=dl.Free())
    builder.build().save(path)
    assert load(path, floating_base=True).nv == 7

"""An embedding goes wherever a model does, or is refused by an error that says what to give."""

import inspect
from functools import cache

import numpy as np
import pytest

import delassus as dl

# Public names that take a model, or constraints on one. A new function is found by its arguments.
TAKING = [
    name
    for name in dl.__all__
    if callable(thing := getattr(dl, name))
    and (inspect.isfunction(thing) or not issubclass(thing, (Exception, tuple)))
    and {"model", "constraints"} & set(inspect.signature(thing).parameters)
    and name not in ("Model", "Embedding", "BranchedInverse", "KKTFactorization", "embed")
]
MECHANISMS = {
    "implicit": (dl.robots.four_bar_leg, "foot"),
    "constant": (dl.robots.mini_cheetah, "FR_knee"),
}


@pytest.fixture(autouse=True)
def in_plain_python(monkeypatch):
    """One state of each function: faster so than to compile them all."""
    monkeypatch.setenv("DELASSUS_COMPILE", "0")


@cache
def embedded(kind: str) -> tuple[dl.Embedding, dict]:
    """An embedding, and arguments that fit it, by their names."""
    make, frame = MECHANISMS[kind]
    emb = dl.embed(make())
    y = emb.independent(emb.random_configuration(0))
    x = 0.1 * np.random.default_rng(1).standard_normal(emb.nv)
    names = ("v", "a", "tau", "dq", "dv", "da", "dtau", "x", "w", "u")
    at = dl.forward_kinematics(emb, y, frame).translation[0]
    given = {
        **dict.fromkeys(names, x),
        "model": emb, "q": y, "frame": frame, "targets": {frame: at}, "damping": 1e-6,
        "constraints": dl.Constraints(emb, [dl.Connect(frame)]), "other": emb.model, "lock": {},
        "function": dl.forward_dynamics, "stiffness": 1.0, "matrix": np.eye(emb.nv),
    }  # fmt: skip
    return emb, given


def arguments(function, given: dict) -> dict:
    kinds = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    needed = [
        p
        for p in inspect.signature(function).parameters.values()
        if p.default is p.empty and p.kind in kinds
    ]
    return {p.name: given[p.name] for p in needed}  # a KeyError: tell `embedded` what fits


def numbers(found) -> list[np.ndarray]:
    fields = found if isinstance(found, tuple) else (found,)
    return [np.asarray(x) for x in fields if isinstance(x, (np.ndarray, float))]


@pytest.mark.parametrize("kind", MECHANISMS)
@pytest.mark.parametrize("name", TAKING)
def test_every_function_takes_it_or_says_what_to_give(name, kind):
    _, given = embedded(kind)
    function = getattr(dl, name)
    try:
        found = function(**arguments(function, given))
    except dl.ActuationError:
        assert kind == "constant"  # nothing drives the base
    except dl.DelassusError as error:
        assert ".model" in str(error)
    else:
        assert all(np.isfinite(x).all() for x in numbers(found))


@pytest.mark.parametrize("kind", MECHANISMS)
@pytest.mark.parametrize("name", TAKING)
def test_symbols_are_taken_or_refused(name, kind):
    emb, given = embedded(kind)
    function = getattr(dl, name)
    options = arguments(function, given)
    options = {
        k: x for k, x in options.items() if k in ("constraints", "frame", "damping", "targets")
    }
    if not inspect.isfunction(function) or "function" in inspect.signature(function).parameters:
        return
    try:
        dl.symbolic(function, emb, **options)
    except dl.DelassusError as error:
        assert str(error)
    except TypeError as error:
        assert "missing" in str(error)  # not a function of states


def test_those_that_must_go_are_not_refused():
    _, given = embedded("implicit")
    for name in (
        "forward_kinematics", "frame_jacobian", "frame_velocity", "center_of_mass", "mass_matrix",
        "kinetic_energy", "potential_energy", "close_loops", "inverse_kinematics", "impact",
        "constrained_dynamics", "constrained_inverse_dynamics", "delassus_matrix",
        "forward_dynamics", "inverse_dynamics", "forward_dynamics_derivatives",
    ):  # fmt: skip
        function = getattr(dl, name)
        function(**arguments(function, given))


@pytest.mark.parametrize("kind", MECHANISMS)
def test_one_state_has_one_energy(kind):
    emb, given = embedded(kind)
    y, yd = given["q"], given["v"]
    q, v = emb.spanning(y), emb.spanning_velocity(y, yd)
    for energy in (dl.kinetic_energy(emb, y, yd), dl.potential_energy(emb, y)):
        assert np.shape(energy) == ()
    assert dl.kinetic_energy(emb, y, yd) == pytest.approx(dl.kinetic_energy(emb.model, q, v))
    assert dl.kinetic_energy(emb, y[None], yd[None]).shape == (1,)


def test_all_frames_are_placed_as_on_the_tree():
    emb, given = embedded("implicit")
    found = dl.forward_kinematics(emb, given["q"])
    tree = dl.forward_kinematics(emb.model, emb.spanning(given["q"]))
    np.testing.assert_allclose(found.translation, tree.translation, atol=1e-12)
    assert len(found.translation) == len(emb.model.frame_names)


@pytest.mark.parametrize("spans", [False, True])
def test_loops_close_together_with_those_that_are_embedded(spans):
    emb, given = embedded("implicit")
    goal = dl.forward_kinematics(emb, given["q"], "foot").translation[0] + [0.02, 0.0, 0.03]
    start = emb.spanning(given["q"]) if spans else given["q"]
    held = dl.Constraints(emb, [dl.Coupling({"thigh_joint": 1.0, "crank_joint": 1.0})])
    q = dl.close_loops(emb, start, held)
    assert q.shape == start.shape
    assert np.abs(held.position_error(q)).max() <= 1e-10
    assert (
        np.abs(emb.constraints.position_error(emb.spanning(q, near=emb.spanning(start)))).max()
        <= 1e-10
    )
    q = dl.inverse_kinematics(emb, start, {"foot": goal * [1, 0, 1]})
    assert q.shape == start.shape
    np.testing.assert_allclose(
        dl.forward_kinematics(emb, q, "foot").translation[0], goal * [1, 0, 1], atol=1e-7
    )


def test_torques_under_constraints_balance_the_embedding():
    emb, given = embedded("implicit")
    y, yd, ydd = given["q"], given["v"], given["a"]
    cs = given["constraints"]
    found = dl.constrained_inverse_dynamics(emb, y, yd, ydd, cs, actuated="crank_joint")
    left = dl.mass_matrix(emb, y) @ ydd + dl.bias_forces(emb, y, yd)
    np.testing.assert_allclose(left, found.tau + cs.jacobian(y).T @ found.multipliers, atol=1e-8)
    assert found.tau[0] == 0.0
    with pytest.raises(dl.ModelError, match="'rod_joint' follows from others"):
        dl.constrained_inverse_dynamics(emb, y, yd, ydd, cs, actuated="rod_joint")


def test_what_only_models_have_is_said_to_be_theirs():
    emb, _ = embedded("implicit")
    for name in ("joints", "bodies", "lower", "gravity", "frame_names", "nu"):
        with pytest.raises(dl.DelassusError, match=rf"emb\.model\.{name}"):
            getattr(emb, name)
    assert not hasattr(emb, "joints")
    assert not hasattr(emb, "nothing")


def test_joints_that_the_model_drives_are_independent(monkeypatch):
    """Without `actuators`, those of the model are taken first."""
    monkeypatch.delenv("DELASSUS_COMPILE")  # to embed takes many configurations
    builder = dl.ModelBuilder("four-bar")
    bar = {"mass": 1.0, "inertia": [0.1, 0, 0, 0.1, 0, 0.1]}
    builder.add_body("crank", "world", dl.Revolute(), **bar)
    builder.add_body("coupler", "crank", dl.Revolute(), [0.4, 0, 0], **bar)
    builder.add_body("rocker", "world", dl.Revolute(), [1.1, 0, 0], **bar)
    builder.add_frame("coupler_end", "coupler", [1.0, 0, 0])
    builder.add_frame("rocker_end", "rocker", [0.8, 0, 0])
    builder.add_constraint(dl.Closure(dl.Revolute(), "coupler_end", "rocker_end"))
    model = builder.build()
    for driven in ("crank_joint", "coupler_joint", "rocker_joint"):
        moved = model.replace(actuators=[dl.Actuator("motor", driven)])
        emb = dl.embed(moved)
        assert emb.independent_joints == (driven,)
        assert emb.actuators == (driven,)
        assert emb.W(emb.neutral()).shape == (1, 1)
        assert dl.embed(moved, independent=["crank_joint"]).independent_joints == ("crank_joint",)
        assert dl.embed(moved, actuators=()).actuators == ()

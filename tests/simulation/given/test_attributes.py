"""Traps: what would be accepted without effect is an error that says what to do."""

import numpy as np
import pytest

import delassus as dl

from .arms import arm, fallen


@pytest.fixture(scope="module")
def sim():
    return fallen()


@pytest.mark.parametrize("name", ["q", "v"])
def test_coordinates_that_are_read_cannot_be_written_to(sim, name):
    before = sim.state()["numbers"]
    with pytest.raises(ValueError, match="read-only"):
        getattr(sim, name)[0] = 1.0
    assert np.array_equal(sim.state()["numbers"], before)
    x = getattr(sim, name).copy()
    x[0] += 0.5
    setattr(sim, name, x)
    assert getattr(sim, name)[0] == pytest.approx(x[0])


@pytest.mark.parametrize(
    ("name", "value", "hint"),
    [
        ("friction", 0.2, r"Simulator\(\.\.\., friction="),
        ("frction", 0.2, "did you mean 'friction'"),
        ("dt", 1e-4, r"Simulator\(\.\.\., dt="),
        ("integrator", "euler", r"sim\.use\(integrator="),
        ("solver_parameters", {}, r"sim\.use\(solver_parameters="),
        ("model", None, r"Simulator\(\.\.\., model="),
        ("worlds", 2, "cannot be changed"),
        ("metrics", {}, "told by it"),
        ("step", None, "told by it"),
        ("colour", "red", "no attribute 'colour'"),
    ],
)
def test_attributes_that_would_have_no_effect_are_errors(sim, name, value, hint):
    with pytest.raises(dl.ImmutableError, match=hint):
        setattr(sim, name, value)
    assert not hasattr(sim, name) or getattr(sim, name) is not value


def test_what_may_change_is_checked(sim):
    sim.on_error = "record"
    assert sim.on_error == "record"
    with pytest.raises(dl.UnknownNameError, match="on_error"):
        sim.on_error = "loud"
    sim.on_error = "raise"


def test_a_control_function_that_returns_nothing_is_an_error(sim):
    def forgetful(sim):
        np.zeros(1)

    with pytest.raises(dl.DataTypeError, match=r"step \d+, at .* forgetful returned None: return"):
        sim.rollout(2, forgetful)
    assert len(sim.rollout(2, lambda sim: sim.default_control)) == 2
    still = dl.Simulator(dl.reduce(arm(), {"elbow": 0.0}), actuators=())
    assert still.n_controls > 0


@pytest.mark.parametrize("worlds", [None, 2])
def test_a_world_that_diverged_is_revived_by_coordinates(worlds):
    sim = fallen(on_error="record", worlds=worlds)
    start = sim.q
    push = np.zeros((2, 6)) if worlds is None else np.zeros((2, 2, 6))
    push[..., :1, :3] = 1e150
    if worlds:
        push[1] = 0.0  # the other world goes on
    sim.step(wrenches=push)
    assert sim.failures[-1].kind == "diverged"
    lost = np.s_[0] if worlds else np.s_[:]
    sim.q = start
    assert not np.any(sim.v[lost])
    rec = sim.rollout(20, [0.2])
    assert np.isfinite(rec.q).all() and np.isfinite(rec.v).all()
    sim.on_error = "raise"
    fresh = dl.Simulator(arm(), threads=1)
    fresh.reset(start if worlds is None else start[0])
    fresh.rollout(20, [0.2])
    assert np.array_equal(sim.q[lost] if worlds else sim.q, fresh.q)
    for _ in range(2):  # and it may diverge again, and be reset
        with pytest.raises(dl.DivergenceError):
            sim.step(wrenches=push)
        sim.reset()
        sim.rollout(2)


def test_velocities_do_not_revive_a_world():
    sim = fallen(on_error="record")
    sim.step(wrenches=np.full((2, 6), 1e150))
    with pytest.raises(dl.SettingError, match=r"coordinates first, by sim\.q = q"):
        sim.v = np.zeros(7)
    sim.reset()
    sim.v = np.ones(7)
    assert np.allclose(sim.v, 1.0)


def test_keyframes_of_a_model_without_any_are_named_so():
    sim = dl.Simulator(arm().replace(keyframes={}))
    with pytest.raises(dl.UnknownNameError, match="no keyframe 'home': there are none"):
        sim.reset(keyframe="home")

"""Controls that are compiled: equal to those of Python functions, and clear where they fail."""

import math
from collections.abc import Callable

import numpy as np
import pytest

import delassus as dl

GAINS = np.array([20.0, 2.0])


def pendulum(**more):
    """A rod of 1 kg on a hinge, with a motor."""
    b = dl.ModelBuilder("pendulum")
    b.add_body(
        "rod", joint=dl.Revolute((0, 1, 0)), mass=1.0, com=(0, 0, -0.5), inertia=0.1 * np.eye(3)
    )
    motor = dl.Actuator("motor", "rod_joint", "torque")
    return dl.Simulator(b.build(), ground=False, actuators=[motor], **more)


@dl.compiled_control
def follow(t, q, v, u):
    """A spring and a damper towards a target that swings."""
    target, rate = math.sin(3.0 * t), 3.0 * math.cos(3.0 * t)
    u[0] = GAINS[0] * (target - q[0]) + GAINS[1] * (rate - v[0])


def by_python(law: Callable):
    """The control function of `rollout` that calls a law."""

    def control(sim):
        u = sim.default_control
        law(sim.time, sim.q, sim.v, u)
        return u

    return control


def test_a_compiled_control_does_what_the_python_function_does():
    runs = []
    for control in (follow, by_python(follow)):
        sim = pendulum()
        sim.reset([0.3], [0.5])
        runs.append(sim.rollout(2000, control))
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-12
    assert np.abs(runs[0].v - runs[1].v).max() < 1e-12
    targets = np.sin(3.0 * runs[0].time)
    assert np.abs(runs[0].q[-500:, 0] - targets[-500:]).max() < 0.3 < np.abs(targets).max()


def test_a_call_may_be_cut_into_parts():
    whole, parts = pendulum(), pendulum()
    whole.rollout(7)
    parts.rollout(7)
    expected = whole.rollout(1200, follow).q
    found = [parts.rollout(n, follow).q for n in (1, 250, 949)]
    assert np.array_equal(np.concatenate(found), expected)


def test_each_world_is_controlled_by_its_own_state():
    starts, runs = np.array([[0.1], [0.4], [-0.7]]), []
    for threads in (1, 2):
        sim = pendulum(worlds=3, threads=threads)
        sim.reset(starts)
        runs.append(sim.rollout(300, follow).q)
    assert np.array_equal(*runs)
    for k, start in enumerate(starts):
        sim = pendulum()
        sim.reset(start)
        assert np.array_equal(sim.rollout(300, follow).q, runs[0][k])


def test_the_control_of_a_keyframe_is_there_before():
    seen = []
    model = pendulum().model.replace(keyframes=[dl.Keyframe("home", q=[0.2], u=[1.5])])

    @dl.compiled_control
    def more(t, q, v, u):
        u[0] += 0.25

    for control in (more, None, [1.75]):
        sim = dl.Simulator(model, ground=False)
        sim.rollout(10, control)
        seen.append(sim.q[0])
    assert seen[0] == seen[2] != seen[1]


def test_a_target_that_changes_where_contacts_do_not_fit_their_slots():
    figure, runs = dl.robots.figure("fourbar_free"), []

    @dl.compiled_control
    def swing(t, q, v, u):
        u[0] = 0.5 * math.sin(10.0 * t)

    for slots in (1, 16):
        sim = dl.Simulator(figure.model, contact_slots=slots)
        sim.reset(figure.start)
        runs.append(sim.rollout(400, swing))
    assert runs[0].metrics["contacts"].max() > 1
    assert np.array_equal(runs[0].q, runs[1].q)
    given = 0.5 * np.sin(10.0 * 1e-3 * np.arange(400))[:, None]
    sim = dl.Simulator(figure.model)
    sim.reset(figure.start)
    assert np.abs(sim.rollout(400, given).q - runs[0].q).max() < 1e-9


@dl.compiled_control
def late(t, q, v, u):
    if t > 0.0505:
        u[0] = math.nan


@dl.compiled_control
def beyond(t, q, v, u):
    if t > 0.0505:
        u[len(u)] = 1.0


@pytest.mark.parametrize("law, what", [(late, "late gave nan"), (beyond, "beyond raised IndexErr")])
def test_a_control_that_fails_says_when_and_keeps_what_was_before(law, what):
    sim = pendulum()
    with pytest.raises(dl.SimulationError, match=what) as caught:
        sim.rollout(200, law)
    assert [f.kind for f in caught.value.failures] == ["control"]
    assert caught.value.failures[0].step == 52
    q = sim.recording.q[:, 0]
    assert np.isfinite(q[:51]).all() and np.isnan(q[51:]).all()


def test_a_world_whose_control_fails_does_not_stop_the_others():
    @dl.compiled_control
    def picky(t, q, v, u):
        u[0] = math.nan if abs(q[0]) > 0.5 else -50.0 * q[0] - 5.0 * v[0]

    sim = pendulum(worlds=2, on_error="record")
    sim.reset([[0.1], [0.6]])
    rec = sim.rollout(50, picky)
    assert [(f.kind, f.world, f.step) for f in sim.failures] == [("control", 1, 1)]
    assert np.isfinite(rec.q[0]).all() and np.isnan(rec.q[1]).all()


def unknown(t, q, v, u):
    u[0] = nowhere(q)  # noqa: F821


@pytest.mark.parametrize("wrong", [3, math.sin, lambda sim: sim.q])
def test_what_is_no_control_is_refused(wrong):
    with pytest.raises(dl.DelassusError, match="control"):
        dl.compiled_control(wrong)


def test_a_control_that_cannot_be_compiled_is_an_error():
    sim = pendulum()
    with pytest.raises(dl.DelassusError, match="unknown"):
        sim.rollout(5, dl.compiled_control(unknown))

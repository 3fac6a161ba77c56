"""Copies of simulators: by copy, by pickle, and in another process."""

import copy
import multiprocessing
import pickle

import numpy as np
import pytest

import delassus as dl
from delassus.viewer import view

from .arms import arm, fallen, same

KINDS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda sim: pickle.loads(pickle.dumps(sim)),
}


@dl.compiled_control
def swing(t, q, v, u):
    u[0] = 0.3 - v[6]


class Own(dl.Simulator):
    """A simulator of a user, with more arguments and attributes."""

    def __init__(self, model, goal):
        self.goal = goal
        super().__init__(model, threads=1)
        self.log = []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("worlds", [None, 3])
def test_a_copy_goes_on_as_the_original_and_shares_nothing(kind, worlds):
    sim = fallen(worlds=worlds, friction=0.3, on_error="record", bounds=dl.Bounds(penetration=1e-9))
    assert sim.failures
    made = KINDS[kind](sim)
    assert same(made, sim) and made.failures == sim.failures and made.time == sim.time
    assert made.recording is None and made.on_error == "record" and made.worlds == worlds
    before = sim.state()
    made.rollout(20)
    made.failures.clear()
    assert sim.failures and all(np.array_equal(before[n], x) for n, x in sim.state().items())
    sim.rollout(20)
    assert same(made, sim)


def test_a_copy_has_the_integrator_the_switches_and_the_world_that_diverged():
    sim = fallen(on_error="record")
    sim.use(integrator="euler")
    sim.step(wrenches=np.full((2, 6), 1e200))
    made = copy.copy(sim)
    assert made.integrator == "euler" and same(made, sim)
    b = dl.ModelBuilder("two")
    for name in "ab":
        b.add_body(name, joint=dl.Revolute((0, 1, 0)), mass=1.0, com=(0, 0, 0.1), inertia=np.eye(3))
    b.add_constraint(dl.Gear("a_joint", "b_joint", 2.0))
    sim = dl.Simulator(b.build(), ground=False)
    sim.disable(0)
    sim.q = [0.3, 0.1]
    sim.enable(0, here=True)
    made = pickle.loads(pickle.dumps(sim))
    assert same(made, sim)
    assert [c.offset for c in made.model.constraints] == [c.offset for c in sim.model.constraints]


@pytest.mark.parametrize("kind", KINDS)
def test_classes_of_users_keep_what_they_have_added(kind):
    sim = Own(arm(), [1.0])
    sim.log.append("x")
    made = KINDS[kind](sim)
    assert type(made) is Own and made.goal == [1.0] and made.log == ["x"] and same(made, sim)
    made.log.append("y")
    assert sim.log == ["x"]


def _rolled(sim):
    sim.rollout(10, swing)
    return sim


def test_a_simulator_goes_to_another_process_and_back():
    sim = fallen()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        back = pool.apply(_rolled, (sim,))
    assert same(back, _rolled(sim))


def test_compiled_controls_are_found_by_their_name():
    assert pickle.loads(pickle.dumps(swing)) is swing
    assert copy.copy(swing) is swing and copy.deepcopy([swing])[0] is swing
    lost = dl.compiled_control(lambda t, q, v, u: None)
    with pytest.raises(dl.DataTypeError, match="cannot be pickled"):
        pickle.dumps(lost)


def test_viewers_are_not_copied():
    pytest.importorskip("viser")
    viewer = view(arm(), port=8900)
    try:
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(dl.DataTypeError, match="a viewer cannot be copied"):
                copied(viewer)
    finally:
        viewer.close()

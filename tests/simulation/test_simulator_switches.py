"""Constraints that are switched while worlds move: clutches, grippers."""

import numpy as np
import pytest

import delassus as dl


def two_wheels():
    """Two wheels about z, of inertias 1 and 3, with a gear between them and a weld."""
    b = dl.ModelBuilder("wheels", gravity=(0, 0, 0))
    for name, inertia in (("a", 1.0), ("b", 3.0)):
        b.add_body(name, joint=dl.Revolute((0, 0, 1)), mass=1.0, inertia=inertia * np.eye(3))
    b.add_constraint(dl.Gear("a_joint", "b_joint", 1.0))
    b.add_constraint(dl.Closure(dl.Revolute((0, 0, 1)), "a", "b"))
    b.add_constraint(dl.Weld("a", "b"))
    return b.build()


@pytest.mark.parametrize("number", [0, 2])
def test_a_clutch_that_closes_shares_the_momentum(number):
    sim = dl.Simulator(two_wheels(), ground=False)
    for k in range(3):
        sim.disable(k)
    sim.reset([0.0, 0.0], [4.0, 0.0])
    sim.rollout(100)
    assert sim.v == pytest.approx([4.0, 0.0])
    assert sim.q == pytest.approx([0.4, 0.0])
    changed = sim.enable(number, here=True)
    assert changed.position < 1e-9
    assert changed.velocity == pytest.approx(3.0)
    sim.rollout(100)
    assert sim.v == pytest.approx([1.0, 1.0])  # 4 = (1 + 3) v
    assert sim.q == pytest.approx([0.5, 0.1])
    sim.disable(number)
    sim.rollout(10, control=[1.0, 0.0])
    assert sim.v == pytest.approx([1.01, 1.0])


def test_a_constraint_that_is_enabled_closes_again():
    sim = dl.Simulator(two_wheels(), ground=False)
    sim.disable("Gear 0")
    sim.disable(1)
    sim.disable(2)
    sim.reset([0.1, 0.0])
    assert sim.enable("Gear 0").position > 0.01
    assert sim.q[0] == pytest.approx(sim.q[1])
    with pytest.raises(dl.UnknownNameError, match="there is no constraint 'Geer 0'"):
        sim.enable("Geer 0")
    many = dl.Simulator(two_wheels(), ground=False, worlds=2)
    with pytest.raises(dl.SettingError, match="one world"):
        many.enable(0, here=True)


def test_references_come_back_with_a_state_in_a_file(tmp_path):
    def switched_off():
        sim = dl.Simulator(two_wheels(), ground=False)
        for k in range(3):
            sim.disable(k)
        sim.reset([0.0, 0.0], [4.0, 0.0])
        return sim

    sim, other = switched_off(), switched_off()
    begun, path = sim.state(), tmp_path / "state.npz"
    sim.rollout(50)
    sim.enable(2, here=True)
    sim.rollout(10, control=[1.0, 0.0])
    sim.disable(2)
    sim.rollout(20, control=[1.0, 0.0])
    sim.enable(0, here=True)
    sim.enable(2, here=True)  # from another position than before
    sim.rollout(10)
    np.savez(path, **sim.state())
    first = sim.rollout(50, control=[0.0, 1.0])
    assert np.ptp(first.q[:, 0] - first.q[:, 1]) < 1e-9
    assert abs(first.q[-1, 0] - first.q[-1, 1]) > 0.1
    for again in (sim, other):
        with np.load(path) as state:
            again.set_state(state)
        second = again.rollout(50, control=[0.0, 1.0])
        assert np.array_equal(second.q, first.q)
        assert np.array_equal(second.v, first.v)
        assert np.array_equal(again.reactions, sim.reactions)
    # A state without references has the constraints that the model declares.
    sim.set_state(begun)
    sim.rollout(50)
    assert sim.enable(0).position > 0.01
    assert sim.q[0] == pytest.approx(sim.q[1])
    assert sim.model.constraints == two_wheels().constraints
    with pytest.raises(dl.ShapeError, match="it has 3 constraints, not 1"):
        dl.Simulator(dl.robots.crank_rocker(), ground=False).set_state(begun)


def test_a_loop_that_opens_lets_its_rocker_fall():
    model = dl.robots.crank_rocker()
    held, free = (dl.Simulator(model, ground=False) for _ in range(2))
    free.disable(0)
    for sim in (held, free):
        sim.rollout(100)
    assert held.metrics["joint_error"] < 1e-5
    assert not np.allclose(held.q, free.q, atol=1e-3)
    assert np.abs(free.reactions[-1]).max() == 0.0
    # Without its loop the mechanism is the tree.
    tree = dl.Simulator(model.replace(constraints=[]), ground=False)
    tree.reset(dl.Simulator(model, ground=False).q)
    tree.rollout(100)
    assert tree.q == pytest.approx(free.q, abs=1e-9)

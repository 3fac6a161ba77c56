"""Mechanisms with many loops that move without friction keep their energy and their joints."""

import numpy as np
import pytest

import delassus as dl


@pytest.mark.parametrize("seed", range(4))
def test_a_thrown_mechanism_keeps_its_energy_and_its_joints(seed):
    """Joints that open by more than they may are closed, which costs a little energy."""
    model = dl.robots.walker()
    sim = dl.Simulator(model, ground=False)
    sim.reset(model.neutral(), np.random.default_rng(seed).normal(size=model.nv))
    told = sim.rollout(500).metrics
    energy = told["kinetic_energy"] + told["potential_energy"]
    assert np.abs(energy - energy[0]).max() < 1e-4 * told["kinetic_energy"].max()
    assert told["joint_error"].max() < 1e-5


def test_left_open_joints_take_no_energy():
    model = dl.robots.walker()
    sim = dl.Simulator(
        model, ground=False, stabilization=dl.maximal.Stabilization(joints=0.0, joint_opening=1.0)
    )
    sim.reset(model.neutral(), np.random.default_rng(2).normal(size=model.nv))
    told = sim.rollout(500).metrics
    energy = told["kinetic_energy"] + told["potential_energy"]
    assert np.abs(energy - energy[0]).max() < 1e-7 * told["kinetic_energy"].max()
    assert told["joint_error"].max() < 2e-5


def test_joints_between_bodies_without_mass_hold():
    """Three hinges of one body: the two bodies between them have no mass, but rotors."""
    b = dl.ModelBuilder("rod")
    for name, parent, axis in (("x", "world", (1, 0, 0)), ("z", "x", (0, 0, 1))):
        b.add_body(name, parent, dl.Revolute(axis), mass=0.0, armature=0.01)
    inertia = np.diag([0.08, 0.08, 0.004])
    hinge = dl.Revolute((0, 1, 0))
    b.add_body("rod", "z", hinge, mass=3.0, com=(0.05, 0, -0.25), inertia=inertia, armature=0.01)
    sim = dl.Simulator(b.build(), ground=False)
    sim.reset(np.zeros(3), [2.0, 1.0, 3.0])
    told = sim.rollout(1000).metrics
    energy = told["kinetic_energy"] + told["potential_energy"]
    assert told["joint_error"].max() < 1e-5
    assert np.ptp(energy) < 1e-3 * told["kinetic_energy"].max()


def test_couplings_of_several_joints_hold():
    """Differentials of Tello: a coupling touches up to five bodies."""
    model = dl.robots.tello()
    sim = dl.Simulator(model, ground=False)
    told = sim.rollout(100).metrics
    assert told["joint_error"].max() < 1e-9

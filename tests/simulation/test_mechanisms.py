"""Mechanisms with many loops that move without friction keep their energy and their joints."""

import numpy as np
import pytest

import delassus as dl


@pytest.mark.parametrize("seed", range(4))
def test_a_thrown_mechanism_keeps_its_energy_and_its_joints(seed):
    model = dl.robots.walker()
    sim = dl.Simulator(model, ground=False)
    sim.reset(model.neutral(), np.random.default_rng(seed).normal(size=model.nv))
    told = sim.rollout(500).metrics
    energy = told["kinetic_energy"] + told["potential_energy"]
    assert np.abs(energy - energy[0]).max() < 1e-7 * told["kinetic_energy"].max()
    assert told["joint_error"].max() < 2.5e-5  # of second order in dt


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


def test_driven_joints_are_closed_further_than_passive_ones():
    """What closing costs of energy matters to those that no actuator drives."""
    model = dl.robots.figure("gazelle").model
    q, home = model.keyframes["home"].q, model.keyframes["home"].u
    targets = home + 0.6 * np.sin(2.0 * np.pi * 1e-3 * np.arange(800))[:, None]
    sim = dl.Simulator(model, ground=False)
    sim.reset(q)
    assert sim.rollout(800, targets).metrics["joint_error"].max() < 1e-5
    assert sim.stabilization.joint_opening < 1e-5
    passive = dl.Simulator(model, ground=False, actuators=())
    assert passive.stabilization.joint_opening == dl.maximal.Stabilization().joint_opening

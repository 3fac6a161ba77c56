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
    assert told["joint_error"].max() < 2e-5

"""Whole simulations: each system through its scenario, by the simulator's own solver."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..measuring.timing import processor_clock
from .sampling import simulator
from .scenarios import DT, script
from .solving import TOLERANCE
from .store import Store, write_json

_SEED = 0


def simulate(folder: Path, system: str) -> None:
    """Two seconds of a system: what came of it, and steps a second of the processor's time."""
    run, clock = script(system, _SEED), processor_clock()
    sim = simulator(run)
    sim.rollout(2, run.controls[:2], wrenches=run.wrenches[:2])  # loads what is compiled
    sim.reset(run.q, run.v)
    begin = clock()
    metrics = sim.rollout(len(run.controls), run.controls, wrenches=run.wrenches).metrics
    seconds = clock() - begin
    made = np.isfinite(metrics["kinetic_energy"])
    energy = (metrics["kinetic_energy"] + metrics["potential_energy"])[made]
    told = {
        "system": system,
        "seconds_simulated": DT * int(made.sum()),
        "energy_change": float(energy[-1] - energy[0]),
        "largest_kinetic_energy": float(metrics["kinetic_energy"][made].max()),
        "most_contacts": int(metrics["contacts"][made].max()),
        "joint_error": float(metrics["joint_error"][made].max()),
        "penetration": float(metrics["penetration"][made].max()),
        "converged": float(np.mean(metrics["natural_map"][made] <= TOLERANCE)),
        "iterations": float(np.mean(metrics["iterations"][made])),
        "failures": sorted({failure.kind for failure in sim.failures}),
        "steps_per_second": int(made.sum()) / seconds,
    }
    write_json(Store(folder).simulation_path(system), told)

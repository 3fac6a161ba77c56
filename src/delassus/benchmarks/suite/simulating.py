"""Whole simulations: each system through its scenario by each solver, and by MuJoCo beside.

"mujoco" has rows as soft as MuJoCo makes them by itself, "mujoco-stiff" as stiff as it can be made.
Errors are the largest of all steps, iterations a mean. `converged` is the share of steps whose
natural map is at most 1e-6; for MuJoCo, whose steps solve a convex problem of soft rows, that of
steps that ended before its limit of iterations. Times are those of the processor.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ... import contact
from ... import mujoco as conventions
from ...errors import DelassusError, SettingError
from ..measuring.timing import processor_clock
from ..peers import mujoco as peer
from .sampling import simulator
from .scenarios import DT, Script, script
from .solving import TOLERANCE
from .store import Store, write_json

MUJOCO = {"mujoco": peer.USUAL, "mujoco-stiff": peer.STIFF}  # time constant, damping ratio of rows
_SEED = 0


def drivers() -> tuple[str, ...]:
    """All that drive a system: solvers, and MuJoCo if it is installed."""
    try:
        peer.mujoco()
    except DelassusError:
        return contact.SOLVERS
    return (*contact.SOLVERS, *MUJOCO)


def simulate(folder: Path, system: str, driver: str) -> None:
    """Two seconds of a system, and what came of it."""
    run = script(system, _SEED)
    told = _by_mujoco(run, driver) if driver in MUJOCO else drive(run, solver=driver)
    told = {"system": system, "driver": driver, **told}
    write_json(Store(folder).simulation_path(system, driver), told)


def drive(run: Script, **options: Any) -> dict[str, Any]:
    """A run by our simulator with some options: what came of it."""
    clock, sim = processor_clock(), simulator(run, **options)
    sim.rollout(2, run.controls[:2], wrenches=run.wrenches[:2])  # loads what is compiled
    sim.reset(run.q, run.v)
    begin = clock()
    metrics = sim.rollout(len(run.controls), run.controls, wrenches=run.wrenches).metrics
    seconds = clock() - begin
    made = np.isfinite(metrics["kinetic_energy"])
    m = {name: x[made] for name, x in metrics.items()}
    energy = m["kinetic_energy"] + m["potential_energy"]
    return {
        **_summary(energy, m["kinetic_energy"], m["contacts"], m["joint_error"], m["penetration"]),
        "converged": float(np.mean(m["natural_map"] <= TOLERANCE)),
        "iterations": float(np.mean(m["iterations"])),
        "failures": sorted({failure.kind for failure in sim.failures}),
        "steps_per_second": int(made.sum()) / seconds,
    }


def _summary(energy, kinetic, contacts, joint_error, penetration) -> dict[str, Any]:
    """What steps of any simulator came to."""
    return {
        "seconds_simulated": DT * len(energy),
        "energy_change": float(energy[-1] - energy[0]),
        "largest_kinetic_energy": float(np.max(kinetic)),
        "most_contacts": int(np.max(contacts)),
        "joint_error": float(np.max(joint_error)),
        "penetration": float(np.max(penetration)),
    }


def _by_mujoco(run: Script, driver: str) -> dict[str, Any]:
    """A run by MuJoCo, or why it cannot be had."""
    try:
        world = _World(run, MUJOCO[driver])
    except SettingError as error:
        return {"failures": [str(error)]}
    clock, seconds, rows = processor_clock(), 0.0, []
    for control, wrench in zip(run.controls, run.wrenches, strict=True):
        world.push(control, wrench[0])
        begin = clock()
        world.step()
        seconds += clock() - begin
        rows.append(world.look())
        if not np.isfinite(rows[-1]).all() or world.was_reset():
            rows.pop()
            break
    kinetic, potential, *rest, is_solved, iterations = np.array(rows).T
    return {
        **_summary(kinetic + potential, kinetic, *rest),
        "converged": float(np.mean(is_solved)),
        "iterations": float(np.mean(iterations)),
        "failures": ["diverged"] if len(rows) < len(run.controls) else [],
        "steps_per_second": len(rows) / seconds,
    }


class _World:
    """A run in MuJoCo."""

    def __init__(self, run: Script, reference: tuple[float, float]):
        self.mj, model = peer.mujoco(), run.figure.model
        self.model = peer.mujoco_model(model, DT, touches_all=True, reference=reference)
        self.data = self.mj.MjData(self.model)
        self.has_actuators = model.nu > 0
        # Bodies that are held have no coordinates there: the base comes first.
        held = bool(peer.held_bodies(model))
        self.data.qpos[:] = conventions.to_qpos(model, run.q)[7 * held :]
        self.data.qvel[:] = conventions.to_qvel(model, run.q, run.v)[6 * held :]
        self.mj.mj_forward(self.model, self.data)

    def push(self, control: np.ndarray, wrench: np.ndarray) -> None:
        """Controls, and a wrench in the axes of the first body about its origin."""
        if self.has_actuators:
            self.data.ctrl[:] = control
        R = self.data.xmat[1].reshape(3, 3)
        force, moment = R @ wrench[:3], R @ wrench[3:]
        self.data.qfrc_applied[:] = 0.0
        if wrench.any():
            self.mj.mj_applyFT(
                self.model, self.data, force, moment, self.data.xpos[1], 1, self.data.qfrc_applied
            )

    def step(self) -> None:
        """One step."""
        self.mj.mj_step(self.model, self.data)

    def was_reset(self) -> bool:
        """MuJoCo starts anew where a state is bad."""
        told = self.mj.mjtWarning
        kinds = told.mjWARN_BADQPOS, told.mjWARN_BADQVEL, told.mjWARN_BADQACC
        return any(self.data.warning[int(kind)].number > 0 for kind in kinds)

    def look(self) -> list[float]:
        """Energies, contacts, joint error, penetration, whether solved, iterations of a step."""
        mj, model, data = self.mj, self.model, self.data
        mj.mj_energyPos(model, data)
        mj.mj_energyVel(model, data)
        potential, kinetic = data.energy
        is_joint = data.efc_type == mj.mjtConstraint.mjCNSTR_EQUALITY
        error = np.abs(data.efc_pos[is_joint]).max(initial=0.0)
        distances = data.contact.dist[: data.ncon]
        depth = np.max(-distances, initial=0.0)
        touching = int(np.sum(distances < 0.0))
        iterations = int(np.max(data.solver_niter[: max(data.nisland, 1)]))
        is_solved = iterations < model.opt.iterations
        return [kinetic, potential, touching, error, depth, float(is_solved), float(iterations)]

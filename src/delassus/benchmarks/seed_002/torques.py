"""Torques of a leg if its rotors are left out, or only reflected: Fig. 13 of the paper."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import embed, inverse_dynamics, robots
from ..measuring.settings import Settings
from ..reporting.checks import Limit
from ..reporting.conclusions import Fact
from ..reporting.tables import Column, Findings, Table, named, numbers
from ..runner import Part
from . import plots

AMPLITUDE, FREQUENCY = 0.5, 1.5  # of all joints, in rad and 1/s
_PERIODS, _SAMPLES = 2, 400
# How rotors are left out, and the paper's root-mean-square errors, in N m.
PAPER = {"none": 4.31, "diagonal": 1.04}
PAPER_JOINT = "knee_joint"
_CLOSE = 0.01  # relative difference to the paper

TABLE = Table(
    "torques",
    "Leg of the MIT Humanoid: errors of torques without rotors, root mean square in N m (Fig. 13)",
    [
        *named("joint"),
        *numbers(".2f", largest="largest torque", none="without rotors"),
        Column("none_percent", "", ".1f", " %"),
        *numbers(".2f", paper_none="paper"),
        *numbers(".2f", diagonal="reflected inertia"),
        Column("diagonal_percent", "", ".1f", " %"),
        *numbers(".2f", paper_diagonal="paper"),
        *(Column(key, is_shown=False) for key in ("times", "torques")),
    ],
    note=f"All joints at {AMPLITUDE} sin(2 pi {FREQUENCY} t) rad. Errors are relative to embedded\n"
    "inverse dynamics, per cent of its largest torque. The paper calls the joint the ankle; its\n"
    "numbers are those of the knee, whose torque drives both (39.2 and 9.5 % of the largest).",
)


def measure(settings: Settings) -> Findings:
    """One record per joint."""
    embedding = embed(robots.mit_humanoid_leg())
    times, motion = _motion(embedding.nv)
    exact = inverse_dynamics(embedding, *motion)
    found = {rotors: inverse_dynamics(robots.mit_humanoid_leg(rotors), *motion) for rotors in PAPER}
    errors = {rotors: np.sqrt(np.mean((x - exact) ** 2, axis=0)) for rotors, x in found.items()}
    records = []
    for k, joint in enumerate(embedding.independent_joints):
        largest = np.abs(exact[:, k]).max()
        record = {"joint": joint, "largest": float(largest), "times": times.tolist()}
        record["torques"] = {
            name: x[:, k].tolist() for name, x in {"embedded": exact, **found}.items()
        }
        for rotors, error in errors.items():
            record[rotors] = float(error[k])
            record[f"{rotors}_percent"] = float(100.0 * error[k] / largest)
            if joint == PAPER_JOINT:
                record[f"paper_{rotors}"] = PAPER[rotors]
                record[f"{rotors}_off"] = abs(error[k] / PAPER[rotors] - 1.0)
        records.append(record)
    return {"torques": records}


def _motion(joints: int) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Times, and angles, velocities and accelerations of joints that move alike."""
    times = np.linspace(0.0, _PERIODS / FREQUENCY, _SAMPLES, endpoint=False)
    w = 2.0 * np.pi * FREQUENCY
    angles = AMPLITUDE * np.sin(w * times)
    rates = AMPLITUDE * w * np.cos(w * times)
    return times, tuple(np.tile(x[:, None], joints) for x in (angles, rates, -(w**2) * angles))


def conclude(findings: Findings) -> Iterator[Fact]:
    """The errors at the joint that the paper measured."""
    (knee,) = [r for r in findings["torques"] if r["joint"] == PAPER_JOINT]
    found = {rotors: knee[rotors] for rotors in PAPER}
    yield Fact(
        "torque_errors",
        found,
        f"knee torque, error without rotors {knee['none']:.2f} N m (paper {PAPER['none']}), with "
        f"reflected inertia {knee['diagonal']:.2f} N m (paper {PAPER['diagonal']})",
    )


PART = Part(
    "torques",
    cases=lambda _: [()],
    measure=measure,
    tables=[TABLE],
    limits=[
        Limit("torques", f"{rotors}_off", f"{{joint}}: {{{rotors}:.3f}} N m is not the paper's",
              _CLOSE)
        for rotors in PAPER
    ],
    plots={"torques": plots.torques},
)  # fmt: skip

"""A first look: the dynamics of real robots, and its time, beside Pinocchio's."""

from __future__ import annotations

import sys
import time
from importlib.metadata import version

import numpy as np

from .. import Model, gravity_forces, kinetic_energy
from .comparing.algorithms import FORWARD_DYNAMICS, INVERSE_DYNAMICS
from .comparing.tree_dynamics import compare
from .measuring.jobs import Job, run_jobs
from .measuring.machine import processor
from .measuring.settings import Settings
from .peers.packages import pinocchio
from .peers.pinocchio import PinocchioPeer, load_pair
from .reporting.tables import Column, Table

ROBOTS = ("panda", "hyq", "g1", "talos", "tiago")
_SETTINGS = Settings(states=1024, repeats=7, match_seconds=0.3)
_ALGORITHMS = {"id": INVERSE_DYNAMICS, "fd": FORWARD_DYNAMICS}
_LARGEST_DIFFERENCE = 1e-9


def demonstrate() -> int:
    """Print what the robots are, how fast they are evaluated and how well the results agree."""
    pinocchio()
    start = time.perf_counter()
    print(
        f"Delassus {version('delassus')}: five robots, their inverse and forward dynamics, and the "
        f"same by Pinocchio {version('pin')}.\n"
        f"All on one core of {processor()}; the first run compiles for a while.\n",
        flush=True,
    )
    pairs = run_jobs([Job(name, lambda name=name: load_pair(name)) for name in ROBOTS], "loading")
    pairs = dict(zip(ROBOTS, pairs, strict=True))
    records = run_jobs(
        [Job(name, lambda name=name: _evaluate(name, *pairs[name])) for name in ROBOTS], "robots"
    )
    print(_mechanisms(records), _speeds(records), sep="\n\n")
    seconds = time.perf_counter() - start
    print(f"\n{seconds:.0f} s. Next: delassus info talos, delassus bench, delassus --help.")
    worst = max(record["difference"] for record in records)
    if not worst <= _LARGEST_DIFFERENCE:
        print(f"FAILED: the results differ from Pinocchio's by {worst:.1e}", file=sys.stderr)
        return 1
    return 0


def _evaluate(name: str, model: Model, peer: PinocchioPeer) -> dict[str, object]:
    rng = np.random.default_rng(0)
    q, v = model.random_configuration(rng), rng.standard_normal(model.nv)
    record = {
        "robot": name,
        "joints": len(model.joints),
        "nv": model.nv,
        "mass": model.mass,
        "gravity": float(np.linalg.norm(gravity_forces(model, q))),
        "energy": float(kinetic_energy(model, q, v)),
        "difference": 0.0,
    }
    for key, algorithm in _ALGORITHMS.items():
        single, batch = compare(model, peer, algorithm, _SETTINGS)
        record[f"{key}_single"] = single["microseconds"]
        record[f"{key}_single_ratio"] = single["ratio"]
        record[f"{key}_batch"] = batch["microseconds"]
        record[f"{key}_batch_ratio"] = batch["ratio"]
        found = (record["difference"], single["difference"], batch["difference"])
        record["difference"] = max(found)
    return record


def _mechanisms(records: list[dict[str, object]]) -> Table:
    columns = [
        Column("robot"), Column("joints"), Column("nv"),
        Column("mass", "mass", ".1f", " kg"),
        Column("gravity", "|gravity forces|", ".1f"),
        Column("energy", "kinetic energy", ".1f", " J"),
        Column("difference", "difference to Pinocchio", ".0e"),
    ]  # fmt: skip
    note = (
        "gravity forces and kinetic energy: at one random state; difference: of inverse and\n"
        f"forward dynamics, relative, the largest of {_SETTINGS.states} random states."
    )
    return Table("mechanisms", "What they are", columns, records, note)


def _speeds(records: list[dict[str, object]]) -> Table:
    columns = [Column("robot")]
    for key in _ALGORITHMS:
        columns += [
            Column(f"{key}_single", f"{key.upper()}, one state", ".2f", " µs"),
            Column(f"{key}_single_ratio", "", ".1f", "x"),
            Column(f"{key}_batch", f"{key.upper()}, batch", ".2f", " µs"),
            Column(f"{key}_batch_ratio", "", ".1f", "x"),
        ]
    note = (
        "x: how many times faster than Pinocchio in this run. One state: a call from Python;\n"
        "batch: against the better of a loop over its calls and its own batch function."
    )
    title = "How long a state takes: inverse dynamics (ID) and forward dynamics (FD)"
    return Table("speeds", title, columns, records, note)

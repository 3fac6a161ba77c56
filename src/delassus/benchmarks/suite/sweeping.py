"""Stabilisation and softening over their parameters: Sec. V-C and V-D of the report of seed 001.

Three systems go through their scenarios by semi-implicit Euler steps, for which both are made:

- stabilisation: all rows take away a part of their error in each step, (89) to (93)
- softening: joints and contacts are springs and dampers, with a time constant and a damping ratio

beside the two ways of steps that reflect joints: as they are, and with displacements that close
joints after each step.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...maximal import Softening, Stabilization
from .scenarios import script
from .simulating import drive
from .store import Store, write_json

SYSTEMS = ("nunchuk", "fourbar_free", "walker")
KINDS = {
    "part": "stabilisation: part of the error a step",
    "time constant": "softening: time constant, s",
    "damping ratio": "softening: damping ratio",
}
_PARTS = (0.0, 0.001, 0.01, 0.1, 0.2, 0.5, 0.8, 1.0)
_TIMES = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
_RATIOS = (0.2, 0.5, 1.0, 2.0, 5.0)
_SPEED = 1.0  # m/s, of overlaps that are taken away
_SEED = 0


def settings() -> Iterator[tuple[str, float, dict[str, Any]]]:
    """Kind, value, and options of a simulator."""
    for x in _PARTS:
        yield "part", x, _stabilised(joints=x, limits=x, contacts=x)
    for kind, values in (("time_constant", _TIMES), ("damping_ratio", _RATIOS)):
        for x in values:
            soft = Softening(**{kind: x})
            options = {**_stabilised(soft_joints=soft), "soft_contacts": soft}
            yield kind.replace("_", " "), x, options
    yield "midpoint", 0.0, {"displacement": False}
    yield "midpoint, displacement", 0.0, {"displacement": True}


def _stabilised(**parts: Any) -> dict[str, Any]:
    held = Stabilization(depenetration_speed=_SPEED, **parts)
    return {"integrator": "euler", "stabilization": held}


def sweep(folder: Path, system: str) -> None:
    """A system with all parameters, one after the other."""
    run = script(system, _SEED)
    records = [
        {"system": system, "kind": kind, "value": value, **drive(run, **options)}
        for kind, value, options in settings()
    ]
    write_json(Store(folder).sweep_path(system), records)

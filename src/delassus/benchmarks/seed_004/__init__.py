"""Derivatives of dynamics: Table I of Carpentier and Mansard, beside Pinocchio of today.

Analytical Derivatives of Rigid Body Dynamics Algorithms, RSS 2018.
"""

from __future__ import annotations

from functools import partial
from itertools import product

from ... import Model, operation_count
from ..comparing.problems import robot_pair
from ..measuring.settings import Settings
from ..peers.packages import casadi
from ..peers.pinocchio import PinocchioPeer
from ..reporting.conclusions import Largest
from ..reporting.tables import Findings, Table, named, numbers
from ..runner import Benchmark, Part
from . import accuracy, plots, ratios, times
from .automatic import differentiate
from .rows import FORWARD, INVERSE, ROBOTS, Dynamics, paper_microseconds

__all__ = ["SEED_004"]

OPERATIONS = Table(
    "operations",
    "Arithmetic operations a state, ours",
    [
        *named("robot"),
        *numbers(",", value=INVERSE.row, derivatives=INVERSE.analytical),
        *numbers(".2f", ratio="ratio"),
    ],
)


def _dynamics(
    dynamics: Dynamics, model: Model, peer: PinocchioPeer, settings: Settings
) -> Findings:
    """Times of dynamics and of its derivatives, and whether the derivatives are right."""
    automatic = differentiate(dynamics.algorithm, model)
    return {
        "times": times.time_dynamics(model, peer, dynamics, automatic, settings),
        "accuracy": [accuracy.check(model, peer, dynamics, automatic, settings)],
    }


def _inverses(model: Model, peer: PinocchioPeer, settings: Settings) -> Findings:
    """Times of both ways to invert the mass matrix."""
    return {"times": times.time_inverses(model, peer, settings)}


def _operations(model: Model, _: PinocchioPeer, settings: Settings) -> Findings:
    """Numbers of operations of inverse dynamics and of its derivatives."""
    value, derivatives = (
        operation_count(algorithm.function, model).total
        for algorithm in (INVERSE.algorithm, INVERSE.derivatives)
    )
    ratio = derivatives / value
    return {"operations": [{"value": value, "derivatives": derivatives, "ratio": ratio}]}


_MEASURES = {
    INVERSE.row: partial(_dynamics, INVERSE),
    FORWARD.row: partial(_dynamics, FORWARD),
    "M^-1": _inverses,
    "operations": _operations,
}


def measure(robot: str, what: str, settings: Settings) -> Findings:
    """Records of one robot, with its name, and times with those of the paper."""
    model, peer = robot_pair(robot)
    found = _MEASURES[what](model, peer, settings)
    for record in (record for records in found.values() for record in records):
        record |= {"robot": robot, "nv": model.nv}
    for record in found.get("times", ()):
        record["paper_microseconds"] = paper_microseconds(record["row"], robot)
    return found


SEED_004 = Benchmark(
    name="seed-004",
    description="derivatives of dynamics against Pinocchio",
    title="Derivatives of dynamics against Pinocchio (Carpentier and Mansard 2018, Table I)",
    parts=(
        Part(
            "derivatives",
            cases=lambda _: product(ROBOTS, _MEASURES),
            measure=measure,
            tables=[times.TABLE, accuracy.TABLE, OPERATIONS],
            limits=[times.LIMIT, *accuracy.LIMITS],
            plots={"times": plots.times},
        ),
    ),
    derived=(ratios.RATIOS,),
    conclusions=(
        ratios.conclude,
        Largest("largest_difference", ["times"], "difference", "difference to Pinocchio"),
    ),
    needs=(casadi,),
)

"""All that is measured and checked: jobs for each robot, tables of what they find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial

import delassus

from ...model.model import Model
from ..pinocchio_peer import PinocchioPeer, load_pair
from ..progress import Job
from ..report import Column, Table
from ..settings import Settings
from . import accuracy, times
from .automatic import differentiate
from .rows import FORWARD, INVERSE, ROBOTS, Dynamics, paper_microseconds

# What a job returns: records by the table that they belong to.
Found = dict[str, list[dict[str, object]]]


def jobs(settings: Settings) -> list[Job]:
    """A job for each robot and part."""
    parts = {
        "ID": partial(_dynamics, INVERSE),
        "FD": partial(_dynamics, FORWARD),
        "M^-1": _inverses,
        "operations": _operations,
    }
    pair = cache(load_pair)
    return [
        Job(
            f"{robot}, {label}",
            lambda robot=robot, part=part: _named(robot, *pair(robot), part, settings),
        )
        for robot in ROBOTS
        for label, part in parts.items()
    ]


def _named(
    robot: str, model: Model, peer: PinocchioPeer, part: Callable, settings: Settings
) -> Found:
    what = {"robot": robot, "nv": model.nv}
    found = part(model, peer, settings)
    return {key: [what | row for row in rows] for key, rows in found.items()}


def _dynamics(dynamics: Dynamics, model: Model, peer: PinocchioPeer, settings: Settings) -> Found:
    automatic = differentiate(dynamics.function, model)
    return {
        "times": times.time_dynamics(model, peer, dynamics, automatic, settings),
        "accuracy": [accuracy.check(model, peer, dynamics, automatic, settings)],
    }


def _inverses(model: Model, peer: PinocchioPeer, settings: Settings) -> Found:
    return {"times": times.time_inverses(model, peer, settings)}


def _operations(model: Model, _: PinocchioPeer, settings: Settings) -> Found:
    value, derivatives = (
        delassus.operation_count(getattr(delassus, algorithm.name), model).total
        for algorithm in (INVERSE.function, INVERSE.derivatives)
    )
    ratio = derivatives / value
    return {"operations": [{"value": value, "derivatives": derivatives, "ratio": ratio}]}


def tables(records: Sequence[Found]) -> list[Table]:
    """Times, differences and numbers of operations."""
    rows = {
        key: [row for found in records for row in found.get(key, ())]
        for key in ("times", "accuracy", "operations")
    }
    for row in rows["times"]:
        row["paper_microseconds"] = paper_microseconds(row["row"], row["robot"])
    columns = [
        Column("robot"),
        Column("value", INVERSE.row, ","),
        Column("derivatives", INVERSE.analytical, ","),
        Column("ratio", "ratio", ".2f"),
    ]
    title = "Arithmetic operations a state, ours"
    return [
        times.table(rows["times"]),
        accuracy.table(rows["accuracy"]),
        Table("operations", title, columns, rows["operations"]),
    ]

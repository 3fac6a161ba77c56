"""What a second thread and single precision bring."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from ... import robots
from ...model.model import Model
from ..algorithms import Algorithm, own_timer, result_array
from ..progress import Job
from ..report import Column, Table
from ..settings import Settings
from ..states import States, largest_difference
from ..timing import best_times
from .comparison import ALGORITHMS

ROBOTS = ("panda", "talos")
_MICROSECONDS = 1e6


def jobs(settings: Settings) -> list[Job]:
    """A job for each robot and algorithm."""
    load = cache(robots.load)
    return [
        Job(
            f"{robot}, {algorithm.label}, threads and precision",
            lambda robot=robot, algorithm=algorithm: (
                {"robot": robot} | _scale(load(robot), algorithm, settings)
            ),
        )
        for robot in ROBOTS
        for algorithm in ALGORITHMS
    ]


def _scale(model: Model, algorithm: Algorithm, settings: Settings) -> dict[str, object]:
    double = States.random(model, settings.states, settings.seed)
    single = double.astype(np.float32)
    out, single_out = result_array(algorithm, double), result_array(algorithm, single)
    times = best_times(
        {
            "one": own_timer(algorithm, model, double, out, threads=1),
            "two": own_timer(algorithm, model, double, out, threads=2),
            "single": own_timer(algorithm, model, single, single_out, threads=1),
        },
        settings,
    )
    one, two, float32 = (_MICROSECONDS * t / len(double.q) for t in times.values())
    return {
        "algorithm": algorithm.label,
        "one_thread_microseconds": one,
        "two_threads_microseconds": two,
        "thread_ratio": one / two,
        "float32_microseconds": float32,
        "float32_ratio": one / float32,
        "float32_difference": largest_difference(single_out, out),
    }


def tables(records: Sequence[dict]) -> list[Table]:
    """One table: a row a robot and algorithm."""
    columns = [
        Column("robot"), Column("algorithm"),
        Column("one_thread_microseconds", "one thread", ".3f"),
        Column("two_threads_microseconds", "two threads", ".3f"),
        Column("thread_ratio", "ratio", ".2f"),
        Column("float32_microseconds", "float32", ".3f"),
        Column("float32_ratio", "ratio", ".2f"),
        Column("float32_difference", "difference", ".0e"),
    ]  # fmt: skip
    title = "Microseconds a state in a batch: two threads, and float32 on one thread"
    note = "Two threads need two idle cores: see the load above."
    return [Table("scaling", title, columns, records, note)]

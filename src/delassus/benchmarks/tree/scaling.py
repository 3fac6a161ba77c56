"""How much faster batches are with a second thread, and in single precision."""

from __future__ import annotations

from itertools import product

import numpy as np

from ... import robots
from ..comparing.algorithms import Algorithm, own_timer, result_array
from ..measuring.settings import Settings
from ..measuring.states import States, largest_difference
from ..measuring.timing import MICROSECONDS, best_times
from ..reporting.tables import Findings, Table, named, numbers
from ..runner import Part
from .comparison import ALGORITHMS

ROBOTS = ("panda", "talos")

TABLE = Table(
    "scaling",
    "Microseconds a state in a batch: two threads, and float32 on one thread",
    [
        *named("robot", "algorithm"),
        *numbers(".3f", one_thread_microseconds="one thread"),
        *numbers(".3f", two_threads_microseconds="two threads"),
        *numbers(".2f", thread_ratio="ratio"),
        *numbers(".3f", float32_microseconds="float32"),
        *numbers(".2f", float32_ratio="ratio"),
        *numbers(".0e", float32_difference="difference"),
    ],
    note="Two threads need two idle cores: see the load above.",
)


def measure(robot: str, algorithm: Algorithm, settings: Settings) -> Findings:
    """One record: times of a batch by one thread, by two, and in single precision."""
    model = robots.load(robot)
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
    one, two, float32 = (MICROSECONDS * t / len(double.q) for t in times.values())
    record = {
        "robot": robot,
        "algorithm": str(algorithm),
        "one_thread_microseconds": one,
        "two_threads_microseconds": two,
        "thread_ratio": one / two,
        "float32_microseconds": float32,
        "float32_ratio": one / float32,
        "float32_difference": largest_difference(single_out, out),
    }
    return {"scaling": [record]}


PART = Part(
    "threads and precision",
    cases=lambda _: product(ROBOTS, ALGORITHMS),
    measure=measure,
    tables=[TABLE],
)

"""Times of short pieces of code that compete with each other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from timeit import Timer

from .settings import Settings


def best_times(contestants: Mapping[str, Timer], settings: Settings) -> dict[str, float]:
    """The shortest time of a call of each contestant, in seconds.

    The contestants take turns, so that what disturbs the machine disturbs all of them, and each
    turn repeats its call until it takes long enough to be measured.
    """
    calls = {name: _calls(timer, settings.least_seconds) for name, timer in contestants.items()}
    best = dict.fromkeys(contestants, math.inf)
    for _ in range(settings.repeats):
        for name, timer in contestants.items():
            best[name] = min(best[name], timer.timeit(calls[name]) / calls[name])
    return best


def _calls(timer: Timer, least_seconds: float) -> int:
    timer.timeit(1)  # compiles, loads and warms the caches
    calls, seconds = 1, timer.timeit(1)
    while seconds < least_seconds / 2:
        calls = max(2 * calls, min(10 * calls, int(calls * least_seconds / max(seconds, 1e-9))))
        seconds = timer.timeit(calls)
    return calls


def geometric_mean(values: Iterable[float]) -> float:
    """The mean that treats a ratio of 2 and one of 1/2 alike."""
    logarithms = [math.log(x) for x in values]
    return math.exp(math.fsum(logarithms) / len(logarithms))


def mean_and_least(records: Sequence[Mapping], key: str) -> tuple[float, float]:
    """Geometric mean and minimum of one entry of the records that have it."""
    values = [record[key] for record in records if record[key] is not None]
    return geometric_mean(values), min(values)

"""Times of short pieces of code that compete with each other."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from timeit import Timer

from .settings import Settings

_FINE = 1e-6  # seconds


def best_times(contestants: Mapping[str, Timer], settings: Settings) -> dict[str, float]:
    """The shortest time of a call of each contestant, in seconds.

    The contestants take turns, so that what disturbs the machine disturbs all of them. A turn
    repeats its call until it can be measured, but is shorter than what a scheduler gives to
    another process, so that some turns stay undisturbed on a busy machine. Calls that take longer
    than that, on one thread, are better measured by the `processor_clock`.
    """
    calls = {name: _calls(timer, settings.turn_seconds) for name, timer in contestants.items()}
    best = dict.fromkeys(contestants, math.inf)
    start, rounds = time.perf_counter(), 0
    while rounds < settings.repeats or time.perf_counter() - start < settings.match_seconds:
        for name, timer in contestants.items():
            if calls[name] > 1:
                timer.timeit(1)  # short calls would pay for the caches that others have filled
            best[name] = min(best[name], timer.timeit(calls[name]) / calls[name])
        rounds += 1
    return best


def processor_clock() -> Callable[[], float]:
    """A clock that stands still while other processes have the core, where there is a fine one."""
    is_fine = time.get_clock_info("process_time").resolution <= _FINE
    return time.process_time if is_fine else time.perf_counter


def _calls(timer: Timer, turn_seconds: float) -> int:
    timer.timeit(1)  # compiles, loads and warms the caches
    # Of several, since one that something interrupts would pass for a long call.
    calls, seconds = 1, min(timer.repeat(3, 1))
    while seconds < turn_seconds / 2:
        calls = max(2 * calls, min(10 * calls, int(calls * turn_seconds / max(seconds, 1e-9))))
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

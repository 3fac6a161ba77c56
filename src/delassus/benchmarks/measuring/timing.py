"""Times of short pieces of code that compete with each other."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from timeit import Timer
from typing import TypeVar

import numpy as np

from .settings import Settings

Name = TypeVar("Name")

MICROSECONDS, NANOSECONDS = 1e6, 1e9  # in a second
_FINE = 1e-6  # seconds; a clock with longer ticks cannot time a call


def best_times(
    contestants: Mapping[Name, Timer],
    settings: Settings,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[Name, float]:
    """The shortest time of a call of each contestant, in seconds by the clock.

    The contestants take turns, so that what disturbs the machine disturbs all of them. A turn
    repeats its call until it can be measured, but is shorter than what a scheduler gives to
    another process, so that some turns stay undisturbed on a busy machine. Longer calls on one
    thread are better measured by the `processor_clock`.
    """
    for timer in contestants.values():
        timer.timer = clock
    calls = {name: _calls(timer, settings.turn_seconds) for name, timer in contestants.items()}
    best = dict.fromkeys(contestants, math.inf)
    start, rounds = time.perf_counter(), 0
    while rounds < settings.repeats or time.perf_counter() - start < settings.match_seconds:
        for name, timer in contestants.items():
            if calls[name] > 1:
                timer.timeit(1)  # fills the caches again, which other contestants have used
            best[name] = min(best[name], timer.timeit(calls[name]) / calls[name])
        rounds += 1
    return best


def processor_clock() -> Callable[[], float]:
    """A clock that stops while other processes use the core; the usual one if it is too coarse."""
    is_fine = time.get_clock_info("process_time").resolution <= _FINE
    return time.process_time if is_fine else time.perf_counter


def _calls(timer: Timer, turn_seconds: float) -> int:
    """How many calls take about as long as a turn."""
    timer.timeit(1)  # compiles, loads and warms the caches
    # The shortest of several: a call that was interrupted would look like a long one.
    calls, seconds = 1, min(timer.repeat(3, 1))
    while seconds < turn_seconds / 2:
        calls = max(2 * calls, min(10 * calls, int(calls * turn_seconds / max(seconds, 1e-9))))
        seconds = timer.timeit(calls)
    return calls


def state_timer(
    statement: str, scope: Mapping[str, object], arrays: Mapping[str, np.ndarray], is_batch: bool
) -> Timer:
    """A timer of a statement on one state, or on the states of a batch one after the other.

    `arrays` holds what differs from state to state (inputs, and places for results), `scope` all
    other names of the statement. For a batch the arrays have a first axis of states, and the
    statement sees one row of each.
    """
    loop = ""
    if is_batch:
        # The loop's variables must not shadow the arrays that they come from.
        every = [f"all_{name}" for name in arrays]
        loop = f"for {', '.join(arrays)}, in zip({', '.join(every)}): "
        arrays = dict(zip(every, arrays.values(), strict=True))
    return Timer(loop + statement, globals={**scope, **arrays})

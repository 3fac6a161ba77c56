"""Timers, states and what is known of the machine."""

import time
from timeit import Timer

import numpy as np
import pytest

import delassus as dl
from delassus.benchmarks.measuring import machine
from delassus.benchmarks.measuring.settings import Settings
from delassus.benchmarks.measuring.states import States, largest_difference
from delassus.benchmarks.measuring.timing import best_times, processor_clock, state_timer

SHORT = Settings(repeats=3, turn_seconds=1e-3, match_seconds=0.0)


def test_slower_code_takes_longer():
    timers = {"slow": Timer("sum(range(1000))"), "fast": Timer("pass")}
    for clock in (time.perf_counter, processor_clock()):
        times = best_times(timers, SHORT, clock)
        assert times["slow"] > 10.0 * times["fast"]


def test_processor_clock_stands_still_while_others_run():
    clock = processor_clock()
    if clock is time.perf_counter:
        pytest.skip("this system has no fine clock of the processor")
    assert Timer("sleep(0.05)", "from time import sleep", clock).timeit(1) < 0.02
    assert Timer("sum(range(10**6))", timer=clock).timeit(1) > 1e-4


@pytest.mark.parametrize("shape", [(2,), (5, 2)])
def test_a_statement_runs_on_one_state_or_on_each_of_a_batch(shape):
    x, out = np.random.default_rng(0).random(shape), np.zeros(shape)
    arrays = {"x": x, "out": out}
    state_timer("out[:] = double(x)", {"double": lambda x: 2 * x}, arrays, len(shape) > 1).timeit(1)
    assert np.array_equal(out, 2 * x)


def test_states_can_be_taken_from_a_batch():
    states = States.random(dl.robots.load("hyq"), 7, seed=0)
    assert (states.count, states.first(3).count, states.at(2).count) == (7, 3, 1)
    assert states.is_batch and not states.first().is_batch
    assert np.array_equal(states.at(2).q, states.q[2])
    assert not states.at_rest().v.any()


def test_difference_is_that_of_the_worst_state():
    reference = np.array([[1.0, 10.0], [2.0, 4.0]])
    result = reference + np.array([[0.0, 0.1], [0.0, 0.4]])
    assert largest_difference(result, reference) == pytest.approx(0.1)
    result[0, 0] = np.nan
    assert np.isnan(largest_difference(result, reference))


def test_machine_is_described():
    found = machine.describe()
    assert found["processor"] and found["cores"] >= 1
    assert {"delassus", "numba"} <= set(found["versions"])


def test_compiled_kernels_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(machine.cache, "folder", lambda: tmp_path)
    assert machine.compiled_kernels()[0] == 0
    # Two ways into one kernel, and a file of another kind.
    for name in ("crba_single.kernel", "crba_batch64.kernel", "crba_batch64.kernel.x.part"):
        (tmp_path / name).touch()
    compiled, known, folder = machine.compiled_kernels()
    assert (compiled, folder) == (1, tmp_path)
    assert known == len(machine.kernels()) > 10

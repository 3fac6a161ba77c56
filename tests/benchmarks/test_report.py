import time
from timeit import Timer

import pytest

from delassus.benchmarks.report import Column, Table
from delassus.benchmarks.settings import Settings
from delassus.benchmarks.timing import (
    best_times,
    geometric_mean,
    mean_and_least,
    processor_clock,
)


def test_table_aligns_and_marks_what_is_missing():
    columns = [Column("name"), Column("value", "µs", ".2f"), Column("ratio", "", ".1f", "x")]
    records = [{"name": "a", "value": 1.0, "ratio": 2.0}, {"name": "bcd", "value": 10.0}]
    table = Table("key", "Title", columns, records, "note")
    assert str(table).splitlines() == [
        "Title",
        "─────────────────",
        "name     µs",
        "─────────────────",
        "a      1.00  2.0x",
        "bcd   10.00     -",
        "─────────────────",
        "note",
    ]
    assert table.data()[1] == {"name": "bcd", "value": 10.0, "ratio": None}


def test_slower_code_takes_longer():
    settings = Settings(repeats=3, turn_seconds=1e-3, match_seconds=0.0)
    times = best_times({"slow": Timer("sum(range(1000))"), "fast": Timer("pass")}, settings)
    assert times["slow"] > 10.0 * times["fast"]


def test_processor_clock_stands_still_while_others_run():
    clock = processor_clock()
    if clock is time.perf_counter:
        pytest.skip("this system has no fine clock of the processor")
    assert Timer("sleep(0.05)", "from time import sleep", clock).timeit(1) < 0.02
    assert Timer("sum(range(10**6))", timer=clock).timeit(1) > 1e-4


def test_means_of_ratios():
    assert geometric_mean([2.0, 0.5]) == pytest.approx(1.0)
    records = [{"x": 4.0}, {"x": None}, {"x": 1.0}]
    assert mean_and_least(records, "x") == (pytest.approx(2.0), 1.0)

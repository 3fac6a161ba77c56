"""The runner, on a benchmark that measures nothing."""

from dataclasses import replace

import pytest

pytest.importorskip("pinocchio")

from delassus.benchmarks import BENCHMARKS, Settings
from delassus.benchmarks.reporting.checks import Limit
from delassus.benchmarks.reporting.conclusions import Spread
from delassus.benchmarks.reporting.tables import Table, named
from delassus.benchmarks.runner import Benchmark, Derived, Part
from delassus.cli import main

SQUARES = Part(
    "squares",
    cases=lambda settings: [(k,) for k in range(1, settings.repeats + 1)],
    measure=lambda k, settings: {"squares": [{"number": k, "square": k * k}]},
    tables=[Table("squares", "Squares", named("number", "square"))],
    limits=[Limit("squares", "square", "the square of {number} is too large", 4)],
)
COUNTS = Part(
    "counts",
    cases=lambda settings: [()] if settings.count_operations else [],
    measure=lambda settings: {"counts": [{"count": 1}]},
    tables=[Table("counts", "Counts", named("count"))],
)
EXAMPLE = Benchmark(
    name="example",
    description="squares of numbers",
    title="Squares",
    parts=(SQUARES, COUNTS),
    derived=(
        Derived(
            Table("sums", "Sums", named("sum")),
            lambda findings: [{"sum": sum(r["square"] for r in findings["squares"])}],
        ),
    ),
    conclusions=(Spread("squares", "squares", "square", "squares"),),
)


def test_records_become_tables_conclusions_and_json():
    result = EXAMPLE.run(Settings(repeats=2))
    data = result.data()
    squares = [{"number": 1, "square": 1}, {"number": 2, "square": 4}]
    assert data["tables"] == {"squares": squares, "sums": [{"sum": 5}]}
    assert data["summary"] == {"squares": {"geometric_mean": pytest.approx(2.0), "smallest": 1}}
    assert data["settings"]["repeats"] == 2
    assert data["failures"] == []
    assert "squares: geometric mean 2.00, smallest 1.00" in str(result)


def test_wrong_results_are_failures():
    result = EXAMPLE.run(Settings(repeats=3))
    assert result.failures == ["the square of 3 is too large"]
    assert "FAILED: the square of 3 is too large" in str(result)


def test_a_part_without_cases_is_left_out():
    assert list(EXAMPLE.run(Settings(repeats=1)).data()["tables"]) == ["squares", "sums"]
    counted = EXAMPLE.run(Settings(repeats=1, count_operations=True))
    assert counted.data()["tables"]["counts"] == [{"count": 1}]


def test_jobs_are_named_by_their_cases():
    assert [job.label for job in SQUARES.jobs(Settings(repeats=2))] == ["squares, 1", "squares, 2"]


def test_missing_packages_are_noticed_before_anything_is_measured():
    def missing():
        raise RuntimeError("not installed")

    with pytest.raises(RuntimeError, match="not installed"):
        replace(EXAMPLE, needs=(missing,)).run()


def test_no_benchmark_without_compilation(monkeypatch, capsys):
    monkeypatch.setattr("delassus.benchmarks.runner.is_compiled", lambda: False)
    assert main(["bench"]) == 2
    assert "DELASSUS_COMPILE=0" in capsys.readouterr().err


def test_quick_run_says_first_what_takes_its_time(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(BENCHMARKS, "example", EXAMPLE)
    assert main(["bench", "example", "--quick", "--output", str(tmp_path)]) == 1
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith("quick run: ")
    assert "most of its time is compiling" in first


def test_defaults_are_those_of_a_full_run():
    assert Settings().states == 4096
    names = ["tree", "seed-000", "seed-002", "seed-003", "seed-004", "contact"]
    names += ["simulation", "suite"]
    assert list(BENCHMARKS) == names

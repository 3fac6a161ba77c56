"""The benchmark of constrained dynamics, with few states."""

import json
from dataclasses import replace

import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

from delassus.benchmarks import BENCHMARKS, Settings
from delassus.benchmarks.reporting.checks import find_failures
from delassus.benchmarks.seed_003 import convergence
from delassus.cli import main

SMALL = replace(Settings.quick(), states=64, repeats=2, turn_seconds=1e-4)


@pytest.mark.slow
def test_quick_run(tmp_path, monkeypatch):
    """One test, since the run takes long and parallel workers share no fixture."""
    monkeypatch.setattr(Settings, "quick", lambda: SMALL)
    assert main(["bench", "seed-003", "--quick", "--output", str(tmp_path)]) == 0
    data = json.loads((tmp_path / "seed-003.json").read_text())
    every_problem_is_timed(data)
    results_are_right(data)
    iterations_converge(data)
    numbers_of_the_paper_stand_beside(data["tables"])
    for plot in ("times", "factorization", "convergence"):
        assert (tmp_path / f"seed-003-{plot}.png").read_bytes().startswith(b"\x89PNG")
    assert "geometric mean" in (tmp_path / "seed-003.txt").read_text()


def every_problem_is_timed(data):
    records = data["tables"]["dynamics"]
    assert [(r["nv"], r["rows"]) for r in records] == [(18, 12), (38, 12), (38, 24), (35, 12)]
    assert [r["problem"] for r in data["tables"]["derivatives"]] == [r["problem"] for r in records]
    assert [r["size"] for r in data["tables"]["factorization"]] == [30, 50, 62, 47]
    for table in ("dynamics", "factorization", "inertia"):
        for record in data["tables"][table]:
            times = [x for key, x in record.items() if key.endswith("microseconds") and x]
            assert len(times) >= 3
            assert min(times) > 0.0
    for record in records:
        quotient = record["loop_microseconds"] / record["microseconds"]
        assert record["batch_ratio"] == pytest.approx(quotient)
    smallest = min(record["batch_ratio"] for record in records)
    assert data["summary"]["batch"]["smallest"] == pytest.approx(smallest)


def results_are_right(data):
    assert data["failures"] == []
    assert 0.0 < data["summary"]["largest_difference"] < 1e-9
    assert all(r["difference"] < 1e-12 for r in data["tables"]["factorization"])


def iterations_converge(data):
    records = data["tables"]["convergence"]
    assert len(records) == 2 * len(convergence.DAMPINGS)
    by_damping = {r["damping"]: r for r in records if r["rows"] == 12}
    assert by_damping[1e-6]["enough"] < by_damping[1e-4]["enough"] < 20
    assert by_damping[1e-2]["after_1"] > by_damping[1e-4]["after_1"] > by_damping[1e-6]["after_1"]
    redundant = {r["damping"]: r for r in records if r["rows"] == 36}
    assert redundant[1e-6]["enough"] <= 20


def numbers_of_the_paper_stand_beside(tables):
    assert [r["paper_microseconds"] for r in tables["inertia"]] == [None, None, 7.0, None]
    assert {r["paper_ratio"] for r in tables["factorization"]} == {2.0}


def test_what_is_wrong_is_a_failure():
    wrong = {"problem": "a", "difference": float("nan")}
    diverged = {"problem": "a", "damping": 1e-6, "gradients": [1.0, float("nan")]}
    findings = {name: [wrong] for name in ("dynamics", "derivatives", "factorization")}
    findings["convergence"] = [diverged, diverged | {"gradients": [1.0]}]
    limits = [limit for part in BENCHMARKS["seed-003"].parts for limit in part.limits]
    found = find_failures(limits, findings)
    assert len(found) == 4
    assert found[-1] == "a, damping 1e-06: J^T r is no number"

"""The benchmark of all methods for constraints, with few states."""

import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("matplotlib")
pytest.importorskip("casadi")

import delassus as dl
from delassus.benchmarks import Settings, methods
from delassus.benchmarks.ratio import Ratio
from delassus.benchmarks.report import Table
from delassus.benchmarks.seed_000 import (
    conclusions,
    convergence,
    mechanisms,
    operations,
    problems,
    ratios,
)
from delassus.cli import main

SMALL = replace(
    Settings.quick(),
    states=64,
    repeats=2,
    turn_seconds=1e-4,
    chain_states=8,
    chain_lengths=(10, 30),
)


def test_quick_run(tmp_path, monkeypatch):
    """One test, since the run takes long and parallel workers share no fixture."""
    monkeypatch.setattr(Settings, "quick", lambda: SMALL)
    monkeypatch.setattr(operations, "COUNTED", (problems.QUADRUPED,))
    monkeypatch.setattr(convergence, "STATES", 50)
    assert main(["bench", "seed-000", "--quick", "--count", "--output", str(tmp_path)]) == 0
    data = json.loads((tmp_path / "seed-000.json").read_text())
    assert data["failures"] == []
    every_problem_is_timed(data["tables"])
    every_method_is_counted(data["tables"])
    iterations_converge(data["tables"])
    assert all(bar["verdict"] in ("holds", "MISSED") for bar in data["summary"]["bars"])
    for plot in ("dynamics", "inverse", "convergence", "growth", "operations"):
        assert (tmp_path / f"seed-000-{plot}.png").read_bytes().startswith(b"\x89PNG")
    assert "bars hold" in (tmp_path / "seed-000.txt").read_text()


def every_problem_is_timed(tables):
    contests = {"dynamics": "constrained_dynamics", "inverse": "delassus_inverse"}
    for key, function in contests.items():
        for mode in ("batch", "single"):
            records = tables[f"{key}_{mode}"]
            assert [r["problem"] for r in records] == [p.label for p in problems.PROBLEMS]
            ours = {"caba", "caba-osim"} & set(methods.methods(function))
            assert all(r[name] > 0.0 for r in records for name in ours)
    assert all(r["constraintDynamics"] > 0.0 for r in tables["dynamics_single"])
    assert {r["family"] for r in tables["growth"]} == {"chain", "tree", "four-bars"}


def every_method_is_counted(tables):
    counted = {(r["function"], r["method"]) for r in tables["operations"]}
    assert ("constrained_dynamics", "caba") in counted
    assert ("constrained_dynamics", "prox-ltl") in counted


def iterations_converge(tables):
    assert {r["method"] for r in tables["convergence"]} == set(methods.proximal_methods())
    for record in tables["convergence"]:
        assert record["rank"] < record["rows"] == 24
        assert record["after_3"] < 1e-3 * record["after_1"]
        assert len(record["whiskers"]) == convergence.MOST


# --- mechanisms -----------------------------------------------------------------------------------


def test_humanoid_with_hands_is_large():
    for problem, tips in ((problems.FINGERTIPS, 8), (problems.LARGEST, 10)):
        constraints = problem.constraints()
        assert constraints.model.nv >= 80
        assert constraints.size == 12 + tips * 3


@pytest.mark.parametrize("levels", [1, 3])
def test_trees_divide_in_two(levels):
    constraints = mechanisms.binary_tree(levels)
    assert constraints.model.n_bodies == 3 * (2**levels - 1)
    assert constraints.size == 3 * 2 ** (levels - 1)


def test_four_bars_have_a_loop_each():
    constraints = mechanisms.four_bars(4)
    assert (constraints.model.nv, constraints.size) == (12, 12)
    J = constraints.jacobian(constraints.model.neutral())
    assert np.abs(J).max() > 0.0


# --- conclusions ----------------------------------------------------------------------------------


def fake_tables(**times):
    """Tables of times by problem that hold the same for all, and nothing else."""
    records = [{"problem": p.label, **times} for p in problems.PROBLEMS]
    keys = [f"{key}_{mode}" for key in ("dynamics", "inverse") for mode in ("batch", "single")]
    tables = {key: Table(key, "", [], records) for key in keys}
    return tables | {"growth": Table("growth", "", [], [])}


def verdicts(found):
    return {(r.robot, r.what): r.verdict for r in found if r.bar is not None}


def test_bars_follow_the_times():
    times = {"caba": 1.0, "prox-ltl": 2.5, "constraintDynamics": 7.0, "lcaba": 6.0}
    held = verdicts(ratios.find_ratios(fake_tables(**times)))
    what = "dynamics: prox-ltl / caba, batches"
    assert held["talos, feet", what] == held["talos, feet and hands", what] == "holds"
    assert held[problems.LARGEST.label, what] == "MISSED"
    mean = "dynamics: Pinocchio's constraintDynamics / caba, batches"
    assert held["all", f"mean of {mean}"] == "MISSED"
    assert held["all", f"least of {mean}"] == "holds"  # 7 is more than three quarters of 8


def test_growth_is_judged_from_a_hundred_links_on():
    record = {"family": "chain", "method": "caba", "iterations": 1}
    times = {10: 900.0, 100: 100.0, 1000: 120.0}
    records = [
        record | {"links": n, "single_nanoseconds": t, "batch_nanoseconds": 2 * t}
        for n, t in times.items()
    ]
    records += [r | {"iterations": 3} for r in records]
    tables = fake_tables(caba=1.0, lcaba=1.0, constraintDynamics=1.0)
    tables["growth"] = Table("growth", "", [], records)
    found = [r for r in ratios.find_ratios(tables) if r.robot == "chain"]
    assert [r.ours for r in found] == pytest.approx(4 * [1.2])
    assert {r.verdict for r in found} == {"holds"}


def test_what_is_wrong_is_a_failure():
    tables = {
        "dynamics_differences": Table("", "", [], [{"problem": "a", "caba": 1e-6, "lcaba": 1.0}]),
        "inverse_differences": Table("", "", [], []),
        "growth": Table("", "", [], [
            {"family": "tree", "links": 9, "method": "caba", "residual": float("nan")}]),
        "convergence": Table("", "", [], [{"method": "caba", "whiskers": [{"high": 1e-9}]}]),
    }  # fmt: skip
    found = conclusions.failures(tables)
    assert len(found) == 2
    assert found[0].startswith("a, caba: differs")


def test_verdicts_are_what_is_concluded():
    found = [Ratio("a", "x", 3.0, bar=2.0), Ratio("a", "y", 1.0, bar=2.0), Ratio("a", "z", 1.0)]
    empty = Table("", "", [], [])
    records = Table("", "", [], [{"problem": "a", "caba": 1.0, "prox-ltl": 2.0}])
    tables = dict.fromkeys(("dynamics_differences", "inverse_differences"), empty)
    tables |= dict.fromkeys(("growth", "convergence"), empty)
    tables |= {"dynamics_batch": records, "dynamics_single": records}
    summary, lines, failures = conclusions.conclude(tables, found)
    assert (summary["missed"], failures) == (1, [])
    assert "1 of 2 bars hold" in lines
    assert summary["fastest"]["batch"] == {"a": "caba"}


def test_counts_are_those_of_the_library():
    constraints = problems.QUADRUPED.constraints()
    found = operations.count(problems.QUADRUPED, "constrained_dynamics", "caba")
    expected = dl.operation_count(
        dl.constrained_dynamics, constraints.model, constraints=constraints, method="caba",
        tolerance=0.0, max_iterations=3, outputs=("acceleration", "multipliers"),
    )  # fmt: skip
    assert found["total"] == expected.total

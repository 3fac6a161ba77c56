"""The benchmark of all methods for constraints, with few states."""

import json
from dataclasses import replace

import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("matplotlib")
pytest.importorskip("casadi")

import delassus as dl
from delassus.benchmarks import BENCHMARKS, Settings
from delassus.benchmarks.comparing import methods
from delassus.benchmarks.reporting.checks import find_failures
from delassus.benchmarks.seed_000 import contests, convergence, operations, problems, ratios
from delassus.cli import main

SMALL = replace(
    Settings.quick(),
    states=64,
    repeats=2,
    turn_seconds=1e-4,
    chain_states=8,
    chain_lengths=(10, 30),
)


@pytest.mark.slow
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
    numbers_of_the_paper_stand_beside(data["tables"])
    assert data["summary"]["dynamics_constraintDynamics_batch"]["smallest"] > 0.0
    assert set(data["summary"]["fastest"]["batch"]) == {p.label for p in problems.PROBLEMS}
    for plot in ("dynamics", "inverse", "convergence", "growth", "operations"):
        assert (tmp_path / f"seed-000-{plot}.png").read_bytes().startswith(b"\x89PNG")
    assert "fastest exact method" in (tmp_path / "seed-000.txt").read_text()


def every_problem_is_timed(tables):
    for key, function in (("dynamics", methods.DYNAMICS), ("inverse", methods.INVERSE)):
        for mode in ("batch", "single"):
            records = tables[f"{key}_{mode}"]
            assert [r["problem"] for r in records] == [p.label for p in problems.PROBLEMS]
            ours = {"caba", "caba-osim"} & set(methods.methods(function))
            assert all(r[name] > 0.0 for r in records for name in ours)
    assert all(r["constraintDynamics"] > 0.0 for r in tables["dynamics_single"])
    assert {r["family"] for r in tables["growth"]} == {"chain", "tree", "four-bars"}


def every_method_is_counted(tables):
    counted = {(r["function"], r["method"]) for r in tables["operations"]}
    assert (methods.DYNAMICS, "caba") in counted
    assert (methods.DYNAMICS, "prox-ltl") in counted
    (ratio,) = [r for r in tables["ratios"] if r["what"] == "operations: prox-ltl / caba"]
    assert ratio["ours"] == pytest.approx(ratio["paper"], rel=0.1)


def iterations_converge(tables):
    assert {r["method"] for r in tables["convergence"]} == set(methods.proximal_methods())
    for record in tables["convergence"]:
        assert record["rank"] < record["rows"] == 24
        assert record["after_3"] < 1e-3 * record["after_1"]
        assert len(record["whiskers"]) == convergence.MOST


def numbers_of_the_paper_stand_beside(tables):
    batch = {r["problem"]: r for r in tables["dynamics_batch"]}
    of_talos = [r for r in tables["dynamics_paper"] if r["problem"] == "talos, feet"]
    found = {r["times"]: r["caba"] for r in of_talos}
    assert found["ours, batch"] == batch["talos, feet"]["caba"]
    assert found["paper"] == 5.02
    ratio = {(r["robot"], r["what"]): r for r in tables["ratios"]}
    talos = ratio["talos, feet", "inverse: ltl / caba-osim, batches"]
    assert talos["paper"] == pytest.approx(6.42 / 4.21)


# --- conclusions ----------------------------------------------------------------------------------


def findings_of(growth=(), **times):
    """Records of times by problem that are the same for all problems."""
    records = [{"problem": p.label, **times} for p in problems.PROBLEMS]
    keys = [f"{key}_{mode}" for key in ("dynamics", "inverse") for mode in ("batch", "single")]
    return dict.fromkeys(keys, records) | {"growth": list(growth)}


TIMES = {
    "caba": 1.0, "prox-ltl": 2.5, "pv-soft": 0.5, "constraintDynamics": 7.0, "lcaba": 3.5,
    "caba-osim": 1.0, "computeDampedDelassusMatrixInverse": 2.0, "computeDelassusMatrix": 4.0,
}  # fmt: skip


def test_ratios_follow_the_times():
    found = {(r.robot, r.what): r for r in ratios.find_ratios(findings_of(**TIMES))}
    ratio = found["talos, feet", "dynamics: prox-ltl / caba, batches"]
    assert (ratio.ours, ratio.pinocchio) == (2.5, 2.0)
    assert ratio.paper == pytest.approx(10.2 / 5.02)
    assert found["g1, feet", "dynamics: prox-ltl / caba, batches"].paper is None
    assert found["g1, feet", "dynamics: Pinocchio's lcaba / caba, batches"].ours == 3.5


def test_conclusions_are_means_and_the_fastest_exact_methods():
    findings = findings_of(**TIMES)
    findings["ratios"] = ratios.RATIOS.records(findings)
    facts = {fact.name: fact for fact in ratios.conclude(findings)}
    assert facts["dynamics_lcaba_single"].value["geometric_mean"] == pytest.approx(3.5)
    assert set(facts["fastest"].value["batch"].values()) == {"caba"}
    assert "caba in 12 of 12" in facts["fastest"].line


def test_growth_is_measured_from_a_hundred_links_on():
    record = {"family": "chain", "method": "caba", "iterations": 1}
    times = {10: 900.0, 100: 100.0, 1000: 120.0}
    records = [
        record | {"links": n, "single_nanoseconds": t, "batch_nanoseconds": 2 * t}
        for n, t in times.items()
    ]
    records += [r | {"iterations": 3} for r in records]
    records.append(records[1] | {"method": "prox-ltl", "single_nanoseconds": 700.0})
    found = list(ratios.find_ratios(findings_of(records, **TIMES)))
    assert [r.ours for r in found if r.robot == "chain"] == pytest.approx(4 * [1.2])
    (chain,) = [r for r in found if r.robot == "chain of 100 links"]
    assert (chain.ours, chain.paper) == (7.0, 4.0)


def test_what_is_wrong_is_a_failure():
    findings = {
        "dynamics_differences": [{"problem": "a", "caba": 1e-6, "lcaba": 1.0}],
        "inverse_differences": [
            {"problem": "a", "ltl": 1e-8, "caba-osim": 1e-8, "computeDelassusMatrix": 1e-8}
        ],
        "growth": [{"family": "tree", "links": 9, "method": "caba", "residual": float("nan")}],
        "convergence": [{"method": "caba", "highs": [1e-9]}],
    }
    limits = [limit for part in BENCHMARKS["seed-000"].parts for limit in part.limits]
    assert find_failures(limits, findings) == [
        "a, caba: differs by 1.0e-06",
        "a, ltl: the inverse differs by 1.0e-08",
        "tree of 9, caba: the residual is no number",
    ]
    assert contests.inverse_limit("caba-osim", {"computeDelassusMatrix": 1e-8}) == 1e-7


def test_counts_are_those_of_the_library():
    constraints = problems.QUADRUPED.constraints()
    findings = operations.measure(problems.QUADRUPED, methods.DYNAMICS, "caba", SMALL)
    expected = dl.operation_count(
        dl.constrained_dynamics, constraints.model, constraints=constraints, method="caba",
        tolerance=0.0, max_iterations=3, outputs=("acceleration", "multipliers"),
    )  # fmt: skip
    assert findings["operations"][0]["total"] == expected.total

"""The benchmark of constraint embedding, with few states and small mechanisms."""

import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("matplotlib")
pytest.importorskip("casadi")

import delassus as dl
from delassus.benchmarks import BENCHMARKS, Settings
from delassus.benchmarks.reporting.checks import find_failures
from delassus.benchmarks.seed_002 import (
    counting,
    crossovers,
    growth,
    locality,
    motors,
    problems,
    ratios,
    times,
    torques,
)
from delassus.cli import main

SMALL = replace(Settings.quick(), states=64, repeats=2, turn_seconds=1e-4)
FAMILIES = {
    "rotor pairs": (dl.robots.rotor_pairs, (1, 2)),
    "four-bars": (dl.robots.four_bars, (1, 2)),
}


@pytest.mark.slow
def test_quick_run(tmp_path, monkeypatch):
    """One test, since the run takes long and parallel workers share no fixture."""
    monkeypatch.setattr(Settings, "quick", lambda: SMALL)
    monkeypatch.setattr(growth, "FAMILIES", FAMILIES)
    monkeypatch.setattr(locality, "LOOPS", {5: (1, 5)})
    assert main(["bench", "seed-002", "--quick", "--output", str(tmp_path)]) == 0
    data = json.loads((tmp_path / "seed-002.json").read_text())
    tables = data["tables"]
    assert data["failures"] == []
    every_method_is_counted(tables)
    every_problem_is_timed(tables)
    numbers_of_the_paper_stand_beside(tables)
    feet_are_held(tables)
    assert data["summary"]["fewest_by_depth"] == {"embedded": 4, "of": 4}
    assert data["summary"]["caba_batch"]["smallest"] > 1.0
    assert 0.0 < data["summary"]["largest_difference"] < 1e-9
    for plot in ("growth", "locality", "motors", "torques", "times"):
        assert (tmp_path / f"seed-002-{plot}.png").read_bytes().startswith(b"\x89PNG")
    assert "embedded / rotor-free" in (tmp_path / "seed-002.txt").read_text()


def feet_are_held(tables):
    for key in ("feet_batch", "feet_single"):
        assert [r["rows"] for r in tables[key]] == [12, 12]
        assert all(r["faster"] > 1.0 and r["difference"] < 1e-6 for r in tables[key])


def every_method_is_counted(tables):
    assert [(r["family"], r["depth"]) for r in tables["growth"]] == [
        (family, depth) for family in FAMILIES for depth in (1, 2)
    ]
    assert [(r["kind"], r["loop"]) for r in tables["locality"]] == [
        (kind, loop) for kind in locality.KINDS for loop in (1, 5)
    ]
    for record in (*tables["growth"], *tables["locality"]):
        assert min(record[name] for name in counting.CONTESTANTS) > 0
    assert [r["robot"] for r in tables["motors"]] == list(motors.ROBOTS)


def every_problem_is_timed(tables):
    for key in (times.BATCH, times.SINGLE):
        records = tables[key]
        assert [r["problem"] for r in records] == [p.label for p in problems.PROBLEMS]
        assert all(r[name] > 0.0 for r in records for name in counting.CONTESTANTS)
        assert [r["rotor-free"] is not None for r in records] == [True, True, False, False]
        assert [r["lcaba"] is not None for r in records] == [False, False, True, False]


def numbers_of_the_paper_stand_beside(tables):
    ratio = {(r["robot"], r["what"]): r for r in tables["ratios"]}
    cheetah = ratio["Mini Cheetah", "embedded / rotor-free, operations"]
    assert cheetah["paper"] == pytest.approx(1.63, abs=0.005)
    knee = {r["joint"]: r for r in tables["torques"]}["knee_joint"]
    assert (knee["paper_none"], knee["paper_diagonal"]) == (4.31, 1.04)


# --- operations -----------------------------------------------------------------------------------


def test_counts_are_those_of_the_library():
    (record,) = growth.measure("four-bars", 1, 1, SMALL)["growth"]
    model = dl.robots.four_bars(1, 1)
    assert (record["bodies"], record["nv"], record["rows"]) == (4, 7, 3)
    assert record["tree"] == dl.operation_count(dl.forward_dynamics, model).total
    assert record["embedded"] == dl.operation_count(dl.forward_dynamics, dl.embed(model)).total
    constraints = counting.closed_at_points(model)
    expected = dl.operation_count(
        dl.constrained_dynamics, model, constraints=constraints, method="caba",
        damping=1e-6, tolerance=0.0, max_iterations=2, outputs=("acceleration",),
    )  # fmt: skip
    assert record["caba"] == expected.total


@pytest.mark.parametrize("solver", counting.SOLVERS)
@pytest.mark.parametrize("family", growth.FAMILIES)
def test_solvers_are_counted_with_enough_iterations(family, solver):
    """What is compared gives the same accelerations."""
    model = growth.FAMILIES[family][0](1, 2)
    emb = dl.embed(model)
    configurations = problems.parallelograms if family == "four-bars" else problems.anywhere
    states = problems.ClosedStates.random(emb, configurations, 3, 0)
    exact = dl.forward_dynamics(emb, *vars(states.embedded).values())
    damping, iterations = counting.FEWEST[solver]
    found = dl.constrained_dynamics(
        model, *vars(states.spanning).values(), counting.closed_at_points(model), method=solver,
        damping=damping, max_iterations=iterations, tolerance=0.0,
    )  # fmt: skip
    error = found.acceleration[:, emb.independent_dofs] - exact
    assert np.abs(error).max() < 1e-9 * np.abs(exact).max()


def test_a_long_loop_costs_more_than_solving_for_it():
    records = [locality.measure("rod", 5, loop, SMALL)["locality"][0] for loop in (1, 5)]
    assert [crossovers.fewest(r) == "embedded" for r in records] == [True, False]
    assert crossovers.falls_below(records, "caba", "loop") == 5
    assert crossovers.falls_below(records[:1], "caba", "loop") is None


def test_all_of_the_papers_mechanisms_are_counted_on_demand():
    some, every = (
        (growth.cases(s), locality.cases(s)) for s in (SMALL, replace(SMALL, count_operations=True))
    )
    assert set(some[0]) < set(every[0]) and set(some[1]) < set(every[1])
    assert ("four-bars", 6, 10) in every[0]
    assert ("rod", 40, 20) in every[1]


def counts(embedded, caba, ltl):
    """Records of mechanisms of sizes 1, 2 and 3."""
    sizes = enumerate(zip(embedded, caba, ltl, strict=True), 1)
    return [
        {"family": "a", "branches": 4, "kind": "b", "depth": k, "loop": k,
         "embedded": x[0], "caba": x[1], "prox-ltl": x[2], "prox-ltls": 99}
        for k, x in sizes
    ]  # fmt: skip


def test_crossovers_are_where_a_solver_stays_below():
    records = counts((1, 5, 9), (2, 4, 8), (0, 6, None))
    findings = {"growth": records, "locality": [r | {"depth": 7} for r in records]}
    first, second = crossovers.find_crossovers(findings)
    assert (first["mechanism"], first["size"]) == ("a, branches 4", "depth")
    assert (second["mechanism"], second["size"]) == ("b, depth 7", "loop")
    assert first["fewest"] == second["fewest"] == "prox-ltl 1, caba 2 to 3"
    assert (first["caba"], first["prox-ltl"], first["prox-ltls"]) == (2, None, None)


# --- motors ---------------------------------------------------------------------------------------


def test_motors_of_the_mini_cheetah_cost_little():
    (record,) = motors.measure("Mini Cheetah", SMALL)["motors"]
    assert (record["bodies"], record["nv"], record["paper_saved"]) == (25, 18, 38.8)
    saved = 1.0 - record["forward_rotor_free"] / record["forward_embedded"]
    assert record["saved"] == pytest.approx(100.0 * saved)
    assert record["saved"] < 5.0
    assert record["inverse_ratio"] < 1.1


def test_torques_without_rotors_are_wrong_by_as_much_as_in_the_paper():
    findings = torques.measure(SMALL)
    knee = {r["joint"]: r for r in findings["torques"]}["knee_joint"]
    assert knee["none"] == pytest.approx(4.31, abs=0.01)
    assert knee["diagonal"] == pytest.approx(1.04, abs=0.01)
    assert knee["largest"] == pytest.approx(11.2, abs=0.05)
    (fact,) = torques.conclude(findings)
    assert "4.31 N m (paper 4.31)" in fact.line


# --- times ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("problem", problems.PROBLEMS[::2], ids=str)
def test_states_are_closed_and_the_same_in_both_coordinates(problem):
    small = problem.make() if problem.rotor_free else dl.robots.four_bars(2, 1)
    emb = dl.embed(small)
    states = problems.ClosedStates.random(emb, problem.configurations, 4, 0)
    assert np.abs(emb.constraints.position_error(states.spanning.q)).max() < 1e-12
    J = emb.constraints.jacobian(states.spanning.q)
    assert np.abs(np.einsum("nij,nj->ni", J, states.spanning.v)).max() < 1e-12
    assert np.array_equal(states.spanning.v[:, emb.independent_dofs], states.embedded.v)
    assert states.first().count == 1


def test_states_that_cannot_be_closed_are_left_out():
    """The rocker of a crank-rocker swings: as the independent joint it is soon out of reach."""
    emb = dl.embed(dl.robots.crank_rocker(), independent=["rocker_joint"])
    q = problems.nearby(emb, np.random.default_rng(0), 20)
    assert len(q) == 20
    assert np.abs(emb.constraints.position_error(q)).max() < 1e-12


def test_ratios_follow_the_times():
    batch = {"problem": "a", "rotor-free": 1.0, "embedded": 2.0, "caba": 8.0, "lcaba": 20.0}
    findings = {
        times.BATCH: [batch],
        times.SINGLE: [batch | {"caba": 6.0}],
        "motors": [{"robot": "Tello", "forward_ratio": 1.32}],
    }
    found = {(r.robot, r.what): r for r in ratios.find_ratios(findings)}
    assert found["a", "embedded / rotor-free, batches"].ours == 2.0
    assert found["a", "caba / embedded, batches"].ours == 4.0
    assert found["a", "caba / embedded, one state"].ours == 3.0
    assert found["a", "Pinocchio's lcaba / embedded, one state"].ours == 10.0
    assert found["Tello", "embedded / rotor-free, operations"].paper == pytest.approx(2.227, 1e-3)
    findings["ratios"] = ratios.RATIOS.records(findings)
    facts = {fact.name: fact.value for fact in ratios.conclude(findings)}
    assert facts["caba_batch"]["geometric_mean"] == pytest.approx(4.0)
    assert facts["rotor_free_single"] == {"a": 2.0}


def test_what_is_wrong_is_a_failure():
    findings = {
        "motors": [
            {"robot": "Mini Cheetah", "saved": 12.0, "inverse_ratio": 1.4},
            {"robot": "JVRC-1", "saved": 30.0, "inverse_ratio": 1.4},
        ],
        "torques": [{"joint": "knee_joint", "none": 5.0, "none_off": 0.16}],
        "differences": [{"problem": "a", "caba": 1e-6, "prox-ltl": float("nan"), "lcaba": 1.0}],
    }
    limits = [limit for part in BENCHMARKS["seed-002"].parts for limit in part.limits]
    assert find_failures(limits, findings) == [
        "Mini Cheetah: motors cost more than planned, 12.0 %",
        "Mini Cheetah: inverse dynamics takes 1.40 times that without rotors",
        "knee_joint: 5.000 N m is not the paper's",
        "a, caba: differs from embedded by 1.0e-06",
        "a, prox-ltl: differs from embedded by nan",
    ]

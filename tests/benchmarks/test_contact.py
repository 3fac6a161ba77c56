"""The benchmark of contact solvers, with few problems and small ones."""

import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("matplotlib")

from delassus import contact
from delassus.benchmarks import BENCHMARKS, Settings
from delassus.benchmarks.contact import bodies, contest, convergence, problems, profiles, solvers
from delassus.benchmarks.peers.contact import CHOICES, ContactPeer
from delassus.benchmarks.reporting.checks import find_failures
from delassus.cli import main

SMALL = replace(
    Settings.quick(), repeats=1, turn_seconds=1e-5, match_seconds=0.0, contact_problems=1
)
KINDS = {name: problems.KINDS[name] for name in ("box at rest", "box sliding", "mixed")}
FIELDS = contest.FIELDS[2:5:2]


@pytest.mark.slow
def test_quick_run(tmp_path, monkeypatch):
    """One test, since the run takes long and parallel workers share no fixture."""
    monkeypatch.setattr(Settings, "quick", lambda: SMALL)
    monkeypatch.setattr(contest, "FIELDS", FIELDS)
    assert main(["bench", "contact", "--quick", "--output", str(tmp_path)]) == 0
    data = json.loads((tmp_path / "contact.json").read_text())
    tables = data["tables"]
    assert data["failures"] == []
    for mode in ("cold", "warm"):
        every_solver_is_measured(tables, mode)
        both_are_timed(tables[f"contest_{mode}"])
    assert [r["problem"] for r in tables["convergence"]] == list(convergence.SHOWN)
    assert data["summary"]["solved_cold"]["auto"] == 1.0
    assert data["summary"]["cold"]["geometric_mean"] > 0.0
    for plot in ("solvers", "profiles", "convergence", "contest"):
        assert (tmp_path / f"contact-{plot}.png").read_bytes().startswith(b"\x89PNG")
    assert "Pinocchio's ADMM / auto" in (tmp_path / "contact.txt").read_text()


def every_solver_is_measured(tables, mode):
    for quantity in ("converged", "iterations", "microseconds", "natural_map"):
        records = tables[f"{quantity}_{mode}"]
        assert [r["solver"] for r in records] == list(contact.SOLVERS)
        assert all(len(r["values"]) == len(problems.KINDS) for r in records)


def both_are_timed(records):
    assert [r["problems"] for r in records] == [f.label for f in FIELDS]
    for r in records:
        assert r["all"] <= r["count"] == 8
        assert min(r["pinocchio"], r["auto"], r["auto batch"], r["typical"]) > 0.0
        assert r["ratio auto"] == pytest.approx(r["pinocchio"] / r["auto"])


# --- problems -------------------------------------------------------------------------------------


@pytest.mark.uncompiled
@pytest.mark.parametrize("kind", problems.KINDS)
def test_problems_of_a_seed_are_the_same_and_keep_to_their_sizes(kind):
    problems.samples.cache_clear()
    first = problems.samples(kind, 2, 0)
    problems.samples.cache_clear()
    again, other = problems.samples(kind, 2, 0), problems.samples(kind, 2, 1)
    low, high = {"large": (120, 240), "box at rest": (12, 12)}.get(kind, (12, 60))
    for x, y, z in zip(first, again, other, strict=True):
        assert np.array_equal(x.problem.delassus, y.problem.delassus)
        assert np.array_equal(x.problem.free_velocity, y.problem.free_velocity)
        assert x.problem.friction[0] != z.problem.friction[0]
        assert low <= x.problem.n_rows <= high
        # The problem before has the rows of this one, and a velocity nearby.
        v, before = x.problem.free_velocity, x.before.free_velocity
        assert np.array_equal(x.problem.delassus, x.before.delassus)
        assert 0.0 < np.linalg.norm(v - before) < 0.5 * np.linalg.norm(v)


@pytest.mark.uncompiled
def test_a_box_at_rest_weighs_what_its_mass_is():
    b = bodies.Bodies(np.array([2.0]))
    b.contacts = [b.rows((0, bodies.at_point(r))) for r in bodies.corners((0.1, 0.1, 0.1))]
    p = b.problem(b.falling(), 0.5)
    found = contact.solve(p, tolerance=1e-10).reactions
    assert found[2::3].sum() == pytest.approx(2.0 * bodies.GRAVITY * bodies.STEP)


@pytest.mark.uncompiled
def test_eliminating_joints_leaves_the_motion_as_it_is():
    p = problems.feet(np.random.default_rng(0), 0.5).problem
    left = bodies.without_joints(p)
    assert (left.n_joint_rows, left.n_contacts) == (0, 8)
    whole, part = contact.solve(p, tolerance=1e-10), contact.solve(left, tolerance=1e-10)
    assert whole.converged
    assert part.converged
    assert np.allclose(whole.velocity[p.n_joint_rows :], part.velocity, atol=1e-7)


# --- measurements ---------------------------------------------------------------------------------


def test_solvers_that_do_not_converge_have_no_time(monkeypatch):
    monkeypatch.setattr(solvers, "KINDS", KINDS)
    found = solvers.measure("raisim", SMALL)
    (times,), (flags,) = found["microseconds_cold"], found["converged_cold"]
    assert [x is not None for x in times["values"]] == flags["values"]
    assert flags["box at rest"] == 1.0
    # Its law is not Coulomb's where a contact slides.
    assert flags["box sliding"] == 0.0
    assert times["box sliding"] is None


@pytest.mark.uncompiled
def test_profiles_are_those_of_dolan_and_more():
    r = profiles.ratios([[1.0, 4.0, None, None], [2.0, 2.0, 5.0, None]])
    inf = np.inf
    assert np.array_equal(r, [[1.0, 2.0, inf, inf], [2.0, 1.0, 1.0, inf]])
    values = {"a": [1.0, 4.0, 9.0], "b": [2.0, 2.0, None], "admm-ccp": [0.1, 0.1, 0.1]}
    times = [{"solver": name, "values": x} for name, x in values.items()]
    findings = {"microseconds_cold": times, "microseconds_warm": times}
    records = {r["solver"]: r for r in profiles.records(findings) if r["mode"] == "cold"}
    assert list(records) == ["a", "b"]
    assert records["a"]["tau_1"] == pytest.approx(2 / 3)
    assert (records["a"]["all_at"], records["b"]["all_at"]) == (2.0, None)
    assert records["b"]["solved"] == pytest.approx(2 / 3)
    findings["profiles"] = profiles.records(findings)
    cold, _ = profiles.conclude(findings)
    assert cold.line == "the fastest, cold: a 67 %, b 33 %"


@pytest.mark.parametrize("choice", CHOICES)
def test_pinocchio_solves_what_ours_solve(choice):
    p = problems.stack(np.random.default_rng(1), 3, 1.0, 0.0).problem
    peer = ContactPeer(p)
    peer.solve(choice.settings(1e-8))
    assert peer.natural_map() < 1e-6
    reactions = np.array(peer.result.retrieveConstraintImpulses())
    ours = contact.solve(p, tolerance=1e-9)
    assert np.allclose(p.velocity(reactions), ours.velocity, atol=1e-6)
    # A solution as a guess leaves nothing to do, for one call.
    cold = peer.result.iterations
    peer.solve_from(choice.settings(1e-6), reactions, None)
    assert peer.result.iterations < cold
    peer.solve(choice.settings(1e-8))
    assert peer.result.iterations == cold


def test_what_is_wrong_is_a_failure():
    wrong = {"solver": "auto", "claimed": 2e-6}
    findings = {
        "natural_map_cold": [wrong, wrong | {"claimed": 1e-6}],
        "natural_map_warm": [wrong | {"claimed": float("nan")}],
        "convergence": [{"problem": "stack", "ends": [1.0, float("nan")]}],
    }
    limits = [limit for part in BENCHMARKS["contact"].parts for limit in part.limits]
    assert find_failures(limits, findings) == [
        "auto: a natural map that it calls converged is 2.000e-06",
        "auto: a natural map that it calls converged is nan",
        "stack: a natural map is no number",
    ]

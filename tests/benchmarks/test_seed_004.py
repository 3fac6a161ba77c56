"""The benchmark of derivatives, with few states."""

import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("matplotlib")
pytest.importorskip("casadi")

from delassus.benchmarks import BENCHMARKS, Settings
from delassus.benchmarks.comparing.algorithms import peer_timers, result_array
from delassus.benchmarks.measuring.states import States, largest_difference
from delassus.benchmarks.peers.pinocchio import load_pair
from delassus.benchmarks.reporting.checks import find_failures
from delassus.benchmarks.seed_004 import rows
from delassus.benchmarks.seed_004.finite_differences import FORWARD_STEP, FiniteDifferences
from delassus.cli import main

SMALL = replace(Settings.quick(), states=64, repeats=2, turn_seconds=1e-4, difference_states=4)


def test_quick_run(tmp_path, monkeypatch):
    """One test, since the run takes long and parallel workers share no fixture."""
    monkeypatch.setattr(Settings, "quick", lambda: SMALL)
    assert main(["bench", "seed-004", "--quick", "--output", str(tmp_path)]) == 0
    data = json.loads((tmp_path / "seed-004.json").read_text())
    every_row_is_timed(data)
    results_are_right(data)
    ratios_are_those_of_the_times(data)
    assert set(data["summary"]) == {
        "batch", "batch_against_bare_loop", "single", "largest_difference",
    }  # fmt: skip
    assert (tmp_path / "seed-004-times.png").read_bytes().startswith(b"\x89PNG")
    assert "geometric mean" in (tmp_path / "seed-004.txt").read_text()


def every_row_is_timed(data):
    records = data["tables"]["times"]
    assert len(records) == 3 * 10
    assert [r["nv"] for r in records[::10]] == [7, 18, 38]
    for record in records:
        assert record["single_microseconds"] > 0.0
        has_batch = not record["row"].startswith("CasADi")
        assert (record["microseconds"] is not None) == has_batch
        has_peer = has_batch and not record["row"].startswith("finite")
        for column in ("loop_microseconds", "bare_loop_microseconds", "call_microseconds"):
            assert (record[column] is not None) == has_peer
        assert (record["paper_microseconds"] is not None) == has_batch


def results_are_right(data):
    assert data["failures"] == []
    assert 0.0 < data["summary"]["largest_difference"] < 1e-9
    for record in data["tables"]["accuracy"]:
        assert record["automatic_difference"] < 1e-10
        assert record["central_difference"] < record["forward_difference"] < 1e-3
        assert record["rest"] == 0.0 < record["forward_rest"]


def ratios_are_those_of_the_times(data):
    times = {(r["robot"], r["row"]): r for r in data["tables"]["times"]}
    found = {(r["robot"], r["what"]): r for r in data["tables"]["ratios"]}
    ratio = found["hyq", "derivatives of ID / ID, one state"]
    own, derivatives = times["hyq", "ID"], times["hyq", "derivatives of ID"]
    for ours, theirs in (("ours", "single"), ("pinocchio", "call"), ("paper", "paper")):
        column = f"{theirs}_microseconds"
        assert ratio[ours] == pytest.approx(derivatives[column] / own[column])
    assert ratio["paper"] == pytest.approx(3.28, abs=0.01)
    counted = found["hyq", "derivatives of ID / ID, operations"]["ours"]
    assert counted == data["tables"]["operations"][1]["ratio"] > 1.0


def test_what_is_wrong_is_a_failure():
    right = {"robot": "a", "row": "b", "difference": 1e-12}
    wrong = [right | {"difference": 1e-6}, right | {"difference": float("nan")}]
    inaccurate = [right | {"central_difference": 1e-3}, right | {"rest": 1e-300}]
    (part,) = BENCHMARKS["seed-004"].parts
    assert find_failures(part.limits, {"times": [right], "accuracy": []}) == []
    found = find_failures(part.limits, {"times": wrong, "accuracy": inaccurate})
    assert found[0] == "a, b: differs from Pinocchio by 1.0e-06"
    assert found[-1] == "a, b: depends on v at rest by 1.0e-300"
    assert len(found) == 4


@pytest.mark.parametrize("dynamics", [rows.INVERSE, rows.FORWARD])
def test_all_ways_of_pinocchio_and_finite_differences_agree(dynamics):
    model, peer = load_pair("hyq")
    states = States.random(model, 5, 0)
    found = dynamics.derivatives.function(model, states.q, states.v, states.x)
    differences = FiniteDifferences(dynamics.algorithm, model, states, FORWARD_STEP)()
    assert largest_difference(differences, found) < 1e-4
    outs = []
    theirs = states.for_peer(peer)
    for way in ("peer", "peer_data"):
        outs.append(result_array(dynamics.derivatives, states))
        peer_timers(dynamics.derivatives, peer, theirs, outs[-1])[way].timeit(1)
    for first, second in zip(*outs, strict=True):
        assert np.array_equal(first, second)
        assert first.any()

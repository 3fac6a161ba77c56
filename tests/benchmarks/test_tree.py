"""The benchmark of tree dynamics, with few states."""

import json
from dataclasses import replace

import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("matplotlib")

from delassus.benchmarks import BENCHMARKS, Settings
from delassus.benchmarks.tree import comparison, startup
from delassus.cli import main

SMALL = replace(
    Settings.quick(),
    states=64,
    repeats=2,
    turn_seconds=1e-4,
    chain_states=8,
    memory_states=20_000,
)


def test_quick_run(tmp_path, monkeypatch):
    """One test, since the run takes long and parallel workers share no fixture."""
    monkeypatch.setattr(Settings, "quick", lambda: SMALL)
    monkeypatch.setattr(startup, "_TRIES", 1)
    assert main(["bench", "tree", "--quick", "--output", str(tmp_path)]) == 0
    data = json.loads((tmp_path / "tree.json").read_text())
    every_robot_and_algorithm_is_compared(data)
    fastest_path_of_the_peer_is_the_reference(data)
    results_agree_with_pinocchio(data)
    beginning_is_measured(data)
    machine_and_settings_are_told(data)
    assert all(growth > 1.0 for growth in data["summary"]["growth"].values())
    for plot in ("tree-speed.png", "tree-growth.png"):
        assert (tmp_path / plot).read_bytes().startswith(b"\x89PNG")
    assert "geometric mean" in (tmp_path / "tree.txt").read_text()


def every_robot_and_algorithm_is_compared(data):
    for table in ("single", "batch"):
        rows = data["tables"][table]
        assert len(rows) == 16
        assert {row["robot"] for row in rows} == set(comparison.ROBOTS)
        assert all(row["microseconds"] > 0.0 and row["ratio"] > 0.0 for row in rows)


def fastest_path_of_the_peer_is_the_reference(data):
    for row in data["tables"]["batch"]:
        ratios = [r for r in (row["loop_ratio"], row["function_ratio"]) if r is not None]
        assert row["ratio"] == pytest.approx(min(ratios))
        is_vector = row["algorithm"].endswith("dynamics")
        assert (row["function_ratio"] is not None) == is_vector


def results_agree_with_pinocchio(data):
    assert data["failures"] == []
    assert 0.0 < data["summary"]["largest_difference"] < 1e-10


def beginning_is_measured(data):
    seconds = [row["seconds"] for row in data["tables"]["startup"]]
    assert seconds == sorted(seconds)
    memory = data["tables"]["memory"][0]
    assert memory["extra_mebibytes"] is None or memory["extra_mebibytes"] < 20.0


def machine_and_settings_are_told(data):
    assert data["settings"]["states"] == SMALL.states
    assert data["machine"]["processor"]
    assert {"delassus", "numba", "pin"} <= set(data["machine"]["versions"])


def test_wrong_results_fail_loudly(tmp_path, monkeypatch, capsys):
    small = replace(Settings.quick(), states=8, repeats=1, turn_seconds=1e-6, chain_lengths=(10,))
    monkeypatch.setattr(Settings, "quick", lambda: small)
    monkeypatch.setattr(startup, "_run", lambda script, *_: "[1, 1]" if "json" in script else "1")
    tree = BENCHMARKS["tree"]
    strict = [
        replace(part, limits=[replace(limit, most=0.0) for limit in part.limits])
        for part in tree.parts
    ]
    monkeypatch.setitem(BENCHMARKS, "tree", replace(tree, parts=strict))
    assert main(["bench", "tree", "--quick", "--json-only", "--output", str(tmp_path)]) == 1
    captured = capsys.readouterr()
    assert "FAILED: panda, inverse dynamics: differs from Pinocchio" in captured.err
    assert json.loads(captured.out)["failures"]
    assert [path.name for path in tmp_path.iterdir()] == ["tree.json"]

"""The benchmark of simulations, with few steps and short stories."""

import json
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")

from delassus import forward_kinematics
from delassus.benchmarks import BENCHMARKS, Settings
from delassus.benchmarks.reporting.checks import find_failures
from delassus.benchmarks.simulation import faith, race, scenes
from delassus.cli import main

SMALL = replace(Settings.quick(), repeats=1, simulation_share=0.02)


@pytest.mark.slow
def test_quick_run(tmp_path, monkeypatch):
    """One test, since the run takes long and parallel workers share no fixture."""
    monkeypatch.setattr(Settings, "quick", lambda: SMALL)
    assert main(["bench", "simulation", "--quick", "--output", str(tmp_path)]) == 0
    data = json.loads((tmp_path / "simulation.json").read_text())
    tables = data["tables"]
    assert data["failures"] == []
    assert len(tables["race"]) == 2 * len(scenes.SCENES)
    for record in tables["race"]:
        assert record["ours"] > 0.0 and record["theirs"] > 0.0
        if "hanging" not in record["scene"]:
            assert abs(record["height"] - record["their_height"]) < 0.01
    assert [record["story"] for record in tables["faith"]] == list(faith.STORIES)
    assert len(tables["calls"]) >= 3
    assert data["summary"]["steps"]["geometric_mean"] > 0.0


def test_it_is_known_by_its_name():
    assert BENCHMARKS["simulation"].description


@pytest.mark.parametrize(("points", "count"), [(1, 4), (3, 12)])
def test_a_quadruped_stands_level_on_its_points(points, count):
    pytest.importorskip("example_robot_data")
    scene = scenes.quadruped(points)
    shapes = scene.model.shapes
    assert len(shapes) == count
    places = forward_kinematics(scene.model, scene.q, [s.frame for s in shapes])
    lowest = [
        (p + R @ s.placement.translation)[2] - s.size[0]
        for p, R, s in zip(places.translation, places.rotation, shapes, strict=True)
    ]
    assert np.ptp(lowest) < 1e-3


def test_what_is_not_solved_is_a_failure():
    good = {"story": "stands", "unsolved": 0.0, "worst": 0.0, "open": 0.0, "energy": 0.0}
    good |= {"most_open": 1e-5, "most_energy": 1e-4}
    assert find_failures(faith.PART.limits, {"faith": [good]}) == []
    for key in ("unsolved", "worst", "open", "energy"):
        assert len(find_failures(faith.PART.limits, {"faith": [good | {key: 0.1}]})) == 1
    lost = {"scene": "walker", "unsolved": 0.1}
    assert len(find_failures(race.PART.limits, {"race": [lost]})) == 1

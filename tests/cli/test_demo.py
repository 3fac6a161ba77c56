import re

import pytest

from delassus.benchmarks import demo
from delassus.benchmarks.measuring.settings import Settings
from delassus.cli import main
from delassus.errors import MissingDependencyError

pytest.importorskip("pinocchio")


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(
        demo, "_SETTINGS", Settings(states=64, repeats=1, turn_seconds=1e-4, match_seconds=0.0)
    )
    monkeypatch.setattr(demo, "ROBOTS", ("panda", "tiago"))


def test_demo_shows_every_robot_in_both_tables(short, capsys):
    assert main(["demo"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"^panda +9 +9 +16\.8 kg", text, re.MULTILINE)
    assert len(re.findall(r"^tiago ", text, re.MULTILINE)) == 2


def test_demo_fails_when_results_differ(short, monkeypatch, capsys):
    monkeypatch.setattr(demo, "_LARGEST_DIFFERENCE", 0.0)
    assert main(["demo"]) == 1
    assert "FAILED" in capsys.readouterr().err


def test_demo_says_what_to_install(monkeypatch, capsys):
    def missing():
        raise MissingDependencyError(
            "the comparison needs Pinocchio: pip install 'delassus[bench]'"
        )

    monkeypatch.setattr(demo, "pinocchio", missing)
    assert main(["demo"]) == 2
    assert "pip install 'delassus[bench]'" in capsys.readouterr().err

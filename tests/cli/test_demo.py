"""`delassus demo`, with fewer and shorter falls."""

import re

import numpy as np
import pytest

import delassus as dl
from delassus.benchmarks import demo
from delassus.benchmarks.demo import contest, falls, mechanisms
from delassus.cli import main
from delassus.errors import MissingDependencyError

pytest.importorskip("matplotlib")


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(demo, "MECHANISMS", (mechanisms.walker,))
    monkeypatch.setattr(falls, "STEPS", 800)
    monkeypatch.setattr(contest, "SAMPLES", 2)
    monkeypatch.setattr(contest, "SOLVERS", ("auto", "pgs-ncp"))


def test_demo_writes_a_page_that_plays_and_says_where(short, tmp_path, capsys):
    path = tmp_path / "new" / "demo.html"
    assert main(["demo", "--output", str(path)]) == 0
    told = capsys.readouterr().out
    assert f"Open in a browser: {path}" in told
    assert re.search(r"falls for 0\.1[67] s, keeping its energy to \de-", told)
    carried = re.search(r"\n  at the end \d+ contacts carry (\d+\.\d\d)% of its weight", told)
    assert 90 < float(carried[1]) < 110
    page = path.read_text()
    assert page.count("<iframe") == 1
    assert page.count("<svg") == 2
    assert "player.play(true)" in page
    assert page.count("pgs-ncp</td>") == 1
    # Links lead nowhere: those that are there are names, of XML's kinds and of licences.
    assert not re.search(r"(src|href)=.https?:", page)


def test_demo_fails_when_joints_open(short, monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(demo, "_LARGEST_ERROR", 0.0)
    assert main(["demo", "--output", str(tmp_path / "demo.html")]) == 1
    assert "FAILED: Walker: joints are open by" in capsys.readouterr().err


def test_cassie_settles_on_its_feet_with_loops_closed():
    one = falls.fall(mechanisms.cassie())
    metrics = one.recording.metrics
    assert not one.failures
    assert one.joint_error < 1.2 * dl.maximal.Stabilization().joint_opening
    assert metrics["kinetic_energy"][-1] < 0.05
    forces = one.forces()
    assert set(forces) == {"left-foot", "right-foot"}
    carried = sum(forces.values())[-falls._LAST :].mean()
    assert carried == pytest.approx(one.weight, rel=0.02)


def test_the_walker_starts_upright():
    mechanism = mechanisms.walker()
    home = mechanism.model.keyframes["home"].q
    assert mechanism.q[:3] - home[:3] == pytest.approx([0, 0, mechanisms._HEIGHT])
    turned = mechanism.model.difference(home, mechanism.q)[3:]
    assert turned == pytest.approx(np.zeros(len(turned)), abs=1e-12)


def test_demo_says_what_to_install(monkeypatch, tmp_path, capsys):
    def missing(module, purpose):
        raise MissingDependencyError(f"{purpose}: pip install pin")

    monkeypatch.setattr(demo, "package", missing)
    assert main(["demo", "--output", str(tmp_path / "demo.html")]) == 2
    assert "pip install pin" in capsys.readouterr().err


def test_demo_finds_out_first_whether_it_can_write(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert main(["demo", "--output", str(tmp_path / "file" / "demo.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err

"""Pages in a headless browser, if one is installed: chromium, chrome, or CHROMIUM names it."""

import os
import re
import shutil
import subprocess

import numpy as np
import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
BROWSER = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
OPTIONS = [
    *("--headless", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"),
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--window-size=800,600"),
    *("--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=3000"),
]
pytestmark = pytest.mark.skipif(BROWSER is None, reason="no chromium was found")


def browse(page, tmp_path, *more, at=""):
    command = [BROWSER, *OPTIONS, f"--user-data-dir={tmp_path / 'profile'}", *more]
    done = subprocess.run(
        [*command, f"file://{page}{at}"], capture_output=True, text=True, timeout=120
    )
    return done.stdout


@pytest.fixture
def page(recording, tmp_path):
    recording.to_html(tmp_path / "run.html")
    return tmp_path / "run.html"


def clock(text):
    return float(re.search(r'id="clock">([\d.]+) / ', text)[1])


def test_a_page_opens_at_its_start_and_at_any_time(page, tmp_path):
    text = browse(page, tmp_path, "--dump-dom")
    assert clock(text) == pytest.approx(0.001)
    assert 'id="name">walker</span>' in text  # and nothing of missing WebGL
    assert clock(browse(page, tmp_path, "--dump-dom", at="#t=1.5")) == pytest.approx(1.5, abs=0.02)


def test_a_page_plays(page, tmp_path):
    assert clock(browse(page, tmp_path, "--dump-dom", at="#play")) > 0.5


def test_what_is_drawn_moves(page, tmp_path):
    plt = pytest.importorskip("matplotlib.image")
    pictures = []
    for k, at in enumerate(("#t=0", "#t=0", "#t=0.5")):
        file = tmp_path / f"{k}.png"
        browse(page, tmp_path, f"--screenshot={file}", at=at)
        pictures.append(plt.imread(file)[:400, :, :3])
    assert np.array_equal(pictures[0], pictures[1])
    changed = np.abs(pictures[2] - pictures[0]).max(axis=2) > 0.1
    assert 0.001 < changed.mean() < 0.5
    assert len(np.unique((pictures[0] * 255).astype(int).reshape(-1, 3), axis=0)) > 200

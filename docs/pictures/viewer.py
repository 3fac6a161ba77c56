"""Draws viewer.jpg for docs/viewer.md by a headless Chromium: python docs/pictures/viewer.py"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image

import delassus as dl

sys.path.insert(0, str(Path(__file__).parents[2]))
from tests.viewer.browser import Browser, Page

STEPS = 600


def settle(page: Page) -> None:
    """Wait until the scene is drawn, and close the notice of browsers without a graphics card."""
    page.wait_for("[...document.querySelectorAll('canvas')].some((x) => x.width > 300)")
    page.ask("Page.captureScreenshot")
    page.evaluate(
        "document.querySelectorAll('.mantine-Notification-closeButton').forEach((x) => x.click())"
    )
    time.sleep(3.0)


def save_small(page: Page, path: Path) -> None:
    """A picture of less than 150 kB."""
    with tempfile.TemporaryDirectory() as folder:
        seen = page.picture(Path(folder) / "seen.png")
        Image.open(seen).convert("RGB").save(path, quality=80, optimize=True)
    print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")


def draw(path: Path) -> None:
    """The walker after a push, as `sim.view()` shows it."""
    model = dl.robots.figure("walker").model
    sim = dl.Simulator(model)
    viewer = sim.view()
    try:
        folder = tempfile.mkdtemp()
        with Browser(Path(folder), (1150, 720)) as browser:
            page = browser.new_page()
            page.open(viewer.url)
            settle(page)
            pushed = np.zeros((model.n_bodies, 6))
            pushed[0, 0] = 0.15 * model.mass * 9.81
            for k in range(STEPS):
                sim.step(wrenches=pushed if k < 100 else None)
                if k % 20 == 0:
                    viewer.shown.show()
            clock = "[...document.querySelectorAll('input')].some((x) => x.value === '0.600')"
            page.wait_for(clock)
            time.sleep(5.0)
            save_small(page, path)
    finally:
        viewer.close()


if __name__ == "__main__":
    draw(Path(__file__).with_suffix(".jpg"))

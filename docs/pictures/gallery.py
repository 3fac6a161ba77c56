"""Draws the pictures of docs/gallery.md: python docs/pictures/gallery.py [NAME ...]

Runs the lines of that page. Each recording is exported as a page (see docs/viewer.md), which a
headless Chromium shows at its end; CHROMIUM names the browser if it is not found.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from delassus.viewer import scene as scenes
from delassus.viewer.motion import body_poses
from delassus.viewer.scene import Scene

scenes.MOST_TRIANGLES = 40_000  # of a mesh: pictures are finer than pages, which must be small
FOLDER = Path(__file__).parent
PAGE = FOLDER.parent / "gallery.md"
NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars"),
    *("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--virtual-time-budget=4000"),
)
WIDTH, HEIGHT, FINE = 640, 420, 2  # pixels, and how many times finer the browser draws
FIELD = 0.8  # rad, the height of the player's field of view
MARGIN = 1.12
COLORS = 128  # of a picture: keeps its file small
PLAIN = "<style>#bar, #plots, #note, #groups { display: none !important }</style></head>"


class View(NamedTuple):
    """Where a picture is taken from: angle about z, and above the ground."""

    turn: float = -0.8
    lift: float = 0.28


VIEWS = {
    "fourbar_fixed": View(-1.2, 0.2),
    "misha": View(-0.6, 0.2),
    "walker": View(-0.6, 0.2),
    "gazelle": View(-1.0, 0.2),
    "iron_man": View(-0.6, 0.15),
}


def main() -> None:
    """All pictures, or those named."""
    wanted, scope = sys.argv[1:], {}
    for name, code in blocks(PAGE.read_text(encoding="utf-8")):
        if name is None:
            exec(code, scope)
        elif not wanted or name in wanted:
            exec(code, scope)
            size = draw(scope["rec"], name)
            print(f"{name}.png: {size / 1000:.0f} kB", flush=True)


def blocks(text: str) -> list[tuple[str | None, str]]:
    """Python of the page: the name of the picture above it, if any, and the code."""
    found, name = [], None
    for picture, code in re.findall(r"pictures/(\w+)\.png|```python\n(.*?)```", text, re.DOTALL):
        name = picture or name
        if code:
            found.append((name, code))
            name = None
    return found


def draw(rec, name: str) -> int:
    """Draw the end of a recording; the size of the file."""
    view = VIEWS.get(name, View())
    target, distance = framed(rec.model, rec.q[-1], view)
    script = (
        f"<script>Object.assign(camera, {{ turn: {view.turn}, lift: {view.lift}, "
        f"distance: {distance:.4f}, target: {target.round(4).tolist()} }}); show();</script></body>"
    )
    with tempfile.TemporaryDirectory() as place:
        page, shot = Path(place) / "page.html", Path(place) / "shot.png"
        rec.to_html(page)
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("</head>", PLAIN, 1).replace("</body>", script, 1))
        command = [browser(), *OPTIONS, f"--user-data-dir={place}/profile"]
        command += [f"--window-size={FINE * WIDTH},{FINE * HEIGHT}", f"--screenshot={shot}"]
        subprocess.run(
            [*command, f"file://{page}#t={rec.time[-1]}"],
            check=True, capture_output=True, timeout=300,
        )  # fmt: skip
        picture = Image.open(shot).convert("RGB").resize((WIDTH, HEIGHT), Image.LANCZOS)
    path = FOLDER / f"{name}.png"
    picture.quantize(COLORS).save(path, optimize=True)
    return path.stat().st_size


def browser() -> str:
    """The command of a browser."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise SystemExit("no Chromium was found: apt-get install chromium, or name it by CHROMIUM")
    return found


def framed(model, q: np.ndarray, view: View) -> tuple[np.ndarray, float]:
    """Where to look, and from how far, so that a model at q fills the picture."""
    points = corners(model, q)
    c, s = np.cos(view.lift), np.sin(view.lift)
    back = np.array([c * np.cos(view.turn), c * np.sin(view.turn), s])
    right = np.array([-np.sin(view.turn), np.cos(view.turn), 0.0])
    axes = np.array([right, np.cross(back, right), back])
    seen = points @ axes.T
    middle = 0.5 * (seen.min(axis=0) + seen.max(axis=0))
    away = seen - middle
    steep = np.tan(FIELD / 2) * np.array([WIDTH / HEIGHT, 1.0])
    distance = (MARGIN * np.abs(away[:, :2]) / steep + away[:, 2:]).max()
    return middle @ axes, float(distance)


def corners(model, q: np.ndarray) -> np.ndarray:
    """Corners of all shapes that are shown, in the world."""
    scene, motion, found = Scene.of(model), body_poses(model, q[None]), []
    for thing in scene.things:
        if thing.group == "collision" or thing.place < 0:
            continue
        own = extent(thing, scene) @ thing.placement.rotation.T + thing.placement.translation
        x, y, z, w = motion.quaternions[0, thing.place]
        turned = own + 2.0 * np.cross([x, y, z], np.cross([x, y, z], own) + w * own)
        found.append(turned + motion.positions[0, thing.place])
    return np.concatenate(found)


def extent(thing, scene: Scene) -> np.ndarray:
    """Corners of a shape in its own axes."""
    size = thing.size
    if thing.kind == "mesh":
        return np.asarray(scene.meshes[thing.mesh]).reshape(-1, 3) * size
    half = {
        "box": np.array(size) / 2,
        "ellipsoid": np.array(size),
        "sphere": np.full(3, size[0]),
        "cylinder": np.array([size[0], size[0], size[-1] / 2]),
        "capsule": np.array([size[0], size[0], size[-1] / 2 + size[0]]),
    }[thing.kind]
    return np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T * half


if __name__ == "__main__":
    main()

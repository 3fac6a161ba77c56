"""A recording as one file: page, code and data together, which any browser plays by itself."""

from __future__ import annotations

import base64
import html
import json
import re
from importlib import resources
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import file_path, flag, positive_integer
from ..errors import FileAccessError
from ..model.model import Model
from ..simulation.collision.shapes import has_ground
from ..simulation.told.recording import Recording
from ..spatial.transform import rotation_to_quaternion
from . import forces
from .forces import Drawn, Recorded
from .motion import Motion, body_poses, quantized, shown_states
from .scene import GROUPS, HIDDEN, Scene, grid

FRAMES_PER_SECOND = 60
_METRICS = (
    ("energy from the first step on, J", False, ("kinetic", "potential", "total")),
    ("residuals", True, ("natural_map", "joint_velocity", "joint_error")),
)


def to_html(
    recording: Recording,
    path: str | PathLike[str],
    model: Model,
    *,
    frames_per_second: int = FRAMES_PER_SECOND,
    ground: bool | None = None,
    worlds: int = 16,
) -> None:
    """Write a page that plays a recording of a model: scene, camera, time bar, plots.

    Of many worlds the first ones are shown, at most `worlds`, side by side; plots are of the first.
    A recording that diverged is shown up to there. The ground is drawn as a simulator has it by
    default: not where a model describes its world and has none. The page needs neither a network
    nor a server.
    """
    q = shown_states(recording, model)[: positive_integer("worlds", worlds)]
    rate = positive_integer("frames_per_second", frames_per_second)
    chosen = _frames(recording.time[: q.shape[1]], rate)
    scene = Scene.of(model)
    shown = [body_poses(model, own[chosen]) for own in q]
    data = _content(scene, shown, _has_ground(model) if ground is None else flag("ground", ground))
    data |= _over_time(recording, chosen)
    data |= _forces(recording, scene, shown, chosen)
    page = resources.files(__package__)
    text = (page / "page.html").read_text(encoding="utf-8")
    script = (page / "page.js").read_text(encoding="utf-8")
    # Within a page no data may look like the end of its element.
    numbers = json.dumps(data, allow_nan=False).replace("<", "\\u003c")
    parts = {"TITLE": html.escape(model.name), "DATA": numbers, "SCRIPT": script}
    # In one pass: what is put in may look like a place to put something.
    text = re.sub("@(TITLE|DATA|SCRIPT)@", lambda found: parts[found[1]], text)
    try:
        file_path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise FileAccessError(f"{str(path)!r} cannot be written: {error.strerror}") from None


def _has_ground(model: Model) -> bool:
    return has_ground(model) or not model.describes_world


def _frames(time: np.ndarray, rate: int) -> np.ndarray:
    """Steps that are shown: at most so many a second."""
    end = len(time)
    length = time[-1] - time[0]
    count = int(np.clip(np.floor(length * rate + 1e-6) + 1, min(2, end), end))
    return np.unique(np.round(np.linspace(0, end - 1, count)).astype(int))


def _content(scene: Scene, worlds: list[Motion], ground: bool) -> dict[str, Any]:
    """Shapes, meshes and poses of all worlds, each at its place in a grid."""
    bodies, reach = scene.model.n_bodies, scene.reach()
    offsets = grid(len(worlds), reach)
    shapes, positions, quaternions = [], [], []
    for number, motion in enumerate(worlds):
        offset = offsets[number]
        positions.append(motion.positions + offset)
        quaternions.append(motion.quaternions)
        shapes += [_shape(t, number * bodies, offset) for t in scene.things]
    whole = Motion(np.concatenate(positions, axis=1), np.concatenate(quaternions, axis=1))
    packed = quantized(whole)
    points = whole.positions[0] if bodies else np.zeros((1, 3))
    center = 0.5 * (points.min(axis=0) + points.max(axis=0))
    radius = max(reach, 0.6 * float(np.linalg.norm(np.ptp(points, axis=0))))
    return {
        "name": scene.model.name,
        "missing": scene.missing,
        "places": bodies * len(worlds),
        "shapes": shapes,
        "meshes": [{"corners": _base64(m, "<f4")} for m in scene.meshes],
        "poses": _base64(packed.numbers, "<u2"),
        "low": packed.low.tolist(),
        "step": packed.step.tolist(),
        "center": center.tolist(),
        "radius": radius,
        "ground": ground,
        "tile": float(10.0 ** np.floor(np.log10(reach))),
        "groups": [g for g in GROUPS if any(t.group == g for t in scene.things)],
        "hidden": [*HIDDEN, *forces.HIDDEN],
    }


def _forces(
    recording: Recording, scene: Scene, worlds: list[Motion], chosen: np.ndarray
) -> dict[str, Any]:
    """Arrows and cones of the frames that are shown, of groups that the recording has."""
    told, drawn = Recorded(recording, scene.model), Drawn.of(scene.model, scene.reach())
    offsets, kinds = grid(len(worlds), scene.reach()), []
    found: dict[str, list[np.ndarray]] = {group: [] for group in forces.GROUPS}
    if told.has_contacts:
        kinds += forces.GROUPS[:2]
        for step in chosen:
            many = [told.contacts(w, step).moved(at) for w, at in enumerate(offsets)]
            arrows = [drawn.arrows(c.points, c.forces) for c in many]
            found[forces.GROUPS[0]].append(np.concatenate(arrows).reshape(-1, 6))
            found[forces.GROUPS[1]].append(np.concatenate([drawn.cones(c) for c in many]))
    if told.has_reactions:
        kinds.append(forces.GROUPS[2])
        each = [told.reactions(w, chosen, motion) for w, motion in enumerate(worlds)]
        for k in range(len(chosen)):
            arrows = [
                drawn.arrows(points[k] + at, pulls[k])
                for (points, pulls), at in zip(each, offsets, strict=True)
            ]
            found[forces.GROUPS[2]].append(np.concatenate(arrows).reshape(-1, 6))
    return {
        "forces": [
            {
                "group": group,
                "color": list(forces.COLORS[forces.GROUPS.index(group)]),
                "counts": _base64([len(x) for x in found[group]], "<u2"),
                "numbers": _base64(np.concatenate(found[group]), "<f4"),
                "width": found[group][0].shape[1],
            }
            for group in kinds
        ],
        "thickness": 0.008 * scene.reach(),
    }


def _shape(thing, first: int, offset: np.ndarray) -> dict[str, Any]:
    in_world = thing.place < 0
    return {
        "place": -1 if in_world else first + thing.place,
        "kind": thing.kind,
        "size": list(thing.size),
        "color": list(thing.color),
        "group": thing.group,
        "position": (thing.placement.translation + (offset if in_world else 0.0)).tolist(),
        "rotation": rotation_to_quaternion(thing.placement.rotation).tolist(),
        "mesh": thing.mesh,
    }


def _over_time(recording: Recording, chosen: np.ndarray) -> dict[str, Any]:
    """Time and metrics of the frames that are shown, those of the first world."""
    metrics, plots = dict(recording.metrics), []
    metrics["kinetic"] = metrics["kinetic_energy"]
    metrics["potential"] = _from_first(metrics["potential_energy"])
    metrics["total"] = _from_first(metrics["kinetic_energy"] + metrics["potential_energy"])
    for title, is_log, names in _METRICS:
        lines = []
        for name in names:
            values = metrics[name][0] if recording.is_many else metrics[name]
            values = np.nan_to_num(values[chosen], nan=0.0, posinf=0.0, neginf=0.0)
            lines.append({"name": name.replace("_", " "), "values": _base64(values, "<f4")})
        plots.append({"title": title, "log": is_log, "lines": lines})
    return {"time": _base64(recording.time[chosen], "<f4"), "plots": plots}


def _from_first(values: np.ndarray) -> np.ndarray:
    return values - values[..., :1]


def _base64(numbers: ArrayLike, kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers, kind).tobytes()).decode("ascii")

"""Figures of recordings over time: metrics, coordinates by the names of joints, and sensors.

| name | lines |
| --- | --- |
| a metric | one, of each world |
| q, v, accelerations, torques | one for each coordinate or degree of freedom, by joints |
| actuator_forces | one for each control |
| reactions | the force of each joint, N |
| a joint | its coordinates |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...checks import shown
from ...errors import MissingDependencyError, UnknownNameError
from ...extras import install_command
from .metrics import METRIC_NAMES

_MOST_NAMED = 12  # lines that a legend has room for
_HEIGHT, _WIDTH = 1.6, 8.0  # inches, of one plot


class Lines(NamedTuple):
    """Lines over time, (worlds, steps, lines), and their names."""

    values: np.ndarray
    names: list[str]


def plotted(recording: Any, names: tuple[str, ...]) -> Any:
    """A figure of a recording: what is named, else all metrics."""
    chosen = names or METRIC_NAMES
    found = [(name, lines_of(recording, name)) for name in chosen]
    pyplot = _pyplot()
    size = (_WIDTH, _HEIGHT * len(found))
    figure, axes = pyplot.subplots(len(found), 1, sharex=True, figsize=size, squeeze=False)
    for ax, (name, lines) in zip(axes[:, 0], found, strict=True):
        for k, label in enumerate(lines.names):
            for world, values in enumerate(lines.values[:, :, k]):
                text = label if world == 0 and label else None
                ax.plot(recording.time, values, color=f"C{k % 10}" if label else None, label=text)
        if 0 < len([x for x in lines.names if x]) <= _MOST_NAMED:
            ax.legend(fontsize=6, loc="upper right")
        ax.set_ylabel(name.replace("_", " "), fontsize=8)
    axes[-1, 0].set_xlabel("time, s")
    figure.tight_layout()
    return figure


def lines_of(recording: Any, name: str) -> Lines:
    """What a name stands for in a recording."""
    q, v = _names_of_coordinates(recording)
    by_name: dict[str, Callable[[], Lines]] = {
        "q": lambda: Lines(_worlds(recording, "q"), q),
        "v": lambda: Lines(_worlds(recording, "v"), v),
        "accelerations": lambda: Lines(_worlds(recording, "accelerations"), v),
        "torques": lambda: Lines(_worlds(recording, "torques"), v),
        "actuator_forces": lambda: _actuators(recording),
        "reactions": lambda: _reactions(recording),
    }
    if isinstance(name, str) and name in by_name:
        return by_name[name]()
    if isinstance(name, str) and name in METRIC_NAMES:
        values = recording.metrics[name]
        return Lines((values if recording.is_many else values[None])[:, :, None], [""])
    joints = [] if recording.model is None else [j.name for j in recording.model.joints]
    if isinstance(name, str) and name in joints:
        part = recording.model.joint(name).q
        return Lines(_worlds(recording, "q")[:, :, part], q[part])
    own = ", ".join(joints[:_MOST_NAMED]) + (", ..." if len(joints) > _MOST_NAMED else "")
    raise UnknownNameError(
        f"nothing called {shown(name)} can be plotted; there are {', '.join(by_name)}; metrics: "
        f"{', '.join(METRIC_NAMES)}" + (f"; coordinates of joints: {own}" if joints else "")
    )


def _worlds(recording: Any, name: str) -> np.ndarray:
    """Numbers of all worlds and steps."""
    x = getattr(recording, name)
    return x if recording.is_many else x[None]


def _actuators(recording: Any) -> Lines:
    values, model = _worlds(recording, "actuator_forces"), recording.model
    if model is not None and model.nu == values.shape[2]:
        return Lines(values, [a.name for a in model.actuators])
    return Lines(values, _names_of_coordinates(recording)[1])


def _reactions(recording: Any) -> Lines:
    values = _worlds(recording, "reactions")
    return Lines(np.linalg.norm(values[..., :3], axis=3), list(recording.joint_names))


def _names_of_coordinates(recording: Any) -> tuple[list[str], list[str]]:
    """Names of coordinates and of degrees of freedom: by joints, where the model is known."""
    if recording.model is None:  # of a recording from a file
        return [f"q {k}" for k in range(recording.nq)], [f"v {k}" for k in range(recording.nv)]
    q, v = [""] * recording.nq, [""] * recording.nv
    for joint in recording.model.joints:
        for names, part in ((q, joint.q), (v, joint.v)):
            count = part.stop - part.start
            for k in range(count):
                names[part.start + k] = joint.name if count == 1 else f"{joint.name} {k}"
    return q, v


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise MissingDependencyError(
            "plots need Matplotlib, which is not installed: "
            + install_command("bench", only="matplotlib")
        ) from None
    return pyplot

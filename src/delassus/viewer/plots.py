"""Energy and residuals over time, beside the scene."""

from __future__ import annotations

from typing import Any

import numpy as np

RESIDUALS = ("natural_map", "joint_velocity", "joint_error")
ENERGIES = ("kinetic", "potential", "total")
COLORS = ("#2b7de0", "#e08a1e", "#3aa655")
_MOST = 600  # points of a line
_LEAST = 1e-16  # of a logarithm


def energies(metrics: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Energies over time, (steps,); those with a potential part count from the first step on."""
    kinetic, potential = metrics["kinetic_energy"], metrics["potential_energy"]
    total = kinetic + potential
    lines = (kinetic, potential - potential[:1], total - total[:1])
    return dict(zip(ENERGIES, lines, strict=True))


class Plots:
    """Two plots of lines over time, with a mark at the present."""

    def __init__(self, gui: Any):
        self._plots = [
            (_plot(gui, "energy from the first step on, J", ENERGIES), ENERGIES, False),
            (_plot(gui, "residuals, powers of ten", RESIDUALS), RESIDUALS, True),
        ]

    def show(self, time: np.ndarray, metrics: dict[str, np.ndarray], now: float) -> None:
        """Draw metrics of one world over time, (steps,), and a mark."""
        if len(time) < 2:
            return
        chosen = np.unique(np.linspace(0, len(time) - 1, min(len(time), _MOST)).astype(int))
        lines = {**metrics, **energies(metrics)}
        for handle, names, is_log in self._plots:
            values = np.array([lines[name][chosen] for name in names])
            values = np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0)
            if is_log:
                values = np.log10(np.maximum(values, _LEAST))
            handle.data = _with_mark(time[chosen], values, now)


def _with_mark(time: np.ndarray, values: np.ndarray, now: float) -> tuple[np.ndarray, ...]:
    """Lines over time, and a last one along the bottom that goes up at the present."""
    low, high = float(values.min()), float(values.max())
    if high - low < 1e-9:
        low, high = low - 1.0, high + 1.0
    k = int(np.searchsorted(time, now))
    longer = np.insert(time, k, [now] * 3)
    mark = np.full(len(longer), low)
    mark[k + 1] = high
    return (longer, *(np.interp(longer, time, line) for line in values), mark)


def _plot(gui: Any, title: str, names: tuple[str, ...]) -> Any:
    lines = [
        {"label": name.replace("_", " "), "stroke": color, "width": 1.5}
        for name, color in zip(names, COLORS, strict=True)
    ]
    empty = np.array([0.0, 1.0])
    start = np.full(2, 1.0)
    return gui.add_uplot(
        (empty, *[start] * len(names), start),
        ({"label": "s"}, *lines, {"label": "now", "stroke": "#888888", "width": 1}),
        title=title,
        scales={"x": {"time": False}},
        axes=({}, {"size": 60}),
        legend={"live": False},
        height=180,
    )

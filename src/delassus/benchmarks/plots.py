"""How all plots look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import MissingDependencyError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = ("#3b6fb6", "#d9822b", "#4a9d6f", "#a5559b")
GREY = "#555555"
_BAR = 0.2


def figure(columns: int, width: float, height: float, title: str) -> tuple[Figure, list[Axes]]:
    """A figure with plots side by side."""
    try:
        # Without pyplot: no window system, no state that is shared with the user's own plots.
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependencyError(
            "plots need Matplotlib, which is not installed: pip install 'delassus[bench]'"
        ) from None
    made = Figure(figsize=(width, height), layout="constrained")
    made.suptitle(title, fontsize=13)
    axes = made.subplots(1, columns, squeeze=False)[0]
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", color="#dddddd", linewidth=0.8)
        ax.set_axisbelow(True)
    return made, list(axes)


def grouped_bars(ax: Axes, records: Sequence[Mapping], series: Mapping[str, str]) -> None:
    """A group a record, a bar for each entry in `series`; what was not measured has no bar."""
    for k, ((key, label), color) in enumerate(zip(series.items(), COLORS, strict=True)):
        shift = (k - (len(series) - 1) / 2) * _BAR
        shown = [(x + shift, r[key]) for x, r in enumerate(records) if r.get(key) is not None]
        ax.bar(*zip(*shown, strict=True), 0.92 * _BAR, color=color, label=label)

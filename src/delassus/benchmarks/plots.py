"""How all plots look."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import MissingDependencyError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = ("#3b6fb6", "#d9822b", "#4a9d6f", "#a5559b")
GREY = "#555555"


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

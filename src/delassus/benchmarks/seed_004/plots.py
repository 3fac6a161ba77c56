"""The plot of Table I."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..plots import GREY, figure, grouped_bars
from .rows import ROBOTS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SERIES = {
    "microseconds": "ours, batch",
    "loop_microseconds": "Pinocchio, loop",
    "single_microseconds": "ours, one state",
    "call_microseconds": "Pinocchio, one call",
}


def times(records: Sequence[Mapping]) -> Figure:
    """Bars of the time a state of every row that the paper has, a plot a robot."""
    made, axes = figure(
        len(ROBOTS), 16, 6, "Dynamics and derivatives: time a state, one core, float64"
    )
    for ax, robot in zip(axes, ROBOTS, strict=True):
        own = [r for r in records if r["robot"] == robot and r["paper_microseconds"] is not None]
        if ax is not axes[0]:
            ax.sharey(axes[0])
        _bars(ax, own)
        ax.set_title(f"{robot}, nv {own[0]['nv']} (paper: {ROBOTS[robot]})")
    axes[0].set_ylabel("microseconds a state")
    named = [*axes[0].containers, *axes[0].lines]
    made.legend(handles=named, loc="outside lower center", ncols=len(named), frameon=False)
    return made


def _bars(ax: Axes, records: Sequence[Mapping]) -> None:
    """A group a row, and marks for what the paper has."""
    grouped_bars(ax, records, _SERIES)
    paper = [r["paper_microseconds"] for r in records]
    ax.plot(paper, "_", color=GREY, markersize=26, markeredgewidth=2, label="paper, from C++")
    ax.set_yscale("log")
    ax.set_xticks(range(len(records)), [r["row"] for r in records], rotation=40, ha="right")

"""The plot of Table I."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..reporting.figures import BESIDE_PINOCCHIO, GREY, figure, grouped_bars, legend_below
from ..reporting.tables import Findings
from .rows import ROBOTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def times(findings: Findings) -> Figure:
    """Bars of the time per state of every row that the paper has, one plot per robot."""
    made, axes = figure(
        len(ROBOTS), 16, 6, "Dynamics and derivatives: time a state, one core, float64"
    )
    shown = [r for r in findings["times"] if r["paper_microseconds"] is not None]
    for ax, robot in zip(axes, ROBOTS, strict=True):
        own = [r for r in shown if r["robot"] == robot]
        if ax is not axes[0]:
            ax.sharey(axes[0])
        grouped_bars(ax, own, BESIDE_PINOCCHIO, [r["row"] for r in own], rotation=40)
        paper = [r["paper_microseconds"] for r in own]
        ax.plot(paper, "_", color=GREY, markersize=26, markeredgewidth=2, label="paper, from C++")
        ax.set_yscale("log")
        ax.set_title(f"{robot}, nv {own[0]['nv']} (paper: {ROBOTS[robot]})")
    axes[0].set_ylabel("microseconds a state")
    legend_below(made, axes[0])
    return made

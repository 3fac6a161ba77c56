"""The plots of tree dynamics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..reporting.figures import (
    COLORS,
    GREY,
    distinct,
    figure,
    grouped_bars,
    legend_below,
    line,
    pivot,
    plain_ticks,
)
from ..reporting.tables import Findings, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def speed(findings: Findings) -> Figure:
    """Bars of how many times faster than Pinocchio: batches, and one state."""
    made, (left, right) = figure(
        2, 13, 5, "Tree dynamics: Pinocchio's time divided by ours, one core, float64"
    )
    _bars(left, findings["batch"], "against a loop over its calls")
    left.set_title("batches, against Pinocchio's fastest path")
    _bars(right, findings["single"])
    right.set_title("one state a call, from Python")
    left.set_ylabel("times faster")
    legend_below(made, left)
    return made


def _bars(ax: Axes, records: Sequence[Record], loop_label: str = "") -> None:
    """One group of bars per robot; ticks mark the ratios to a loop over Pinocchio's calls.

    Without a batch function of Pinocchio, a bar ends at that ratio, and no tick is drawn.
    """
    algorithms = distinct(records, "algorithm")
    sizes = {r["robot"]: r["nv"] for r in records}
    drawn = grouped_bars(
        ax,
        pivot(records, "robot", "algorithm", "ratio"),
        {name: name for name in algorithms},
        [f"{robot}\nnv {nv}" for robot, nv in sizes.items()],
    )
    for name, bars in drawn.items():
        ax.bar_label(bars, fmt="%.1f", fontsize=8, padding=2)
        own = zip(bars, (r for r in records if r["algorithm"] == name), strict=True)
        marked = [(b, r) for b, r in own if r.get("function_ratio") is not None]
        if marked:
            x = [bar.get_x() + bar.get_width() / 2 for bar, _ in marked]
            y = [record["loop_ratio"] for _, record in marked]
            ax.plot(x, y, "_", color=GREY, markersize=12, markeredgewidth=2, label=loop_label)
            loop_label = "_"  # one entry in the legend is enough
    ax.axhline(1.0, color=GREY, linewidth=1.2, linestyle="--", label="equal")


def growth(findings: Findings) -> Figure:
    """Time per joint over the number of joints: a flat line means a time proportional to joints."""
    records = findings["growth"]
    algorithms = distinct(records, "algorithm")
    made, axes = figure(
        len(algorithms), 11, 4.5, "Chains of revolute joints: time a joint, one core, float64"
    )
    styles = {
        "pinocchio_nanoseconds": ("Pinocchio, one state", GREY, "--"),
        "single_nanoseconds": ("one state", COLORS[0], "-"),
        "batch_nanoseconds": ("batch", COLORS[1], "-"),
    }
    for ax, algorithm in zip(axes, algorithms, strict=True):
        own = [r for r in records if r["algorithm"] == algorithm]
        for key, (label, color, style) in styles.items():
            line(ax, ((r["joints"], r[key]) for r in own), style, color, label)
        ax.set_xscale("log")
        plain_ticks(ax)
        ax.set_ylim(bottom=0)
        ax.set_title(algorithm)
        ax.set_xlabel("joints")
    axes[0].set_ylabel("nanoseconds a joint")
    axes[0].legend(frameon=False)
    return made

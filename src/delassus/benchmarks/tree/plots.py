"""The plots of tree dynamics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..plots import COLORS, GREY, figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BAR = 0.2


def speed(single: Sequence[Mapping], batch: Sequence[Mapping]) -> Figure:
    """Bars of how many times faster than Pinocchio: batches, and one state."""
    made, (left, right) = figure(
        2, 13, 5, "Tree dynamics: Pinocchio's time divided by ours, one core, float64"
    )
    _bars(left, batch)
    _marks(left, batch)
    left.set_title("batches, against Pinocchio's fastest path")
    _bars(right, single)
    right.set_title("one state a call, from Python")
    left.set_ylabel("times faster")
    lines, bars = left.lines, left.containers
    named = [x for x in (*bars, *lines) if not x.get_label().startswith("_")]
    made.legend(handles=named, loc="outside lower center", ncols=len(named), frameon=False)
    return made


def _positions(records: Sequence[Mapping], algorithm: str) -> list[float]:
    """A group of bars a robot, a bar an algorithm."""
    robots = list(dict.fromkeys(r["robot"] for r in records))
    algorithms = list(dict.fromkeys(r["algorithm"] for r in records))
    shift = (algorithms.index(algorithm) - (len(algorithms) - 1) / 2) * _BAR
    return [robots.index(r["robot"]) + shift for r in records if r["algorithm"] == algorithm]


def _bars(ax: Axes, records: Sequence[Mapping]) -> None:
    algorithms = dict.fromkeys(r["algorithm"] for r in records)
    for algorithm, color in zip(algorithms, COLORS, strict=False):
        heights = [r["ratio"] for r in records if r["algorithm"] == algorithm]
        bars = ax.bar(
            _positions(records, algorithm), heights, 0.92 * _BAR, color=color, label=algorithm
        )
        ax.bar_label(bars, fmt="%.1f", fontsize=8, padding=2)
    sizes = {r["robot"]: r["nv"] for r in records}
    ax.set_xticks(range(len(sizes)), [f"{robot}\nnv {nv}" for robot, nv in sizes.items()])
    ax.axhline(1.0, color=GREY, linewidth=1.2, linestyle="--", label="equal")


def _marks(ax: Axes, records: Sequence[Mapping]) -> None:
    """A tick at the ratio to a loop over Pinocchio's calls, where that is another number."""
    label = "against a loop over its calls"
    for algorithm in dict.fromkeys(r["algorithm"] for r in records):
        own = [r for r in records if r["algorithm"] == algorithm]
        pairs = zip(_positions(records, algorithm), own, strict=True)
        shown = [(x, r["loop_ratio"]) for x, r in pairs if r["function_ratio"] is not None]
        if shown:
            x, y = zip(*shown, strict=True)
            ax.plot(x, y, "_", color=GREY, markersize=12, markeredgewidth=2, label=label)
            label = None


def growth(records: Sequence[Mapping]) -> Figure:
    """Time a joint over the number of joints: a flat line is a cost in proportion."""
    algorithms = list(dict.fromkeys(r["algorithm"] for r in records))
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
            x, y = zip(*((r["joints"], r[key]) for r in own if r[key] is not None), strict=True)
            ax.plot(x, y, style, marker="o", markersize=5, color=color, label=label)
        ax.set_xscale("log")
        ax.set_xticks([r["joints"] for r in own], [str(r["joints"]) for r in own], minor=False)
        ax.minorticks_off()
        ax.set_ylim(bottom=0)
        ax.set_title(algorithm)
        ax.set_xlabel("joints")
    axes[0].set_ylabel("nanoseconds a joint")
    axes[0].legend(frameon=False)
    return made

"""The plots of Tables II and III and of Figs. 1 and 3 to 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..reporting.figures import (
    COLORS,
    distinct,
    figure,
    grouped_bars,
    legend_below,
    line,
    pivot,
    plain_ticks,
)
from ..reporting.tables import Findings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_WHAT = ("problem", "nv", "rows")
_STYLES = {1: "--", 3: "-"}  # of lines, by the number of iterations
_TILT = 35  # degrees, of the problems' names below the bars


def times(title: str, key: str, findings: Findings) -> Figure:
    """Bars of the time per state of all contestants: batches, and one state."""
    made, axes = figure(2, 17, 6, f"{title}: time a state, one core, float64")
    modes = {"batch": "in batches, Pinocchio in a loop", "single": "one state, from Python"}
    for ax, (mode, label) in zip(axes, modes.items(), strict=True):
        records = findings[f"{key}_{mode}"]
        names = dict.fromkeys(name for r in records for name in r if name not in _WHAT)
        ticks = [r["problem"] for r in records]
        grouped_bars(ax, records, {name: name for name in names}, ticks, _TILT)
        ax.set_yscale("log")
        ax.set_title(label)
    axes[0].set_ylabel("microseconds a state")
    legend_below(made, axes[0])
    return made


def convergence(findings: Findings) -> Figure:
    """Whiskers of |J a + gamma| by iterations, side by side for all methods."""
    records = findings["convergence"]
    made, (ax,) = figure(1, 11, 5.5, "Convergence on redundant rows, Talos")
    width = 0.8 / max(len(records), 1)
    for k, (record, color) in enumerate(zip(records, COLORS, strict=False)):
        shift = (k - (len(records) - 1) / 2) * width
        boxes = [
            {"med": w["median"], "q1": w["first_quartile"], "q3": w["third_quartile"],
             "whislo": w["low"], "whishi": w["high"]}
            for w in record["whiskers"]
        ]  # fmt: skip
        places = [count + shift for count in range(1, len(boxes) + 1)]
        ax.bxp(
            boxes, positions=places, widths=0.9 * width, showfliers=False, patch_artist=True,
            boxprops={"facecolor": color}, medianprops={"color": "black"},
        )  # fmt: skip
        ax.plot([], [], "s", color=color, label=record["method"])
    most = max(len(record["whiskers"]) for record in records)
    ax.set_xticks(range(1, most + 1), map(str, range(1, most + 1)))
    ax.set_yscale("log")
    ax.set_xlabel("iterations")
    ax.set_ylabel("|J a + gamma|, quartiles, 5 to 95 %")
    ax.legend(frameon=False)
    return made


def growth(findings: Findings) -> Figure:
    """Time per link over the number of links: a flat line means a time proportional to links."""
    records = findings["growth"]
    families = distinct(records, "family")
    made, axes = figure(len(families), 16, 5.5, "Growth: time a link for one state, one core")
    for ax, family in zip(axes, families, strict=True):
        for name, color in zip(distinct(records, "method"), COLORS, strict=False):
            for count, style in _STYLES.items():
                points = [
                    (r["links"], r["single_nanoseconds"])
                    for r in records
                    if (r["family"], r["method"], r["iterations"]) == (family, name, count)
                ]
                line(ax, points, style, color, f"{name}, iterations {count}")
        ax.set_xscale("log")
        ax.set_yscale("log")
        plain_ticks(ax)
        ax.set_title(family)
        ax.set_xlabel("links")
    axes[0].set_ylabel("nanoseconds a link")
    legend_below(made, axes[0])
    return made


def operations(findings: Findings) -> Figure:
    """Bars of the number of operations, one plot per function."""
    functions = distinct(findings["operations"], "function")
    made, axes = figure(len(functions), 17, 6, "Arithmetic operations a state")
    for ax, function in zip(axes, functions, strict=True):
        own = [r for r in findings["operations"] if r["function"] == function]
        series = {name: name for name in distinct(own, "method")}
        grouped_bars(
            ax, pivot(own, "problem", "method", "total"), series, distinct(own, "problem"), _TILT
        )
        ax.set_yscale("log")
        ax.set_title(function.replace("_", " "))
        ax.legend(frameon=False, fontsize=8)
    axes[0].set_ylabel("operations")
    return made

"""The plots of Tables II and III and of Figs. 1 and 3 to 5."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ..plots import COLORS, GREY, figure
from ..report import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLORS = (*COLORS, "#7f5f3f", "#2a9fb0", "#c44e52", "#8c8c3a", GREY, "#b0b0b0")
_WHAT = ("problem", "nv", "rows")
_STYLES = {1: "--", 3: "-"}  # lines by iterations


def all_plots(tables: Mapping[str, Table]) -> dict[str, Callable[[], Figure]]:
    """All plots by name."""
    found = {
        "dynamics": partial(times, "Constrained dynamics", tables, "dynamics"),
        "inverse": partial(times, "Damped Delassus inverse", tables, "inverse"),
        "convergence": partial(convergence, tables["convergence"].records),
        "growth": partial(growth, tables["growth"].records),
    }
    if "operations" in tables:
        found["operations"] = partial(operations, tables["operations"].records)
    return found


def times(title: str, tables: Mapping[str, Table], key: str) -> Figure:
    """Bars of the time a state of all contestants: batches, and one state."""
    made, axes = figure(2, 17, 6, f"{title}: time a state, one core, float64")
    modes = {"batch": "in batches, Pinocchio in a loop", "single": "one state, from Python"}
    for ax, (mode, label) in zip(axes, modes.items(), strict=True):
        table = tables[f"{key}_{mode}"]
        names = [c.key for c in table.columns if c.key not in _WHAT]
        bars(ax, table.records, names)
        ax.set_title(label)
    axes[0].set_ylabel("microseconds a state")
    _legend(made, axes[0])
    return made


def bars(ax: Axes, records: Sequence[Mapping], names: Sequence[str]) -> None:
    """A group a problem and a bar a contestant; what was not measured has no bar."""
    width = 0.85 / max(len(names), 1)
    for k, name in enumerate(names):
        shift = (k - (len(names) - 1) / 2) * width
        shown = [(x + shift, r[name]) for x, r in enumerate(records) if r.get(name) is not None]
        if shown:
            color = _COLORS[k % len(_COLORS)]
            ax.bar(*zip(*shown, strict=True), 0.92 * width, color=color, label=name)
    ax.set_yscale("log")
    labels = [r["problem"] for r in records]
    ax.set_xticks(range(len(records)), labels, rotation=35, ha="right")


def convergence(records: Sequence[Mapping]) -> Figure:
    """Whiskers of |J a + gamma| by iterations, side by side for all methods."""
    made, (ax,) = figure(1, 11, 5.5, "Convergence on redundant rows, Talos")
    width = 0.8 / max(len(records), 1)
    for k, (record, color) in enumerate(zip(records, _COLORS, strict=False)):
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


def growth(records: Sequence[Mapping]) -> Figure:
    """Time a link over the number of links: a flat line is a cost in proportion."""
    families = list(dict.fromkeys(r["family"] for r in records))
    made, axes = figure(len(families), 16, 5.5, "Growth: time a link for one state, one core")
    names = list(dict.fromkeys(r["method"] for r in records))
    for ax, family in zip(axes, families, strict=True):
        for name, color in zip(names, _COLORS, strict=False):
            for count, style in _STYLES.items():
                own = [
                    (r["links"], r["single_nanoseconds"])
                    for r in records
                    if (r["family"], r["method"], r["iterations"]) == (family, name, count)
                ]
                label = f"{name}, iterations {count}"
                if own:
                    line = ax.plot(*zip(*own, strict=True), style, color=color, label=label)
                    line[0].set(marker="o", markersize=4)
        _log_scales(ax)
        ax.set_title(family)
        ax.set_xlabel("links")
    axes[0].set_ylabel("nanoseconds a link")
    _legend(made, axes[0])
    return made


def _log_scales(ax: Axes) -> None:
    """Logarithmic axes with plain numbers."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis, limits in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        ticks = [k * 10**power for power in range(6) for k in (1, 2, 5)]
        shown = [t for t in ticks if limits[0] <= t <= limits[1]]
        axis.set_ticks(shown, [f"{t:g}" for t in shown])
        axis.set_ticks([], minor=True)


def operations(records: Sequence[Mapping]) -> Figure:
    """Bars of the number of operations, a plot a function."""
    functions = list(dict.fromkeys(r["function"] for r in records))
    made, axes = figure(len(functions), 17, 6, "Arithmetic operations a state")
    for ax, function in zip(axes, functions, strict=True):
        own = [r for r in records if r["function"] == function]
        problems = {r["problem"]: {"problem": r["problem"]} for r in own}
        for r in own:
            problems[r["problem"]][r["method"]] = r["total"]
        bars(ax, list(problems.values()), list(dict.fromkeys(r["method"] for r in own)))
        ax.set_title(function.replace("_", " "))
        ax.legend(frameon=False, fontsize=8)
    axes[0].set_ylabel("operations")
    return made


def _legend(made: Figure, ax: Axes) -> None:
    """One legend for all plots of a figure."""
    named = [x for x in (*ax.containers, *ax.lines) if not x.get_label().startswith("_")]
    made.legend(handles=named, loc="outside lower center", ncols=min(len(named), 6), frameon=False)

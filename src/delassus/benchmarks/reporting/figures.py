"""What plots are made of: figures that look alike, groups of bars, lines, axes, legends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..peers.packages import package
from .tables import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from matplotlib.figure import Figure

GREY = "#555555"
COLORS = ("#3b6fb6", "#d9822b", "#4a9d6f", "#a5559b", GREY,
          "#7f5f3f", "#2a9fb0", "#c44e52", "#8c8c3a", "#b0b0b0")  # fmt: skip
# Times of ours and of Pinocchio, side by side in plots: their keys in records, and labels.
BESIDE_PINOCCHIO = {
    "microseconds": "ours, batch",
    "loop_microseconds": "Pinocchio, loop",
    "single_microseconds": "ours, one state",
    "call_microseconds": "Pinocchio, one call",
}
# Ticks of logarithmic axes, from 1 to 10.
_COARSE, _FINE = (1, 2, 5), (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9)
_GROUP = 0.85  # width of a group of bars; the distance of neighbouring groups is 1


def figure(
    columns: int, width: float, height: float, title: str, rows: int = 1
) -> tuple[Figure, list[Axes]]:
    """A figure with plots side by side and in rows, of a width and height in inches."""
    # Without pyplot: no window system, no state that is shared with the user's own plots.
    module = package("matplotlib.figure", "plots need Matplotlib")
    made = module.Figure(figsize=(width, height), layout="constrained")
    made.suptitle(title, fontsize=13)
    axes = made.subplots(rows, columns, squeeze=False).ravel()
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(axis="y", color="#dddddd", linewidth=0.8)
        ax.set_axisbelow(True)
    return made, list(axes)


def grouped_bars(
    ax: Axes,
    records: Sequence[Record],
    series: Mapping[str, str],
    ticks: Sequence[str],
    rotation: float = 0.0,
) -> dict[str, BarContainer]:
    """Draw one group of bars per record; what was not measured has no bar.

    `series` gives the entries to show and their labels, `ticks` the texts below the groups.
    """
    width = _GROUP / max(len(series), 1)
    drawn = {}
    for k, (key, label) in enumerate(series.items()):
        shift = (k - (len(series) - 1) / 2) * width
        shown = [(x + shift, r[key]) for x, r in enumerate(records) if r.get(key) is not None]
        if shown:
            color = COLORS[k % len(COLORS)]
            drawn[key] = ax.bar(*zip(*shown, strict=True), 0.92 * width, color=color, label=label)
    ax.set_xticks(
        range(len(records)), ticks, rotation=rotation, ha="right" if rotation else "center"
    )
    return drawn


def line(ax: Axes, points: Iterable[tuple], style: str, color: str, label: str) -> None:
    """Draw a line through points (x, y), a dot at each; points without y are left out."""
    known = [(x, y) for x, y in points if y is not None]
    if known:
        ax.plot(
            *zip(*known, strict=True), style, color=color, label=label, marker="o", markersize=4
        )


def plain_ticks(ax: Axes) -> None:
    """Label logarithmic axes by plain numbers (1, 2, 5, 10 and so on) rather than by powers."""
    for axis, (low, high) in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        if axis.get_scale() != "log":
            continue
        for steps in (_COARSE, _FINE):
            ticks = [k * 10**power for power in range(6) for k in steps]
            shown = [t for t in ticks if low <= t <= high]
            if len(shown) > 1:
                break  # a short axis needs finer steps
        axis.set_ticks(shown, [f"{t:g}" for t in shown])
        axis.set_ticks([], minor=True)


def legend_below(made: Figure, ax: Axes) -> None:
    """One legend for all plots of a figure, with what is drawn in one of them."""
    named = [x for x in (*ax.containers, *ax.lines) if not x.get_label().startswith("_")]
    made.legend(handles=named, loc="outside lower center", ncols=min(len(named), 6), frameon=False)


def pivot(records: Sequence[Record], group: str, series: str, value: str) -> list[Record]:
    """One record per group: its keys are the values of `series`, its values those of `value`."""
    groups: dict[object, Record] = {}
    for r in records:
        groups.setdefault(r[group], {group: r[group]})[r[series]] = r[value]
    return list(groups.values())


def distinct(records: Sequence[Record], key: str) -> list:
    """The values of an entry, each once, in the records' order."""
    return list(dict.fromkeys(r[key] for r in records))

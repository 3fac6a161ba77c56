"""The plots of Figs. 8, 10, 12 and 13, and of times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..reporting.figures import (
    COLORS,
    distinct,
    figure,
    grouped_bars,
    legend_below,
    line,
    plain_ticks,
)
from ..reporting.tables import Findings, Record
from .counting import EMBEDDED, SOLVERS, TREE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LINES = dict(zip((EMBEDDED, TREE, *SOLVERS), COLORS, strict=False))
_STYLES = ("-", "--", "-.", ":")
_WHAT = ("problem", "nv", "rows")
_MOTORS = {"forward_rotor_free": "without rotors", "forward_embedded": "embedded"}
_ROTORS = {"embedded": "embedded", "none": "without rotors", "diagonal": "reflected inertia"}


def growth(findings: Findings) -> Figure:
    """Operations over depth with the most branches, one plot per family."""
    most = max(r["branches"] for r in findings["growth"])
    records = [r for r in findings["growth"] if r["branches"] == most]
    families = distinct(records, "family")
    made, axes = figure(len(families), 16, 5.5, "Operations of forward dynamics with loops")
    for ax, family in zip(axes, families, strict=True):
        own = [r for r in records if r["family"] == family]
        _draw(ax, own, "branches", "depth")
        ax.set_title(family)
    return _finished(made, axes)


def locality(findings: Findings) -> Figure:
    """Operations over the size of a loop, one plot per depth of the chains."""
    records = findings["locality"]
    depths = distinct(records, "depth")
    made, axes = figure(len(depths), 16, 5.5, "Operations of two chains with one loop")
    for ax, depth in zip(axes, depths, strict=True):
        _draw(ax, [r for r in records if r["depth"] == depth], "kind", "loop")
        ax.set_title(f"chains of {depth} links")
    return _finished(made, axes)


def _draw(ax: Axes, records: Sequence[Record], style: str, size: str) -> None:
    """A line for each method and each value of `style`, over `size`."""
    for value, dashes in zip(distinct(records, style), _STYLES, strict=False):
        own = [r for r in records if r[style] == value]
        text = f"{style} {value}" if isinstance(value, int) else value
        for name, color in _LINES.items():
            line(ax, ((r[size], r.get(name)) for r in own), dashes, color, f"{name}, {text}")
    ax.set_yscale("log")
    plain_ticks(ax)
    ax.set_xticks(distinct(records, size))
    ax.set_xlabel(size)


def _finished(made: Figure, axes: Sequence[Axes]) -> Figure:
    axes[0].set_ylabel("operations")
    legend_below(made, axes[0])
    return made


def motors(findings: Findings) -> Figure:
    """Bars of the operations with and without motors."""
    records = findings["motors"]
    made, (ax,) = figure(1, 8, 4.5, "Forward dynamics: operations with and without motors")
    drawn = grouped_bars(ax, records, _MOTORS, [r["robot"] for r in records])
    labels = [f"x {r['forward_ratio']:.2f}" for r in records]
    ax.bar_label(drawn["forward_embedded"], labels, fontsize=8, padding=2)
    ax.set_ylabel("operations")
    ax.legend(frameon=False)
    return made


def torques(findings: Findings) -> Figure:
    """Torques over time, one plot per joint."""
    records = findings["torques"]
    made, axes = figure(len(records), 18, 4.5, "Torques of a leg of the MIT Humanoid")
    for ax, record in zip(axes, records, strict=True):
        for (name, label), color in zip(_ROTORS.items(), COLORS, strict=False):
            ax.plot(record["times"], record["torques"][name], color=color, label=label)
        ax.set_title(record["joint"])
        ax.set_xlabel("s")
    axes[0].set_ylabel("N m")
    legend_below(made, axes[0])
    return made


def times(findings: Findings) -> Figure:
    """Bars of the time per state of all contestants: batches, and one state."""
    made, axes = figure(2, 15, 5.5, "Forward dynamics with loops: time a state, one core, float64")
    modes = {"times_batch": "in batches, Pinocchio in a loop", "times_single": "one state"}
    for ax, (key, label) in zip(axes, modes.items(), strict=True):
        records = findings[key]
        names = dict.fromkeys(name for r in records for name in r if name not in _WHAT)
        grouped_bars(ax, records, {n: n for n in names}, [r["problem"] for r in records], 20)
        ax.set_yscale("log")
        ax.set_title(label)
    axes[0].set_ylabel("microseconds a state")
    legend_below(made, axes[0])
    return made

"""Plots of times, and of convergence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..plots import COLORS, GREY, figure, grouped_bars

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_TIMES = {
    "microseconds": "ours, batch",
    "loop_microseconds": "Pinocchio, loop",
    "single_microseconds": "ours, one state",
    "call_microseconds": "Pinocchio, one call",
}
_FACTORS = {
    "microseconds": "ours, batch, with M and J",
    "dense_microseconds": "LAPACK, K given",
    "sparse_microseconds": "sparse LU, K given",
    "pinocchio_microseconds": "Pinocchio, M and J given",
}


def times(records: Sequence[Mapping]) -> Figure:
    """Bars of the time a state of constrained dynamics."""
    made, axes = figure(1, 9, 5, "Constrained dynamics: time a state, one core, float64")
    _bars(axes[0], records, _TIMES)
    return made


def factorization(records: Sequence[Mapping]) -> Figure:
    """Bars of the time of a factorisation."""
    made, axes = figure(1, 9, 5, "Factorisation of the constrained equations: time a state")
    _bars(axes[0], records, _FACTORS)
    axes[0].set_yscale("log")
    return made


def convergence(records: Sequence[Mapping]) -> Figure:
    """|J^T r| by iterations, a plot a problem and a line a damping."""
    problems = list(dict.fromkeys(r["problem"] for r in records))
    made, axes = figure(len(problems), 13, 5, "Proximal iterations: convergence by damping")
    for ax, problem in zip(axes, problems, strict=True):
        own = [r for r in records if r["problem"] == problem]
        for record, color in zip(own, (*COLORS, GREY), strict=True):
            counts = range(1, len(record["gradients"]) + 1)
            label = f"damping {record['damping']:.0e}"
            ax.semilogy(counts, record["gradients"], ".-", color=color, label=label)
        ax.set_title(f"{problem}, {own[0]['rows']} rows")
        ax.set_xlabel("iterations")
        ax.set_xticks(range(0, len(own[0]["gradients"]) + 1, 5))
    axes[0].set_ylabel("|J^T r|")
    axes[-1].legend(frameon=False)
    return made


def _bars(ax: Axes, records: Sequence[Mapping], series: Mapping[str, str]) -> None:
    """A group a problem."""
    grouped_bars(ax, records, series)
    ax.set_xticks(range(len(records)), [r["problem"] for r in records])
    ax.set_ylabel("microseconds a state")
    ax.legend(frameon=False)

"""Plots of times, and of convergence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..reporting.figures import BESIDE_PINOCCHIO, COLORS, distinct, figure, grouped_bars, line
from ..reporting.tables import Findings, Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_FACTORS = {
    "microseconds": "ours, batch, with M and J",
    "dense_microseconds": "LAPACK, K given",
    "sparse_microseconds": "sparse LU, K given",
    "pinocchio_microseconds": "Pinocchio, M and J given",
}


def times(findings: Findings) -> Figure:
    """Bars of the time per state of constrained dynamics."""
    made, axes = figure(1, 9, 5, "Constrained dynamics: time a state, one core, float64")
    _bars(axes[0], findings["dynamics"], BESIDE_PINOCCHIO)
    return made


def factorization(findings: Findings) -> Figure:
    """Bars of the time of a factorisation."""
    made, axes = figure(1, 9, 5, "Factorisation of the constrained equations: time a state")
    _bars(axes[0], findings["factorization"], _FACTORS)
    axes[0].set_yscale("log")
    return made


def _bars(ax: Axes, records: Sequence[Record], series: Mapping[str, str]) -> None:
    """One group of bars per problem."""
    grouped_bars(ax, records, series, [r["problem"] for r in records])
    ax.set_ylabel("microseconds a state")
    ax.legend(frameon=False)


def convergence(findings: Findings) -> Figure:
    """|J^T r| by iterations: one plot per problem, one line per damping."""
    records = findings["convergence"]
    problems = distinct(records, "problem")
    made, axes = figure(len(problems), 13, 5, "Proximal iterations: convergence by damping")
    for ax, problem in zip(axes, problems, strict=True):
        own = [r for r in records if r["problem"] == problem]
        for record, color in zip(own, COLORS, strict=False):
            label = f"damping {record['damping']:.0e}"
            line(ax, enumerate(record["gradients"], 1), "-", color, label)
        ax.set_yscale("log")
        ax.set_title(f"{problem}, {own[0]['rows']} rows")
        ax.set_xlabel("iterations")
        ax.set_xticks(range(0, len(own[0]["gradients"]) + 1, 5))
    axes[0].set_ylabel("|J^T r|")
    axes[-1].legend(frameon=False)
    return made

"""Plots: shares solved, performance profiles, convergence, times beside Pinocchio's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ... import contact
from ..reporting.figures import COLORS, figure, grouped_bars, legend_below
from ..reporting.tables import Findings
from .profiles import MODES, solver_ratios

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLES = ("-", "--")
_LINES = {
    name: {"color": COLORS[k % len(COLORS)], "linestyle": _STYLES[k // len(COLORS)]}
    for k, name in enumerate(contact.SOLVERS)
}
_CONTEST = ("pinocchio", "auto", "admm-ncp-sa", "auto batch", "admm-ncp-sa batch")
_COLUMNS = 3  # of plots of convergence
_LOWEST = 1e-10  # natural map in plots


def solved(findings: Findings) -> Figure:
    """Bars of the share of problems that each solver solves."""
    made, (ax,) = figure(1, 12, 4.5, "Share of problems solved to a natural map of 1e-6")
    records = [{"solver": r["solver"], "cold": r["all"]} for r in findings["converged_cold"]]
    for record, warm in zip(records, findings["converged_warm"], strict=True):
        record["warm"] = warm["all"]
    grouped_bars(ax, records, MODES, [r["solver"] for r in records], 25)
    ax.legend(frameon=False, loc="lower left")
    return made


def profiles(findings: Findings) -> Figure:
    """rho(tau) of each solver, cold and warm."""
    made, axes = figure(2, 14, 5.5, "Performance profiles: solved within tau times the fastest")
    for ax, (mode, label) in zip(axes, MODES.items(), strict=True):
        for name, r in solver_ratios(findings, mode).items():
            known = np.sort(r[np.isfinite(r)])
            share = np.arange(1, len(known) + 1) / len(r)
            x, y = np.r_[1.0, known, 1e4], np.r_[0.0, share, share[-1] if len(share) else 0.0]
            ax.step(x, y, where="post", label=name, **_LINES[name])
        ax.set_xscale("log")
        ax.set_xlim(1.0, 1e3)
        ax.set_ylim(0.0, 1.02)
        ax.set_xlabel("tau")
        ax.set_title(label)
    axes[0].set_ylabel("share of problems")
    legend_below(made, axes[0])
    return made


def convergence(findings: Findings) -> Figure:
    """The natural map over iterations, one plot per problem."""
    records = findings["convergence"]
    rows = -(-len(records) // _COLUMNS)
    made, axes = figure(_COLUMNS, 15, 4.5 * rows, "Natural map over iterations, cold", rows)
    for ax in axes[len(records) :]:
        ax.set_visible(False)
    for ax, record in zip(axes, records, strict=False):
        for name, curve in record["curves"].items():
            y = np.maximum(curve["natural_map"], _LOWEST)
            marker = "o" if len(y) < 5 else ""
            ax.plot(curve["iterations"], y, marker=marker, ms=3, lw=1.2, label=name, **_LINES[name])
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("iterations")
        ax.set_title(f"{record['problem']}, {record['rows']} rows")
    for ax in axes[::_COLUMNS]:
        ax.set_ylabel("natural map")
    legend_below(made, axes[0])
    return made


def contest(findings: Findings) -> Figure:
    """Bars of the time per problem, cold and warm."""
    made, axes = figure(2, 16, 5.5, "To a natural map of 1e-6: time a problem, one core")
    for ax, mode in zip(axes, MODES, strict=True):
        records = findings[f"contest_{mode}"]
        ticks = [f"{r['problems']} ({r['rows']})" for r in records]
        grouped_bars(ax, records, {name: name for name in _CONTEST}, ticks, 25)
        ax.set_yscale("log")
        ax.set_title(MODES[mode])
    axes[0].set_ylabel("microseconds a problem")
    legend_below(made, axes[0])
    return made

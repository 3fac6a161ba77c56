"""Plots of a run: profiles over time and accuracy, convergence, whole simulations, sweeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .... import contact
from ...reporting.figures import COLORS, distinct, figure, grouped_bars, legend_below, pivot
from ...reporting.tables import Record
from ..solving import MODES
from ..sweeping import KINDS
from .tables import of_mode, time_ratios

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FAR = 1e3  # tau up to which profiles are drawn
_LOWEST, _HIGHEST = 1e-12, 1e2  # natural maps that are drawn
_COLUMNS = 4
_STYLES = ("-", "--")


def _line(solver: str) -> dict[str, object]:
    k = list(contact.SOLVERS).index(solver)
    return {"color": COLORS[k % len(COLORS)], "linestyle": _STYLES[k // len(COLORS)], "lw": 1.3}


def time_profiles(records: Sequence[Record]) -> Figure:
    """Share of samples solved within tau times the fastest."""
    made, axes = figure(len(MODES), 15, 5.5, "Solved within tau times the time of the fastest")
    for ax, mode in zip(axes, MODES, strict=True):
        for name, r in time_ratios(records, mode).items():
            known = np.sort(r[r <= _FAR])
            share = np.arange(1, len(known) + 1) / len(r)
            last = share[-1] if len(share) else 0.0
            x, y = np.r_[1.0, known, _FAR], np.r_[0.0, share, last]
            ax.step(x, y, where="post", label=name, **_line(name))
        ax.set(xscale="log", xlim=(1.0, _FAR), ylim=(0.0, 1.02), xlabel="tau", title=MODES[mode])
    axes[0].set_ylabel("share of samples")
    legend_below(made, axes[0])
    return made


def accuracy_profiles(records: Sequence[Record]) -> Figure:
    """Share of samples whose natural map is below a level."""
    made, axes = figure(len(MODES), 15, 5.5, "Natural map that is reached, asked for 1e-6")
    for ax, mode in zip(axes, MODES, strict=True):
        for name in contact.SOLVERS:
            own = [r["natural_map"] for r in of_mode(records, mode) if r["solver"] == name]
            if own:
                x = np.clip(np.sort(own), _LOWEST, _HIGHEST)
                y = np.arange(1, len(x) + 1) / len(x)
                ax.step(x, y, where="post", label=name, **_line(name))
        ax.axvline(1e-6, color="#bbbbbb", lw=0.8)
        ax.set(xscale="log", xlim=(_LOWEST, _HIGHEST), ylim=(0.0, 1.02), title=MODES[mode])
        ax.set_xlabel("natural map")
    axes[0].set_ylabel("share of samples")
    legend_below(made, axes[0])
    return made


def convergence(curves: Mapping[str, Mapping[str, tuple]]) -> Figure:
    """The natural map over iterations of one sample a system, cold."""
    rows = -(-max(len(curves), 1) // _COLUMNS)
    made, axes = figure(_COLUMNS, 15, 3.6 * rows + 1, "Natural map over iterations, cold", rows)
    for ax in axes[len(curves) :]:
        ax.set_visible(False)
    for ax, (system, own) in zip(axes, curves.items(), strict=False):
        for name, (at, natural) in own.items():
            y = np.clip(natural, _LOWEST, None)
            ax.plot(at, y, marker="o" if len(at) < 5 else "", ms=3, label=name, **_line(name))
        ax.set(xscale="log", yscale="log", title=system)
    legend_below(made, max(axes, key=lambda ax: len(ax.lines)))
    return made


def steps_a_second(records: Sequence[Record]) -> Figure:
    """Steps a second of each system, by what drives it."""
    made, (ax,) = figure(1, 15, 4.5, "Whole simulations: steps a second, one core")
    known = [r for r in records if r.get("steps_per_second")]
    own = pivot(known, "system", "driver", "steps_per_second")
    drivers = {d: d for d in distinct(known, "driver")}
    drawn = grouped_bars(ax, own, drivers, [r["system"] for r in own], 25)
    for k, bars in enumerate(drawn.values()):
        for bar in bars:
            bar.set_color(COLORS[k % len(COLORS)])
            bar.set_hatch("//" if k >= len(COLORS) else "")
    ax.set(yscale="log", ylabel="steps a second")
    legend_below(made, ax)
    return made


_SWEPT = {
    "joint_error": "largest joint error, m",
    "penetration": "largest penetration, m",
    "converged": "share of steps converged",
    "iterations": "mean iterations",
}


def sweeps(records: Sequence[Record]) -> Figure:
    """Errors and iterations over the parameters of stabilisation and softening."""
    title = "Stabilisation and softening; dotted: midpoint with displacement"
    made, axes = figure(len(KINDS), 15, 3.0 * len(_SWEPT) + 1, title, len(_SWEPT))
    for n, (key, label) in enumerate(_SWEPT.items()):
        for k, (kind, heading) in enumerate(KINDS.items()):
            ax = axes[n * len(KINDS) + k]
            for i, system in enumerate(distinct(records, "system")):
                own = [r for r in records if r["system"] == system]
                points = sorted((r["value"], r[key]) for r in own if r["kind"] == kind)
                color = COLORS[i]
                ax.plot(*zip(*points, strict=True), color=color, marker="o", ms=4, label=system)
                for r in own:
                    if r["kind"] == "midpoint, displacement":
                        ax.axhline(r[key], color=color, ls=":", lw=1.2)
            if kind == "part":  # from none to all of it
                ax.set_xscale("symlog", linthresh=1e-3)
                ax.set_xlim(0.0, 1.2)
            else:
                ax.set_xscale("log")
                ax.xaxis.set_minor_formatter("")
            if key != "converged":
                ax.set_yscale("log")
            ax.set(xlabel=heading, ylabel=label if k == 0 else "")
    legend_below(made, axes[0])
    return made

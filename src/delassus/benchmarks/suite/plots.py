"""Plots of a run: profiles over time and over accuracy, and curves of convergence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ... import contact
from ..reporting.figures import COLORS, figure, legend_below
from ..reporting.tables import Record
from .solving import MODES
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

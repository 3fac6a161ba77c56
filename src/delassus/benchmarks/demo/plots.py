"""Plots of the demonstration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..reporting.figures import COLORS, GREY, figure, legend_below
from .falls import Fall

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LOWEST = 1e-16  # of what is drawn on logarithmic axes
_WIDTH, _HEIGHT = 14, 3.6


def course(one: Fall) -> Figure:
    """Energy, errors of joints and forces of contact over time."""
    made, (energy, loops, forces) = figure(3, _WIDTH, _HEIGHT, "")
    time, metrics = one.recording.time, one.recording.metrics
    kinetic, potential = metrics["kinetic_energy"], metrics["potential_energy"]
    potential = potential - potential[-1]
    for values, name, color in (
        (potential, "potential, from the end on", COLORS[0]),
        (kinetic, "kinetic", COLORS[1]),
        (kinetic + potential, "both", GREY),
    ):
        energy.plot(time, values, color=color, lw=1.4, label=name)
    energy.set(title="energy, J", xlabel="time, s")
    energy.legend(frameon=False, fontsize=9)
    error = np.maximum(metrics["joint_error"], _LOWEST)
    loops.semilogy(time, error, color=COLORS[2], lw=1.2)
    loops.set(title="largest error of joints and loops, m", xlabel="time, s")
    for (name, lift), color in zip(one.forces().items(), COLORS, strict=False):
        forces.plot(time, lift, color=color, lw=1.2, label=name)
    forces.axhline(one.weight, color=GREY, lw=1.0, ls="--", label="weight")
    # Impacts take a step or two, and would make all else flat.
    forces.set(title="forces of contact, upwards, N", xlabel="time, s", ylim=(0, 4 * one.weight))
    forces.legend(frameon=False, fontsize=9)
    return made


def convergence(curves: Mapping[str, Mapping[str, np.ndarray]]) -> Figure:
    """The natural map over iterations, one plot a mechanism."""
    made, axes = figure(len(curves), _WIDTH, 4.2, "")
    for ax, (title, own) in zip(axes, curves.items(), strict=True):
        for (solver, history), color in zip(own.items(), COLORS, strict=False):
            steps = np.arange(1, len(history) + 1)
            ax.loglog(
                steps, np.maximum(history, _LOWEST), color=color, lw=1.4, label=solver,
                marker="o" if len(history) < 10 else "", ms=3.5,
            )  # fmt: skip
        ax.set(title=f"{title} touches down: natural map", xlabel="iterations")
    legend_below(made, axes[0])
    return made

"""Draws contact.png for docs/contact.md: python docs/pictures/contact.py"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

import delassus as dl

SOLVERS = {
    "auto": "#3b6fb6",
    "admm-ncp-sa": "#d9822b",
    "admm-ncp-fp": "#e8b98a",
    "pgs-ncp": "#4a9d6f",
    "prox": "#a5559b",
    "nbgs": "#c44e52",
    "raisim-ds": "#2a9fb0",
}


def at_point(r: np.ndarray) -> np.ndarray:
    """The velocity of a point of a body, by its twist."""
    x, y, z = r
    return np.array([[1, 0, 0, 0, z, -y], [0, 1, 0, -z, 0, x], [0, 0, 1, y, -x, 0]], float)


def stack(height: int, twist: list[float], mu: float) -> dl.contact.Problem:
    """Boxes of 1 kg on each other, with edges of 0.2 m, all with the same twist."""
    J = np.zeros((12 * height, 6 * height))
    corners = [np.array([x, y, -0.1]) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    for k in range(height):
        for c, r in enumerate(corners):
            rows = slice(12 * k + 3 * c, 12 * k + 3 * c + 3)
            J[rows, 6 * k : 6 * k + 6] = at_point(r)
            if k:
                J[rows, 6 * k - 6 : 6 * k] = -at_point(r + np.array([0.0, 0.0, 0.2]))
    inertia = np.tile([1.0] * 3 + [0.2**2 / 6] * 3, height)
    D = (J / inertia) @ J.T
    return dl.contact.Problem(0.5 * (D + D.T), J @ np.tile(twist, height), friction=mu)


PROBLEMS = {
    "a box that slides and turns": stack(1, [0.3, 0.4, -0.1, 0.0, 0.0, 2.0], 0.5),
    "four boxes at rest": stack(4, [0.0, 0.0, -0.1, 0.0, 0.0, 0.0], 0.5),
}


def main() -> None:
    """Natural map over iterations, one plot per problem."""
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    axes = figure.subplots(1, 2)
    for ax, (title, problem) in zip(axes, PROBLEMS.items(), strict=True):
        for name, color in SOLVERS.items():
            found = dl.contact.solve(problem, name, 1e-9, 2000, record=True)
            steps = np.arange(1, len(found.history) + 1)
            ax.loglog(steps, np.maximum(found.history, 1e-11), color=color, label=name)
        ax.set_title(title)
        ax.set_xlabel("iterations")
        ax.set_ylim(1e-10, 1.0)
        ax.grid(color="#dddddd", linewidth=0.8)
    axes[0].set_ylabel("natural map")
    axes[1].legend(frameon=False, fontsize=8)
    figure.savefig(Path(__file__).with_name("contact.png"), dpi=100)


if __name__ == "__main__":
    main()

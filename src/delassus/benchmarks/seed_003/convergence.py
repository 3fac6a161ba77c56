"""How fast proximal iterations converge for different damping: Fig. 2 of the paper."""

from __future__ import annotations

from collections.abc import Sequence

import delassus

from ..progress import Job
from ..report import Column, Table
from ..settings import Settings
from ..states import States
from .problems import FEET, REDUNDANT, Problem

DAMPINGS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
MOST = 20  # iterations
SMALL = 1e-9  # of J^T r: what counts as converged here
_SHOWN = (1, 2, 3, 5, 10, MOST)
_STATES = 16


def jobs(settings: Settings) -> list[Job]:
    """A job for each problem and damping."""
    return [
        Job(f"{p.label}, damping {mu:g}", lambda p=p, mu=mu: converge(p, mu, settings))
        for p in (FEET, REDUNDANT)
        for mu in DAMPINGS
    ]


def converge(problem: Problem, damping: float, settings: Settings) -> dict[str, object]:
    """The largest |J^T r| of some states after each number of iterations."""
    constraints, _ = problem.pair()
    states = States.random(constraints.model, _STATES, settings.seed)
    gradients = [
        float(
            delassus.constrained_dynamics(
                constraints.model, states.q, states.v, states.x, constraints,
                method="prox-ltl", damping=damping, tolerance=0.0, max_iterations=count,
            ).gradient.max()
        )
        for count in range(1, MOST + 1)
    ]  # fmt: skip
    enough = [count for count, x in enumerate(gradients, 1) if x <= SMALL]
    return {
        "problem": problem.label,
        "rows": constraints.size,
        "damping": damping,
        "gradients": gradients,
        "enough": enough[0] if enough else None,
        **{f"after_{count}": gradients[count - 1] for count in _SHOWN},
    }


def tables(records: Sequence[dict[str, object]]) -> list[Table]:
    """A row a problem and damping."""
    columns = [
        Column("problem"), Column("rows"), Column("damping", "damping", ".0e"),
        *(Column(f"after_{count}", f"after {count}", ".0e") for count in _SHOWN),
        Column("enough", f"to {SMALL:.0e}"),
    ]  # fmt: skip
    title = f"Convergence: |J^T r| by iterations, the largest of {_STATES} states"
    note = (
        "r = J a + gamma: what is left of the rows' accelerations. The last column is how many\n"
        "iterations it takes; where there is none, rounding or slow convergence is in the way."
    )
    return [Table("convergence", title, columns, records, note)]

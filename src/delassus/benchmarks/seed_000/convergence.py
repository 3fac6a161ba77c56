"""How fast proximal iterations converge where rows are redundant: Fig. 4 of the paper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import delassus

from ...constrained.rows.constraints import Constraints
from ..methods import proximal_methods
from ..progress import Job
from ..report import Column, Table
from ..settings import Settings
from ..states import States
from .problems import DAMPING, REDUNDANT

MOST = 10  # iterations
STATES = 1000
_SHOWN = (1, 2, 3, 5, MOST)
# What a whisker plot shows of the states' residuals.
QUANTILES = {"low": 0.05, "first_quartile": 0.25, "median": 0.5, "third_quartile": 0.75,
             "high": 0.95}  # fmt: skip


def jobs(settings: Settings) -> list[Job]:
    """A job for each proximal method."""
    return [
        Job(f"convergence, {name}", lambda name=name: converge(name, settings))
        for name in proximal_methods()
    ]


def converge(method: str, settings: Settings) -> dict[str, object]:
    """Quantiles of |J a + gamma| after each number of iterations."""
    constraints = REDUNDANT.constraints()
    states = consistent_states(constraints, settings.seed)
    J, drift = constraints.jacobian(states.q), constraints.drift(states.q, states.v)
    levels = list(QUANTILES.values())
    whiskers = []
    for count in range(1, MOST + 1):
        a = delassus.constrained_dynamics(
            constraints.model, states.q, states.v, states.x, constraints, method=method,
            damping=DAMPING, tolerance=0.0, max_iterations=count,
        ).acceleration  # fmt: skip
        residuals = np.linalg.norm(np.einsum("nij,nj->ni", J, a) + drift, axis=1)
        found = np.quantile(residuals, levels).tolist()
        whiskers.append(dict(zip(QUANTILES, found, strict=True)))
    return {
        "method": method,
        "rows": constraints.size,
        "rank": int(constraints.rank(states.q[0])),
        "whiskers": whiskers,
        **{f"after_{count}": whiskers[count - 1]["median"] for count in _SHOWN},
    }


def consistent_states(constraints: Constraints, seed: int) -> States:
    """Random states whose velocities keep to the constraints: then their rows agree."""
    states = States.random(constraints.model, STATES, seed)
    J = constraints.jacobian(states.q)
    v = states.v - np.einsum("nij,njk,nk->ni", np.linalg.pinv(J, rcond=1e-8), J, states.v)
    return States(states.q, v, states.x)


def tables(records: Sequence[dict[str, object]]) -> list[Table]:
    """A row a method."""
    columns = [
        Column("method"), Column("rows"), Column("rank"),
        *(Column(f"after_{count}", f"after {count}", ".0e") for count in _SHOWN),
        Column("whiskers"),
    ]  # fmt: skip
    title = (
        f"Convergence, {REDUNDANT.label}: |J a + gamma| by iterations, median of {STATES} states"
    )
    return [_Whiskers("convergence", title, columns, records, f"Damping {DAMPING:g}.")]


class _Whiskers(Table):
    """A table whose quantiles are for programs and plots, not for people."""

    def __str__(self) -> str:
        return str(Table(self.key, self.title, self.columns[:-1], self.records, self.note))

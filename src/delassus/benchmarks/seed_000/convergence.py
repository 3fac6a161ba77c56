"""How fast proximal iterations converge where rows are redundant: Fig. 4 of the paper."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ... import Constraints, constrained_dynamics
from ..comparing.methods import evaluate, proximal_methods
from ..comparing.problems import DAMPING
from ..measuring.settings import Settings
from ..measuring.states import States
from ..reporting.checks import FINITE, Limit
from ..reporting.conclusions import Fact
from ..reporting.tables import Column, Findings, Table, named, numbers
from ..runner import Part
from . import plots
from .problems import REDUNDANT

MOST = 10  # iterations
STATES = 1000
_SHOWN = (1, 2, 3, 5, MOST)
# The quantiles of the states' residuals that a whisker plot shows.
QUANTILES = {"low": 0.05, "first_quartile": 0.25, "median": 0.5, "third_quartile": 0.75,
             "high": 0.95}  # fmt: skip

TABLE = Table(
    "convergence",
    f"Convergence, {REDUNDANT}: |J a + gamma| by iterations, median of {STATES} states",
    [
        *named("method", "rows", "rank"),
        *numbers(".0e", **{f"after_{count}": f"after {count}" for count in _SHOWN}),
        Column("whiskers", is_shown=False),
    ],
    note=f"Damping {DAMPING:g}.",
)


def measure(method: str, settings: Settings) -> Findings:
    """One record: quantiles of |J a + gamma| after each number of iterations."""
    constraints = REDUNDANT.constraints()
    states = consistent_states(constraints, settings.seed)
    J, drift = constraints.jacobian(states.q), constraints.drift(states.q, states.v)
    options = {"method": method, "damping": DAMPING, "tolerance": 0.0}
    whiskers = []
    for count in range(1, MOST + 1):
        a = evaluate(
            constrained_dynamics, constraints, states, max_iterations=count, **options
        ).acceleration
        residuals = np.linalg.norm(np.einsum("nij,nj->ni", J, a) + drift, axis=1)
        found = np.quantile(residuals, list(QUANTILES.values())).tolist()
        whiskers.append(dict(zip(QUANTILES, found, strict=True)))
    record = {
        "method": method,
        "rows": constraints.size,
        "rank": int(constraints.rank(states.q[0])),
        "whiskers": whiskers,
        "highs": [w["high"] for w in whiskers],
        **{f"after_{count}": whiskers[count - 1]["median"] for count in _SHOWN},
    }
    return {"convergence": [record]}


def consistent_states(constraints: Constraints, seed: int) -> States:
    """Random states with velocities that fulfil the constraints, so that no rows contradict."""
    states = States.random(constraints.model, STATES, seed)
    J = constraints.jacobian(states.q)
    v = states.v - np.einsum("nij,njk,nk->ni", np.linalg.pinv(J, rcond=1e-8), J, states.v)
    return States(states.q, v, states.x)


def conclude(findings: Findings) -> Iterator[Fact]:
    """Median residuals after three iterations."""
    found = {r["method"]: r["after_3"] for r in findings["convergence"]}
    what = "median |J a + gamma| after 3 iterations"
    lines = [f"{name}: {what} {x:.0e}" for name, x in found.items()]
    yield Fact("residual_after_3", found, "\n".join(lines))


PART = Part(
    "convergence",
    cases=lambda _: [(name,) for name in proximal_methods()],
    measure=measure,
    tables=[TABLE],
    limits=[
        Limit("convergence", "highs", "convergence of {method}: residuals are no numbers", FINITE)
    ],
    plots={"convergence": plots.convergence},
)

"""How fast proximal iterations converge for different damping: Fig. 2 of the paper."""

from __future__ import annotations

from itertools import product

import numpy as np

from ... import constrained_dynamics
from ..comparing.methods import evaluate
from ..comparing.problems import TALOS_FEET, Problem
from ..measuring.settings import Settings
from ..measuring.states import States
from ..reporting.checks import FINITE, Limit
from ..reporting.tables import Column, Findings, Table, named, numbers
from ..runner import Part
from . import plots
from .problems import REDUNDANT

DAMPINGS = (1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
MOST = 20  # iterations
SMALL = 1e-9  # |J^T r| that counts as converged here
_SHOWN = (1, 2, 3, 5, 10, MOST)
_STATES = 16

TABLE = Table(
    "convergence",
    f"Convergence: |J^T r| by iterations, the largest of {_STATES} states",
    [
        *named("problem", "rows"),
        *numbers(".0e", damping="damping", **{f"after_{n}": f"after {n}" for n in _SHOWN}),
        Column("enough", f"to {SMALL:.0e}"),
    ],
    note="r = J a + gamma: what is left of the rows' accelerations. The last column is how many\n"
    "iterations it takes; where there is none, rounding or slow convergence is in the way.",
)


def measure(problem: Problem, damping: float, settings: Settings) -> Findings:
    """One record: the largest |J^T r| of some states after each number of iterations."""
    constraints = problem.constraints()
    states = States.random(constraints.model, _STATES, settings.seed)
    options = {"method": "prox-ltl", "damping": damping, "tolerance": 0.0}
    gradients = [
        _largest_gradient(
            constraints,
            states,
            evaluate(constrained_dynamics, constraints, states, max_iterations=count, **options),
        )
        for count in range(1, MOST + 1)
    ]
    enough = [count for count, x in enumerate(gradients, 1) if x <= SMALL]
    record = {
        "problem": problem.label,
        "rows": constraints.size,
        "damping": damping,
        "gradients": gradients,
        "enough": enough[0] if enough else None,
        **{f"after_{count}": gradients[count - 1] for count in _SHOWN},
    }
    return {"convergence": [record]}


_NOT_FINITE = "{problem}, damping {damping:g}: J^T r is no number"
PART = Part(
    "convergence",
    cases=lambda _: product((TALOS_FEET, REDUNDANT), DAMPINGS),
    measure=measure,
    tables=[TABLE],
    limits=[Limit("convergence", "gradients", _NOT_FINITE, FINITE)],
    plots={"convergence": plots.convergence},
)


def _largest_gradient(constraints, states: States, found) -> float:
    """The largest |J^T r| of some states."""
    J = constraints.jacobian(states.q)
    r = (J @ found.acceleration[..., None])[..., 0] + constraints.drift(states.q, states.v)
    return float(np.linalg.norm((J.swapaxes(-1, -2) @ r[..., None])[..., 0], axis=-1).max())

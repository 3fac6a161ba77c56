"""Accuracy of derivatives: differences to other methods, and entries that must be zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ... import Model
from ..comparing.algorithms import peer_results
from ..measuring.settings import Settings
from ..measuring.states import States, largest_difference
from ..peers.pinocchio import PinocchioPeer
from ..reporting.checks import LARGEST_DIFFERENCE, Limit
from ..reporting.tables import Column, Record, Table, numbers
from .automatic import evaluate
from .finite_differences import FORWARD_STEP, FiniteDifferences, central_differences
from .rows import Dynamics

_STATES = 16
_LARGEST_CENTRAL_DIFFERENCE = 1e-6  # central differences lose digits

TABLE = Table(
    "accuracy",
    f"Relative differences of derivatives, the largest of {_STATES} states",
    [
        Column("robot"),
        Column("row", ""),
        *numbers(".0e", automatic_difference="CasADi", central_difference="central"),
        *numbers(".0e", pinocchio_central_difference="Pinocchio, central"),
        *numbers(".0e", forward_difference="forward"),
        *numbers(".0e", rest="at rest", forward_rest="at rest, forward"),
    ],
    note="ours to automatic differentiation; ours and Pinocchio's to central differences; forward\n"
    "differences to ours. at rest: the largest derivative with respect to v of ours and of\n"
    "forward differences, where there is no motion, force or gravity: it must be zero.",
)
# The largest value of each entry, and what is wrong if it is larger.
_LIMITS = {
    "automatic_difference": (LARGEST_DIFFERENCE, "differs from automatic differentiation"),
    "central_difference": (_LARGEST_CENTRAL_DIFFERENCE, "differs from central differences"),
    "pinocchio_central_difference": (
        _LARGEST_CENTRAL_DIFFERENCE, "Pinocchio differs from central differences"
    ),
    "rest": (0.0, "depends on v at rest"),
}  # fmt: skip
LIMITS = [
    Limit("accuracy", key, f"{{robot}}, {{row}}: {what} by {{{key}:.1e}}", most)
    for key, (most, what) in _LIMITS.items()
]


def check(
    model: Model, peer: PinocchioPeer, dynamics: Dynamics, automatic: Callable, settings: Settings
) -> Record:
    """A record of the differences between several ways to compute the derivatives."""
    states = States.random(model, _STATES, settings.seed)
    ours = _derivatives(dynamics, model, states)
    theirs = peer_results(dynamics.derivatives, peer, states)
    central = central_differences(dynamics.algorithm, model, states)
    forward = FiniteDifferences(dynamics.algorithm, model, states, FORWARD_STEP)()
    return {
        "row": dynamics.analytical,
        "automatic_difference": largest_difference(ours, evaluate(automatic, states)),
        "central_difference": largest_difference(ours, central),
        "pinocchio_central_difference": largest_difference(theirs, central),
        "forward_difference": largest_difference(forward, ours),
        **_rest(model, dynamics, states.at_rest()),
    }


def _derivatives(dynamics: Dynamics, model: Model, states: States) -> tuple[np.ndarray, ...]:
    function = dynamics.derivatives.function
    return function(model, states.q, states.v, states.x, threads=1)


def _rest(model: Model, dynamics: Dynamics, states: States) -> dict[str, float]:
    """The largest derivative with respect to v at rest without gravity, which must be zero."""
    weightless = _without_gravity(model)
    _, analytical, _ = _derivatives(dynamics, weightless, states)
    _, forward, _ = FiniteDifferences(dynamics.algorithm, weightless, states, FORWARD_STEP)()
    return {
        "rest": float(np.abs(analytical).max()),
        "forward_rest": float(np.abs(forward).max()),
    }


def _without_gravity(model: Model) -> Model:
    return Model(
        model.name, model.bodies, model.frames, model.constraints, model.shapes, np.zeros(3)
    )

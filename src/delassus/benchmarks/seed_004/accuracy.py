"""Whether the derivatives are right: differences of all kinds, and zeros that must be exact."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

import delassus

from ...model.model import Model
from ..algorithms import peer_results
from ..pinocchio_peer import PinocchioPeer
from ..report import Column, Table
from ..settings import Settings
from ..states import States, largest_difference
from .automatic import evaluate
from .finite_differences import FORWARD_STEP, FiniteDifferences, central_differences
from .rows import Dynamics

_STATES = 16


def check(
    model: Model, peer: PinocchioPeer, dynamics: Dynamics, automatic: Callable, settings: Settings
) -> dict[str, object]:
    """A record of how far several ways to the same derivatives are apart."""
    states = States.random(model, _STATES, settings.seed)
    ours = _derivatives(dynamics, model, states)
    theirs = peer_results(dynamics.derivatives, peer, states)
    central = central_differences(dynamics.function, model, states)
    forward = FiniteDifferences(dynamics.function, model, states, FORWARD_STEP)()
    return {
        "row": dynamics.analytical,
        "automatic_difference": largest_difference(ours, evaluate(automatic, states)),
        "central_difference": largest_difference(ours, central),
        "pinocchio_central_difference": largest_difference(theirs, central),
        "forward_difference": largest_difference(forward, ours),
        **_rest(model, dynamics, states.at_rest()),
    }


def _derivatives(dynamics: Dynamics, model: Model, states: States) -> tuple[np.ndarray, ...]:
    function = getattr(delassus, dynamics.derivatives.name)
    return function(model, states.q, states.v, states.x, threads=1)


def _rest(model: Model, dynamics: Dynamics, states: States) -> dict[str, float]:
    """The largest derivative with respect to v where nothing moves or pulls, which is zero."""
    weightless = _without_gravity(model)
    _, analytical, _ = _derivatives(dynamics, weightless, states)
    _, forward, _ = FiniteDifferences(dynamics.function, weightless, states, FORWARD_STEP)()
    return {
        "rest": float(np.abs(analytical).max()),
        "forward_rest": float(np.abs(forward).max()),
    }


def _without_gravity(model: Model) -> Model:
    return Model(
        model.name, model.bodies, model.frames, model.constraints, model.shapes, np.zeros(3)
    )


def table(records: Sequence[Mapping[str, object]]) -> Table:
    """A row a robot and direction."""
    columns = [
        Column("robot"), Column("row", ""),
        Column("automatic_difference", "CasADi", ".0e"),
        Column("central_difference", "central", ".0e"),
        Column("pinocchio_central_difference", "Pinocchio, central", ".0e"),
        Column("forward_difference", "forward", ".0e"),
        Column("rest", "at rest", ".0e"),
        Column("forward_rest", "at rest, forward", ".0e"),
    ]  # fmt: skip
    title = f"Relative differences of derivatives, the largest of {_STATES} states"
    note = (
        "ours to automatic differentiation; ours and Pinocchio's to central differences; forward\n"
        "differences to ours. at rest: the largest derivative with respect to v of ours and of\n"
        "forward differences, where there is no motion, force or gravity: it must be zero."
    )
    return Table("accuracy", title, columns, records, note)

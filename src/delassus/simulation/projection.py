"""Coordinates and velocities of a tree, moved so that loops hold."""

from __future__ import annotations

import numpy as np

from ..compile import evaluate_plainly
from ..constrained.rows.constraints import Constraints
from ..constrained.rows.jacobian import evaluate_rows
from ..constrained.tasks.loops import close_loops
from ..model.model import Model

CLOSED = 1e-10  # an error of rows, in metres or radians, that needs no projection
_FEW = 4  # states whose errors plain Python finds faster than a kernel is compiled


def on_loops(model: Model, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The nearest q and v that satisfy the constraints of a model, for rows of states."""
    if not model.constraints:
        return q, v
    cs = Constraints(model, model.constraints)
    if not _are_closed(cs, q):
        q = np.asarray(close_loops(model, q, cs, tolerance=CLOSED))
    return q, _velocities(cs, q, v)


def _are_closed(cs: Constraints, q: np.ndarray) -> bool:
    """Whether all loops are closed as given; for a few states nothing is compiled to know it."""
    if len(q) > _FEW or cs.model.tree is not cs.model:
        return bool(np.abs(cs.position_error(q)).max(initial=0.0) <= CLOSED)
    error = evaluate_plainly(evaluate_rows, cs, (q, np.zeros((len(q), cs.model.nv))))[3]
    return bool(np.abs(error).max(initial=0.0) <= CLOSED)


def _velocities(cs: Constraints, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The nearest velocities that satisfy constraints."""
    if not v.any():
        return v
    # In one call: the entry for single states would be compiled for this alone.
    jacobians = cs.jacobian(q)
    change = [np.linalg.lstsq(J, J @ x, rcond=1e-10)[0] for J, x in zip(jacobians, v, strict=True)]
    return v - np.array(change)

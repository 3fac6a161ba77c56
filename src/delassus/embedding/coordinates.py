"""Coordinates of an embedding: y and spanning ones, and closing of loops by Newton's method."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..checks import shown
from ..errors import ConvergenceError, DataTypeError, ShapeError
from .algorithms.motions import closing_steps

if TYPE_CHECKING:
    from .embedding import Embedding

_CLOSED = 1e-12  # the largest error of rows after `close`
_STRIDE = 0.2  # in which independent coordinates move to their place, so that a branch is kept
_STROLL = 0.5  # how far random configurations move independent joints of clusters
_SHORTEST = 1e-9  # step of such a move
_MOST_STEPS = 30  # of Newton's method for each stride


def is_spanning(name: str, x: ArrayLike, count: int, own: int) -> bool:
    """Whether x has `count` entries a state, as all joints have, and not the `own` of y."""
    try:
        length = (np.shape(x) or (0,))[-1]
    except Exception as reason:  # objects turn into arrays by code of their own
        raise DataTypeError(f"{name} must hold real numbers, got {shown(x)}: {reason}") from None
    if length not in (count, own):
        raise ShapeError(
            f"{name} must have {own} independent entries a state, or {count} of the spanning "
            f"tree, got {length}"
        )
    return length == count


def as_kernels_take(emb: Embedding, q: ArrayLike) -> np.ndarray:
    """q as kernels with clusters take it: y, or spanning coordinates."""
    q = np.asarray(q)
    if q.shape[-1:] == (emb.nq,):
        return q
    q = emb.spanning(q)
    return q[..., emb.y_places] if emb.takes_y else q


def put_constant(emb: Embedding, q: np.ndarray) -> None:
    """Dependent coordinates of clusters with a constant G, from independent ones."""
    joints = {j.v.start: j.q.start for j in emb.model.joints}
    for part in emb.structure:
        choice = part.choice
        if choice.G is not None:
            own = q[..., [joints[k] for k in choice.independent]]
            others = [joints[k] for k in choice.dependent]
            q[..., others] = own @ choice.G.T + np.asarray(choice.offsets)


def close(emb: Embedding, q: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Move independent coordinates of states (N, nq) to y in strides, and close loops after each.

    Where loops stay open, `ConvergenceError` names them.
    """
    goal = q.copy()
    goal[:, emb.y_places] = y
    way = emb.model.difference(q, goal)
    way[:, np.setdiff1d(np.arange(emb.model.nv), emb.independent_dofs)] = 0.0
    longest = float(np.abs(way).max(initial=0.0))
    count = max(int(np.ceil(longest / _STRIDE)), 1) if np.isfinite(longest) else 1
    for t in range(count):
        q = emb.model.integrate(q, way / count)
        if t == count - 1:
            q[:, emb.y_places] = y
        q, errors = _newton(emb, q)
    is_open = ~(errors <= _CLOSED)
    if is_open.any():
        raise ConvergenceError(
            f"the loops of {emb.name!r} cannot be closed at {is_open.sum()} of {len(q)} "
            f"states: y is out of reach of {_open_loops(emb, q[is_open][0])}",
            q,
            errors,
        )
    return q


def _newton(emb: Embedding, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """States with loops closed as far as possible, and their errors."""
    best, least = q, np.full(len(q), np.inf)
    for _ in range(_MOST_STEPS):
        put_constant(emb, q)
        step, errors = closing_steps(emb, (q,))
        is_better = errors < least
        best = np.where(is_better[:, None], q, best)
        least = np.where(is_better, errors, least)
        if not (errors[np.isfinite(errors)] > _CLOSED / 10).any():
            break
        step = np.nan_to_num(step)  # a singular cluster stays where it is, others go on
        turn = np.abs(step).max(axis=1, keepdims=True, initial=0.0)
        q = emb.model.integrate(q, step * np.minimum(1.0, 0.5 / np.maximum(turn, 1e-300)))
    return best, least


def _open_loops(emb: Embedding, q: np.ndarray) -> str:
    """Names of the bodies of a cluster that is not closed."""
    error = np.abs(emb.constraints.position_error(q))
    for part in emb.structure:
        if any(error[r] > _CLOSED for r in part.choice.rows):
            return ", ".join(emb.model.bodies[b].name for b in part.group.bodies)
    return "its loops"


def random_configurations(emb: Embedding, rng: np.random.Generator, count: int) -> np.ndarray:
    """Random configurations of all joints with the loops closed, (count, nq)."""
    q = emb.model.random_configuration(rng, count)
    if not emb.is_constant:
        joints = [emb.model.joints[b].q for part in emb.structure for b in part.group.bodies]
        places = [k for own in joints for k in range(own.start, own.stop)]
        q[:, places] = emb.reference[places]
        step = np.zeros((count, emb.model.nv))
        own = [k for part in emb.structure for k in part.choice.independent]
        step[:, own] = rng.uniform(-_STROLL, _STROLL, (count, len(own)))
        q = _stroll(emb, q, step)
    put_constant(emb, q)
    return q


def _stroll(emb: Embedding, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Move independent joints by steps, which are halved where loops cannot be closed."""
    is_open, result = np.ones(len(q), bool), q.copy()
    while is_open.any():
        result[is_open], errors = _newton(emb, emb.model.integrate(q[is_open], step[is_open]))
        step = 0.5 * step
        is_long = np.abs(step[is_open]).max(axis=1, initial=0.0) > _SHORTEST
        is_open[is_open] = ~(errors <= _CLOSED) & is_long
    return result

"""States that a simulation starts from: keyframes, and projection onto joints."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...checks import real_array
from ...compile import FLOAT64, evaluate_plainly
from ...constrained.rows.constraints import Constraints
from ...constrained.rows.jacobian import evaluate_rows
from ...constrained.tasks.loops import close_loops, nearest_velocities
from ...constrained.tasks.search import closed, distinct
from ...errors import ConvergenceError, SettingError, ShapeError
from ...model.model import Model
from ...model.parts.keyframes import STARTS, Keyframe
from ...model.parts.names import known_name

# States whose errors plain Python finds faster than a kernel is compiled, and looks at so few of
# them after which it pays to compile it.
_FEW, _MOST_LOOKS = 4, 50
_looks = itertools.count()


class Projection(NamedTuple):
    """By how much `reset` has changed what was given, so that joints hold."""

    position: float
    velocity: float


class Start(NamedTuple):
    """Coordinates, velocities (None if at rest), controls and time at which to start."""

    q: Any
    v: Any
    u: Any
    time: float


def chosen_start(
    model: Model, q: ArrayLike | None, v: ArrayLike | None, keyframe: str | None
) -> Start:
    """The state that `Simulator.reset` is asked for."""
    if keyframe is not None:
        if q is not None:
            raise SettingError("reset takes q or a keyframe, not both")
        known_name("keyframe", keyframe, model.keyframes)
    elif q is None:
        keyframe = next((name for name in STARTS if name in model.keyframes), None)
    if keyframe is None:
        return Start(model.neutral() if q is None else q, v, 0.0, 0.0)
    frame: Keyframe = model.keyframes[keyframe]
    return Start(frame.q, frame.v if v is None else v, frame.u, frame.time)


def states_of(what: str, given: ArrayLike | None, count: int, worlds: int | None) -> np.ndarray:
    """Numbers of all worlds, from those of one or of all; zero if not given."""
    n = worlds or 1
    x = np.zeros(count) if given is None else real_array(what, given)
    if x.shape not in ((count,), (n, count)) or (x.ndim == 2 and worlds is None):
        shape = f"({count},)" if worlds is None else f"({count},) or ({n}, {count})"
        raise ShapeError(f"{what} must have shape {shape}, got {x.shape}")
    if not np.isfinite(x).all():
        raise ShapeError(f"{what} must be finite")
    return np.broadcast_to(x, (n, count)).copy()


def on_joints(
    cs: Constraints, q: np.ndarray, v: np.ndarray, worlds: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest states at which constraints hold."""
    if not cs.declared:
        return q, v
    if not _are_closed(cs, q):
        q = close(cs, q, worlds)
    return q, _velocities(cs, q, v)


def _are_closed(cs: Constraints, q: np.ndarray) -> bool:
    """Whether all loops are closed as given; nothing is compiled for a few looks."""
    q, _ = distinct(q)
    states = q, np.zeros((len(q), cs.model.nv))
    is_few = len(q) <= _FEW and cs.model.tree is cs.model
    if is_few and not evaluate_rows.is_loaded(FLOAT64) and next(_looks) < _MOST_LOOKS:
        error = evaluate_plainly(evaluate_rows, cs, states)[3]
    else:
        error = evaluate_rows(cs, states)[3]
    return bool((np.abs(error) <= closed(cs)).all())


def _velocities(cs: Constraints, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The nearest velocities that satisfy constraints."""
    return nearest_velocities(cs, q, v) if v.any() else v


def close(cs: Constraints, q: np.ndarray, worlds: int | None) -> np.ndarray:
    """Configurations near q at which constraints hold; an error names the one that cannot."""
    try:
        return np.asarray(close_loops(cs.model, q, cs))
    except ConvergenceError as error:
        raise ConvergenceError(_where_open(cs, error, worlds), error.q, error.error) from None


def _where_open(cs: Constraints, error: ConvergenceError, worlds: int | None) -> str:
    """Which loop of which world cannot be closed."""
    world = int(np.argmax(np.atleast_1d(error.error)))
    left = np.abs(cs.position_error(np.atleast_2d(error.q)[world]))
    row = int(np.argmax(left))
    number = next(k for k, rows in enumerate(cs.slices) if rows.start <= row < rows.stop)
    who = "" if worlds is None else f" of world {world}"
    return (
        f"loops{who} cannot be closed from this configuration: {cs.declared[number]} keeps an "
        f"error of {left[row]:.3g}"
    )

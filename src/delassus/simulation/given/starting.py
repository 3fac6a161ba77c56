"""States that a simulation starts from: keyframes, and projection onto joints."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...checks import real_array
from ...compile import evaluate_plainly
from ...constrained.rows.constraints import Constraints
from ...constrained.rows.jacobian import evaluate_rows
from ...constrained.tasks.loops import close_loops
from ...errors import ConvergenceError, SettingError, ShapeError
from ...model.model import Model
from ...model.parts.constraints import Constraint
from ...model.parts.keyframes import STARTS, Keyframe
from ...model.parts.names import known_name

CLOSED = 1e-10  # an error of rows, in metres or radians, that needs no projection
# Loops whose rows depend on each other, as those of Cassie's feet, close slowly at the end: what is
# left then is kept.
_NEARLY = 1e-8
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
    model: Model, held: list[Constraint], q: np.ndarray, v: np.ndarray, worlds: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """The nearest states at which constraints hold."""
    if not held:
        return q, v
    cs = Constraints(model, held)
    if not _are_closed(cs, q):
        q = close(cs, q, worlds)
    return q, _velocities(cs, q, v)


def _are_closed(cs: Constraints, q: np.ndarray) -> bool:
    """Whether all loops are closed as given; nothing is compiled for a few looks."""
    if len(q) > _FEW or next(_looks) >= _MOST_LOOKS or cs.model.tree is not cs.model:
        error = cs.position_error(q)
    else:
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


def close(cs: Constraints, q: np.ndarray, worlds: int | None) -> np.ndarray:
    """Configurations near q at which constraints hold; an error names the one that cannot."""
    try:
        return np.asarray(close_loops(cs.model, q, cs, tolerance=CLOSED))
    except ConvergenceError as error:
        if np.max(error.error) <= _NEARLY:
            return np.asarray(error.q)
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

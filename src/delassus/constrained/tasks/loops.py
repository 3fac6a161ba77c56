"""Configurations that satisfy constraints: damped Gauss-Newton steps on the manifold.

The Levenberg-Marquardt method: each step x minimises |J x + error|^2 + damping |x|^2. So x has no
part that does not reduce the error, and the configuration found is near the start. The damping
follows from how well the linear model has predicted the error (Nocedal and Wright, Numerical
Optimization, 2006, Ch. 10.3). For rotations, J is the derivative of the error only in the limit of
small errors, which is enough as the error goes to zero.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from ...checks import flag
from ...dynamics.arguments import numbers_of
from ...errors import ConvergenceError
from ...model.model import Model
from ...model.parts.joints import moves_by_velocities
from ...model.parts.names import names_of
from ..rows.checks import check_constraints, not_negative, positive_integer
from ..rows.constraints import Constraints

# Damping, as a part of the square of the largest singular value: at first, and its bounds.
_DAMPING, _LEAST, _MOST = 1e-3, 1e-12, 1e8
# A step turns no joint by more than this angle: beyond it, the linear model is wrong.
_TURN = 0.5
# A step is taken if the error falls by this part of what was predicted.
_WORTHWHILE = 0.1
# A stretched mechanism can bend either way, and no small step reduces its error. Then it gets
# random motions of this size, and at most so many.
_PUSH, _PUSHES = 0.1, 4
# A search is stuck if a step is predicted to reduce the error by less than this part.
_STALLED = 1e-9


def close_loops(
    model: Model,
    q: ArrayLike,
    constraints: Constraints,
    *,
    fixed: str | Iterable[str] = (),
    respect_limits: bool = False,
    tolerance: float = 1e-10,
    max_iterations: int = 100,
) -> np.ndarray:
    """A configuration near q at which `constraints.position_error` is at most `tolerance`.

    `fixed` names joints that keep their coordinates. With `respect_limits`, joints stay within
    their limits, and coordinates of q beyond limits are moved there first. If none is found,
    `ConvergenceError` has the best configuration as `.q`, and its error as `.error`. Planar loops
    of a file with rounded numbers close only as far as the rounding allows.
    """
    cs = check_constraints(model, constraints)
    limited = flag("respect_limits", respect_limits)
    search = Search(cs, q, _movable(model, fixed), limited)
    return search.run(tolerance, max_iterations)


def _movable(model: Model, fixed: str | Iterable[str]) -> np.ndarray:
    """Which degrees of freedom may move."""
    result = np.ones(model.nv, bool)
    for name in names_of("fixed joints", fixed):
        result[model.joint(name).v] = False
    return result


def _turning(model: Model) -> np.ndarray:
    """Which degrees of freedom are angular: in a joint with a quaternion, the last three."""
    parts = [
        j.type.angles() if j.type.quaternion is None else np.arange(j.nv) >= j.nv - 3
        for j in model.joints
    ]
    return np.concatenate(parts or [np.zeros(0, bool)])


def _message(errors: np.ndarray, tolerance: float) -> str:
    many = f" of {np.sum(~(errors <= tolerance))} of {errors.size} states" if errors.ndim else ""
    return (
        f"the constraints are not satisfied: an error{many} of up to {np.max(errors):.3g} remains, "
        f"above the tolerance {tolerance:.3g}"
    )


class Search:
    """A search for configurations of a batch of states, and its progress in each state."""

    def __init__(self, cs: Constraints, q: ArrayLike, movable: np.ndarray, limited: bool = False):
        cs.position_error(numbers_of("q", q))  # raises an error for wrong shapes and types
        self.shape = np.shape(q)
        self.cs, self.movable, self.turning = cs, movable, _turning(cs.model)
        self.limits = _Limits(cs.model) if limited else None
        q = np.array(q, float, ndmin=2)
        self.q = self.limits.clip(q) if limited else q
        self.error = cs.position_error(self.q)
        self.damping = np.full(len(q), _DAMPING)
        self.pushes = np.zeros(len(q), int)
        self.best, self.remaining = self.q.copy(), _largest(self.error)
        self.rng = np.random.default_rng(0)

    def run(self, tolerance: float, max_iterations: int) -> np.ndarray:
        """The configurations found; an error unless all states have one."""
        tolerance = not_negative("tolerance", tolerance)
        for _ in range(positive_integer("max_iterations", max_iterations)):
            active = self.unfinished(tolerance)
            if active.size == 0:
                break
            self.step(active)
        found, errors = self.best.reshape(self.shape), self.remaining.reshape(self.shape[:-1])
        if not (errors <= tolerance).all():
            raise ConvergenceError(_message(errors, tolerance), found, errors[()])
        return found

    def unfinished(self, tolerance: float) -> np.ndarray:
        """Numbers of states that get another step."""
        is_open = ~(self.remaining <= tolerance) & (self.pushes <= _PUSHES)
        return np.flatnonzero(is_open & np.isfinite(self.error).all(axis=1))

    def step(self, active: np.ndarray) -> None:
        """Try a step in each active state; take it where the error falls nearly as predicted."""
        q, error = self.q[active], self.error[active]
        J = self.cs.jacobian(q) * self.movable
        x = self._direction(q, J, error, self.damping[active])
        trial = self.cs.model.integrate(q, x)
        trial = trial if self.limits is None else self.limits.clip(trial)
        left = self.cs.position_error(trial)
        before = np.sum(error**2, axis=1)
        foretold = before - np.sum((error + np.einsum("kij,kj->ki", J, x)) ** 2, axis=1)
        gained = before - np.sum(left**2, axis=1)
        with np.errstate(all="ignore"):
            ratio = gained / foretold
        taken = (ratio > _WORTHWHILE) & (gained > 0.0)
        self._adapt(active, ratio)
        self.q[active[taken]], self.error[active[taken]] = trial[taken], left[taken]
        self._remember(active)
        is_stuck = ~(foretold > _STALLED * before) | (self.damping[active] > _MOST)
        self._push(active[is_stuck])

    def _direction(self, q, J, error, damping) -> np.ndarray:
        x = self.damped_step(q, J, error, damping)
        if self.limits is not None:  # joints at a limit do not move if they would go beyond it
            for _ in range(2):
                J = J * ~self.limits.blocked(q, x)[:, None]
                x = self.damped_step(q, J, error, damping)
        widest = np.abs(x[:, self.turning]).max(axis=1, keepdims=True, initial=0.0)
        return x * (_TURN / np.maximum(widest, _TURN))

    def damped_step(self, q, J, error, damping) -> np.ndarray:
        """The x that minimises |J x + error|^2 + damping |J|^2 |x|^2."""
        U, s, V = np.linalg.svd(J, full_matrices=False)
        scale = damping[:, None] * s[:, :1] ** 2
        with np.errstate(invalid="ignore", divide="ignore"):
            gain = np.where(s > 0.0, s / (s**2 + scale), 0.0)
        return -np.einsum("kji,kj->ki", V, gain * np.einsum("klj,kl->kj", U, error))

    def _adapt(self, active: np.ndarray, ratio: np.ndarray) -> None:
        factor = np.where(ratio > 0.75, 0.1, np.where(ratio > 0.25, 1.0, 4.0))
        self.damping[active] = np.maximum(self.damping[active] * factor, _LEAST)

    def _remember(self, active: np.ndarray) -> None:
        now = _largest(self.error[active])
        better = active[now < self.remaining[active]]
        self.best[better], self.remaining[better] = self.q[better], _largest(self.error[better])

    def _push(self, stuck: np.ndarray) -> None:
        """Move by a random motion, where no small step leads to a smaller error."""
        if stuck.size == 0:
            return
        x = self.rng.standard_normal((stuck.size, self.cs.model.nv)) * self.movable
        q = self.cs.model.integrate(self.best[stuck], _PUSH * x)
        self.q[stuck] = q if self.limits is None else self.limits.clip(q)
        self.error[stuck] = self.cs.position_error(self.q[stuck])
        self.damping[stuck] = _DAMPING
        self.pushes[stuck] += 1


def _largest(error: np.ndarray) -> np.ndarray:
    return np.abs(error).max(axis=-1, initial=0.0)


class _Limits:
    """The limits of coordinates, and the degrees of freedom that move them."""

    def __init__(self, model: Model):
        self.lower, self.upper = model.lower, model.upper
        # Velocities of planar and free joints are not rates of coordinates: these are only clipped.
        joints = [joint for joint in model.joints if moves_by_velocities(joint.type)]
        self.q = np.array([k for j in joints for k in range(j.q.start, j.q.stop)], int)
        self.v = np.array([k for j in joints for k in range(j.v.start, j.v.stop)], int)

    def clip(self, q: np.ndarray) -> np.ndarray:
        """q within the limits."""
        return np.clip(q, self.lower, self.upper)

    def blocked(self, q: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Degrees of freedom at a limit that x would go beyond."""
        result = np.zeros(x.shape, bool)
        at, by = q[:, self.q], x[:, self.v]
        low, high = self.lower[self.q], self.upper[self.q]
        result[:, self.v] = ((at <= low) & (by < 0.0)) | ((at >= high) & (by > 0.0))
        return result

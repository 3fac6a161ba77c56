"""A search for configurations at which constraints hold, in a batch of states.

Far from a solution it takes steps of the Levenberg-Marquardt method: x minimises

    |W (J x + e)|^2 + damping |x|^2

with a damping that follows from how well the linear model has predicted the error (Nocedal and
Wright, Numerical Optimization, 2006, Ch. 10.3). For rotations, J is the derivative of the error e
only in the limit of small errors, which is enough as the error goes to zero.

Near a solution it takes the shortest x with J x = -e, as far as J has full rank. A file gives
lengths and axes in seven to nine digits. So of rows that depend on each other, such as those across
a planar loop, J has singular values of 1e-9 to 1e-7 in place of zeros, and errors of that size that
no motion removes: to divide them by each other would move joints by any amount. Two rules decide
what such noise is: a singular value is zero below a part of the largest, and a direction is left
alone if it moves joints far more than the error that it removes.

Both depend neither on units nor on sizes: lengths count in units of a typical length of the model,
and rows between joints in units of their joints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...checks import real_array
from ...compile import FLOAT64
from ...dynamics.arguments import numbers_of
from ...errors import ShapeError
from ...model.model import Model
from ...model.parts.joints import moves_by_velocities
from ..rows.checks import not_negative, positive_integer
from ..rows.constraints import Constraints
from ..rows.jacobian import evaluate_rows
from ..rows.pieces import COUPLING, IMPLICIT

CLOSED = 1e-10  # the largest error of rows that counts as none, in metres and radians
# Numbers without units, lengths in units of the model's:
DIGITS = 2e-6  # what a file with rounded numbers may leave open
_NEAR = 1e-5  # an error from which on Gauss-Newton steps are taken
_NOISE = 1e-6  # the largest singular value that is a rounded zero, as a part of the largest
_SQUARES = 10.0  # or so many times the error, as J is known only at a distance of its size
_COARSE = 1e-2  # and not more than this
# If a start is as closed as digits allow, the most that joints move by: so many times its error,
# and this angle.
_REACH, _STILL = 10.0, 1e-7
_POLISHES, _ROUNDS = 8, 3  # of Gauss-Newton steps, and how often so many
_ROUNDED = 1e-3  # an error below this part of the tolerance is let be

# Damping, as a part of the square of the largest singular value: at first, and its bounds.
_DAMPING, _LEAST, _MOST = 1e-3, 1e-12, 1e8
# A step turns no joint by more than this angle: beyond it, the linear model is wrong.
_TURN = 0.5
# A step is taken if the error falls by this part of what was predicted.
_WORTHWHILE = 0.1
# A stretched mechanism can bend either way, and no small step reduces its error. Then it gets
# random motions of at most this size, and at most so many. What they lead to counts if the error is
# less than this part of what it was.
_PUSH, _PUSHES, _BETTER = 0.1, 4, 0.9
# A mechanism that is open by e when stretched bends by about the square root of 2 e.
_BEND, _GROWTH = 3.0, 3.0
# A search is stuck if a step is predicted to reduce the error by less than this part.
_STALLED = 1e-9
_OF_JOINTS = (COUPLING, IMPLICIT)  # kinds of rows that are in units of their own


class Units(NamedTuple):
    """What a number without units is in metres and radians."""

    length: float  # typical of the model
    motions: np.ndarray  # (nv,)
    weights: np.ndarray  # (N, m): 1 / unit of rows


class Search:
    """A search for configurations of a batch of states, and its progress in each state."""

    def __init__(self, cs: Constraints, q: ArrayLike, movable: np.ndarray, limited: bool = False):
        self.cs, self.movable, self.turning = cs, movable, turning_motions(cs.model)
        q = real_array("q", numbers_of("q", q))
        self.shape = q.shape
        if self.shape[-1:] != (cs.model.nq,) or len(self.shape) > 2:
            nq = cs.model.nq
            raise ShapeError(f"q must have shape ({nq},) or (N, {nq}), got {self.shape}")
        self.limits = _Limits(cs.model) if limited else None
        given = np.array(q, float, ndmin=2)
        given = self.limits.clip(given) if limited else given
        # States that start alike are one, so that they end alike to the last bit.
        self.q, self.copies = distinct(given)
        n = len(self.q)
        self.J, self.error = self.evaluate(self.q)
        self.units = units_of(cs, self.J)
        self.damping, self.pushes = np.full(n, _DAMPING), np.zeros(n, int)
        self.is_settled, self.is_done = np.zeros(n, bool), np.zeros(n, bool)
        self.rounds = np.zeros(n, int)
        self.margin = np.ones(n)  # a new best has less than this part of the old one's error
        self.best = self.q.copy()

    def evaluate(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """J and errors of rows."""
        found = evaluate_rows(self.cs, (q, np.zeros((len(q), self.cs.model.nv))))
        return found[0] * self.movable, found[3]

    # --- the whole --------------------------------------------------------------------------------

    def run(self, tolerance: float | None, max_iterations: int) -> tuple[np.ndarray, np.ndarray]:
        """The best configurations found, and whether they are closed.

        Without a tolerance they are as closed as their numbers allow.
        """
        self._aim(tolerance)
        count = positive_integer("max_iterations", max_iterations)
        self._normalize()
        start = self.size()
        near = self._unfinished()
        near = near[start[near] <= DIGITS]
        self.settle(near, _REACH * start[near] + _STILL)
        for _ in range(count):
            active = self._unfinished()
            is_near = (self.size()[active] <= _NEAR) & ~self.is_settled[active]
            self.settle(active[is_near])
            active = self._unfinished()
            if active.size == 0:
                break
            self._step(active)
        return self.best[self.copies].reshape(self.shape), self._are_closed()

    def _normalize(self) -> None:
        """Make quaternions unit ones, where loops are open: no motion does that."""
        if not any(joint.type.quaternion is not None for joint in self.cs.model.joints):
            return
        which = self._unfinished()
        if which.size:
            q = self.cs.model.normalize(self.q[which])
            self._take(which, q, *self.evaluate(q))
            self.best[which] = q
            self.remaining[which] = self._excess(self.error[which])
            self.is_done[which] = self.remaining[which] <= 1.0

    def _are_closed(self) -> np.ndarray:
        return self.is_done[self.copies].reshape(self.shape[:-1])

    def left(self) -> np.ndarray:
        """The errors of rows at the best configurations, (..., m)."""
        errors = self.evaluate(self.best)[1] if len(self.best) else self.error
        return errors[self.copies].reshape(*self.shape[:-1], self.cs.size)

    def _aim(self, tolerance: float | None) -> None:
        self.is_strict = tolerance is not None
        if self.is_strict:
            self.goal = np.full(self.cs.size, not_negative("tolerance", tolerance))
        else:
            self.goal = closed(self.cs)
        self.remaining = self._excess(self.error)
        self.is_done = self.remaining <= 1.0

    def _excess(self, error: np.ndarray) -> np.ndarray:
        """The largest error of each state, in units of what is asked for."""
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(error == 0.0, 0.0, np.abs(error) / self.goal)
        return parts.max(axis=-1, initial=0.0)

    def size(self) -> np.ndarray:
        """The largest error of each state, without units."""
        return _largest(self.error * self.units.weights)

    def _unfinished(self) -> np.ndarray:
        """Numbers of states that get another step."""
        is_open = ~self.is_done & (self.pushes <= _PUSHES)
        return np.flatnonzero(is_open & np.isfinite(self.error).all(axis=1))

    def _take(self, which: np.ndarray, q: np.ndarray, J: np.ndarray, error: np.ndarray) -> None:
        self.q[which], self.J[which], self.error[which] = q, J, error

    def _remember(self, which: np.ndarray) -> None:
        """Keep the present configurations of some states, where they are better than the best."""
        now = self._excess(self.error[which])
        is_better = (now <= 1.0) | (now < self.margin[which] * self.remaining[which])
        better = which[is_better]
        self.best[better], self.remaining[better] = self.q[better], now[is_better]
        self.margin[better] = np.minimum(1.0, self.margin[better] / _BETTER)
        self.is_done[which] |= self.remaining[which] <= 1.0

    # --- far from a solution ----------------------------------------------------------------------

    def _step(self, active: np.ndarray) -> None:
        """Try a step in each active state; take it where the error falls nearly as predicted."""
        q, error, J = self.q[active], self.error[active], self.J[active]
        weights = self.units.weights[active]
        x = self._within_limits(q, J, lambda J: self.damped_step(active, J))
        trial = self._moved(q, x)
        new_J, left = self.evaluate(trial)
        before = np.sum((weights * error) ** 2, axis=1)
        foreseen = error + np.einsum("kij,kj->ki", J, x)
        foretold = before - np.sum((weights * foreseen) ** 2, axis=1)
        gained = before - np.sum((weights * left) ** 2, axis=1)
        with np.errstate(all="ignore"):
            ratio = gained / foretold
        taken = (ratio > _WORTHWHILE) & (gained > 0.0)
        self._adapt(active, ratio)
        self._take(active[taken], trial[taken], new_J[taken], left[taken])
        self._remember(active)
        is_stuck = ~(foretold > _STALLED * before) | (self.damping[active] > _MOST)
        self._push(active[is_stuck & ~self.is_done[active]])

    def damped_step(self, active: np.ndarray, J: np.ndarray) -> np.ndarray:
        """The x that minimises |W (J x + e)|^2 + damping |W J|^2 |x|^2."""
        U, s, V, e = self._decomposed(active, J)
        scale = self.damping[active][:, None] * s[:, :1] ** 2
        with np.errstate(invalid="ignore", divide="ignore"):
            gain = np.where(s > 0.0, s / (s**2 + scale), 0.0)
        z = np.einsum("kji,kj->ki", V, gain * np.einsum("klj,kl->kj", U, e))
        return -self.units.motions * z

    def _decomposed(self, which: np.ndarray, J: np.ndarray) -> tuple[np.ndarray, ...]:
        """The singular value decomposition of J, and errors, all without units."""
        weights = self.units.weights[which]
        even = weights[:, :, None] * J * self.units.motions
        return *np.linalg.svd(even, full_matrices=False), weights * self.error[which]

    def _within_limits(self, q: np.ndarray, J: np.ndarray, solve) -> np.ndarray:
        """The step of `solve`, in which joints at a limit do not go beyond it."""
        x = solve(J)
        if self.limits is not None:
            for _ in range(2):
                J = J * ~self.limits.blocked(q, x)[:, None]
                x = solve(J)
        widest = np.abs(x[:, self.turning]).max(axis=1, keepdims=True, initial=0.0)
        return x * (_TURN / np.maximum(widest, _TURN))

    def _moved(self, q: np.ndarray, x: np.ndarray) -> np.ndarray:
        moved = self.cs.model.integrate(q, x)
        return moved if self.limits is None else self.limits.clip(moved)

    def _adapt(self, active: np.ndarray, ratio: np.ndarray) -> None:
        factor = np.where(ratio > 0.75, 0.1, np.where(ratio > 0.25, 1.0, 4.0))
        self.damping[active] = np.maximum(self.damping[active] * factor, _LEAST)

    def _push(self, stuck: np.ndarray) -> None:
        """Move by a random motion, where no small step leads to a smaller error."""
        if stuck.size == 0:
            return
        self.pushes[stuck] += 1
        # The same motions for all states: what is found does not depend on the others of a batch.
        tries = [np.random.default_rng(k).standard_normal(self.cs.model.nv) for k in range(_PUSHES)]
        number = np.minimum(self.pushes[stuck], _PUSHES) - 1
        bend = _BEND * np.sqrt(self.size()[stuck]) * _GROWTH**number
        x = np.array(tries)[number] * self.movable * self.units.motions
        q = self._moved(self.best[stuck], np.minimum(bend, _PUSH)[:, None] * x)
        self._take(stuck, q, *self.evaluate(q))
        self.damping[stuck], self.is_settled[stuck] = _DAMPING, False
        self.margin[stuck] = np.minimum(self.margin[stuck], _BETTER)

    # --- near a solution --------------------------------------------------------------------------

    def settle(self, which: np.ndarray, reach: np.ndarray | None = None) -> None:
        """Gauss-Newton steps that move no further than `reach`, as far as the error falls.

        Without a tolerance to be met, what then remains is what digits leave open.
        """
        free = np.full(len(which), np.inf) if reach is None else reach.copy()
        is_going = np.ones(len(which), bool)
        for _ in range(_POLISHES):
            at = np.flatnonzero(is_going)
            if at.size == 0:
                break
            own = which[at]
            q, J = self.q[own], self.J[own]
            x = self._within_limits(q, J, lambda J, own=own, at=at: self._short(own, J, free[at]))
            trial = self._moved(q, x)
            new_J, left = self.evaluate(trial)
            part, gone = self._removed(own, J, x, left)
            length = np.linalg.norm(x / self.units.motions, axis=1)
            is_less = _largest(left) <= _largest(self.error[own])
            is_good = is_less & (gone < 0.5 * part) & (length > 0.0)
            good = at[is_good]
            self._take(which[good], trial[is_good], new_J[is_good], left[is_good])
            free[good] -= length[is_good]
            free[at[~is_good]] = 0.25 * length[~is_good]  # less of what the linear model gets wrong
            is_small = self._excess(self.error[own]) <= _ROUNDED
            is_going[at] = ~is_small & (length > 0.0) & (free[at] > 0.0)
        self._remember(which)
        self.is_settled[which] = ~is_going
        self.rounds[which] += 1
        if not self.is_strict:
            # At a dead point errors fall by a factor a step, without end: digits end it.
            is_at_end = ~is_going | (self.rounds[which] >= _ROUNDS) | (reach is not None)
            self.is_done[which] |= is_at_end & (self.size()[which] <= DIGITS)
        elif reach is not None:  # a start near a solution is left for what meets the tolerance only
            self.margin[which], self.is_settled[which] = 0.0, False

    def _short(self, which: np.ndarray, J: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """The shortest x that removes the error in directions of full rank, within reach."""
        U, s, V, e = self._decomposed(which, J)
        cut = rank_cut(s, _largest(e))
        with np.errstate(invalid="ignore", divide="ignore"):
            z = np.where(s > cut, np.einsum("klj,kl->kj", U, e) / s, 0.0)
        order = np.argsort(np.abs(z), axis=1, kind="stable")
        lengths = np.sqrt(np.cumsum(np.take_along_axis(z, order, 1) ** 2, axis=1))
        within = np.empty(z.shape, bool)
        np.put_along_axis(within, order, lengths <= reach[:, None], 1)
        return -self.units.motions * np.einsum("kji,kj->ki", V, np.where(within, z, 0.0))

    def _removed(self, which, J, x, left) -> tuple[np.ndarray, np.ndarray]:
        """The part of the error that x was to remove, and what is left of it, as lengths."""
        weights = self.units.weights[which]
        asked = weights * np.einsum("kij,kj->ki", J, x)  # minus that part
        lengths = np.linalg.norm(asked, axis=1)
        stays = weights * self.error[which] + asked
        return lengths, np.linalg.norm(weights * left - stays, axis=1)


def _largest(x: np.ndarray) -> np.ndarray:
    return np.abs(x).max(axis=-1, initial=0.0)


def distinct(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """States that differ, in their order, and of each given state which one it is."""
    if len(q) < 2 or q.shape[1] == 0:
        return q.copy(), np.arange(len(q))
    whole = np.ascontiguousarray(q).view(np.dtype((np.void, q.shape[1] * q.itemsize)))[:, 0]
    _, first, copies = np.unique(whole, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return q[first[order]].copy(), place[copies.reshape(-1)]


def turning_motions(model: Model) -> np.ndarray:
    """Which degrees of freedom are angular: in a joint with a quaternion, the last three."""
    parts = [
        j.type.angles() if j.type.quaternion is None else np.arange(j.nv) >= j.nv - 3
        for j in model.joints
    ]
    return np.concatenate(parts or [np.zeros(0, bool)])


# --- units ----------------------------------------------------------------------------------------


def units_of(cs: Constraints, J: np.ndarray) -> Units:
    """Units of rows and motions at states with these J."""
    length = typical_length(cs)
    motions = np.where(turning_motions(cs.model), 1.0, length)
    weights = np.ones(J.shape[:2])
    weights[:, _are_lengths(cs)] = 1.0 / length
    for piece in cs.paths(FLOAT64).records:
        if piece["kind"] in _OF_JOINTS:
            rows = slice(int(piece["row"]), int(piece["row"] + piece["count"]))
            sizes = np.linalg.norm(J[:, rows] * motions, axis=2)
            # A row that is zero here, as that of x^2 at x = 0, counts as others of its function.
            sizes = np.maximum(sizes, _COARSE * sizes.max(axis=1, keepdims=True, initial=0.0))
            weights[:, rows] = 1.0 / np.where(sizes > 0.0, sizes, 1.0)
    return Units(length, motions, weights)


def _are_lengths(cs: Constraints) -> np.ndarray:
    """Which rows are in metres."""
    result = np.zeros(cs.size, bool)
    for piece in cs.paths(FLOAT64).records:
        if piece["kind"] not in _OF_JOINTS:
            result[int(piece["row"]) :][: int(piece["pushes"])] = True
    return result


def closed(cs: Constraints) -> np.ndarray:
    """Errors of rows that count as none, (m,): of mechanisms below a metre, smaller ones."""
    return np.where(_are_lengths(cs), CLOSED * min(typical_length(cs), 1.0), CLOSED)


def rank_cut(s: np.ndarray, size: np.ndarray) -> np.ndarray:
    """The singular value below which all count as zero, in states with errors of a size, (N, 1)."""
    return np.maximum(_NOISE, np.minimum(_SQUARES * size[:, None], _COARSE)) * s[:, :1]


def typical_length(cs: Constraints) -> float:
    """Root mean square of the distances from a joint to the next, or to where a loop is closed."""
    model = cs.model.tree
    between = [piece for piece in cs.paths(FLOAT64).records if piece["kind"] not in _OF_JOINTS]
    ends = {int(piece[side]) for piece in between for side in ("frame", "other")}
    frames = [model.frames[end] for end in sorted(ends) if end < len(model.frames)]
    offsets = [b.placement.translation for b in model.bodies if b.parent >= 0]
    offsets += [f.placement.translation for f in frames if f.body >= 0]
    lengths = np.linalg.norm(np.reshape(offsets, (-1, 3)), axis=1)
    lengths = lengths[lengths > 1e-6 * lengths.max(initial=0.0)]
    return float(np.sqrt(np.mean(lengths**2))) if lengths.size else 1.0


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

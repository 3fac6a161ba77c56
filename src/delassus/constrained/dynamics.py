"""Constrained dynamics: one function, and the methods that it chooses from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import DataTypeError, ModelError, SettingError, ShapeError, UnknownNameError
from ..model.model import Model
from ..model.names import closest
from . import dense
from .caba import caba
from .constraints import Constraints
from .prox_ltl import INFO, REQUEST, ROUNDING, WHOLE, prox_ltl
from .settings import not_negative, positive_integer

_KERNELS = {"caba": caba, "prox-ltl": prox_ltl}
CONSTRAINED_METHODS = (*_KERNELS, "dense")
AUTO = "auto"
# What J^T r cannot fall below is rounding of what it is the difference of.
FLOOR = 1000.0 * ROUNDING


class ConstrainedSolution(NamedTuple):
    """What a mechanism does under constraints, and how well that is known.

    `residual` is the length of J a + gamma - a*: it stays where rows contradict each other.
    `gradient` is that of J^T (J a + gamma - a*), which is zero at the least-squares answer;
    `converged` tells that it is below the tolerance.
    """

    acceleration: np.ndarray
    multipliers: np.ndarray
    residual: np.ndarray
    iterations: np.ndarray
    converged: np.ndarray
    gradient: np.ndarray


def constrained_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    constraints: Constraints,
    external_forces: ArrayLike | None = None,
    *,
    method: str = AUTO,
    damping: float | ArrayLike = 1e-6,
    tolerance: float = 1e-10,
    max_iterations: int = 20,
    desired: ArrayLike | None = None,
    warm_start: ArrayLike | None = None,
    threads: int | None = None,
) -> ConstrainedSolution:
    """a and multipliers with M a + b = tau + J^T multipliers and J a + dJ/dt v = a*.

    a* is `desired` (zero if left out) less what stabilisation asks for. Where rows are redundant or
    contradict each other, a is the motion that comes closest to them in the least-squares sense.

    `damping` is added to the diagonal of J M^-1 J^T, one number or one a row: small for few
    iterations, larger where the rows are nearly dependent. It does not change what is converged to.
    `warm_start` are multipliers to start from.
    """
    cs = check_constraints(model, constraints)
    if method == "dense":
        tolerance = not_negative("tolerance", tolerance)
        return _dense(cs, q, v, tau, external_forces, desired, tolerance)
    if method != AUTO and method not in CONSTRAINED_METHODS:
        raise UnknownNameError(
            f"method must be 'auto' or one of {', '.join(map(repr, CONSTRAINED_METHODS))}, "
            f"got {method!r}{closest(method, CONSTRAINED_METHODS)}"
        )
    if desired is None and warm_start is None and type(damping) is float:
        rows, whole, limits = _plain_request(cs, damping, tolerance, max_iterations)
    else:
        whole, limits = whole_request(cs, tolerance), iteration_limit(max_iterations)
        rows = rows_of(cs, damping, desired, warm_start, state_count(q))
    if type(q) is not np.ndarray or q.ndim > 1 or q.dtype != np.float64:
        rows, whole = fitting(rows, 2, q, v, tau), fitting(whole, 1, q, v, tau)
    inputs = (q, v, tau, rows, whole)
    if external_forces is not None:
        inputs = (*inputs, external_forces)
    kernel = _KERNELS[_choice(q) if method == AUTO else method]
    return _solution(tolerance, *kernel(cs, inputs, None, threads, limits))


def _choice(q) -> str:
    """The method that is fastest, unless numbers are too short for its springs."""
    return "prox-ltl" if getattr(q, "dtype", None) == np.float32 else "caba"


def _plain_request(cs: Constraints, damping: float, tolerance, max_iterations) -> tuple:
    """What is asked of the rows by one number alone, kept for the next call."""
    key = (damping, tolerance, max_iterations)
    known = cs.requests.get(key)
    if known is None:
        rows = rows_of(cs, damping, None, None, None)
        known = rows, whole_request(cs, tolerance), iteration_limit(max_iterations)
        if len(cs.requests) > 100:
            cs.requests.clear()
        cs.requests[key] = known
    return known


def _solution(tolerance: float, a, multipliers, info) -> ConstrainedSolution:
    if info.ndim == 1:
        residual, gradient, start, iterations = info.tolist()
        count = int(iterations) if iterations == iterations else 0  # NaN where the state is
        is_converged = gradient <= tolerance + FLOOR * start
        return ConstrainedSolution(a, multipliers, residual, count, is_converged, gradient)
    residual, gradient, start, iterations = (info[:, k] for k in range(INFO.size))
    is_converged = gradient <= tolerance + FLOOR * start
    return ConstrainedSolution(
        a, multipliers, residual, np.nan_to_num(iterations).astype(int), is_converged, gradient
    )


def state_count(q) -> int | None:
    """How many states q holds, None for one without a batch axis."""
    return np.shape(q)[0] if np.ndim(q) > 1 else None


def fitting(x: np.ndarray, axes: int, *states) -> np.ndarray:
    """An option's array in the precision of the states, and for as many, without their memory."""
    if all(getattr(y, "dtype", None) == np.float32 for y in states):
        x = x.astype(np.float32)
    count = state_count(states[0])
    return np.broadcast_to(x, (count, *x.shape)) if count is not None and x.ndim == axes else x


def check_constraints(model: Model, constraints) -> Constraints:
    """The constraints, if they are some of this model."""
    if not isinstance(constraints, Constraints):
        raise DataTypeError(f"expected Constraints(model, [...]), got {type(constraints).__name__}")
    if constraints.model is not model:
        raise ModelError("these constraints are those of another model")
    return constraints


def rows_of(cs: Constraints, damping, desired, warm_start, count: int | None) -> np.ndarray:
    """What each row is asked for; one state's array stands for all if nothing differs."""
    columns = [(damping, "damping"), (desired, "desired"), (warm_start, "warm_start")]
    values = [per_row(cs, x, name, count) for x, name in columns]
    one = all(x.ndim < 2 for x in values)
    result = np.empty((cs.size, REQUEST.size) if one else (count, cs.size, REQUEST.size))
    for k, x in enumerate(values):
        result[..., k] = x
    if np.any(values[0] <= 0.0):
        raise SettingError("damping must be positive")
    return result


def per_row(cs: Constraints, x, name: str, count: int | None) -> np.ndarray:
    """An option that is one number, one a row, or one a row and state."""
    array = np.asarray(0.0 if x is None else x)
    if array.dtype.kind not in "fiu":
        raise DataTypeError(f"{name} must hold real numbers, got {array.dtype}")
    fitting = [(), (cs.size,)] + ([(count, cs.size)] if count is not None else [])
    if array.shape not in fitting:
        raise ShapeError(
            f"{name} must be a number or have {cs.size} entries, one a row of the constraints, "
            f"got shape {array.shape}"
        )
    if not np.isfinite(array).all():
        raise SettingError(f"{name} must be finite")
    return array


def whole_request(cs: Constraints, tolerance: float) -> np.ndarray:
    """What is asked of all rows: stabilisation, and where to stop."""
    whole = np.empty(WHOLE.size)
    whole[WHOLE.kp], whole[WHOLE.kd] = cs.stabilization.kp, cs.stabilization.kd
    whole[WHOLE.tolerance] = not_negative("tolerance", tolerance)
    return whole


def iteration_limit(max_iterations: int) -> tuple[np.ndarray]:
    """The number of iterations, as kernels take it."""
    return (np.array([positive_integer("max_iterations", max_iterations)]),)


def target_acceleration(cs: Constraints, q, v, desired) -> np.ndarray:
    """a*: what the rows' accelerations are to be."""
    s = cs.stabilization
    target = 0.0 if desired is None else np.asarray(desired, float)
    if s.kp or s.kd:
        target = target - s.kp * cs.position_error(q) - s.kd * cs.velocity(q, v)
    return target


def _dense(cs, q, v, tau, external_forces, desired, tolerance) -> ConstrainedSolution:
    q, v, tau = (np.asarray(x, float) for x in (q, v, tau))
    target = target_acceleration(cs, q, v, desired)
    a, multipliers, rest = dense.solve(cs, q, v, tau, external_forces, target)
    residual = np.linalg.norm(rest, axis=-1)
    slope = np.einsum("...ij,...i->...j", cs.jacobian(q), rest)
    gradient = np.linalg.norm(slope, axis=-1)
    ones = np.ones(residual.shape, int)
    return ConstrainedSolution(
        a, multipliers, residual[()], ones[()], np.isfinite(gradient)[()], gradient[()]
    )

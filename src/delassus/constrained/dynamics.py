"""Constrained dynamics: one function, and the methods that it chooses from."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..compile import FLOAT64, is_single_usable, is_symbolic
from ..dynamics.arguments import deliver
from ..errors import DataTypeError, ModelError, SettingError, ShapeError, UnknownNameError
from ..model.model import Model
from ..model.names import closest
from . import dense
from .caba import caba
from .constraints import Constraints
from .open_trees import check_open
from .prox_ltl import prox_ltl
from .prox_ltls import prox_ltls
from .prox_pv import prox_pv, pv
from .pv_early import pv_early
from .settings import not_negative, positive_integer
from .solver import INFO, REQUEST, ROUNDING, WHOLE

_KERNELS = {
    "caba": caba,
    "prox-ltl": prox_ltl,
    "prox-ltls": prox_ltls,
    "prox-pv": prox_pv,
    "pv": pv,
    "pv-soft": caba,  # its first iterate
    "pv-early": pv_early,
}
CONSTRAINED_METHODS = (*_KERNELS, "dense")
_FOR_OPEN_TREES = ("prox-pv", "pv", "pv-early")
AUTO = "auto"
# What J^T r cannot fall below is rounding of what it is the difference of.
FLOOR = 1000.0 * ROUNDING
_empty = np.empty


class ConstrainedSolution:
    """What a mechanism does under constraints, and how well that is known.

    `residual` is the length of J a + gamma - a*: it stays where rows contradict each other.
    `gradient` is that of J^T (J a + gamma - a*), which is zero at the least-squares answer;
    `converged` tells that it is below the tolerance.
    """

    __slots__ = ("_info", "_tolerance", "acceleration", "multipliers")
    _fields = ("acceleration", "multipliers", "residual", "iterations", "converged", "gradient")

    def __init__(self, acceleration, multipliers, info, tolerance: float):
        self.acceleration = acceleration
        self.multipliers = multipliers
        self._info, self._tolerance = info, tolerance

    def _told(self, k: int):
        """A number that the solver tells, for one state, for many, or as a symbol."""
        if type(self._info) is not np.ndarray:
            return self._info[k]
        return self._info[:, k] if self._info.ndim > 1 else float(self._info[k])

    @property
    def residual(self):
        """The length of J a + gamma - a*."""
        return self._told(INFO.residual)

    @property
    def gradient(self):
        """The length of J^T (J a + gamma - a*)."""
        return self._told(INFO.gradient)

    @property
    def iterations(self):
        """How many iterations each state took, 0 where it is not a number."""
        count = self._told(INFO.iterations)
        return np.nan_to_num(count).astype(int)[()] if is_number(count) else count

    @property
    def converged(self):
        """Whether the gradient is below the tolerance, or as small as rounding lets it be."""
        return self.gradient <= self._tolerance + FLOOR * self._told(INFO.start)

    def __iter__(self):
        return (getattr(self, name) for name in self._fields)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={x}" for name, x in zip(self._fields, self, strict=True))
        return f"ConstrainedSolution({values})"


def is_number(x) -> bool:
    """Whether something is one number or many, not a symbol."""
    return isinstance(x, (float, np.ndarray))


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
    out: ConstrainedSolution | tuple[np.ndarray, np.ndarray] | None = None,
) -> ConstrainedSolution:
    """a and multipliers with M a + b = tau + J^T multipliers and J a + dJ/dt v = a*.

    a* is `desired` (zero if left out) less what stabilisation asks for. Where rows are redundant or
    contradict each other, a is the motion that comes closest to them in the least-squares sense.

    `damping` is added to the diagonal of J M^-1 J^T, one number or one a row: small for few
    iterations, larger where the rows are nearly dependent. It does not change what is converged to.
    `warm_start` are multipliers to start from. `out` is a solution for as many states that is no
    longer needed, or a pair of arrays for accelerations and multipliers.
    """
    is_plain = desired is warm_start is external_forces is out is None
    if is_plain and type(q) is np.ndarray and q.ndim == 1:
        # One state as before: what is asked is known to be right, and is there for the kernel.
        try:
            asked = constraints.requests[method, damping, tolerance, max_iterations]
            if constraints.model is model and q.dtype is FLOAT64:
                entry, address, rows, whole, limit = asked
                a, multipliers, info = _empty(model.nv), _empty(constraints.size), _empty(INFO.size)
                if entry(address, limit, q, v, tau, rows, whole, a, multipliers, info) == 0:
                    return ConstrainedSolution(a, multipliers, info, tolerance)
        except (KeyError, AttributeError, TypeError):
            pass
    cs = check_constraints(model, constraints)
    if method == "dense":
        tolerance = not_negative("tolerance", tolerance)
        return _dense(cs, q, v, tau, external_forces, desired, tolerance, out)
    if method != AUTO and method not in CONSTRAINED_METHODS:
        raise UnknownNameError(
            f"method must be 'auto' or one of {', '.join(map(repr, CONSTRAINED_METHODS))}, "
            f"got {method!r}{closest(method, CONSTRAINED_METHODS)}"
        )
    kernel = _KERNELS[_choice(q) if method == AUTO else method]
    if method in _FOR_OPEN_TREES:
        check_open(cs, method)
    limits = iteration_limit(max_iterations if method != "pv-soft" else 1)
    rows, whole = request(cs, damping, desired, warm_start, tolerance, state_count(q))
    rows, whole = fitting(rows, 2, q, v, tau), fitting(whole, 1, q, v, tau)
    inputs = (q, v, tau, rows, whole)
    if external_forces is not None:
        inputs = (*inputs, external_forces)
    given = None if out is None else _arrays_of(out)
    a, multipliers, info = kernel(cs, inputs, given, threads, limits)
    if np.ndim(damping) == 0 and desired is warm_start is None and is_number(a) and a.ndim == 1:
        _remember(cs, kernel, (method, damping, tolerance, max_iterations), rows, whole, *limits)
    return ConstrainedSolution(a, multipliers, info, tolerance)


def _arrays_of(out) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The arrays of a solution, or two for one and what the solver tells."""
    if isinstance(out, ConstrainedSolution):
        return out.acceleration, out.multipliers, out._info
    try:
        acceleration, multipliers = out
        return acceleration, multipliers, np.empty((*acceleration.shape[:-1], INFO.size))
    except (TypeError, ValueError, AttributeError):
        raise DataTypeError(
            "out must be a ConstrainedSolution, or a pair of arrays for accelerations and "
            f"multipliers, got {type(out).__name__}"
        ) from None


def _remember(cs: Constraints, kernel, key: tuple, *request) -> None:
    """Keep what is asked of all rows alike, and where the kernel is that answers it."""
    if is_single_usable():
        cs.remember(key, (kernel.single(), cs.prepare(kernel), *request))


def _choice(q) -> str:
    """The method that is fastest, unless numbers are too short for its springs."""
    return "prox-ltl" if getattr(q, "dtype", None) == np.float32 else "caba"


def state_count(q) -> int | None:
    """How many states q holds, None for one without a batch axis."""
    if type(q) is not np.ndarray:
        if is_symbolic(q):
            return None
        q = np.asarray(q)
    return len(q) if q.ndim > 1 else None


def fitting(x: np.ndarray, axes: int, *states) -> np.ndarray:
    """An option's array in the precision of the states, with a row for all if they are many."""
    if all(getattr(y, "dtype", None) == np.float32 for y in states):
        x = x.astype(np.float32)
    return x if state_count(states[0]) is None or x.ndim != axes else x[None]


def check_constraints(model: Model, constraints) -> Constraints:
    """The constraints, if they are some of this model."""
    if not isinstance(constraints, Constraints):
        raise DataTypeError(f"expected Constraints(model, [...]), got {type(constraints).__name__}")
    if constraints.model is not model:
        raise ModelError("these constraints are those of another model")
    return constraints


def request(
    cs: Constraints, damping, desired, warm_start, tolerance, count: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """What is asked of each row and of all; the same numbers are not looked at twice."""
    key = "request", damping, tolerance
    is_plain = desired is warm_start is None and type(damping) is type(tolerance) is float
    if is_plain and key in cs.requests:
        return cs.requests[key]
    found = rows_of(cs, damping, desired, warm_start, count), whole_request(cs, tolerance)
    if is_plain:
        cs.remember(key, found)
    return found


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
    result[..., REQUEST.weight] = 1.0 / values[0]
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


def _dense(cs, q, v, tau, external_forces, desired, tolerance, out) -> ConstrainedSolution:
    if any(map(is_symbolic, (q, v, tau))):
        raise DataTypeError("method 'dense' takes no symbols")
    q, v, tau = (np.asarray(x, float) for x in (q, v, tau))
    target = target_acceleration(cs, q, v, desired)
    a, multipliers, rest = dense.solve(cs, q, v, tau, external_forces, target)
    residual = np.linalg.norm(rest, axis=-1)
    slope = np.einsum("...ij,...i->...j", cs.jacobian(q), rest)
    gradient = np.linalg.norm(slope, axis=-1)
    told = {"residual": residual, "gradient": gradient, "start": 0.0, "iterations": 1.0}
    info = np.empty((*residual.shape, INFO.size))
    for name, x in told.items():
        info[..., getattr(INFO, name)] = x
    found = deliver((a, multipliers, info), None if out is None else _arrays_of(out))
    return ConstrainedSolution(*found, np.inf)  # whatever is finite is the answer

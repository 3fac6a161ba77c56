"""Constrained dynamics: one function, which chooses among methods."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...compile import FLOAT64
from ...errors import DataTypeError
from ...model.model import Model
from ..rows.checks import AUTO, check_constraints, check_method
from ..rows.constraints import Constraints
from ..rows.request import INFO, converged, iteration_limit, request
from .methods import METHODS, fastest
from .traced import check_traced


class ConstrainedSolution:
    """Accelerations and multipliers of constrained dynamics, and how exact they are.

    `residual` is the length of J a + gamma - a*: it is not zero where rows contradict each other.
    `converged` tells whether rows and equations of motion hold to tolerance.
    """

    __slots__ = ("_info", "_precision", "_tolerance", "acceleration", "multipliers")
    _fields = ("acceleration", "multipliers", "residual", "iterations", "converged")

    def __init__(self, acceleration, multipliers, info, tolerance: float, precision: np.dtype):
        self.acceleration = acceleration
        self.multipliers = multipliers
        self._info, self._tolerance, self._precision = info, tolerance, precision

    def _told(self, k: int):
        """A number of the solver's output INFO, for one state, for many, or as a symbol."""
        if type(self._info) is not np.ndarray:
            return self._info[k]
        return self._info[:, k] if self._info.ndim > 1 else float(self._info[k])

    @property
    def residual(self):
        """The length of J a + gamma - a*."""
        return self._told(INFO.residual)

    @property
    def iterations(self):
        """How many iterations each state took, 0 where it is not a number."""
        count = self._told(INFO.iterations)
        is_number = isinstance(count, (float, np.ndarray))  # and no symbol
        return np.nan_to_num(count).astype(int)[()] if is_number else count

    @property
    def converged(self):
        """Whether rows and equations of motion hold at this answer, by one rule for all methods.

        - |J a + gamma - a*| is at most the tolerance, each row relative to its usual length in J.
          Where rows contradict each other, the part of it that stays in the least-squares answer is
          left out.
        - M a + b = tau + J^T multipliers holds to the tolerance for each joint, relative to the
          forces that meet there.

        Both with a margin of some hundred times the rounding of the numbers that cancel.
        """
        errors = map(self._told, (INFO.rows, INFO.motion))
        found = converged(*errors, self._tolerance, np.finfo(self._precision).eps)
        return bool(found) if isinstance(found, int) else found

    def __iter__(self):
        return (getattr(self, name) for name in self._fields)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={x}" for name, x in zip(self._fields, self, strict=True))
        return f"ConstrainedSolution({values})"


def constrained_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    constraints: Constraints,
    external_forces: ArrayLike | None = None,
    *,
    method: str = AUTO,
    damping: float | ArrayLike | None = None,
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

    `damping` is added to the diagonal of J M^-1 J^T, one number or one for each row: small for few
    iterations, larger where rows are nearly dependent. It does not change the solution. None is
    5e-7 of each row's own diagonal, 1e-3 in float32.
    `warm_start` are multipliers to start from. `out` is a solution for as many states that is no
    longer needed, or a pair of arrays for accelerations and multipliers.
    """
    cs = check_constraints(model, constraints)
    asked = key = None
    if (
        desired is warm_start is None
        and (damping is None or type(damping) is float)
        and type(tolerance) is float
        and type(max_iterations) is int
        and type(method) is str
        and type(q) is np.ndarray
        and q.dtype is FLOAT64
    ):  # as most calls are: what they ask for is the same from call to call, and looked at once
        key = q.ndim, method, damping, tolerance, max_iterations
        asked = cs.requests.get(key)
    if asked is None:
        asked = _ask(cs, method, damping, tolerance, max_iterations, desired, warm_start, q, v, tau)
        if key is not None:
            cs.remember(key, asked)
    solve, limits, requests, options = asked
    inputs = (q, v, tau, requests, options)
    if external_forces is not None:
        inputs = (*inputs, external_forces)
    given = None if out is None else _arrays_of(out)
    a, multipliers, info = solve(cs, inputs, given, threads, limits)
    return ConstrainedSolution(a, multipliers, info, tolerance, options.dtype)


def _ask(cs, method, damping, tolerance, max_iterations, desired, warm_start, *states) -> tuple:
    """The solver of a method, and its checked inputs: limits, requests and options."""
    name = check_method(method, METHODS)
    chosen = METHODS[fastest(cs) if name == AUTO else name]
    chosen.check(cs, method)
    limits = iteration_limit(max_iterations)
    if chosen.iterates:
        check_traced(cs, damping, tolerance, max_iterations, *states)
    if chosen.most_iterations is not None:
        limits = iteration_limit(chosen.most_iterations)
    solve = chosen.solver.__call__  # which takes 0.1 us less to call than the kernel itself
    return solve, limits, *request(cs, damping, desired, warm_start, tolerance, *states)


def _arrays_of(out) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Arrays for accelerations, multipliers and INFO, from a solution or from a pair of arrays."""
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

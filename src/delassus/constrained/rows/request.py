"""The inputs and outputs that kernels of all solvers of constrained dynamics share.

All of them solve, for accelerations a and multipliers lambda,

    M a + b = tau + J^T lambda        J a + gamma = a*

where a* is `desired`, the acceleration that rows are asked for, less kp times their error and kd
times their velocity (stabilisation). Solvers work with the target gamma - a* and with the residual
r = J a + gamma - a*.
"""

from __future__ import annotations

import numpy as np

from ...compile import function, layout, slots, sqrt
from .checks import fitting, not_negative, per_row, positive_integer, positive_per_row, state_count
from .constraints import Constraints
from .wrenches import ROW

# Input for each row: damping mu, desired acceleration, multiplier to start from, and 1 / mu.
REQUEST = slots(damping=1, desired=1, start=1, weight=1)
# Input for all rows: gains of stabilisation, and the tolerance at which iterations stop.
OPTIONS = slots(kp=1, kd=1, tolerance=1)
# Output about the solution: |r|; |J^T r|; `start`, the length of the vectors whose difference these
# are, so that they cannot fall below its rounding; and the number of iterations.
INFO = slots(residual=1, gradient=1, start=1, iterations=1)

# The arguments of a solver's kernel. They are more than ten, as they are all that users may give.
# `limits` has the largest number of iterations.
LIMITS = ("limits",)
INPUTS = {
    "q": "nq",
    "v": "nv",
    "tau": "nv",
    "requests": f"m {REQUEST.size} common",
    "options": f"{OPTIONS.size} common",
    "external_forces": "n_bodies 6 optional",
}
OUTPUTS = {"a": "nv", "multipliers": "m", "info": f"{INFO.size}"}
# What a solver keeps of each row, in a part `dual` of its memory: the target gamma - a*, the
# residual r, the stiffness 1 / mu, the multiplier lambda, and the tension of a spring along it.
DUAL = layout(target="m", residual="m", weights="m", multipliers="m", tension="m")


@function
def target_of(row, requests, gains, rows):
    """gamma - a* of a row, where a* = desired - kp error - kd J v; `gains` are kp and kd."""
    at = row * ROW.size
    x = rows[at + ROW.drift] - requests[row * REQUEST.size + REQUEST.desired]
    return x + gains[1] * rows[at + ROW.velocity] + gains[0] * rows[at + ROW.error]


@function
def length(count, x, options):
    """The Euclidean length of some numbers."""
    square = 0.0 * options[OPTIONS.tolerance]
    for t in range(count):
        square = square + x[t] * x[t]
    return sqrt(square)


def request(
    cs: Constraints, damping, desired, warm_start, tolerance, *states
) -> tuple[np.ndarray, np.ndarray]:
    """The inputs `requests` and `options`. Plain numbers are checked once, and then remembered.

    `states` are q, v and tau: the inputs get their precision.
    """
    key = "request", damping, tolerance
    is_plain = desired is warm_start is None and type(damping) is type(tolerance) is float
    if is_plain and key in cs.requests:
        found = cs.requests[key]
    else:
        requests = _requests(cs, damping, desired, warm_start, state_count(states[0]))
        found = requests, _options(cs, tolerance)
        if is_plain:
            cs.remember(key, found)
    return fitting(found[0], 2, *states), fitting(found[1], 1, *states)


def _requests(cs: Constraints, damping, desired, warm_start, count: int | None) -> np.ndarray:
    """The input `requests`; of one state, if nothing differs from state to state."""
    values = [
        positive_per_row(cs, damping, "damping", count),
        per_row(cs, desired, "desired", count),
        per_row(cs, warm_start, "warm_start", count),
    ]
    one = all(x.ndim < 2 for x in values)
    result = np.empty((cs.size, REQUEST.size) if one else (count, cs.size, REQUEST.size))
    for k, x in enumerate((*values, 1.0 / values[0])):
        result[..., k] = x
    return result


def _options(cs: Constraints, tolerance: float) -> np.ndarray:
    """The input `options`."""
    options = np.empty(OPTIONS.size)
    options[OPTIONS.kp], options[OPTIONS.kd] = cs.stabilization.kp, cs.stabilization.kd
    options[OPTIONS.tolerance] = not_negative("tolerance", tolerance)
    return options


def iteration_limit(max_iterations: int) -> tuple[np.ndarray]:
    """The shared input `limits`."""
    return (np.array([positive_integer("max_iterations", max_iterations)]),)


def target_acceleration(cs: Constraints, q, v, desired) -> np.ndarray:
    """a*: the accelerations that rows are asked for, with stabilisation."""
    s = cs.stabilization
    target = 0.0 if desired is None else np.asarray(desired, float)
    if s.kp or s.kd:
        target = target - s.kp * cs.position_error(q) - s.kd * cs.velocity(q, v)
    return target

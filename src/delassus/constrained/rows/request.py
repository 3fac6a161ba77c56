"""The inputs and outputs that kernels of all solvers of constrained dynamics share.

All of them solve, for accelerations a and multipliers lambda,

    M a + b = tau + J^T lambda        J a + gamma = a*

where a* is `desired`, the acceleration that rows are asked for, less kp times their error and kd
times their velocity (stabilisation). Solvers work with the target gamma - a* and with the residual
r = J a + gamma - a*.
"""

from __future__ import annotations

import numpy as np

from ...compile import absolute, function, layout, select, slots, sqrt
from .checks import (
    fitting,
    is_single,
    not_negative,
    per_row,
    positive_integer,
    positive_per_row,
    state_count,
)
from .constraints import Constraints
from .wrenches import ROW

# Input for each row: damping mu, desired acceleration, multiplier to start from, 1 / mu; its usual
# length in J, its usual diagonal entry of J M^-1 J^T, and what gravity does to it (see `scales`).
REQUEST = slots(damping=1, desired=1, start=1, weight=1, length=1, diagonal=1, falling=1)
# Input for all rows: gains of stabilisation; the tolerance at which iterations stop; the rounding
# of numbers; the weight 1 / mu of all rows where they contradict each other, 0 if all have the same
# already; and the part of r by which an iteration changes it at least unless they do.
# At last the part of a row's diagonal that methods take for mu at least if they factorise
# J M^-1 J^T + mu, where a smaller one costs digits.
OPTIONS = slots(kp=1, kd=1, tolerance=1, rounding=1, weight=1, least=1, damping=1)
# Output about the solution, see `converged`: the length of r; by how much rows miss, each by its
# scale and less what rounding leaves; the relative error of the equations of motion; and the number
# of iterations.
INFO = slots(residual=1, rows=1, motion=1, iterations=1)
# Iterations that change r by less than so many roots of rounding, relative to r, tell that rows
# contradict each other. Springs round r by 1e-9 in float64, and by 1e-4 in float32.
CONTRADICTION = 0.5
# Errors cannot fall below so many times the rounding of what they are differences of.
FLOOR = 500.0
# The same of rows, whose terms are looked at one by one; iterations aim at the second number.
ROW_FLOOR, ROUNDING = 64.0, 16.0
# Rows contradict each other only if J^T r, where r stays, cancels to so much of its terms.
CANCELS = 1e-7

# The default damping, relative to a row's diagonal of the Delassus matrix. Springs of stiffness
# 1 / damping round off as many digits of inertia as the damping has, hence more of it in float32.
RELATIVE_DAMPING = {8: 5e-7, 4: 1e-3}

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


def dual_layout(rows: str):
    """What a solver keeps of each row, `rows` of them.

    The target gamma - a*, the residual r, the stiffness 1 / mu, the multiplier lambda, and the
    tension of a spring along it; how the residual is measured (see `measured`): usual length,
    diagonal and effect of gravity, size, scale and floor; then vectors of the method of conjugate
    residuals.
    """
    names = ("target", "residual", "weights", "multipliers", "tension")
    names = (*names, "lengths", "diagonals", "falling", "sizes", "scales", "floors")
    return layout(**dict.fromkeys((*names, "kept", "mapped", "direction", "image"), rows))


DUAL = dual_layout("m")


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


@function
def measure_rows(count, times, multipliers, options, dual):
    """Scales and floors of rows, from the magnitudes of the terms of r in dual.sizes.

    The size s of a row is the sum of these with what its multiplier does. Its scale is 1 / s, or
    1 / its usual length in J if this is less. Its floor is so many `times` the rounding of the
    terms and of what gravity does.
    """
    one = 1.0 + 0.0 * options[OPTIONS.tolerance]
    for t in range(count):
        size = dual.sizes[t] + dual.diagonals[t] * absolute(multipliers[t])
        unit = select(size < dual.lengths[t], size, dual.lengths[t])
        dual.scales[t] = 1.0 / select(unit > 0.0, unit, one)
        floor = dual.sizes[t] + dual.falling[t]
        dual.floors[t] = times * options[OPTIONS.rounding] * floor


@function
def measured(count, x, dual, options):
    """The length of numbers of rows, each less its row's floor, and by its scale."""
    none = 0.0 * options[OPTIONS.tolerance]
    square = none
    for t in range(count):
        beyond = absolute(x[t]) - dual.floors[t]
        y = dual.scales[t] * select(beyond <= 0.0, none, beyond)  # NaN stays NaN
        square = square + y * y
    return sqrt(square)


@function
def relative(x, size):
    """x / size, and zero where both are."""
    return select(size > 0.0, x / size, x)


def converged(rows, motion, tolerance: float, rounding: float):
    """Whether rows and equations of motion hold to tolerance, or as far as rounding allows.

    The one definition for all methods, by what they tell in INFO: numbers, arrays or symbols.
    """
    return (rows <= tolerance) * (motion <= tolerance + FLOOR * rounding)


def request(
    cs: Constraints, damping, desired, warm_start, tolerance, *states
) -> tuple[np.ndarray, np.ndarray]:
    """The inputs `requests` and `options`. Plain numbers are checked once, and then remembered.

    `states` are q, v and tau: the inputs get their precision.
    """
    real = np.dtype(np.float32 if is_single(states) else np.float64)
    key = "request", damping, tolerance, real
    is_plain = desired is warm_start is None and type(tolerance) is float
    is_plain = is_plain and (damping is None or type(damping) is float)
    if is_plain and key in cs.requests:
        requests, options = cs.requests[key]
    else:
        mu = damping_rows(cs, damping, state_count(states[0]), real)
        requests = _requests(cs, mu, desired, warm_start, state_count(states[0]))
        options = _options(cs, tolerance, mu, real)
        if is_plain:
            cs.remember(key, (requests, options))
    return fitting(requests, 2, real, states[0]), fitting(options, 1, real, states[0])


def damping_rows(cs, damping, count: int | None, real: np.dtype) -> np.ndarray:
    """The damping of each row: as given, or for None relative to the row's own diagonal."""
    if damping is None:
        return RELATIVE_DAMPING[real.itemsize] * cs.scales.diagonal
    one = positive_per_row(cs, damping, "damping", count)
    return one if one.ndim > 1 else np.broadcast_to(one, (cs.size,)).astype(float)


def _requests(cs: Constraints, mu, desired, warm_start, count: int | None) -> np.ndarray:
    """The input `requests`; of one state, if nothing differs from state to state."""
    values = [
        mu,
        per_row(cs, desired, "desired", count),
        per_row(cs, warm_start, "warm_start", count),
    ]
    one = all(x.ndim < 2 for x in values)
    result = np.empty((cs.size, REQUEST.size) if one else (count, cs.size, REQUEST.size))
    for k, x in enumerate((*values, 1.0 / mu, *_scales_of(cs))):
        result[..., k] = x
    return result


def _scales_of(cs: Constraints) -> tuple[np.ndarray, ...]:
    """The last slots of REQUEST."""
    return cs.scales.lengths, cs.scales.diagonal, cs.scales.weight


def _options(cs: Constraints, tolerance: float, mu: np.ndarray, real: np.dtype) -> np.ndarray:
    """The input `options`."""
    options = np.zeros(OPTIONS.size)
    options[OPTIONS.kp], options[OPTIONS.kd] = cs.stabilization.kp, cs.stabilization.kd
    options[OPTIONS.tolerance] = not_negative("tolerance", tolerance)
    options[OPTIONS.rounding] = np.finfo(real).eps
    if tolerance > 0.0:  # else just the iterations that are asked for, with the damping given
        options[OPTIONS.damping] = 0.5 * RELATIVE_DAMPING[real.itemsize]
    limited = np.maximum(mu, options[OPTIONS.damping] * cs.scales.diagonal)
    if mu.size and (mu.min() < mu.max() or limited.min() < limited.max()):
        options[OPTIONS.weight] = np.exp(-np.log(mu).mean())
    # Damping that is large beside a row's own diagonal makes all iterations change r by little. If
    # it is very large, they cannot tell whether rows contradict each other.
    diagonal, root = cs.scales.diagonal, np.sqrt(np.finfo(real).eps)
    slowest = (diagonal / (diagonal + mu)).min(initial=1.0)
    options[OPTIONS.least] = CONTRADICTION * root * slowest if slowest > root else -1.0
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

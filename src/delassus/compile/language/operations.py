"""Scalar operations that mean the same on floats, lanes, CasADi symbols and GPU numbers.

Kernels use Python's own operators and, beyond them, these functions. Called from Python they take
floats or symbols; `native.operations` has their compiled forms.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable

# The largest angles for `near_sincos`, by the bits of a number. Beyond them, multiples of pi / 2
# are not exact.
REDUCIBLE = {64: 8.0e5, 32: 8.0e3}


def _is_symbol(x) -> bool:
    return type(x).__module__.startswith("casadi")


def _casadi():
    import casadi

    return casadi


def sincos(x):
    """Sine and cosine of x."""
    if _is_symbol(x):
        return _casadi().sin(x), _casadi().cos(x)
    return (math.sin(x), math.cos(x)) if math.isfinite(x) else (math.nan, math.nan)


def near_sincos(x):
    """Sine and cosine of an x that is not `far`. It is not tested: one test can serve many x."""
    return sincos(x)


def far(x):
    """Whether x, an absolute angle or a sum of several, is too large for `near_sincos`, or NaN."""
    return x > REDUCIBLE[64] if _is_symbol(x) else not x <= REDUCIBLE[64]


def sqrt(x):
    """Square root of x, NaN for a negative one."""
    if _is_symbol(x):
        return _casadi().sqrt(x)
    return math.sqrt(x) if x >= 0.0 else math.nan


def absolute(x):
    """Absolute value of x."""
    return _casadi().fabs(x) if _is_symbol(x) else math.fabs(x)


def atan2(y, x):
    """The angle of the point (x, y)."""
    if _is_symbol(x) or _is_symbol(y):
        return _casadi().atan2(y, x)
    return math.atan2(y, x)


def exp(x):
    """e to the power of x, infinity where that is too large."""
    if _is_symbol(x):
        return _casadi().exp(x)
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def log(x):
    """Natural logarithm of x, NaN for a negative one."""
    if _is_symbol(x):
        return _casadi().log(x)
    if x == 0.0:
        return -math.inf
    return math.nan if x < 0.0 else math.log(x)


def select(condition, x, y):
    """x where the condition holds, y elsewhere; both are evaluated."""
    if _is_symbol(condition):
        return _casadi().if_else(condition, x, y)
    return x if condition else y


def minimum(x, y):
    """The smaller of x and y; NaN if either is NaN."""
    return select(x <= y, x, select(y < x, y, x + y))


def maximum(x, y):
    """The larger of x and y; NaN if either is NaN."""
    return select(x >= y, x, select(y > x, y, x + y))


def any_true(condition) -> bool:
    """Whether the condition holds in any lane; the condition itself where there are no lanes.

    For symbols it is True, unless the condition is constant: a trace contains all that depends on
    it. So an iteration that goes on while any state is active runs to its limit.
    """
    if _is_symbol(condition):
        return bool(condition) if condition.is_constant() else True
    return condition


def presume(condition, value):
    """The condition itself for numbers; `value` for symbols, which cannot be tested.

    `value` is what the condition is in most states: True for "the iteration goes on", False for "an
    extra step is needed". So a trace has the operations of a usual state.
    """
    return value if _is_symbol(condition) else condition


def clear(argument, count) -> None:
    """Set the first `count` entries of an array to zero."""
    argument[:count] = 0.0


def part(memory, start):
    """The entries of an array, or the rows of work memory, from `start` on."""
    return memory[start:]


def present(argument) -> bool:
    """Whether an optional argument was given."""
    return len(argument) > 0


def clock() -> float:
    """Seconds since some moment, to tell how long parts of a kernel take."""
    return time.perf_counter()


callbacks: dict[int, Callable] = {}  # functions of users by the addresses of their compiled forms


def call_at(address, t, q, nq, v, nv, u, nu) -> int:
    """Call a user's f(t, q, v, u), with so many numbers of q, v and u; 1 if it raised, else 0."""
    try:
        callbacks[int(address)](t, q[:nq], v[:nv], u[:nu])
    except Exception:
        return 1
    return 0

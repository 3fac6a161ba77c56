"""The compiled forms of scalar operations, and the registration of kernels' functions with Numba.

Importing this module imports Numba.
"""

from __future__ import annotations

import math
from functools import cache

from numba import types
from numba.extending import overload, register_jitable

from ..language.functions import marked
from ..language.operations import (
    REDUCIBLE,
    absolute,
    any_true,
    atan2,
    call_at,
    clear,
    clock,
    exp,
    far,
    log,
    maximum,
    minimum,
    near_sincos,
    part,
    present,
    presume,
    select,
    sincos,
    sqrt,
)
from .options import EXACT, FAST
from .types import lanes as L
from .types import memory as M

# Two over pi, and pi over two in parts short enough that small multiples of each are exact.
_TWO_OVER_PI = 0.6366197723675814
_HALF_PI = {
    64: (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21),
    32: (1.5703125, 4.837512969970703e-4, 7.549790126404332e-8),
}
# Adding this number rounds to an integer, and leaves that integer in the low bits of the sum.
_ROUNDER = {64: 6755399441055744.0, 32: 12582912.0}


def install() -> None:
    """Register with Numba all functions that were marked since the last call."""
    _install_operations()
    while marked:
        register_jitable(**FAST)(marked.pop(0))


@cache
def _install_operations() -> None:
    """Register the compiled forms of operations."""

    def is_lane(x):
        return isinstance(x, L.Lane)

    register_jitable(**FAST)(minimum)
    register_jitable(**FAST)(maximum)
    reduced = {bits: _reduced_sincos(bits) for bits in (64, 32)}

    @overload(sincos, jit_options=EXACT, strict=False)
    def _sincos(x):
        if not is_lane(x) and not isinstance(x, types.Float):
            return None
        bits = x.bits if is_lane(x) else x.bitwidth
        reduced_sincos, limit = reduced[bits], REDUCIBLE[bits]
        if not is_lane(x):

            def scalar(x):
                if abs(x) > limit:
                    return math.sin(x), math.cos(x)
                return reduced_sincos(x)

            return scalar
        width = x.width

        def lane(x):
            s, c = reduced_sincos(x)
            if L.any_lane(L.absolute(x) > limit):
                for i in range(width):
                    angle = L.lane_get(x, i)
                    if abs(angle) > limit:
                        s = L.lane_set(s, i, math.sin(angle))
                        c = L.lane_set(c, i, math.cos(angle))
            return s, c

        return lane

    @overload(near_sincos, jit_options=EXACT, strict=False)
    def _near_sincos(x):
        reduced_sincos = reduced[x.bits if is_lane(x) else x.bitwidth]
        return lambda x: reduced_sincos(x)

    @overload(far, jit_options=EXACT, strict=False)
    def _far(x):
        limit = REDUCIBLE[x.bits if is_lane(x) else x.bitwidth]
        if is_lane(x):
            return lambda x: L.exceeds(x, limit)
        return lambda x: not x <= limit

    @overload(sqrt, jit_options=EXACT, strict=False)
    def _sqrt(x):
        return lambda x: L.square_root(x)

    @overload(absolute, jit_options=EXACT, strict=False)
    def _absolute(x):
        return lambda x: L.absolute(x)

    @overload(atan2, jit_options=EXACT, strict=False)
    def _atan2(y, x):
        if not is_lane(x):
            return lambda y, x: math.atan2(y, x)
        width = x.width

        def lane(y, x):
            angle = x
            for i in range(width):
                angle = L.lane_set(angle, i, math.atan2(L.lane_get(y, i), L.lane_get(x, i)))
            return angle

        return lane

    def overload_lane_by_lane(operation, library_function):
        @overload(operation, jit_options=EXACT, strict=False)
        def _operation(x):
            if not is_lane(x):
                return lambda x: library_function(x)
            width = x.width

            def lane(x):
                result = x
                for i in range(width):
                    result = L.lane_set(result, i, library_function(L.lane_get(x, i)))
                return result

            return lane

    overload_lane_by_lane(exp, math.exp)
    overload_lane_by_lane(log, math.log)

    @overload(select, jit_options=FAST, strict=False)
    def _select(condition, x, y):
        if isinstance(condition, L.Mask):
            return lambda condition, x, y: L.choose(condition, x, y)
        return lambda condition, x, y: x if condition else y

    @overload(any_true, jit_options=FAST, strict=False)
    def _any_true(condition):
        if isinstance(condition, L.Mask):
            return lambda condition: L.any_lane(condition)
        return lambda condition: condition

    @overload(presume, jit_options=FAST, strict=False)
    def _presume(condition, value):
        return lambda condition, value: condition

    @overload(clear, jit_options=FAST, strict=False)
    def _clear(argument, count):
        if isinstance(argument, M.MEMORY):
            return lambda argument, count: M.clear_entries(argument, count)

        def array(argument, count):
            for i in range(count):
                argument[i] = 0.0

        return array

    @overload(clock, jit_options=FAST, strict=False)
    def _clock():
        return lambda: M.read_clock()

    @overload(call_at, jit_options=FAST, strict=False)
    def _call_at(address, t, q, nq, v, nv, u, nu):
        return lambda address, t, q, nq, v, nv, u, nu: M.call_address(
            address, t, q, nq, v, nv, u, nu
        )

    @overload(part, jit_options=FAST, strict=False)
    def _part(memory, start):
        if isinstance(memory, M.MEMORY):
            return lambda memory, start: M.entries_from(memory, start)
        return lambda memory, start: memory[start:]

    @overload(present, jit_options=FAST, strict=False)
    def _present(argument):
        if isinstance(argument, M.MEMORY):
            return lambda argument: M.is_present(argument)
        return lambda argument: argument.size > 0


# Minimax polynomials on [-pi/4, pi/4], with the coefficients of the Cephes library:
# sin x = x + x^3 P(x^2), cos x = 1 - x^2/2 + x^4 Q(x^2).
_SINE = {
    64: (
        -1.66666666666666307295e-1,
        8.33333333332211858878e-3,
        -1.98412698295895385996e-4,
        2.75573136213857245213e-6,
        -2.50507477628578072866e-8,
        1.58962301576546568060e-10,
    ),
    32: (-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4),
}
_COSINE = {
    64: (
        4.16666666666665929218e-2,
        -1.38888888888730564116e-3,
        2.48015872888517045348e-5,
        -2.75573141792967388112e-7,
        2.08757008419747316778e-9,
        -1.13585365213876817300e-11,
    ),
    32: (4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5),
}


def _polynomial32(z, a, b, c):
    return a + z * (b + z * c)


def _polynomial64(z, a, b, c, d, e, f):
    return (a + z * (b + z * c)) + (z * z * z) * (d + z * (e + z * f))


_POLYNOMIALS = {64: _polynomial64, 32: _polynomial32}


def _reduced_sincos(bits):
    """Sine and cosine of angles up to REDUCIBLE: Cody and Waite's reduction, then polynomials."""
    general = (_TWO_OVER_PI, _ROUNDER[bits], *_HALF_PI[bits], 1.0, -0.5, -0.0)
    constants = L.stored("sincos", general + _SINE[bits] + _COSINE[bits], bits)
    polynomial = register_jitable(**EXACT)(_POLYNOMIALS[bits])
    to_sine, to_cosine = len(general), len(general) + len(_SINE[bits])

    @register_jitable(**EXACT)
    def reduced_sincos(x):
        known = constants(x)
        two_over_pi, rounder, first, second, third, one, minus_half, sign = known[:to_sine]
        rounded = x * two_over_pi + rounder
        k = rounded - rounder
        r = ((x - k * first) - k * second) - k * third
        z = r * r
        s = r + (r * z) * polynomial(z, *known[to_sine:to_cosine])
        c = (one + minus_half * z) + (z * z) * polynomial(z, *known[to_cosine:])
        # Odd quadrants swap the two; quadrants 2 and 3 negate the sine, 1 and 2 the cosine.
        return (
            L.flipped(rounded, 1, L.by_bit(rounded, 0, s, c), sign),
            L.flipped(rounded + one, 1, L.by_bit(rounded, 0, c, s), sign),
        )

    return reduced_sincos

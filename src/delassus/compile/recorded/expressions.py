"""Expressions: objects that stand for numbers while a function is recorded; their derivatives.

Equal operations on equal operands are one object, so that nothing is computed twice. Constants are
folded and moved outwards, powers of one base are merged, and like terms are added.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from numbers import Real

import numpy as np

from ...errors import DataTypeError, ModelError
from ..language.functions import function
from ..language.operations import absolute, atan2, exp, log, select, sincos, sqrt

# Kinds of expressions. Those from ADD on are also instructions of programs.
SYMBOL, CONSTANT, SINE, COSINE = -4, -3, -2, -1
ADD, SUBTRACT, MULTIPLY, DIVIDE = 0, 1, 2, 3
SHIFT, SCALE, INVERT, POWER = 4, 5, 6, 7  # x + c, c x, c / x, x^k
SQUARE_ROOT, ABSOLUTE, SIGN, TANGENT, ANGLE, EXPONENTIAL, LOGARITHM = 8, 9, 10, 11, 12, 13, 14


class Graph:
    """All expressions of one recording. Equal expressions are one object."""

    def __init__(self):
        self._known: dict[tuple, Expression] = {}

    def symbols(self, count: int) -> list[Expression]:
        """New symbols, which stand for the arguments of the function."""
        return [self.make(SYMBOL, number=len(self._known)) for _ in range(count)]

    def constant(self, number: float) -> Expression:
        """The expression of a number, which must be finite."""
        if not math.isfinite(number):
            raise ModelError(f"a recorded function holds a constant that is {number}")
        return self.make(CONSTANT, number=float(number))

    def expression(self, value) -> Expression | None:
        """An operand as an expression, None if it cannot be one."""
        if isinstance(value, Real):
            return self.constant(value)
        if not isinstance(value, Expression):
            return None
        if value.graph is not self:
            raise ModelError("a recorded function uses an argument of another recording")
        return value

    def make(self, kind: int, *operands: Expression, number: float = 0) -> Expression:
        """The expression of this kind and these operands; a new one if there is none yet."""
        key = (kind, number, *(e.index for e in operands))
        if key not in self._known:
            self._known[key] = Expression(self, len(self._known), kind, operands, number)
        return self._known[key]


def _binary(build: Callable) -> tuple[Callable, Callable]:
    """The two methods of a binary operator: with self as left operand, and as right operand."""

    def method(self, other):
        other = self.graph.expression(other)
        return NotImplemented if other is None else build(self, other)

    def reflected(self, other):
        other = self.graph.expression(other)
        return NotImplemented if other is None else build(other, self)

    return method, reflected


def _refuse_comparison(self, *other):
    raise DataTypeError(
        "a recorded function cannot compare its arguments or branch on them: it is called once, "
        "for all values"
    )


def _refuse_conversion(self):
    raise DataTypeError(
        "an argument of a recorded function is not a number yet: it needs np.sin in place of "
        "math.sin, and arrays of objects in place of arrays of floats; of NumPy it knows sin, cos, "
        "tan, arcsin, arccos, arctan, arctan2, hypot, sqrt, exp, log and abs"
    )


class Expression:
    """Stands for a number while a function is recorded."""

    __slots__ = ("graph", "index", "kind", "number", "operands")

    def __init__(self, graph, index, kind, operands, number):
        self.graph, self.index, self.kind = graph, index, kind
        self.operands, self.number = operands, number

    @property
    def is_constant(self) -> bool:
        """Whether it is a constant."""
        return self.kind == CONSTANT

    __add__, __radd__ = _binary(lambda x, y: _add(x, y))
    __sub__, __rsub__ = _binary(lambda x, y: _add(x, _scale(y, -1.0)))
    __mul__, __rmul__ = _binary(lambda x, y: _multiply(x, y))
    __truediv__, __rtruediv__ = _binary(lambda x, y: _divide(x, y))
    __pow__, __rpow__ = _binary(lambda x, y: _power(x, y))
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __bool__ = _refuse_comparison
    __float__ = __int__ = __complex__ = _refuse_conversion
    __hash__ = object.__hash__

    def __neg__(self):
        return _scale(self, -1.0)

    def __pos__(self):
        return self

    def __abs__(self):
        return _apply(ABSOLUTE, self)

    # A NumPy function of an array of objects calls the method of the same name of each object.

    def sin(self):
        """The sine."""
        return _apply(SINE, self)

    def cos(self):
        """The cosine."""
        return _apply(COSINE, self)

    def tan(self):
        """The tangent."""
        return _apply(TANGENT, self)

    def sqrt(self):
        """The square root."""
        return _apply(SQUARE_ROOT, self)

    def exp(self):
        """The exponential."""
        return _apply(EXPONENTIAL, self)

    def log(self):
        """The natural logarithm."""
        return _apply(LOGARITHM, self)

    def arctan2(self, x):
        """The angle of the point (x, self)."""
        return _angle(self, self.graph.expression(x))

    def arctan(self):
        """The angle whose tangent it is."""
        return self.arctan2(1.0)

    def arcsin(self):
        """The angle whose sine it is."""
        return self.arctan2((1.0 - self * self).sqrt())

    def arccos(self):
        """The angle whose cosine it is."""
        return (1.0 - self * self).sqrt().arctan2(self)

    def hypot(self, y):
        """The distance of the point (self, y) from the origin."""
        return (self * self + y * y).sqrt()

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        """A NumPy function, with numbers turned into expressions: they lack the methods above."""
        return getattr(ufunc, method)(*map(self._as_array, inputs), **options)

    def _as_array(self, value) -> np.ndarray:
        entries = np.array(value, object)
        for k, entry in np.ndenumerate(entries):
            entries[k] = self.graph.expression(entry)
        return entries


# --- simplification -------------------------------------------------------------------------------


def _term(x: Expression) -> tuple[float, Expression]:
    """c and t of x = c t"""
    return (x.number, x.operands[0]) if x.kind == SCALE else (1.0, x)


def _base(x: Expression) -> tuple[Expression, int]:
    """b and k of x = b^k"""
    return (x.operands[0], x.number) if x.kind == POWER else (x, 1)


def _add(x, y):
    """x + y; written as a difference if one term has a negative factor"""
    if x.is_constant or y.is_constant:
        return _shift(y, x.number) if x.is_constant else _shift(x, y.number)
    if x.kind == SHIFT or y.kind == SHIFT:
        (a, x), (b, y) = (
            (e.number, e.operands[0]) if e.kind == SHIFT else (0.0, e) for e in (x, y)
        )
        return _shift(_add(x, y), a + b)
    (a, s), (b, t) = _term(x), _term(y)
    if s is t:
        return _scale(s, a + b)
    if a < 0.0 and b < 0.0:
        return _scale(_add(_scale(s, -a), _scale(t, -b)), -1.0)
    if a < 0.0:
        return x.graph.make(SUBTRACT, y, _scale(s, -a))
    if b < 0.0:
        return x.graph.make(SUBTRACT, x, _scale(t, -b))
    return x.graph.make(ADD, *_by_age(x, y))


def _shift(x, c):
    """x + c"""
    if x.is_constant:
        return x.graph.constant(x.number + c)
    if x.kind == SHIFT:
        x, c = x.operands[0], x.number + c
    return x if c == 0.0 else _with_constant(SHIFT, x, c)


def _scale(x, c):
    """c x"""
    if x.is_constant or c == 0.0:
        return x.graph.constant(c * x.number if x.is_constant else 0.0)
    if x.kind == SCALE:
        x, c = x.operands[0], x.number * c
    if x.kind == SUBTRACT and c < 0.0:
        x, c = x.graph.make(SUBTRACT, *reversed(x.operands)), -c
    return x if c == 1.0 else _with_constant(SCALE, x, c)


def _with_constant(kind, x, c):
    return x.graph.make(kind, x, number=x.graph.constant(c).number)


def _multiply(x, y):
    """x y"""
    if x.is_constant or y.is_constant:
        return _scale(y, x.number) if x.is_constant else _scale(x, y.number)
    (a, x), (b, y) = _term(x), _term(y)
    return _scale(_product(x, y), a * b)


def _product(x, y):
    """x y for factors without constants; equal bases are merged into a power"""
    (s, j), (t, k) = _base(x), _base(y)
    if s is t:
        return _raise(s, j + k)
    for p, q in ((x, y), (y, x)):
        for f, g in (q.operands, q.operands[::-1]) if q.kind == MULTIPLY else ():
            if _base(p)[0] is _base(f)[0]:
                return _product(_product(p, f), g)
    return x.graph.make(MULTIPLY, *_by_age(x, y))


def _divide(x, y):
    """x / y"""
    if y.is_constant and y.number == 0.0:
        raise ModelError("a recorded function divides by zero")
    if y.is_constant:
        return _scale(x, 1.0 / y.number)
    b, y = _term(y)
    if x.is_constant:
        c = x.number / b
        return x if c == 0.0 else _with_constant(INVERT, y, c)
    a, x = _term(x)
    (s, j), (t, k) = _base(x), _base(y)
    quotient = _raise(s, j - k) if s is t else x.graph.make(DIVIDE, x, y)
    return _scale(quotient, a / b)


def _raise(x, k: int):
    """x^k for an integer"""
    if k < 0:
        return _divide(x.graph.constant(1.0), _raise(x, -k))
    if k == 0 or x.is_constant:
        return x.graph.constant(float(x.number) ** k if k else 1.0)
    x, j = _base(x)
    return x if j * k == 1 else x.graph.make(POWER, x, number=j * k)


def _power(x, y):
    """x^y, by products and a square root for integers and their halves"""
    if not y.is_constant:
        return (y * x.log()).exp()
    if y.number.is_integer():
        return _raise(x, int(y.number))
    if (2.0 * y.number).is_integer():
        return _raise(x.sqrt(), int(2.0 * y.number))
    return (y * x.log()).exp()


def _angle(y, x):
    """atan2(y, x)"""
    if x.is_constant and y.is_constant:
        return x.graph.constant(atan2(y.number, x.number))
    return x.graph.make(ANGLE, y, x)


def _apply(kind, x):
    """A function of one operand, by its kind"""
    return x.graph.constant(_FUNCTIONS[kind](x.number)) if x.is_constant else x.graph.make(kind, x)


def _by_age(x, y):
    """The older operand first, so that x + y and y + x are one object"""
    return (x, y) if x.index < y.index else (y, x)


@function
def sign(x):
    """-1, 0 or 1; NaN for NaN."""
    return select(x < 0.0, -1.0, select(x > 0.0, 1.0, x))


@function
def tangent(x):
    """sin x / cos x"""
    s, c = sincos(x)
    return s / c


_FUNCTIONS = {
    SINE: lambda x: sincos(x)[0],
    COSINE: lambda x: sincos(x)[1],
    SQUARE_ROOT: sqrt,
    ABSOLUTE: absolute,
    SIGN: sign,
    TANGENT: tangent,
    EXPONENTIAL: exp,
    LOGARITHM: log,
}


# --- derivatives ----------------------------------------------------------------------------------

# Rules of differentiation: arguments are the expression, its operands, then their derivatives.
_RULES = {
    ADD: lambda e, x, y, dx, dy: dx + dy,
    SUBTRACT: lambda e, x, y, dx, dy: dx - dy,
    MULTIPLY: lambda e, x, y, dx, dy: dx * y + x * dy,
    DIVIDE: lambda e, x, y, dx, dy: (dx - e * dy) / y,
    SHIFT: lambda e, x, dx: dx,
    SCALE: lambda e, x, dx: e.number * dx,
    INVERT: lambda e, x, dx: -(e / x) * dx,
    POWER: lambda e, x, dx: e.number * _raise(x, e.number - 1) * dx,
    SINE: lambda e, x, dx: x.cos() * dx,
    COSINE: lambda e, x, dx: -(x.sin() * dx),
    SQUARE_ROOT: lambda e, x, dx: 0.5 * dx / e,
    ABSOLUTE: lambda e, x, dx: _apply(SIGN, x) * dx,
    SIGN: lambda e, x, dx: 0.0 * dx,
    TANGENT: lambda e, x, dx: (1.0 + e * e) * dx,
    ANGLE: lambda e, y, x, dy, dx: (x * dy - y * dx) / (x * x + y * y),
    EXPONENTIAL: lambda e, x, dx: e * dx,
    LOGARITHM: lambda e, x, dx: dx / x,
}


def derivatives(
    expressions: Iterable[Expression], along: Mapping[Expression, Expression | float]
) -> list[Expression]:
    """sum_k de/dx_k d_k of each expression e, for symbols x_k and their directions d_k."""
    expressions = list(expressions)
    found: dict[Expression, Expression] = {}
    for e in in_order(expressions):
        if e in along:
            found[e] = e.graph.expression(along[e])
        elif e.operands:
            found[e] = _RULES[e.kind](e, *e.operands, *(found[x] for x in e.operands))
        else:
            found[e] = e.graph.constant(0.0)
    return [found[e] for e in expressions]


def in_order(expressions: Iterable[Expression], known=()) -> list[Expression]:
    """The expressions and all that they depend on, without `known`; each after its operands."""
    found, waiting = set(), list(expressions)
    while waiting:
        e = waiting.pop()
        if e not in found and e not in known:
            found.add(e)
            waiting.extend(e.operands)
    return sorted(found, key=lambda e: e.index)

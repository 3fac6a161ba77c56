"""Formulas: recorded functions as plain data, which a file can keep.

A formula is a list of steps. A step is the name of an operation, the numbers of its operands among
all values, and a constant if the operation has one. Values are first the entries of x, then the
results of steps. Rows are numbers of values too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .expressions import (
    ABSOLUTE,
    ADD,
    ANGLE,
    CONSTANT,
    COSINE,
    DIVIDE,
    EXPONENTIAL,
    INVERT,
    LOGARITHM,
    MULTIPLY,
    POWER,
    SCALE,
    SHIFT,
    SINE,
    SQUARE_ROOT,
    SUBTRACT,
    SYMBOL,
    TANGENT,
    in_order,
)
from .programs import record


class Operation(NamedTuple):
    """What a step does: with its operands, then its constant."""

    kind: int  # of expressions
    operands: int
    has_constant: bool
    apply: Callable


OPERATIONS = {
    "constant": Operation(CONSTANT, 0, True, lambda c: c),
    "add": Operation(ADD, 2, False, lambda x, y: x + y),
    "subtract": Operation(SUBTRACT, 2, False, lambda x, y: x - y),
    "multiply": Operation(MULTIPLY, 2, False, lambda x, y: x * y),
    "divide": Operation(DIVIDE, 2, False, lambda x, y: x / y),
    "shift": Operation(SHIFT, 1, True, lambda x, c: x + c),
    "scale": Operation(SCALE, 1, True, lambda x, c: c * x),
    "invert": Operation(INVERT, 1, True, lambda x, c: c / x),
    "power": Operation(POWER, 1, True, lambda x, c: x ** int(c)),
    "sqrt": Operation(SQUARE_ROOT, 1, False, np.sqrt),
    "abs": Operation(ABSOLUTE, 1, False, np.abs),
    "sin": Operation(SINE, 1, False, np.sin),
    "cos": Operation(COSINE, 1, False, np.cos),
    "tan": Operation(TANGENT, 1, False, np.tan),
    "arctan2": Operation(ANGLE, 2, False, np.arctan2),
    "exp": Operation(EXPONENTIAL, 1, False, np.exp),
    "log": Operation(LOGARITHM, 1, False, np.log),
}
_NAMES = {operation.kind: name for name, operation in OPERATIONS.items()}


@dataclass(frozen=True)
class Formula:
    """A function of x, made of steps: (name, operand, ..., constant)."""

    steps: tuple[tuple, ...]
    rows: tuple[int, ...]

    def __repr__(self) -> str:
        return f"Formula of {len(self.steps)} steps"

    def __call__(self, x):
        values = list(x)
        for name, *rest in self.steps:
            operation = OPERATIONS[name]
            operands = [values[k] for k in rest[: operation.operands]]
            values.append(operation.apply(*operands, *rest[operation.operands :]))
        return [values[k] for k in self.rows]


def formula_of(function: Callable, n: int) -> Formula:
    """The formula of a function of n numbers."""
    x, rows = record(function, n)
    number = {symbol: k for k, symbol in enumerate(x)}
    steps = []
    for e in in_order(rows):
        if e.kind != SYMBOL:
            name = _NAMES[e.kind]
            constant = (e.number,) if OPERATIONS[name].has_constant else ()
            steps.append((name, *(number[y] for y in e.operands), *constant))
            number[e] = len(number)
    return Formula(tuple(steps), tuple(number[row] for row in rows))

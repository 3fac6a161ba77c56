"""Recording a plain Python function: simplification, derivatives, errors."""

import math

import numpy as np
import pytest

from delassus.compile.recorded.expressions import CONSTANT, SCALE, derivatives, in_order
from delassus.compile.recorded.programs import record
from delassus.errors import DataTypeError, DelassusError, ModelError


def test_zeros_ones_and_like_terms_vanish():
    x, rows = record(
        lambda x: [
            x[0] * 1 + 0 * x[1],
            2 * x[0] - x[0],
            x[0] ** 3 / x[0] ** 2,
            np.negative(-x[0]) + np.sin(x[1] - x[1]),
            (x[0] + 1) - 1.0,
            x[0] ** 1,
        ],
        2,
    )
    assert all(row is x[0] for row in rows)


def test_equal_expressions_are_one():
    _, rows = record(
        lambda x: [x[0] * x[1], x[1] * x[0], (x[0] - x[1]) / 2, -0.5 * (x[1] - x[0])], 2
    )
    assert rows[0] is rows[1]
    assert rows[2] is rows[3]


def test_constants_fold():
    x, (row,) = record(lambda x: 2.0 * (3.0 * x[0]) + np.arctan2(x[0] ** 0, 1.0) * 4.0 - math.pi, 1)
    assert (row.kind, row.number, row.operands) == (SCALE, 6.0, (x[0],))
    (slope,) = derivatives([row], {x[0]: 1.0})
    assert (slope.kind, slope.number) == (CONSTANT, 6.0)


def test_powers_derive_to_powers():
    x, (row,) = record(lambda x: x[0] ** 5, 1)
    for factor, exponent in ((5.0, 4), (20.0, 3), (60.0, 2)):
        (row,) = derivatives([row], {x[0]: 1.0})
        assert row.number == factor
        assert row.operands[0].number == exponent


def test_long_functions_do_not_exhaust_the_stack():
    x, rows = record(lambda x: sum(np.sin(x[0]) / (k + x[0]) for k in range(1, 2000)), 1)
    (slope,) = derivatives(rows, {x[0]: 1.0})
    assert len(in_order([slope])) > 8000


def leaked(x, kept=[]):  # noqa: B006
    kept.append(x[0])
    return x[0] + kept[0]


def branching(x):
    return x[0] if x[0] else -x[0]


def unpacking(x):
    a, b = x
    return a * b


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (lambda x: math.sin(x[0]), DataTypeError, r"np\.sin in place of math\.sin"),
        (lambda x: float(x[0]), DataTypeError, "not a number yet"),
        (lambda x: np.array(x, float), DelassusError, "not a number yet"),
        (lambda x: x[0] if x[0] > 0 else -x[0], DataTypeError, "compare"),
        (lambda x: x[0] if x[0] == 0 else -x[0], DataTypeError, "compare"),
        (branching, DataTypeError, "branch"),
        (lambda x: np.maximum(x[0], 0.0), DelassusError, "compare"),
        (lambda x: np.floor(x[0]), DataTypeError, "of NumPy it knows sin"),
        (lambda x: np.sinh(x[0]), ModelError, "sinh"),
        (lambda x: np.sinh(x), ModelError, "sinh"),
        (lambda x: x[7], ModelError, "<lambda> cannot be recorded for 3 numbers: IndexError"),
        (unpacking, ModelError, "unpacking cannot be recorded for 3 numbers: ValueError"),
        (lambda x: x[0] + "1", ModelError, "TypeError"),
        (lambda x: x[0] + 1j, ModelError, "TypeError"),
        (lambda x: None, ModelError, "row 0 of <lambda> is no expression but None"),
        (lambda x: [x[0], "a"], ModelError, "row 1 of <lambda> is no expression"),
        (lambda x: [], ModelError, "no rows"),
        (lambda x: [x[0], 1.0], ModelError, "row 1 of <lambda> does not depend"),
        (lambda x: x[0] - x[0], ModelError, "row 0 of <lambda> does not depend"),
        (lambda x: x[0] * math.nan, ModelError, "constant that is nan"),
        (lambda x: x[0] + math.inf, ModelError, "constant that is inf"),
        (lambda x: [x[0], math.nan], ModelError, "constant that is nan"),
        (lambda x: x[0] / 0, ModelError, "divides by zero"),
        (lambda x: x[0] * np.log(x[0] ** 0 - 2.0), ModelError, "constant that is nan"),
    ],
)
def test_what_cannot_be_recorded(function, error, message):
    with pytest.raises(error, match=message):
        record(function, 3)


def test_arguments_of_another_recording_are_refused():
    record(leaked, 1)
    with pytest.raises(ModelError, match="another recording"):
        record(leaked, 1)

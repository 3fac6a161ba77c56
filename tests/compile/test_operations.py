"""Scalar operations: the same on floats, lanes and symbols."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from delassus.compile import FLOAT32, FLOAT64
from delassus.compile.language import operations
from delassus.compile.language.operations import atan2, maximum, minimum, select, sincos, sqrt
from delassus.compile.native import cpu


@pytest.fixture(scope="module")
def on_lanes():
    """Evaluate sine and cosine, and a few selections, in lanes of either precision."""
    numba = pytest.importorskip("numba")
    from delassus.compile.native.operations import install
    from delassus.compile.native.options import EXACT
    from delassus.compile.native.types import memory

    install()

    def make(dtype):
        width = cpu.lanes(dtype.itemsize)

        @numba.njit(**EXACT)
        def run(addresses, count):
            for i in range(0, count, width):
                x = memory.state_view(addresses[0], i, 1, dtype)
                y = memory.state_view(addresses[1], i, 1, dtype)
                out = memory.state_view(addresses[2], i, 1, dtype)
                s, c = sincos(x[0])
                out[0] = s
                out[count] = c
                out[2 * count] = select(x[0] < y[0], x[0], y[0])
                out[3 * count] = atan2(y[0], x[0])
                out[4 * count] = minimum(x[0], y[0]) + maximum(x[0], y[0])
                out[5 * count] = sqrt(x[0] * x[0])

        def evaluate(x, y):
            x, y = np.asarray(x, dtype), np.asarray(y, dtype)
            assert x.size % width == 0
            out = np.empty((6, x.size), dtype)
            run(np.array([a.ctypes.data for a in (x, y, out)]), x.size)
            return out

        return evaluate

    return {dtype: make(dtype) for dtype in (FLOAT64, FLOAT32)}


@pytest.mark.parametrize("scale", [1.0, 10.0, 1e3, 1e5, 7.9e5, 1e7, 1e15])
def test_sine_and_cosine_are_right_to_the_last_digits(on_lanes, scale):
    x = np.random.default_rng(0).uniform(-scale, scale, 4096)
    s, c, *_ = on_lanes[FLOAT64](x, x)
    assert np.abs(s - np.sin(x)).max() < 4e-16
    assert np.abs(c - np.cos(x)).max() < 4e-16


def test_sine_and_cosine_in_single_precision(on_lanes):
    x = np.random.default_rng(0).uniform(-100, 100, 4096).astype(np.float32)
    s, c, *_ = on_lanes[FLOAT32](x, x)
    assert np.abs(s - np.sin(x.astype(float))).max() < 2e-7
    assert np.abs(c - np.cos(x.astype(float))).max() < 2e-7


def test_quadrant_boundaries_and_special_values(on_lanes):
    x = np.array([0.0, -0.0, np.pi / 4, np.pi / 2, np.pi, -np.pi / 2, 3 * np.pi / 2, 2 * np.pi])
    s, c, *_ = on_lanes[FLOAT64](x, x)
    assert np.abs(s - np.sin(x)).max() < 2e-16
    assert np.abs(c - np.cos(x)).max() < 2e-16


def test_a_lane_that_is_not_a_number_stays_alone(on_lanes):
    x = np.linspace(-1, 1, 64)
    x[[3, 17]] = np.nan
    x[40] = np.inf
    s, c, *_ = on_lanes[FLOAT64](x, x)
    bad = np.zeros(64, bool)
    bad[[3, 17, 40]] = True
    assert np.isnan(s[bad]).all()
    assert np.isnan(c[bad]).all()
    assert np.abs(s[~bad] - np.sin(x[~bad])).max() < 2e-16


def test_selection_and_angles_in_lanes(on_lanes):
    x, y = np.random.default_rng(0).standard_normal((2, 64))
    _, _, smaller, angle, total, magnitude = on_lanes[FLOAT64](x, y)
    assert np.array_equal(smaller, np.minimum(x, y))
    assert np.abs(angle - np.arctan2(y, x)).max() < 1e-15
    assert np.array_equal(total, x + y)
    assert np.abs(magnitude - np.abs(x)).max() < 1e-15


@settings(max_examples=50)
@given(st.floats(-1e6, 1e6))
def test_plain_python_forms_agree_with_the_mathematics(x):
    assert sincos(x) == (math.sin(x), math.cos(x))
    assert sqrt(abs(x)) == math.sqrt(abs(x))
    assert operations.absolute(x) == abs(x)
    assert select(x < 0, 1, 2) == (1 if x < 0 else 2)


def test_plain_python_forms_do_not_raise_on_bad_numbers():
    assert math.isnan(sqrt(-1.0))
    assert all(math.isnan(y) for y in sincos(math.inf))
    assert all(math.isnan(y) for y in sincos(math.nan))


def test_symbols():
    casadi = pytest.importorskip("casadi")
    x = casadi.SX.sym("x")
    f = casadi.Function("f", [x], [*sincos(x), sqrt(x), select(x < 1, x, 0), atan2(x, x)])
    values = [float(y) for y in f(0.5)]
    assert np.allclose(values, [math.sin(0.5), math.cos(0.5), math.sqrt(0.5), 0.5, math.pi / 4])

"""Recorded functions: values, derivatives and all ways to run them inside a kernel."""

import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from delassus.compile import FLOAT64, Tabulated, kernel, layout
from delassus.compile.recorded.programs import (
    SINE_COSINE,
    ImplicitProgram,
    Program,
    concatenate,
    implicit_registers,
    record,
    run_program,
)
from delassus.errors import ModelError

LENGTHS = np.array([0.3, 0.5, 0.4])
MATRIX = np.arange(9.0).reshape(3, 3) - 3.0
MARGIN = 3  # registers need not be the first of work memory


def four_bar(q):
    angles = np.cumsum(q)
    return [LENGTHS @ np.cos(angles) - 0.6, LENGTHS @ np.sin(angles)]


def polynomial(q):
    x, y = q
    return 2 * x**3 * y - y**5 / 7 + (x - y) ** 2 - 1


def distances(q):
    x, y, z = q
    return np.sqrt(x**2 + y**2 + z**2) - 1.0, np.linalg.norm(q[:2] - [2.0, 0.5])


def angles(q):
    x, y = q
    return np.array([np.arctan2(y, x + 3.0) + y, np.arctan2(1.5, x), np.hypot(3.0, y)])


def quotients(q):
    x, y = q
    return [x / (2.0 + y**2), 3.0 / (y + 4.0) - x, (x + 1) / 3 + (x**2 + 5) ** -2]


def tangents(q):
    return np.tan(q[0]) - 0.9 * np.tan(q[1] + 0.1)


def exponentials(q):
    return np.exp(-(q[0] ** 2)) + np.log(q[1] ** 2 + 1.0), 2.0 ** q[0] + (q[1] ** 2 + 1.0) ** 0.3


def arcs(q):
    return np.arcsin(0.3 * np.sin(q[0])) + np.arccos(0.4 * q[1]) - np.arctan(q[0] * q[1])


def magnitudes(q):
    return abs(q[0] - 5.0) * q[1] + np.abs(q[1] + 5.0), (4 + q[0]) ** 1.5 + np.sqrt(4 + q[1]) ** -3


def vectors(q):
    q = np.array(q)
    return MATRIX @ np.sin(q) + q**2 * LENGTHS, np.cross(q, LENGTHS) @ np.cos(q)


def linear(q):
    return [q[0] - 50.0 * q[1], -q[1] + 0.5]


def many_rows(q):
    return [np.sin(q[i] - q[j]) * q[i] + np.cos(q[j]) for i in range(6) for j in range(6) if i != j]


SIZES = {
    2: [polynomial, angles, quotients, tangents, exponentials, arcs, magnitudes, linear],
    3: [four_bar, distances, vectors],
    6: [many_rows],
}
FUNCTIONS = {f: n for n, functions in SIZES.items() for f in functions}
OUTPUTS = ("value", "jacobian", "bias", "acceleration_by_x", "bias_by_v", "force_by_x")
each_function = pytest.mark.parametrize(
    ("function", "n"), FUNCTIONS.items(), ids=lambda x: getattr(x, "__name__", "")
)


def rows_of(function, x):
    """The rows of a function of numbers."""
    result = function(np.asarray(x, float))
    parts = result if isinstance(result, (tuple, list)) else [result]
    return np.concatenate([np.ravel(p) for p in parts])


def run(program, count, inputs, dtype=float):
    """All registers after the first instructions of a program, in plain Python."""
    registers = np.full(program.slots.size, np.nan, dtype)
    registers[: len(inputs)] = inputs
    with np.errstate(all="ignore"):
        code, constants, _ = concatenate([program])
        run_program(code, 0, count, constants, registers)
    return registers


def implicit(program, inputs):
    """The outputs of an implicit program, by name and as matrices."""
    n, m = program.n, program.m
    registers = run(program, len(program.instructions), inputs)
    shapes = [(m,), (m, n), (m,), (m, n), (m, n), (n, n)]
    return {
        name: registers[getattr(program.slots, name) :][: math.prod(shape)].reshape(shape)
        for name, shape in zip(OUTPUTS, shapes, strict=True)
    }


def central(f, x, step=1e-5):
    """df/dx by differences"""
    columns = [(f(x + d) - f(x - d)) / (2 * step) for d in step * np.eye(len(x))]
    return np.stack(columns, -1)


def random_inputs(program, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-0.9, 0.9, size) for size in (program.n,) * 3 + (program.m,)]


# --- numbers --------------------------------------------------------------------------------------


@each_function
def test_values_are_those_of_numpy_and_derivatives_those_of_differences(function, n):
    program = ImplicitProgram(function, n)
    x, v, a, w = random_inputs(program)
    found = implicit(program, np.concatenate([x, v, a, w]))
    assert np.allclose(found["value"], rows_of(function, x), rtol=1e-14, atol=1e-14)

    def jacobian(y):
        return central(lambda z: rows_of(function, z), y, 1e-4)

    def bias(y, u):
        return central(lambda t: jacobian(y + t[0] * u) @ u, np.zeros(1), 1e-4)[:, 0]

    assert np.allclose(found["jacobian"], jacobian(x), atol=1e-6)
    assert np.allclose(found["bias"], bias(x, v), atol=1e-5)
    assert np.allclose(found["force_by_x"], central(lambda y: w @ jacobian(y), x, 1e-4), atol=1e-5)


@each_function
def test_derivatives_are_those_of_casadi(function, n):
    program = ImplicitProgram(function, n)
    inputs = random_inputs(program)
    found = implicit(program, np.concatenate(inputs))
    for name, expected in casadi_derivatives(program, inputs).items():
        assert np.allclose(found[name], expected, rtol=1e-11, atol=1e-11), name


def casadi_derivatives(program, inputs):
    """What CasADi makes of the program's value."""
    ca = pytest.importorskip("casadi")
    x, v, a, w = (ca.SX.sym(name, len(y)) for name, y in zip("xvaw", inputs, strict=True))
    traced = run(program, program.ends["value"], ca.vertsplit(x), object)
    phi = ca.vertcat(*traced[program.slots.value :][: program.m])
    J = ca.jacobian(phi, x)
    bias = ca.jtimes(J @ v, x, v)
    expressions = {
        "jacobian": J,
        "bias": bias,
        "acceleration_by_x": ca.jacobian(J @ a + bias, x),
        "bias_by_v": ca.jacobian(bias, v),
        "force_by_x": ca.jacobian(J.T @ w, x),
    }
    values = ca.Function("f", [x, v, a, w], list(expressions.values()))(*inputs)
    arrays = dict(zip(expressions, map(np.array, values), strict=True))
    return {**arrays, "bias": arrays["bias"].ravel()}


UNARY = [
    np.sin,
    np.cos,
    lambda x: np.tan(np.sin(x)),
    lambda x: np.sqrt(x * x + 0.5),
    lambda x: np.exp(-(x**2)),
    lambda x: np.log(1.0 + x**2),
    lambda x: abs(x + 0.7),
    lambda x: -x,
    lambda x: x**3 - 1,
    lambda x: 1 / (x**2 + 1),
]
BINARY = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / (1.5 + y * y),
    lambda x, y: np.arctan2(x, y**2 + 0.5),
    lambda x, y: 2 * x - 0.5 * y,
]
LEAVES = st.one_of(
    st.integers(0, 2).map(lambda i: lambda q: q[i]),
    st.floats(-2, 2).map(lambda c: lambda q: c + 0.0 * q[0]),
)
RECIPES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(st.sampled_from(UNARY), inner).map(lambda p: lambda q: p[0](p[1](q))),
        st.tuples(st.sampled_from(BINARY), inner, inner).map(
            lambda p: lambda q: p[0](p[1](q), p[2](q))
        ),
    ),
    max_leaves=8,
)


@given(st.lists(RECIPES, min_size=1, max_size=3), st.integers(0, 2**31))
def test_random_functions(recipes, seed):
    def f(q):
        return [recipe(q) for recipe in recipes]

    try:
        program = ImplicitProgram(f, 3)
    except ModelError as error:
        assume("depend" not in str(error))
        raise
    inputs = random_inputs(program, seed)
    found = implicit(program, np.concatenate(inputs))
    expected = {"value": rows_of(f, inputs[0]), **casadi_derivatives(program, inputs)}
    for name, y in expected.items():
        assert np.allclose(found[name], y, rtol=1e-9, atol=1e-9 * (1.0 + np.abs(y).max())), name


def test_a_sine_and_its_cosine_are_one_instruction():
    opcodes = ImplicitProgram(four_bar, 3).instructions[:, 0]
    assert np.count_nonzero(opcodes == SINE_COSINE) == 3


def test_registers_are_used_again():
    x, rows = record(lambda x: sum(np.sin(k * x[0]) for k in range(1, 200)), 1)
    program = Program({"x": x}, {"y": rows})
    assert len(program.instructions) > 500
    assert program.slots.size < 10


@each_function
def test_outputs_are_made_in_order_and_stand_where_kernels_look_for_them(function, n):
    program = ImplicitProgram(function, n)
    for name, register in implicit_registers(n, program.m)._asdict().items():
        assert register == getattr(program.slots, name)
    assert list(program.ends) == list(OUTPUTS)
    x = random_inputs(program)[0]
    registers = run(program, program.ends["jacobian"], x)  # what it does not need is NaN
    at = program.slots
    assert np.isfinite(registers[at.value : at.bias]).all()


def test_programs_of_the_users_own_inputs_and_outputs():
    x, (row,) = record(lambda x: x[0] * x[1], 2)
    (v,) = x[0].graph.symbols(1)
    program = Program({"x": x, "v": [v]}, {"same": x, "twice": [row, row], "rate": [v * row + 3.0]})
    registers = run(program, len(program.instructions), [2.0, 5.0, 7.0])
    assert registers[: program.slots.temporaries].tolist() == [2, 5, 7, 2, 5, 10, 10, 73]


# --- targets --------------------------------------------------------------------------------------


class ProgramArrays(NamedTuple):
    """What the test's kernel reads: programs, and of each start, count, numbers in and out."""

    code: np.ndarray
    constants: np.ndarray
    table: np.ndarray

    dimensions = ("n_inputs", "n_outputs")

    @classmethod
    def array_types(cls, real):
        return np.dtype(np.int64), real, np.dtype(np.int64)

    @classmethod
    def pack(cls, programs, dtype):
        code, constants, starts = concatenate(programs.programs)
        counts = [len(p.instructions) for p in programs.programs]
        table = np.column_stack([starts, counts, programs.inputs, programs.outputs])
        return cls(code, constants.astype(dtype), table.ravel())


class Programs(Tabulated):
    def __init__(self, programs):
        super().__init__()
        self.programs = programs
        self.inputs = [3 * p.n + p.m for p in programs]
        self.outputs = [p.slots.temporaries - n for p, n in zip(programs, self.inputs, strict=True)]
        self.dimensions = {
            "n_inputs": sum(self.inputs),
            "n_outputs": sum(self.outputs),
            "n_registers": max(p.slots.size for p in programs),
        }


@kernel(
    ProgramArrays,
    inputs={"inputs": "n_inputs"},
    outputs={"outputs": "n_outputs"},
    work=layout(margin=MARGIN, registers="n_registers"),
)
def run_all_programs(model, inputs, outputs, work):
    registers = work.registers
    n, m = 0, 0
    for k in range(0, len(model.table), 4):
        for i in range(model.table[k + 2]):
            registers[i] = inputs[n + i]
        n += model.table[k + 2]
        run_program(model.code, model.table[k], model.table[k + 1], model.constants, registers)
        for i in range(model.table[k + 3]):
            outputs[m + i] = registers[model.table[k + 2] + i]
        m += model.table[k + 3]


@pytest.fixture(scope="module")
def programs():
    return Programs([ImplicitProgram(f, n) for f, n in FUNCTIONS.items()])


@pytest.fixture(scope="module")
def states(programs):
    return np.random.default_rng(0).uniform(-0.9, 0.9, (11, programs.dimensions["n_inputs"]))


def plain(programs, state):
    """The outputs in plain Python."""
    work = run_all_programs.work_memory(programs, FLOAT64, np.nan)
    outputs = np.empty(programs.dimensions["n_outputs"])
    run_all_programs.function(programs.arrays(ProgramArrays, FLOAT64), state, outputs, work)
    return outputs


@pytest.mark.uncompiled
def test_one_state_and_batches_agree_with_plain_python(programs, states):
    expected = np.stack([plain(programs, s) for s in states])
    assert np.isfinite(expected).all()
    assert np.allclose(run_all_programs(programs, (states,)), expected, rtol=1e-12, atol=1e-12)
    for state, row in zip(states[:2], expected, strict=False):
        assert np.allclose(run_all_programs(programs, (state,)), row, rtol=1e-12, atol=1e-12)


@pytest.mark.uncompiled
def test_single_precision(programs, states):
    found = run_all_programs(programs, (states.astype(np.float32),))
    expected = run_all_programs(programs, (states.astype(np.float32).astype(float),))
    assert found.dtype == np.float32
    assert np.allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_symbols(programs, states):
    ca = pytest.importorskip("casadi")
    x = ca.SX.sym("x", programs.dimensions["n_inputs"])
    traced = ca.Function("f", [x], [run_all_programs(programs, (x,))])
    found = np.array(traced(states[0])).ravel()
    assert np.allclose(found, plain(programs, states[0]), rtol=1e-12, atol=1e-12)


@pytest.mark.uncompiled
def test_what_is_not_a_number_stays_so_and_alone(states):
    one = Programs([ImplicitProgram(lambda x: abs(x[0]) + np.sin(x[0]) * x[0] ** 3, 1)])
    inputs = np.ones((5, one.dimensions["n_inputs"]))
    inputs[2, 0] = np.nan
    found = run_all_programs(one, (inputs,))
    assert np.isnan(found[2, [0, 1, 2]]).all()
    assert np.isfinite(np.delete(found, 2, axis=0)).all()


@pytest.mark.uncompiled
@pytest.mark.parametrize("x", [0.0, -1.0, 1e3, -1e3, np.inf])
def test_beyond_the_domain_it_is_what_numpy_says(x):
    def f(q):
        return [
            np.log(q[0]),
            np.exp(q[0]),
            np.sqrt(q[0]),
            1.0 / q[0],
            q[0] / abs(q[0]),
            q[0] ** 1.7,
        ]

    model = Programs([ImplicitProgram(f, 1)])
    inputs = np.zeros((4, model.dimensions["n_inputs"]))
    inputs[:, 0] = x
    with np.errstate(all="ignore"):
        expected = rows_of(f, [x])
        for found in (*run_all_programs(model, (inputs,)), run_all_programs(model, (inputs[0],))):
            assert np.allclose(found[:6], expected, rtol=1e-13, equal_nan=True)

"""Programs: expressions as arrays of instructions, which a small interpreter runs in kernels.

So compiled kernels can evaluate a user's function without being compiled again. A program works on
registers, which are rows of work memory: first its inputs, then its outputs, then temporaries. An
instruction is four integers: the operation, the register of the result, and two operands. Operands
are registers; the second may also be the index of a constant, or an exponent.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Real
from typing import NamedTuple

import numpy as np

from ...errors import DelassusError, ModelError
from ..language.functions import function
from ..language.operations import absolute, atan2, exp, log, sincos, sqrt
from ..language.slots import slots
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
    SIGN,
    SINE,
    SQUARE_ROOT,
    SUBTRACT,
    SYMBOL,
    TANGENT,
    Expression,
    Graph,
    derivatives,
    in_order,
    sign,
    tangent,
)

# Instructions that are no kinds of expressions: put sine and cosine into two registers, put a
# constant into a register, copy a register.
SINE_COSINE, LOAD, MOVE = 15, 16, 17
WORDS = 4  # integers of an instruction
# Instructions whose second operand is the index of a constant.
_WITH_CONSTANT = (SHIFT, SCALE, INVERT, LOAD)


@function
def run_program(code, start, count, constants, registers):
    """Run `count` instructions, from number `start` on, on the registers."""
    for i in range(WORDS * start, WORDS * (start + count), WORDS):
        opcode, to, right = code[i], code[i + 1], code[i + 3]
        x = registers[code[i + 2]]
        if opcode == ADD:
            registers[to] = x + registers[right]
        elif opcode == SUBTRACT:
            registers[to] = x - registers[right]
        elif opcode == MULTIPLY:
            registers[to] = x * registers[right]
        elif opcode == DIVIDE:
            registers[to] = x / registers[right]
        elif opcode == SHIFT:
            registers[to] = x + constants[right]
        elif opcode == SCALE:
            registers[to] = x * constants[right]
        elif opcode == INVERT:
            registers[to] = constants[right] / x
        elif opcode == POWER:
            registers[to] = integer_power(x, right)
        elif opcode == SQUARE_ROOT:
            registers[to] = sqrt(x)
        elif opcode == ABSOLUTE:
            registers[to] = absolute(x)
        elif opcode == SIGN:
            registers[to] = sign(x)
        elif opcode == TANGENT:
            registers[to] = tangent(x)
        elif opcode == ANGLE:
            registers[to] = atan2(x, registers[right])
        elif opcode == EXPONENTIAL:
            registers[to] = exp(x)
        elif opcode == LOGARITHM:
            registers[to] = log(x)
        elif opcode == SINE_COSINE:
            registers[to], registers[right] = sincos(x)
        elif opcode == LOAD:
            registers[to] = constants[right]
        else:
            registers[to] = x


@function
def integer_power(x, k):
    """x^k for k > 0, by squares"""
    power = x
    k -= 1
    while k > 0:
        if k & 1:
            power = power * x
        x = x * x
        k >>= 1
    return power


class Program:
    """Instructions that compute outputs from inputs, which are lists of expressions by name.

    `slots` has the first register of each input and output, and as `size` the number of registers.
    Outputs are computed in their order: the first `ends[name]` instructions compute all outputs up
    to `name`, and read only the inputs that these depend on.
    """

    def __init__(
        self, inputs: Mapping[str, list[Expression]], outputs: Mapping[str, list[Expression]]
    ):
        named = {**inputs, **outputs}
        writer = _Writer([e for part in inputs.values() for e in part], outputs.values())
        self.ends = {}
        for name, expressions in outputs.items():
            writer.write(expressions)
            self.ends[name] = len(writer.instructions)
        sizes = {name: len(expressions) for name, expressions in named.items()}
        self.slots = slots(**sizes, temporaries=writer.size - sum(sizes.values()))
        self.instructions = np.array(writer.instructions, np.int64).reshape(-1, WORDS)
        self.constants = np.array(list(writer.constants), float)


class _Writer:
    """Assigns registers to expressions, and writes the instructions that compute them."""

    def __init__(self, inputs: list[Expression], outputs: Iterable[list[Expression]]):
        self.instructions: list[tuple[int, int, int, int]] = []
        self.constants: dict[float, int] = {}
        self.registers = {e: k for k, e in enumerate(inputs)}
        wanted = [e for part in outputs for e in part]
        self.output = len(inputs)  # the register of the next output
        self.homes = {e: self.output + k for k, e in reversed(list(enumerate(wanted)))}
        self.size = self.output + len(wanted)
        self.kept = {*self.registers, *self.homes}
        self.uses = Counter(x for e in in_order(wanted) for x in e.operands)
        self.free: list[int] = []
        self.done: set[Expression] = set()

    def write(self, outputs: list[Expression]) -> None:
        """Write the instructions that compute the next outputs."""
        for e in outputs:
            for needed in in_order([e], self.done):
                self._compute(needed)
            if self.registers[e] != self.output:
                self._emit(MOVE, self.output, self.registers[e])
            self.output += 1

    def _compute(self, e: Expression) -> None:
        self.done.add(e)
        operands = [self.registers[x] for x in e.operands]
        for x in e.operands:
            self.uses[x] -= 1
            self._release(x)
        if e in self.registers:
            return
        to = self._place(e)
        if e.kind in (SINE, COSINE):
            sine, cosine = (e.graph.make(kind, *e.operands) for kind in (SINE, COSINE))
            self._place(cosine if e is sine else sine)
            self._emit(SINE_COSINE, self.registers[sine], *operands, self.registers[cosine])
            for part in (sine, cosine):
                self._release(part)
        elif e.kind == POWER and e.number == 2:
            self._emit(MULTIPLY, to, *operands, *operands)
        elif e.kind == POWER:
            self._emit(POWER, to, *operands, e.number)
        elif e.kind in (SHIFT, SCALE, INVERT):
            self._emit(e.kind, to, *operands, self._constant(e.number))
        elif e.kind == CONSTANT:
            self._emit(LOAD, to, 0, self._constant(e.number))
        else:
            self._emit(e.kind, to, *operands)

    def _emit(self, opcode: int, to: int, left: int, right: int = 0) -> None:
        self.instructions.append((opcode, to, left, right))

    def _constant(self, number: float) -> int:
        return self.constants.setdefault(number, len(self.constants))

    def _place(self, e: Expression) -> int:
        if e in self.homes:
            self.registers[e] = self.homes[e]
        elif self.free:
            self.registers[e] = heapq.heappop(self.free)
        else:
            self.registers[e] = self.size
            self.size += 1
        return self.registers[e]

    def _release(self, e: Expression) -> None:
        """Free the register of an expression if no later instruction reads it."""
        if self.uses[e] == 0 and e not in self.kept:
            heapq.heappush(self.free, self.registers.pop(e))


def concatenate(programs: Sequence[Program]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Code and constants of all programs, one after the other, and where each program starts."""
    blocks, starts, shift = [np.zeros((0, WORDS), np.int64)], [], 0
    for program in programs:
        block = program.instructions.copy()
        block[np.isin(block[:, 0], _WITH_CONSTANT), -1] += shift
        starts.append(sum(map(len, blocks)))
        blocks.append(block)
        shift += len(program.constants)
    constants = np.concatenate([np.zeros(0), *(p.constants for p in programs)])
    return np.concatenate(blocks).ravel(), constants, np.array(starts, np.int64)


# --- recording ------------------------------------------------------------------------------------


def record(function: Callable, n: int) -> tuple[list[Expression], list[Expression]]:
    """x and f(x): n symbols, and the expressions that the function returns, one for each row.

    The function is called once with an array of the symbols. It may use Python's operators and
    NumPy's sin, cos, tan, arcsin, arccos, arctan, arctan2, hypot, sqrt, exp, log and abs. It
    returns one expression, or a sequence or an array of them.
    """
    graph, name = Graph(), getattr(function, "__name__", repr(function))
    x = graph.symbols(n)
    try:
        result = function(np.array(x, object))
    except DelassusError:
        raise
    except Exception as error:
        raise ModelError(
            f"{name} cannot be recorded for {n} numbers: {type(error).__name__}: {error}"
        ) from error
    rows = list(flat(result))
    if not rows:
        raise ModelError(f"{name} gives no rows")
    for i, row in enumerate(rows):
        if not isinstance(row, Expression | Real):
            raise ModelError(f"row {i} of {name} is no expression but {row!r}")
        if not any(e.kind == SYMBOL for e in in_order([graph.expression(row)])):
            raise ModelError(f"row {i} of {name} does not depend on its argument")
    return x, rows


def arguments_of_rows(function: Callable, n: int) -> list[set[int]]:
    """The numbers of the arguments that each row of a function of n numbers depends on."""
    x, rows = record(function, n)
    number = {symbol: k for k, symbol in enumerate(x)}
    return [{number[e] for e in in_order([row]) if e in number} for row in rows]


def flat(result):
    """The entries of nested sequences and arrays, in order."""
    if isinstance(result, (list, tuple, np.ndarray)):
        for part in result.ravel() if isinstance(result, np.ndarray) else result:
            yield from flat(part)
    else:
        yield result


# --- constraints ----------------------------------------------------------------------------------


class ImplicitProgram(Program):
    """A function phi of n numbers x with m rows, and the derivatives that constraints phi = 0 need.

    Inputs are x, its rates v and a (n numbers each), and weights w of the rows (m numbers).
    Outputs, matrices by rows, are

    - value: phi
    - jacobian: J = dphi/dx
    - bias: v^T (d^2 phi_i / dx^2) v
    - acceleration_by_x: d(J a + bias)/dx
    - bias_by_v: dbias/dv
    - force_by_x: d(J^T w)/dx
    """

    def __init__(self, function: Callable, n: int):
        x, rows = record(function, n)
        self.n, self.m = n, len(rows)
        graph = x[0].graph
        v, a, w = (graph.symbols(count) for count in (n, n, self.m))
        along_v = dict(zip(x, v, strict=True))
        bias = derivatives(derivatives(rows, along_v), along_v)
        pulled = derivatives(rows, dict(zip(x, a, strict=True)))
        acceleration = [p + b for p, b in zip(pulled, bias, strict=True)]
        work = sum(weight * row for weight, row in zip(w, rows, strict=True))
        super().__init__(
            {"x": x, "v": v, "a": a, "w": w},
            {
                "value": rows,
                "jacobian": _jacobian(rows, x),
                "bias": bias,
                "acceleration_by_x": _jacobian(acceleration, x),
                "bias_by_v": _jacobian(bias, v),
                "force_by_x": _jacobian(_jacobian([work], x), x),
            },
        )


def _jacobian(expressions: list[Expression], x: list[Expression]) -> list[Expression]:
    """de_i/dx_j by rows"""
    columns = [derivatives(expressions, {symbol: 1.0}) for symbol in x]
    return [e for row in zip(*columns, strict=True) for e in row]


class ImplicitRegisters(NamedTuple):
    """The first register of each input and output of an `ImplicitProgram`."""

    x: int
    v: int
    a: int
    w: int
    value: int
    jacobian: int
    bias: int
    acceleration_by_x: int
    bias_by_v: int
    force_by_x: int


@function
def implicit_registers(n, m):
    """First registers of inputs and outputs, for a function of n numbers with m rows."""
    value = 3 * n + m
    jacobian = value + m
    bias = jacobian + m * n
    acceleration_by_x = bias + m
    bias_by_v = acceleration_by_x + m * n
    force_by_x = bias_by_v + m * n
    return ImplicitRegisters(
        0, n, 2 * n, 3 * n, value, jacobian, bias, acceleration_by_x, bias_by_v, force_by_x
    )

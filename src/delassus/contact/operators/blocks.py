"""Blocks of 6x6 numbers, and the Cholesky factorisation A = U^T U over bodies that is made of them.

A block is where it starts in flat memory and how far its rows are apart (its pitch), so that blocks
of inside bodies and those of the dense front are worked on by the same functions. See `order` for
where blocks stand. The factor takes the place of A; its diagonal has 1 / u_kk.

| symbol | here | what |
| --- | --- | --- |
| A_kk = U_kk^T U_kk | `factor_block` | Cholesky factor of a diagonal block |
| U_ki = U_kk^-T A_ki | `solve_block` | a block of a column |
| A_ij - U_ki^T U_kj | `add_product` | update of the blocks that are left |
| A_f | `front_block`, work of the front | what is left of A for the bodies of the front |
| U^T y = b, U x = y | `forward_*`, `backward_*` | substitution |
| | `solve_small`, `solve_pivoted` | elimination with row pivots, for Newton's method |

Loops run along rows of six numbers, which do not wait for each other: the compiler does not change
the order of additions, so a sum over a row would wait for each of its terms. Only `backward_*`
needs such sums, and keeps six of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...compile import absolute, function, routine, sqrt
from ...spatial.vectors import get6, put6
from .order import BLOCK_SIZE


class Block(NamedTuple):
    """A block: the memory that it is in, where it starts, and how far its rows are apart."""

    numbers: Any
    at: int
    pitch: int


class Entries(NamedTuple):
    """Single numbers of a matrix: steps from one row to the next, and from column to column."""

    numbers: Any
    at: int
    down: int
    across: int


# --- six numbers ----------------------------------------------------------------------------------


@function
def scale6(s, a):
    """s a"""
    return (s * a[0], s * a[1], s * a[2], s * a[3], s * a[4], s * a[5])


@function
def add_scaled6(a, s, b):
    """a + s b"""
    return (
        a[0] + s * b[0],
        a[1] + s * b[1],
        a[2] + s * b[2],
        a[3] + s * b[3],
        a[4] + s * b[4],
        a[5] + s * b[5],
    )


@function
def add_products6(s, a, b):
    """s + a b, each number with its own"""
    return (
        s[0] + a[0] * b[0],
        s[1] + a[1] * b[1],
        s[2] + a[2] * b[2],
        s[3] + a[3] * b[3],
        s[4] + a[4] * b[4],
        s[5] + a[5] * b[5],
    )


@function
def sum6(a):
    """The sum of six numbers, in pairs."""
    return (a[0] + a[1]) + (a[2] + a[3]) + (a[4] + a[5])


@function
def dot6(a, b):
    """a . b"""
    return (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + (a[4] * b[4] + a[5] * b[5])


@function
def get_row(block, i):
    """Row i of a block."""
    return get6(block.numbers, block.at + i * block.pitch)


@function
def put_row(block, i, x):
    """Write row i of a block."""
    put6(block.numbers, block.at + i * block.pitch, x)


# --- blocks ---------------------------------------------------------------------------------------


@function
def factor_block(A):
    """A = U^T U in the upper triangle of a diagonal block; its diagonal gets 1 / u_kk"""
    numbers, pitch = A.numbers, A.pitch
    for k in range(6):
        row = A.at + k * pitch
        inverse = sqrt(1.0 / numbers[row + k])
        numbers[row + k] = inverse
        for j in range(k + 1, 6):
            numbers[row + j] = numbers[row + j] * inverse
        for i in range(k + 1, 6):
            below, s = A.at + i * pitch, numbers[row + i]
            for j in range(i, 6):
                numbers[below + j] = numbers[below + j] - s * numbers[row + j]


@function
def solve_block(U, B):
    """B <- U^-T B, U from `factor_block`"""
    for k in range(6):
        x = get_row(B, k)
        for m in range(k):
            x = add_scaled6(x, -U.numbers[U.at + m * U.pitch + k], get_row(B, m))
        put_row(B, k, scale6(U.numbers[U.at + k * U.pitch + k], x))


@function
def add_product(C, sign, X, Y, height):
    """C + sign X^T Y, where X and Y have `height` rows"""
    add_rows(C, sign, Entries(X.numbers, X.at, 1, X.pitch), Y, height)


@function
def add_rows(C, sign, X, Y, height):
    """C + sign X Y, where X is given by `Entries` and Y has `height` rows.

    Three rows of C at a time, so that rows of Y are loaded less often: a tenth of the time.
    """
    for i in range(0, 6, 3):
        row0, row1, row2 = get_row(C, i), get_row(C, i + 1), get_row(C, i + 2)
        for m in range(height):
            at, y = X.at + m * X.across + i * X.down, get_row(Y, m)
            row0 = add_scaled6(row0, sign * X.numbers[at], y)
            row1 = add_scaled6(row1, sign * X.numbers[at + X.down], y)
            row2 = add_scaled6(row2, sign * X.numbers[at + 2 * X.down], y)
        put_row(C, i, row0)
        put_row(C, i + 1, row1)
        put_row(C, i + 2, row2)


@function
def forward_block(U, b, at):
    """x <- U^-T x for the six numbers x of b from `at` on, which are returned too"""
    a, n, p = U.at, U.numbers, U.pitch
    x0 = b[at] * n[a]
    x1 = (b[at + 1] - n[a + 1] * x0) * n[a + p + 1]
    x2 = (b[at + 2] - n[a + 2] * x0 - n[a + p + 2] * x1) * n[a + 2 * p + 2]
    x3 = b[at + 3] - n[a + 3] * x0 - n[a + p + 3] * x1 - n[a + 2 * p + 3] * x2
    x3 = x3 * n[a + 3 * p + 3]
    x4 = b[at + 4] - n[a + 4] * x0 - n[a + p + 4] * x1 - n[a + 2 * p + 4] * x2
    x4 = (x4 - n[a + 3 * p + 4] * x3) * n[a + 4 * p + 4]
    x5 = b[at + 5] - n[a + 5] * x0 - n[a + p + 5] * x1 - n[a + 2 * p + 5] * x2
    x5 = (x5 - n[a + 3 * p + 5] * x3 - n[a + 4 * p + 5] * x4) * n[a + 5 * p + 5]
    put6(b, at, (x0, x1, x2, x3, x4, x5))
    return (x0, x1, x2, x3, x4, x5)


@function
def subtract_transposed(U, y, b, at):
    """x - U^T y for the six numbers x of b from `at` on"""
    x = get6(b, at)
    for m in range(6):
        x = add_scaled6(x, -y[m], get_row(U, m))
    put6(b, at, x)


@function
def backward_block(U, b, at):
    """x <- U^-1 x for the six numbers x of b from `at` on"""
    a, n, p = U.at, U.numbers, U.pitch
    x5 = b[at + 5] * n[a + 5 * p + 5]
    x4 = (b[at + 4] - n[a + 4 * p + 5] * x5) * n[a + 4 * p + 4]
    x3 = (b[at + 3] - n[a + 3 * p + 5] * x5 - n[a + 3 * p + 4] * x4) * n[a + 3 * p + 3]
    x2 = b[at + 2] - n[a + 2 * p + 5] * x5 - n[a + 2 * p + 4] * x4 - n[a + 2 * p + 3] * x3
    x2 = x2 * n[a + 2 * p + 2]
    x1 = b[at + 1] - n[a + p + 5] * x5 - n[a + p + 4] * x4 - n[a + p + 3] * x3
    x1 = (x1 - n[a + p + 2] * x2) * n[a + p + 1]
    x0 = b[at] - n[a + 5] * x5 - n[a + 4] * x4 - n[a + 3] * x3 - n[a + 2] * x2
    x0 = (x0 - n[a + 1] * x1) * n[a]
    put6(b, at, (x0, x1, x2, x3, x4, x5))


# --- columns of inside bodies ---------------------------------------------------------------------


@function
def diagonal_block(A, k):
    """The diagonal block of the inside body at position k."""
    return Block(A, BLOCK_SIZE * k, 6)


@function
def column_block(model, A, e):
    """Block e of the columns."""
    return Block(A, BLOCK_SIZE * (len(model.columns) + e), 6)


@routine
def factor_columns(model, A):
    """Eliminate all inside bodies. What is left in the place of the front is A_f."""
    for k in range(len(model.columns)):
        column, U = model.columns[k], diagonal_block(A, k)
        factor_block(U)
        for e in range(column.block, column.end):
            solve_block(U, column_block(model, A, e))
        update = column.update
        for e in range(column.block, column.end):
            X = column_block(model, A, e)
            for f in range(e, column.end):
                target = model.updates[update]
                C = Block(A, target.at, target.pitch)
                add_product(C, -1.0, X, column_block(model, A, f), 6)
                update += 1


@function
def forward_columns(model, U, b):
    """U^T y = b for inside bodies, b by position; what is left in b is that of the front"""
    for k in range(len(model.columns)):
        y = forward_block(diagonal_block(U, k), b, 6 * k)
        column = model.columns[k]
        for e in range(column.block, column.end):
            subtract_transposed(column_block(model, U, e), y, b, 6 * model.rows[e])


@function
def backward_columns(model, U, b):
    """U x = y for inside bodies, after the front's numbers are known"""
    for k in range(len(model.columns) - 1, -1, -1):
        column = model.columns[k]
        for i in range(6):
            s = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            for e in range(column.block, column.end):
                row = get_row(column_block(model, U, e), i)
                s = add_products6(s, row, get6(b, 6 * model.rows[e]))
            b[6 * k + i] = b[6 * k + i] - sum6(s)
        backward_block(diagonal_block(U, k), b, 6 * k)


# --- the dense front ------------------------------------------------------------------------------


@function
def front_block(A, pitch, i, j):
    """The block of bodies i and j of a dense matrix, whose rows are `pitch` numbers apart."""
    return Block(A, 6 * (pitch * i + j), pitch)


@routine
def factor_front(A, count):
    """A = U^T U of a dense matrix, of which the upper triangle of blocks is given"""
    pitch = 6 * count
    for k in range(count):
        U = front_block(A, pitch, k, k)
        factor_block(U)
        for i in range(k + 1, count):
            solve_block(U, front_block(A, pitch, k, i))
        for i in range(k + 1, count):
            X = front_block(A, pitch, k, i)
            for j in range(i, count):
                Y = front_block(A, pitch, k, j)
                add_product(front_block(A, pitch, i, j), -1.0, X, Y, 6)


@routine
def solve_front(U, count, b):
    """x <- (U^T U)^-1 x for the 6 `count` numbers of b"""
    pitch = 6 * count
    for k in range(count):
        y = forward_block(front_block(U, pitch, k, k), b, 6 * k)
        for j in range(k + 1, count):
            subtract_transposed(front_block(U, pitch, k, j), y, b, 6 * j)
    for k in range(count - 1, -1, -1):
        for i in range(6):
            s = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            for j in range(k + 1, count):
                row = get_row(front_block(U, pitch, k, j), i)
                s = add_products6(s, row, get6(b, 6 * j))
            b[6 * k + i] = b[6 * k + i] - sum6(s)
        backward_block(front_block(U, pitch, k, k), b, 6 * k)


# --- matrices that are not symmetric --------------------------------------------------------------
# A matrix [A, X] has the right-hand sides X beside A, and is stored by rows of `width` numbers.
# A is spoilt. Newton's method has one such matrix for the front, and a small one for each cone.


@function
def choose_pivot(A, n, width, k, first):
    """Exchange row k for the row below it with the largest entry in column k, from `first` on."""
    pivot, most = k, absolute(A[width * k + k])
    for i in range(k + 1, n):
        if absolute(A[width * i + k]) > most:
            pivot, most = i, absolute(A[width * i + k])
    if pivot != k:
        for j in range(first, width):
            A[width * k + j], A[width * pivot + j] = A[width * pivot + j], A[width * k + j]


@function
def subtract_row(A, width, i, s, k, first, end):
    """Row i less s times row k, in columns first..end-1"""
    for j in range(first, end):
        A[width * i + j] = A[width * i + j] - s * A[width * k + j]


@function
def solve_small(A, n, width):
    """X <- A^-1 X for a few rows"""
    for k in range(n):
        choose_pivot(A, n, width, k, k)
        for i in range(n):
            if i != k:
                subtract_row(A, width, i, A[width * i + k] / A[width * k + k], k, k + 1, width)
    for k in range(n):
        for j in range(n, width):
            A[width * k + j] = A[width * k + j] / A[width * k + k]


@routine
def solve_pivoted(A, count):
    """x <- A^-1 x for a matrix [A, x] of 6 `count` rows.

    Six columns at a time: their own elimination first, then that of all others by blocks of 6x6.
    For ten bodies this takes 0.6 of the time of single columns.
    """
    n = 6 * count
    width = n + 1
    for first in range(0, n, 6):
        end = first + 6
        for k in range(first, end):
            choose_pivot(A, n, width, k, first)
            inverse = 1.0 / A[width * k + k]
            for i in range(k + 1, n):
                s = A[width * i + k] * inverse
                A[width * i + k] = s
                subtract_row(A, width, i, s, k, k + 1, end)
        for i in range(first + 1, end):
            for k in range(first, i):
                subtract_row(A, width, i, A[width * i + k], k, end, width)
        subtract_blocks(A, n, first)
    for k in range(n - 1, -1, -1):
        x = A[width * k + n] / A[width * k + k]
        A[width * k + n] = x
        for i in range(k):
            A[width * i + n] = A[width * i + n] - A[width * i + k] * x


@function
def subtract_blocks(A, n, first):
    """Eliminate six columns from the rows and columns that come after them."""
    width, end = n + 1, first + 6
    for i in range(end, n, 6):
        L = Entries(A, width * i + first, width, 1)
        for j in range(end, n, 6):
            Y = Block(A, width * first + j, width)
            add_rows(Block(A, width * i + j, width), -1.0, L, Y, 6)
    for i in range(end, n):
        for k in range(first, end):
            A[width * i + n] = A[width * i + n] - A[width * i + k] * A[width * k + n]

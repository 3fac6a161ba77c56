"""The Delassus matrix of a few cone rows on many bodies, by half a solution for each row.

    D_c = C A^-1 C^T = Y^T Y,  Y = U^-T C^T,  A = U^T U

Row i of C has two blocks of six numbers; column y_i of Y has those of the bodies on the way from
there to the last bodies of the order of elimination, which is a short way in trees. Where few of
many bodies are touched at a time, as by the limits and the dry friction of all joints of a robot,
this is far less than what a dense front of all bodies takes.

| symbol | here | what |
| --- | --- | --- |
| U | work.A | factor of inertias with joints: no front, all bodies are inside |
| y_i | Y, from 6 n i on | a vector over all bodies by position, n is the number of bodies |
| | first | where y_i has its first number that is not zero |
"""

from __future__ import annotations

from ...compile import function, routine
from ...spatial.vectors import get6, put6
from .blocks import (
    add_products6,
    column_block,
    diagonal_block,
    forward_block,
    subtract_transposed,
    sum6,
)
from .elements import cone_at, place_of


@function
def is_zero6(x, at):
    """Whether six numbers are zero."""
    return (
        x[at] == 0.0
        and x[at + 1] == 0.0
        and x[at + 2] == 0.0
        and x[at + 3] == 0.0
        and x[at + 4] == 0.0
        and x[at + 5] == 0.0
    )


@function
def solve_half(model, U, y, at, first):
    """y <- U^-T y for the vector y that starts at `at`, whose numbers before `first` are zero"""
    for k in range(first // 6, len(model.columns)):
        if not is_zero6(y, at + 6 * k):
            x = forward_block(diagonal_block(U, k), y, at + 6 * k)
            column = model.columns[k]
            for e in range(column.block, column.end):
                subtract_transposed(column_block(model, U, e), x, y, at + 6 * model.rows[e])


@routine
def put_halves(model, cones, U, Y, first):
    """Y and `first` of all cone rows"""
    n = 6 * len(model.columns)
    for k in range(cones.count):
        element = cone_at(cones, k)
        start = n
        for e in range(element.count):
            start = min(start, place_of(element, e))
        for r in range(element.height):
            at = n * (element.row + r)
            for t in range(n):
                Y[at + t] = 0.0
            for e in range(element.count):
                row = get6(cones.C, element.jacobian + 6 * (element.height * e + r))
                put6(Y, at + place_of(element, e), row)
            first[element.row + r] = 1.0 * start
            solve_half(model, U, Y, at, start)


@function
def dot_from(n, x, at, y, to, start):
    """x . y of vectors that start at `at` and `to`, from the number `start` on; six sums at once"""
    s = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for t in range(start, n, 6):
        s = add_products6(s, get6(x, at + t), get6(y, to + t))
    return sum6(s)


@routine
def put_matrix(model, count, Y, first, D):
    """D_c = Y^T Y, both triangles"""
    n = 6 * len(model.columns)
    for i in range(count):
        for j in range(i + 1):
            start = int(max(first[i], first[j]))
            x = dot_from(n, Y, n * i, Y, n * j, start)
            D[count * i + j] = x
            D[count * j + i] = x

"""Cone rows by their Delassus matrix: for few of them at a time, on any of many bodies.

See `contact.operators.rows`. Rows are scaled again, by the diagonal of D_c: a joint's row is held
by all bodies behind it, which its mobility on free bodies does not tell. Softness R of rows stands
on the diagonal: D_c is D_c + R in what follows.
"""

from __future__ import annotations

from ...compile import function, layout
from ...contact.operators import Operator, dense
from ...contact.operators.elements import cone_at
from ...contact.operators.rows import dot_from, put_halves, put_matrix
from ...maximal.structure.packed import SIDE
from ..structure.world import bodies_of
from .bodies import carry, first_joint, hold, load, prepare, settle
from .cones import cones_of, count_rows
from .form import Form

ROWS = layout(
    rows_matrix=dense.matrix_memory("dense_rows"),
    Y=lambda n: 6 * n["n_bodies"] * n["dense_rows"],
    first="dense_rows",
)


@function
def factor(model, count, penalty, memory):
    """Prepare solutions with D_c + penalty."""
    dense.factor(model, count, penalty, memory.rows_matrix)


@function
def solve(model, count, x, memory):
    """x <- (D_c + penalty)^-1 x"""
    dense.solve(model, count, x, memory.rows_matrix)


@function
def multiply(model, count, x, y, memory):
    """y = D_c x"""
    dense.multiply(model, count, x, y, memory.rows_matrix)


@function
def solve_blocks(model, counts, damping, newton, memory):
    """(E + damping + H D_c) d = -F"""
    dense.solve_blocks(model, counts, damping, newton, memory.rows_matrix)


@function
def begin(model, counts, work):
    """D_c + R of this step, and rows scaled by its diagonal."""
    view, op = bodies_of(model), work.op
    put_halves(view, cones_of(op), op.A, op.Y, op.first)
    put_scaled_matrix(view, counts, work)


@function
def put_scaled_matrix(view, counts, work):
    """D_c + R by Y, and rows scaled by its diagonal; `view` is what A is eliminated in."""
    op, count = work.op, count_rows(counts)
    put_matrix(view, count, op.Y, op.first, op.rows_matrix.D)
    for i in range(count):
        at = (count + 1) * i
        op.rows_matrix.D[at] = op.rows_matrix.D[at] + op.compliance[i]
    dense.put_scale(counts, True, op.rows_matrix)
    scale_again(SIDE * len(view.columns), counts, work)


@function
def scale_again(n, counts, work):
    """Scale D_c, Y, whose vectors have n numbers, C and what is known of rows by P of `dense`."""
    op, cones, count = work.op, work.cones, count_rows(counts)
    scale, D, singles = op.rows_matrix.scale, op.rows_matrix.D, counts[1] + counts[2]
    for i in range(count):
        p = scale[i]
        for j in range(count):
            D[count * i + j] = p * scale[j] * D[count * i + j]
        for t in range(int(op.first[i]), n):
            op.Y[n * i + t] = p * op.Y[n * i + t]
        cones.scale[i] = p * cones.scale[i]
        cones.reactions[i] = cones.reactions[i] / p
        work.bias[i] = p * work.bias[i]
        op.compliance[i] = p * p * op.compliance[i]
        if i < singles:
            cones.coefficients[i] = cones.coefficients[i] / p
    view = cones_of(op)
    for k in range(view.count):
        element = cone_at(view, k)
        for t in range(6 * element.height * element.count):
            at = element.jacobian + t
            op.blocks[at] = scale[element.row] * op.blocks[at]


@function
def free_velocities(model, count, work):
    """b: scaled velocities of cone rows without their reactions, by work.moved."""
    put_free(6 * (len(model.bodies) - 1), count, work.bias, work)


@function
def put_free(n, count, bias, work):
    """b = Y^T U^-T g + bias, for vectors of n numbers"""
    op = work.op
    for i in range(count):
        b = dot_from(n, op.Y, n * i, work.moved, 0, int(op.first[i]))
        work.cones.b[i] = b + bias[i]


@function
def push(model, count, x, work):
    """x + C^T lambda_c, with all bodies eliminated: U^-T C^T is Y."""
    push_halves(6 * (len(model.bodies) - 1), count, x, work)


@function
def push_halves(n, count, x, work):
    """x + Y lambda_c, for vectors of n numbers"""
    op = work.op
    for i in range(count):
        reaction = work.cones.reactions[i]
        if reaction != 0.0:
            for t in range(int(op.first[i]), n):
                x[t] = x[t] + reaction * op.Y[n * i + t]


ROWS_OPERATOR = Operator(factor, solve, multiply, solve_blocks)
ROWS_FORM = Form(first_joint, prepare, load, begin, free_velocities, push, settle, hold, carry)

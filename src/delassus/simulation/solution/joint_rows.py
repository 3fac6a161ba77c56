"""Cone rows by their Delassus matrix over the degrees of freedom of the tree: `joints` and `rows`.

For robots whose cone rows can touch many degrees of freedom, few of them at a time. Joints of the
tree hold by themselves, so that D_c is that of rigid joints, however light the bodies between them:
with joints that give way by the damping of their rows, a limit of a joint between a heavy body and
a very light one would be much softer than it is.

    D_c = Y^T Y,  Y = U^-T (C S)^T,  A = U^T U
"""

from __future__ import annotations

from ...compile import clear, function, part, routine
from ...contact.operators.blocks import dot6
from ...contact.operators.elements import cone_at
from ...contact.operators.rows import solve_half
from ...maximal.structure.packed import SIDE
from ...spatial.vectors import get3, get6
from ..structure.world import groups_of
from .cones import cones_of
from .form import Form
from .joints import (
    about_point,
    carry,
    end_of,
    first_loop,
    hold,
    load,
    meeting,
    prepare,
    settle,
    velocity_at_rest,
)
from .rows import push_halves, put_free, put_scaled_matrix


@function
def row_length(model):
    """Numbers of a vector over degrees of freedom, in their groups."""
    return SIDE * len(model.group_columns)


@function
def put_row_of_dofs(model, element, stop, r, y, work):
    """Row r of an element over degrees of freedom in y, which is clear; where it begins.

    Bodies are moved by the degrees of freedom on the way to the body `stop` that carries them.
    """
    tree, begin = work.op.tree, row_length(model)
    skipped = model.paths[stop - 1].end - model.paths[stop - 1].start if stop > 0 else 0
    for e in range(element.count):
        b = end_of(element, e)
        row = get6(work.op.blocks, element.jacobian + SIDE * (element.height * e + r))
        row, path = about_point(get3(tree.arms, 3 * (b - 1)), row), model.paths[b - 1]
        for t in range(path.start, path.end - skipped):
            step = model.steps[t]
            y[step.place] = y[step.place] + dot6(get6(tree.motions, step.motion), row)
            begin = min(begin, SIDE * (step.place // SIDE))
    return begin


@routine
def put_halves_of_dofs(model, work):
    """Y, where its columns begin, and velocities of cone rows where degrees of freedom rest"""
    view, op, n = groups_of(model), work.op, row_length(model)
    cones = cones_of(op)
    for k in range(cones.count):
        element = cone_at(cones, k)
        stop = meeting(model, element)
        for r in range(element.height):
            i = element.row + r
            clear(part(op.Y, n * i), n)
            begin = put_row_of_dofs(model, element, stop, r, part(op.Y, n * i), work)
            op.first[i] = 1.0 * begin
            solve_half(view, op.A, op.Y, n * i, begin)
            op.grouped.bias[i] = velocity_at_rest(model, element, op.blocks, r, work)


@function
def begin(model, counts, work):
    """D_c + R of this step, and rows scaled by its diagonal."""
    put_halves_of_dofs(model, work)
    put_scaled_matrix(groups_of(model), counts, work)
    for i in range(counts[1] + counts[2] + 3 * counts[3]):
        rest = work.op.rows_matrix.scale[i] * work.op.grouped.bias[i]
        work.op.grouped.bias[i] = work.bias[i] + rest


@function
def free_velocities(model, count, work):
    """b: scaled velocities of cone rows without their reactions, by work.moved."""
    put_free(row_length(model), count, work.op.grouped.bias, work)


@function
def push(model, count, x, work):
    """x + (C S)^T lambda_c, with all degrees of freedom eliminated."""
    push_halves(row_length(model), count, x, work)


JOINT_ROWS_FORM = Form(first_loop, prepare, load, begin, free_velocities, push, settle, hold, carry)

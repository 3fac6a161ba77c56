"""The wrenches of constraint rows alone: what `rows` tells of them without velocity and drift."""

from __future__ import annotations

from ...compile import function, sqrt
from ...compile.programs import implicit_registers, run_program
from ...spatial.vectors import add, cross, dot, get3, rotate, scale, subtract
from ..pieces import CONNECT, COUPLING, DISTANCE, IMPLICIT, PERPENDICULAR
from ..rows import (
    frame_position,
    frame_rotation,
    piece_registers,
    put_plain_wrenches,
    put_points,
    put_pushes,
    put_wrench,
    tree_origin,
)


@function
def put_wrenches(model, piece, q, as_points, work, size, rows):
    """The wrenches of all rows of a piece; of a recorded function its Jacobian.

    Of rows that push along the world's axes it may be only the points where.
    """
    if piece.kind == IMPLICIT:
        put_jacobian(model, piece, q, rows)
    elif piece.kind != COUPLING:
        put_wrenches_between(model, piece, q, as_points, work, size, rows)


@function
def put_jacobian(model, piece, q, rows):
    """dphi/dx, which stays in the registers."""
    at, registers = (
        implicit_registers(piece.term_count, piece.count),
        piece_registers(model, piece, rows),
    )
    for t in range(piece.term_count):
        term = model.terms[piece.first_term + t]
        registers[at.x + t] = q[term.q]
        registers[at.v + t] = 0.0 * q[term.q]
    run_program(model.code, piece.program, piece.to_bias, model.constants, registers)


@function
def put_wrenches_between(model, piece, q, as_points, work, size, rows):
    """The wrenches of a piece between two frames.

    What acts on the world is of no interest, and so is where the tree's origin is in it.
    """
    frame, other = model.frames[piece.frame], model.frames[piece.other]
    p = frame_position(frame, work, size)
    shift = (0.0, 0.0, 0.0)
    if piece.root != piece.other_root and (other.link > 0 or piece.kind == DISTANCE):
        shift = subtract(tree_origin(model, piece.root, q), tree_origin(model, piece.other_root, q))
    none, row = (0.0, 0.0, 0.0), piece.row
    if piece.kind == CONNECT:
        p_other = frame_position(other, work, size)
        if as_points:
            put_points(rows, row, other.link, p, p_other)
        else:
            put_pushes(rows, row, other.link, p, p_other)
    elif piece.kind == DISTANCE:
        p_other = frame_position(other, work, size)
        apart = subtract(add(p, shift), p_other)
        direction = scale(1.0 / sqrt(dot(apart, apart)), apart)
        put_wrench(rows, row, other.link, none, direction, p, p_other)
    elif piece.kind == PERPENDICULAR:
        R, R_other = frame_rotation(frame, work, size), frame_rotation(other, work, size)
        x, y = rotate(R, get3(piece.axis, 0)), rotate(R_other, get3(piece.other_axis, 0))
        put_wrench(rows, row, other.link, cross(x, y), none, none, none)
    elif piece.is_plain:
        R = frame_rotation(frame, work, size)
        put_plain_wrenches(rows, piece, other.link, R, p, add(p, shift))
    else:
        R = frame_rotation(frame, work, size)
        for k in range(piece.count):
            f = rotate(R, get3(piece.basis, 6 * k))
            n = rotate(R, get3(piece.basis, 6 * k + 3))
            put_wrench(rows, row + k, other.link, n, f, p, add(p, shift))

"""The wrenches of constraint rows: the moment and force of each row on its links.

A row asks for a velocity of zero between two links. It is a unit wrench on the one link, and the
opposite one on the other (Featherstone 2008, Ch. 8): its velocity is that wrench times the motion
of the one link less that of the other, and its entry in J at a degree of freedom is the wrench
times S.

Wrenches are in world axes. Each is taken about the origin of the tree of the link that it acts on,
as all vectors are (see `dynamics.steps.links`): two trees have two origins, and the world its own.
"""

from __future__ import annotations

from ...compile import function, layout, overlay, part, slots, sqrt
from ...compile.recorded.programs import implicit_registers, run_program
from ...dynamics.steps.points import frame_position, frame_rotation, tree_origin
from ...spatial.vectors import add, add_cross, cross, dot, get3, put3, rotate, scale, subtract
from .pieces import CONNECT, COUPLING, DISTANCE, IMPLICIT, PERPENDICULAR

# A row: moment and force on the link of `frame`; moment and force whose opposite acts on the link
# of `other`; then its velocity, its drift dJ/dt v, and its error (see `measures`).
ROW = slots(n=3, f=3, other_n=3, other_f=3, velocity=1, drift=1, error=1)
# Of the three rows of a CONNECT, recursions over links keep only the points where they push, in the
# record of the first row.
POINT = overlay(ROW, "n", p=3)
OTHER_POINT = overlay(ROW, "other_n", p=3)
# The records of all rows, and the registers of recorded functions (see `compile.recorded`).
ROWS = layout(rows=("m", ROW), registers="registers")


@function
def count_rows(model):
    """m, the number of rows"""
    if len(model.pieces) == 0:
        return 0
    last = model.pieces[len(model.pieces) - 1]
    return last.row + last.count


@function
def piece_registers(piece, work):
    """The registers of a piece's recorded function."""
    return part(work.registers, piece.registers)


@function
def put_wrenches(model, piece, q, as_points, links, size, work):
    """The wrenches of all rows of a piece; of a recorded function its Jacobian.

    With `as_points`, a CONNECT stores only the points where its rows push. A COUPLING has no
    wrenches: it pushes joints, by constant coefficients.
    """
    if piece.kind == IMPLICIT:
        put_jacobian(model, piece, q, work)
    elif piece.kind != COUPLING:
        put_wrenches_between(model, piece, q, as_points, links, size, work.rows)


@function
def put_jacobian(model, piece, q, work):
    """dphi/dx of a recorded function, which stays in its registers."""
    at = implicit_registers(piece.term_count, piece.count)
    registers = piece_registers(piece, work)
    for t in range(piece.term_count):
        term = model.terms[piece.first_term + t]
        registers[at.x + t] = q[term.q]
        registers[at.v + t] = 0.0 * q[term.q]
    run_program(model.code, piece.program, piece.to_bias, model.constants, registers)


@function
def put_wrenches_between(model, piece, q, as_points, links, size, rows):
    """The wrenches of a piece between two frames.

    Wrenches on the world are not needed, nor are then the positions of the trees' origins.
    """
    frame, other = model.frames[piece.frame], model.frames[piece.other]
    p, none, row = frame_position(frame, links, size), (0.0, 0.0, 0.0), piece.row
    shift = none
    if other.link > 0 or piece.kind == DISTANCE:
        shift = tree_shift(model, piece, q)
    if piece.kind == CONNECT:
        p_other = frame_position(other, links, size)
        if as_points:
            put_points(rows, row, other.link, p, p_other)
        else:
            put_wrench(rows, row, other.link, none, (1.0, 0.0, 0.0), p, p_other)
            put_wrench(rows, row + 1, other.link, none, (0.0, 1.0, 0.0), p, p_other)
            put_wrench(rows, row + 2, other.link, none, (0.0, 0.0, 1.0), p, p_other)
    elif piece.kind == DISTANCE:
        p_other = frame_position(other, links, size)
        apart = subtract(add(p, shift), p_other)
        line = scale(1.0 / sqrt(dot(apart, apart)), apart)
        put_wrench(rows, row, other.link, none, line, p, p_other)
    elif piece.kind == PERPENDICULAR:
        R, R_other = frame_rotation(frame, links, size), frame_rotation(other, links, size)
        x, y = rotate(R, get3(piece.axis, 0)), rotate(R_other, get3(piece.other_axis, 0))
        put_wrench(rows, row, other.link, cross(x, y), none, none, none)
    else:
        R = frame_rotation(frame, links, size)
        put_relative_wrenches(rows, piece, other.link, R, p, add(p, shift))


@function
def put_relative_wrenches(rows, piece, other, R, p, p_there):
    """Wrenches that are constant in the frame's axes; its origin is at p, or p_there for the other.

    Most bases are the first rows of the identity: these need no products.
    """
    none, row = (0.0, 0.0, 0.0), piece.row
    if piece.is_plain:
        x, y, z = (R[0], R[3], R[6]), (R[1], R[4], R[7]), (R[2], R[5], R[8])
        put_wrench(rows, row, other, none, x, p, p_there)
        put_wrench(rows, row + 1, other, none, y, p, p_there)
        put_wrench(rows, row + 2, other, none, z, p, p_there)
        if piece.count == 6:
            put_wrench(rows, row + 3, other, x, none, none, none)
            put_wrench(rows, row + 4, other, y, none, none, none)
            put_wrench(rows, row + 5, other, z, none, none, none)
    else:
        for k in range(piece.count):
            f = rotate(R, get3(piece.basis, 6 * k))
            n = rotate(R, get3(piece.basis, 6 * k + 3))
            put_wrench(rows, row + k, other, n, f, p, p_there)


@function
def put_wrench(rows, row, other, n, f, p, p_other):
    """A moment n and a force f that act at p on the one link, at p_other on link `other`."""
    at = row * ROW.size
    put3(rows, at + ROW.n, add_cross(n, p, f))
    put3(rows, at + ROW.f, f)
    if other > 0:
        put3(rows, at + ROW.other_n, add_cross(n, p_other, f))
        put3(rows, at + ROW.other_f, f)


@function
def put_points(rows, row, other, p, p_other):
    """The points where three rows push along the world's axes."""
    at = row * ROW.size
    put3(rows, at + POINT.p, p)
    if other > 0:
        put3(rows, at + OTHER_POINT.p, p_other)


@function
def tree_shift(model, piece, q):
    """The vector from the origin of the tree of `other` to that of the tree of `frame`."""
    shift = (0.0, 0.0, 0.0)
    if piece.root != piece.other_root:
        shift = subtract(tree_origin(model, piece.root, q), tree_origin(model, piece.other_root, q))
    return shift

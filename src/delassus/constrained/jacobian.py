"""The rows of constraints at a state: Jacobian, velocity, drift and error. O(n + m d).

Columns of a row are the row's wrench times the motion subspaces of the joints on the two paths from
where they meet to the two links that the row is between (Carpentier, Budhiraja and Mansard,
Proximal and Sparse Resolution of Constrained Dynamic Equations, 2021, Eq. 25).
"""

from __future__ import annotations

from ..compile import function, kernel, part
from ..compile.programs import implicit_registers
from ..dynamics.links import (
    MOVING,
    PLACEMENT,
    SUBSPACE,
    move_link,
    place_links,
    start_at_rest,
)
from ..spatial.vectors import dot, get3, put3, put9, subtract
from .packed import PathArrays
from .pieces import CONNECT, COUPLING, IMPLICIT
from .rows import ROW, count_rows, piece_registers, put_rows, rows_work

LINK, DOF = MOVING, SUBSPACE


@kernel(
    PathArrays,
    inputs={"q": "nq", "v": "nv"},
    outputs={"J": "m nv", "velocity": "m", "drift": "m", "error": "m"},
    work=lambda n: n["n_links"] * LINK.size + n["nv"] * DOF.size + rows_work(n),
    label="constraint rows",
)
def evaluate_rows(model, q, v, J, velocity, drift, error, work):
    """J(q), J v, dJ/dt v and the position error"""
    n, nv = len(model.links), len(model.armature)
    dofs = n * LINK.size
    rows = part(work, dofs + nv * DOF.size)
    start_at_rest(work, (0.0, 0.0, 0.0))
    place_world(work)
    place_links(model, q, work, LINK.size, dofs, DOF.size)
    for i in range(1, len(model.links)):
        move_link(model.links[i], i, v, work, LINK.size, dofs, DOF.size)
    for c in range(len(model.pieces)):
        put_rows(model, model.pieces[c], q, v, True, work, LINK.size, rows)
        put_columns(model, model.pieces[c], J, part(work, dofs), DOF.size, rows)
    for r in range(count_rows(model)):
        velocity[r] = rows[r * ROW.size + ROW.velocity]
        drift[r] = rows[r * ROW.size + ROW.drift]
        error[r] = rows[r * ROW.size + ROW.error]


@function
def place_world(work):
    """The world's own placement, for frames that are fixed to it."""
    put9(work, PLACEMENT.R, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    put3(work, PLACEMENT.p, (0.0, 0.0, 0.0))


@function
def put_columns(model, piece, J, dofs, size, rows):
    """Entries of J, a row after the other; others are zero."""
    nv = len(model.armature)
    for t in range(piece.path, piece.path + piece.length):
        step = model.steps[t]
        for r in range(piece.row, piece.row + piece.count):
            J[r * nv + step.dof] = row_entry(model, piece, step, r, dofs, size, rows)


@function
def put_panel(model, piece, J, dofs, size, rows):
    """The part of J of a piece, a step of its path after the other, rows filled up by zeros."""
    for place in range(piece.length):
        step = model.steps[piece.path + place]
        at = piece.panel + place * piece.height
        for r in range(piece.count):
            J[at + r] = row_entry(model, piece, step, piece.row + r, dofs, size, rows)
        for r in range(piece.count, piece.height):
            J[at + r] = 0.0


@function
def row_entry(model, piece, step, r, dofs, size, rows):
    """What a degree of freedom contributes to the velocity of a row."""
    angular = get3(dofs, step.dof * size + SUBSPACE.angular)
    linear = get3(dofs, step.dof * size + SUBSPACE.linear)
    at = r * ROW.size
    if piece.kind == COUPLING:
        x = 0.0 * angular[0] + step.weight
    elif piece.kind == IMPLICIT and step.term >= 0:
        x = implicit_entry(model, piece, step, r, rows)
    elif piece.kind == CONNECT and step.weight == 0.0:
        # What carries both points turns the line between them, which is not zero in a loop that
        # is open.
        x = dot(angular, subtract(get3(rows, at + ROW.n), get3(rows, at + ROW.other_n)))
    elif step.weight == 0.0:
        x = 0.0 * angular[0]
    elif step.weight > 0.0:
        x = dot(angular, get3(rows, at + ROW.n)) + dot(linear, get3(rows, at + ROW.f))
    else:
        x = dot(angular, get3(rows, at + ROW.other_n)) + dot(linear, get3(rows, at + ROW.other_f))
        x = -x
    return x


@function
def implicit_entry(model, piece, step, r, rows):
    """dphi/dx, after `put_rows` of the same piece."""
    at = implicit_registers(piece.term_count, piece.count)
    entry = (r - piece.row) * piece.term_count + step.term
    return piece_registers(model, piece, rows)[at.jacobian + entry]

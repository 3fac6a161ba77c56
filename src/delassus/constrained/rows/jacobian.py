"""The rows of constraints at a state: Jacobian, velocity, drift and error. O(n + m d).

Columns of a row are the row's wrench times the motion subspaces of the joints on the two paths from
where they meet to the two links that the row is between (Carpentier, Budhiraja and Mansard,
Proximal and Sparse Resolution of Constrained Dynamic Equations, 2021, Eq. 25).
"""

from __future__ import annotations

from ...compile import function, kernel, layout
from ...compile.recorded.programs import implicit_registers
from ...dynamics.steps.links import MOVING, SUBSPACE, move_link, place_links, start_at_rest
from ...dynamics.steps.points import place_world
from ...dynamics.steps.subspaces import along
from ...spatial.vectors import dot, get3, subtract
from .measures import put_rows
from .packed import PathArrays
from .pieces import CONNECT, COUPLING, IMPLICIT
from .wrenches import ROW, ROWS, count_rows, piece_registers


@kernel(
    PathArrays,
    inputs={"q": "nq", "v": "nv"},
    outputs={"J": "m nv", "velocity": "m", "drift": "m", "error": "m"},
    work=layout(ROWS, links=("n_links", MOVING), dofs=("nv", SUBSPACE)),
    label="constraint rows",
)
def evaluate_rows(model, q, v, J, velocity, drift, error, work):
    """J(q), J v, dJ/dt v and the position error"""
    nv, rows = len(model.armature), work.rows
    start_at_rest(work.links, (0.0, 0.0, 0.0))
    place_world(work.links)
    place_links(model, q, work.links, MOVING.size, work.dofs, SUBSPACE.size)
    for i in range(1, len(model.links)):
        move_link(model.links[i], i, v, work.links, MOVING.size, work.dofs, SUBSPACE.size)
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        put_rows(model, piece, q, v, True, work.links, MOVING.size, work)
        for t in range(piece.path, piece.path + piece.length):
            step = model.steps[t]
            for r in range(piece.row, piece.row + piece.count):
                J[r * nv + step.dof] = row_entry(model, piece, step, r, SUBSPACE.size, work)
    for r in range(count_rows(model)):
        velocity[r] = rows[r * ROW.size + ROW.velocity]
        drift[r] = rows[r * ROW.size + ROW.drift]
        error[r] = rows[r * ROW.size + ROW.error]


@function
def put_panel(model, piece, J, dof_size, work):
    """The panel of J of a piece: for each step of its path a column of padded rows."""
    for place in range(piece.length):
        step = model.steps[piece.path + place]
        at = piece.panel + place * piece.height
        for r in range(piece.count):
            J[at + r] = row_entry(model, piece, step, piece.row + r, dof_size, work)
        for r in range(piece.count, piece.height):
            J[at + r] = 0.0


@function
def row_entry(model, piece, step, r, dof_size, work):
    """The entry of J at row r and the degree of freedom of a step."""
    rows, dofs, at, dof = work.rows, work.dofs, r * ROW.size, step.dof * dof_size
    angular = get3(dofs, dof + SUBSPACE.angular)
    if piece.kind == COUPLING:
        x = 0.0 * angular[0] + step.weight
    elif piece.kind == IMPLICIT and step.term >= 0:
        x = implicit_entry(piece, step, r, work)
    elif piece.kind == CONNECT and step.weight == 0.0:
        # A joint that carries both points turns the vector between them, which is zero only in a
        # loop that is closed.
        x = dot(angular, subtract(get3(rows, at + ROW.n), get3(rows, at + ROW.other_n)))
    elif step.weight == 0.0:
        x = 0.0 * angular[0]
    elif step.weight > 0.0:
        x = along(dofs, dof, get3(rows, at + ROW.n), get3(rows, at + ROW.f))
    else:
        x = -along(dofs, dof, get3(rows, at + ROW.other_n), get3(rows, at + ROW.other_f))
    return x


@function
def implicit_entry(piece, step, r, work):
    """dphi/dx, after `put_rows` of the same piece."""
    at = implicit_registers(piece.term_count, piece.count)
    entry = (r - piece.row) * piece.term_count + step.term
    return piece_registers(piece, work)[at.jacobian + entry]

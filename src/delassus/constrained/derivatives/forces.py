"""How the forces of constraints vary with q, relative to the links that they act on.

Derivatives of inverse dynamics take a force as fixed in its link. A piece has a wrench W on link 1,
that of its frame, and -W on link 2, that of the other. Where these are not fixed in their links,
J^T multipliers has further derivatives by q_j,

    J_1^T x_j + J_2^T y_j     x_j = dW/dq_j - [j carries 1] S_j x* W
                              y_j = [j carries 2] S_j x* W - dW/dq_j

where J_1 and J_2 are the Jacobians of the two links. x_j and y_j are zero if j carries both links.

| symbols | here | what |
| --- | --- | --- |
| W | WRENCH, by `put_wrench` | wrench of a piece: its rows times their multipliers |
| x_j, y_j | CHANGE, by `put_changes` | changes of W and -W, relative to their links |
| J_1^T x_j + J_2^T y_j | `add_changes`, `respond` | their effect on a and multipliers |

By kind of piece:

- RELATIVE: W is fixed in the frame, so that x_j = 0.
- CONNECT: W is a force f along fixed axes. It is fixed in the frame, and x_j = 0, if multipliers
  change by omega_j x f where j carries the frame. `turn_multipliers` adds this change to the
  derivatives of the multipliers at the end.
- DISTANCE, PERPENDICULAR: W depends on both frames.
- COUPLING: J is constant.
- IMPLICIT: J^T multipliers is a function of the joints' coordinates, with a known derivative.
"""

from __future__ import annotations

from ...compile import function, part, routine, slots, sqrt
from ...compile.recorded.programs import implicit_registers
from ...dynamics.derivatives.rnea import SUBTREE
from ...dynamics.derivatives.variations import VARIATION
from ...dynamics.steps.points import frame_pose
from ...spatial.motions import cross_force
from ...spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    cross,
    dot,
    get3,
    put3,
    rotate,
    scale,
    subtract,
)
from ..rows.pieces import CONNECT, COUPLING, DISTANCE, IMPLICIT, PERPENDICULAR
from ..rows.wrenches import ROW, count_rows, piece_registers, tree_shift

# W of a piece: on the link of `frame`; and for that of `other`, on which -W acts.
WRENCH = slots(n=3, f=3, other_n=3, other_f=3)
# x and y of a step: moment and force each.
CHANGE = slots(n=3, f=3, other_n=3, other_f=3)


@function
def put_wrench(model, piece, rows, multipliers, wrench):
    """W of a piece: its rows times their multipliers; for the other link only if that moves."""
    if has_wrench(piece):
        count = WRENCH.size if changes_other(model, piece) else WRENCH.other_n
        for t in range(count):
            wrench[t] = multipliers[piece.row] * rows[piece.row * ROW.size + ROW.n + t]
        for r in range(piece.row + 1, piece.row + piece.count):
            for t in range(count):
                wrench[t] = wrench[t] + multipliers[r] * rows[r * ROW.size + ROW.n + t]


@function
def push_links(model, c, wrenches, links, size):
    """Subtract W of piece c from the force of the link of its frame, and add it to the other's."""
    piece, at = model.pieces[c], c * WRENCH.size
    link, other = model.frames[piece.frame].link * size, model.frames[piece.other].link * size
    if has_wrench(piece) and link > 0:
        n = subtract(get3(links, link + SUBTREE.n), get3(wrenches, at + WRENCH.n))
        f = subtract(get3(links, link + SUBTREE.f), get3(wrenches, at + WRENCH.f))
        put3(links, link + SUBTREE.n, n)
        put3(links, link + SUBTREE.f, f)
    if has_wrench(piece) and other > 0:
        n = add(get3(links, other + SUBTREE.n), get3(wrenches, at + WRENCH.other_n))
        f = add(get3(links, other + SUBTREE.f), get3(wrenches, at + WRENCH.other_f))
        put3(links, other + SUBTREE.n, n)
        put3(links, other + SUBTREE.f, f)


@function
def has_wrench(piece):
    """Whether a piece is between frames, and so has a wrench."""
    return piece.kind != COUPLING and piece.kind != IMPLICIT


@function
def changes_one(piece):
    """Whether x is not zero: the wrench on the link of the frame depends on both frames."""
    return piece.kind == DISTANCE or piece.kind == PERPENDICULAR


@function
def changes_other(model, piece):
    """Whether y is not zero: there are joints that carry the other link."""
    return has_wrench(piece) and model.frames[piece.other].link > 0


@function
def put_changes(model, piece, q, multipliers, wrench, links, size, dofs, dof_size, changes):
    """x and y of the steps of a piece that carry one of its links."""
    if changes_one(piece) or changes_other(model, piece):
        R, p = frame_pose(model.frames[piece.frame], links, size)
        R_other, p_other = frame_pose(model.frames[piece.other], links, size)
        shift = tree_shift(model, piece, q)
        for t in range(piece.path, piece.path + piece.length):
            weight, at, dof = model.steps[t].weight, t * CHANGE.size, model.steps[t].dof * dof_size
            angular = get3(dofs, dof + VARIATION.angular)
            linear = get3(dofs, dof + VARIATION.linear)
            if weight == 0.0:
                pass
            elif piece.kind == DISTANCE:
                points = (p, p_other, subtract(add(p, shift), p_other))
                change_line(weight, angular, linear, points, get3(wrench, WRENCH.f), changes, at)
            elif piece.kind == PERPENDICULAR:
                x, y = rotate(R, get3(piece.axis, 0)), rotate(R_other, get3(piece.other_axis, 0))
                change_moment(weight, angular, x, y, multipliers[piece.row], changes, at)
            elif piece.kind == CONNECT:
                y = scale(-weight, cross(angular, get3(wrench, WRENCH.f)))
                put3(changes, at + CHANGE.other_n, cross(p_other, y))
                put3(changes, at + CHANGE.other_f, y)
            else:
                if weight > 0.0:  # move S to the origin of the other's tree, as the wrench is there
                    linear = add_cross(linear, shift, angular)
                change_fixed(weight, angular, linear, wrench, changes, at)


@function
def change_fixed(weight, angular, linear, wrench, changes, at):
    """y of a wrench that is fixed in the frame."""
    n, f = get3(wrench, WRENCH.other_n), get3(wrench, WRENCH.other_f)
    n, f = cross_force(angular, linear, n, f)
    put3(changes, at + CHANGE.other_n, scale(-weight, n))
    put3(changes, at + CHANGE.other_f, scale(-weight, f))


@function
def change_line(weight, angular, linear, points, f, changes, at):
    """x and y of a force f of constant size along the line between two points."""
    p, p_other, apart = points
    inverse = 1.0 / sqrt(dot(apart, apart))
    line = scale(inverse, apart)
    move = scale(weight, add_cross(linear, angular, p if weight > 0.0 else p_other))
    rate = scale(dot(f, line) * inverse, add_scaled(move, -dot(line, move), line))
    x, y = against(weight, rate, cross(angular, f))
    put3(changes, at + CHANGE.n, cross(p, x))
    put3(changes, at + CHANGE.f, x)
    put3(changes, at + CHANGE.other_n, cross(p_other, y))
    put3(changes, at + CHANGE.other_f, y)


@function
def change_moment(weight, angular, x, y, multiplier, changes, at):
    """x and y of a moment along x cross y, each an axis of one of the links."""
    none = (0.0, 0.0, 0.0)
    rate = cross(cross(angular, x), y) if weight > 0.0 else cross(x, cross(angular, y))
    n, n_other = against(weight, rate, cross(angular, cross(x, y)))
    put3(changes, at + CHANGE.n, scale(multiplier, n))
    put3(changes, at + CHANGE.f, none)
    put3(changes, at + CHANGE.other_n, scale(multiplier, n_other))
    put3(changes, at + CHANGE.other_f, none)


@function
def against(weight, rate, turn):
    """rate - [j carries 1] turn, and [j carries 2] turn - rate"""
    if weight > 0.0:
        return subtract(rate, turn), scale(-1.0, rate)
    return rate, subtract(turn, rate)


# --- effect of the changes ------------------------------------------------------------------------


@routine
def add_changes(model, c, dofs, dof_size, dtau, rows_dtau, dq, rows_dq, work):
    """Add the effect of the changes of piece c to the derivatives by q.

    `work` has changes of pieces, and the solution with registers of recorded
    functions.
    """
    changes = work.changes
    piece, nv, m = model.pieces[c], len(model.armature), count_rows(model)
    if piece.kind == IMPLICIT:
        respond_implicit(model, piece, nv, dtau, dq, work.solution)
        respond_implicit(model, piece, m, rows_dtau, rows_dq, work.solution)
    if changes_one(piece):
        link, side = model.frames[piece.frame].link, CHANGE.n
        respond(model, piece, link, side, changes, dofs, dof_size, nv, dtau, dq)
        respond(model, piece, link, side, changes, dofs, dof_size, m, rows_dtau, rows_dq)
    if changes_other(model, piece):
        link, side = model.frames[piece.other].link, CHANGE.other_n
        respond(model, piece, link, side, changes, dofs, dof_size, nv, dtau, dq)
        respond(model, piece, link, side, changes, dofs, dof_size, m, rows_dtau, rows_dq)


@function
def add_turns(model, c, dofs, dof_size, rows_dq, work):
    """Add how multipliers of piece c turn with the links, if they are along fixed axes."""
    piece = model.pieces[c]
    if piece.kind == CONNECT:
        wrench = part(work.wrenches, c * WRENCH.size)
        turn_multipliers(model, piece, wrench, dofs, dof_size, rows_dq)


@function
def respond(model, piece, link, side, changes, dofs, dof_size, count, response, result):
    """Add the effect of changing wrenches on a link to `count` rows of derivatives by q.

    `response` has the derivatives of these rows by joint forces.
    """
    nv = len(model.armature)
    tip = model.links[link].v + model.links[link].nv - 1
    for r in range(count):
        x = response[r * nv + tip]
        n = scale(x, get3(dofs, tip * dof_size + VARIATION.angular))
        f = scale(x, get3(dofs, tip * dof_size + VARIATION.linear))
        k = model.dof_parent[tip]
        while k >= 0:
            x = response[r * nv + k]
            n = add_scaled(n, x, get3(dofs, k * dof_size + VARIATION.angular))
            f = add_scaled(f, x, get3(dofs, k * dof_size + VARIATION.linear))
            k = model.dof_parent[k]
        for t in range(piece.path, piece.path + piece.length):
            if model.steps[t].weight != 0.0:
                at, entry = t * CHANGE.size + side, r * nv + model.steps[t].dof
                x = dot(n, get3(changes, at)) + dot(f, get3(changes, at + 3))
                result[entry] = result[entry] + x


@function
def respond_implicit(model, piece, count, response, result, work):
    """Add the effect of d(J^T multipliers)/dq of a recorded function to derivatives by q."""
    nv, n, first = len(model.armature), piece.term_count, piece.first_term
    registers = piece_registers(piece, work)
    at = implicit_registers(n, piece.count).force_by_x
    for r in range(count):
        for j in range(n):
            entry = r * nv + model.terms[first + j].v
            for k in range(n):
                x = response[r * nv + model.terms[first + k].v]
                result[entry] = result[entry] + x * registers[at + k * n + j]


@function
def turn_multipliers(model, piece, wrench, dofs, dof_size, rows_dq):
    """Add omega_j x f to the derivatives of a CONNECT's multipliers, which are along fixed axes."""
    nv, f = len(model.armature), get3(wrench, WRENCH.f)
    for t in range(piece.path, piece.path + piece.length):
        if model.steps[t].weight >= 0.0:
            k = model.steps[t].dof
            x = cross(get3(dofs, k * dof_size + VARIATION.angular), f)
            at = piece.row * nv + k
            rows_dq[at] = rows_dq[at] + x[0]
            rows_dq[at + nv] = rows_dq[at + nv] + x[1]
            rows_dq[at + 2 * nv] = rows_dq[at + 2 * nv] + x[2]

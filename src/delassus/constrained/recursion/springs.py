"""Springs along constraint rows: their pull at links, and the inertia that they add.

A row pulls at the ends of its piece (see `plan`) by a spring of stiffness 1 / mu, where mu is its
damping. The springs of an end add K^T K / mu to the inertia of its link, where K are the wrenches
of the rows; springs between two links also couple these (see `couplings`). Inertias are about the
links' own origins, as all articulated inertias are (see `dynamics.steps.articulated`).

Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024:

| paper | here | what |
| --- | --- | --- |
| K_i | `wrench` | moment and force of a row on a link |
| mu | weights, 1 / mu elsewhere in this library | stiffness |
| H_i + mu K_i^T K_i (Algorithm 1, line 5) | `stiffen` | inertia of a link with its springs |
| K_i^T x (Algorithm 2, line 2) | `pull`, `add_pull` | wrench of rows with forces x |
| K_i a_i | `add_motion` | motions of rows |
"""

from __future__ import annotations

from ...compile import absolute, function
from ...compile.recorded.programs import implicit_registers
from ...dynamics.aba import DOF, FORCE, LINK
from ...dynamics.steps.articulated import INERTIA
from ...spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    cross,
    dot,
    get3,
    get6,
    get9,
    outer_update,
    outer_update9,
    put3,
    put6,
    put9,
    scale,
    subtract,
)
from ..rows.pieces import COUPLING
from ..rows.wrenches import ROW, piece_registers
from .plan import AT_JOINTS


@function
def wrench(model, end, r, work):
    """Moment about the tree's origin, and force, of row r at an end, without the end's sign."""
    if end.wrench != AT_JOINTS:
        return frame_wrench(end, r, work.rows)
    n, f = joint_wrench(model, end, end.first_entry, r, work)
    for t in range(end.first_entry + 1, end.first_entry + end.entry_count):
        n_more, f_more = joint_wrench(model, end, t, r, work)
        n, f = add(n, n_more), add(f, f_more)
    return n, f


@function
def frame_wrench(end, r, rows):
    """Moment and force of row r at an end that is a frame, without the end's sign."""
    if end.is_at_point:
        p = point(end, rows)
        one, none = 1.0 + 0.0 * p[0], 0.0 * p[0]
        f = one if r == 0 else none, one if r == 1 else none, one if r == 2 else none
        return cross(p, f), f
    at = (end.row + r) * ROW.size + end.wrench
    return get3(rows, at), get3(rows, at + 3)


@function
def joint_wrench(model, end, t, r, work):
    """The wrench of a joint coordinate in row r: weight S / |S|^2, whose work along S is weight."""
    piece, entry = model.pieces[end.piece], model.entries[t]
    dof, p = entry.dof * DOF.size, get3(work.links, entry.link * LINK.size + LINK.p)
    angular = get3(work.dofs, dof + DOF.angular)
    linear = add_cross(get3(work.dofs, dof + DOF.linear), angular, p)
    if piece.kind == COUPLING:
        weight = entry.sign * model.terms[piece.first_term + entry.term].coefficient
    else:
        at = implicit_registers(piece.term_count, piece.count)
        place = at.jacobian + r * piece.term_count + entry.term
        weight = entry.sign * piece_registers(piece, work)[place]
    weight = weight / (dot(angular, angular) + dot(linear, linear))
    n, f = scale(weight, angular), scale(weight, linear)
    return add_cross(n, p, f), f


@function
def point(end, rows):
    """The point of an end whose rows push along the world's axes."""
    return get3(rows, end.row * ROW.size + end.wrench)


@function
def pull(model, end, x, work):
    """K^T x: moment and force at an end, where row r of the piece has the force x[r]."""
    n, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if end.is_at_point:
        f = scale(end.sign, get3(x, end.row))
        n = cross(point(end, work.rows), f)
    elif end.wrench != AT_JOINTS:
        rows, at = work.rows, end.row * ROW.size + end.wrench
        for r in range(end.row, end.row + end.pushes):
            n = add_scaled(n, x[r], get3(rows, at))
            f = add_scaled(f, x[r], get3(rows, at + 3))
            at = at + ROW.size
        for r in range(end.row + end.pushes, end.row + end.count):
            n = add_scaled(n, x[r], get3(rows, at))
            at = at + ROW.size
        if end.sign < 0:
            n, f = scale(-1.0, n), scale(-1.0, f)
    else:
        for r in range(end.count):
            n_row, f_row = wrench(model, end, r, work)
            n = add_scaled(n, x[end.row + r], n_row)
            f = add_scaled(f, x[end.row + r], f_row)
    return n, f


@function
def add_pull(model, end, x, work):
    """Add the pull of an end to its link's own force."""
    forces, at = work.forces, end.link * FORCE.size
    n, f = pull(model, end, x, work)
    put3(forces, at + FORCE.n, add(get3(forces, at + FORCE.n), n))
    put3(forces, at + FORCE.f, add(get3(forces, at + FORCE.f), f))


@function
def add_motion(model, end, angular, linear, velocity, work):
    """velocity + K (angular, linear): add the motion of an end's link to the rows of its piece."""
    if end.is_at_point:
        moved = add_cross(linear, angular, point(end, work.rows))
        put3(velocity, end.row, add_scaled(get3(velocity, end.row), end.sign, moved))
    elif end.wrench != AT_JOINTS:
        if end.sign < 0:
            angular, linear = scale(-1.0, angular), scale(-1.0, linear)
        rows, at = work.rows, end.row * ROW.size + end.wrench
        for r in range(end.row, end.row + end.pushes):
            x = dot(get3(rows, at), angular)
            velocity[r] = velocity[r] + (x + dot(get3(rows, at + 3), linear))
            at = at + ROW.size
        for r in range(end.row + end.pushes, end.row + end.count):
            velocity[r] = velocity[r] + dot(get3(rows, at), angular)
            at = at + ROW.size
    else:
        for r in range(end.count):
            n, f = wrench(model, end, r, work)
            x = velocity[end.row + r] + dot(n, angular)
            velocity[end.row + r] = x + dot(f, linear)


@function
def add_magnitudes(model, end, angular, linear, sizes, work):
    """sizes + |K (angular, linear)|: the magnitudes of what an end adds to rows' motions."""
    if end.is_at_point:
        p = point(end, work.rows)
        x, y, z = absolute(p[0]), absolute(p[1]), absolute(p[2])
        a, b, c = absolute(angular[0]), absolute(angular[1]), absolute(angular[2])
        s = get3(sizes, end.row)
        s = (
            s[0] + absolute(linear[0]) + (b * z + c * y),
            s[1] + absolute(linear[1]) + (c * x + a * z),
            s[2] + absolute(linear[2]) + (a * y + b * x),
        )
        put3(sizes, end.row, s)
    else:
        for r in range(end.count):
            n, f = wrench(model, end, r, work)
            x = magnitude(n, angular) + magnitude(f, linear)
            sizes[end.row + r] = sizes[end.row + r] + x


@function
def magnitude(a, b):
    """|a_x b_x| + |a_y b_y| + |a_z b_z|"""
    return absolute(a[0] * b[0]) + absolute(a[1] * b[1]) + absolute(a[2] * b[2])


@function
def stiffen(model, end, weights, work):
    """Add the springs of an end to its link's inertia: H + K^T K / mu."""
    links, at = work.links, end.link * LINK.size
    p = get3(links, at + LINK.p)
    A, H, M = get6(links, at + INERTIA.A), get9(links, at + INERTIA.H), get6(links, at + INERTIA.M)
    if end.is_at_point:
        r = subtract(point(end, work.rows), p)
        A, H, M = stiffen_point(A, H, M, r, get3(weights, end.row))
    else:
        for r in range(end.pushes):
            n, f = wrench(model, end, r, work)
            n = subtract_cross(n, p, f)
            x = -weights[end.row + r]
            n_x, f_x = scale(x, n), scale(x, f)
            A, H, M = outer_update(A, n, n_x), outer_update9(H, n, f_x), outer_update(M, f, f_x)
        for r in range(end.pushes, end.count):
            n = get3(work.rows, (end.row + r) * ROW.size + end.wrench)
            A = outer_update(A, n, scale(-weights[end.row + r], n))
    put6(links, at + INERTIA.A, A)
    put9(links, at + INERTIA.H, H)
    put6(links, at + INERTIA.M, M)


@function
def stiffen_point(A, H, M, r, w):
    """The inertia with springs of stiffness w along the axes at r.

    M + w, H + (r x) w, A - (r x) w (r x)
    """
    x, y, z = scale(r[0], w), scale(r[1], w), scale(r[2], w)
    return (
        (
            A[0] + z[1] * r[2] + y[2] * r[1],
            A[1] - x[2] * r[1],
            A[2] - x[1] * r[2],
            A[3] + z[0] * r[2] + x[2] * r[0],
            A[4] - y[0] * r[2],
            A[5] + y[0] * r[1] + x[1] * r[0],
        ),
        (
            H[0],
            H[1] - z[1],
            H[2] + y[2],
            H[3] + z[0],
            H[4],
            H[5] - x[2],
            H[6] - y[0],
            H[7] + x[1],
            H[8],
        ),
        (M[0] + w[0], M[1], M[2], M[3] + w[1], M[4], M[5] + w[2]),
    )


@function
def subtract_cross(n, p, f):
    """n - p x f"""
    return add_cross(n, f, p)

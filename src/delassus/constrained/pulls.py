"""What constraints do to articulated inertias: a spring of stiffness 1 / damping along each row.

A row pulls at the ends of its piece (see `elimination`). Springs at one link add to its inertia,
K^T K / damping; those between two links couple them by a block of six by six, rows for the wrench
on the link that is eliminated first, columns for the motion of the other. Inertias and blocks are
about the links' own origins, as all articulated inertias (see `dynamics.articulated`).
"""

from __future__ import annotations

from ..compile import clear, function, part, slots
from ..compile.programs import implicit_registers
from ..dynamics.aba import DOF, LINK
from ..dynamics.articulated import INERTIA, keep_remainder, pass_remainder, project
from ..spatial.vectors import (
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
from .elimination import AT_JOINTS, IS_PARENT, LOAD, load_place
from .pieces import COUPLING
from .rows import ROW, piece_registers

BLOCK = 36
# The moment and force by which a degree of freedom pulls at a neighbour of its link, about the
# neighbour's own origin; and the moment about its tree's origin.
PULL = slots(own_n=3, f=3, n=3)


@function
def wrench(model, end, r, rows, work, dofs):
    """Moment about the tree's origin, and force, of row r at an end, but for the end's sign."""
    if end.wrench != AT_JOINTS:
        return frame_wrench(end, r, rows)
    n, f = joint_wrench(model, end, end.first_entry, r, rows, work, dofs)
    for t in range(end.first_entry + 1, end.first_entry + end.entry_count):
        n_more, f_more = joint_wrench(model, end, t, r, rows, work, dofs)
        n, f = add(n, n_more), add(f, f_more)
    return n, f


@function
def frame_wrench(end, r, rows):
    """The same of a row at a frame."""
    if end.is_at_point:
        p = point(end, rows)
        one, none = 1.0 + 0.0 * p[0], 0.0 * p[0]
        f = one if r == 0 else none, one if r == 1 else none, one if r == 2 else none
        return cross(p, f), f
    at = end.place + r * ROW.size
    return get3(rows, at), get3(rows, at + 3)


@function
def joint_wrench(model, end, t, r, rows, work, dofs):
    """The wrench whose work is that of a joint coordinate: S / |S|^2, about the link's origin."""
    piece, entry = model.pieces[end.piece], model.entries[t]
    dof, p = dofs + entry.dof * DOF.size, get3(work, entry.link * LINK.size + LINK.p)
    angular = get3(work, dof + DOF.angular)
    linear = add_cross(get3(work, dof + DOF.linear), angular, p)
    if piece.kind == COUPLING:
        weight = entry.sign * model.terms[piece.first_term + entry.term].coefficient
    else:
        at = implicit_registers(piece.term_count, piece.count)
        place = at.jacobian + r * piece.term_count + entry.term
        weight = entry.sign * piece_registers(model, piece, rows)[place]
    weight = weight / (dot(angular, angular) + dot(linear, linear))
    n, f = scale(weight, angular), scale(weight, linear)
    return add_cross(n, p, f), f


@function
def point(end, rows):
    """Where an end is whose rows push along the world's axes."""
    return get3(rows, end.place)


@function
def pull(model, end, x, rows, work, dofs):
    """Moment and force of all rows of a piece at an end, by x each."""
    n, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if end.is_at_point:
        f = scale(end.sign, get3(x, end.row))
        n = cross(point(end, rows), f)
    elif end.wrench != AT_JOINTS:
        at = end.place
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
            n_row, f_row = wrench(model, end, r, rows, work, dofs)
            n = add_scaled(n, x[end.row + r], n_row)
            f = add_scaled(f, x[end.row + r], f_row)
    return n, f


@function
def add_pull(model, end, x, rows, work, dofs):
    """Add the pull of an end to the force on its link."""
    at = end.at
    n, f = pull(model, end, x, rows, work, dofs)
    put3(work, at + LINK.n, add(get3(work, at + LINK.n), n))
    put3(work, at + LINK.f, add(get3(work, at + LINK.f), f))


@function
def add_motion(model, end, angular, linear, velocity, rows, work, dofs):
    """Add to the motions of a piece's rows that of an end."""
    if end.is_at_point:
        moved = add_cross(linear, angular, point(end, rows))
        put3(velocity, end.row, add_scaled(get3(velocity, end.row), end.sign, moved))
    elif end.wrench != AT_JOINTS:
        if end.sign < 0:
            angular, linear = scale(-1.0, angular), scale(-1.0, linear)
        at = end.place
        for r in range(end.row, end.row + end.pushes):
            x = dot(get3(rows, at), angular)
            velocity[r] = velocity[r] + (x + dot(get3(rows, at + 3), linear))
            at = at + ROW.size
        for r in range(end.row + end.pushes, end.row + end.count):
            velocity[r] = velocity[r] + dot(get3(rows, at), angular)
            at = at + ROW.size
    else:
        for r in range(end.count):
            n, f = wrench(model, end, r, rows, work, dofs)
            x = velocity[end.row + r] + dot(n, angular)
            velocity[end.row + r] = x + dot(f, linear)


@function
def stiffen(model, end, weights, rows, work, dofs):
    """Add the springs of an end to its link's inertia."""
    at = end.at
    p = get3(work, at + LINK.p)
    A, H, M = get6(work, at + INERTIA.A), get9(work, at + INERTIA.H), get6(work, at + INERTIA.M)
    if end.is_at_point:
        A, H, M = stiffen_point(A, H, M, subtract(point(end, rows), p), get3(weights, end.row))
    else:
        for r in range(end.pushes):
            n, f = wrench(model, end, r, rows, work, dofs)
            n = subtract_cross(n, p, f)
            x = -weights[end.row + r]
            n_x, f_x = scale(x, n), scale(x, f)
            A, H, M = outer_update(A, n, n_x), outer_update9(H, n, f_x), outer_update(M, f, f_x)
        for r in range(end.pushes, end.count):
            n = get3(rows, end.place + r * ROW.size)
            A = outer_update(A, n, scale(-weights[end.row + r], n))
    put6(work, at + INERTIA.A, A)
    put9(work, at + INERTIA.H, H)
    put6(work, at + INERTIA.M, M)


@function
def stiffen_point(A, H, M, r, w):
    """The inertia with springs of stiffness w along the axes at r: M + w, H + (r x) w, ..."""
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


@function
def open_blocks(model, turn, weights, blocks, rows, work, dofs):
    """Start the blocks that a turn is the first to need, and add its link's springs to them."""
    for t in range(turn.first_opened, turn.first_opened + turn.opened):
        clear(part(blocks, model.opened[t] * BLOCK), BLOCK)
    for t in range(turn.first_couple, turn.first_couple + turn.couples):
        couple(model, model.couples[t], weights, blocks, rows, work, dofs)


@function
def couple(model, tie, weights, blocks, rows, work, dofs):
    """Add the springs between two ends of a piece to the block of their links."""
    end, other = model.ends[tie.end], model.ends[tie.other]
    p, p_other = get3(work, end.at + LINK.p), get3(work, other.at + LINK.p)
    if end.is_at_point:
        r, r_other = subtract(point(end, rows), p), subtract(point(other, rows), p_other)
        w = scale(end.sign * other.sign, get3(weights, end.row))
        couple_points(blocks, tie.block * BLOCK, r, r_other, w)
        return
    for r in range(end.count):
        n, f = wrench(model, end, r, rows, work, dofs)
        n_other, f_other = wrench(model, other, r, rows, work, dofs)
        x = -(end.sign * other.sign) * weights[end.row + r]
        n, f = scale(x, subtract_cross(n, p, f)), scale(x, f)
        update_block(
            blocks, tie.block * BLOCK, n, f, subtract_cross(n_other, p_other, f_other), f_other
        )


@function
def couple_points(blocks, at, r, r_other, w):
    """Add springs of stiffness w along the axes, between a point at r and one at r_other.

    That is [(r x); 1] w [(r_other x); 1]^T, by rows: forces at the other point, with their moments.
    """
    none = 0.0 * w[0]
    add_row(blocks, at, (none, -r[2] * w[1], r[1] * w[2]), r_other)
    add_row(blocks, at + 6, (r[2] * w[0], none, -r[0] * w[2]), r_other)
    add_row(blocks, at + 12, (-r[1] * w[0], r[0] * w[1], none), r_other)
    add_row(blocks, at + 18, (w[0], none, none), r_other)
    add_row(blocks, at + 24, (none, w[1], none), r_other)
    add_row(blocks, at + 30, (none, none, w[2]), r_other)


@function
def add_row(blocks, at, f, r):
    """Add a force at r to a row of a block, and its moment."""
    put3(blocks, at, add_cross(get3(blocks, at), r, f))
    put3(blocks, at + 3, add(get3(blocks, at + 3), f))


@function
def update_block(blocks, at, n, f, n_other, f_other):
    """C - (n, f) (n_other, f_other)^T"""
    for t in range(3):
        here, below = at + 6 * t, at + 18 + 6 * t
        put3(blocks, here, add_scaled(get3(blocks, here), -n[t], n_other))
        put3(blocks, here + 3, add_scaled(get3(blocks, here + 3), -n[t], f_other))
        put3(blocks, below, add_scaled(get3(blocks, below), -f[t], n_other))
        put3(blocks, below + 3, add_scaled(get3(blocks, below + 3), -f[t], f_other))


@function
def articulate_coupled(model, turn, is_first, weights, pulls, blocks, rows, work, dofs):
    """Project the inertia of a link that is coupled with others than its parent, and the blocks."""
    open_blocks(model, turn, weights, blocks, rows, work, dofs)
    link = model.links[turn.link]
    at, parent = turn.link * LINK.size, link.parent * LINK.size
    for k in range(link.v + link.nv - 1, link.v - 1, -1):
        dof, step = dofs + k * DOF.size, k - link.v
        projected = project(model, link, k, at, work, dof)
        pull_neighbours(model, turn, dof, step, blocks, pulls, work)
        loosen_neighbours(model, turn, projected, dof, step, blocks, pulls, work)
        if k > link.v:
            keep_remainder(at, projected, work)
        elif link.parent > 0:
            pass_remainder(model, link, is_first, at, parent, projected, work)
    hand_on(model, turn, blocks, work)


@function
def pull_neighbours(model, turn, dof, step, blocks, pulls, work):
    """C^T S for all neighbours of a link, for one degree of freedom of its joint, the `step`th."""
    at = turn.link * LINK.size
    p = get3(work, at + LINK.p)
    angular = get3(work, dof + DOF.angular)
    linear = add_cross(get3(work, dof + DOF.linear), angular, p)
    for t in range(turn.first_neighbour, turn.first_neighbour + turn.neighbours):
        near = model.neighbours[t]
        block = near.block * BLOCK
        n, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for s in range(3):
            n = add_scaled(n, angular[s], get3(blocks, block + 6 * s))
            f = add_scaled(f, angular[s], get3(blocks, block + 6 * s + 3))
            n = add_scaled(n, linear[s], get3(blocks, block + 18 + 6 * s))
            f = add_scaled(f, linear[s], get3(blocks, block + 18 + 6 * s + 3))
        pull = (near.pull + step) * PULL.size
        put3(pulls, pull + PULL.own_n, n)
        put3(pulls, pull + PULL.f, f)
        put3(pulls, pull + PULL.n, add_cross(n, get3(work, near.link * LINK.size + LINK.p), f))


@function
def push_neighbours(model, turn, step, u_D, pulls, work):
    """What remains for the neighbours of the force on a joint that gives way."""
    for t in range(turn.first_neighbour, turn.first_neighbour + turn.neighbours):
        near = model.neighbours[t]
        at, pull = load_place(len(model.links), near.link), (near.pull + step) * PULL.size
        n, f = get3(pulls, pull + PULL.n), get3(pulls, pull + PULL.f)
        put3(work, at + LOAD.n, add_scaled(get3(work, at + LOAD.n), u_D, n))
        put3(work, at + LOAD.f, add_scaled(get3(work, at + LOAD.f), u_D, f))


@function
def loosen_neighbours(model, turn, projected, dof, step, blocks, pulls, work):
    """Take off what a joint gives way, C - U D^-1 pull^T, and from all its neighbours alike."""
    D_inverse = work[dof + DOF.D_inverse]
    _, _, moment, force = projected
    for t in range(turn.first_neighbour, turn.first_neighbour + turn.neighbours):
        near = model.neighbours[t]
        pull, to = (near.pull + step) * PULL.size, near.link * LINK.size
        n, f = get3(pulls, pull + PULL.own_n), get3(pulls, pull + PULL.f)
        update_block(blocks, near.block * BLOCK, moment, force, n, f)
        n_D, f_D = scale(D_inverse, n), scale(D_inverse, f)
        put6(work, to + INERTIA.A, outer_update(get6(work, to + INERTIA.A), n, n_D))
        put9(work, to + INERTIA.H, outer_update9(get9(work, to + INERTIA.H), n, f_D))
        put6(work, to + INERTIA.M, outer_update(get6(work, to + INERTIA.M), f, f_D))
        for s in range(near.others):
            pull = (model.neighbours[t + 1 + s].pull + step) * PULL.size
            n_other, f_other = get3(pulls, pull + PULL.own_n), get3(pulls, pull + PULL.f)
            block = model.fill[near.first_block + s] * BLOCK
            update_block(blocks, block, n_D, f_D, n_other, f_other)


@function
def hand_on(model, turn, blocks, work):
    """Give the parent the blocks of a link, rows moved to its origin."""
    link = model.links[turn.link]
    at, to = turn.link * LINK.size, link.parent * LINK.size
    if link.parent > 0:
        r = subtract(get3(work, at + LINK.p), get3(work, to + LINK.p))
        for t in range(turn.first_neighbour, turn.first_neighbour + turn.neighbours):
            near = model.neighbours[t]
            block = near.block * BLOCK
            for column in range(6):
                move_column(blocks, block + column, r)
            if near.to_block == IS_PARENT:
                join(blocks, block, to, work)
            elif near.is_turned:
                add_turned(blocks, block, near.to_block * BLOCK)
            else:
                for s in range(BLOCK):
                    place = near.to_block * BLOCK + s
                    blocks[place] = blocks[place] + blocks[block + s]


@function
def move_column(blocks, at, r):
    """n + r x f for the wrench in a column"""
    f = (blocks[at + 18], blocks[at + 24], blocks[at + 30])
    n = add_cross((blocks[at], blocks[at + 6], blocks[at + 12]), r, f)
    blocks[at] = n[0]
    blocks[at + 6] = n[1]
    blocks[at + 12] = n[2]


@function
def add_turned(blocks, block, to):
    """Add the transpose of a block to another."""
    for s in range(6):
        for t in range(6):
            place = to + 6 * s + t
            blocks[place] = blocks[place] + blocks[block + 6 * t + s]


@function
def join(blocks, block, at, work):
    """A link that is coupled with itself: C + C^T is part of its inertia."""
    C = block
    A, M = get6(work, at + INERTIA.A), get6(work, at + INERTIA.M)
    put6(
        work,
        at + INERTIA.A,
        (
            A[0] + blocks[C] + blocks[C],
            A[1] + blocks[C + 1] + blocks[C + 6],
            A[2] + blocks[C + 2] + blocks[C + 12],
            A[3] + blocks[C + 7] + blocks[C + 7],
            A[4] + blocks[C + 8] + blocks[C + 13],
            A[5] + blocks[C + 14] + blocks[C + 14],
        ),
    )
    C = block + 21
    put6(
        work,
        at + INERTIA.M,
        (
            M[0] + blocks[C] + blocks[C],
            M[1] + blocks[C + 1] + blocks[C + 6],
            M[2] + blocks[C + 2] + blocks[C + 12],
            M[3] + blocks[C + 7] + blocks[C + 7],
            M[4] + blocks[C + 8] + blocks[C + 13],
            M[5] + blocks[C + 14] + blocks[C + 14],
        ),
    )
    for s in range(3):
        for t in range(3):
            place = at + INERTIA.H + 3 * s + t
            both = blocks[block + 6 * s + 3 + t] + blocks[block + 6 * (3 + t) + s]
            work[place] = work[place] + both

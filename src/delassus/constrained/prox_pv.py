"""Constrained dynamics by the Popov-Vereshchagin algorithm, proximal or not. O(n + m^2 d + m^3).

Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Algorithm 4. The
backward sweep is that of the articulated-body algorithm. Along with it go the wrenches K of the
rows: each joint takes off what it gives way, y = K S, and adds y D^-1 y^T to the Delassus matrix L.
The multipliers follow from L, by as many iterations as damping takes; then links move once.

    multipliers <- multipliers + x,  (L + mu) x = -r,  r <- -mu x

`pv` leaves out mu: it takes one step, and rows that are independent.

Departs from the paper in these ways:

- Vectors are in world axes about the tree's origin, so that nothing but what joints give way ever
  changes K: a piece's rows go down their path by threes, without being stored.
- The y of all joints are kept, and L is formed block by block of two pieces. They are the Y of the
  sparse factorisation (see `kkt`), found in O(d) instead of O(d^2).
- A free body that carries a tree is taken as a whole: its six y are L^-1 K with the factor of its
  inertia (see `free_root`).
- It stops where J^T r is small, the gradient of the least-squares problem, instead of L^T r. If
  rounding has spoilt that in the end, it starts again from the accelerations that it has found.
- An iteration only tells corrections, and r by what it has left of itself.
"""

from __future__ import annotations

from ..compile import any_true, clear, function, kernel, part, presume, select
from ..dynamics.aba import (
    DOF,
    LINK,
    MOTION,
    accelerate,
    pass_forces,
)
from ..dynamics.articulated import articulate
from ..dynamics.links import floats
from ..spatial.vectors import add_scaled, get3, put3, scale, subtract
from .articulated_rows import (
    eliminate_others,
    links_end,
    links_work,
    move_links,
    move_others,
    put_constraints,
)
from .caba_iterations import NEAR, SLOW, clear_world, gradient_length, put_residuals
from .free_root import factorize_root, joint_acceleration, joint_force
from .kkt import MARGIN, add_to_delassus, extents, factorize_dense, panel_row, solve_dense
from .open_trees import OpenArrays
from .prox_ltl import TURNS, put_multipliers, put_requests, take_back
from .pulls import add_pull, frame_wrench
from .rows import count_rows, rows_end, rows_work
from .solver import INFO, INPUTS, LIMITS, OUTPUTS, ROUNDING, WHOLE, length


def dual_work(n: dict[str, int]) -> int:
    """Memory of links, rows, and of the dual problem."""
    nv, blocks = n["nv"], n["blocks"]
    dual = n["panels"] + nv + blocks * (blocks + MARGIN) + 6 * blocks
    return links_work(n) + rows_work(n) + 4 * n["m"] + dual


@function
def dual_memory(model, work):
    """Where things stand: four numbers a row, Y, 1 / D, L, 1 / D_L, and what is free behind."""
    nv = len(model.armature)
    blocks, panels = extents(model)
    records = part(work, links_end(model) + nv * DOF.size)
    of_rows = part(records, rows_end(model))
    Y = part(of_rows, 4 * count_rows(model))
    D = part(Y, panels)
    L = part(D, nv)
    D_L = part(L, blocks * (blocks + MARGIN))
    return records, of_rows, Y, D, L, D_L, part(D_L, blocks)


@kernel(
    OpenArrays,
    shared=LIMITS,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=dual_work,
    label="constrained_dynamics by prox-pv",
)
def prox_pv(model, limits, q, v, tau, rows, whole, external_forces, a, multipliers, info, work):
    """M a + b = tau + J^T multipliers, J a + gamma = a*"""
    m, dofs = count_rows(model), links_end(model)
    blocks, _ = extents(model)
    records, of_rows, Y, D, L, D_L, rest = dual_memory(model, work)
    target, y = of_rows, part(of_rows, m)
    r, x, damping = rest, part(rest, blocks), part(rest, 2 * blocks)
    start, correction = part(rest, 3 * blocks), part(rest, 4 * blocks)
    eliminate(model, q, v, tau, rows, whole, external_forces, of_rows, records, work, dofs)
    put_requests(model, rows, damping, start)
    put_dual(model, target, damping, r, Y, D, L, records, work, dofs)
    factorize_dense(blocks, L, D_L)
    none = 0.0 * whole[WHOLE.tolerance]
    gradient = dual_gradient(model, r, y, none, records, work, dofs)
    goal = 0.5 * whole[WHOLE.tolerance] + ROUNDING * gradient
    info[INFO.start] = gradient
    info[INFO.iterations] = none
    left = limits[0]
    for turn in range(TURNS):
        if turn == 0 or (left > 0 and any_true(gradient > goal)):
            left = left - iterate(
                model, left, gradient, goal, whole, damping, L, D_L, r, x, y, correction, info,
                records, work, dofs,
            )  # fmt: skip
            push_joints(model, correction, Y, work, dofs)
            for t in range(blocks):
                start[t] = start[t] + correction[t]
            roll_out(model, a, work, dofs)
            # The r of the iteration does not know of the rounding of a.
            put_residuals(model, MOTION.alpha, target, y, records, work, dofs)
            gradient = gradient_length(model, y, none, records, work, dofs)
            put_padded(model, y, r)
    put_multipliers(model, start, multipliers)
    info[INFO.gradient] = gradient
    info[INFO.residual] = length(m, y, whole)
    move_others(model, a, work, dofs)


@kernel(
    OpenArrays,
    shared=LIMITS,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=dual_work,
    label="constrained_dynamics by pv",
)
def pv(model, limits, q, v, tau, rows, whole, external_forces, a, multipliers, info, work):
    """M a + b = tau + J^T multipliers, J a + gamma = a*, for independent rows: L x = -r"""
    m, dofs = count_rows(model), links_end(model)
    blocks, _ = extents(model)
    records, of_rows, Y, D, L, D_L, rest = dual_memory(model, work)
    target, y = of_rows, part(of_rows, m)
    r, damping, start = rest, part(rest, blocks), part(rest, 2 * blocks)
    eliminate(model, q, v, tau, rows, whole, external_forces, of_rows, records, work, dofs)
    put_requests(model, rows, damping, start)
    leave_undamped(model, damping)
    put_dual(model, target, damping, r, Y, D, L, records, work, dofs)
    factorize_dense(blocks, L, D_L)
    none = 0.0 * whole[WHOLE.tolerance]
    info[INFO.start] = dual_gradient(model, r, y, none, records, work, dofs)
    info[INFO.iterations] = 1.0 + none
    for t in range(blocks):
        r[t] = -r[t]
    solve_dense(blocks, L, D_L, r)
    push_joints(model, r, Y, work, dofs)
    for t in range(blocks):
        start[t] = start[t] + r[t]
    put_multipliers(model, start, multipliers)
    roll_out(model, a, work, dofs)
    put_residuals(model, MOTION.alpha, target, y, records, work, dofs)
    info[INFO.gradient] = gradient_length(model, y, none, records, work, dofs)
    info[INFO.residual] = length(m, y, whole)
    move_others(model, a, work, dofs)


# --- the backward sweep ---------------------------------------------------------------------------


@function
def eliminate(model, q, v, tau, rows, whole, external_forces, of_rows, records, work, dofs):
    """All joints, under the forces that multipliers start from; and gamma - a* first of rows."""
    m = count_rows(model)
    weights, forces, x = part(of_rows, m), part(of_rows, 2 * m), part(of_rows, 3 * m)
    move_links(model, q, v, external_forces, work, dofs)
    put_constraints(model, q, v, rows, whole, of_rows, weights, forces, records, work, dofs)
    for t in range(m):
        x[t] = -forces[t]
    for t in range(len(model.ends)):
        add_pull(model, model.ends[t], x, records, work, dofs)
    eliminate_others(model, tau, work, dofs)
    for t in range(len(model.stretches)):
        stretch = model.stretches[t]
        for i in range(stretch.last, stretch.first - 1, -1):
            if model.supports[stretch.turn + (stretch.last - i)].is_free:
                eliminate_free(model.links[i], i * LINK.size, tau, work, dofs)
            else:
                articulate(model, i, model.is_first[i], work, LINK.size, dofs, DOF.size)
                pass_forces(model, i, i, tau, work, dofs)
    clear_world(model, work)


@function
def eliminate_free(link, at, tau, work, dofs):
    """The factor of a free body's inertia, and u = L^-1 (its joint's force - (n, f))."""
    dof = dofs + link.v * DOF.size
    factorize_root(at, work, dof)
    n, f = joint_force(tau, link.v, work, dof)
    n, f = subtract(n, get3(work, at + LINK.n)), subtract(f, get3(work, at + LINK.f))
    u = dof + DOF.u
    for j in range(3):
        work[u + j * DOF.size] = n[j]
        work[u + (3 + j) * DOF.size] = f[j]
    for j in range(1, 6):
        x = work[u + j * DOF.size]
        for i in range(j):
            x = x - work[dof + j * DOF.size + DOF.G_angular + i] * work[u + i * DOF.size]
        work[u + j * DOF.size] = x


@function
def leave_undamped(model, damping):
    """No damping, but for the ones of rows that fill up a block."""
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for t in range(piece.count):
            damping[piece.block + t] = 0.0


@function
def put_dual(model, target, damping, r, Y, D, L, records, work, dofs):
    """The y of all rows, L + damping, and r = J a + gamma - a* of the motion without corrections"""
    blocks, _ = extents(model)
    for k in range(len(model.armature)):
        D[k] = work[dofs + k * DOF.size + DOF.D_inverse]
    put_padded(model, target, r)
    for c in range(len(model.pieces)):
        for g in range(0, model.pieces[c].height, 3):
            go_down(model, c, g, r, Y, records, work, dofs)
    pitch = blocks + MARGIN
    clear(L, blocks * pitch)
    for t in range(blocks):
        L[t * pitch + t] = damping[t]
    for t in range(len(model.meetings)):
        add_to_delassus(model, model.meetings[t], D, Y, L, blocks)


@function
def go_down(model, c, g, r, Y, records, work, dofs):
    """Three rows of a piece, from the g-th on, down all joints that carry its link."""
    piece, end = model.pieces[c], model.ends[model.piece_ends[c]]
    n, f = wrenches(piece, end, g, records)
    n0, n1, n2 = n
    f0, f1, f2 = f
    root = piece.root + piece.other_root  # the world's is 0
    is_free = floats(model, model.links[root])
    places = piece.length - 6 if is_free else piece.length
    link = model.links[end.link]
    k = link.v + link.nv - 1
    rest = get3(r, piece.block + g)
    for place in range(places):
        dof = dofs + k * DOF.size
        s, w = get3(work, dof + DOF.angular), get3(work, dof + DOF.linear)
        y = add_scaled(add_scaled(scale(s[0], n0), s[1], n1), s[2], n2)
        y = add_scaled(add_scaled(add_scaled(y, w[0], f0), w[1], f1), w[2], f2)
        put3(Y, piece.panel + place * piece.height + g, y)
        rest = add_scaled(rest, work[dof + DOF.u] * work[dof + DOF.D_inverse], y)
        s = scale(-1.0, get3(work, dof + DOF.G_angular))
        w = scale(-1.0, get3(work, dof + DOF.G_linear))
        n0, n1, n2 = add_scaled(n0, s[0], y), add_scaled(n1, s[1], y), add_scaled(n2, s[2], y)
        f0, f1, f2 = add_scaled(f0, w[0], y), add_scaled(f1, w[1], y), add_scaled(f2, w[2], y)
        k = model.dof_parent[k]
    if is_free:
        at = piece.panel + (piece.length - 1) * piece.height + g  # of the joint's first
        put3(Y, at, n0)
        put3(Y, at - piece.height, n1)
        put3(Y, at - 2 * piece.height, n2)
        put3(Y, at - 3 * piece.height, f0)
        put3(Y, at - 4 * piece.height, f1)
        put3(Y, at - 5 * piece.height, f2)
        rest = reduce_free(rest, at, piece.height, Y, work, dofs + model.links[root].v * DOF.size)
    put3(r, piece.block + g, rest)


@function
def wrenches(piece, end, g, records):
    """Moments and forces of three rows of a piece: by axes, and of each all rows."""
    n_a, f_a = row_wrench(piece, end, g, records)
    n_b, f_b = row_wrench(piece, end, g + 1, records)
    n_c, f_c = row_wrench(piece, end, g + 2, records)
    return (
        ((n_a[0], n_b[0], n_c[0]), (n_a[1], n_b[1], n_c[1]), (n_a[2], n_b[2], n_c[2])),
        ((f_a[0], f_b[0], f_c[0]), (f_a[1], f_b[1], f_c[1]), (f_a[2], f_b[2], f_c[2])),
    )


@function
def row_wrench(piece, end, r, records):
    """Moment and force of a row on the link that moves; none of those that fill up a block."""
    n, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if r < piece.count:
        n, f = frame_wrench(end, r, records)
        n, f = scale(end.sign, n), scale(end.sign, f)
    return n, f


@function
def reduce_free(rest, at, height, Y, work, dof):
    """y = L^-1 K of three rows on a free body; and r with what its motion adds."""
    for j in range(6):
        y = get3(Y, at - j * height)
        for i in range(j):
            factor = work[dof + j * DOF.size + DOF.G_angular + i]
            y = add_scaled(y, -factor, get3(Y, at - i * height))
        put3(Y, at - j * height, y)
        one = dof + j * DOF.size
        rest = add_scaled(rest, work[one + DOF.u] * work[one + DOF.D_inverse], y)
    return rest


@function
def put_padded(model, x, padded):
    """Numbers of rows, and zeros of those that fill up blocks."""
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for t in range(piece.count):
            padded[piece.block + t] = x[piece.row + t]
        for t in range(piece.count, piece.height):
            padded[piece.block + t] = 0.0


# --- iterations -----------------------------------------------------------------------------------


@function
def iterate(
    model, limit, gradient, goal, whole, damping, L, D_L, r, x, y, correction, info, records,
    work, dofs,
):  # fmt: skip
    """Add up corrections until J^T r is small; states that are done wait for the others."""
    blocks, _ = extents(model)
    for t in range(blocks):
        correction[t] = 0.0
    one, none = 1.0 + 0.0 * goal, 0.0 * goal
    own_count, residual = none, length(blocks, r, whole)
    count = 0
    while count < limit and any_true(gradient > goal):
        is_active = presume(gradient > goal, True)
        own_count = own_count + select(is_active, one, none)
        for t in range(blocks):
            x[t] = -r[t]
        solve_dense(blocks, L, D_L, x)
        for t in range(blocks):
            r[t] = select(is_active, -damping[t] * x[t], r[t])
            correction[t] = correction[t] + select(is_active, x[t], 0.0 * x[t])
        before = residual
        residual = length(blocks, r, whole)
        count = count + 1
        if any_true(residual < NEAR * goal) or any_true(residual > SLOW * before):
            gradient = dual_gradient(model, r, y, none, records, work, dofs)
    is_done = presume(gradient <= goal, False)
    take_back(blocks, is_done, damping, L, D_L, r, x, correction, own_count)
    info[INFO.iterations] = info[INFO.iterations] + own_count
    return count


@function
def dual_gradient(model, r, y, none, records, work, dofs):
    """The length of J^T r, for an r with rows that fill up blocks."""
    put_multipliers(model, r, y)
    return gradient_length(model, y, none, records, work, dofs)


# --- the roll-out ---------------------------------------------------------------------------------


@function
def push_joints(model, x, Y, work, dofs):
    """u + y^T x: what multipliers push at joints, with all that these carry."""
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        link = model.links[model.ends[model.piece_ends[c]].link]
        k = link.v + link.nv - 1
        for place in range(piece.length):
            u = dofs + k * DOF.size + DOF.u
            work[u] = work[u] + panel_row(piece, Y, place, x)
            k = model.dof_parent[k]


@function
def roll_out(model, a, work, dofs):
    """Accelerations of all joints and links that carry ends, from the world on."""
    for t in range(len(model.supports) - 1, -1, -1):
        turn = model.supports[t]
        if turn.is_free:
            accelerate_free(model.links[turn.link].v, turn.link * LINK.size, a, work, dofs)
        else:
            accelerate(model, turn.link, turn.link, a, work, dofs)


@function
def accelerate_free(v, at, a, work, dofs):
    """The motion of a free body: L^-T D^-1 u"""
    dof = dofs + v * DOF.size
    row = dof + DOF.G_angular
    b, c, d = row + DOF.size, row + 2 * DOF.size, row + 3 * DOF.size
    e, g = row + 4 * DOF.size, row + 5 * DOF.size
    x5 = reduced_motion(work, dof + 5 * DOF.size)
    x4 = reduced_motion(work, dof + 4 * DOF.size) - work[g + 4] * x5
    x3 = reduced_motion(work, dof + 3 * DOF.size) - work[g + 3] * x5 - work[e + 3] * x4
    x2 = reduced_motion(work, dof + 2 * DOF.size) - work[g + 2] * x5 - work[e + 2] * x4
    x2 = x2 - work[d + 2] * x3
    x1 = reduced_motion(work, dof + DOF.size) - work[g + 1] * x5 - work[e + 1] * x4
    x1 = x1 - work[d + 1] * x3 - work[c + 1] * x2
    x0 = reduced_motion(work, dof) - work[g] * x5 - work[e] * x4 - work[d] * x3
    x0 = x0 - work[c] * x2 - work[b] * x1
    alpha, linear = (x0, x1, x2), (x3, x4, x5)
    put3(work, at + MOTION.alpha, alpha)
    put3(work, at + MOTION.a, linear)
    joint_acceleration(alpha, linear, v, work, dof, a)


@function
def reduced_motion(work, dof):
    """D^-1 u"""
    return work[dof + DOF.D_inverse] * work[dof + DOF.u]

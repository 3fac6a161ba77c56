"""Constrained dynamics by the Popov-Vereshchagin algorithm, proximal or not. O(n + m^2 d + m^3).

Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Algorithm 4. The
backward sweep is that of the articulated-body algorithm. Along with it go the wrenches K of the
rows: each joint takes off what it gives way, y = K S, and adds y D^-1 y^T to the Delassus matrix L.
The multipliers follow from L, by as many iterations as damping takes; then links move once.

    multipliers <- multipliers + x,  (L + mu) x = -r,  r <- -mu x

`pv` leaves out mu: it takes one step, and rows that are independent.

| paper | here | what |
| --- | --- | --- |
| lines 1 to 4 | `move_links`, `put_constraints` | places, motions, rows |
| lines 5 to 8 | `eliminate` | articulated inertias and forces |
| K_i^A, line 9 | n0 .. f2 in `go_down` | three wrenches on their way to the world |
| K_i^A S_i | work.Y | what wrenches do along a joint |
| L_0^A, line 10 | work.G | the Delassus matrix |
| l_0, line 11 | padded.residual, at first | what rows miss without corrections |
| lines 12 to 15 | `correct` (see `prox_ltl`) | multipliers |
| lines 17 to 19 | `roll_out` | accelerations |

Departs from the paper in these ways:

- Vectors are in world axes about the tree's origin, so that nothing but what joints give way ever
  changes K: a piece's rows go down their path by threes, without being stored.
- The y of all joints are kept, and L is formed block by block of two pieces. They are the Y of the
  sparse factorisation (see `factor.kkt`), found in O(d) instead of O(d^2).
- A free body that carries a tree is taken as a whole: its six y are L^-1 K with the factor of its
  inertia (see `recursion.free_root`).
- It stops by another rule (see `proximal`). If rounding has spoilt J^T r in the end, it starts
  again from the accelerations that it has found.
"""

from __future__ import annotations

from ...compile import absolute, any_true, clear, function, kernel, layout, presume
from ...dynamics.aba import DOF, FORCE, LINK, MOTION, accelerate, pass_forces
from ...dynamics.steps.articulated import articulate
from ...dynamics.steps.links import floats
from ...spatial.vectors import add_scaled, get3, put3, scale
from ..factor.kkt import (
    MARGIN,
    add_to_delassus,
    factorize_dense,
    padded_extents,
    panel_row,
    solve_dense,
)
from ..recursion.free_root import (
    factorize_root,
    joint_acceleration,
    solve_lower_root,
    solve_upper_root,
)
from ..recursion.links import RECURSION, eliminate_others, move_links, move_others, put_constraints
from ..recursion.missing import (
    BIASES,
    CARRIED,
    keep_biases,
    keep_carried,
    motion_error,
    pull_error,
)
from ..recursion.open_trees import OpenArrays
from ..recursion.springs import add_pull, frame_wrench
from ..recursion.sweeps import clear_world, push_free_bodies, put_residuals, start_sizes
from ..rows.request import (
    DUAL,
    INFO,
    INPUTS,
    LIMITS,
    OPTIONS,
    OUTPUTS,
    ROUNDING,
    measure_rows,
    measured,
)
from ..rows.wrenches import count_rows
from .prox_ltl import (
    PADDED,
    TURNS,
    correct,
    part_rows,
    put_multipliers,
    put_requests,
    tell_rows,
)
from .proximal import ATTEMPTS, goal_of, is_open, is_uneven, tell_other_part

# Rows, links and joints; what the equations of motion are checked by; numbers of rows, and of
# padded rows; Y by panels, 1 / D of joints, and L + mu in G with the inverse of its D in D_G.
WORK = layout(
    RECURSION,
    CARRIED,
    BIASES,
    dual=DUAL,
    padded=PADDED,
    Y="panels",
    D="nv",
    G=lambda n: n["padded_rows"] * (n["padded_rows"] + MARGIN),
    D_G="padded_rows",
)


@kernel(
    OpenArrays,
    shared=LIMITS,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=WORK,
    label="constrained_dynamics by prox-pv",
)
def prox_pv(
    model, limits, q, v, tau, requests, options, external_forces, a, multipliers, info, work
):
    """M a + b = tau + J^T multipliers, J a + gamma = a*"""
    dual, padded, none = work.dual, work.padded, 0.0 * options[OPTIONS.tolerance]
    padded_rows, _ = padded_extents(model)
    stays, residual = none, none
    for attempt in range(ATTEMPTS):
        if attempt == 0 or is_uneven(stays, options):
            move_links(model, q, v, external_forces, work)
            put_constraints(model, q, v, requests, options, work)
            put_requests(model, stays, requests, options, options[OPTIONS.damping], work)
            eliminate(model, tau, work)
            put_dual(model, work)
            for t in range(padded_rows):
                r, target = padded.residual[t], padded.target[t]
                padded.sizes[t] = absolute(target) + absolute(r - target)
            measure_rows(padded_rows, ROUNDING, padded.multipliers, options, padded)
            residual = measured(padded_rows, padded.residual, padded, options)
            goal, stays = goal_of(options), none
            info[INFO.iterations] = none
            for turn in range(TURNS):
                if turn == 0 or is_open(residual, goal, stays, limits[0], info):
                    stays = correct(model, limits[0], stays, tau, goal, options, info, work)
                    push_joints(model, padded.correction, work)
                    roll_out(model, a, work)
                    # The residual of the iteration does not know of the rounding of a.
                    put_residuals(model, MOTION.alpha, dual.residual, work)
                    put_padded(model, dual.residual, padded.residual)
                    residual = measured(padded_rows, padded.residual, padded, options)
    put_answer(model, tau, options, a, multipliers, info, work)
    if any_true(presume(stays > 0.0, False)):
        put_padded(model, dual.floors, padded.floors)
        put_padded(model, dual.scales, padded.scales)
        part_rows(model, stays, tau, options, work)
        put_multipliers(model, padded.residual, dual.residual)
        imbalance = pull_error(model, tau, a, none, work)
        tell_other_part(padded_rows, stays, imbalance, options, info, padded)


@kernel(
    OpenArrays,
    shared=LIMITS,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=WORK,
    label="constrained_dynamics by pv",
)
def pv(model, limits, q, v, tau, requests, options, external_forces, a, multipliers, info, work):
    """M a + b = tau + J^T multipliers, J a + gamma = a*, for independent rows: L x = -r"""
    padded, none = work.padded, 0.0 * options[OPTIONS.tolerance]
    padded_rows, _ = padded_extents(model)
    move_links(model, q, v, external_forces, work)
    put_constraints(model, q, v, requests, options, work)
    put_requests(model, none, requests, options, none, work)
    leave_undamped(model, padded.damping)
    eliminate(model, tau, work)
    put_dual(model, work)
    info[INFO.iterations] = 1.0 + none
    for t in range(padded_rows):
        padded.correction[t] = -padded.residual[t]
    solve_dense(padded_rows, work.G, work.D_G, padded.correction)
    push_joints(model, padded.correction, work)
    for t in range(padded_rows):
        padded.multipliers[t] = padded.multipliers[t] + padded.correction[t]
    roll_out(model, a, work)
    put_residuals(model, MOTION.alpha, work.dual.residual, work)
    put_answer(model, tau, options, a, multipliers, info, work)


@function
def put_answer(model, tau, options, a, multipliers, info, work):
    """Multipliers, accelerations of links that support no constraint, and INFO."""
    dual, m, none = work.dual, count_rows(model), 0.0 * options[OPTIONS.tolerance]
    put_multipliers(model, work.padded.multipliers, multipliers)
    put_multipliers(model, work.padded.multipliers, dual.multipliers)
    start_sizes(model, MOTION.alpha, work)
    tell_rows(m, dual.multipliers, options, info, dual)
    info[INFO.motion] = motion_error(model, MOTION.alpha, tau, a, none, work)
    move_others(model, a, work)


# --- the backward sweep ---------------------------------------------------------------------------


@function
def eliminate(model, tau, work):
    """Eliminate all joints, under the forces that multipliers start from."""
    dual = work.dual
    eliminate_others(model, tau, work)
    keep_carried(model, work)
    keep_biases(model, work)
    push_free_bodies(model, tau, work)
    for t in range(count_rows(model)):
        dual.tension[t] = -dual.multipliers[t]
    for t in range(len(model.ends)):
        add_pull(model, model.ends[t], dual.tension, work)
    for t in range(len(model.stretches)):
        stretch = model.stretches[t]
        for i in range(stretch.last, stretch.first - 1, -1):
            if model.supports[stretch.turn + (stretch.last - i)].is_free:
                eliminate_free(model.links[i], i, work)
            else:
                articulate(model, i, model.is_first[i], work.links, LINK.size, work.dofs, DOF.size)
                pass_forces(model, i, i, tau, work)
    clear_world(model, work)


@function
def eliminate_free(link, i, work):
    """The factor of a free body's inertia, and u = -L^-1 (n, f) of what its motion needs."""
    dof, force = link.v * DOF.size, i * FORCE.size
    factorize_root(i * LINK.size, work.links, dof, work.dofs)
    n = scale(-1.0, get3(work.forces, force + FORCE.n))
    f = scale(-1.0, get3(work.forces, force + FORCE.f))
    x = solve_lower_root(n, f, work.dofs, dof)
    for j in range(6):
        work.dofs[dof + j * DOF.size + DOF.u] = x[j]


@function
def leave_undamped(model, damping):
    """No damping, except 1 for filler rows."""
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for t in range(piece.count):
            damping[piece.padded_row + t] = 0.0


@function
def put_dual(model, work):
    """The y of all rows, the factor of L + mu, and r of the motion without corrections"""
    padded = work.padded
    padded_rows, _ = padded_extents(model)
    for k in range(len(model.armature)):
        work.D[k] = work.dofs[k * DOF.size + DOF.D_inverse]
    for t in range(padded_rows):
        padded.residual[t] = padded.target[t]
    for c in range(len(model.pieces)):
        for g in range(0, model.pieces[c].height, 3):
            go_down(model, c, g, padded.residual, work)
    pitch = padded_rows + MARGIN
    clear(work.G, padded_rows * pitch)
    for t in range(padded_rows):
        work.G[t * pitch + t] = padded.damping[t]
    for t in range(len(model.meetings)):
        add_to_delassus(model, model.meetings[t], work.D, work.Y, work.G, padded_rows)
    factorize_dense(padded_rows, work.G, work.D_G)


@function
def go_down(model, c, g, r, work):
    """Rows g..g+2 of a piece, passed through all joints that carry its link: y, and r."""
    Y, dofs = work.Y, work.dofs
    piece, end = model.pieces[c], model.ends[model.piece_ends[c]]
    n, f = wrenches(piece, end, g, work.rows)
    n0, n1, n2 = n
    f0, f1, f2 = f
    root = piece.root + piece.other_root  # the world's is 0
    is_free = floats(model, model.links[root])
    places = piece.length - 6 if is_free else piece.length
    link = model.links[end.link]
    k = link.v + link.nv - 1
    rest = get3(r, piece.padded_row + g)
    for place in range(places):
        dof = k * DOF.size
        s, w = get3(dofs, dof + DOF.angular), get3(dofs, dof + DOF.linear)
        y = add_scaled(add_scaled(scale(s[0], n0), s[1], n1), s[2], n2)
        y = add_scaled(add_scaled(add_scaled(y, w[0], f0), w[1], f1), w[2], f2)
        put3(Y, piece.panel + place * piece.height + g, y)
        rest = add_scaled(rest, dofs[dof + DOF.u] * dofs[dof + DOF.D_inverse], y)
        s = scale(-1.0, get3(dofs, dof + DOF.G_angular))
        w = scale(-1.0, get3(dofs, dof + DOF.G_linear))
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
        rest = reduce_free(rest, at, piece.height, model.links[root].v * DOF.size, work)
    put3(r, piece.padded_row + g, rest)


@function
def wrenches(piece, end, g, rows):
    """Moments and forces of rows g..g+2: for each axis, a tuple of the three rows."""
    n_a, f_a = row_wrench(piece, end, g, rows)
    n_b, f_b = row_wrench(piece, end, g + 1, rows)
    n_c, f_c = row_wrench(piece, end, g + 2, rows)
    return (
        ((n_a[0], n_b[0], n_c[0]), (n_a[1], n_b[1], n_c[1]), (n_a[2], n_b[2], n_c[2])),
        ((f_a[0], f_b[0], f_c[0]), (f_a[1], f_b[1], f_c[1]), (f_a[2], f_b[2], f_c[2])),
    )


@function
def row_wrench(piece, end, r, rows):
    """Moment and force of a row on the link that moves; zero for filler rows."""
    n, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if r < piece.count:
        n, f = frame_wrench(end, r, rows)
        n, f = scale(end.sign, n), scale(end.sign, f)
    return n, f


@function
def reduce_free(rest, at, height, dof, work):
    """y = L^-1 K of three rows on a free body; and r with what its motion adds."""
    Y, dofs = work.Y, work.dofs
    for j in range(6):
        y = get3(Y, at - j * height)
        for i in range(j):
            factor = dofs[dof + j * DOF.size + DOF.G_angular + i]
            y = add_scaled(y, -factor, get3(Y, at - i * height))
        put3(Y, at - j * height, y)
        one = dof + j * DOF.size
        rest = add_scaled(rest, dofs[one + DOF.u] * dofs[one + DOF.D_inverse], y)
    return rest


@function
def put_padded(model, x, filled_up):
    """Copy numbers of rows to padded rows; filler rows stay as they are."""
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for t in range(piece.count):
            filled_up[piece.padded_row + t] = x[piece.row + t]


# --- the roll-out ---------------------------------------------------------------------------------


@function
def push_joints(model, x, work):
    """u + y^T x: add to the forces on joints what the multipliers x do."""
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        link = model.links[model.ends[model.piece_ends[c]].link]
        k = link.v + link.nv - 1
        for place in range(piece.length):
            u = k * DOF.size + DOF.u
            work.dofs[u] = work.dofs[u] + panel_row(piece, work.Y, place, x)
            k = model.dof_parent[k]


@function
def roll_out(model, a, work):
    """Accelerations of all joints and links that support constraints, from the world on."""
    for t in range(len(model.supports) - 1, -1, -1):
        turn = model.supports[t]
        if turn.is_free:
            accelerate_free(model.links[turn.link].v, turn.link * LINK.size, a, work)
        else:
            accelerate(model, turn.link, turn.link, a, work)


@function
def accelerate_free(v, at, a, work):
    """The motion of a free body: L^-T D^-1 u"""
    dof, dofs = v * DOF.size, work.dofs
    u = (
        dofs[dof + DOF.u],
        dofs[dof + DOF.size + DOF.u],
        dofs[dof + 2 * DOF.size + DOF.u],
        dofs[dof + 3 * DOF.size + DOF.u],
        dofs[dof + 4 * DOF.size + DOF.u],
        dofs[dof + 5 * DOF.size + DOF.u],
    )
    alpha, linear = solve_upper_root(u, dofs, dof)
    put3(work.links, at + MOTION.alpha, alpha)
    put3(work.links, at + MOTION.a, linear)
    joint_acceleration(alpha, linear, v, dofs, dof, a)

"""Constrained dynamics by proximal iterations on the sparse factorisation. O(n d^2 + m^2 d + m^3).

Carpentier, Budhiraja and Mansard, Proximal and Sparse Resolution of Constrained Dynamic Equations,
2021, Eq. (18). With r = J a + gamma - a* and G = J M^-1 J^T,

    multipliers <- multipliers + x,  (G + mu) x = -r,  r <- -mu x

where the last follows from G x = -r - mu x: nothing but the small triangular systems of G + mu is
solved in an iteration. It stops where J^T r, the gradient of the least-squares problem, is small,
and so has an answer where rows are redundant or contradict each other.

Departs from the paper in the sign of the multipliers, M a + b = tau + J^T multipliers, and in that
the velocity of the free system is never formed: its part in r is Y D^-1 U_M^-1 (tau - b).
"""

from __future__ import annotations

from ..compile import any_true, function, kernel, part, presume, select
from .equations import put_equations, system_memory, system_work
from .kkt import (
    add_panels,
    add_panels_transposed,
    add_scaled_panels,
    extents,
    factorize,
    solve_dense,
    solve_tree,
    solve_tree_transposed,
)
from .packed import ConstrainedArrays
from .rows import ROW
from .solver import INFO, INPUTS, LIMITS, OUTPUTS, REQUEST, ROUNDING, WHOLE, length

# How often the iteration may start again from accelerations that rounding has spoilt.
TURNS = 3


@kernel(
    ConstrainedArrays,
    shared=LIMITS,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=lambda n: system_work(n) + 2 * n["nv"] + 5 * n["blocks"],
    label="constrained_dynamics by prox-ltl",
)
def prox_ltl(model, limits, q, v, tau, rows, whole, external_forces, a, multipliers, info, work):
    """M a + b = tau + J^T multipliers, J a + gamma = a*"""
    nv = len(model.armature)
    blocks, _ = extents(model)
    records, J, Y, M, D, G, D_G, rest = system_memory(model, work)
    z, g, r, x = part(rest, 0), part(rest, nv), part(rest, 2 * nv), part(rest, 2 * nv + blocks)
    damping, start, correction = part(x, blocks), part(x, 2 * blocks), part(x, 3 * blocks)
    with_error = any_true(whole[WHOLE.kp] > 0.0)
    put_equations(model, q, v, tau, external_forces, with_error, M, z, J, records, work)
    put_requests(model, rows, damping, start)
    factorize(model, J, M, D, Y, G, D_G, damping)
    solve_tree(model, M, D, z)
    add_scaled_panels(model, Y, D, start, z)
    put_targets(model, records, rows, whole, r)
    add_panels(model, Y, z, r)
    gradient = gradient_length(model, J, r, g, whole)
    goal = 0.5 * whole[WHOLE.tolerance] + ROUNDING * gradient
    info[INFO.start] = gradient
    info[INFO.iterations] = 0.0 * gradient
    left = limits[0]
    for turn in range(TURNS):
        if turn == 0 or (left > 0 and any_true(gradient > goal)):
            taken = iterate(model, left, goal, whole, damping, J, G, D_G, g, r, x, correction, info)
            left = left - taken
            add_scaled_panels(model, Y, D, correction, z)
            for t in range(blocks):
                start[t] = start[t] + correction[t]
            for k in range(nv):
                a[k] = z[k]
            solve_tree_transposed(model, M, a)
            # The r of the iteration does not know of the rounding of a.
            put_targets(model, records, rows, whole, r)
            add_panels(model, J, a, r)
            gradient = gradient_length(model, J, r, g, whole)
    put_multipliers(model, start, multipliers)
    info[INFO.gradient] = gradient
    info[INFO.residual] = length(blocks, r, whole)


@function
def put_requests(model, rows, damping, start):
    """Damping and first multiplier of each row; rows that fill up a block have none."""
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for t in range(piece.height):
            damping[piece.block + t] = 1.0
            start[piece.block + t] = 0.0
        for t in range(piece.count):
            at = (piece.row + t) * REQUEST.size
            damping[piece.block + t] = rows[at + REQUEST.damping]
            start[piece.block + t] = rows[at + REQUEST.start]


@function
def put_targets(model, records, rows, whole, r):
    """gamma - a*, where a* = desired - kd J v - kp error"""
    kp, kd = whole[WHOLE.kp], whole[WHOLE.kd]
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for t in range(piece.count, piece.height):
            r[piece.block + t] = 0.0
        for t in range(piece.count):
            row = piece.row + t
            at = row * ROW.size
            x = records[at + ROW.drift] - rows[row * REQUEST.size + REQUEST.desired]
            x = x + kd * records[at + ROW.velocity] + kp * records[at + ROW.error]
            r[piece.block + t] = x


@function
def put_multipliers(model, padded, multipliers):
    """The multipliers of the rows, without those that fill up blocks."""
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for t in range(piece.count):
            multipliers[piece.row + t] = padded[piece.block + t]


@function
def iterate(model, limit, goal, whole, damping, J, G, D_G, g, r, x, correction, info):
    """Add up corrections until J^T r is small; states that are done wait for the others."""
    blocks, _ = extents(model)
    for t in range(blocks):
        correction[t] = 0.0
    gradient = gradient_length(model, J, r, g, whole)
    one = 1.0 + 0.0 * goal
    own_count = 0.0 * goal
    count = 0
    while count < limit and any_true(gradient > goal):
        is_active = presume(gradient > goal, True)
        own_count = own_count + select(is_active, one, 0.0 * one)
        for t in range(blocks):
            x[t] = -r[t]
        solve_dense(blocks, G, D_G, x)
        for t in range(blocks):
            r[t] = select(is_active, -damping[t] * x[t], r[t])
            correction[t] = correction[t] + select(is_active, x[t], 0.0 * x[t])
        gradient = gradient_length(model, J, r, g, whole)
        count = count + 1
    is_done = presume(gradient <= goal, False)
    take_back(blocks, is_done, damping, G, D_G, r, x, correction, own_count)
    info[INFO.iterations] = info[INFO.iterations] + own_count
    return count


@function
def take_back(blocks, is_done, damping, G, D_G, r, x, correction, count):
    """Multipliers without effect grow by the same each time, where rows contradict each other.

    So do those of rounding, where rows are redundant. Two steps leave nothing else in x.
    """
    for t in range(blocks):
        x[t] = -r[t]
    solve_dense(blocks, G, D_G, x)
    for t in range(blocks):
        x[t] = damping[t] * x[t]
    solve_dense(blocks, G, D_G, x)
    for t in range(blocks):
        correction[t] = correction[t] - select(is_done, count * x[t], 0.0 * x[t])


@function
def gradient_length(model, J, r, g, whole):
    """The length of J^T r."""
    for k in range(len(model.armature)):
        g[k] = 0.0
    add_panels_transposed(model, J, r, g)
    return length(len(model.armature), g, whole)

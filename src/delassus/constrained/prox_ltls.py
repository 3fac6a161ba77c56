"""Constrained dynamics by the augmented Lagrangian in joint coordinates. O(n d^2 + m d).

Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Sec. II-D2 and II-F:
M + J^T J / damping is assembled by the composite-rigid-body algorithm, springs along the rows taken
as inertia of the links that they pull at, factorised along the tree, and Eq. (16) iterated.

Departs from the paper as `caba` does: rows may be between two links that move, or couple joints
(see `augmented`); and iterations carry changes, each from what is missing in the equations of
motion, so that the stiffness of the springs costs no digits.
"""

from __future__ import annotations

from ..compile import any_true, clear, function, kernel, part, presume, select, slots
from ..dynamics.articulated import inertia_times
from ..spatial.vectors import (
    dot,
    get3,
    get6,
    get9,
    outer_update,
    outer_update9,
    put6,
    put9,
    scale,
)
from .augmented import AugmentedArrays, Tree
from .caba_iterations import CONTRADICTION, FAR
from .equations import DOF, LINK, put_equations
from .kkt import (
    MARGIN,
    add_panels,
    add_panels_transposed,
    extents,
    factorize_tree,
    solve_tree,
    solve_tree_transposed,
)
from .prox_ltl import gradient_length, put_multipliers, put_requests, put_targets
from .rows import ROW, rows_end, rows_work
from .solver import INFO, INPUTS, LIMITS, OUTPUTS, ROUNDING, WHOLE, length

# What springs add to the inertia of a link and of all that it carries, about the tree's origin.
STIFFNESS = slots(A=6, H=9, M=6)


def augmented_work(n: dict[str, int]) -> int:
    """Memory of the equations, of both matrices and of iterations."""
    nv, blocks = n["nv"], n["blocks"]
    links = n["n_links"] * (LINK.size + STIFFNESS.size) + nv * DOF.size
    return links + rows_work(n) + n["panels"] + 2 * nv * (nv + MARGIN) + 6 * nv + 5 * blocks


@kernel(
    AugmentedArrays,
    shared=LIMITS,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=augmented_work,
    label="constrained_dynamics by prox-ltls",
)
def prox_ltls(model, limits, q, v, tau, rows, whole, external_forces, a, multipliers, info, work):
    """M a + b = tau + J^T multipliers, J a + gamma = a*"""
    nv = len(model.armature)
    blocks, panels = extents(model)
    tree = Tree(model.tree_parent, model.tree_start, model.tree_end, model.armature)
    records = part(work, len(model.links) * LINK.size + nv * DOF.size)
    J = part(records, rows_end(model))
    M = part(J, panels)
    N = part(M, nv * (nv + MARGIN))
    D = part(N, nv * (nv + MARGIN))
    force, change, g, rest = part(D, nv), part(D, 2 * nv), part(D, 3 * nv), part(D, 4 * nv)
    target, weights, forces = part(rest, nv), part(rest, nv + blocks), part(rest, nv + 2 * blocks)
    r, x = part(rest, nv + 3 * blocks), part(rest, nv + 4 * blocks)
    stiffness = part(rest, nv + 5 * blocks)
    with_error = any_true(whole[WHOLE.kp] > 0.0)
    put_equations(model, q, v, tau, external_forces, with_error, M, force, J, records, work)
    put_requests(model, rows, weights, forces)
    put_targets(model, records, rows, whole, target)
    for t in range(blocks):
        weights[t] = 1.0 / weights[t]
    augment(model, weights, records, J, M, N, stiffness, work)
    factorize_tree(tree, N, D)
    iterate(
        model, tree, limits[0], whole, target, weights, forces, r, x, force, change, g, rest, J, M,
        N, D, a, info,
    )  # fmt: skip
    put_multipliers(model, forces, multipliers)


# --- the matrix -----------------------------------------------------------------------------------


@function
def augment(model, weights, records, J, M, N, stiffness, work):
    """N = M + J^T J / damping, by the new numbers of degrees of freedom."""
    nv = len(model.armature)
    clear(N, nv * (nv + MARGIN))
    for i in range(1, len(model.links)):
        if model.stiff[i] >= 0:
            clear(part(stiffness, model.stiff[i] * STIFFNESS.size), STIFFNESS.size)
    for t in range(len(model.springs)):
        stiffen(model, model.springs[t], weights, records, stiffness)
    for i in range(len(model.links) - 1, 0, -1):
        link = model.links[i]
        for k in range(link.v, link.v + link.nv):
            put_augmented_row(model, i, k, M, N, stiffness, work)
        if model.stiff[i] >= 0 and link.parent > 0:
            at = model.stiff[i] * STIFFNESS.size
            to = model.stiff[link.parent] * STIFFNESS.size
            for s in range(STIFFNESS.size):
                stiffness[to + s] = stiffness[to + s] + stiffness[at + s]
    for t in range(len(model.ties)):
        tie(model, model.pieces[model.ties[t]], weights, J, N)


@function
def stiffen(model, end, weights, records, stiffness):
    """The springs of a piece at its link."""
    piece, at = model.pieces[end.piece], model.stiff[end.link] * STIFFNESS.size
    for r in range(piece.count):
        row = (piece.row + r) * ROW.size + end.wrench
        n, f = get3(records, row), get3(records, row + 3)
        x = -weights[piece.block + r]
        n_x, f_x = scale(x, n), scale(x, f)
        A, M = get6(stiffness, at + STIFFNESS.A), get6(stiffness, at + STIFFNESS.M)
        H = get9(stiffness, at + STIFFNESS.H)
        put6(stiffness, at + STIFFNESS.A, outer_update(A, n, n_x))
        put9(stiffness, at + STIFFNESS.H, outer_update9(H, n, f_x))
        put6(stiffness, at + STIFFNESS.M, outer_update(M, f, f_x))


@function
def put_augmented_row(model, i, k, M, N, stiffness, work):
    """Entries of a degree of freedom with all that carry it, and with itself."""
    pitch = len(model.armature) + MARGIN
    dofs = len(model.links) * LINK.size
    row = model.place[k] * pitch
    last = k
    if model.stiff[i] >= 0:
        at = model.stiff[i] * STIFFNESS.size
        A, C = get6(stiffness, at + STIFFNESS.A), get6(stiffness, at + STIFFNESS.M)
        H, own = get9(stiffness, at + STIFFNESS.H), dofs + k * DOF.size
        angular, linear = get3(work, own + DOF.angular), get3(work, own + DOF.linear)
        n, f = inertia_times(A, H, C, angular, linear)
        while last >= 0:  # a run of numbers at a time
            first = model.chain_start[last]
            for j in range(first, last + 1):
                other = dofs + j * DOF.size
                x = M[k * pitch + j] + dot(get3(work, other + DOF.angular), n)
                N[row + model.place[j]] = x + dot(get3(work, other + DOF.linear), f)
            last = model.dof_parent[first]
    else:
        while last >= 0:
            first = model.chain_start[last]
            for j in range(first, last + 1):
                N[row + model.place[j]] = M[k * pitch + j]
            last = model.dof_parent[first]


@function
def tie(model, piece, weights, J, N):
    """J^T J / damping of a piece that pulls at several links."""
    pitch = len(model.armature) + MARGIN
    for s in range(piece.length):
        k = model.place[model.steps[piece.path + s].dof]
        for t in range(s, piece.length):
            j = model.place[model.steps[piece.path + t].dof]
            at = max(k, j) * pitch + min(k, j)
            x = N[at]
            for r in range(piece.count):
                y = J[piece.panel + s * piece.height + r] * J[piece.panel + t * piece.height + r]
                x = x + weights[piece.block + r] * y
            N[at] = x


# --- iterations -----------------------------------------------------------------------------------


@function
def iterate(
    model, tree, limit, whole, target, weights, forces, r, x, force, change, g, rest, J, M, N, D, a,
    info,
):  # fmt: skip
    """Eq. (16) until J^T r is small; states that are done wait for the others."""
    nv = len(model.armature)
    blocks, _ = extents(model)
    none = 0.0 * whole[WHOLE.tolerance]
    one = 1.0 + none
    for t in range(blocks):
        x[t] = forces[t] - weights[t] * target[t]
        r[t] = target[t]
    for k in range(nv):
        change[k] = force[k]
    respond(model, tree, J, N, D, x, change, rest)
    for k in range(nv):
        a[k] = change[k]
    add_panels(model, J, change, r)
    tighten(blocks, one > none, weights, r, forces)
    start = length(nv, change, whole)
    goal = 0.5 * whole[WHOLE.tolerance] + ROUNDING * start
    gradient, own_count = one + goal, one
    count = 1
    while count < limit and any_true(gradient > goal):
        is_active = presume(gradient > goal, True)
        own_count = own_count + select(is_active, one, none)
        for t in range(blocks):
            x[t] = select(is_active, forces[t] - weights[t] * r[t], 0.0 * r[t])
        put_imbalance(model, M, force, a, change)
        for k in range(nv):
            change[k] = select(is_active, change[k], 0.0 * change[k])
        respond(model, tree, J, N, D, x, change, rest)
        for k in range(nv):
            a[k] = a[k] + change[k]
        add_panels(model, J, change, r)
        tighten(blocks, is_active, weights, r, forces)
        count = count + 1
        gradient = gradient_length(model, J, r, g, whole)
    # The r of the iterations does not know of the rounding of accelerations.
    for t in range(blocks):
        x[t] = target[t]
    for k in range(nv):
        change[k] = a[k]
    add_panels(model, J, change, x)
    residual = length(blocks, x, whole)
    gradient = gradient_length(model, J, x, g, whole)
    left = select(gradient <= goal, residual, none)
    contradicts = presume(left > CONTRADICTION * start + FAR * goal, False)
    if any_true(contradicts):
        take_back(model, tree, contradicts, own_count, weights, forces, r, x, change, rest, J, N, D)
    info[INFO.start] = start
    info[INFO.gradient] = gradient
    info[INFO.residual] = residual
    info[INFO.iterations] = own_count


@function
def respond(model, tree, J, N, D, x, change, rest):
    """change <- N^-1 (change + J^T x)"""
    nv = len(model.armature)
    add_panels_transposed(model, J, x, change)
    for k in range(nv):
        rest[model.place[k]] = change[k]
    solve_tree(tree, N, D, rest)
    solve_tree_transposed(tree, N, rest)
    for k in range(nv):
        change[k] = rest[model.place[k]]


@function
def tighten(blocks, is_active, weights, r, forces):
    """Add to the multipliers what r does."""
    for t in range(blocks):
        forces[t] = forces[t] - select(is_active, weights[t] * r[t], 0.0 * r[t])


@function
def put_imbalance(model, M, force, a, change):
    """What is missing in the equations of motion without constraints: tau - b - M a"""
    nv = len(model.armature)
    pitch = nv + MARGIN
    for k in range(nv):
        change[k] = force[k]
    for k in range(nv):
        x = M[k * pitch + k] * a[k]
        last = model.dof_parent[k]
        while last >= 0:
            first = model.chain_start[last]
            for j in range(first, last + 1):
                x = x + M[k * pitch + j] * a[j]
                change[j] = change[j] - M[k * pitch + j] * a[k]
            last = model.dof_parent[first]
        change[k] = change[k] - x


@function
def take_back(model, tree, contradicts, count, weights, forces, r, x, change, rest, J, N, D):
    """Multipliers without effect grow by the same each time, where rows contradict each other.

    Two more iterations leave nothing else in r.
    """
    blocks, _ = extents(model)
    for _ in range(2):
        clear(change, len(model.armature))
        for t in range(blocks):
            x[t] = -select(contradicts, weights[t] * r[t], 0.0 * r[t])
        respond(model, tree, J, N, D, x, change, rest)
        add_panels(model, J, change, r)
    for t in range(blocks):
        y = count * (weights[t] * r[t])
        forces[t] = forces[t] + select(contradicts, y, 0.0 * y)

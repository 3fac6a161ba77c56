"""Constrained dynamics by the augmented Lagrangian in joint coordinates. O(n d^2 + m d).

Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Sec. II-D2 and II-F:
M_mu = M + J^T J / mu is assembled by the composite-rigid-body algorithm, springs along the rows
taken as inertia of the links that they pull at, factorised along the tree, and Eq. (16) iterated.

| paper | here | what |
| --- | --- | --- |
| M | work.M | mass matrix |
| M_mu | work.N, work.D | with springs; then its factor, and the inverse of D |
| mu | padded.weights | stiffness of the springs, 1 / mu elsewhere in this library |
| lambda | padded.multipliers, of the opposite sign | |

Departs from the paper as `caba` does: rows may be between two links that move, or couple joints
(see `factor.augmented`); and iterations carry changes, each from what is missing in the equations
of motion, so that the stiffness of the springs costs no digits.
"""

from __future__ import annotations

from ...compile import any_true, clear, function, kernel, layout, part, presume, select, slots
from ...dynamics.steps.articulated import inertia_times
from ...dynamics.steps.subspaces import along
from ...spatial.vectors import (
    get3,
    get6,
    get9,
    outer_update,
    outer_update9,
    put6,
    put9,
    scale,
)
from ..factor.augmented import AugmentedArrays, Tree
from ..factor.equations import DOF, EQUATIONS, put_equations
from ..factor.kkt import (
    MARGIN,
    add_panels,
    add_panels_transposed,
    factorize_tree,
    padded_extents,
    solve_tree,
    solve_tree_transposed,
)
from ..rows.request import INFO, INPUTS, LIMITS, OPTIONS, OUTPUTS, ROUNDING, measure_rows
from ..rows.wrenches import ROW
from .prox_ltl import (
    ERRORS,
    PADDED,
    joint_error,
    pull_error,
    put_multipliers,
    put_requests,
    start_sizes,
    tell_rows,
)
from .proximal import (
    ATTEMPTS,
    goal_of,
    is_uneven,
    proximal,
    tell_other_part,
    tighten,
)

# What springs add to the inertia of a link and of all that it carries, about the tree's origin.
STIFFNESS = slots(A=6, H=9, M=6)


def _matrix(n: dict[str, int]) -> int:
    return n["nv"] * (n["nv"] + MARGIN)


@kernel(
    AugmentedArrays,
    shared=LIMITS,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=layout(
        EQUATIONS,
        ERRORS,
        padded=PADDED,
        M=_matrix,
        N=_matrix,
        D="nv",
        force="nv",
        acceleration="nv",
        change="nv",
        reordered="nv",
        stiffness=("n_links", STIFFNESS),
    ),
    label="constrained_dynamics by prox-ltls",
)
def prox_ltls(
    model, limits, q, v, tau, requests, options, external_forces, a, multipliers, info, work
):
    """M a + b = tau + J^T multipliers, J a + gamma = a*"""
    padded = work.padded
    nv, none = len(model.armature), 0.0 * options[OPTIONS.tolerance]
    padded_rows, _ = padded_extents(model)
    everywhere, with_error = none <= none, any_true(options[OPTIONS.kp] > 0.0)
    count, growth, stays = none, none, none
    for attempt in range(ATTEMPTS):
        if attempt == 0 or is_uneven(stays, options):
            put_equations(model, q, v, tau, external_forces, with_error, work)
            put_requests(model, stays, requests, options, none, work)
            augment(model, work)
            factorize_tree(tree_of(model), work.N, work.D)
            for t in range(padded_rows):
                padded.tension[t] = padded.multipliers[t] - padded.weights[t] * padded.target[t]
                padded.residual[t] = padded.target[t]
            for k in range(nv):
                work.change[k] = work.force[k]
            respond(model, work)
            for k in range(nv):
                work.acceleration[k] = work.change[k]
            tighten(padded_rows, everywhere, padded, padded.multipliers)
            start_sizes(model, work.J, work.acceleration, padded)
            measure_rows(padded_rows, ROUNDING, padded.multipliers, options, padded)
            count, growth, stays = iterate(
                model, padded_rows, limits[0], 1, 1.0 + none, goal_of(options), options, tau,
                padded, padded.multipliers, work,
            )  # fmt: skip
    info[INFO.motion], info[INFO.iterations], growth = polish(
        model, padded_rows, limits[0], count, growth, options, tau, padded, padded.multipliers, work
    )
    # The residual of the iterations does not know of the rounding of accelerations.
    renew(model, everywhere, work)
    tell_rows(padded_rows, padded.multipliers, options, info, padded)
    if any_true(presume(stays > 0.0, False)):
        take_back(model, padded_rows, stays, growth, tau, options, padded, padded.multipliers, work)
        info[INFO.motion] = error(model, tau, none, work)
        imbalance = pull_error(model, work.J, padded, none, work)
        tell_other_part(padded_rows, stays, imbalance, options, info, padded)
    for k in range(nv):
        a[k] = work.acceleration[k]
    put_multipliers(model, padded.multipliers, multipliers)


@function
def tree_of(model):
    """The pattern of M_mu."""
    return Tree(model.tree_parent, model.tree_start, model.tree_end, model.armature)


# --- the matrix -----------------------------------------------------------------------------------


@function
def augment(model, work):
    """M_mu = M + J^T J / mu, by the new numbers of degrees of freedom."""
    nv, stiffness = len(model.armature), work.stiffness
    clear(work.N, nv * (nv + MARGIN))
    for i in range(1, len(model.links)):
        if model.stiff[i] >= 0:
            clear(part(stiffness, model.stiff[i] * STIFFNESS.size), STIFFNESS.size)
    for t in range(len(model.springs)):
        stiffen(model, model.springs[t], work)
    for i in range(len(model.links) - 1, 0, -1):
        link = model.links[i]
        for k in range(link.v, link.v + link.nv):
            put_augmented_row(model, i, k, work)
        if model.stiff[i] >= 0 and link.parent > 0:
            at = model.stiff[i] * STIFFNESS.size
            to = model.stiff[link.parent] * STIFFNESS.size
            for s in range(STIFFNESS.size):
                stiffness[to + s] = stiffness[to + s] + stiffness[at + s]
    for t in range(len(model.ties)):
        tie(model, model.pieces[model.ties[t]], work)


@function
def stiffen(model, end, work):
    """Add the springs of an end to the stiffness of its link: K^T K / mu."""
    stiffness, at = work.stiffness, model.stiff[end.link] * STIFFNESS.size
    block = model.pieces[end.piece].padded_row
    for r in range(end.count):
        row = (end.row + r) * ROW.size + end.wrench
        n, f = get3(work.rows, row), get3(work.rows, row + 3)
        x = -work.padded.weights[block + r]
        n_x, f_x = scale(x, n), scale(x, f)
        A, M = get6(stiffness, at + STIFFNESS.A), get6(stiffness, at + STIFFNESS.M)
        H = get9(stiffness, at + STIFFNESS.H)
        put6(stiffness, at + STIFFNESS.A, outer_update(A, n, n_x))
        put9(stiffness, at + STIFFNESS.H, outer_update9(H, n, f_x))
        put6(stiffness, at + STIFFNESS.M, outer_update(M, f, f_x))


@function
def put_augmented_row(model, i, k, work):
    """Row k of M_mu: its entries with all degrees of freedom that carry k, and with k itself."""
    M, N, dofs, pitch = work.M, work.N, work.dofs, len(model.armature) + MARGIN
    row, last = model.place[k] * pitch, k
    if model.stiff[i] >= 0:
        at = model.stiff[i] * STIFFNESS.size
        A, C = get6(work.stiffness, at + STIFFNESS.A), get6(work.stiffness, at + STIFFNESS.M)
        H, own = get9(work.stiffness, at + STIFFNESS.H), k * DOF.size
        angular, linear = get3(dofs, own + DOF.angular), get3(dofs, own + DOF.linear)
        n, f = inertia_times(A, H, C, angular, linear)
        while last >= 0:  # a run of numbers at a time
            first = model.chain_start[last]
            for j in range(first, last + 1):
                N[row + model.place[j]] = M[k * pitch + j] + along(dofs, j * DOF.size, n, f)
            last = model.dof_parent[first]
    else:
        while last >= 0:
            first = model.chain_start[last]
            for j in range(first, last + 1):
                N[row + model.place[j]] = M[k * pitch + j]
            last = model.dof_parent[first]


@function
def tie(model, piece, work):
    """J^T J / mu of a piece that pulls at several links."""
    J, N, pitch = work.J, work.N, len(model.armature) + MARGIN
    for s in range(piece.length):
        k = model.place[model.steps[piece.path + s].dof]
        for t in range(s, piece.length):
            j = model.place[model.steps[piece.path + t].dof]
            at = max(k, j) * pitch + min(k, j)
            x = N[at]
            for r in range(piece.count):
                y = J[piece.panel + s * piece.height + r] * J[piece.panel + t * piece.height + r]
                x = x + work.padded.weights[piece.padded_row + r] * y
            N[at] = x


# --- iterations -----------------------------------------------------------------------------------


@function
def primal_step(model, is_active, is_whole, tau, work):
    """Eq. (16): from what is missing in the equations of motion, or from springs alone."""
    padded = work.padded
    nv, change = len(model.armature), work.change
    padded_rows, _ = padded_extents(model)
    for t in range(padded_rows):
        x = -padded.weights[t] * padded.residual[t]
        if is_whole:
            x = x + padded.multipliers[t]
        padded.tension[t] = select(is_active, x, 0.0 * x)
    if is_whole:
        put_imbalance(model, work)
        for k in range(nv):
            change[k] = select(is_active, change[k], 0.0 * change[k])
    else:
        clear(change, nv)
    respond(model, work)
    for k in range(nv):
        work.acceleration[k] = work.acceleration[k] + change[k]


@function
def renew(model, is_active, work):
    """The residual of the accelerations found, of states that are active."""
    padded = work.padded
    padded_rows, _ = padded_extents(model)
    for t in range(padded_rows):
        padded.tension[t] = padded.target[t]
    add_panels(model, work.J, work.acceleration, padded.tension)
    for t in range(padded_rows):
        padded.residual[t] = select(is_active, padded.tension[t], padded.residual[t])


@function
def error(model, tau, none, work):
    """How far the equations of motion are from holding."""
    return joint_error(model, work.M, tau, work.acceleration, none, work)


iterate, polish, take_back = proximal(primal_step, renew, error, is_always_whole=True)


@function
def respond(model, work):
    """change <- M_mu^-1 (change + J^T tension), and what that does to the residual"""
    padded = work.padded
    nv, change, reordered, tree = len(model.armature), work.change, work.reordered, tree_of(model)
    add_panels_transposed(model, work.J, padded.tension, change)
    for k in range(nv):
        reordered[model.place[k]] = change[k]
    solve_tree(tree, work.N, work.D, reordered)
    solve_tree_transposed(tree, work.N, reordered)
    for k in range(nv):
        change[k] = reordered[model.place[k]]
    add_panels(model, work.J, change, padded.residual)


@function
def put_imbalance(model, work):
    """What is missing in the equations of motion without constraints: change = tau - b - M a"""
    M, a, change = work.M, work.acceleration, work.change
    nv = len(model.armature)
    pitch = nv + MARGIN
    for k in range(nv):
        change[k] = work.force[k]
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

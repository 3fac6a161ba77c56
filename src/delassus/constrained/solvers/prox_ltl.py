"""Constrained dynamics by proximal iterations on the sparse factorisation. O(n d^2 + m^2 d + m^3).

Carpentier, Budhiraja and Mansard, Proximal and Sparse Resolution of Constrained Dynamic Equations,
2021, Eq. (18). With r = J a + gamma - a* and G = J M^-1 J^T,

    multipliers <- multipliers + x,  (G + mu) x = -r,  r <- -mu x

where the last follows from G x = -r - mu x: nothing but the small triangular systems of G + mu is
solved in an iteration (see `proximal` for when it ends).

| paper | here | what |
| --- | --- | --- |
| M, J | work.M, work.J | by rows up to the diagonal, and by panels (see `factor.kkt`) |
| G + mu | work.G | the damped Delassus matrix |
| U_M, Y, U_G, D | work.M, work.Y, work.G; work.D, work.D_G | factors of K, and inverses of D |
| lambda | padded.multipliers, of the opposite sign | |
| x | padded.correction, added up | |

Departs from the paper in these ways:

- The sign of the multipliers: M a + b = tau + J^T multipliers.
- The acceleration of the free system, M^-1 (tau - b), is not formed: J times it is
  Y D_M^-1 U_M^-1 (tau - b).
- If rounding has spoilt J^T r in the end, it starts again from the accelerations found.
"""

from __future__ import annotations

from ...compile import (
    absolute,
    any_true,
    clear,
    function,
    kernel,
    layout,
    maximum,
    presume,
    select,
    sqrt,
)
from ...spatial.vectors import dot, get3
from ..factor.equations import SYSTEM, put_equations
from ..factor.kkt import (
    MARGIN,
    add_magnitudes,
    add_panels,
    add_scaled_panels,
    factorize,
    padded_extents,
    solve_dense,
    solve_tree,
    solve_tree_transposed,
)
from ..rows.packed import ConstrainedArrays
from ..rows.request import (
    CANCELS,
    INFO,
    INPUTS,
    LIMITS,
    OPTIONS,
    OUTPUTS,
    REQUEST,
    ROUNDING,
    ROW_FLOOR,
    dual_layout,
    length,
    measure_rows,
    measured,
    relative,
    target_of,
)
from .proximal import (
    ATTEMPTS,
    goal_of,
    is_open,
    is_uneven,
    level_weights,
    proximal,
    tell_other_part,
)

# How often the iteration may start again from accelerations that rounding has spoilt.
TURNS = 8
# Numbers of padded rows, in a part `padded` of memory: those of `rows.request.DUAL`, the damping,
# and the correction that iterations have added to the multipliers.
PADDED = layout(dual_layout("padded_rows"), damping="padded_rows", correction="padded_rows")
# The error of the equation of motion of each joint, and the sum of the squares of its terms.
ERRORS = layout(missing="nv", terms="nv")


@kernel(
    ConstrainedArrays,
    shared=LIMITS,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=layout(SYSTEM, ERRORS, padded=PADDED, mass=lambda n: n["nv"] * (n["nv"] + MARGIN), z="nv"),
    label="constrained_dynamics by prox-ltl",
)
def prox_ltl(
    model, limits, q, v, tau, requests, options, external_forces, a, multipliers, info, work
):
    """M a + b = tau + J^T multipliers, J a + gamma = a*"""
    padded, z = work.padded, work.z
    nv, none = len(model.armature), 0.0 * options[OPTIONS.tolerance]
    padded_rows, _ = padded_extents(model)
    with_error = any_true(options[OPTIONS.kp] > 0.0)
    stays, residual = none, none
    for attempt in range(ATTEMPTS):
        if attempt == 0 or is_uneven(stays, options):
            put_equations(model, q, v, tau, external_forces, with_error, work)
            put_requests(model, stays, requests, options, options[OPTIONS.damping], work)
            keep_tree(model, work.M, work.mass)
            factorize(model, work.J, padded.damping, work)
            for k in range(nv):
                z[k] = work.force[k]
            solve_tree(model, work.M, work.D, z)
            add_scaled_panels(model, work.Y, work.D, padded.multipliers, z)
            start_residual(model, work.Y, z, work)
            start_sizes(model, work.Y, z, padded)
            measure_rows(padded_rows, ROUNDING, padded.multipliers, options, padded)
            residual = measured(padded_rows, padded.residual, padded, options)
            goal, stays = goal_of(options), none
            info[INFO.iterations] = none
            for turn in range(TURNS):
                if turn == 0 or is_open(residual, goal, stays, limits[0], info):
                    stays = correct(model, limits[0], stays, tau, goal, options, info, work)
                    add_scaled_panels(model, work.Y, work.D, padded.correction, z)
                    for k in range(nv):
                        a[k] = z[k]
                    solve_tree_transposed(model, work.M, a)
                    # The residual of the iteration does not know of the rounding of a.
                    start_residual(model, work.J, a, work)
                    residual = measured(padded_rows, padded.residual, padded, options)
    info[INFO.motion] = joint_error(model, work.mass, tau, a, none, work)
    put_multipliers(model, padded.multipliers, multipliers)
    add_magnitudes(model, work.J, a, padded.sizes)
    tell(model, work.J, stays, tau, options, info, work)


@function
def tell(model, J, stays, tau, options, info, work):
    """What is left of the residual, and of it where rows contradict each other.

    `J` are the rows by panels, or rows with the same null space of J^T.
    """
    padded_rows, _ = padded_extents(model)
    tell_rows(padded_rows, work.padded.multipliers, options, info, work.padded)
    if any_true(presume(stays > 0.0, False)):
        part_rows(model, stays, tau, options, work)
        imbalance = pull_error(model, J, work.padded, 0.0 * stays, work)
        tell_other_part(padded_rows, stays, imbalance, options, info, work.padded)


@function
def tell_rows(count, multipliers, options, info, dual):
    """What is left of the residual, as a length and measured."""
    measure_rows(count, ROW_FLOOR, multipliers, options, dual)
    info[INFO.residual] = length(count, dual.residual, options)
    info[INFO.rows] = measured(count, dual.residual, dual, options)


@function
def start_sizes(model, Y, z, padded):
    """The magnitudes of all terms of r = gamma - a* + Y z"""
    padded_rows, _ = padded_extents(model)
    for t in range(padded_rows):
        padded.sizes[t] = absolute(padded.target[t])
    add_magnitudes(model, Y, z, padded.sizes)


@function
def pull_error(model, J, padded, none, work):
    """How far forces r along rows are from having no effect: J^T r, each relative to its terms.

    Rows of r are known to their floors, so that terms are at least as large as these, by CANCELS.
    """
    missing, terms = work.missing, work.terms
    nv = len(model.armature)
    for k in range(nv):
        missing[k] = none
        terms[k] = none
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for place in range(piece.length):
            k = model.steps[piece.path + place].dof
            for t in range(piece.count):
                x, row = J[piece.panel + place * piece.height + t], piece.padded_row + t
                y, least = x * padded.residual[row], x * (padded.floors[row] / CANCELS)
                missing[k] = missing[k] + y
                terms[k] = terms[k] + (y * y + least * least)
    square = none
    for k in range(nv):
        square = square + relative(missing[k] * missing[k], terms[k])
    return sqrt(square)


@function
def keep_tree(model, M, mass):
    """Copy the entries of M, up to the diagonal."""
    pitch = len(model.armature) + MARGIN
    for k in range(len(model.armature)):
        last = k
        while last >= 0:  # a run of numbers at a time
            first = model.chain_start[last]
            for j in range(first, last + 1):
                mass[k * pitch + j] = M[k * pitch + j]
            last = model.dof_parent[first]


@function
def put_requests(model, stays, requests, options, least, work):
    """Damping, stiffness, target and first multiplier of each row, and of filler rows.

    Damping is at least the part `least` of a row's diagonal. Rows that contradict each other get
    one damping (see `proximal`).
    """
    padded, gains = work.padded, (options[OPTIONS.kp], options[OPTIONS.kd])
    padded_rows, _ = padded_extents(model)
    for t in range(padded_rows):
        padded.damping[t] = 1.0
        padded.weights[t] = 1.0
        padded.lengths[t] = 1.0
        padded.diagonals[t] = 1.0
        padded.falling[t] = 0.0
        padded.multipliers[t] = 0.0
        padded.target[t] = 0.0
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for t in range(piece.count):
            at, to = (piece.row + t) * REQUEST.size, piece.padded_row + t
            smallest = least * requests[at + REQUEST.diagonal]
            damping = maximum(requests[at + REQUEST.damping], smallest)
            padded.damping[to] = damping
            padded.weights[to] = 1.0 / damping
            padded.lengths[to] = requests[at + REQUEST.length]
            padded.diagonals[to] = requests[at + REQUEST.diagonal]
            padded.falling[to] = requests[at + REQUEST.falling]
            padded.multipliers[to] = requests[at + REQUEST.start]
            padded.target[to] = target_of(piece.row + t, requests, gains, work.rows)
    if is_uneven(stays, options):
        level_weights(padded_rows, stays, options, padded)
        for t in range(padded_rows):
            level = 1.0 / padded.weights[t]
            padded.damping[t] = select(stays > 0.0, level, padded.damping[t])


@function
def start_residual(model, Y, x, work):
    """r = gamma - a* + J a, with J and a for Y and x, or with Y = J U_M^-T and x = U_M^T a."""
    padded = work.padded
    padded_rows, _ = padded_extents(model)
    for t in range(padded_rows):
        padded.residual[t] = padded.target[t]
    add_panels(model, Y, x, padded.residual)


@function
def put_multipliers(model, filled_up, multipliers):
    """The multipliers of the rows, without filler rows."""
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for t in range(piece.count):
            multipliers[piece.row + t] = filled_up[piece.padded_row + t]


@function
def dual_step(model, is_active, is_whole, tau, work):
    """r <- -mu x, (G + mu) x = -r"""
    padded = work.padded
    padded_rows, _ = padded_extents(model)
    for t in range(padded_rows):
        padded.tension[t] = padded.residual[t]
    solve_dense(padded_rows, work.G, work.D_G, padded.tension)
    for t in range(padded_rows):
        r = padded.damping[t] * padded.tension[t]
        padded.residual[t] = select(is_active, r, padded.residual[t])


iterate, _, take_back = proximal(dual_step)


@function
def correct(model, limit, stays, tau, goal, options, info, work):
    """Corrections of the multipliers until r is small.

    Returns in how many iterations r has stayed, as rows contradict each other. Needs a factor of
    G + mu in work.G and work.D_G.
    """
    padded = work.padded
    padded_rows, _ = padded_extents(model)
    clear(padded.correction, padded_rows)
    before = stays
    info[INFO.iterations], growth, stays = iterate(
        model, padded_rows, limit, 0, info[INFO.iterations], goal, options, tau, padded,
        padded.correction, work,
    )  # fmt: skip
    if any_true(presume(stays > 0.0, False)):
        take_back(model, padded_rows, stays, growth, tau, options, padded, padded.correction, work)
    for t in range(padded_rows):
        padded.multipliers[t] = padded.multipliers[t] + padded.correction[t]
    return maximum(before, stays)


@function
def part_rows(model, stays, tau, options, work):
    """Part r: what stays, as rows contradict each other, and in padded.kept the rest."""
    padded_rows, _ = padded_extents(model)
    padded = work.padded
    take_back(model, padded_rows, stays, 0.0 * stays, tau, options, padded, padded.correction, work)


@function
def joint_error(model, M, tau, a, none, work):
    """How far M a = tau - b + J^T multipliers is from holding, each row relative to its terms.

    Terms of b may cancel, as in free fall: they are as large as tau, or as the weight of what a
    joint carries, which by the inequality of Cauchy and Schwarz is at most |g| sqrt(M_kk m).
    """
    missing, terms, force, J = work.missing, work.terms, work.force, work.J
    nv = len(model.armature)
    pitch = nv + MARGIN
    gravity = get3(model.gravity, 0)
    for i in range(1, len(model.links)):
        link = model.links[i]
        weight = dot(gravity, gravity) * link.subtree_mass
        for k in range(link.v, link.v + link.nv):
            missing[k] = force[k]
            own = tau[k] * tau[k] + weight * M[k * pitch + k]
            terms[k] = force[k] * force[k] + own
    for k in range(nv):
        x = M[k * pitch + k] * a[k]
        missing[k] = missing[k] - x
        terms[k] = terms[k] + x * x
        last = model.dof_parent[k]
        while last >= 0:
            first = model.chain_start[last]
            for j in range(first, last + 1):
                x, y = M[k * pitch + j] * a[j], M[k * pitch + j] * a[k]
                missing[k], missing[j] = missing[k] - x, missing[j] - y
                terms[k], terms[j] = terms[k] + x * x, terms[j] + y * y
            last = model.dof_parent[first]
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for place in range(piece.length):
            k = model.steps[piece.path + place].dof
            for t in range(piece.count):
                x = J[piece.panel + place * piece.height + t]
                x = x * work.padded.multipliers[piece.padded_row + t]
                missing[k] = missing[k] + x
                terms[k] = terms[k] + x * x
    square = none
    for k in range(nv):
        square = square + relative(missing[k] * missing[k], terms[k])
    return sqrt(square)

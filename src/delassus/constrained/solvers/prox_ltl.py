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

from ...compile import any_true, function, kernel, layout, presume, select, sqrt
from ..factor.equations import SYSTEM, put_equations
from ..factor.kkt import (
    add_panels,
    add_panels_transposed,
    add_scaled_panels,
    factorize,
    padded_extents,
    solve_dense,
    solve_tree,
    solve_tree_transposed,
)
from ..rows.packed import ConstrainedArrays
from ..rows.request import INFO, INPUTS, LIMITS, OPTIONS, OUTPUTS, REQUEST, length, target_of
from .proximal import goal_of, proximal

# How often the iteration may start again from accelerations that rounding has spoilt.
TURNS = 3
# Numbers of padded rows, in a part `padded` of memory: those of `rows.request.DUAL`, the damping,
# and the correction that iterations have added to the multipliers.
PADDED = layout(
    target="padded_rows",
    residual="padded_rows",
    damping="padded_rows",
    weights="padded_rows",
    multipliers="padded_rows",
    tension="padded_rows",
    correction="padded_rows",
)


@kernel(
    ConstrainedArrays,
    shared=LIMITS,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=layout(SYSTEM, padded=PADDED, gradient="nv"),
    label="constrained_dynamics by prox-ltl",
)
def prox_ltl(
    model, limits, q, v, tau, requests, options, external_forces, a, multipliers, info, work
):
    """M a + b = tau + J^T multipliers, J a + gamma = a*"""
    padded = work.padded
    nv, none = len(model.armature), 0.0 * options[OPTIONS.tolerance]
    padded_rows, _ = padded_extents(model)
    z = work.force
    put_equations(model, q, v, tau, external_forces, any_true(options[OPTIONS.kp] > 0.0), work)
    put_requests(model, requests, options, work)
    factorize(model, work.J, padded.damping, work)
    solve_tree(model, work.M, work.D, z)
    add_scaled_panels(model, work.Y, work.D, padded.multipliers, z)
    start_residual(model, work.Y, z, work)
    gradient = gradient_length(model, padded.residual, none, work)
    goal = goal_of(options, gradient)
    info[INFO.start] = gradient
    info[INFO.iterations] = none
    left = limits[0]
    for turn in range(TURNS):
        if turn == 0 or (left > 0 and any_true(gradient > goal)):
            taken = correct(model, left, tau, goal, gradient, info, work)
            left = left - taken
            add_scaled_panels(model, work.Y, work.D, padded.correction, z)
            for k in range(nv):
                a[k] = z[k]
            solve_tree_transposed(model, work.M, a)
            # The residual of the iteration does not know of the rounding of a.
            start_residual(model, work.J, a, work)
            gradient = gradient_length(model, padded.residual, none, work)
    put_multipliers(model, padded.multipliers, multipliers)
    info[INFO.gradient] = gradient
    info[INFO.residual] = length(padded_rows, padded.residual, options)


@function
def put_requests(model, requests, options, work):
    """Damping, stiffness, target and first multiplier of each row, and of filler rows."""
    padded, gains = work.padded, (options[OPTIONS.kp], options[OPTIONS.kd])
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for t in range(piece.padded_row, piece.padded_row + piece.height):
            padded.damping[t] = 1.0
            padded.weights[t] = 1.0
            padded.multipliers[t] = 0.0
            padded.target[t] = 0.0
        for t in range(piece.count):
            at, to = (piece.row + t) * REQUEST.size, piece.padded_row + t
            padded.damping[to] = requests[at + REQUEST.damping]
            padded.weights[to] = requests[at + REQUEST.weight]
            padded.multipliers[to] = requests[at + REQUEST.start]
            padded.target[to] = target_of(piece.row + t, requests, gains, work.rows)


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


@function
def gradient_length(model, r, none, work):
    """|J^T r|; `none` is zero."""
    square = none
    for k in range(len(model.armature)):
        work.gradient[k] = 0.0
    add_panels_transposed(model, work.J, r, work.gradient)
    for k in range(len(model.armature)):
        square = square + work.gradient[k] * work.gradient[k]
    return sqrt(square)


def corrections(gradient_length, *, is_cheap: bool):
    """The function `correct` of a method with a factor of G + mu in work.G and work.D_G."""
    iterate, take_back = proximal(
        dual_step, gradient_length, is_cheap=is_cheap, is_always_whole=False
    )

    @function
    def correct(model, limit, tau, goal, gradient, info, work):
        """Add up corrections of the multipliers until |J^T r| is small; return how many."""
        padded_rows, _ = padded_extents(model)
        padded = work.padded
        for t in range(padded_rows):
            padded.correction[t] = 0.0
        count, own_count, gradient = iterate(
            model, padded_rows, limit, 0, tau, goal, gradient, padded, padded.correction, work
        )
        is_done = presume(gradient <= goal, False)
        if any_true(is_done):
            take_back(model, padded_rows, is_done, own_count, tau, padded, padded.correction, work)
        for t in range(padded_rows):
            padded.multipliers[t] = padded.multipliers[t] + padded.correction[t]
        info[INFO.iterations] = info[INFO.iterations] + own_count
        return count

    return correct


correct = corrections(gradient_length, is_cheap=True)

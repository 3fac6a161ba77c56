"""Constrained dynamics of a model with clusters: loops embedded, other rows by a Delassus matrix.

The articulated-body algorithm factorises the mass matrix in its own way: G^T M G = U D U^T, where
its sweep of forces applies U^-1, and its sweep of accelerations U^-T. Rows that hold the mechanism,
such as those of feet, go through the sweep of forces as strands (see `structure.routes`) and leave
Y = J U^-T. With that, Y D^-1 Y^T is their Delassus matrix, and what is left are the proximal
iterations of `constrained.solvers.prox_ltl`, Eq. (18) of Carpentier, Budhiraja and Mansard 2021,
whose symbols these are. O(n + m d + m^2 d' + m^3) for m rows, d joints above each and d' above two.

Once loops are embedded, rows are few: those of feet and hands. Their matrix is then small, and
costs less than springs on the links would, which take several sweeps and round off inertias.
"""

from __future__ import annotations

from ...compile import any_true, clear, function, kernel, layout
from ...constrained.factor.kkt import (
    MARGIN,
    add_panels_transposed,
    add_to_delassus,
    factorize_dense,
    padded_extents,
)
from ...constrained.factor.ltl import put_both_triangles
from ...constrained.rows.request import (
    INFO,
    INPUTS,
    LIMITS,
    OPTIONS,
    OUTPUTS,
    ROUNDING,
    measure_rows,
    measured,
)
from ...constrained.solvers.prox_ltl import (
    PADDED,
    TURNS,
    correct,
    put_multipliers,
    put_requests,
    start_residual,
    start_sizes,
    tell,
)
from ...constrained.solvers.proximal import (
    ATTEMPTS,
    goal_of,
    is_open,
    is_uneven,
)
from ...dynamics.aba import DOF
from ..steps.missing import MISSING, keep_forces, motion_error
from ..steps.strands import ROOT, put_held_residual, put_held_rows, put_strands
from ..structure.routes import HeldArrays
from .aba import WORK, eliminate, move, start

# Y by panels, and the inverse of D; G = Y D^-1 Y^T + mu, and the inverse of the D of its factor.
MATRIX = layout(
    Y="panels",
    D="spanning_nv",
    G=lambda n: n["padded_rows"] * (n["padded_rows"] + MARGIN),
    D_G="padded_rows",
    solved="most_y",
    roots=("n_roots", ROOT),
    all_v="spanning_nv",
    z="spanning_nv",
    force="spanning_nv",
    pulls="spanning_nv",
    missing="spanning_nv",
    terms="spanning_nv",
)


@kernel(
    HeldArrays,
    shared=LIMITS,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=layout(WORK, MATRIX, MISSING, padded=PADDED),
    label="constrained_dynamics by hybrid",
)
def hybrid(
    model, limits, q, v, tau, requests, options, external_forces, a, multipliers, info, work
):
    """M a + b = tau + J^T multipliers, J a + gamma = a*, all of y"""
    padded, none = work.padded, 0.0 * options[OPTIONS.tolerance]
    padded_rows, _ = padded_extents(model)
    start(model, q, v, tau, external_forces, work)
    put_held_rows(model, q, v, any_true(options[OPTIONS.kp] > 0.0), work)
    keep_forces(model, work)
    eliminate(model, tau, work)
    put_strands(model, work)
    for t in range(len(model.steps)):
        k = model.steps[t].dof
        work.force[k] = work.dofs[k * DOF.size + DOF.u]
    stays, residual = none, none
    for attempt in range(ATTEMPTS):
        if attempt == 0 or is_uneven(stays, options):
            put_requests(model, stays, requests, options, options[OPTIONS.damping], work)
            put_damped_delassus(model, work)
            factorize_dense(padded_rows, work.G, work.D_G)
            push(model, padded.multipliers, work)
            for t in range(len(model.steps)):
                k = model.steps[t].dof
                work.z[k] = work.D[k] * work.dofs[k * DOF.size + DOF.u]
            start_residual(model, work.Y, work.z, work)
            start_sizes(model, work.Y, work.z, padded)
            measure_rows(padded_rows, ROUNDING, padded.multipliers, options, padded)
            residual = measured(padded_rows, padded.residual, padded, options)
            goal, stays = goal_of(options), none
            info[INFO.iterations] = none
            for turn in range(TURNS):
                if turn == 0 or is_open(residual, goal, stays, limits[0], info):
                    stays = correct(model, limits[0], stays, tau, goal, options, info, work)
                    push(model, padded.multipliers, work)
                    move(model, a, work)
                    # The residual of the iteration does not know of the rounding of a.
                    put_held_residual(model, a, work)
                    residual = measured(padded_rows, padded.residual, padded, options)
    info[INFO.motion] = motion_error(model, tau, a, none, work)
    put_multipliers(model, padded.multipliers, multipliers)
    tell(model, work.Y, stays, tau, options, info, work)


@function
def put_damped_delassus(model, work):
    """The lower triangle of Y D^-1 Y^T + mu."""
    padded_rows, _ = padded_extents(model)
    put_delassus(model, work)
    for t in range(padded_rows):
        at = t * (padded_rows + MARGIN) + t
        work.G[at] = work.G[at] + work.padded.damping[t]


@function
def put_delassus(model, work):
    """The lower triangle of Y D^-1 Y^T."""
    padded_rows, _ = padded_extents(model)
    clear(work.G, padded_rows * (padded_rows + MARGIN))
    for t in range(len(model.meetings)):
        add_to_delassus(model, model.meetings[t], work.D, work.Y, work.G, padded_rows)


@function
def push(model, multipliers, work):
    """u of the free mechanism, and Y^T multipliers."""
    for t in range(len(model.steps)):
        work.pulls[model.steps[t].dof] = 0.0
    add_panels_transposed(model, work.Y, multipliers, work.pulls)
    for t in range(len(model.steps)):
        k = model.steps[t].dof
        work.dofs[k * DOF.size + DOF.u] = work.force[k] + work.pulls[k]


@kernel(
    HeldArrays,
    inputs={"q": "nq", "v": "nv", "external_forces": "n_bodies 6 optional"},
    outputs={"G": "m m"},
    work=layout(WORK, MATRIX),
    label="delassus_matrix with clusters",
)
def hybrid_delassus(model, q, v, external_forces, G, work):
    """J M^-1 J^T of y, at rest: v is zero, and no force is given."""
    start(model, q, v, v, external_forces, work)
    put_held_rows(model, q, v, False, work)
    eliminate(model, v, work)
    put_strands(model, work)
    put_delassus(model, work)
    put_both_triangles(model, work.G, G)

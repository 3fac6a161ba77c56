"""Derivatives of constrained dynamics. O(n^2 d + m n^2 + m^2 n).

The equations M a + b = tau + J^T multipliers and J a + gamma = a* are differentiated. With F the
derivative of M a + b - J^T multipliers, and C that of J a + gamma - a*, both at constant a and
multipliers,

    da = -P F - L^T C    dmultipliers = L F - G^+ C    P = M^-1 - M^-1 J^T L    L = G^+ J M^-1

with G = J M^-1 J^T. So da/dtau = P and dmultipliers/dtau = -L. Carpentier, Budhiraja and Mansard,
Proximal and Sparse Resolution of Constrained Dynamic Equations, 2021, has the equations and the
inverse of their matrix K, and leaves the derivatives to future work:

| paper | here | what |
| --- | --- | --- |
| Eq. (6) | solution of `solvers.prox_ltl`, in work.solution | a and multipliers |
| lambda | work.multipliers, of the opposite sign | |
| Lambda_mu (Eq. 20), mu -> 0 | G^+ in work.X | pseudo-inverse of the Delassus matrix |
| Lambda_mu J M^-1 (Eq. 19), mu -> 0 | -rows_dtau | L |
| M^-1 - M^-1 J^T Lambda_mu J M^-1 (Eq. 19), mu -> 0 | dtau | P |
| none | work.F_q, work.F_v; work.C_q, work.C_v | F and C, by q and v |

- `derivatives.rows` finds C.
- `dynamics.derivatives.rnea` finds F for forces of constraints that are fixed in the links, so that
  F has the pattern of the tree.
- `derivatives.inverse` finds P, L and G^+.
- `derivatives.products` multiplies them.
- `derivatives.forces` adds what F leaves out: how forces of constraints change relative to the
  links. These terms have low rank.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...compile import either, kernel, layout, part, routine
from ...dynamics.derivatives.rnea import DOF, LINK, put_forces, vary_links, vary_subtrees
from ...dynamics.derivatives.rnea import WORK as VARIED
from ...dynamics.steps.points import place_world
from ...model.model import Model
from ..rows.checks import check_constraints
from ..rows.constraints import Constraints
from ..rows.packed import ConstrainedArrays
from ..rows.request import INFO, INPUTS, OPTIONS, iteration_limit, request
from ..solvers.prox_ltl import prox_ltl
from .forces import CHANGE, WRENCH, add_changes, push_links, put_changes, put_wrench
from .inverse import INVERSE, PSEUDO_INVERSE, put_inverse
from .products import PRODUCTS, multiply
from .rows import RATE, put_rates, put_row_derivatives

_solve = prox_ltl.function


def _matrix(n: dict[str, int]) -> int:
    return n["nv"] * n["nv"]


# G^+; memory of `inverse` and of `products`, at different times; the solution and its factors;
# motions of links and their variations; F and C by q and v; for each step its CHANGE, for each
# piece its WRENCH, for each row its RATE.
WORK = layout(
    PSEUDO_INVERSE,
    either(INVERSE, PRODUCTS),
    solution=prox_ltl.work,
    a="nv",
    multipliers="m",
    info=INFO.size,
    varied=VARIED,
    F_q=_matrix,
    F_v=_matrix,
    C_q="panels",
    C_v="panels",
    changes=lambda n: n["panels"] // 3 * CHANGE.size,
    wrenches=("m", WRENCH),
    rates=("m", RATE),
)


@kernel(
    ConstrainedArrays,
    shared=("limits",),
    inputs=INPUTS,
    outputs={
        "dq": "nv nv",
        "dv": "nv nv",
        "dtau": "nv nv",
        "rows_dq": "m nv",
        "rows_dv": "m nv",
        "rows_dtau": "m nv",
    },
    work=WORK,
    label="constrained_dynamics_derivatives",
)
def prox_derivatives(
    model, limits, q, v, tau, requests, options, external_forces,
    dq, dv, dtau, rows_dq, rows_dv, rows_dtau, work,
):  # fmt: skip
    """Derivatives of a and multipliers in M a + b = tau + J^T multipliers, J a + gamma = a*

    Its arguments are more than ten, as they are all that a solver is asked, and six matrices.
    """
    a, multipliers, solution, links = work.a, work.multipliers, work.solution, work.varied.links
    _solve(
        model, limits, q, v, tau, requests, options, external_forces, a, multipliers, work.info,
        solution,
    )  # fmt: skip
    vary_links(model, q, v, a, work.varied)
    place_world(links)
    vary_pieces(model, q, options, work)
    put_forces(model, external_forces, links)
    for c in range(len(model.pieces)):
        push_links(model, c, work.wrenches, links, LINK.size)
    vary_subtrees(model, work.F_q, work.F_v, dtau, False, work.varied)

    tolerance, damping = options[OPTIONS.tolerance], solution.padded.damping
    put_inverse(model, limits[0], tolerance, solution, damping, dtau, rows_dtau, work.X, work)
    multiply(model, q, v, (dtau, rows_dtau, work.X), (dq, dv, rows_dq, rows_dv), work)
    for c in range(len(model.pieces)):
        add_changes(model, c, work.varied.dofs, DOF.size, dtau, rows_dtau, dq, rows_dq, work)


@routine
def vary_pieces(model, q, options, work):
    """C of all pieces, their wrenches, and the changes of these with q."""
    links, dofs, solution = work.varied.links, work.varied.dofs, work.solution
    gains = options[OPTIONS.kp], options[OPTIONS.kd]
    for c in range(len(model.pieces)):
        piece, wrench = model.pieces[c], part(work.wrenches, c * WRENCH.size)
        put_rates(
            model, piece, q, work.a, work.multipliers, gains, links, LINK.size, work.rates, solution
        )
        put_wrench(model, piece, solution.rows, work.multipliers, wrench)
        put_changes(
            model, piece, q, work.multipliers, wrench, links, LINK.size, dofs, DOF.size,
            work.changes,
        )  # fmt: skip
        put_row_derivatives(
            model, piece, gains, dofs, DOF.size, work.rates, work.C_q, work.C_v, solution
        )


class ConstrainedDerivatives(NamedTuple):
    """Derivatives of accelerations, (..., nv, nv) each, and of multipliers, (..., m, nv)."""

    dq: np.ndarray
    dv: np.ndarray
    dtau: np.ndarray
    multipliers_dq: np.ndarray
    multipliers_dv: np.ndarray
    multipliers_dtau: np.ndarray


def constrained_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    constraints: Constraints,
    external_forces: ArrayLike | None = None,
    *,
    damping: float | ArrayLike | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 20,
    desired: ArrayLike | None = None,
    threads: int | None = None,
    out: Sequence[np.ndarray] | None = None,
) -> ConstrainedDerivatives:
    """Derivatives of a and multipliers in M a + b = tau + J^T multipliers, J a + dJ/dt v = a*.

    Those by q are along the tangent space: column j is the rate as q moves with unit velocity v_j.
    External forces are constant in their bodies' axes. Stabilisation varies with q and v; `desired`
    is constant.

    Where rows are redundant, the derivatives of a are still those of the motion. Multipliers are
    then not unique, and their derivatives are one choice among many. Where rows contradict each
    other, their residual counts as constant.
    """
    cs = check_constraints(model, constraints)
    inputs = (q, v, tau, *request(cs, damping, desired, None, tolerance, q, v, tau))
    if external_forces is not None:
        inputs = (*inputs, external_forces)
    found = prox_derivatives(cs, inputs, out, threads, iteration_limit(max_iterations))
    return ConstrainedDerivatives._make(found)

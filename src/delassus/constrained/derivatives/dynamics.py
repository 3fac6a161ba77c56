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

from ...compile import either, kernel, layout
from ...dynamics.derivatives.rnea import DOF, LINK, put_forces, vary_links, vary_subtrees
from ...dynamics.steps.points import place_world
from ...model.model import Model
from ..rows.checks import check_constraints
from ..rows.constraints import Constraints
from ..rows.packed import ConstrainedArrays
from ..rows.request import INFO, INPUTS, OPTIONS, converged, iteration_limit, request
from ..solvers.prox_ltl import prox_ltl
from ..solvers.traced import check_traced
from .forces import add_changes, add_turns, push_links
from .inverse import INVERSE, PSEUDO_INVERSE, put_inverse
from .parts import replace
from .products import PRODUCTS, multiply
from .variation import VARIATIONS, vary_pieces

_solve = prox_ltl.function


# G^+; memory of `inverse` and of `products`, at different times; the solution and its factors; and
# what is multiplied.
WORK = layout(
    PSEUDO_INVERSE,
    either(INVERSE, PRODUCTS),
    VARIATIONS,
    solution=prox_ltl.work,
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
        "info": f"{INFO.size + 1}",
    },
    work=WORK,
    label="constrained_dynamics_derivatives",
)
def prox_derivatives(
    model, limits, q, v, tau, requests, options, external_forces,
    dq, dv, dtau, rows_dq, rows_dv, rows_dtau, info, work,
):  # fmt: skip
    """Derivatives of a and multipliers in M a + b = tau + J^T multipliers, J a + gamma = a*

    Its arguments are more than ten, as they are all that a solver is asked, and six matrices.
    Behind INFO of the solution is zero where rows are independent, and G^+ has all digits.
    """
    a, multipliers, solution, links = work.a, work.multipliers, work.solution, work.varied.links
    _solve(
        model, limits, q, v, tau, requests, options, external_forces, a, multipliers, info,
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
    info[INFO.size] = put_inverse(
        model, limits[0], tolerance, solution, damping, dtau, rows_dtau, work.X, work
    )
    multiply(model, q, v, (dtau, rows_dtau, work.X), (dq, dv, rows_dq, rows_dv), work)
    for c in range(len(model.pieces)):
        add_changes(model, c, work.varied.dofs, DOF.size, dtau, rows_dtau, dq, rows_dq, work)
        add_turns(model, c, work.varied.dofs, DOF.size, rows_dq, work)


class _Matrices(NamedTuple):
    dq: np.ndarray
    dv: np.ndarray
    dtau: np.ndarray
    multipliers_dq: np.ndarray
    multipliers_dv: np.ndarray
    multipliers_dtau: np.ndarray


class ConstrainedDerivatives(_Matrices):
    """Derivatives of accelerations, (..., nv, nv) each, and of multipliers, (..., m, nv).

    `converged` tells whether the solution that they are taken at has converged, by the definition
    of `ConstrainedSolution.converged`; None for symbols.
    """

    converged: bool | np.ndarray | None = None


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

    Where rows are redundant, multipliers are the shortest, each counted by the root of its row's
    damping, and so are those that the derivatives are of: all along which the rank of rows stays as
    it is. For loops these are the motions that keep them closed; along others rows contradict each
    other, and multipliers have no derivative. Where rows contradict each other, their residual
    counts as constant. Redundant rows are solved by singular values, which takes longer.
    """
    cs = check_constraints(model, constraints)
    check_traced(cs, damping, tolerance, max_iterations, q, v, tau)
    requests, options = request(cs, damping, desired, None, tolerance, q, v, tau)
    inputs = (q, v, tau, requests, options)
    if external_forces is not None:
        inputs = (*inputs, external_forces)
    given = None if out is None else (*out, np.empty((*np.shape(out[0])[:-2], INFO.size + 1)))
    found = prox_derivatives(cs, inputs, given, threads, iteration_limit(max_iterations))
    *matrices, info = found
    result = ConstrainedDerivatives._make(matrices)
    if type(info) is not np.ndarray:
        return result
    told = info[..., INFO.rows], info[..., INFO.motion]
    is_done = converged(*told, tolerance, np.finfo(options.dtype).eps) != 0
    is_simple = is_done & (info[..., INFO.size] == 0.0)
    if not np.all(is_simple) and cs.model.tree is cs.model:
        is_done = replace(cs, inputs, matrices, is_simple, is_done, tolerance, threads)
    result.converged = bool(is_done) if np.ndim(is_done) == 0 else is_done
    return result

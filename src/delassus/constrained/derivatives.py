"""Derivatives of constrained dynamics. O(n^2 d + m n^2 + m^2 n).

Carpentier, Budhiraja and Mansard, Proximal and Sparse Resolution of Constrained Dynamic Equations,
2021: where M a + b = tau + J^T multipliers and J a + gamma = a*, with F the derivative of
M a + b - J^T multipliers and C that of J a + gamma - a*, at constant a and multipliers,

    da = -P F - L^T C    dmultipliers = L F - G^+ C    P = M^-1 - M^-1 J^T L    L = G^+ J M^-1

with G = J M^-1 J^T, and so da/dtau = P, dmultipliers/dtau = -L.

- `derivatives_rows` has C,
- `dynamics.rnea_derivatives` F, with forces of constraints that are fixed in the links, so that it
  has the pattern of the tree,
- `derivatives_inverse` P, L and G^+,
- `derivatives_products` the products,
- `derivatives_forces` what turns the forces of constraints against the links. It is of low rank,
  and is added at the end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..compile import function, kernel, part
from ..dynamics.rnea_derivatives import (
    DOF,
    LINK,
    put_forces,
    rnea_derivatives,
    vary_links,
    vary_subtrees,
)
from ..model.model import Model
from .constraints import Constraints
from .derivatives_forces import CHANGE, WRENCH, add_changes, push_links, put_changes, put_wrench
from .derivatives_inverse import inverse_work, padded, put_inverse
from .derivatives_products import multiply, product_work
from .derivatives_rows import RATE, put_rates, put_row_derivatives
from .dynamics import (
    check_constraints,
    fitting,
    iteration_limit,
    request,
    state_count,
)
from .equations import system_memory
from .jacobian import place_world
from .kkt import extents
from .packed import ConstrainedArrays
from .prox_ltl import prox_ltl, put_requests
from .rows import count_rows
from .solver import INFO, INPUTS, WHOLE

_solve = prox_ltl.function


def derivatives_work(n: dict[str, int]) -> int:
    """Work memory: the solution and its factors, F, C and what they are made of, the inverse."""
    nv, m, panels = n["nv"], n["m"], n["panels"]
    solution = nv + m + INFO.size + prox_ltl.work(n)
    pieces = 2 * panels + panels // 3 * CHANGE.size + m * (WRENCH.size + RATE.size)
    inverse = (m + 3) * (m + 3) + max(inverse_work(n), product_work(nv, m))
    return solution + pieces + 2 * nv * nv + rnea_derivatives.work(n) + inverse


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
    work=derivatives_work,
    label="constrained_dynamics_derivatives",
)
def prox_derivatives(
    model, limits, q, v, tau, rows, whole, external_forces,
    dq, dv, dtau, rows_dq, rows_dv, rows_dtau, work,
):  # fmt: skip
    """Derivatives of a and multipliers in M a + b = tau + J^T multipliers, J a + gamma = a*"""
    nv, m = len(model.armature), count_rows(model)
    blocks, _ = extents(model)
    a, multipliers, info = work, part(work, nv), part(work, nv + m)
    solved = part(info, INFO.size)
    _solve(model, limits, q, v, tau, rows, whole, external_forces, a, multipliers, info, solved)
    records, J, Y, M, D, G, D_G, damping = system_memory(model, solved)
    put_requests(model, rows, damping, part(damping, blocks))
    C, F, pieces, links, X, rest = derivatives_memory(model, part(damping, 2 * blocks))
    dofs = part(links, len(model.links) * LINK.size)

    vary_links(model, q, v, a, links)
    place_world(links)
    vary_pieces(model, q, a, whole, multipliers, links, dofs, records, pieces, C)
    put_forces(model, external_forces, links)
    for c in range(len(model.pieces)):
        push_links(model, c, pieces[0], links, LINK.size)
    vary_subtrees(model, F[0], F[1], dtau, False, links)

    tolerance = whole[WHOLE.tolerance]
    put_inverse(
        model, limits[0], tolerance, M, D, Y, G, D_G, damping, dtau, rows_dtau, X, rest
    )  # fmt: skip
    results = (dq, dv, rows_dq, rows_dv)
    multiply(model, q, v, (dtau, rows_dtau, X), F, C, J, results, rest)
    for c in range(len(model.pieces)):
        add_changes(model, c, pieces, dofs, DOF.size, records, dtau, rows_dtau, dq, rows_dq)


@function
def derivatives_memory(model, work):
    """C and F by q and v; wrenches of pieces, their changes, rates of rows; links; G^+; the rest"""
    nv, m = len(model.armature), count_rows(model)
    _, panels = extents(model)
    C_q, C_v, changes = work, part(work, panels), part(work, 2 * panels)
    wrenches = part(changes, panels // 3 * CHANGE.size)
    rates = part(wrenches, m * WRENCH.size)
    F_q = part(rates, m * RATE.size)
    F_v = part(F_q, nv * nv)
    links = part(F_v, nv * nv)
    X = part(links, len(model.links) * LINK.size + nv * DOF.size)
    rest = part(X, padded(m) * padded(m))
    return (C_q, C_v), (F_q, F_v), (wrenches, changes, rates), links, X, rest


@function
def vary_pieces(model, q, a, whole, multipliers, work, dofs, rows, pieces, C):
    """C, the wrenches of the pieces, and how they change."""
    wrenches, changes, rates = pieces
    kp, kd = whole[WHOLE.kp], whole[WHOLE.kd]
    for c in range(len(model.pieces)):
        piece, wrench = model.pieces[c], part(wrenches, c * WRENCH.size)
        put_rates(model, piece, q, a, multipliers, kp, kd, work, LINK.size, rows, rates)
        put_wrench(model, piece, rows, multipliers, wrench)
        put_changes(model, piece, q, multipliers, wrench, work, LINK.size, dofs, DOF.size, changes)
        put_row_derivatives(model, piece, kp, kd, dofs, DOF.size, rows, rates, C[0], C[1])


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
    damping: float | ArrayLike = 1e-6,
    tolerance: float = 1e-10,
    max_iterations: int = 20,
    desired: ArrayLike | None = None,
    threads: int | None = None,
    out: ConstrainedDerivatives | None = None,
) -> ConstrainedDerivatives:
    """Derivatives of a and multipliers in M a + b = tau + J^T multipliers, J a + dJ/dt v = a*.

    Those by q are along the tangent space: column j is the rate as q moves with unit velocity v_j.
    External forces stay as they are in their bodies' axes. What stabilisation asks for varies with
    q and v; `desired` does not.

    Where rows are redundant, the derivatives of a are still those of the motion. Multipliers are
    then not unique, and their derivatives are one choice among many. Where rows contradict each
    other, what is left of them counts as constant.
    """
    cs = check_constraints(model, constraints)
    rows, whole = request(cs, damping, desired, None, tolerance, state_count(q))
    rows, whole = fitting(rows, 2, q, v, tau), fitting(whole, 1, q, v, tau)
    inputs = (q, v, tau, rows, whole)
    if external_forces is not None:
        inputs = (*inputs, external_forces)
    found = prox_derivatives(cs, inputs, out, threads, iteration_limit(max_iterations))
    return ConstrainedDerivatives._make(found)

"""The Coriolis matrix in the factorisation for which dM/dt - 2 C is skew-symmetric. O(n d).

A rigid body with inertia I and velocity w has the Coriolis operator
B = (w x* I + (I w) xbar* - I w x) / 2 (Echeandia and Wensing, 2021), and C is the sum over the
bodies of J^T (I dJ/dt + B J). About a common point (see `links`) B has only a block B11 and the
momentum l: B = [[B11, 0], [-l x, 0]] in angular and linear parts. Sums of I and B over subtrees
give C just as composite inertias give M: with k a degree of freedom of link i and j = k or one that
carries k,

    C_jk = S_j^T (I_i dS_k/dt + B_i S_k)
    C_kj = S_k^T (I_i dS_j/dt + B_i S_j)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..compile import function, kernel, layout, slots
from ..model.model import Model
from ..model.packed import ModelArrays
from ..spatial.motions import cross_motion
from ..spatial.vectors import (
    add,
    add6,
    add9,
    add_cross,
    add_scaled,
    cross,
    dot,
    get3,
    get6,
    get9,
    put3,
    put6,
    put9,
    rotate,
    rotate_back,
    scale,
)
from .steps.bodies import composite_times, rigid_inertia
from .steps.links import PLACEMENT, SUBSPACE, place_links
from .steps.subspaces import along

# A link: placement, inertia (I, h) and Coriolis operator (B11, l) of its subtree, velocity.
LINK = slots(PLACEMENT, I=6, h=3, B=9, l=3, omega=3, u=3)
# A degree of freedom: S and dS/dt.
DOF = slots(SUBSPACE, rate_angular=3, rate_linear=3)


@kernel(
    ModelArrays,
    inputs={"q": "nq", "v": "nv"},
    outputs={"C": "nv nv"},
    work=layout(links=("n_links", LINK), dofs=("nv", DOF)),
    label="coriolis_matrix",
)
def coriolis(model, q, v, C, work):
    """C(q, v) with C v + g(q) = b(q, v)"""
    n, links = len(model.links), work.links
    put3(links, LINK.omega, (0.0, 0.0, 0.0))
    put3(links, LINK.u, (0.0, 0.0, 0.0))
    place_links(model, q, links, LINK.size, work.dofs, DOF.size)
    for i in range(1, n):
        put_velocity(model.links[i], i, v, links, work.dofs)
        put_operator(model.links[i], model.solids[i], i * LINK.size, links)
    for i in range(n - 1, 0, -1):
        link = model.links[i]
        for k in range(link.v, link.v + link.nv):
            put_row_and_column(model, i, k, C, links, work.dofs)
        if link.parent > 0:
            add_to_parent(i * LINK.size, link.parent * LINK.size, links)


@function
def put_velocity(link, i, v, links, dofs):
    """Velocity of link i about the tree's origin, and dS/dt of its joint."""
    at, parent = i * LINK.size, link.parent * LINK.size
    omega, u = get3(links, parent + LINK.omega), get3(links, parent + LINK.u)
    for k in range(link.v, link.v + link.nv):
        dof = k * DOF.size
        omega = add_scaled(omega, v[k], get3(dofs, dof + DOF.angular))
        u = add_scaled(u, v[k], get3(dofs, dof + DOF.linear))
    for k in range(link.v, link.v + link.nv):  # S is constant in the link's axes
        dof = k * DOF.size
        angular, linear = get3(dofs, dof + DOF.angular), get3(dofs, dof + DOF.linear)
        rate_angular, rate_linear = cross_motion(omega, u, angular, linear)
        put3(dofs, dof + DOF.rate_angular, rate_angular)
        put3(dofs, dof + DOF.rate_linear, rate_linear)
    put3(links, at + LINK.omega, omega)
    put3(links, at + LINK.u, u)


@function
def put_operator(link, solid, at, links):
    """Inertia and Coriolis operator of one link."""
    R, p = get9(links, at + LINK.R), get3(links, at + LINK.p)
    inertia, h = rigid_inertia(link, solid, R, p)
    omega, u = get3(links, at + LINK.omega), get3(links, at + LINK.u)
    B, momentum = coriolis_operator(inertia, h, link.mass, omega, u)
    put6(links, at + LINK.I, inertia)
    put3(links, at + LINK.h, h)
    put9(links, at + LINK.B, B)
    put3(links, at + LINK.l, momentum)


@function
def coriolis_operator(inertia, h, m, omega, u):
    """B11 = -omega x Sigma + (h . u) 1 - u h^T, Sigma = tr(I) / 2 - I, and the momentum l."""
    half_trace = 0.5 * (inertia[0] + inertia[3] + inertia[5])
    x = cross((half_trace - inertia[0], -inertia[1], -inertia[2]), omega)
    y = cross((-inertia[1], half_trace - inertia[3], -inertia[4]), omega)
    z = cross((-inertia[2], -inertia[4], half_trace - inertia[5]), omega)
    hu = dot(h, u)
    B = (
        x[0] - u[0] * h[0] + hu,
        y[0] - u[0] * h[1],
        z[0] - u[0] * h[2],
        x[1] - u[1] * h[0],
        y[1] - u[1] * h[1] + hu,
        z[1] - u[1] * h[2],
        x[2] - u[2] * h[0],
        y[2] - u[2] * h[1],
        z[2] - u[2] * h[2] + hu,
    )
    return B, add_cross(scale(m, u), omega, h)


@function
def add_to_parent(at, to, links):
    """Add inertia and Coriolis operator of a subtree to those of the parent's."""
    put6(links, to + LINK.I, add6(get6(links, to + LINK.I), get6(links, at + LINK.I)))
    put3(links, to + LINK.h, add(get3(links, to + LINK.h), get3(links, at + LINK.h)))
    put9(links, to + LINK.B, add9(get9(links, to + LINK.B), get9(links, at + LINK.B)))
    put3(links, to + LINK.l, add(get3(links, to + LINK.l), get3(links, at + LINK.l)))


@function
def put_row_and_column(model, i, k, C, links, dofs):
    """Entries between degree of freedom k of link i and those that carry it."""
    nv, m = len(model.armature), model.links[i].subtree_mass
    at, dof = i * LINK.size, k * DOF.size
    inertia, h = get6(links, at + LINK.I), get3(links, at + LINK.h)
    B, momentum = get9(links, at + LINK.B), get3(links, at + LINK.l)
    angular, linear = get3(dofs, dof + DOF.angular), get3(dofs, dof + DOF.linear)
    rate_angular = get3(dofs, dof + DOF.rate_angular)
    rate_linear = get3(dofs, dof + DOF.rate_linear)
    # The column: I dS/dt + B S. The row: I S, and B^T S, which has an angular part only.
    n, f = composite_times(inertia, h, m, rate_angular, rate_linear)
    n, f = add(n, rotate(B, angular)), add_cross(f, angular, momentum)
    row_n, row_f = composite_times(inertia, h, m, angular, linear)
    back = add_cross(rotate_back(B, angular), momentum, linear)
    C[k * nv + k] = dot(angular, n) + dot(linear, f)
    j = model.dof_parent[k]
    while j >= 0:
        other = j * DOF.size
        C[j * nv + k] = along(dofs, other, n, f)
        x = dot(row_n, get3(dofs, other + DOF.rate_angular))
        x = x + dot(row_f, get3(dofs, other + DOF.rate_linear))
        C[k * nv + j] = x + dot(back, get3(dofs, other + DOF.angular))
        j = model.dof_parent[j]


def coriolis_matrix(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """C(q, v) with b(q, v) = C v + g(q), of which dM/dt - 2 C is skew-symmetric; (..., nv, nv)."""
    return coriolis(model, (q, v), out, threads)

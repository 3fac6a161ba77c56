"""The product M(q) x and its derivative by q, without that of the matrix. O(n) and O(n d).

M x is inverse dynamics of a mechanism at rest without gravity. Of the terms of `variations` this
leaves Phi_j = a_p x S_j, where a are the accelerations that x gives the links. With I_i and f_i the
inertia of the subtree of i and the force on it, and j the same joint as i or one that carries it:

    d(M x)_i/dq_j = S_i^T I_i Phi_j
    d(M x)_j/dq_i = S_j^T (I_i Phi_i + S_i x* f_i), j not i
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...compile import function, kernel, layout, overlay, slots
from ...model.model import Model
from ...model.packed import ModelArrays
from ...spatial.motions import add_cross_force, cross_motion
from ...spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    dot,
    get3,
    get6,
    get9,
    put3,
    put6,
    put9,
    rotate_back,
)
from ..rnea import LINK, collect_force
from ..rnea import WORK as INVERSE
from ..steps.bodies import composite_times, rigid_inertia
from ..steps.joints import joint_motion, joint_placement
from ..steps.links import PLACEMENT, SUBSPACE, place_links
from ..steps.subspaces import along

# For the derivative, a link: placement and acceleration. Inertia and force of its subtree then take
# their place.
ACCELERATED = slots(PLACEMENT, alpha=3, a=3)
SUBTREE = overlay(ACCELERATED, "R p alpha a", I=6, h=3, n=3, f=3)
# A degree of freedom: S and Phi.
DOF = slots(SUBSPACE, phi_angular=3, phi_linear=3)


@kernel(
    ModelArrays,
    inputs={"q": "nq", "x": "nv"},
    outputs={"product": "nv"},
    work=INVERSE,
    label="mass_matrix_product",
)
def mass_product(model, q, x, product, work):
    """M(q) x"""
    links = work.links
    put3(links, LINK.alpha, (0.0, 0.0, 0.0))
    put3(links, LINK.a, (0.0, 0.0, 0.0))
    for i in range(1, len(model.links)):
        push_link(model, i, q, x, links)
    for i in range(len(model.links) - 1, 0, -1):
        collect_force(model, i, x, product, links)


@function
def push_link(model, i, q, x, links):
    """Acceleration of link i from rest, and the force that gives it, in the link's axes."""
    link = model.links[i]
    at, parent = i * LINK.size, link.parent * LINK.size
    R, p = joint_placement(link, q)
    linear, angular = joint_motion(link, x)
    alpha = get3(links, parent + LINK.alpha)
    a = add_cross(get3(links, parent + LINK.a), alpha, p)
    alpha, a = add(rotate_back(R, alpha), angular), add(rotate_back(R, a), linear)
    inertia, h = get6(model.solids[i].inertia, 0), get3(link.moment, 0)
    n, f = composite_times(inertia, h, link.mass, alpha, a)
    put9(links, at + LINK.R, R)
    put3(links, at + LINK.p, p)
    put3(links, at + LINK.alpha, alpha)
    put3(links, at + LINK.a, a)
    put3(links, at + LINK.f, f)
    put3(links, at + LINK.n, n)


@kernel(
    ModelArrays,
    inputs={"q": "nq", "x": "nv"},
    outputs={"dq": "nv nv"},
    work=layout(links=("n_links", ACCELERATED), dofs=("nv", DOF)),
    label="mass_matrix_product_derivative",
)
def mass_product_derivative(model, q, x, dq, work):
    """d(M(q) x)/dq"""
    n, links, dofs = len(model.links), work.links, work.dofs
    put3(links, ACCELERATED.alpha, (0.0, 0.0, 0.0))
    put3(links, ACCELERATED.a, (0.0, 0.0, 0.0))
    place_links(model, q, links, ACCELERATED.size, dofs, DOF.size)
    for i in range(1, n):
        accelerate(model.links[i], i, x, links, dofs)
    for i in range(1, n):
        put_force(model.links[i], model.solids[i], i * ACCELERATED.size, links)
    for i in range(n - 1, 0, -1):
        link = model.links[i]
        for k in range(link.v, link.v + link.nv):
            put_row_and_column(model, link, i * ACCELERATED.size, k, dq, links, dofs)
        if link.parent > 0:
            for t in range(SUBTREE.size):
                at = link.parent * ACCELERATED.size + t
                links[at] = links[at] + links[i * ACCELERATED.size + t]


@function
def accelerate(link, i, x, links, dofs):
    """Acceleration of link i from rest, and Phi = a_p x S of its degrees of freedom."""
    at, parent = i * ACCELERATED.size, link.parent * ACCELERATED.size
    alpha_p, a_p = get3(links, parent + ACCELERATED.alpha), get3(links, parent + ACCELERATED.a)
    alpha, a = alpha_p, a_p
    for k in range(link.v, link.v + link.nv):
        dof = k * DOF.size
        angular, linear = get3(dofs, dof + DOF.angular), get3(dofs, dof + DOF.linear)
        phi_angular, phi_linear = cross_motion(alpha_p, a_p, angular, linear)
        put3(dofs, dof + DOF.phi_angular, phi_angular)
        put3(dofs, dof + DOF.phi_linear, phi_linear)
        alpha, a = add_scaled(alpha, x[k], angular), add_scaled(a, x[k], linear)
    put3(links, at + ACCELERATED.alpha, alpha)
    put3(links, at + ACCELERATED.a, a)


@function
def put_force(link, solid, at, links):
    """Inertia of one link and the force that gives it its acceleration."""
    R, p = get9(links, at + PLACEMENT.R), get3(links, at + PLACEMENT.p)
    alpha, a = get3(links, at + ACCELERATED.alpha), get3(links, at + ACCELERATED.a)
    inertia, h = rigid_inertia(link, solid, R, p)
    n, f = composite_times(inertia, h, link.mass, alpha, a)
    put6(links, at + SUBTREE.I, inertia)
    put3(links, at + SUBTREE.h, h)
    put3(links, at + SUBTREE.n, n)
    put3(links, at + SUBTREE.f, f)


@function
def put_row_and_column(model, link, at, k, dq, links, dofs):
    """Entries between degree of freedom k of a link and those of its joint, or that carry it."""
    nv, dof = len(model.armature), k * DOF.size
    inertia, h, m = get6(links, at + SUBTREE.I), get3(links, at + SUBTREE.h), link.subtree_mass
    angular, linear = get3(dofs, dof + DOF.angular), get3(dofs, dof + DOF.linear)
    phi_angular, phi_linear = get3(dofs, dof + DOF.phi_angular), get3(dofs, dof + DOF.phi_linear)
    IS_n, IS_f = composite_times(inertia, h, m, angular, linear)
    n, f = composite_times(inertia, h, m, phi_angular, phi_linear)
    n, f = add_cross_force(
        n, f, angular, linear, get3(links, at + SUBTREE.n), get3(links, at + SUBTREE.f)
    )
    for j in range(link.v, link.v + link.nv):
        dq[k * nv + j] = along_phi(dofs, j * DOF.size, IS_n, IS_f)
    j = model.dof_parent[link.v]
    while j >= 0:
        dq[k * nv + j] = along_phi(dofs, j * DOF.size, IS_n, IS_f)
        dq[j * nv + k] = along(dofs, j * DOF.size, n, f)
        j = model.dof_parent[j]


@function
def along_phi(dofs, dof, n, f):
    """Phi^T (n, f) of a degree of freedom."""
    return dot(get3(dofs, dof + DOF.phi_angular), n) + dot(get3(dofs, dof + DOF.phi_linear), f)


def mass_matrix_product(
    model: Model,
    q: ArrayLike,
    x: ArrayLike,
    *,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """M(q) x, (..., nv): the forces that accelerations x need. The matrix is not formed."""
    return mass_product(model, (q, x), out, threads)


def mass_matrix_product_derivative(
    model: Model,
    q: ArrayLike,
    x: ArrayLike,
    *,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """d(M(q) x)/dq for a constant x, (..., nv, nv).

    It is a derivative along the tangent space: its column j is the rate of M(q) x as q moves with
    unit velocity v_j.
    """
    return mass_product_derivative(model, (q, x), out, threads)

"""Derivatives of inverse dynamics. O(n d): work in proportion to pairs of joint and ancestor.

Carpentier and Mansard, Analytical Derivatives of Rigid Body Dynamics Algorithms, 2018, Algorithms 2
and 3 with the simplifications of Sec. III-C.

Departs from the paper in the order of summation. The paper carries a column of motions and forces
for each degree of freedom through every link that it moves. Here inertias I, Coriolis operators B
(see `coriolis`) and forces f are summed over subtrees once, so that an entry costs a few dot
products (Singh, Russell and Wensing 2022). With the variations Psi, Phi, Xi of `variations`, and
j the same joint as i or one that carries it:

    dtau_i/dq_j = S_i^T (2 B_i Psi_j + I_i Phi_j)
    dtau_i/dv_j = S_i^T (2 B_i S_j + I_i Xi_j)
    dtau_j/dq_i = S_j^T (2 B_i Psi_i + I_i Phi_i + S_i x* f_i), j not i
    dtau_j/dv_i = S_j^T (2 B_i S_i + I_i Xi_i)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..compile import function, kernel, present, slots
from ..model.model import Model
from ..model.packed import ModelArrays
from ..spatial.vectors import (
    add,
    add_cross,
    dot,
    get3,
    get6,
    get9,
    put3,
    put6,
    put9,
    rotate,
    rotate_back,
    subtract,
)
from .coriolis import coriolis_operator
from .links import composite_times, external_wrench, place_links, rigid_inertia, start_at_rest
from .variations import VARIATION, vary_motion

# A link's work memory: placement and motion. Inertia, Coriolis operator and force of its subtree
# then take their place.
LINK = slots(R=9, p=3, omega=3, u=3, alpha=3, a=3, last=3)
SUBTREE = slots(I=6, h=3, B=9, l=3, n=3, f=3)
DOF = VARIATION


@kernel(
    ModelArrays,
    inputs={"q": "nq", "v": "nv", "a": "nv", "external_forces": "n_bodies 6 optional"},
    outputs={"dq": "nv nv", "dv": "nv nv", "da": "nv nv"},
    work=lambda n: n["n_links"] * LINK.size + n["nv"] * DOF.size,
    label="inverse_dynamics_derivatives",
)
def rnea_derivatives(model, q, v, a, external_forces, dq, dv, da, work):
    """Derivatives of tau = M(q) a + b(q, v) - sum of J^T f_ext"""
    differentiate(model, q, v, a, external_forces, dq, dv, da, True, work)


@function
def differentiate(model, q, v, a, external_forces, dq, dv, da, with_mass, work):
    """The same; without the mass matrix if nobody asks for it."""
    vary_links(model, q, v, a, work)
    put_forces(model, external_forces, work)
    vary_subtrees(model, dq, dv, da, with_mass, work)


@function
def vary_links(model, q, v, a, work):
    """Motion of all links, and its variations."""
    n = len(model.links)
    dofs = n * LINK.size
    start_at_rest(work, (-model.gravity[0], -model.gravity[1], -model.gravity[2]))
    place_links(model, q, work, LINK.size, dofs, DOF.size)
    for i in range(1, n):
        vary_motion(model.links[i], i, v, a, work, LINK.size, dofs, DOF.size)


@function
def put_forces(model, external_forces, work):
    """Inertia, Coriolis operator and force of each link, which take the place of its motion."""
    n = len(model.links)
    if present(external_forces):
        for i in range(1, n):
            at = i * LINK.size
            pushed_newton_euler(model.links[i], model.solids[i], at, external_forces, work)
    else:
        for i in range(1, n):
            newton_euler(model.links[i], model.solids[i], i * LINK.size, work)


@function
def vary_subtrees(model, dq, dv, da, with_mass, work):
    """The derivatives, from the leaves to the root."""
    n = len(model.links)
    for i in range(n - 1, 0, -1):
        link = model.links[i]
        for k in range(link.v, link.v + link.nv):
            vary_forces(model, i, k, dq, dv, da, with_mass, work, n * LINK.size)
        if link.parent > 0:
            add_to_parent(i * LINK.size, link.parent * LINK.size, work)


@function
def newton_euler(link, solid, at, work):
    """Inertia, Coriolis operator and force of one link: f = I a + B v."""
    R, p = get9(work, at + LINK.R), get3(work, at + LINK.p)
    omega, u = get3(work, at + LINK.omega), get3(work, at + LINK.u)
    alpha, a = get3(work, at + LINK.alpha), get3(work, at + LINK.a)
    inertia, h = rigid_inertia(link, solid, R, p)
    B, momentum = coriolis_operator(inertia, h, link.mass, omega, u)
    n, f = composite_times(inertia, h, link.mass, alpha, a)
    put6(work, at + SUBTREE.I, inertia)
    put3(work, at + SUBTREE.h, h)
    put9(work, at + SUBTREE.B, B)
    put3(work, at + SUBTREE.l, momentum)
    put3(work, at + SUBTREE.n, add(n, rotate(B, omega)))
    put3(work, at + SUBTREE.f, add_cross(f, omega, momentum))


@function
def pushed_newton_euler(link, solid, at, external_forces, work):
    """The same for a link under an external force, given in the body's axes, at its origin."""
    R, p = get9(work, at + LINK.R), get3(work, at + LINK.p)
    newton_euler(link, solid, at, work)
    if link.body >= 0:
        n, f = external_wrench(link, solid, R, p, external_forces)
        put3(work, at + SUBTREE.f, subtract(get3(work, at + SUBTREE.f), f))
        put3(work, at + SUBTREE.n, subtract(get3(work, at + SUBTREE.n), n))


@function
def add_to_parent(at, parent, work):
    """Inertias, Coriolis operators and forces of subtrees add up."""
    for t in range(SUBTREE.size):
        work[parent + t] = work[parent + t] + work[at + t]


@function
def vary_forces(model, i, k, dq, dv, da, with_mass, work, dofs):
    """Entries between degree of freedom k of link i and those of its joint, or that carry it."""
    link, nv = model.links[i], len(model.armature)
    at, dof = i * LINK.size, dofs + k * DOF.size
    inertia, h, m = get6(work, at + SUBTREE.I), get3(work, at + SUBTREE.h), link.subtree_mass
    B, momentum = get9(work, at + SUBTREE.B), get3(work, at + SUBTREE.l)
    n, f = get3(work, at + SUBTREE.n), get3(work, at + SUBTREE.f)
    angular, linear = get3(work, dof + DOF.angular), get3(work, dof + DOF.linear)
    # The row: I S, and 2 B^T S, which has an angular part only.
    IS_n, IS_f = composite_times(inertia, h, m, angular, linear)
    BS_n = add_cross(rotate_back(B, angular), momentum, linear)
    BS_n = add(BS_n, BS_n)
    # How the force on the subtree varies with v: 2 B S + I Xi.
    v_n, v_f = composite_times(
        inertia, h, m, get3(work, dof + DOF.xi_angular), get3(work, dof + DOF.xi_linear)
    )
    twice = add(angular, angular)
    v_n, v_f = add(v_n, rotate(B, twice)), add_cross(v_f, twice, momentum)
    # And with q: 2 B Psi + I Phi + S x* f.
    q_n, q_f = composite_times(
        inertia, h, m, get3(work, dof + DOF.phi_angular), get3(work, dof + DOF.phi_linear)
    )
    psi = get3(work, dof + DOF.psi_angular)
    twice = add(psi, psi)
    q_n, q_f = add(q_n, rotate(B, twice)), add_cross(q_f, twice, momentum)
    q_n, q_f = add_cross(add_cross(q_n, angular, n), linear, f), add_cross(q_f, angular, f)
    for j in range(link.v, link.v + link.nv):
        put_row(k * nv + j, IS_n, IS_f, BS_n, dq, dv, work, dofs + j * DOF.size)
    j = model.dof_parent[link.v]
    while j >= 0:
        other = dofs + j * DOF.size
        put_row(k * nv + j, IS_n, IS_f, BS_n, dq, dv, work, other)
        s_angular, s_linear = get3(work, other + DOF.angular), get3(work, other + DOF.linear)
        dq[j * nv + k] = dot(s_angular, q_n) + dot(s_linear, q_f)
        dv[j * nv + k] = dot(s_angular, v_n) + dot(s_linear, v_f)
        j = model.dof_parent[j]
    if with_mass:
        put_mass(model, k, IS_n, IS_f, da, work, dofs)


@function
def put_row(entry, IS_n, IS_f, BS_n, dq, dv, work, other):
    """An entry of dq and of dv, in a column of the same joint or of one that carries it."""
    x = dot(IS_n, get3(work, other + DOF.phi_angular))
    x = x + dot(BS_n, get3(work, other + DOF.psi_angular))
    dq[entry] = x + dot(IS_f, get3(work, other + DOF.phi_linear))
    x = dot(IS_n, get3(work, other + DOF.xi_angular))
    x = x + dot(BS_n, get3(work, other + DOF.angular))
    dv[entry] = x + dot(IS_f, get3(work, other + DOF.xi_linear))


@function
def put_mass(model, k, IS_n, IS_f, da, work, dofs):
    """Row k of the mass matrix up to the diagonal, and the same column."""
    nv, j = len(model.armature), k
    while j >= 0:
        other = dofs + j * DOF.size
        x = dot(get3(work, other + DOF.angular), IS_n)
        x = x + dot(get3(work, other + DOF.linear), IS_f)
        da[k * nv + j] = x
        da[j * nv + k] = x
        j = model.dof_parent[j]
    da[k * nv + k] = da[k * nv + k] + model.armature[k]


class InverseDynamicsDerivatives(NamedTuple):
    """Derivatives of joint forces, (..., nv, nv) each."""

    dq: np.ndarray
    dv: np.ndarray
    da: np.ndarray


def inverse_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    threads: int | None = None,
    out: InverseDynamicsDerivatives | None = None,
) -> InverseDynamicsDerivatives:
    """dtau/dq, dtau/dv and dtau/da = M of tau = M(q) a + b(q, v) - sum of J^T f.

    dq is a derivative along the tangent space: its column j is the rate of tau as q moves with unit
    velocity v_j. External forces stay as they are in their bodies' axes.
    """
    inputs = (q, v, a) if external_forces is None else (q, v, a, external_forces)
    return InverseDynamicsDerivatives._make(rnea_derivatives(model, inputs, out, threads))

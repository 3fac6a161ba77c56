"""Derivatives of inverse dynamics. O(n d): work in proportion to pairs of joint and ancestor.

Carpentier and Mansard, Analytical Derivatives of Rigid Body Dynamics Algorithms, 2018, Algorithms 2
and 3 with the simplifications of Sec. III-C.

| paper            | here            | what it is                                                |
| ---------------- | --------------- | --------------------------------------------------------- |
| q', q''          | v, a            | velocities and accelerations of joints                    |
| dv_i/dq_j        | psi             | Psi_j: Algorithm 2, line 3, j a joint that carries link i |
| dv_i/dq'_j       | angular, linear | S_j: Algorithm 2, line 3                                  |
| da_i/dq_j        | phi             | Phi_j - v_i x Psi_j: Algorithm 2, line 5; phi is Phi_j    |
| da_i/dq'_j       | xi              | Xi_j - v_i x S_j: Algorithm 2, line 5; xi is Xi_j         |
| I_i              | inertia, h, m   | inertia, here of the subtree of link i                    |
| h_i, v_i x*      | B, momentum     | 2 B_i x = x x* h_i + v_i x* I_i x - I_i (v_i x x), of the |
|                  |                 | subtree: Algorithm 2, lines 4 to 6, but for I_i times     |
|                  |                 | Phi_j or Xi_j; x is Psi_j or S_j                          |
| f_i              | n, f            | moment and force, here on the subtree of link i           |
| df_i/dq_i        | q_n, q_f        | with S_i x* f_i of Algorithm 3, line 3                    |
| df_i/dq'_i       | v_n, v_f        | Algorithm 2, line 6, of the subtree                       |
| dtau/dq, dtau/q' | dq, dv          | Algorithm 3, line 1                                       |

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

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...compile import function, kernel, layout, overlay, present, slots
from ...model.model import Model
from ...model.packed import ModelArrays
from ...spatial.motions import add_cross_force
from ...spatial.vectors import (
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
from ..coriolis import coriolis_operator
from ..steps.bodies import composite_times, external_wrench, rigid_inertia
from ..steps.links import MOVING, place_links, start_at_rest
from ..steps.subspaces import along, put_mass_row
from .variations import VARIATION, vary_motion

# A link: placement and motion, and some numbers more, as SUBTREE needs them.
LINK = slots(MOVING, more=3)
# Inertia, Coriolis operator and force of a link's subtree take the place of its motion.
SUBTREE = overlay(LINK, "R p omega u alpha a more", I=6, h=3, B=9, l=3, n=3, f=3)
DOF = VARIATION
WORK = layout(links=("n_links", LINK), dofs=("nv", DOF))


@kernel(
    ModelArrays,
    inputs={"q": "nq", "v": "nv", "a": "nv", "external_forces": "n_bodies 6 optional"},
    outputs={"dq": "nv nv", "dv": "nv nv", "da": "nv nv"},
    work=WORK,
    label="inverse_dynamics_derivatives",
)
def rnea_derivatives(model, q, v, a, external_forces, dq, dv, da, work):
    """Derivatives of tau = M(q) a + b(q, v) - sum of J^T f_ext"""
    vary_links(model, q, v, a, work)
    put_forces(model, external_forces, work.links)
    vary_subtrees(model, dq, dv, da, True, work)


@function
def vary_links(model, q, v, a, work):
    """Placements and motions of all links, and how these vary; `work` is laid out by WORK."""
    links, dofs = work.links, work.dofs
    start_at_rest(links, (-model.gravity[0], -model.gravity[1], -model.gravity[2]))
    place_links(model, q, links, LINK.size, dofs, DOF.size)
    for i in range(1, len(model.links)):
        vary_motion(model.links[i], i, v, a, links, LINK.size, dofs, DOF.size)


@function
def put_forces(model, external_forces, links):
    """Inertia, Coriolis operator and force of each link, which take the place of its motion."""
    for i in range(1, len(model.links)):
        at = i * LINK.size
        inertia, h, B, momentum, n, f = needed_force(
            model.links[i], model.solids[i], at, external_forces, links
        )
        put6(links, at + SUBTREE.I, inertia)
        put3(links, at + SUBTREE.h, h)
        put9(links, at + SUBTREE.B, B)
        put3(links, at + SUBTREE.l, momentum)
        put3(links, at + SUBTREE.n, n)
        put3(links, at + SUBTREE.f, f)


@function
def needed_force(link, solid, at, external_forces, links):
    """I a + B v - f_ext: moment n and force f of one link; returns its I, h, B, l, n and f.

    External forces are given in the body's axes, at its origin. The record of the link, at `at`,
    starts with the slots of MOVING.
    """
    R, p = get9(links, at + MOVING.R), get3(links, at + MOVING.p)
    omega, u = get3(links, at + MOVING.omega), get3(links, at + MOVING.u)
    alpha, a = get3(links, at + MOVING.alpha), get3(links, at + MOVING.a)
    inertia, h = rigid_inertia(link, solid, R, p)
    B, momentum = coriolis_operator(inertia, h, link.mass, omega, u)
    n, f = composite_times(inertia, h, link.mass, alpha, a)
    n, f = add(n, rotate(B, omega)), add_cross(f, omega, momentum)
    if present(external_forces) and link.body >= 0:
        n_external, f_external = external_wrench(link, solid, R, p, external_forces)
        n, f = subtract(n, n_external), subtract(f, f_external)
    return inertia, h, B, momentum, n, f


@function
def vary_subtrees(model, dq, dv, da, with_mass, work):
    """The derivatives, from the leaves to the root; da, the mass matrix, only `with_mass`."""
    for i in range(len(model.links) - 1, 0, -1):
        link = model.links[i]
        for k in range(link.v, link.v + link.nv):
            vary_forces(model, i, k, dq, dv, da, with_mass, work)
        if link.parent > 0:
            add_to_parent(i * LINK.size, link.parent * LINK.size, work.links)


@function
def add_to_parent(at, parent, links):
    """Add inertia, Coriolis operator and force of a subtree to those of the parent's."""
    for t in range(SUBTREE.size):
        links[parent + t] = links[parent + t] + links[at + t]


@function
def vary_forces(model, i, k, dq, dv, da, with_mass, work):
    """Entries between degree of freedom k of link i and those of its joint, or that carry it."""
    link, nv, links, dofs = model.links[i], len(model.armature), work.links, work.dofs
    at, dof = i * LINK.size, k * DOF.size
    inertia, h, m = get6(links, at + SUBTREE.I), get3(links, at + SUBTREE.h), link.subtree_mass
    B, momentum = get9(links, at + SUBTREE.B), get3(links, at + SUBTREE.l)
    n, f = get3(links, at + SUBTREE.n), get3(links, at + SUBTREE.f)
    angular, linear = get3(dofs, dof + DOF.angular), get3(dofs, dof + DOF.linear)
    # The row: I S, and 2 B^T S, which has an angular part only.
    IS_n, IS_f = composite_times(inertia, h, m, angular, linear)
    BS_n = add_cross(rotate_back(B, angular), momentum, linear)
    BS_n = add(BS_n, BS_n)
    # How the force on the subtree varies with v: 2 B S + I Xi.
    v_n, v_f = composite_times(
        inertia, h, m, get3(dofs, dof + DOF.xi_angular), get3(dofs, dof + DOF.xi_linear)
    )
    twice = add(angular, angular)
    v_n, v_f = add(v_n, rotate(B, twice)), add_cross(v_f, twice, momentum)
    # And with q: 2 B Psi + I Phi + S x* f.
    q_n, q_f = composite_times(
        inertia, h, m, get3(dofs, dof + DOF.phi_angular), get3(dofs, dof + DOF.phi_linear)
    )
    psi = get3(dofs, dof + DOF.psi_angular)
    twice = add(psi, psi)
    q_n, q_f = add(q_n, rotate(B, twice)), add_cross(q_f, twice, momentum)
    q_n, q_f = add_cross_force(q_n, q_f, angular, linear, n, f)
    for j in range(link.v, link.v + link.nv):
        put_entries(k * nv + j, IS_n, IS_f, BS_n, dq, dv, dofs, j * DOF.size)
    j = model.dof_parent[link.v]
    while j >= 0:
        other = j * DOF.size
        put_entries(k * nv + j, IS_n, IS_f, BS_n, dq, dv, dofs, other)
        dq[j * nv + k] = along(dofs, other, q_n, q_f)
        dv[j * nv + k] = along(dofs, other, v_n, v_f)
        j = model.dof_parent[j]
    if with_mass:
        put_mass_row(model, k, IS_n, IS_f, dofs, DOF.size, da, nv, True)
        da[k * nv + k] = da[k * nv + k] + model.armature[k]


@function
def put_entries(entry, IS_n, IS_f, BS_n, dq, dv, dofs, other):
    """An entry of dq and of dv in a row, with the degree of freedom whose record is at `other`."""
    x = dot(IS_n, get3(dofs, other + DOF.phi_angular))
    x = x + dot(BS_n, get3(dofs, other + DOF.psi_angular))
    dq[entry] = x + dot(IS_f, get3(dofs, other + DOF.phi_linear))
    x = dot(IS_n, get3(dofs, other + DOF.xi_angular))
    x = x + dot(BS_n, get3(dofs, other + DOF.angular))
    dv[entry] = x + dot(IS_f, get3(dofs, other + DOF.xi_linear))


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
    out: Sequence[np.ndarray] | None = None,
) -> InverseDynamicsDerivatives:
    """dtau/dq, dtau/dv and dtau/da = M of tau = M(q) a + b(q, v) - sum of J^T f.

    dq is a derivative along the tangent space: its column j is the rate of tau as q moves with unit
    velocity v_j. External forces stay as they are in their bodies' axes.
    """
    inputs = (q, v, a) if external_forces is None else (q, v, a, external_forces)
    return InverseDynamicsDerivatives._make(rnea_derivatives(model, inputs, out, threads))

"""Products of the derivatives of inverse dynamics with vectors, without the matrices. O(n).

In world axes (see `links`), with p the link before link i, and I and B the inertia and the Coriolis
operator of a link (see `coriolis`). Along dq, dv, da the velocity of a link varies by P and its
acceleration by Q - v x P, as seen from the link:

    P_i = P_p + v_p x S dq + S dv
    Q_i = Q_p + a_p x S dq + v_p x (v_p x S dq) + (v_p + v_i) x S dv + S da

The force on it then varies by I Q + 2 B P, and the force that a subtree passes on turns with its
joint besides. These are the columns of `variations` times dq, dv, da, summed on the way.

The transposed products run the other way. A joint velocity w moves the links by lambda. With y, z
and f the sums over the subtree of link i of I lambda, of 2 B^T lambda and of the forces:

    w^T dtau/dq = -S^T (v_p x* e + a_p x* y + lambda_p x* f)    e = z - v_p x* y
    w^T dtau/dv = S^T (e - v_i x* y)
    w^T dtau/da = S^T y + armature w
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...compile import function, kernel, layout, overlay, slots
from ...model.model import Model
from ...model.packed import ModelArrays
from ...spatial.motions import add_cross_force, add_cross_motion, cross_force, cross_motion
from ...spatial.vectors import (
    add,
    add_cross,
    get3,
    put3,
    rotate,
    rotate_back,
    subtract,
)
from ..steps.bodies import composite_times
from ..steps.links import MOVING, SUBSPACE, move_link, place_links, start_at_rest
from ..steps.subspaces import across_joint, along
from .rnea import needed_force

# A link: placement, velocity and acceleration; of the variations Q, and of P the angular part,
# which is all that B takes.
TANGENT = slots(MOVING, P=3, Q_angular=3, Q_linear=3)
# The force on a link's subtree and its variation take the place of the placement.
TANGENT_FORCE = overlay(TANGENT, "R p", n=3, f=3, dn=3, df=3)
# For the transposed products, a link: placement, velocity and acceleration, lambda and z.
ADJOINT = slots(MOVING, angular=3, linear=3, z=3)
# The force on a link's subtree and y take the place of the placement.
ADJOINT_FORCE = overlay(ADJOINT, "R p", n=3, f=3, y_n=3, y_f=3)
DOF = SUBSPACE
JVP = layout(links=("n_links", TANGENT), dofs=("nv", DOF))
VJP = layout(links=("n_links", ADJOINT), dofs=("nv", DOF))


@kernel(
    ModelArrays,
    inputs={
        "q": "nq", "v": "nv", "a": "nv", "dq": "nv", "dv": "nv", "da": "nv",
        "external_forces": "n_bodies 6 optional",
    },
    outputs={"dtau": "nv"},
    work=JVP,
    label="inverse_dynamics_jvp",
)  # fmt: skip
def rnea_jvp(model, q, v, a, dq, dv, da, external_forces, dtau, work):
    """dtau/dq dq + dtau/dv dv + dtau/da da"""
    n, links, dofs = len(model.links), work.links, work.dofs
    start_at_rest(links, (-model.gravity[0], -model.gravity[1], -model.gravity[2]))
    put3(links, TANGENT.P, (0.0, 0.0, 0.0))
    put3(links, TANGENT.Q_angular, (0.0, 0.0, 0.0))
    put3(links, TANGENT.Q_linear, (0.0, 0.0, 0.0))
    place_links(model, q, links, TANGENT.size, dofs, DOF.size)
    for i in range(1, n):
        link = model.links[i]
        accelerate_link(link, i, v, a, links, TANGENT.size, dofs)
        vary_link(link, i, dq, dv, da, links, dofs)
        vary_force(link, model.solids[i], i * TANGENT.size, external_forces, links)
    for i in range(n - 1, 0, -1):
        collect_variation(model, i, dq, da, dtau, links, dofs)


@kernel(
    ModelArrays,
    inputs={
        "q": "nq", "v": "nv", "a": "nv", "w": "nv", "external_forces": "n_bodies 6 optional"
    },
    outputs={"dq": "nv", "dv": "nv", "da": "nv"},
    work=VJP,
    label="inverse_dynamics_vjp",
)  # fmt: skip
def rnea_vjp(model, q, v, a, w, external_forces, dq, dv, da, work):
    """w^T dtau/dq, w^T dtau/dv and w^T dtau/da"""
    n, links, dofs = len(model.links), work.links, work.dofs
    start_at_rest(links, (-model.gravity[0], -model.gravity[1], -model.gravity[2]))
    put3(links, ADJOINT.angular, (0.0, 0.0, 0.0))
    put3(links, ADJOINT.linear, (0.0, 0.0, 0.0))
    place_links(model, q, links, ADJOINT.size, dofs, DOF.size)
    for i in range(1, n):
        link = model.links[i]
        accelerate_link(link, i, v, a, links, ADJOINT.size, dofs)
        weigh_force(link, model.solids[i], i, w, external_forces, links, dofs)
    for i in range(n - 1, 0, -1):
        collect_weights(model, i, w, dq, dv, da, links, dofs)


# --- steps of both --------------------------------------------------------------------------------


@function
def add_to(links, at, x):
    """Add to three numbers from `at` on."""
    put3(links, at, add(get3(links, at), x))


@function
def accelerate_link(link, i, v, a, links, size, dofs):
    """v_i = v_p + S v and a_i = a_p + v_p x S v + S a."""
    move_link(link, i, v, links, size, dofs, DOF.size)
    angular, linear = across_joint(link, a, dofs, DOF.size)
    add_to(links, i * size + MOVING.alpha, angular)
    add_to(links, i * size + MOVING.a, linear)


# --- dtau along dq, dv, da ------------------------------------------------------------------------


@function
def vary_link(link, i, dq, dv, da, links, dofs):
    """P and Q of link i from its parent's."""
    at, parent = i * TANGENT.size, link.parent * TANGENT.size
    omega_p, u_p = get3(links, parent + MOVING.omega), get3(links, parent + MOVING.u)
    alpha_p, a_p = get3(links, parent + MOVING.alpha), get3(links, parent + MOVING.a)
    omega, u = get3(links, at + MOVING.omega), get3(links, at + MOVING.u)
    q_angular, q_linear = across_joint(link, dq, dofs, DOF.size)
    v_angular, v_linear = across_joint(link, dv, dofs, DOF.size)
    # v_p x S dq + S dv, which v_p turns once more
    x, y = cross_motion(omega_p, u_p, q_angular, q_linear)
    x, y = add(x, v_angular), add(y, v_linear)
    put3(links, at + TANGENT.P, add(get3(links, parent + TANGENT.P), x))
    x, y = cross_motion(omega_p, u_p, x, y)
    x, y = add_cross_motion(x, y, alpha_p, a_p, q_angular, q_linear)
    x, y = add_cross_motion(x, y, omega, u, v_angular, v_linear)
    a_angular, a_linear = across_joint(link, da, dofs, DOF.size)
    x, y = add(x, a_angular), add(y, a_linear)
    put3(links, at + TANGENT.Q_angular, add(get3(links, parent + TANGENT.Q_angular), x))
    put3(links, at + TANGENT.Q_linear, add(get3(links, parent + TANGENT.Q_linear), y))


@function
def vary_force(link, solid, at, external_forces, links):
    """Force on a link, and how it varies: I Q + 2 B P."""
    inertia, h, B, momentum, n, f = needed_force(link, solid, at, external_forces, links)
    P = get3(links, at + TANGENT.P)
    Q_angular, Q_linear = get3(links, at + TANGENT.Q_angular), get3(links, at + TANGENT.Q_linear)
    dn, df = composite_times(inertia, h, link.mass, Q_angular, Q_linear)
    twice = add(P, P)
    put3(links, at + TANGENT_FORCE.n, n)
    put3(links, at + TANGENT_FORCE.f, f)
    put3(links, at + TANGENT_FORCE.dn, add(dn, rotate(B, twice)))
    put3(links, at + TANGENT_FORCE.df, add_cross(df, twice, momentum))


@function
def collect_variation(model, i, dq, da, dtau, links, dofs):
    """How the forces of link i's joint vary, and the force that its parent then carries."""
    link = model.links[i]
    at, parent = i * TANGENT.size, link.parent * TANGENT.size
    dn, df = get3(links, at + TANGENT_FORCE.dn), get3(links, at + TANGENT_FORCE.df)
    for k in range(link.v, link.v + link.nv):
        dtau[k] = along(dofs, k * DOF.size, dn, df) + model.armature[k] * da[k]
    if link.parent > 0:
        n, f = get3(links, at + TANGENT_FORCE.n), get3(links, at + TANGENT_FORCE.f)
        angular, linear = across_joint(link, dq, dofs, DOF.size)
        dn, df = add_cross_force(dn, df, angular, linear, n, f)
        add_to(links, parent + TANGENT_FORCE.n, n)
        add_to(links, parent + TANGENT_FORCE.f, f)
        add_to(links, parent + TANGENT_FORCE.dn, dn)
        add_to(links, parent + TANGENT_FORCE.df, df)


# --- w^T dtau -------------------------------------------------------------------------------------


@function
def weigh_force(link, solid, i, w, external_forces, links, dofs):
    """Motion lambda of link i, and its y = I lambda and z = 2 B^T lambda, which is a moment."""
    at, parent = i * ADJOINT.size, link.parent * ADJOINT.size
    angular, linear = across_joint(link, w, dofs, DOF.size)
    angular = add(angular, get3(links, parent + ADJOINT.angular))
    linear = add(linear, get3(links, parent + ADJOINT.linear))
    inertia, h, B, momentum, n, f = needed_force(link, solid, at, external_forces, links)
    y_n, y_f = composite_times(inertia, h, link.mass, angular, linear)
    half = add_cross(rotate_back(B, angular), momentum, linear)
    put3(links, at + ADJOINT.angular, angular)
    put3(links, at + ADJOINT.linear, linear)
    put3(links, at + ADJOINT.z, add(half, half))
    put3(links, at + ADJOINT_FORCE.n, n)
    put3(links, at + ADJOINT_FORCE.f, f)
    put3(links, at + ADJOINT_FORCE.y_n, y_n)
    put3(links, at + ADJOINT_FORCE.y_f, y_f)


@function
def collect_weights(model, i, w, dq, dv, da, links, dofs):
    """Products of the degrees of freedom of link i, and sums over the subtree of its parent."""
    link = model.links[i]
    at, parent = i * ADJOINT.size, link.parent * ADJOINT.size
    omega_p, u_p = get3(links, parent + MOVING.omega), get3(links, parent + MOVING.u)
    alpha_p, a_p = get3(links, parent + MOVING.alpha), get3(links, parent + MOVING.a)
    omega, u = get3(links, at + MOVING.omega), get3(links, at + MOVING.u)
    n, f = get3(links, at + ADJOINT_FORCE.n), get3(links, at + ADJOINT_FORCE.f)
    y_n, y_f = get3(links, at + ADJOINT_FORCE.y_n), get3(links, at + ADJOINT_FORCE.y_f)
    z = get3(links, at + ADJOINT.z)
    e_n, e_f = cross_force(omega_p, u_p, y_n, y_f)
    e_n, e_f = subtract(z, e_n), (-e_f[0], -e_f[1], -e_f[2])
    q_n, q_f = cross_force(omega_p, u_p, e_n, e_f)
    q_n, q_f = add_cross_force(q_n, q_f, alpha_p, a_p, y_n, y_f)
    lambda_angular = get3(links, parent + ADJOINT.angular)
    lambda_linear = get3(links, parent + ADJOINT.linear)
    q_n, q_f = add_cross_force(q_n, q_f, lambda_angular, lambda_linear, n, f)
    v_n, v_f = cross_force(omega, u, y_n, y_f)
    v_n, v_f = subtract(e_n, v_n), subtract(e_f, v_f)
    for k in range(link.v, link.v + link.nv):
        dof = k * DOF.size
        dq[k] = -along(dofs, dof, q_n, q_f)
        dv[k] = along(dofs, dof, v_n, v_f)
        da[k] = along(dofs, dof, y_n, y_f) + model.armature[k] * w[k]
    if link.parent > 0:
        add_to(links, parent + ADJOINT_FORCE.n, n)
        add_to(links, parent + ADJOINT_FORCE.f, f)
        add_to(links, parent + ADJOINT_FORCE.y_n, y_n)
        add_to(links, parent + ADJOINT_FORCE.y_f, y_f)
        add_to(links, parent + ADJOINT.z, z)


class InverseDynamicsVJP(NamedTuple):
    """Products of weights with the derivatives of joint forces, (..., nv) each."""

    dq: np.ndarray
    dv: np.ndarray
    da: np.ndarray


def inverse_dynamics_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    dq: ArrayLike,
    dv: ArrayLike,
    da: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """dtau/dq dq + dtau/dv dv + dtau/da da of tau = M(q) a + b(q, v) - sum of J^T f, (..., nv).

    dq is a velocity: it moves q to `model.integrate(q, t * dq)` in a short time t. The derivatives
    are those of `inverse_dynamics_derivatives`, which are not formed.
    """
    inputs = (q, v, a, dq, dv, da)
    inputs = inputs if external_forces is None else (*inputs, external_forces)
    return rnea_jvp(model, inputs, out, threads)


def inverse_dynamics_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    w: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    threads: int | None = None,
    out: Sequence[np.ndarray] | None = None,
) -> InverseDynamicsVJP:
    """w^T dtau/dq, w^T dtau/dv and w^T dtau/da of tau = M(q) a + b(q, v) - sum of J^T f.

    They are the gradients of w^T tau, (..., nv) each. The derivatives are those of
    `inverse_dynamics_derivatives`, which are not formed.
    """
    inputs = (q, v, a, w) if external_forces is None else (q, v, a, w, external_forces)
    return InverseDynamicsVJP._make(rnea_vjp(model, inputs, out, threads))

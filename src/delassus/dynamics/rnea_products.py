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

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..compile import function, kernel, present, slots
from ..model.model import Model
from ..model.packed import ModelArrays
from ..spatial.motions import add_cross_force, add_cross_motion, cross_force, cross_motion
from ..spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    dot,
    get3,
    get9,
    put3,
    rotate,
    rotate_back,
    scale,
    subtract,
)
from .coriolis import coriolis_operator
from .links import (
    MOVING,
    PLACEMENT,
    SUBSPACE,
    composite_times,
    external_wrench,
    move_link,
    place_links,
    rigid_inertia,
    start_at_rest,
)

# A link's work memory: placement, velocity and acceleration; of the variations Q, and of P the
# angular part, which is all that B takes. The force on the subtree and its variation then take the
# place of the placement.
TANGENT = slots(before=MOVING.size, P=3, Q_angular=3, Q_linear=3)
TANGENT_FORCE = slots(n=3, f=3, dn=3, df=3)
# The same for the transposed products: lambda and z; forces and y in the place of the placement.
ADJOINT = slots(before=MOVING.size, angular=3, linear=3, z=3)
ADJOINT_FORCE = slots(n=3, f=3, y_n=3, y_f=3)
DOF = SUBSPACE


@kernel(
    ModelArrays,
    inputs={
        "q": "nq", "v": "nv", "a": "nv", "dq": "nv", "dv": "nv", "da": "nv",
        "external_forces": "n_bodies 6 optional",
    },
    outputs={"dtau": "nv"},
    work=lambda n: n["n_links"] * TANGENT.size + n["nv"] * DOF.size,
    label="inverse_dynamics_jvp",
)  # fmt: skip
def rnea_jvp(model, q, v, a, dq, dv, da, external_forces, dtau, work):
    """dtau/dq dq + dtau/dv dv + dtau/da da"""
    n, size = len(model.links), TANGENT.size
    dofs = n * size
    start_at_rest(work, (-model.gravity[0], -model.gravity[1], -model.gravity[2]))
    put3(work, TANGENT.P, (0.0, 0.0, 0.0))
    put3(work, TANGENT.Q_angular, (0.0, 0.0, 0.0))
    put3(work, TANGENT.Q_linear, (0.0, 0.0, 0.0))
    place_links(model, q, work, size, dofs, DOF.size)
    for i in range(1, n):
        link = model.links[i]
        accelerate_link(link, i, v, a, work, size, dofs)
        vary_link(link, i, dq, dv, da, work, dofs)
        vary_force(link, model.solids[i], i * size, external_forces, work)
    for i in range(n - 1, 0, -1):
        collect_variation(model, i, dq, da, dtau, work, dofs)


@kernel(
    ModelArrays,
    inputs={
        "q": "nq", "v": "nv", "a": "nv", "w": "nv", "external_forces": "n_bodies 6 optional"
    },
    outputs={"dq": "nv", "dv": "nv", "da": "nv"},
    work=lambda n: n["n_links"] * ADJOINT.size + n["nv"] * DOF.size,
    label="inverse_dynamics_vjp",
)  # fmt: skip
def rnea_vjp(model, q, v, a, w, external_forces, dq, dv, da, work):
    """w^T dtau/dq, w^T dtau/dv and w^T dtau/da"""
    n, size = len(model.links), ADJOINT.size
    dofs = n * size
    start_at_rest(work, (-model.gravity[0], -model.gravity[1], -model.gravity[2]))
    put3(work, ADJOINT.angular, (0.0, 0.0, 0.0))
    put3(work, ADJOINT.linear, (0.0, 0.0, 0.0))
    place_links(model, q, work, size, dofs, DOF.size)
    for i in range(1, n):
        link = model.links[i]
        accelerate_link(link, i, v, a, work, size, dofs)
        weigh_force(link, model.solids[i], i, w, external_forces, work, dofs)
    for i in range(n - 1, 0, -1):
        collect_weights(model, i, w, dq, dv, da, work, dofs)


# --- steps of both --------------------------------------------------------------------------------


@function
def along(dof, n, f, work):
    """S^T (n, f) of a degree of freedom."""
    return dot(get3(work, dof + DOF.angular), n) + dot(get3(work, dof + DOF.linear), f)


@function
def add_to(at, x, work):
    """Add to three numbers from `at` on."""
    put3(work, at, add(get3(work, at), x))


@function
def across_joint(link, x, work, dofs):
    """S x: the motion across a joint."""
    dof = dofs + link.v * DOF.size
    angular = scale(x[link.v], get3(work, dof + DOF.angular))
    linear = scale(x[link.v], get3(work, dof + DOF.linear))
    for k in range(link.v + 1, link.v + link.nv):
        dof = dofs + k * DOF.size
        angular = add_scaled(angular, x[k], get3(work, dof + DOF.angular))
        linear = add_scaled(linear, x[k], get3(work, dof + DOF.linear))
    return angular, linear


@function
def accelerate_link(link, i, v, a, work, size, dofs):
    """v_i = v_p + S v and a_i = a_p + v_p x S v + S a."""
    move_link(link, i, v, work, size, dofs, DOF.size)
    angular, linear = across_joint(link, a, work, dofs)
    add_to(i * size + MOVING.alpha, angular, work)
    add_to(i * size + MOVING.a, linear, work)


@function
def needed_force(link, solid, at, external_forces, work):
    """f = I a + B v - f_ext of one link; return its I, h, B, l and f."""
    R, p = get9(work, at + PLACEMENT.R), get3(work, at + PLACEMENT.p)
    omega, u = get3(work, at + MOVING.omega), get3(work, at + MOVING.u)
    alpha, a = get3(work, at + MOVING.alpha), get3(work, at + MOVING.a)
    inertia, h = rigid_inertia(link, solid, R, p)
    B, momentum = coriolis_operator(inertia, h, link.mass, omega, u)
    n, f = composite_times(inertia, h, link.mass, alpha, a)
    n, f = add(n, rotate(B, omega)), add_cross(f, omega, momentum)
    if present(external_forces) and link.body >= 0:  # in the body's axes, at its origin
        n_external, f_external = external_wrench(link, solid, R, p, external_forces)
        n, f = subtract(n, n_external), subtract(f, f_external)
    return inertia, h, B, momentum, n, f


# --- dtau along dq, dv, da ------------------------------------------------------------------------


@function
def vary_link(link, i, dq, dv, da, work, dofs):
    """P and Q of link i from its parent's."""
    at, parent = i * TANGENT.size, link.parent * TANGENT.size
    omega_p, u_p = get3(work, parent + MOVING.omega), get3(work, parent + MOVING.u)
    alpha_p, a_p = get3(work, parent + MOVING.alpha), get3(work, parent + MOVING.a)
    omega, u = get3(work, at + MOVING.omega), get3(work, at + MOVING.u)
    q_angular, q_linear = across_joint(link, dq, work, dofs)
    v_angular, v_linear = across_joint(link, dv, work, dofs)
    # v_p x S dq + S dv, which v_p turns once more
    x, y = cross_motion(omega_p, u_p, q_angular, q_linear)
    x, y = add(x, v_angular), add(y, v_linear)
    put3(work, at + TANGENT.P, add(get3(work, parent + TANGENT.P), x))
    x, y = cross_motion(omega_p, u_p, x, y)
    x, y = add_cross_motion(x, y, alpha_p, a_p, q_angular, q_linear)
    x, y = add_cross_motion(x, y, omega, u, v_angular, v_linear)
    a_angular, a_linear = across_joint(link, da, work, dofs)
    x, y = add(x, a_angular), add(y, a_linear)
    put3(work, at + TANGENT.Q_angular, add(get3(work, parent + TANGENT.Q_angular), x))
    put3(work, at + TANGENT.Q_linear, add(get3(work, parent + TANGENT.Q_linear), y))


@function
def vary_force(link, solid, at, external_forces, work):
    """Force on a link, and how it varies: I Q + 2 B P."""
    inertia, h, B, momentum, n, f = needed_force(link, solid, at, external_forces, work)
    P = get3(work, at + TANGENT.P)
    Q_angular, Q_linear = get3(work, at + TANGENT.Q_angular), get3(work, at + TANGENT.Q_linear)
    dn, df = composite_times(inertia, h, link.mass, Q_angular, Q_linear)
    twice = add(P, P)
    put3(work, at + TANGENT_FORCE.n, n)
    put3(work, at + TANGENT_FORCE.f, f)
    put3(work, at + TANGENT_FORCE.dn, add(dn, rotate(B, twice)))
    put3(work, at + TANGENT_FORCE.df, add_cross(df, twice, momentum))


@function
def collect_variation(model, i, dq, da, dtau, work, dofs):
    """How the forces of link i's joint vary, and the force that its parent then carries."""
    link = model.links[i]
    at, parent = i * TANGENT.size, link.parent * TANGENT.size
    dn, df = get3(work, at + TANGENT_FORCE.dn), get3(work, at + TANGENT_FORCE.df)
    for k in range(link.v, link.v + link.nv):
        dtau[k] = along(dofs + k * DOF.size, dn, df, work) + model.armature[k] * da[k]
    if link.parent > 0:
        n, f = get3(work, at + TANGENT_FORCE.n), get3(work, at + TANGENT_FORCE.f)
        angular, linear = across_joint(link, dq, work, dofs)
        dn, df = add_cross_force(dn, df, angular, linear, n, f)
        add_to(parent + TANGENT_FORCE.n, n, work)
        add_to(parent + TANGENT_FORCE.f, f, work)
        add_to(parent + TANGENT_FORCE.dn, dn, work)
        add_to(parent + TANGENT_FORCE.df, df, work)


# --- w^T dtau -------------------------------------------------------------------------------------


@function
def weigh_force(link, solid, i, w, external_forces, work, dofs):
    """Motion lambda of link i, and its y = I lambda and z = 2 B^T lambda, which is a moment."""
    at, parent = i * ADJOINT.size, link.parent * ADJOINT.size
    angular, linear = across_joint(link, w, work, dofs)
    angular = add(angular, get3(work, parent + ADJOINT.angular))
    linear = add(linear, get3(work, parent + ADJOINT.linear))
    inertia, h, B, momentum, n, f = needed_force(link, solid, at, external_forces, work)
    y_n, y_f = composite_times(inertia, h, link.mass, angular, linear)
    half = add_cross(rotate_back(B, angular), momentum, linear)
    put3(work, at + ADJOINT.angular, angular)
    put3(work, at + ADJOINT.linear, linear)
    put3(work, at + ADJOINT.z, add(half, half))
    put3(work, at + ADJOINT_FORCE.n, n)
    put3(work, at + ADJOINT_FORCE.f, f)
    put3(work, at + ADJOINT_FORCE.y_n, y_n)
    put3(work, at + ADJOINT_FORCE.y_f, y_f)


@function
def collect_weights(model, i, w, dq, dv, da, work, dofs):
    """Products of the degrees of freedom of link i, and sums over the subtree of its parent."""
    link = model.links[i]
    at, parent = i * ADJOINT.size, link.parent * ADJOINT.size
    omega_p, u_p = get3(work, parent + MOVING.omega), get3(work, parent + MOVING.u)
    alpha_p, a_p = get3(work, parent + MOVING.alpha), get3(work, parent + MOVING.a)
    omega, u = get3(work, at + MOVING.omega), get3(work, at + MOVING.u)
    n, f = get3(work, at + ADJOINT_FORCE.n), get3(work, at + ADJOINT_FORCE.f)
    y_n, y_f = get3(work, at + ADJOINT_FORCE.y_n), get3(work, at + ADJOINT_FORCE.y_f)
    z = get3(work, at + ADJOINT.z)
    e_n, e_f = cross_force(omega_p, u_p, y_n, y_f)
    e_n, e_f = subtract(z, e_n), (-e_f[0], -e_f[1], -e_f[2])
    q_n, q_f = cross_force(omega_p, u_p, e_n, e_f)
    q_n, q_f = add_cross_force(q_n, q_f, alpha_p, a_p, y_n, y_f)
    lambda_angular = get3(work, parent + ADJOINT.angular)
    lambda_linear = get3(work, parent + ADJOINT.linear)
    q_n, q_f = add_cross_force(q_n, q_f, lambda_angular, lambda_linear, n, f)
    v_n, v_f = cross_force(omega, u, y_n, y_f)
    v_n, v_f = subtract(e_n, v_n), subtract(e_f, v_f)
    for k in range(link.v, link.v + link.nv):
        dof = dofs + k * DOF.size
        dq[k] = -along(dof, q_n, q_f, work)
        dv[k] = along(dof, v_n, v_f, work)
        da[k] = along(dof, y_n, y_f, work) + model.armature[k] * w[k]
    if link.parent > 0:
        add_to(parent + ADJOINT_FORCE.n, n, work)
        add_to(parent + ADJOINT_FORCE.f, f, work)
        add_to(parent + ADJOINT_FORCE.y_n, y_n, work)
        add_to(parent + ADJOINT_FORCE.y_f, y_f, work)
        add_to(parent + ADJOINT.z, z, work)


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
    out: InverseDynamicsVJP | None = None,
) -> InverseDynamicsVJP:
    """w^T dtau/dq, w^T dtau/dv and w^T dtau/da of tau = M(q) a + b(q, v) - sum of J^T f.

    They are the gradients of w^T tau, (..., nv) each. The derivatives are those of
    `inverse_dynamics_derivatives`, which are not formed.
    """
    inputs = (q, v, a, w) if external_forces is None else (q, v, a, w, external_forces)
    return InverseDynamicsVJP._make(rnea_vjp(model, inputs, out, threads))

"""How the motion of links varies with each degree of freedom, in world axes (see `links`).

Moving degree of freedom j turns and shifts all that it carries as one rigid body. Seen from a link
i among them, velocity and acceleration vary only because the link before j does not move along:

    dv_i/dq_j = Psi_j                     Psi_j = v_p x S_j, p the link before j
    da_i/dq_j = Phi_j - v_i x Psi_j       Phi_j = a_p x S_j + v_p x Psi_j
    dv_i/dv_j = S_j
    da_i/dv_j = Xi_j - v_i x S_j          Xi_j = Psi_j + v_j x S_j

(Carpentier and Mansard 2018, Eqs. 11 to 13; the terms that do not depend on i, kept apart, are
those of Singh, Russell and Wensing, Efficient Analytical Derivatives of Rigid-Body Dynamics Using
Spatial Vector Algebra, 2022.)
"""

from __future__ import annotations

from ...compile import function, slots
from ...spatial.motions import add_cross_motion, cross_motion
from ...spatial.vectors import add, add_scaled, get3, put3
from ..steps.links import MOVING, SUBSPACE

# A degree of freedom: S, Psi, Phi and Xi.
VARIATION = slots(
    SUBSPACE,
    psi_angular=3, psi_linear=3, phi_angular=3, phi_linear=3, xi_angular=3, xi_linear=3,
)  # fmt: skip


@function
def vary_motion(link, i, v, a, links, size, dofs, dof_size):
    """Velocity and acceleration of link i, and the variations of its own degrees of freedom.

    Records of links start with the slots of MOVING, those of degrees of freedom with VARIATION.
    """
    at, parent = i * size, link.parent * size
    omega_p, u_p = get3(links, parent + MOVING.omega), get3(links, parent + MOVING.u)
    alpha_p, a_p = get3(links, parent + MOVING.alpha), get3(links, parent + MOVING.a)
    omega, u, alpha, acceleration = omega_p, u_p, alpha_p, a_p
    for k in range(link.v, link.v + link.nv):
        dof = k * dof_size
        angular, linear = get3(dofs, dof + VARIATION.angular), get3(dofs, dof + VARIATION.linear)
        psi_angular, psi_linear = cross_motion(omega_p, u_p, angular, linear)
        x, y = cross_motion(alpha_p, a_p, angular, linear)
        x, y = add_cross_motion(x, y, omega_p, u_p, psi_angular, psi_linear)
        put3(dofs, dof + VARIATION.psi_angular, psi_angular)
        put3(dofs, dof + VARIATION.psi_linear, psi_linear)
        put3(dofs, dof + VARIATION.phi_angular, x)
        put3(dofs, dof + VARIATION.phi_linear, y)
        omega, u = add_scaled(omega, v[k], angular), add_scaled(u, v[k], linear)
        alpha = add_scaled(add_scaled(alpha, a[k], angular), v[k], psi_angular)
        acceleration = add_scaled(acceleration, a[k], linear)
        acceleration = add_scaled(acceleration, v[k], psi_linear)
    for k in range(link.v, link.v + link.nv):
        put_xi(link, omega, u, dofs, k * dof_size)
    put3(links, at + MOVING.omega, omega)
    put3(links, at + MOVING.u, u)
    put3(links, at + MOVING.alpha, alpha)
    put3(links, at + MOVING.a, acceleration)


@function
def put_xi(link, omega, u, dofs, dof):
    """Xi = Psi + v x S of one degree of freedom, where its link has velocity v = (omega, u)."""
    x, y = get3(dofs, dof + VARIATION.psi_angular), get3(dofs, dof + VARIATION.psi_linear)
    if link.nv == 1:  # the joint's own velocity is along S: v x S = Psi
        x, y = add(x, x), add(y, y)
    else:
        angular, linear = get3(dofs, dof + VARIATION.angular), get3(dofs, dof + VARIATION.linear)
        x, y = add_cross_motion(x, y, omega, u, angular, linear)
    put3(dofs, dof + VARIATION.xi_angular, x)
    put3(dofs, dof + VARIATION.xi_linear, y)

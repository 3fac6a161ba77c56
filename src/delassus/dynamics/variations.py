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

from ..compile import function, slots
from ..spatial.vectors import add, add_cross, add_scaled, cross, get3, put3
from .links import MOVING

# The start of a degree of freedom's record.
VARIATION = slots(
    angular=3, linear=3, psi_angular=3, psi_linear=3,
    phi_angular=3, phi_linear=3, xi_angular=3, xi_linear=3,
)  # fmt: skip


@function
def vary_motion(link, i, v, a, work, size, dofs, dof_size):
    """Velocity and acceleration of link i, and the variations of its own degrees of freedom."""
    at, parent = i * size, link.parent * size
    omega_p, u_p = get3(work, parent + MOVING.omega), get3(work, parent + MOVING.u)
    alpha_p, a_p = get3(work, parent + MOVING.alpha), get3(work, parent + MOVING.a)
    omega, u, alpha, acceleration = omega_p, u_p, alpha_p, a_p
    for k in range(link.v, link.v + link.nv):
        dof = dofs + k * dof_size
        angular, linear = get3(work, dof + VARIATION.angular), get3(work, dof + VARIATION.linear)
        psi_angular = cross(omega_p, angular)
        psi_linear = add_cross(cross(omega_p, linear), u_p, angular)
        phi_angular = add_cross(cross(alpha_p, angular), omega_p, psi_angular)
        phi_linear = add_cross(cross(alpha_p, linear), a_p, angular)
        phi_linear = add_cross(add_cross(phi_linear, omega_p, psi_linear), u_p, psi_angular)
        put3(work, dof + VARIATION.psi_angular, psi_angular)
        put3(work, dof + VARIATION.psi_linear, psi_linear)
        put3(work, dof + VARIATION.phi_angular, phi_angular)
        put3(work, dof + VARIATION.phi_linear, phi_linear)
        omega, u = add_scaled(omega, v[k], angular), add_scaled(u, v[k], linear)
        alpha = add_scaled(add_scaled(alpha, a[k], angular), v[k], psi_angular)
        acceleration = add_scaled(acceleration, a[k], linear)
        acceleration = add_scaled(acceleration, v[k], psi_linear)
    for k in range(link.v, link.v + link.nv):
        dof = dofs + k * dof_size
        psi_angular = get3(work, dof + VARIATION.psi_angular)
        psi_linear = get3(work, dof + VARIATION.psi_linear)
        if link.nv == 1:  # the joint's own velocity is along S
            put3(work, dof + VARIATION.xi_angular, add(psi_angular, psi_angular))
            put3(work, dof + VARIATION.xi_linear, add(psi_linear, psi_linear))
        else:
            angular = get3(work, dof + VARIATION.angular)
            linear = get3(work, dof + VARIATION.linear)
            put3(work, dof + VARIATION.xi_angular, add_cross(psi_angular, omega, angular))
            psi_linear = add_cross(add_cross(psi_linear, omega, linear), u, angular)
            put3(work, dof + VARIATION.xi_linear, psi_linear)
    put3(work, at + MOVING.omega, omega)
    put3(work, at + MOVING.u, u)
    put3(work, at + MOVING.alpha, alpha)
    put3(work, at + MOVING.a, acceleration)

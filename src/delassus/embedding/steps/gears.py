"""Links with one motor on what carries them, about the same axis: most joints of robots.

The rotor is a spin (see `structure.spins`) of the rate N y' about the joint's own axis z. With
s = N J, the link's projected inertia gets the moment s z, which is also s in D = z . U, and
N^2 J - s stands in the joint's armature. With y'' = 0 the rotor takes the moment
s (alpha - alpha_carrier) on what carries it, which passes the joint as it is across its axis; and
s (z . alpha) of the joint itself. That is some twenty operations a joint.
"""

from __future__ import annotations

from ...compile import function, present, sincos
from ...dynamics.aba import DOF, FORCE, LINK, MOTION
from ...dynamics.steps.articulated import (
    INERTIA,
    pass_remainder,
    put_projection,
    start_inertia,
)
from ...dynamics.steps.bodies import external_wrench
from ...spatial.vectors import (
    add,
    add_scaled,
    compose,
    cross,
    dot,
    get3,
    get6,
    get9,
    put3,
    rotate,
    rotate_back,
    scale,
    subtract,
    symmetric_times,
    turn_about_z,
)


@function
def push_rotor(model, rotor, carrier, angle, external_forces, work):
    """Put an external force on a rotor on the link that carries it; return its torque."""
    link, at = model.links[rotor], carrier * LINK.size
    s, c = sincos(angle)
    R, p = turn_about_z(get9(link.rotation, 0), s, c), get3(link.position, 0)
    if carrier > 0:
        R_carrier = get9(work.links, at + LINK.R)
        R, p = compose(R_carrier, R), add(get3(work.links, at + LINK.p), rotate(R_carrier, p))
    n, f = external_wrench(link, model.solids[rotor], R, p, external_forces)
    if carrier > 0:
        force = carrier * FORCE.size
        put3(work.forces, force + FORCE.n, subtract(get3(work.forces, force + FORCE.n), n))
        put3(work.forces, force + FORCE.f, subtract(get3(work.forces, force + FORCE.f), f))
    return dot((R[2], R[5], R[8]), subtract(n, cross(p, f)))


@function
def put_motor_forces(model, first, last, q, tau, external_forces, work):
    """What the motors of a range of links take if y'' = 0, and what that leaves of tau."""
    links, forces = work.links, work.forces
    for i in range(first, last + 1):
        link, at, gear = model.links[i], i * LINK.size, model.gears[i]
        alpha = get3(links, at + MOTION.alpha)
        before = get3(links, link.parent * LINK.size + MOTION.alpha)
        force = i * FORCE.size + FORCE.n
        put3(forces, force, add(get3(forces, force), scale(gear.spin, subtract(alpha, before))))
        axis = get3(work.dofs, link.v * DOF.size + DOF.angular)
        left = tau[link.v] - gear.spin * dot(axis, before)
        if present(external_forces):
            angle = gear.ratio * q[link.q] + gear.offset
            torque = push_rotor(model, gear.rotor, link.parent, angle, external_forces, work)
            left = left + gear.ratio * torque
        work.tau[link.v] = left


@function
def articulate_motors(model, first, last, work):
    """The articulated inertias of a range of links with motors, from the last one back."""
    links, dofs = work.links, work.dofs
    for i in range(last, first - 1, -1):
        link, at, dof = model.links[i], i * LINK.size, model.links[i].v * DOF.size
        if not link.has_children:
            start_inertia(link, at, links)
        A, H = get6(links, at + LINK.A), get9(links, at + INERTIA.H)
        axis = get3(dofs, dof + DOF.angular)
        moment = add_scaled(symmetric_times(A, axis), model.gears[i].spin, axis)
        force = rotate_back(H, axis)
        D = dot(axis, moment) + model.armature[link.v]
        projected = put_projection(moment, force, D, at, links, dof, dofs)
        if link.parent > 0:
            to = link.parent * LINK.size
            pass_remainder(model, link, link.is_last_child, at, to, projected, links)

"""Forward dynamics by the articulated-body algorithm (Featherstone 1983). O(n).

Departs from the textbook in three ways, all to save arithmetic. Vectors are in world axes (see
`links` and `articulated`). All that does not depend on the unknown accelerations, gravity included,
is first turned into the force of a motion with zero joint acceleration, so that the backward sweep
multiplies no articulated inertia with a velocity product. A joint of several degrees of freedom is
eliminated one column after the other, which is its block elimination written out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..compile import function, kernel, layout, overlay, present, slots
from ..model.model import Model
from ..model.packed import ModelArrays
from ..model.parts.kinds import PRISMATIC, REVOLUTE
from ..spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    cross,
    dot,
    get3,
    get9,
    less_dot,
    put3,
    rotate,
    scale,
    subtract,
)
from .steps.articulated import DOF as ARTICULATED_DOF
from .steps.articulated import LINK, articulate_range, put_rigid_body
from .steps.bodies import external_wrench, newton_euler
from .steps.joints import joint_motion
from .steps.links import AT_ONCE, place_range, put_sines

# The bias motion of a link's origin, with zero joint acceleration, stands where the articulated
# inertia comes after it; the accelerations of the last sweep stand there again. The places are
# those of MOVING, where rows of constraints look for motions; only they ask for the velocity u.
MOTION = overlay(LINK, "A M", omega=3, u=3, alpha=3, a=3)
# A degree of freedom: projections of the articulated inertia, and u = tau - S^T (n, f).
DOF = slots(ARTICULATED_DOF, u=1)
# A link's force f, and moment n about the tree's origin: what its bias motion takes, then what
# remains of that for its joint.
FORCE = slots(n=3, f=3)
WORK = layout(links=("n_links", LINK), forces=("n_links", FORCE), dofs=("nv", DOF))


@kernel(
    ModelArrays,
    inputs={"q": "nq", "v": "nv", "tau": "nv", "external_forces": "n_bodies 6 optional"},
    outputs={"a": "nv"},
    work=WORK,
    label="forward_dynamics",
)
def aba(model, q, v, tau, external_forces, a, work):
    """a = M(q)^-1 (tau - b(q, v) + sum of J^T f_ext)"""
    n, links = len(model.links), work.links
    put3(links, LINK.p, (0.0, 0.0, 0.0))
    put3(links, MOTION.omega, (0.0, 0.0, 0.0))
    put3(links, MOTION.alpha, (0.0, 0.0, 0.0))
    put3(links, MOTION.a, (-model.gravity[0], -model.gravity[1], -model.gravity[2]))
    put_links(model, q, v, external_forces, work)
    for end in range(n, 1, -AT_ONCE):
        first = max(end - AT_ONCE, 1)
        articulate_range(model, first, end, links, LINK.size, work.dofs, DOF.size)
        pass_forces(model, first, end - 1, tau, work)
    put3(links, MOTION.alpha, (0.0, 0.0, 0.0))
    put3(links, MOTION.a, (0.0, 0.0, 0.0))
    accelerate(model, 1, n - 1, a, work)


@function
def put_links(model, q, v, external_forces, work):
    """Placements, bias motions and inertias of all links, some at a time."""
    n = len(model.links)
    put_sines(model, q, work.dofs, DOF.size)
    for first in range(1, n, AT_ONCE):
        end = min(first + AT_ONCE, n)
        place_range(model, first, end, q, work.links, LINK.size, work.dofs, DOF.size)
        put_bias_motions(model, first, end, v, work.links)
        put_rigid_bodies(model, first, end, external_forces, work)


@function
def put_bias_motions(model, first, end, v, links):
    """Velocities of a range of links, and their accelerations with zero joint acceleration.

    What a link has from the one before it, most often its parent, is at hand.
    """
    before = (first - 1) * LINK.size
    p, omega = get3(links, before + LINK.p), get3(links, before + MOTION.omega)
    alpha, a = get3(links, before + MOTION.alpha), get3(links, before + MOTION.a)
    for i in range(first, end):
        link, at = model.links[i], i * LINK.size
        if link.parent != i - 1:
            parent = link.parent * LINK.size
            p, omega = get3(links, parent + LINK.p), get3(links, parent + MOTION.omega)
            alpha, a = get3(links, parent + MOTION.alpha), get3(links, parent + MOTION.a)
        if not link.shares_origin:
            offset = subtract(get3(links, at + LINK.p), p)
            a = add_cross(add_cross(a, alpha, offset), omega, cross(omega, offset))
            p = get3(links, at + LINK.p)
        omega, alpha, a = add_joint_motion(link, omega, alpha, a, v, links, at)
        put3(links, at + MOTION.omega, omega)
        put3(links, at + MOTION.alpha, alpha)
        put3(links, at + MOTION.a, a)


@function
def add_joint_motion(link, omega, alpha, a, v, links, at):
    """The motion of a link, from that of its parent at the same point."""
    z = (links[at + LINK.R + 2], links[at + LINK.R + 5], links[at + LINK.R + 8])
    if link.kind == REVOLUTE:
        w = scale(v[link.v], z)
        alpha = add_cross(alpha, omega, w)
        omega = add(omega, w)
    elif link.kind == PRISMATIC:
        u = scale(v[link.v] + v[link.v], z)
        a = add_cross(a, omega, u)
    else:
        R = get9(links, at + LINK.R)
        u, w = joint_motion(link, v)
        u, w = rotate(R, u), rotate(R, w)
        alpha = add_cross(alpha, omega, w)
        # Coriolis' acceleration counts the parent's rotation twice and the joint's own once.
        a = add_cross(a, add(add(omega, omega), w), u)
        omega = add(omega, w)
    return omega, alpha, a


@function
def put_rigid_bodies(model, first, end, external_forces, work):
    """Inertias of a range of links, and the forces of their bias motions less external ones."""
    if present(external_forces):
        for i in range(first, end):
            pushed_rigid_body(model.links[i], model.solids[i], i, external_forces, work)
    else:
        for i in range(first, end):
            rigid_body(model.links[i], i, work)


@function
def rigid_body(link, i, work):
    """Inertia of link i, and the force that gives it its bias motion, about the tree's origin."""
    at, force = i * LINK.size, i * FORCE.size
    omega, alpha = get3(work.links, at + MOTION.omega), get3(work.links, at + MOTION.alpha)
    a = get3(work.links, at + MOTION.a)
    inertia, h = put_rigid_body(link, at, work.links)
    n, f = newton_euler(inertia, h, link.mass, omega, alpha, a)
    put3(work.forces, force + FORCE.f, f)
    put3(work.forces, force + FORCE.n, add_cross(n, get3(work.links, at + LINK.p), f))


@function
def pushed_rigid_body(link, solid, i, external_forces, work):
    """Inertia and force of link i under an external force, in the body's axes at its origin."""
    at, force = i * LINK.size, i * FORCE.size
    R, p = get9(work.links, at + LINK.R), get3(work.links, at + LINK.p)
    rigid_body(link, i, work)
    if link.body >= 0:
        n, f = external_wrench(link, solid, R, p, external_forces)
        put3(work.forces, force + FORCE.f, subtract(get3(work.forces, force + FORCE.f), f))
        put3(work.forces, force + FORCE.n, subtract(get3(work.forces, force + FORCE.n), n))


@function
def pass_forces(model, first, last, tau, work):
    """u = tau - S^T (n, f) of joints, and what remains of forces for what carries their links.

    The links are a range, from the last one back. Forces on the one before, most often the parent,
    are added up without going through memory.
    """
    forces, dofs, none = work.forces, work.dofs, (0.0, 0.0, 0.0)
    n, f = none, none
    for i in range(last, first - 1, -1):
        link, at = model.links[i], i * FORCE.size
        n, f = add(n, get3(forces, at + FORCE.n)), add(f, get3(forces, at + FORCE.f))
        for k in range(link.v + link.nv - 1, link.v - 1, -1):
            dof = k * DOF.size
            u = less_dot(tau[k], get3(dofs, dof + DOF.angular), n)
            u = u - dot(get3(dofs, dof + DOF.linear), f)
            dofs[dof + DOF.u] = u
            n = add_scaled(n, u, get3(dofs, dof + DOF.G_angular))
            f = add_scaled(f, u, get3(dofs, dof + DOF.G_linear))
        if link.parent != i - 1 or i == first:
            parent = link.parent * FORCE.size
            if link.parent > 0:
                put3(forces, parent + FORCE.n, add(get3(forces, parent + FORCE.n), n))
                put3(forces, parent + FORCE.f, add(get3(forces, parent + FORCE.f), f))
            n, f = none, none


@function
def accelerate(model, first, last, a, work):
    """Joint accelerations of a range of links, and the links' own, from what carries them."""
    links, dofs, before = work.links, work.dofs, (first - 1) * LINK.size
    angular, linear = get3(links, before + MOTION.alpha), get3(links, before + MOTION.a)
    for i in range(first, last + 1):
        link, at = model.links[i], i * LINK.size
        if link.parent != i - 1:
            parent = link.parent * LINK.size
            angular, linear = get3(links, parent + MOTION.alpha), get3(links, parent + MOTION.a)
        for k in range(link.v, link.v + link.nv):
            dof = k * DOF.size
            x = dofs[dof + DOF.u] * dofs[dof + DOF.D_inverse]
            x = less_dot(x, get3(dofs, dof + DOF.G_angular), angular)
            x = x - dot(get3(dofs, dof + DOF.G_linear), linear)
            a[k] = x
            angular = add_scaled(angular, x, get3(dofs, dof + DOF.angular))
            linear = add_scaled(linear, x, get3(dofs, dof + DOF.linear))
        put3(links, at + MOTION.alpha, angular)
        put3(links, at + MOTION.a, linear)


def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """a = M(q)^-1 (tau - b(q, v) + sum of J^T f): the accelerations that joint forces produce.

    `external_forces` (..., n_bodies, 6) act on the bodies: force then moment, in the body's axes
    and at its origin. Damping, friction and springs are not included: add `passive_forces` to tau.
    """
    if external_forces is None:
        return aba(model, (q, v, tau), out, threads)
    return aba(model, (q, v, tau, external_forces), out, threads)

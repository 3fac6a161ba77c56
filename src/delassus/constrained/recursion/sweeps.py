"""Sweeps over the links that support constraints: loads inwards, accelerations outwards. O(n + m).

Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Algorithm 2, the
reduced two-sweep algorithm, and the same parts of Algorithm 1. The sweeps carry changes of loads
and accelerations, which add up.

| paper | here | what |
| --- | --- | --- |
| S_E | model.steps, model.free | joints of links that support constraints |
| Delta f_i | load of link i in work.forces | what rows, and links that it carries, push it by |
| mu K_i^T (k_i - K_i a_i) | `pull` of an end, by dual.tension | the force of a row's spring |
| P_i | G in a record of work.dofs | P Delta f = Delta f + G u, with u = -S^T Delta f |
| D_i^-1 S_i^T {...} | x in `respond` | the change of a joint's acceleration |
| a_i | TOTAL | acceleration of a link, without that of zero joint accelerations |
| a_i^{k+1} - a_i^k | CHANGE | by how much it changes in an iteration |
"""

from __future__ import annotations

from ...compile import absolute, function, overlay, select
from ...dynamics.aba import DOF, FORCE, LINK, MOTION
from ...dynamics.steps.articulated import INERTIA
from ...spatial.vectors import (
    add,
    add_scaled,
    dot,
    get3,
    less_dot,
    put3,
    subtract,
)
from ..rows.wrenches import count_rows
from .couplings import PULL, push_neighbours
from .free_root import joint_acceleration, joint_force, solve_root
from .links import move_others
from .plan import NONE
from .springs import add_magnitudes, add_motion, pull

# In the place of a link's articulated inertia, once its joint is eliminated: its acceleration, and
# by how much it changes in an iteration.
TOTAL = overlay(INERTIA, "H", alpha=3, a=3)
CHANGE = overlay(INERTIA, "A", alpha=3, a=3)


@function
def clear_world(model, work):
    """The world does not move, and no force is there."""
    none, load = (0.0, 0.0, 0.0), len(model.links) * FORCE.size
    put3(work.forces, load + FORCE.n, none)
    put3(work.forces, load + FORCE.f, none)
    put3(work.forces, FORCE.n, none)
    put3(work.forces, FORCE.f, none)
    put3(work.links, MOTION.alpha, none)
    put3(work.links, MOTION.a, none)
    put3(work.links, TOTAL.alpha, none)
    put3(work.links, TOTAL.a, none)
    put3(work.links, CHANGE.alpha, none)
    put3(work.links, CHANGE.a, none)


# --- inwards --------------------------------------------------------------------------------------


@function
def put_pulls(model, x, is_whole, work):
    """Loads of links by constraints, x each row; if whole, links' own forces are part of them."""
    start_early_loads(model, is_whole, work)
    for t in range(len(model.ends)):
        put_pull(model, model.ends[t], x, is_whole, work)


@function
def start_early_loads(model, is_whole, work):
    """Links without constraints that neighbours push at start with their own forces, or none."""
    forces = work.forces
    for t in range(len(model.early)):
        i = model.early[t]
        load, source = (len(model.links) + i) * FORCE.size, (i if is_whole else 0) * FORCE.size
        put3(forces, load + FORCE.n, get3(forces, source + FORCE.n))
        put3(forces, load + FORCE.f, get3(forces, source + FORCE.f))


@function
def put_pull(model, end, x, is_whole, work):
    """Add the pull of an end to the load of its link; returns its moment and force."""
    forces, load = work.forces, end.load * FORCE.size
    more = (end.add_with_own if is_whole else end.add) * FORCE.size
    n, f = pull(model, end, x, work)
    put3(forces, load + FORCE.n, add(get3(forces, more + FORCE.n), n))
    put3(forces, load + FORCE.f, add(get3(forces, more + FORCE.f), f))
    return n, f


@function
def pass_forces(model, first, end, tau, is_whole, is_moving, work):
    """What joints leave of loads for what carries the links, and for neighbours: P Delta f.

    Steps first..end-1. If whole, links have forces of their own, and joints too; where joints move
    already, by work.joints, their motors take a part of that.
    """
    forces, dofs = work.forces, work.dofs
    for t in range(first, end):
        step = model.steps[t]
        dof, to = step.k * DOF.size, step.to * FORCE.size
        source, more = step.source * FORCE.size, step.add * FORCE.size
        u = 0.0
        if is_whole:
            source, more = step.source_with_own * FORCE.size, step.add_with_own * FORCE.size
            u = tau[step.k]
            if is_moving:
                u = u - model.armature[step.k] * work.joints[step.k]
        n, f = get3(forces, source + FORCE.n), get3(forces, source + FORCE.f)
        u = less_dot(u, get3(dofs, dof + DOF.angular), n) - dot(get3(dofs, dof + DOF.linear), f)
        dofs[dof + DOF.u] = u
        n = add_scaled(n, u, get3(dofs, dof + DOF.G_angular))
        f = add_scaled(f, u, get3(dofs, dof + DOF.G_linear))
        if step.neighbours > 0:
            push_neighbours(model, step, u * dofs[dof + DOF.D_inverse], work)
        put3(forces, to + FORCE.n, add(n, get3(forces, more + FORCE.n)))
        put3(forces, to + FORCE.f, add(f, get3(forces, more + FORCE.f)))


@function
def push_free_bodies(model, tau, work):
    """Take the forces of joints of free bodies off those that the bodies' motion needs."""
    forces = work.forces
    for t in range(len(model.free)):
        i = model.free[t]
        at, v = i * FORCE.size, model.links[i].v
        n, f = joint_force(tau, v, work.dofs, v * DOF.size)
        put3(forces, at + FORCE.n, subtract(get3(forces, at + FORCE.n), n))
        put3(forces, at + FORCE.f, subtract(get3(forces, at + FORCE.f), f))


# --- outwards -------------------------------------------------------------------------------------


@function
def move(model, is_active, is_first, work):
    """Accelerations of links and joints under loads, from the world on; or changes of them.

    States that are not active do not move.
    """
    links = work.links
    for t in range(len(model.free)):
        respond_freely(model, model.free[t], is_active, work)
    for t in range(len(model.steps) - 1, -1, -1):
        respond(model, model.steps[t], is_active, is_first, work)
    for t in range(len(model.supports)):
        at = model.supports[t].link * LINK.size
        alpha, linear = get3(links, at + CHANGE.alpha), get3(links, at + CHANGE.a)
        if not is_first:
            alpha = add(alpha, get3(links, at + TOTAL.alpha))
            linear = add(linear, get3(links, at + TOTAL.a))
        put3(links, at + TOTAL.alpha, alpha)
        put3(links, at + TOTAL.a, linear)


@function
def respond(model, step, is_active, is_first, work):
    """x = D^-1 u - G^T a of a degree of freedom, and the acceleration of its link: a + S x."""
    links, dofs, pulls, dof = work.links, work.dofs, work.pulls, step.k * DOF.size
    before, at = step.before * LINK.size, step.link * LINK.size
    alpha, linear = get3(links, before + CHANGE.alpha), get3(links, before + CHANGE.a)
    u = dofs[dof + DOF.u]
    for t in range(step.first_neighbour, step.first_neighbour + step.neighbours):
        near = model.neighbours[t]
        place, to = (near.pull + step.nth) * PULL.size, near.link * LINK.size
        u = less_dot(u, get3(pulls, place + PULL.n), get3(links, to + CHANGE.alpha))
        u = less_dot(u, get3(pulls, place + PULL.f), get3(links, to + CHANGE.a))
    x = less_dot(u * dofs[dof + DOF.D_inverse], get3(dofs, dof + DOF.G_angular), alpha)
    x = x - dot(get3(dofs, dof + DOF.G_linear), linear)
    x = select(is_active, x, 0.0 * u)
    work.joints[step.k] = x if is_first else work.joints[step.k] + x
    put3(links, at + CHANGE.alpha, add_scaled(alpha, x, get3(dofs, dof + DOF.angular)))
    put3(links, at + CHANGE.a, add_scaled(linear, x, get3(dofs, dof + DOF.linear)))


@function
def respond_freely(model, i, is_active, work):
    """The acceleration of a free body."""
    at, dof = i * LINK.size, model.links[i].v * DOF.size
    load = (len(model.links) + i) * FORCE.size
    n, f = get3(work.forces, load + FORCE.n), get3(work.forces, load + FORCE.f)
    alpha, linear = solve_root((-n[0], -n[1], -n[2]), (-f[0], -f[1], -f[2]), work.dofs, dof)
    put3(work.links, at + CHANGE.alpha, choose(is_active, alpha))
    put3(work.links, at + CHANGE.a, choose(is_active, linear))


@function
def choose(is_active, x):
    """x of states that are active, zero of others."""
    none = 0.0 * x[0]
    return (
        select(is_active, x[0], none),
        select(is_active, x[1], none),
        select(is_active, x[2], none),
    )


@function
def add_motions(model, motion, r, work):
    """r + J a, for accelerations at the slot `motion` in the records of links."""
    for t in range(len(model.ends)):
        end = model.ends[t]
        at = end.link * LINK.size + motion
        add_motion(model, end, get3(work.links, at), get3(work.links, at + 3), r, work)


@function
def put_residuals(model, motion, r, work):
    """r = J a + gamma - a*, for accelerations at the slot `motion` in the records of links."""
    for t in range(count_rows(model)):
        r[t] = work.dual.target[t]
    add_motions(model, motion, r, work)


@function
def start_sizes(model, motion, work):
    """The magnitudes of what residuals are differences of: gamma - a*, and motions of ends."""
    dual = work.dual
    for t in range(count_rows(model)):
        dual.sizes[t] = absolute(dual.target[t])
    for t in range(len(model.ends)):
        end = model.ends[t]
        at = end.link * LINK.size + motion
        add_magnitudes(model, end, get3(work.links, at), get3(work.links, at + 3), dual.sizes, work)


@function
def put_accelerations(model, a, work):
    """Accelerations of all joints, at last of those that support no constraint."""
    for t in range(len(model.steps)):
        k = model.steps[t].k
        a[k] = work.joints[k]
    for t in range(len(model.free)):
        at, v = model.free[t] * LINK.size, model.links[model.free[t]].v
        alpha, linear = get3(work.links, at + TOTAL.alpha), get3(work.links, at + TOTAL.a)
        joint_acceleration(alpha, linear, v, work.dofs, v * DOF.size, a)
    put_motions(model, work)
    move_others(model, a, work)


@function
def put_motions(model, work):
    """The motion of links that carry some without ends, where those look for it."""
    for t in range(len(model.supports)):
        if model.supports[t].carrier != NONE:
            at = model.supports[t].link * LINK.size
            put3(work.links, at + MOTION.alpha, get3(work.links, at + TOTAL.alpha))
            put3(work.links, at + MOTION.a, get3(work.links, at + TOTAL.a))

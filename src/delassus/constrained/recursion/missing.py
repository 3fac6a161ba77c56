"""What is missing in the equations of motion of links that support constraints. O(n + m).

Stiff springs round off the inertia that moves along with them, and so does an elimination by small
pivots. What that costs shows in the equations of motion, for inertias as they were before. The same
recursion then solves for what is missing there.
"""

from __future__ import annotations

from ...compile import function, layout, slots, sqrt
from ...dynamics.aba import DOF, FORCE, LINK
from ...dynamics.steps.articulated import INERTIA, inertia_times
from ...dynamics.steps.bodies import composite_times
from ...dynamics.steps.subspaces import along
from ...spatial.vectors import add, add_cross, get3, get6, get9, put3, put6, put9
from ..rows.wrenches import count_rows
from .plan import NONE
from .springs import add_pull
from .sweeps import CHANGE, TOTAL

# The inertia before any spring of links that carry some without ends. The others have their own,
# which stays where it is.
CARRIED_INERTIA = slots(H=9, A=6, M=6)
CARRIED = layout(carried=("carriers", CARRIED_INERTIA))
# The forces of links that their bias motions take.
BIASES = layout(biases=("supports", FORCE))


@function
def keep_carried(model, work):
    """Remember inertias of links as they are without springs, if they are not the links' own."""
    for t in range(len(model.supports)):
        turn = model.supports[t]
        if turn.carrier != NONE:
            at, own = turn.link * LINK.size, turn.carrier * CARRIED_INERTIA.size
            put9(work.carried, own + CARRIED_INERTIA.H, get9(work.links, at + INERTIA.H))
            put6(work.carried, own + CARRIED_INERTIA.A, get6(work.links, at + INERTIA.A))
            put6(work.carried, own + CARRIED_INERTIA.M, get6(work.links, at + INERTIA.M))


@function
def put_needed_forces(model, work):
    """Add the forces that changes of links' motions take to the links' own.

    A link counts with all that it carries and no constraint pulls at.
    """
    links, forces = work.links, work.forces
    linear, before = get3(links, CHANGE.a), 0
    for t in range(len(model.supports) - 1, -1, -1):
        turn = model.supports[t]
        link, at, force = model.links[turn.link], turn.link * LINK.size, turn.link * FORCE.size
        p, alpha = get3(links, at + LINK.p), get3(links, at + CHANGE.alpha)
        # The acceleration of the link's origin: known, if it is that of the one before.
        if link.parent != before or not link.shares_origin:
            linear = add_cross(get3(links, at + CHANGE.a), alpha, p)
        before = turn.link
        if turn.carrier == NONE:
            inertia, h = get6(links, at + LINK.own_inertia), get3(links, at + LINK.own_h)
            n, f = composite_times(inertia, h, link.mass, alpha, linear)
        else:
            own = turn.carrier * CARRIED_INERTIA.size
            A = get6(work.carried, own + CARRIED_INERTIA.A)
            H = get9(work.carried, own + CARRIED_INERTIA.H)
            M = get6(work.carried, own + CARRIED_INERTIA.M)
            n, f = inertia_times(A, H, M, alpha, linear)
        put3(forces, force + FORCE.n, add_cross(add(n, get3(forces, force + FORCE.n)), p, f))
        put3(forces, force + FORCE.f, add(f, get3(forces, force + FORCE.f)))


@function
def copy_force(source, at, target, to):
    """Copy a moment and a force."""
    put3(target, to + FORCE.n, get3(source, at + FORCE.n))
    put3(target, to + FORCE.f, get3(source, at + FORCE.f))


@function
def keep_biases(model, work):
    """Keep the own forces of links, which their motion with zero joint acceleration takes."""
    for t in range(len(model.supports)):
        copy_force(work.forces, model.supports[t].link * FORCE.size, work.biases, t * FORCE.size)


@function
def put_missing_forces(model, work):
    """Own forces of links for the accelerations found: what these take, less the pull of rows."""
    links, dual = work.links, work.dual
    for t in range(len(model.supports)):
        i = model.supports[t].link
        copy_force(work.biases, t * FORCE.size, work.forces, i * FORCE.size)
        put3(links, i * LINK.size + CHANGE.alpha, get3(links, i * LINK.size + TOTAL.alpha))
        put3(links, i * LINK.size + CHANGE.a, get3(links, i * LINK.size + TOTAL.a))
    put_needed_forces(model, work)
    for t in range(count_rows(model)):
        dual.tension[t] = -dual.multipliers[t]
    for t in range(len(model.ends)):
        add_pull(model, model.ends[t], dual.tension, work)


@function
def missing_length(model, tau, a, square, work):
    """The length of the error of the equations of motion, along all joints. `square` is zero."""
    forces, dofs, n_links = work.forces, work.dofs, len(model.links)
    for t in range(len(model.supports)):
        i = model.supports[t].link
        copy_force(forces, i * FORCE.size, forces, (n_links + i) * FORCE.size)
    for t in range(len(model.supports)):
        i = model.supports[t].link
        link = model.links[i]
        load, parent = (n_links + i) * FORCE.size, (n_links + link.parent) * FORCE.size
        n, f = get3(forces, load + FORCE.n), get3(forces, load + FORCE.f)
        for k in range(link.v, link.v + link.nv):
            x = tau[k] - model.armature[k] * a[k] - along(dofs, k * DOF.size, n, f)
            square = square + x * x
        if link.parent > 0:
            put3(forces, parent + FORCE.n, add(get3(forces, parent + FORCE.n), n))
            put3(forces, parent + FORCE.f, add(get3(forces, parent + FORCE.f), f))
    return sqrt(square)

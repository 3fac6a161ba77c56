"""What is missing in the equations of motion of links that support constraints. O(n + m).

Stiff springs round off the inertia that moves along with them, and so does an elimination by small
pivots. What that costs shows in the equations of motion, for inertias as they were before. The same
recursion then solves for what is missing there.
"""

from __future__ import annotations

from ...compile import function, layout, routine, slots, sqrt
from ...dynamics.aba import DOF, FORCE, LINK
from ...dynamics.steps.articulated import INERTIA, inertia_times
from ...dynamics.steps.bodies import composite_times
from ...spatial.vectors import (
    add,
    add_cross,
    dot,
    get3,
    get6,
    get9,
    less_dot,
    put3,
    put6,
    put9,
)
from ..rows.request import CANCELS, relative
from ..rows.wrenches import count_rows
from .plan import NONE
from .springs import pull
from .sweeps import push_free_bodies, put_pull, start_early_loads

# The inertia before any spring of links that carry some without ends. The others have their own,
# which stays where it is.
CARRIED_INERTIA = slots(H=9, A=6, M=6)
CARRIED = layout(carried=("carriers", CARRIED_INERTIA))
# The squares of all moments, and of all forces, that meet at a link.
SQUARES = slots(n=1, f=1)
# The part by which squares count for links that carry a link: the square of what rounding is of the
# tolerance that most ask for.
PASSED = 1e-6
# The forces of links that their bias motions take, and SQUARES.
BIASES = layout(biases=("supports", FORCE), squares=("n_links", SQUARES))


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
def copy_force(source, at, target, to):
    """Copy a moment and a force."""
    put3(target, to + FORCE.n, get3(source, at + FORCE.n))
    put3(target, to + FORCE.f, get3(source, at + FORCE.f))


@function
def keep_biases(model, work):
    """Keep the own forces of links, which their motion with zero joint acceleration takes."""
    for t in range(len(model.supports)):
        copy_force(work.forces, model.supports[t].link * FORCE.size, work.biases, t * FORCE.size)


@routine
def put_needed_forces(model, motion, work):
    """Own forces of links that their accelerations take, at the slot `motion` of their records.

    A link counts with all that it carries and no constraint pulls at.
    """
    links, forces, biases = work.links, work.forces, work.biases
    linear, before = get3(links, motion + 3), 0
    for t in range(len(model.supports) - 1, -1, -1):
        turn, bias = model.supports[t], t * FORCE.size
        link, at, force = model.links[turn.link], turn.link * LINK.size, turn.link * FORCE.size
        p, alpha = get3(links, at + LINK.p), get3(links, at + motion)
        # The acceleration of the link's origin: known, if it is that of the one before.
        if link.parent != before or not link.shares_origin:
            linear = add_cross(get3(links, at + motion + 3), alpha, p)
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
        put3(forces, force + FORCE.n, add_cross(add(n, get3(biases, bias + FORCE.n)), p, f))
        put3(forces, force + FORCE.f, add(f, get3(biases, bias + FORCE.f)))


@routine
def motion_error(model, motion, tau, a, none, work):
    """How far the equations of motion are from holding: each joint's, relative to its forces.

    A joint's forces are tau and what its motor's inertia takes; and all moments and forces that
    meet at its link: those of its motion, of rows, and of links that it carries. Along S they must
    leave nothing. On a free body they must leave nothing at all.
    """
    forces, dual, squares, biases = work.forces, work.dual, work.squares, work.biases
    put_needed_forces(model, motion, work)
    push_free_bodies(model, tau, work)
    for t in range(len(model.supports)):
        i, bias = model.supports[t].link, t * FORCE.size
        n, f = get3(forces, i * FORCE.size + FORCE.n), get3(forces, i * FORCE.size + FORCE.f)
        # In free fall these are the difference of bias and acceleration.
        m, g = get3(biases, bias + FORCE.n), get3(biases, bias + FORCE.f)
        squares[i * SQUARES.size + SQUARES.n] = dot(n, n) + dot(m, m)
        squares[i * SQUARES.size + SQUARES.f] = dot(f, f) + dot(g, g)
    for t in range(count_rows(model)):
        dual.tension[t] = -dual.multipliers[t]
    return imbalance(model, 1.0 + none, tau, a, none, work)


@routine
def pull_error(model, tau, a, none, work):
    """How far forces r along rows are from having no effect: J^T r, relative to what meets there.

    Rows of r, in dual.residual, are known to their floors, so that what meets at a joint is at
    least as large as these, by CANCELS. `tau` and `a` may be of any value.
    """
    dual, zero = work.dual, (none, none, none)
    for t in range(len(model.supports)):
        i = model.supports[t].link
        put3(work.forces, i * FORCE.size + FORCE.n, zero)
        put3(work.forces, i * FORCE.size + FORCE.f, zero)
        work.squares[i * SQUARES.size + SQUARES.n] = none
        work.squares[i * SQUARES.size + SQUARES.f] = none
    for t in range(count_rows(model)):
        dual.tension[t] = dual.floors[t] / CANCELS
    for t in range(len(model.ends)):
        n, f = pull(model, model.ends[t], dual.tension, work)
        add_squares(model.ends[t].link, n, f, work.squares)
    for t in range(count_rows(model)):
        dual.tension[t] = dual.residual[t]
    return imbalance(model, none, tau, a, none, work)


@routine
def imbalance(model, part, tau, a, none, work):
    """What is left of the forces of links and rows along joints, relative to those that meet there.

    Joints have the given `part` of tau and of what their motors' inertia takes, all or nothing.
    Forces that have cancelled at a link still count for the links that carry it: if nothing of tau
    is there, in whole, else by the part PASSED, for their rounding.
    """
    forces, dofs, dual, squares = work.forces, work.dofs, work.dual, work.squares
    kept = 1.0 - (1.0 - PASSED) * part
    squares[SQUARES.n], squares[SQUARES.f] = none, none  # of the world
    start_early_loads(model, True, work)
    for t in range(len(model.ends)):
        n, f = put_pull(model, model.ends[t], dual.tension, True, work)
        add_squares(model.ends[t].link, n, f, squares)
    total = none
    for t in range(len(model.steps)):
        step = model.steps[t]
        dof, to, at = step.k * DOF.size, step.to * FORCE.size, step.link * SQUARES.size
        source, more = step.source_with_own * FORCE.size, step.add_with_own * FORCE.size
        n, f = get3(forces, source + FORCE.n), get3(forces, source + FORCE.f)
        angular, linear = get3(dofs, dof + DOF.angular), get3(dofs, dof + DOF.linear)
        u = part * (tau[step.k] - model.armature[step.k] * a[step.k])
        missing = less_dot(u, angular, n) - dot(linear, f)
        size = u * u + squares[at + SQUARES.n] * dot(angular, angular)
        size = size + squares[at + SQUARES.f] * dot(linear, linear)
        total = total + relative(missing * missing, size)
        carrier = (step.to - len(model.links)) * SQUARES.size
        add_squares(step.to - len(model.links), n, f, squares)
        squares[carrier + SQUARES.n] = squares[carrier + SQUARES.n] + kept * squares[at + SQUARES.n]
        squares[carrier + SQUARES.f] = squares[carrier + SQUARES.f] + kept * squares[at + SQUARES.f]
        put3(forces, to + FORCE.n, add(n, get3(forces, more + FORCE.n)))
        put3(forces, to + FORCE.f, add(f, get3(forces, more + FORCE.f)))
    for t in range(len(model.free)):
        i = model.free[t]
        load, at = (len(model.links) + i) * FORCE.size, i * SQUARES.size
        n, f = get3(forces, load + FORCE.n), get3(forces, load + FORCE.f)
        total = total + relative(dot(n, n), squares[at + SQUARES.n])
        total = total + relative(dot(f, f), squares[at + SQUARES.f])
    return sqrt(total)


@function
def add_squares(i, n, f, squares):
    """Add a moment and a force to the squares of all that meet at a link."""
    at = i * SQUARES.size
    squares[at + SQUARES.n] = squares[at + SQUARES.n] + dot(n, n)
    squares[at + SQUARES.f] = squares[at + SQUARES.f] + dot(f, f)

"""Constrained dynamics by early elimination of multipliers, for independent rows. O(n + m).

Sathya, Bruyninckx, Decre and Pipeleers, Efficient Constrained Dynamics Algorithms Based on an
Equivalent LQR Formulation Using Gauss' Principle of Least Constraint, 2024, the algorithm PV-early;
Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Sec. VII-B, whose
symbols are used here.

The constraints on a link, and on all that it carries, are rows C a = c on its acceleration a. If
its joint can move rows, C S != 0, a reflection makes new rows of them, of which only the first has
a part along S, called sigma. The joint then "meets" this row: its acceleration x is the one at
which the row holds. With the joint's equation of motion this eliminates the row and its
multiplier:

    x = (c - C a_parent) / sigma
    sigma multiplier = U^T a_parent + D x - u

All other rows are passed to the parent. A link never has more than six rows (see
`recursion.reflections`).

| papers | here | what |
| --- | --- | --- |
| H_i^A | INERTIA in work.links | articulated inertia |
| f_i^A | work.forces, of the opposite sign | force and moment on a link |
| S_i | DOF.angular, DOF.linear | motion subspace |
| D_i, U = H_i^A S_i | DOF.D_inverse, DOF.G = U D^-1 | |
| S_i^T f_i^A | DOF.u | u |
| K_i^A | work.stack | C, the rows at link i |
| k_i, less what is known | work.targets | c |
| SVD of K_i^A S_i D_i^-1 S_i^T K_i^AT | `meet`; MEETING.h, .factor | reflection of rows |
| its singular value, sigma^2 / D | MEETING.inverse | 1 / sigma |
| nu-dot_i | MEETING.x - w^T a_parent | x, with w in MEETING.angular, .linear |
| lambda_i^A | work.turned, of the opposite sign | multipliers of the rows at link i |
| backward sweep | `eliminate`, then `pass_forces` | inertias and rows, then forces and targets |
| forward sweep (roll-out) | `respond`, `add_multipliers` | accelerations and multipliers |

Departs from the paper in these ways:

- A reflection takes the place of the singular-value decomposition (SVD), which for one degree of
  freedom is that of a matrix of rank one. A joint of several degrees of freedom is eliminated one
  degree of freedom after the other.
- The joint's acceleration is x = x0 - w^T a_parent, with w = C / sigma of the row that it meets, or
  w = U D^-1 if there is none. So the inertia that is passed on has one form:
  H - U w^T - w U^T + D w w^T.
- Sizes are the same for all states. A row that is met is set to zero and stays in the stack. A
  joint meets a row if C S is more than rounding, so that ranks need not be counted. Rows that no
  joint meets get no multiplier.
- If sigma is small, what is passed on has rounding errors of the order of 1 / sigma^2. If they show
  in the equations of motion, the same factors solve for what is missing in these and in the rows.
  This may fail near states where two joints, one after the other, can hardly move a row. The
  solution has then not converged.

Rows that contradict each other do not get the least-squares answer: some hold, and others do not.
"""

from __future__ import annotations

from ...compile import (
    absolute,
    any_true,
    function,
    kernel,
    layout,
    maximum,
    presume,
    select,
    slots,
    sqrt,
)
from ...dynamics.aba import DOF, FORCE, LINK
from ...dynamics.steps.articulated import INERTIA, move_inertia, project
from ...spatial.vectors import (
    add,
    add6,
    add9,
    add_scaled,
    dot,
    get3,
    get6,
    get9,
    outer_update,
    outer_update9,
    put3,
    put6,
    put9,
    subtract,
)
from ..recursion.links import (
    RECURSION,
    eliminate_others,
    move_links,
    move_others,
    put_constraints,
    start_supports,
)
from ..recursion.missing import (
    BIASES,
    CARRIED,
    keep_biases,
    keep_carried,
    motion_error,
    put_needed_forces,
)
from ..recursion.open_trees import MOST_ROWS, EarlyArrays
from ..recursion.reflections import (
    STACKED,
    STACKS,
    choose,
    hand_rows,
    join_targets,
    part_multipliers,
    put_piece,
    reflect,
)
from ..recursion.springs import add_pull, frame_wrench, subtract_cross
from ..recursion.sweeps import (
    CHANGE,
    TOTAL,
    clear_world,
    put_motions,
    put_residuals,
    start_sizes,
)
from ..rows.request import DUAL, INFO, INPUTS, LIMITS, OPTIONS, OUTPUTS
from ..rows.wrenches import count_rows
from .prox_ltl import tell_rows

# For each degree of freedom: w; 1 / sigma, or zero if it meets no row; the reflection 1 - factor h
# h^T; and x0.
MEETING = slots(angular=3, linear=3, inverse=1, factor=1, h=MOST_ROWS, x=1)
# A joint meets a row if C S is longer than so many square roots of rounding, relative to the
# longest constraint row and to S.
LEAST = 10.0
# Above so many times rounding, what is missing in the equations of motion is solved for, in at most
# TURNS rounds.
FINE, TURNS = 200.0, 4


@kernel(
    EarlyArrays,
    shared=LIMITS,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=layout(
        RECURSION,
        STACKS,
        CARRIED,
        BIASES,
        dual=DUAL,
        meetings=("nv", MEETING),
    ),
    label="constrained_dynamics by pv-early",
)
def pv_early(
    model, limits, q, v, tau, requests, options, external_forces, a, multipliers, info, work
):
    """M a + b = tau + J^T multipliers, J a + gamma = a*, for independent rows"""
    m, dual, none = count_rows(model), work.dual, 0.0 * options[OPTIONS.tolerance]
    move_links(model, q, v, external_forces, work)
    put_constraints(model, q, v, requests, options, work)
    eliminate_others(model, tau, work)
    start_supports(model, work)
    keep_carried(model, work)
    keep_biases(model, work)
    eliminate(model, none, work)
    start_still(model, none, a, work)
    missing, count = none, none
    is_active = presume(none <= none, True)
    for turn in range(TURNS):
        if turn == 0 or any_true(is_active):
            count = count + select(is_active, 1.0 + none, none)
            if turn > 0:
                put_missing_forces(model, work)
            pass_forces(model, tau, a, work)
            respond(model, none, a, work)
            add_multipliers(model, none, work)
            put_residuals(model, TOTAL.alpha, dual.residual, work)
            missing = motion_error(model, TOTAL.alpha, tau, a, none, work)
            is_active = presume(missing > FINE * options[OPTIONS.rounding], False)
    for t in range(m):
        multipliers[t] = dual.multipliers[t]
    start_sizes(model, TOTAL.alpha, work)
    tell_rows(m, dual.multipliers, options, info, dual)
    info[INFO.motion] = missing
    info[INFO.iterations] = count
    put_motions(model, work)
    move_others(model, a, work)


@function
def put_missing_forces(model, work):
    """Own forces of links for the accelerations found: what these take, less the pull of rows."""
    put_needed_forces(model, TOTAL.alpha, work)
    for t in range(count_rows(model)):
        work.dual.tension[t] = -work.dual.multipliers[t]
    for t in range(len(model.ends)):
        add_pull(model, model.ends[t], work.dual.tension, work)


# --- the backward sweep ---------------------------------------------------------------------------


@function
def eliminate(model, none, work):
    """Eliminate all joints that support constraints: inertias and rows, without forces."""
    least = none
    for c in range(len(model.pieces)):
        put_piece(model, c, work)
    for t in range(len(model.ends)):
        end = model.ends[t]
        for s in range(model.pieces[end.piece].count):
            n, f = frame_wrench(end, s, work.rows)
            least = maximum(least, dot(n, n) + dot(f, f))
    least = (LEAST * LEAST * rounding(none)) * least
    for t in range(len(model.supports)):
        i, arrival = model.supports[t].link, model.arrivals[t]
        link = model.links[i]
        at, parent = i * LINK.size, link.parent * LINK.size
        for k in range(link.v + link.nv - 1, link.v - 1, -1):
            moment, force, _, _ = project(model, link, k, at, work.links, k * DOF.size, work.dofs)
            meet(arrival, least, k, work)
            give_way(at, moment, force, k, work)
        if link.parent > 0:
            pass_inertia(at, parent, work.links)
            hand_rows(arrival, work)


@function
def rounding(none):
    """The distance of 1 from the next larger number, from the rounding of 4 / 3."""
    return absolute(3.0 * ((none + 4.0) / (none + 3.0) - 1.0) - 1.0)


@function
def meet(arrival, least, k, work):
    """Reflect the rows of a link so that only the first has a part along degree of freedom k.

    This row is moved to the record of k, as w = row / sigma, and set to zero in the stack.
    """
    meetings, stack, dof, meeting = work.meetings, work.stack, k * DOF.size, k * MEETING.size
    h, first = meeting + MEETING.h, arrival.own * STACKED.size
    angular, linear = get3(work.dofs, dof + DOF.angular), get3(work.dofs, dof + DOF.linear)
    none = 0.0 * least
    sigma_square = none
    for s in range(arrival.count):
        row = first + s * STACKED.size
        y = dot(get3(stack, row + STACKED.n), angular) + dot(get3(stack, row + STACKED.f), linear)
        meetings[h + s] = y
        sigma_square = sigma_square + y * y
    is_met = sigma_square > least * (dot(angular, angular) + dot(linear, linear))
    x = meetings[h]
    size = sqrt(select(is_met, sigma_square, 1.0 + none))
    sigma = select(x > 0.0, -size, size)
    inverse = select(is_met, 1.0 / sigma, none)
    factor = select(is_met, 1.0 / (size * (size + absolute(x))), none)
    meetings[h] = x - sigma
    meetings[meeting + MEETING.factor] = factor
    meetings[meeting + MEETING.inverse] = inverse
    if any_true(is_met):
        for i in range(STACKED.size):
            reflect(arrival.count, factor, h, meetings, first + i, STACKED.size, stack)
            y = stack[first + i]
            meetings[meeting + i] = y * inverse  # the slots of w stand first in a record
            stack[first + i] = select(is_met, none, y)


@function
def give_way(at, U_moment, U_force, k, work):
    """w = U D^-1 if no row is met; and the inertia that remains, H - U w^T - w U^T + D w w^T."""
    links, meetings, dof, meeting = work.links, work.meetings, k * DOF.size, k * MEETING.size
    is_met = absolute(meetings[meeting + MEETING.inverse]) > 0.0
    angular, linear = get3(work.dofs, dof + DOF.G_angular), get3(work.dofs, dof + DOF.G_linear)
    angular = choose(is_met, get3(meetings, meeting + MEETING.angular), angular)
    linear = choose(is_met, get3(meetings, meeting + MEETING.linear), linear)
    put3(meetings, meeting + MEETING.angular, angular)
    put3(meetings, meeting + MEETING.linear, linear)
    half_D = 0.5 / work.dofs[dof + DOF.D_inverse]
    moment = subtract_cross(angular, get3(links, at + LINK.p), linear)
    z_moment = add_scaled(U_moment, -half_D, moment)
    z_force = add_scaled(U_force, -half_D, linear)
    A, H, M = get6(links, at + INERTIA.A), get9(links, at + INERTIA.H), get6(links, at + INERTIA.M)
    A = outer_update(outer_update(A, z_moment, moment), moment, z_moment)
    H = outer_update9(outer_update9(H, z_moment, linear), moment, z_force)
    M = outer_update(outer_update(M, z_force, linear), linear, z_force)
    put6(links, at + INERTIA.A, A)
    put9(links, at + INERTIA.H, H)
    put6(links, at + INERTIA.M, M)


@function
def pass_inertia(at, to, links):
    """Add the inertia that remains of a link to its parent's."""
    r = subtract(get3(links, at + LINK.p), get3(links, to + LINK.p))
    A, H, M = get6(links, at + INERTIA.A), get9(links, at + INERTIA.H), get6(links, at + INERTIA.M)
    A, H = move_inertia(A, H, M, r)
    put6(links, to + INERTIA.A, add6(A, get6(links, to + INERTIA.A)))
    put9(links, to + INERTIA.H, add9(H, get9(links, to + INERTIA.H)))
    put6(links, to + INERTIA.M, add6(M, get6(links, to + INERTIA.M)))


# --- forces and targets ---------------------------------------------------------------------------


@function
def start_still(model, none, a, work):
    """Start from zero accelerations and multipliers, for which r = gamma - a*."""
    links, dual = work.links, work.dual
    clear_world(model, work)
    for t in range(len(model.supports)):
        i = model.supports[t].link
        put3(links, i * LINK.size + TOTAL.alpha, (0.0, 0.0, 0.0))
        put3(links, i * LINK.size + TOTAL.a, (0.0, 0.0, 0.0))
        for k in range(model.links[i].v, model.links[i].v + model.links[i].nv):
            a[k] = none
    for t in range(count_rows(model)):
        dual.residual[t] = dual.target[t]
        dual.multipliers[t] = none


@function
def pass_forces(model, tau, a, work):
    """Backward sweep: x0 of all joints; forces and targets that remain are passed to parents."""
    forces, dofs, meetings, targets = work.forces, work.dofs, work.meetings, work.targets
    for c in range(len(model.pieces)):
        arrival = model.piece_arrivals[c]
        for s in range(arrival.count):
            targets[arrival.stack + arrival.before + s] = -work.dual.residual[arrival.own + s]
        join_targets(arrival, targets, work.reflections)
    for t in range(len(model.supports)):
        i, arrival = model.supports[t].link, model.arrivals[t]
        link = model.links[i]
        at, parent = i * FORCE.size, link.parent * FORCE.size
        n, f = get3(forces, at + FORCE.n), get3(forces, at + FORCE.f)
        for k in range(link.v + link.nv - 1, link.v - 1, -1):
            dof, meeting = k * DOF.size, k * MEETING.size
            inverse, h = meetings[meeting + MEETING.inverse], meeting + MEETING.h
            factor = meetings[meeting + MEETING.factor]
            reflect(arrival.count, factor, h, meetings, arrival.own, 1, targets)
            u = tau[k] - model.armature[k] * a[k]
            u = u - dot(get3(dofs, dof + DOF.angular), n) - dot(get3(dofs, dof + DOF.linear), f)
            c, is_met = targets[arrival.own], absolute(inverse) > 0.0
            D_inverse = dofs[dof + DOF.D_inverse]
            x = select(is_met, c * inverse, u * D_inverse)
            moving = select(is_met, x / D_inverse, u)
            targets[arrival.own] = select(is_met, 0.0 * c, c)
            dofs[dof + DOF.u] = u
            meetings[meeting + MEETING.x] = x
            n = add_scaled(n, moving, get3(dofs, dof + DOF.G_angular))
            f = add_scaled(f, moving, get3(dofs, dof + DOF.G_linear))
            n = add_scaled(n, u - moving, get3(meetings, meeting + MEETING.angular))
            f = add_scaled(f, u - moving, get3(meetings, meeting + MEETING.linear))
        if link.parent > 0:
            put3(forces, parent + FORCE.n, add(get3(forces, parent + FORCE.n), n))
            put3(forces, parent + FORCE.f, add(get3(forces, parent + FORCE.f), f))
            for s in range(arrival.count):
                targets[arrival.stack + arrival.before + s] = targets[arrival.own + s]
            join_targets(arrival, targets, work.reflections)


# --- the roll-out ---------------------------------------------------------------------------------


@function
def respond(model, none, a, work):
    """Forward sweep: accelerations of joints and links, multipliers of rows that joints meet."""
    links, dofs, meetings, turned = work.links, work.dofs, work.meetings, work.turned
    for t in range(len(model.supports) - 1, -1, -1):
        i, arrival = model.supports[t].link, model.arrivals[t]
        link = model.links[i]
        at, parent = i * LINK.size, link.parent * LINK.size
        take_multipliers(arrival, none, turned, work.reflections)
        alpha, linear = get3(links, parent + CHANGE.alpha), get3(links, parent + CHANGE.a)
        for k in range(link.v, link.v + link.nv):
            dof, meeting = k * DOF.size, k * MEETING.size
            x = meetings[meeting + MEETING.x]
            x = x - dot(get3(meetings, meeting + MEETING.angular), alpha)
            x = x - dot(get3(meetings, meeting + MEETING.linear), linear)
            y = x + dot(get3(dofs, dof + DOF.G_angular), alpha)
            y = y + dot(get3(dofs, dof + DOF.G_linear), linear)
            y = y / dofs[dof + DOF.D_inverse] - dofs[dof + DOF.u]
            inverse, h = meetings[meeting + MEETING.inverse], meeting + MEETING.h
            factor, first = meetings[meeting + MEETING.factor], turned[arrival.own]
            turned[arrival.own] = select(absolute(inverse) > 0.0, y * inverse, first)
            reflect(arrival.count, factor, h, meetings, arrival.own, 1, turned)
            a[k] = a[k] + x
            alpha = add_scaled(alpha, x, get3(dofs, dof + DOF.angular))
            linear = add_scaled(linear, x, get3(dofs, dof + DOF.linear))
        put3(links, at + CHANGE.alpha, alpha)
        put3(links, at + CHANGE.a, linear)
        put3(links, at + TOTAL.alpha, add(get3(links, at + TOTAL.alpha), alpha))
        put3(links, at + TOTAL.a, add(get3(links, at + TOTAL.a), linear))


@function
def take_multipliers(arrival, none, turned, reflections):
    """Take the multipliers of a link's rows from its parent's; rows that reach the world have 0."""
    if arrival.stack >= 0:
        part_multipliers(arrival, none, turned, reflections)
        for s in range(arrival.count):
            turned[arrival.own + s] = turned[arrival.stack + arrival.before + s]
    else:
        for s in range(arrival.count):
            turned[arrival.own + s] = none


@function
def add_multipliers(model, none, work):
    """Add the multipliers that were found to those of the constraint rows."""
    dual, turned = work.dual, work.turned
    for c in range(len(model.pieces) - 1, -1, -1):
        arrival = model.piece_arrivals[c]
        part_multipliers(arrival, none, turned, work.reflections)
        for s in range(arrival.count):
            row = arrival.own + s
            x = turned[arrival.stack + arrival.before + s]
            dual.multipliers[row] = dual.multipliers[row] + x

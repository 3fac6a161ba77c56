"""Constrained dynamics by early elimination of multipliers, for independent rows. O(n + m).

Sathya, Bruyninckx, Decre and Pipeleers, Efficient Constrained Dynamics Algorithms Based on an
Equivalent LQR Formulation Using Gauss' Principle of Least Constraint, 2024, the algorithm PV-early;
Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Sec. VII-B.

What is left of constraints at a link are rows C a = c. Those that its joint can move, C S != 0, are
met by the joint: a reflection turns rows so that only the first has a part along S, sigma. Then

    x = (c - C a_parent) / sigma         of the first row, which so is gone, with its multiplier
    sigma multiplier = U a_parent + D x - u      by the joint's equation of motion

and the others go on to the parent. At most six rows are ever left (see `reflections`).

Departs from the paper in these ways:

- The joint's acceleration is x = x0 - w a_parent, whether it meets a row or moves freely (w = U/D):
  then the inertia and force that are handed on have one form, H - U w^T - w U^T + D w w^T.
- A joint of several degrees of freedom is eliminated one after the other.
- Sizes are the same for all states. Rows that are met stay as zeros, and a joint meets a row where
  C S is more than rounding: so rank is never counted. Rows that no joint meets have no multiplier.
- A small sigma rounds off what is handed on, by 1 / sigma^2. Where that shows in the equations of
  motion, the same factors solve for what is missing there, and in the rows. Near states where two
  joints in a row can hardly move a row, this may not help: then the solution has not converged.

Rows that contradict others are met as far as reflections tell: that is no least-squares answer.
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
    CARRIED,
    CHANGE,
    TOTAL,
    acceleration_length,
    clear_world,
    gradient_length,
    keep_carried,
    put_motions,
    put_needed_forces,
    put_residuals,
)
from ..rows.request import DUAL, INFO, INPUTS, LIMITS, OPTIONS, OUTPUTS, length
from ..rows.wrenches import count_rows

# How a degree of freedom meets a row: w; 1 / sigma, or zero if it moves freely; the reflection; and
# x0.
MEETING = slots(angular=3, linear=3, inverse=1, factor=1, h=MOST_ROWS, x=1)
# Joints meet a row if C S is longer than this many square roots of rounding, relative to rows
# before they were turned and to S.
LEAST = 10.0
# What is missing in the equations of motion, in units of rounding of their forces, is solved for
# above the one and so many times; above the other it is told, as if it were part of J^T r.
FINE, TURNS, ROUGH = 500.0, 4, 5e5


@kernel(
    EarlyArrays,
    shared=LIMITS,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=layout(
        RECURSION,
        STACKS,
        CARRIED,
        dual=DUAL,
        meetings=("nv", MEETING),
        biases=("supports", FORCE),
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
    start = missing_length(model, tau, a, none, work)
    missing, unit, count = none, none, none
    is_active = presume(none <= none, True)
    for turn in range(TURNS):
        if turn == 0 or any_true(is_active):
            count = count + select(is_active, 1.0 + none, none)
            pass_forces(model, tau, a, work)
            respond(model, none, a, work)
            add_multipliers(model, none, work)
            put_residuals(model, TOTAL.alpha, dual.residual, work)
            put_missing_forces(model, work)
            missing = missing_length(model, tau, a, none, work)
            unit = rounding(none) * (start + length(m, dual.multipliers, options))
            is_active = presume(missing > FINE * unit, False)
    for t in range(m):
        multipliers[t] = dual.multipliers[t]
    wanted = length(m, dual.target, options)
    info[INFO.start] = acceleration_length(model, wanted * wanted, work)
    gradient = gradient_length(model, dual.residual, none, work)
    info[INFO.gradient] = gradient + select(missing > ROUGH * unit, missing, none)
    info[INFO.residual] = length(m, dual.residual, options)
    info[INFO.iterations] = count
    put_motions(model, work)
    move_others(model, a, work)


# --- the backward sweep ---------------------------------------------------------------------------


@function
def eliminate(model, none, work):
    """Eliminate joints that carry rows."""
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
    """The distance of 1 from the next number, found by what a third is rounded by."""
    return absolute(3.0 * ((none + 4.0) / (none + 3.0) - 1.0) - 1.0)


@function
def meet(arrival, least, k, work):
    """Turn rows so that only one meets degree of freedom k: it gets zero, as its w tells it all."""
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
            meetings[meeting + i] = y * inverse  # w stands first, like a row
            stack[first + i] = select(is_met, none, y)


@function
def give_way(at, U_moment, U_force, k, work):
    """w if the joint moves freely; and what remains of the link's inertia."""
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
    """Add what is left of a link's inertia to its parent's."""
    r = subtract(get3(links, at + LINK.p), get3(links, to + LINK.p))
    A, H, M = get6(links, at + INERTIA.A), get9(links, at + INERTIA.H), get6(links, at + INERTIA.M)
    A, H = move_inertia(A, H, M, r)
    put6(links, to + INERTIA.A, add6(A, get6(links, to + INERTIA.A)))
    put9(links, to + INERTIA.H, add9(H, get9(links, to + INERTIA.H)))
    put6(links, to + INERTIA.M, add6(M, get6(links, to + INERTIA.M)))


# --- forces, and what rows are to be --------------------------------------------------------------


@function
def start_still(model, none, a, work):
    """No joint accelerates and no row pulls: the world moves no link, and r = gamma - a*."""
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
def copy_force(source, at, target, to):
    """Copy a moment and a force."""
    put3(target, to + FORCE.n, get3(source, at + FORCE.n))
    put3(target, to + FORCE.f, get3(source, at + FORCE.f))


@function
def keep_biases(model, work):
    """Remember the forces that links need for their bias motions."""
    for t in range(len(model.supports)):
        copy_force(work.forces, model.supports[t].link * FORCE.size, work.biases, t * FORCE.size)


@function
def put_missing_forces(model, work):
    """Own forces of links: what their motion takes, less what rows pull."""
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
    """The length of what the forces on links leave of those along joints; `square` is zero."""
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
            dof = k * DOF.size
            x = tau[k] - model.armature[k] * a[k] - dot(get3(dofs, dof + DOF.angular), n)
            x = x - dot(get3(dofs, dof + DOF.linear), f)
            square = square + x * x
        if link.parent > 0:
            put3(forces, parent + FORCE.n, add(get3(forces, parent + FORCE.n), n))
            put3(forces, parent + FORCE.f, add(get3(forces, parent + FORCE.f), f))
    return sqrt(square)


@function
def pass_forces(model, tau, a, work):
    """x0 of all joints, and what remains of forces and rows for those that carry them."""
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
    """Accelerations of joints and links, and multipliers of the rows that joints meet."""
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
    """Multipliers of the rows that a link has handed on; the world meets none."""
    if arrival.stack >= 0:
        part_multipliers(arrival, none, turned, reflections)
        for s in range(arrival.count):
            turned[arrival.own + s] = turned[arrival.stack + arrival.before + s]
    else:
        for s in range(arrival.count):
            turned[arrival.own + s] = none


@function
def add_multipliers(model, none, work):
    """Multipliers of the rows as they are declared."""
    dual, turned = work.dual, work.turned
    for c in range(len(model.pieces) - 1, -1, -1):
        arrival = model.piece_arrivals[c]
        part_multipliers(arrival, none, turned, work.reflections)
        for s in range(arrival.count):
            row = arrival.own + s
            x = turned[arrival.stack + arrival.before + s]
            dual.multipliers[row] = dual.multipliers[row] + x

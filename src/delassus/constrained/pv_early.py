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

from ..compile import (
    absolute,
    any_true,
    function,
    kernel,
    maximum,
    part,
    presume,
    select,
    slots,
    sqrt,
)
from ..dynamics.aba import DOF, LINK
from ..dynamics.articulated import (
    INERTIA,
    move_inertia,
    project,
)
from ..spatial.vectors import (
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
from .articulated_rows import (
    eliminate_others,
    links_end,
    links_work,
    move_links,
    move_others,
    put_constraints,
    start_supports,
)
from .caba_iterations import (
    CHANGE,
    TOTAL,
    acceleration_length,
    carried_end,
    carried_work,
    clear_world,
    gradient_length,
    keep_carried,
    put_motions,
    put_needed_forces,
    put_residuals,
)
from .elimination import LOAD, load_place
from .open_trees import MOST_ROWS, EarlyArrays
from .pulls import add_pull, frame_wrench, subtract_cross
from .reflections import (
    STACKED,
    choose,
    hand_rows,
    join_targets,
    part_multipliers,
    put_piece,
    reflect,
)
from .rows import count_rows, rows_end, rows_work
from .solver import INFO, INPUTS, LIMITS, OUTPUTS, WHOLE, length

# How a degree of freedom meets a row: w; 1 / sigma, or zero if it moves freely; the reflection; and
# x0.
MEETING = slots(angular=3, linear=3, inverse=1, factor=1, h=MOST_ROWS, x=1)
# Joints meet a row if C S is longer than this many square roots of rounding, relative to rows
# before they were turned and to S.
LEAST = 10.0
# What is missing in the equations of motion, in units of rounding of their forces, is solved for
# above the one and so many times; above the other it is told, as if it were part of J^T r.
FINE, TURNS, ROUGH = 500.0, 4, 5e5


def early_work(n: dict[str, int]) -> int:
    """Memory of links, rows, stacks of rows and reflections."""
    links = links_work(n) + n["supports"] * LOAD.size + carried_work(n)
    joints = n["nv"] * MEETING.size
    stacks = n["stack_rows"] * (STACKED.size + 2) + n["reflections"]
    return links + joints + rows_work(n) + 5 * n["m"] + stacks


@kernel(
    EarlyArrays,
    shared=LIMITS,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=early_work,
    label="constrained_dynamics by pv-early",
)
def pv_early(model, limits, q, v, tau, rows, whole, external_forces, a, multipliers, info, work):
    """M a + b = tau + J^T multipliers, J a + gamma = a*, for independent rows"""
    m, dofs = count_rows(model), links_end(model)
    joints = part(work, dofs + len(model.armature) * DOF.size)
    records = part(joints, len(model.armature) * MEETING.size)
    target = part(records, rows_end(model))
    weights, forces = part(target, m), part(target, 2 * m)
    r, x = part(target, 3 * m), part(target, 4 * m)
    biases = part(target, 5 * m)
    carried = part(biases, len(model.supports) * LOAD.size)
    stack = part(carried, carried_end(model))
    targets = part(stack, model.stack_sizes[0] * STACKED.size)
    turned = part(targets, model.stack_sizes[0])
    reflections = part(turned, model.stack_sizes[0])
    none = 0.0 * whole[WHOLE.tolerance]
    move_links(model, q, v, external_forces, work, dofs)
    put_constraints(model, q, v, rows, whole, target, weights, forces, records, work, dofs)
    eliminate_others(model, tau, work, dofs)
    start_supports(model, work)
    keep_carried(model, work, carried)
    keep_biases(model, biases, work)
    eliminate(model, none, joints, stack, reflections, records, work, dofs)
    start_still(model, none, target, a, forces, r, work)
    start = missing_length(model, tau, a, none, work, dofs)
    missing, unit, count = none, none, none
    is_active = presume(none <= none, True)
    for turn in range(TURNS):
        if turn == 0 or any_true(is_active):
            count = count + select(is_active, 1.0 + none, none)
            pass_forces(model, tau, a, r, joints, targets, reflections, work, dofs)
            respond(model, none, a, joints, turned, reflections, work, dofs)
            add_multipliers(model, none, forces, turned, reflections)
            put_residuals(model, TOTAL.alpha, target, r, records, work, dofs)
            put_missing_forces(model, biases, carried, forces, x, records, work, dofs)
            missing = missing_length(model, tau, a, none, work, dofs)
            unit = rounding(none) * (start + length(m, forces, whole))
            is_active = presume(missing > FINE * unit, False)
    for t in range(m):
        multipliers[t] = forces[t]
    wanted = length(m, target, whole)
    info[INFO.start] = acceleration_length(model, wanted * wanted, work)
    gradient = gradient_length(model, r, none, records, work, dofs)
    info[INFO.gradient] = gradient + select(missing > ROUGH * unit, missing, none)
    info[INFO.residual] = length(m, r, whole)
    info[INFO.iterations] = count
    put_motions(model, work)
    move_others(model, a, work, dofs)


# --- the backward sweep ---------------------------------------------------------------------------


@function
def eliminate(model, none, joints, stack, reflections, records, work, dofs):
    """Eliminate joints that carry rows."""
    least = none
    for c in range(len(model.pieces)):
        put_piece(model, c, stack, reflections, records)
    for t in range(len(model.ends)):
        end = model.ends[t]
        for s in range(model.pieces[end.piece].count):
            n, f = frame_wrench(end, s, records)
            least = maximum(least, dot(n, n) + dot(f, f))
    least = (LEAST * LEAST * rounding(none)) * least
    for t in range(len(model.supports)):
        i, arrival = model.supports[t].link, model.arrivals[t]
        link = model.links[i]
        at, parent = i * LINK.size, link.parent * LINK.size
        for k in range(link.v + link.nv - 1, link.v - 1, -1):
            dof, meeting = dofs + k * DOF.size, k * MEETING.size
            moment, force, _, _ = project(model, link, k, at, work, dof)
            meet(arrival, least, dof, meeting, joints, stack, work)
            give_way(at, moment, force, dof, meeting, joints, work)
        if link.parent > 0:
            pass_inertia(at, parent, work)
            hand_rows(arrival, stack, reflections)


@function
def rounding(none):
    """The distance of 1 from the next number, found by what a third is rounded by."""
    return absolute(3.0 * ((none + 4.0) / (none + 3.0) - 1.0) - 1.0)


@function
def meet(arrival, least, dof, meeting, joints, stack, work):
    """Turn rows so that only one meets a degree of freedom: it gets zero, as its w tells it all."""
    h, first = meeting + MEETING.h, arrival.own * STACKED.size
    angular, linear = get3(work, dof + DOF.angular), get3(work, dof + DOF.linear)
    none = 0.0 * least
    sigma_square = none
    for s in range(arrival.count):
        row = first + s * STACKED.size
        y = dot(get3(stack, row + STACKED.n), angular) + dot(get3(stack, row + STACKED.f), linear)
        joints[h + s] = y
        sigma_square = sigma_square + y * y
    is_met = sigma_square > least * (dot(angular, angular) + dot(linear, linear))
    x = joints[h]
    size = sqrt(select(is_met, sigma_square, 1.0 + none))
    sigma = select(x > 0.0, -size, size)
    inverse = select(is_met, 1.0 / sigma, none)
    factor = select(is_met, 1.0 / (size * (size + absolute(x))), none)
    joints[h] = x - sigma
    joints[meeting + MEETING.factor] = factor
    joints[meeting + MEETING.inverse] = inverse
    if any_true(is_met):
        for i in range(STACKED.size):
            reflect(arrival.count, factor, h, joints, first + i, STACKED.size, stack)
            y = stack[first + i]
            joints[meeting + i] = y * inverse  # w stands first, like a row
            stack[first + i] = select(is_met, none, y)


@function
def give_way(at, U_moment, U_force, dof, meeting, joints, work):
    """w if the joint moves freely; and what remains of the link's inertia."""
    is_met = absolute(joints[meeting + MEETING.inverse]) > 0.0
    angular, linear = get3(work, dof + DOF.G_angular), get3(work, dof + DOF.G_linear)
    angular = choose(is_met, get3(joints, meeting + MEETING.angular), angular)
    linear = choose(is_met, get3(joints, meeting + MEETING.linear), linear)
    put3(joints, meeting + MEETING.angular, angular)
    put3(joints, meeting + MEETING.linear, linear)
    half_D = 0.5 / work[dof + DOF.D_inverse]
    moment = subtract_cross(angular, get3(work, at + LINK.p), linear)
    z_moment = add_scaled(U_moment, -half_D, moment)
    z_force = add_scaled(U_force, -half_D, linear)
    A, H, M = get6(work, at + INERTIA.A), get9(work, at + INERTIA.H), get6(work, at + INERTIA.M)
    A = outer_update(outer_update(A, z_moment, moment), moment, z_moment)
    H = outer_update9(outer_update9(H, z_moment, linear), moment, z_force)
    M = outer_update(outer_update(M, z_force, linear), linear, z_force)
    put6(work, at + INERTIA.A, A)
    put9(work, at + INERTIA.H, H)
    put6(work, at + INERTIA.M, M)


@function
def pass_inertia(at, to, work):
    """Add what is left of a link's inertia to its parent's."""
    r = subtract(get3(work, at + LINK.p), get3(work, to + LINK.p))
    A, H, M = get6(work, at + INERTIA.A), get9(work, at + INERTIA.H), get6(work, at + INERTIA.M)
    A, H = move_inertia(A, H, M, r)
    put6(work, to + INERTIA.A, add6(A, get6(work, to + INERTIA.A)))
    put9(work, to + INERTIA.H, add9(H, get9(work, to + INERTIA.H)))
    put6(work, to + INERTIA.M, add6(M, get6(work, to + INERTIA.M)))


# --- forces, and what rows are to be --------------------------------------------------------------


@function
def start_still(model, none, target, a, forces, r, work):
    """No joint accelerates and no row pulls: the world moves no link, and r = gamma - a*."""
    clear_world(model, work)
    for t in range(len(model.supports)):
        i = model.supports[t].link
        put3(work, i * LINK.size + TOTAL.alpha, (0.0, 0.0, 0.0))
        put3(work, i * LINK.size + TOTAL.a, (0.0, 0.0, 0.0))
        for k in range(model.links[i].v, model.links[i].v + model.links[i].nv):
            a[k] = none
    for t in range(count_rows(model)):
        r[t] = target[t]
        forces[t] = none


@function
def keep_biases(model, biases, work):
    """Remember the forces that links need for their bias motions."""
    for t in range(len(model.supports)):
        at, bias = model.supports[t].link * LINK.size, t * LOAD.size
        put3(biases, bias + LOAD.n, get3(work, at + LINK.n))
        put3(biases, bias + LOAD.f, get3(work, at + LINK.f))


@function
def put_missing_forces(model, biases, carried, forces, x, records, work, dofs):
    """What the motion of links takes, less what rows pull."""
    for t in range(len(model.supports)):
        at, bias = model.supports[t].link * LINK.size, t * LOAD.size
        put3(work, at + LINK.n, get3(biases, bias + LOAD.n))
        put3(work, at + LINK.f, get3(biases, bias + LOAD.f))
        put3(work, at + CHANGE.alpha, get3(work, at + TOTAL.alpha))
        put3(work, at + CHANGE.a, get3(work, at + TOTAL.a))
    put_needed_forces(model, carried, work)
    for t in range(count_rows(model)):
        x[t] = -forces[t]
    for t in range(len(model.ends)):
        add_pull(model, model.ends[t], x, records, work, dofs)


@function
def missing_length(model, tau, a, square, work, dofs):
    """The length of what the forces on links leave of those along joints."""
    for t in range(len(model.supports)):
        i = model.supports[t].link
        at, load = i * LINK.size, load_place(len(model.links), i)
        put3(work, load + LOAD.n, get3(work, at + LINK.n))
        put3(work, load + LOAD.f, get3(work, at + LINK.f))
    for t in range(len(model.supports)):
        i = model.supports[t].link
        link = model.links[i]
        load = load_place(len(model.links), i)
        parent = load_place(len(model.links), link.parent)
        n, f = get3(work, load + LOAD.n), get3(work, load + LOAD.f)
        for k in range(link.v, link.v + link.nv):
            dof = dofs + k * DOF.size
            x = tau[k] - model.armature[k] * a[k] - dot(get3(work, dof + DOF.angular), n)
            x = x - dot(get3(work, dof + DOF.linear), f)
            square = square + x * x
        if link.parent > 0:
            put3(work, parent + LOAD.n, add(get3(work, parent + LOAD.n), n))
            put3(work, parent + LOAD.f, add(get3(work, parent + LOAD.f), f))
    return sqrt(square)


@function
def pass_forces(model, tau, a, r, joints, targets, reflections, work, dofs):
    """x0 of all joints, and what remains of forces and rows for those that carry them."""
    for c in range(len(model.pieces)):
        arrival = model.piece_arrivals[c]
        for s in range(arrival.count):
            targets[arrival.stack + arrival.before + s] = -r[arrival.own + s]
        join_targets(arrival, targets, reflections)
    for t in range(len(model.supports)):
        i, arrival = model.supports[t].link, model.arrivals[t]
        link = model.links[i]
        at, parent = i * LINK.size, link.parent * LINK.size
        n, f = get3(work, at + LINK.n), get3(work, at + LINK.f)
        for k in range(link.v + link.nv - 1, link.v - 1, -1):
            dof, meeting = dofs + k * DOF.size, k * MEETING.size
            inverse, h = joints[meeting + MEETING.inverse], meeting + MEETING.h
            reflect(
                arrival.count, joints[meeting + MEETING.factor], h, joints, arrival.own, 1, targets
            )
            u = tau[k] - model.armature[k] * a[k]
            u = u - dot(get3(work, dof + DOF.angular), n) - dot(get3(work, dof + DOF.linear), f)
            c, is_met = targets[arrival.own], absolute(inverse) > 0.0
            D_inverse = work[dof + DOF.D_inverse]
            x = select(is_met, c * inverse, u * D_inverse)
            moving = select(is_met, x / D_inverse, u)
            targets[arrival.own] = select(is_met, 0.0 * c, c)
            work[dof + DOF.u] = u
            joints[meeting + MEETING.x] = x
            n = add_scaled(n, moving, get3(work, dof + DOF.G_angular))
            f = add_scaled(f, moving, get3(work, dof + DOF.G_linear))
            n = add_scaled(n, u - moving, get3(joints, meeting + MEETING.angular))
            f = add_scaled(f, u - moving, get3(joints, meeting + MEETING.linear))
        if link.parent > 0:
            put3(work, parent + LINK.n, add(get3(work, parent + LINK.n), n))
            put3(work, parent + LINK.f, add(get3(work, parent + LINK.f), f))
            for s in range(arrival.count):
                targets[arrival.stack + arrival.before + s] = targets[arrival.own + s]
            join_targets(arrival, targets, reflections)


# --- the roll-out ---------------------------------------------------------------------------------


@function
def respond(model, none, a, joints, turned, reflections, work, dofs):
    """Accelerations of joints and links, and multipliers of the rows that joints meet."""
    for t in range(len(model.supports) - 1, -1, -1):
        i, arrival = model.supports[t].link, model.arrivals[t]
        link = model.links[i]
        at, parent = i * LINK.size, link.parent * LINK.size
        take_multipliers(arrival, none, turned, reflections)
        alpha, linear = get3(work, parent + CHANGE.alpha), get3(work, parent + CHANGE.a)
        for k in range(link.v, link.v + link.nv):
            dof, meeting = dofs + k * DOF.size, k * MEETING.size
            x = joints[meeting + MEETING.x] - dot(get3(joints, meeting + MEETING.angular), alpha)
            x = x - dot(get3(joints, meeting + MEETING.linear), linear)
            y = x + dot(get3(work, dof + DOF.G_angular), alpha)
            y = y + dot(get3(work, dof + DOF.G_linear), linear)
            y = y / work[dof + DOF.D_inverse] - work[dof + DOF.u]
            inverse, h = joints[meeting + MEETING.inverse], meeting + MEETING.h
            first = turned[arrival.own]
            turned[arrival.own] = select(absolute(inverse) > 0.0, y * inverse, first)
            reflect(
                arrival.count, joints[meeting + MEETING.factor], h, joints, arrival.own, 1, turned
            )
            a[k] = a[k] + x
            alpha = add_scaled(alpha, x, get3(work, dof + DOF.angular))
            linear = add_scaled(linear, x, get3(work, dof + DOF.linear))
        put3(work, at + CHANGE.alpha, alpha)
        put3(work, at + CHANGE.a, linear)
        put3(work, at + TOTAL.alpha, add(get3(work, at + TOTAL.alpha), alpha))
        put3(work, at + TOTAL.a, add(get3(work, at + TOTAL.a), linear))


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
def add_multipliers(model, none, forces, turned, reflections):
    """Multipliers of the rows as they are declared."""
    for c in range(len(model.pieces) - 1, -1, -1):
        arrival = model.piece_arrivals[c]
        part_multipliers(arrival, none, turned, reflections)
        for s in range(arrival.count):
            row = arrival.own + s
            forces[row] = forces[row] + turned[arrival.stack + arrival.before + s]

"""The iterations of the constrained articulated-body algorithm: its reduced sweeps. O(n + m).

Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Algorithms 2 and 3,
with the departures that `caba` tells of. All is done over the links that support constraints.
"""

from __future__ import annotations

from ..compile import any_true, function, presume, select, slots, sqrt
from ..dynamics.aba import (
    DOF,
    LINK,
    MOTION,
)
from ..dynamics.articulated import INERTIA, inertia_times
from ..dynamics.links import composite_times
from ..spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    dot,
    get3,
    get6,
    get9,
    less_dot,
    put3,
    put6,
    put9,
    subtract,
)
from .articulated_rows import move_others
from .elimination import LOAD, NONE, load_place
from .free_root import joint_acceleration, joint_force, solve_root
from .pulls import (
    PULL,
    add_motion,
    pull,
    push_neighbours,
)
from .rows import count_rows
from .solver import INFO, ROUNDING, WHOLE, length

# In the place of a link's articulated inertia, once its joint is eliminated: its acceleration, if
# that is followed; and by how much it changes in an iteration.
TOTAL = slots(before=INERTIA.H, alpha=3, a=3)
CHANGE = slots(before=INERTIA.A, alpha=3, a=3)
# The inertia before any spring of links that carry some without ends. The others have their own,
# which stays where it is.
CARRIED = slots(H=9, A=6, M=6)
# J^T r is looked at where r is below so many times what it is to be, or falls by less than this.
NEAR, SLOW = 10.0, 0.1
# Rows contradict each other where r stays above this part of what it is the difference of, and
# above so many times what it is to be.
CONTRADICTION, FAR = 1e-9, 1e4


def carried_work(n: dict[str, int]) -> int:
    """Memory of inertias before any spring."""
    return n["carriers"] * CARRIED.size


@function
def carried_end(model):
    """Where that memory ends."""
    return model.counts[2] * CARRIED.size


@function
def iterate(
    model, limit, tau, whole, square, target, weights, r, x, forces, carried, pulls, joints,
    records, info, work, dofs,
):  # fmt: skip
    """Add up changes until J^T r is small; states that are done wait for the others.

    r starts as the target, whose square is given.
    """
    m = count_rows(model)
    none = 0.0 * whole[WHOLE.tolerance]
    one = 1.0 + none
    move(model, True, pulls, joints, work, dofs)
    add_motions(model, TOTAL.alpha, r, records, work, dofs)
    residual = tighten(model, one > none, none, weights, r, x, forces)
    start = acceleration_length(model, square, work)
    goal = 0.5 * whole[WHOLE.tolerance] + ROUNDING * start
    gradient, own_count = one + goal, one
    count = 1
    while count < limit and any_true(gradient > goal):
        is_active = presume(gradient > goal, True)
        own_count = own_count + select(is_active, one, none)
        if count == 1:
            put_needed_forces(model, carried, work)
            give_way(model, True, tau, r, x, pulls, joints, records, work, dofs)
        else:
            draw_springs(model, is_active, weights, r, x)
            give_way(model, False, tau, r, x, pulls, joints, records, work, dofs)
        before = residual
        residual = tighten(model, is_active, none, weights, r, x, forces)
        count = count + 1
        if count < limit and (
            any_true(residual < NEAR * goal) or any_true(residual > SLOW * before)
        ):
            gradient = gradient_length(model, r, none, records, work, dofs)
    # The r of the iterations does not know of the rounding of accelerations.
    put_residuals(model, TOTAL.alpha, target, x, records, work, dofs)
    residual = length(m, x, whole)
    gradient = gradient_length(model, x, none, records, work, dofs)
    left = select(gradient <= goal, residual, none)
    contradicts = presume(left > CONTRADICTION * start + FAR * goal, False)
    if any_true(contradicts):
        take_back(
            model, contradicts, own_count, tau, weights, r, x, forces, pulls, joints, records, work,
            dofs,
        )  # fmt: skip
    info[INFO.start] = start
    info[INFO.gradient] = gradient
    info[INFO.residual] = residual
    info[INFO.iterations] = own_count


@function
def draw_springs(model, is_active, weights, r, x):
    """By how much the tension of springs changes if they are drawn by r."""
    for t in range(count_rows(model)):
        x[t] = select(is_active, weights[t] * r[t], 0.0 * r[t])


@function
def give_way(model, is_whole, tau, r, x, pulls, joints, records, work, dofs):
    """Move links further, as tensions x do, or as all that acts does; and change r by that."""
    put_pulls(model, x, is_whole, records, work, dofs)
    pass_forces(model, 0, len(model.steps), tau, is_whole, True, pulls, joints, work, dofs)
    move(model, False, pulls, joints, work, dofs)
    # So r is known to digits that accelerations have not.
    add_motions(model, CHANGE.alpha, r, records, work, dofs)


@function
def tighten(model, is_active, square, weights, r, x, forces):
    """Add to the multipliers what r does; return its length, and x, the springs' whole tension."""
    for t in range(count_rows(model)):
        y = weights[t] * r[t]
        forces[t] = forces[t] - select(is_active, y, 0.0 * y)
        x[t] = y - forces[t]
        square = square + r[t] * r[t]
    return sqrt(square)


@function
def take_back(
    model, contradicts, count, tau, weights, r, x, forces, pulls, joints, records, work, dofs
):
    """Multipliers without effect grow by the same each time, where rows contradict each other.

    Two more iterations leave nothing else in r.
    """
    for _ in range(2):
        draw_springs(model, contradicts, weights, r, x)
        give_way(model, False, tau, r, x, pulls, joints, records, work, dofs)
    for t in range(count_rows(model)):
        y = count * (weights[t] * r[t])
        forces[t] = forces[t] + select(contradicts, y, 0.0 * y)


@function
def clear_world(model, work):
    """The world does not move, and no force is there."""
    none, load = (0.0, 0.0, 0.0), load_place(len(model.links), 0)
    put3(work, load + LOAD.n, none)
    put3(work, load + LOAD.f, none)
    put3(work, MOTION.alpha, none)
    put3(work, MOTION.a, none)
    put3(work, TOTAL.alpha, none)
    put3(work, TOTAL.a, none)
    put3(work, LINK.n, none)
    put3(work, LINK.f, none)
    put3(work, CHANGE.alpha, none)
    put3(work, CHANGE.a, none)


@function
def move(model, is_first, pulls, joints, work, dofs):
    """Let links and joints give way to the forces on them, from the world on."""
    for t in range(len(model.free)):
        respond_freely(model, model.free[t], work, dofs)
    for t in range(len(model.steps) - 1, -1, -1):
        respond(model, model.steps[t], is_first, pulls, joints, work, dofs)
    for t in range(len(model.followed)):
        at = model.followed[t] * LINK.size
        alpha, linear = get3(work, at + CHANGE.alpha), get3(work, at + CHANGE.a)
        if not is_first:
            alpha = add(alpha, get3(work, at + TOTAL.alpha))
            linear = add(linear, get3(work, at + TOTAL.a))
        put3(work, at + TOTAL.alpha, alpha)
        put3(work, at + TOTAL.a, linear)


@function
def respond(model, step, is_first, pulls, joints, work, dofs):
    """The acceleration of a degree of freedom, and that of its link."""
    dof = dofs + step.dof
    alpha, linear = get3(work, step.before + CHANGE.alpha), get3(work, step.before + CHANGE.a)
    u = work[dof + DOF.u]
    for t in range(step.first_neighbour, step.first_neighbour + step.neighbours):
        near = model.neighbours[t]
        place = (near.pull + step.nth) * PULL.size
        to = near.link * LINK.size
        u = less_dot(u, get3(pulls, place + PULL.n), get3(work, to + CHANGE.alpha))
        u = less_dot(u, get3(pulls, place + PULL.f), get3(work, to + CHANGE.a))
    x = less_dot(u * work[dof + DOF.D_inverse], get3(work, dof + DOF.G_angular), alpha)
    x = x - dot(get3(work, dof + DOF.G_linear), linear)
    joints[step.k] = x if is_first else joints[step.k] + x
    put3(work, step.at + CHANGE.alpha, add_scaled(alpha, x, get3(work, dof + DOF.angular)))
    put3(work, step.at + CHANGE.a, add_scaled(linear, x, get3(work, dof + DOF.linear)))


@function
def respond_freely(model, i, work, dofs):
    """The acceleration of a free body."""
    at, dof = i * LINK.size, dofs + model.links[i].v * DOF.size
    load = load_place(len(model.links), i)
    n, f = get3(work, load + LOAD.n), get3(work, load + LOAD.f)
    alpha, linear = solve_root((-n[0], -n[1], -n[2]), (-f[0], -f[1], -f[2]), work, dof)
    put3(work, at + CHANGE.alpha, alpha)
    put3(work, at + CHANGE.a, linear)


@function
def put_residuals(model, place, target, r, records, work, dofs):
    """r = J a + gamma - a*, for accelerations at `place` in the records of links."""
    for t in range(count_rows(model)):
        r[t] = target[t]
    add_motions(model, place, r, records, work, dofs)


@function
def add_motions(model, place, r, records, work, dofs):
    """r + J a, for accelerations at `place` in the records of links."""
    for t in range(len(model.ends)):
        end = model.ends[t]
        at = end.at + place
        add_motion(model, end, get3(work, at), get3(work, at + 3), r, records, work, dofs)


@function
def acceleration_length(model, square, work):
    """The length of what residuals are the difference of, from the square of gamma - a*."""
    for t in range(len(model.ends)):
        at = model.ends[t].at
        alpha, linear = get3(work, at + TOTAL.alpha), get3(work, at + TOTAL.a)
        square = square + (dot(alpha, alpha) + dot(linear, linear))
    return sqrt(square)


@function
def put_pulls(model, x, is_whole, records, work, dofs):
    """Loads of links by constraints, x each row; if whole, links have forces of their own too.

    Links without constraints that neighbours push at start with these alone.
    """
    for t in range(len(model.early)):
        i = model.early[t]
        load = load_place(len(model.links), i)
        source = (i if is_whole else 0) * LINK.size
        put3(work, load + LOAD.n, get3(work, source + LINK.n))
        put3(work, load + LOAD.f, get3(work, source + LINK.f))
    for t in range(len(model.ends)):
        end = model.ends[t]
        more = end.add_with_own if is_whole else end.add
        n, f = pull(model, end, x, records, work, dofs)
        put3(work, end.load + LOAD.n, add(get3(work, more + LOAD.n), n))
        put3(work, end.load + LOAD.f, add(get3(work, more + LOAD.f), f))


@function
def push_free_bodies(model, tau, work, dofs):
    """Take the forces of joints of free bodies off those that the bodies' motion needs."""
    for t in range(len(model.free)):
        i = model.free[t]
        at, v = i * LINK.size, model.links[i].v
        n, f = joint_force(tau, v, work, dofs + v * DOF.size)
        put3(work, at + LINK.n, subtract(get3(work, at + LINK.n), n))
        put3(work, at + LINK.f, subtract(get3(work, at + LINK.f), f))


@function
def keep_carried(model, work, carried):
    """Remember inertias of links as they are without springs, if they are not the links' own."""
    for t in range(len(model.supports)):
        turn = model.supports[t]
        if turn.carrier != NONE:
            at, own = turn.link * LINK.size, turn.carrier * CARRIED.size
            put9(carried, own + CARRIED.H, get9(work, at + INERTIA.H))
            put6(carried, own + CARRIED.A, get6(work, at + INERTIA.A))
            put6(carried, own + CARRIED.M, get6(work, at + INERTIA.M))


@function
def put_needed_forces(model, carried, work):
    """Add the forces of a change of links' motion, with all that they carry and nothing pulls at.

    They are added to the links' own, of the motion before it.
    """
    linear, before = get3(work, CHANGE.a), 0
    for t in range(len(model.supports) - 1, -1, -1):
        turn = model.supports[t]
        link, at = model.links[turn.link], turn.link * LINK.size
        p, alpha = get3(work, at + LINK.p), get3(work, at + CHANGE.alpha)
        # The acceleration of the link's origin: known, if it is that of the one before.
        if link.parent != before or not link.shares_origin:
            linear = add_cross(get3(work, at + CHANGE.a), alpha, p)
        before = turn.link
        if turn.carrier == NONE:
            inertia, h = get6(work, at + LINK.own_inertia), get3(work, at + LINK.own_h)
            n, f = composite_times(inertia, h, link.mass, alpha, linear)
        else:
            own = turn.carrier * CARRIED.size
            A, H = get6(carried, own + CARRIED.A), get9(carried, own + CARRIED.H)
            n, f = inertia_times(A, H, get6(carried, own + CARRIED.M), alpha, linear)
        put3(work, at + LINK.n, add_cross(add(n, get3(work, at + LINK.n)), p, f))
        put3(work, at + LINK.f, add(f, get3(work, at + LINK.f)))


@function
def pass_forces(model, first, end, tau, is_whole, is_moving, pulls, joints, work, dofs):
    """What remains of loads for what carries the links, and for neighbours.

    Steps are a range. If whole, links have forces of their own, and joints too; these may move
    already.
    """
    for t in range(first, end):
        step = model.steps[t]
        dof = dofs + step.dof
        source, more = step.source, step.add
        if is_whole:
            source, more = step.source_with_own, step.add_with_own
        n, f = get3(work, source + LOAD.n), get3(work, source + LOAD.f)
        u = 0.0
        if is_whole:
            u = tau[step.k]
            if is_moving:
                u = u - model.armature[step.k] * joints[step.k]
        u = less_dot(u, get3(work, dof + DOF.angular), n) - dot(get3(work, dof + DOF.linear), f)
        work[dof + DOF.u] = u
        n = add_scaled(n, u, get3(work, dof + DOF.G_angular))
        f = add_scaled(f, u, get3(work, dof + DOF.G_linear))
        if step.neighbours > 0:
            u_D = u * work[dof + DOF.D_inverse]
            push_neighbours(model, step, step.nth, u_D, pulls, work)
        put3(work, step.to + LOAD.n, add(n, get3(work, more + LOAD.n)))
        put3(work, step.to + LOAD.f, add(f, get3(work, more + LOAD.f)))


@function
def gradient_length(model, r, square, records, work, dofs):
    """The length of J^T r."""
    put_pulls(model, r, False, records, work, dofs)
    for t in range(len(model.steps)):
        step = model.steps[t]
        dof = dofs + step.dof
        n, f = get3(work, step.source + LOAD.n), get3(work, step.source + LOAD.f)
        x = dot(get3(work, dof + DOF.angular), n) + dot(get3(work, dof + DOF.linear), f)
        square = square + x * x
        put3(work, step.to + LOAD.n, add(n, get3(work, step.add + LOAD.n)))
        put3(work, step.to + LOAD.f, add(f, get3(work, step.add + LOAD.f)))
    for t in range(len(model.free)):
        load = load_place(len(model.links), model.free[t])
        n, f = get3(work, load + LOAD.n), get3(work, load + LOAD.f)
        square = square + (dot(n, n) + dot(f, f))
    return sqrt(square)


@function
def put_accelerations(model, joints, a, work, dofs):
    """Accelerations of all joints."""
    for t in range(len(model.steps)):
        k = model.steps[t].k
        a[k] = joints[k]
    for t in range(len(model.free)):
        at, v = model.free[t] * LINK.size, model.links[model.free[t]].v
        alpha, linear = get3(work, at + TOTAL.alpha), get3(work, at + TOTAL.a)
        joint_acceleration(alpha, linear, v, work, dofs + v * DOF.size, a)
    put_motions(model, work)
    move_others(model, a, work, dofs)


@function
def put_motions(model, work):
    """The motion of links that carry others, where those look for it."""
    for t in range(len(model.supports)):
        if model.supports[t].carrier != NONE:
            at = model.supports[t].link * LINK.size
            put3(work, at + MOTION.alpha, get3(work, at + TOTAL.alpha))
            put3(work, at + MOTION.a, get3(work, at + TOTAL.a))

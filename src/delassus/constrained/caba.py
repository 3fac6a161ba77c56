"""Constrained dynamics by the constrained articulated-body algorithm. O(n + m).

Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Algorithms 1 to 3:
an augmented Lagrangian whose penalty on the rows is a spring of stiffness 1 / damping along each.
The articulated-body algorithm takes the springs as inertia of the links that they pull at. Further
iterations only tell the forces by which the springs' tensions have changed, over links that support
constraints; all other links move once, at the end.

Departs from the paper in these ways:

- A constraint may be between two links that move, or couple joints: then the springs couple links,
  and joints are eliminated in an order that keeps this local (see `elimination` and `pulls`).
- An iteration carries only changes of forces and accelerations, which add up.
- Stiff springs round off the inertia that moves along with them. So the second iteration starts
  from what is missing in the equations of motion, not from the springs alone: the same where
  nothing is rounded, and all digits where something is. It takes the inertia that each link had
  before any spring, with all that it carries and no constraint pulls at.
"""

from __future__ import annotations

from ..compile import any_true, clear, function, kernel, part, present, presume, select, slots, sqrt
from ..dynamics.aba import (
    DOF,
    LINK,
    MOTION,
    accelerate,
    bias_motion,
    eliminate_joint,
    pass_force,
    pushed_rigid_body,
    rigid_body,
)
from ..dynamics.articulated import (
    INERTIA,
    inertia_times,
    keep_remainder,
    pass_remainder,
    project,
    start_inertia,
)
from ..dynamics.links import MOVING, place_and_span, start_at_rest
from ..spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    cross,
    dot,
    get3,
    get6,
    get9,
    put3,
    put6,
    put9,
    subtract,
)
from .elimination import AT_JOINTS, ArticulatedArrays
from .free_root import factorize_root, joint_acceleration, joint_force, solve_root
from .jacobian import place_world
from .pulls import (
    BLOCK,
    PULL,
    add_motion,
    couple,
    hand_on,
    loosen_neighbours,
    pull,
    pull_neighbours,
    push_neighbours,
    stiffen,
)
from .rows import ROW, count_rows, put_rows, rows_end, rows_work
from .solver import INFO, INPUTS, LIMITS, OUTPUTS, REQUEST, ROUNDING, WHOLE, length

# In the place of a link's inertia, once its joint is eliminated: by how much its acceleration
# changes in an iteration, and the sum of K^T r.
CHANGE = slots(before=LINK.A, alpha=3, a=3, n=3, f=3)
# Inertia of a link before any spring, and force of its bias motion.
LOOSE = slots(H=9, A=6, M=6, n=3, f=3)
# J^T r is looked at where r is below so many times what it is to be, or falls by less than this.
NEAR, SLOW = 1e4, 0.1
# Rows contradict each other where r stays above this part of what it is the difference of.
CONTRADICTION = 1e-9


def elimination_work(n: dict[str, int]) -> int:
    """Memory of links, rows, and all that springs need."""
    links = n["n_links"] * LINK.size + n["nv"] * (DOF.size + 1)
    ties = n["pulls"] * PULL.size + n["cross_blocks"] * BLOCK
    return links + rows_work(n) + 5 * n["m"] + n["supports"] * LOOSE.size + ties


@kernel(
    ArticulatedArrays,
    shared=LIMITS,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=elimination_work,
    label="constrained_dynamics by caba",
)
def caba(model, limits, q, v, tau, rows, whole, external_forces, a, multipliers, info, work):
    """M a + b = tau + J^T multipliers, J a + gamma = a*"""
    n, m, dofs = len(model.links), count_rows(model), len(model.links) * LINK.size
    joints = part(work, dofs + len(model.armature) * DOF.size)
    records = part(joints, len(model.armature))
    target = part(records, rows_end(model))
    r, x = part(target, m), part(target, 2 * m)
    weights, forces = part(target, 3 * m), part(target, 4 * m)
    loose = part(target, 5 * m)
    pulls = part(loose, len(model.supports) * LOOSE.size)
    blocks = part(pulls, model.counts[1] * PULL.size)
    move_links(model, q, v, work, dofs)
    put_constraints(model, q, v, rows, whole, target, weights, forces, records, work, dofs)
    if present(external_forces):
        for i in range(1, n):
            pushed_rigid_body(model.links[i], i, external_forces, work)
    else:
        for i in range(1, n):
            rigid_body(model.links[i], i, work)
    for t in range(m):
        x[t] = weights[t] * target[t] - forces[t]
    eliminate(model, tau, weights, x, loose, pulls, blocks, records, work, dofs)
    iterate(
        model, limits[0], tau, whole, target, weights, r, x, forces, loose, pulls, joints, records,
        info, work, dofs,
    )  # fmt: skip
    for t in range(m):
        multipliers[t] = forces[t]
    put_accelerations(model, joints, a, work, dofs)


# --- the first forward sweep ----------------------------------------------------------------------


@function
def move_links(model, q, v, work, dofs):
    """Where links are, and how they move where joints do not accelerate."""
    n = len(model.links)
    rest = (-model.gravity[0], -model.gravity[1], -model.gravity[2])
    start_at_rest(work, rest)
    place_world(work)
    put3(work, MOTION.omega, (0.0, 0.0, 0.0))
    put3(work, MOTION.alpha, (0.0, 0.0, 0.0))
    put3(work, MOTION.a, rest)
    for i in range(1, n):
        place_and_span(model, i, q, work, LINK.size, dofs, DOF.size)
    for i in range(1, n):
        bias_motion(model, i, v, work)


@function
def put_constraints(model, q, v, rows, whole, target, weights, forces, records, work, dofs):
    """All rows, gamma - a*, and what is asked of each."""
    for t in range(len(model.supports) - 1, -1, -1):
        put_velocity(model, model.supports[t].link, v, work, dofs)
    for t in range(len(model.ends)):
        if model.ends[t].wrench != AT_JOINTS:
            put_moving(model.ends[t].link * LINK.size, work)
    kp, kd = whole[WHOLE.kp], whole[WHOLE.kd]
    with_error = any_true(kp > 0.0)
    for c in range(len(model.pieces)):
        put_rows(model, model.pieces[c], q, v, with_error, work, LINK.size, records)
    for t in range(count_rows(model)):
        at, request = t * ROW.size, t * REQUEST.size
        x = records[at + ROW.drift] - rows[request + REQUEST.desired]
        target[t] = x + kd * records[at + ROW.velocity] + kp * records[at + ROW.error]
        weights[t] = 1.0 / rows[request + REQUEST.damping]
        forces[t] = rows[request + REQUEST.start]


@function
def put_velocity(model, i, v, work, dofs):
    """Velocity of the point of a link that is at the tree's origin."""
    link = model.links[i]
    u = get3(work, link.parent * LINK.size + MOVING.u)
    for k in range(link.v, link.v + link.nv):
        u = add_scaled(u, v[k], get3(work, dofs + k * DOF.size + DOF.linear))
    put3(work, i * LINK.size + MOVING.u, u)


@function
def put_moving(at, work):
    """The motion of a link as rows read it: that of the point at the tree's origin."""
    p, omega = get3(work, at + LINK.p), get3(work, at + MOTION.omega)
    alpha = get3(work, at + MOTION.alpha)
    u = add_cross(get3(work, at + MOVING.u), omega, p)
    a = add_cross(subtract(get3(work, at + MOTION.a), cross(omega, u)), p, alpha)
    put3(work, at + MOVING.omega, omega)
    put3(work, at + MOVING.alpha, alpha)
    put3(work, at + MOVING.a, a)


# --- the backward sweep ---------------------------------------------------------------------------


@function
def eliminate(model, tau, weights, tension, loose, pulls, blocks, records, work, dofs):
    """Eliminate all joints: first those that no constraint pulls at."""
    for t in range(len(model.supports)):
        i = model.supports[t].link
        start_inertia(model.links[i], i * LINK.size, work)
    for t in range(len(model.others)):
        turn = model.others[t]
        eliminate_joint(model, turn.link, turn.is_first, tau, work, dofs)
    for t in range(len(model.supports)):
        keep_loose(model.supports[t].link * LINK.size, work, loose, t * LOOSE.size)
    clear(blocks, model.counts[0] * BLOCK)
    for t in range(len(model.couples)):
        couple(model, model.couples[t], weights, blocks, records, work, dofs)
    for t in range(len(model.ends)):
        end = model.ends[t]
        stiffen(model, end, weights, records, work, dofs)
        add_pull(model, end, tension, records, work, dofs)
    for t in range(len(model.supports)):
        turn = model.supports[t]
        if turn.is_free:
            at, dof = turn.link * LINK.size, dofs + model.links[turn.link].v * DOF.size
            factorize_root(at, work, dof)
        elif turn.neighbours == 0:
            eliminate_joint(model, turn.link, turn.is_first, tau, work, dofs)
        else:
            eliminate_coupled(model, turn, tau, pulls, blocks, work, dofs)


@function
def keep_loose(at, work, loose, to):
    """Remember a link's inertia and force as they are without springs."""
    put9(loose, to + LOOSE.H, get9(work, at + INERTIA.H))
    put6(loose, to + LOOSE.A, get6(work, at + INERTIA.A))
    put6(loose, to + LOOSE.M, get6(work, at + INERTIA.M))
    put3(loose, to + LOOSE.n, get3(work, at + LINK.n))
    put3(loose, to + LOOSE.f, get3(work, at + LINK.f))


@function
def add_pull(model, end, x, records, work, dofs):
    """Add the force of springs at an end, by x each row, to that on its link."""
    at = end.link * LINK.size
    n, f = pull(model, end, x, records, work, dofs)
    put3(work, at + LINK.n, add(get3(work, at + LINK.n), n))
    put3(work, at + LINK.f, add(get3(work, at + LINK.f), f))


@function
def eliminate_coupled(model, turn, tau, pulls, blocks, work, dofs):
    """Eliminate the joint of a link that is coupled with others than its parent."""
    link = model.links[turn.link]
    at, parent = turn.link * LINK.size, link.parent * LINK.size
    for k in range(link.v + link.nv - 1, link.v - 1, -1):
        dof, step = dofs + k * DOF.size, k - link.v
        project(model, link, k, at, work, dof)
        pull_neighbours(model, turn, dof, step, blocks, pulls, work)
        pass_force(link, k, tau, at, parent, work, dof)
        u_D = work[dof + DOF.u] * work[dof + DOF.D_inverse]
        push_neighbours(model, turn, step, u_D, pulls, work)
        loosen_neighbours(model, turn, dof, step, blocks, pulls, work)
        if k > link.v:
            keep_remainder(at, work, dof)
        elif link.parent > 0:
            pass_remainder(model, link, turn.is_first, at, parent, work, dof)
    hand_on(model, turn, blocks, work)


# --- iterations -----------------------------------------------------------------------------------


@function
def iterate(
    model, limit, tau, whole, target, weights, r, x, forces, loose, pulls, joints, records, info,
    work, dofs,
):  # fmt: skip
    """Add up changes until J^T r is small; states that are done wait for the others."""
    m = count_rows(model)
    none = 0.0 * whole[WHOLE.tolerance]
    one = 1.0 + none
    clear_world(work)
    move(model, tau, True, True, pulls, joints, work, dofs)
    put_residuals(model, target, r, records, work, dofs)
    residual = tighten(model, one > none, none, weights, r, forces)
    start = acceleration_length(model, target, work, whole)
    goal = 0.5 * whole[WHOLE.tolerance] + ROUNDING * start
    gradient, own_count = one + goal, one
    count = 1
    while count < limit and any_true(gradient > goal):
        is_active = presume(gradient > goal, True)
        own_count = own_count + select(is_active, one, none)
        if count == 1:
            for t in range(m):
                x[t] = weights[t] * r[t] - forces[t]
            put_needed_forces(model, loose, work)
            put_pulls(model, True, LINK.n, x, records, work, dofs)
            pass_forces(model, tau, True, pulls, joints, work, dofs)
            move(model, tau, True, False, pulls, joints, work, dofs)
            change_residuals(model, r, records, work, dofs)
        else:
            give_way(model, is_active, tau, weights, r, x, pulls, joints, records, work, dofs)
        before = residual
        residual = tighten(model, is_active, none, weights, r, forces)
        count = count + 1
        if count < limit and (
            any_true(residual < NEAR * goal) or any_true(residual > SLOW * before)
        ):
            gradient = gradient_length(model, r, none, records, work, dofs)
    # The r of the iterations does not know of the rounding of accelerations.
    put_residuals(model, target, x, records, work, dofs)
    residual = length(m, x, whole)
    gradient = gradient_length(model, x, none, records, work, dofs)
    left = select(gradient <= goal, residual, none)
    contradicts = presume(left > CONTRADICTION * start + NEAR * goal, False)
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
def give_way(model, is_active, tau, weights, r, x, pulls, joints, records, work, dofs):
    """Move links by what springs change if they are drawn by r, and change r by that."""
    for t in range(count_rows(model)):
        x[t] = select(is_active, weights[t] * r[t], 0.0 * r[t])
    put_pulls(model, False, LINK.n, x, records, work, dofs)
    pass_forces(model, tau, False, pulls, joints, work, dofs)
    move(model, tau, False, False, pulls, joints, work, dofs)
    change_residuals(model, r, records, work, dofs)


@function
def tighten(model, is_active, square, weights, r, forces):
    """Add to the multipliers what r does; return its length."""
    for t in range(count_rows(model)):
        forces[t] = forces[t] - select(is_active, weights[t] * r[t], 0.0 * r[t])
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
        give_way(model, contradicts, tau, weights, r, x, pulls, joints, records, work, dofs)
    for t in range(count_rows(model)):
        y = count * (weights[t] * r[t])
        forces[t] = forces[t] + select(contradicts, y, 0.0 * y)


@function
def clear_world(work):
    """The world does not move, and no force is there."""
    none = (0.0, 0.0, 0.0)
    put3(work, MOTION.alpha, none)
    put3(work, MOTION.a, none)
    put3(work, LINK.n, none)
    put3(work, LINK.f, none)
    put3(work, CHANGE.alpha, none)
    put3(work, CHANGE.a, none)
    put3(work, CHANGE.n, none)
    put3(work, CHANGE.f, none)


@function
def move(model, tau, with_tau, is_first, pulls, joints, work, dofs):
    """Let links and joints give way to the forces on them, from the world on."""
    for t in range(len(model.supports) - 1, -1, -1):
        turn = model.supports[t]
        if turn.is_free:
            respond_freely(model.links[turn.link], turn.link * LINK.size, tau, with_tau, work, dofs)
    for t in range(len(model.steps) - 1, -1, -1):
        respond(model, model.steps[t], is_first, pulls, joints, work, dofs)
    for t in range(len(model.followed)):
        at = model.followed[t] * LINK.size
        alpha, linear = get3(work, at + CHANGE.alpha), get3(work, at + CHANGE.a)
        if not is_first:
            alpha = add(alpha, get3(work, at + MOTION.alpha))
            linear = add(linear, get3(work, at + MOTION.a))
        put3(work, at + MOTION.alpha, alpha)
        put3(work, at + MOTION.a, linear)


@function
def respond(model, step, is_first, pulls, joints, work, dofs):
    """The acceleration of a degree of freedom, and that of its link."""
    dof = dofs + step.dof
    alpha, linear = get3(work, step.before + CHANGE.alpha), get3(work, step.before + CHANGE.a)
    U_a = dot(get3(work, dof + DOF.U_angular), alpha)
    U_a = U_a + dot(get3(work, dof + DOF.U_linear), linear)
    turn = model.supports[step.turn]
    for t in range(turn.first_neighbour, turn.first_neighbour + turn.neighbours):
        near = model.neighbours[t]
        place = (near.pull + step.k - model.links[turn.link].v) * PULL.size
        to = near.link * LINK.size
        U_a = U_a + dot(get3(pulls, place + PULL.n), get3(work, to + CHANGE.alpha))
        U_a = U_a + dot(get3(pulls, place + PULL.f), get3(work, to + CHANGE.a))
    x = (work[dof + DOF.u] - U_a) * work[dof + DOF.D_inverse]
    joints[step.k] = x if is_first else joints[step.k] + x
    put3(work, step.at + CHANGE.alpha, add_scaled(alpha, x, get3(work, dof + DOF.angular)))
    put3(work, step.at + CHANGE.a, add_scaled(linear, x, get3(work, dof + DOF.linear)))


@function
def respond_freely(link, at, tau, with_tau, work, dofs):
    """The acceleration of a free body."""
    dof = dofs + link.v * DOF.size
    n, f = get3(work, at + LINK.n), get3(work, at + LINK.f)
    if with_tau:
        n_joint, f_joint = joint_force(tau, link.v, work, dof)
        n, f = subtract(n, n_joint), subtract(f, f_joint)
    alpha, linear = solve_root((-n[0], -n[1], -n[2]), (-f[0], -f[1], -f[2]), work, dof)
    put3(work, at + CHANGE.alpha, alpha)
    put3(work, at + CHANGE.a, linear)


@function
def put_residuals(model, target, r, records, work, dofs):
    """r = J a + gamma - a*"""
    for t in range(count_rows(model)):
        r[t] = target[t]
    for t in range(len(model.ends)):
        end = model.ends[t]
        at = end.link * LINK.size
        alpha, linear = get3(work, at + MOTION.alpha), get3(work, at + MOTION.a)
        add_motion(model, end, alpha, linear, r, records, work, dofs)


@function
def change_residuals(model, r, records, work, dofs):
    """Change r by how the motion has changed: so it is known to digits that a has not."""
    for t in range(len(model.ends)):
        end = model.ends[t]
        at = end.link * LINK.size
        alpha, linear = get3(work, at + CHANGE.alpha), get3(work, at + CHANGE.a)
        add_motion(model, end, alpha, linear, r, records, work, dofs)


@function
def acceleration_length(model, target, work, whole):
    """The length of what residuals are the difference of."""
    square = length(count_rows(model), target, whole)
    square = square * square
    for t in range(len(model.ends)):
        at = model.ends[t].link * LINK.size
        alpha, linear = get3(work, at + MOTION.alpha), get3(work, at + MOTION.a)
        square = square + (dot(alpha, alpha) + dot(linear, linear))
    return sqrt(square)


@function
def put_pulls(model, is_added, place, x, records, work, dofs):
    """Moments and forces of constraints on links, by x each row, at `place` in their records.

    If not added to what is there, links that neighbours push at start without any.
    """
    if not is_added:
        for t in range(len(model.early)):
            put_zeros(work, model.early[t] * LINK.size + place)
        for t in range(len(model.ends)):
            put_zeros(work, model.ends[t].link * LINK.size + place)
    for t in range(len(model.ends)):
        end = model.ends[t]
        at = end.link * LINK.size + place
        n, f = pull(model, end, x, records, work, dofs)
        put3(work, at, add(get3(work, at), n))
        put3(work, at + 3, add(get3(work, at + 3), f))


@function
def put_zeros(work, at):
    """No moment and no force."""
    put3(work, at, (0.0, 0.0, 0.0))
    put3(work, at + 3, (0.0, 0.0, 0.0))


@function
def put_needed_forces(model, loose, work):
    """The forces of the first motion of links, with all that they carry and nothing pulls at."""
    for t in range(len(model.supports)):
        at, own = model.supports[t].link * LINK.size, t * LOOSE.size
        p, alpha = get3(work, at + LINK.p), get3(work, at + CHANGE.alpha)
        linear = add_cross(get3(work, at + CHANGE.a), alpha, p)
        A, H, M = get6(loose, own + LOOSE.A), get9(loose, own + LOOSE.H), get6(loose, own + LOOSE.M)
        n, f = inertia_times(A, H, M, alpha, linear)
        put3(work, at + LINK.n, add_cross(add(n, get3(loose, own + LOOSE.n)), p, f))
        put3(work, at + LINK.f, add(f, get3(loose, own + LOOSE.f)))


@function
def pass_forces(model, tau, is_whole, pulls, joints, work, dofs):
    """What remains of forces on links for what carries them, and for neighbours.

    If whole, all links have a force, and joints too.
    """
    for t in range(len(model.steps)):
        step = model.steps[t]
        dof = dofs + step.dof
        source, more = step.source, step.add
        if is_whole:
            source, more = step.at, step.add_to_all
        n, f = get3(work, source + LINK.n), get3(work, source + LINK.f)
        u = -dot(get3(work, dof + DOF.angular), n) - dot(get3(work, dof + DOF.linear), f)
        if is_whole:
            u = u + (tau[step.k] - model.armature[step.k] * joints[step.k])
        work[dof + DOF.u] = u
        u_D = u * work[dof + DOF.D_inverse]
        n = add_scaled(n, u_D, get3(work, dof + DOF.U_angular))
        f = add_scaled(f, u_D, get3(work, dof + DOF.U_linear))
        turn = model.supports[step.turn]
        if turn.neighbours > 0:
            push_neighbours(model, turn, step.k - model.links[turn.link].v, u_D, pulls, work)
        put3(work, step.to + LINK.n, add(n, get3(work, more + LINK.n)))
        put3(work, step.to + LINK.f, add(f, get3(work, more + LINK.f)))


@function
def gradient_length(model, r, square, records, work, dofs):
    """The length of J^T r."""
    put_pulls(model, False, CHANGE.n, r, records, work, dofs)
    for t in range(len(model.steps)):
        step = model.steps[t]
        dof = dofs + step.dof
        n, f = get3(work, step.source + CHANGE.n), get3(work, step.source + CHANGE.f)
        x = dot(get3(work, dof + DOF.angular), n) + dot(get3(work, dof + DOF.linear), f)
        square = square + x * x
        put3(work, step.to + CHANGE.n, add(n, get3(work, step.add + CHANGE.n)))
        put3(work, step.to + CHANGE.f, add(f, get3(work, step.add + CHANGE.f)))
    for t in range(len(model.supports)):
        turn = model.supports[t]
        if turn.is_free:
            at = turn.link * LINK.size
            n, f = get3(work, at + CHANGE.n), get3(work, at + CHANGE.f)
            square = square + (dot(n, n) + dot(f, f))
    return sqrt(square)


@function
def put_accelerations(model, joints, a, work, dofs):
    """Accelerations of all joints; links that nothing pulls at follow those that carry them."""
    for t in range(len(model.steps)):
        k = model.steps[t].k
        a[k] = joints[k]
    for t in range(len(model.supports)):
        turn = model.supports[t]
        if turn.is_free:
            at, v = turn.link * LINK.size, model.links[turn.link].v
            alpha, linear = get3(work, at + MOTION.alpha), get3(work, at + MOTION.a)
            joint_acceleration(alpha, linear, v, work, dofs + v * DOF.size, a)
    for t in range(len(model.others) - 1, -1, -1):
        accelerate(model, model.others[t].link, a, work, dofs)

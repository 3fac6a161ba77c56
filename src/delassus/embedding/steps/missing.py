"""What is missing in the equations of motion of a model with clusters that is held. O(n + m).

Forces that links and rotors take for the accelerations found, less those of rows, are added up
inwards. Along each independent velocity they must leave nothing.
"""

from __future__ import annotations

from ...compile import function, layout, routine, sqrt
from ...constrained.recursion.missing import PASSED, SQUARES, add_squares, copy_force
from ...constrained.rows.request import relative
from ...constrained.rows.wrenches import ROW
from ...dynamics.aba import DOF, FORCE, LINK, MOTION
from ...dynamics.steps.bodies import composite_times
from ...spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    dot,
    get3,
    get6,
    put3,
    scale,
    subtract,
)
from ..structure.packed import NO_CLUSTER
from ..structure.routes import NO_TERM
from .closing import SPIN
from .driven import force_on
from .elimination import column, is_moved
from .strands import coefficient, start_dof

# Forces of links for their motions with y'' = 0; the squares of all that meet at each; and what
# rows pull at joints by.
MISSING = layout(
    own_forces=("n_links", FORCE), squares=("n_links", SQUARES), joint_pulls="spanning_nv"
)


@function
def keep_forces(model, work):
    """Keep the forces of links before sweeps add them up."""
    for i in range(1, len(model.links)):
        copy_force(work.forces, i * FORCE.size, work.own_forces, i * FORCE.size)


@routine
def motion_error(model, tau, a, none, work):
    """How far the equations of motion are from holding, each relative to the forces in it."""
    work.squares[SQUARES.n], work.squares[SQUARES.f] = none, none
    for t in range(len(model.turns)):
        turn = model.turns[t]
        if turn.cluster == NO_CLUSTER:
            for i in range(turn.first, turn.last + 1):
                put_needed_force(model, i, work)
                if turn.has_motors:
                    add_motor_moment(model, i, work)
        else:
            cluster = model.clusters[turn.cluster]
            for m in range(cluster.first_member, cluster.first_member + cluster.member_count):
                put_needed_force(model, model.members[m].link, work)
            add_spin_moments(model, cluster, work)
    pull_links(model, none, work)
    total = none
    for t in range(len(model.turns) - 1, -1, -1):
        turn = model.turns[t]
        if turn.cluster == NO_CLUSTER:
            for i in range(turn.last, turn.first - 1, -1):
                total = total + joint_error(model, i, turn.has_motors, tau, a, work)
        else:
            total = total + cluster_error(model, model.clusters[turn.cluster], tau, none, work)
    return sqrt(total)


@function
def put_needed_force(model, i, work):
    """The force that a link takes for its acceleration, and its squares."""
    at, force = i * LINK.size, i * FORCE.size
    p, alpha = get3(work.links, at + LINK.p), get3(work.links, at + MOTION.alpha)
    linear = add_cross(get3(work.links, at + MOTION.a), alpha, p)
    inertia, h = get6(work.links, at + LINK.own_inertia), get3(work.links, at + LINK.own_h)
    n, f = composite_times(inertia, h, model.links[i].mass, alpha, linear)
    m, g = get3(work.own_forces, force + FORCE.n), get3(work.own_forces, force + FORCE.f)
    n, f = add_cross(add(n, m), p, f), add(f, g)
    put3(work.forces, force + FORCE.n, n)
    put3(work.forces, force + FORCE.f, f)
    # In free fall n and f are differences: what they are differences of counts, too.
    work.squares[i * SQUARES.size + SQUARES.n] = dot(n, n) + dot(m, m)
    work.squares[i * SQUARES.size + SQUARES.f] = dot(f, f) + dot(g, g)


@function
def add_moment(i, n, work):
    """Add a moment to the force of a link."""
    at = i * FORCE.size + FORCE.n
    put3(work.forces, at, add(get3(work.forces, at), n))


@function
def add_motor_moment(model, i, work):
    """What the motor of a link takes of what carries it, see `gears`."""
    alpha = get3(work.links, i * LINK.size + MOTION.alpha)
    before = get3(work.links, model.links[i].parent * LINK.size + MOTION.alpha)
    add_moment(i, scale(model.gears[i].spin, subtract(alpha, before)), work)


@function
def rotor_acceleration(model, cluster, d, work):
    """G y'' of a dependent joint."""
    at = cluster.G + d * cluster.ny
    x = 0.0 * work.Gd[at]
    for k in range(cluster.ny):
        x = x + work.Gd[at + k] * work.dofs[model.ys[cluster.first_y + k] * DOF.size + DOF.u]
    return x


@function
def add_spin_moments(model, cluster, work):
    """The moments of spins on the links that carry them."""
    for t in range(cluster.first_spin, cluster.first_spin + cluster.spin_count):
        spin = model.spins[t]
        if spin.link > 0:
            x = spin.inertia * rotor_acceleration(model, cluster, spin.dependent, work)
            add_moment(spin.link, scale(x, get3(work.spins, t * SPIN.size + SPIN.n)), work)


@function
def pull_links(model, none, work):
    """Take off what rows pull links by; what they pull joints by is kept."""
    for k in range(len(model.armature)):
        work.joint_pulls[k] = none
    for t in range(len(model.strands)):
        strand = model.strands[t]
        piece, force = model.pieces[strand.piece], strand.link * FORCE.size
        n, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for r in range(piece.count):
            x = work.padded.multipliers[piece.padded_row + r]
            if strand.term == NO_TERM:
                at = (piece.row + r) * ROW.size + strand.wrench
                n = add_scaled(n, strand.sign * x, get3(work.rows, at))
                f = add_scaled(f, strand.sign * x, get3(work.rows, at + 3))
            else:
                k = start_dof(model, strand)
                x = coefficient(model, strand, piece, r, work) * x
                work.joint_pulls[k] = work.joint_pulls[k] + x
        if strand.term == NO_TERM:
            put3(work.forces, force + FORCE.n, subtract(get3(work.forces, force + FORCE.n), n))
            put3(work.forces, force + FORCE.f, subtract(get3(work.forces, force + FORCE.f), f))
            add_squares(strand.link, n, f, work.squares)


@function
def hand_on(i, to, work):
    """Add the force of a link to that of another."""
    n, f = get3(work.forces, i * FORCE.size + FORCE.n), get3(work.forces, i * FORCE.size + FORCE.f)
    if to > 0:
        force = to * FORCE.size
        put3(work.forces, force + FORCE.n, add(get3(work.forces, force + FORCE.n), n))
        put3(work.forces, force + FORCE.f, add(get3(work.forces, force + FORCE.f), f))
        add_squares(to, n, f, work.squares)
        own, at = i * SQUARES.size, to * SQUARES.size
        for t in range(SQUARES.size):
            work.squares[at + t] = work.squares[at + t] + PASSED * work.squares[own + t]


@function
def along(i, angular, linear, work):
    """S^T (n, f) of a link's force, and the square of what it could be."""
    n, f = get3(work.forces, i * FORCE.size + FORCE.n), get3(work.forces, i * FORCE.size + FORCE.f)
    square = work.squares[i * SQUARES.size + SQUARES.n] * dot(angular, angular)
    square = square + work.squares[i * SQUARES.size + SQUARES.f] * dot(linear, linear)
    return dot(angular, n) + dot(linear, f), square


@function
def joint_error(model, i, has_motor, tau, a, work):
    """The squares of what is missing at the joint of a link, relative to its forces."""
    link = model.links[i]
    total = 0.0 * tau[0]
    for k in range(link.v, link.v + link.nv):
        dof = k * DOF.size
        angular, linear = get3(work.dofs, dof + DOF.angular), get3(work.dofs, dof + DOF.linear)
        u = tau[k]
        if has_motor:
            before = get3(work.links, link.parent * LINK.size + MOTION.alpha)
            u = work.tau[k] - model.gears[i].spin * dot(angular, before)
        u = u + work.joint_pulls[k] - model.armature[k] * a[k]
        x, square = along(i, angular, linear, work)
        missing = u - x
        total = total + relative(missing * missing, u * u + square)
    hand_on(i, link.parent, work)
    return total


@function
def cluster_error(model, cluster, tau, none, work):
    """The squares of what is missing along the y of a cluster, relative to its forces."""
    total = none
    for k in range(cluster.ny):
        y = model.ys[cluster.first_y + k]
        missing = force_on(model, cluster, k, tau, work) + work.joint_pulls[y]
        missing = missing - model.armature[y] * work.dofs[y * DOF.size + DOF.u]
        square = missing * missing
        for m in range(cluster.member_count):
            member = model.members[cluster.first_member + m]
            if is_moved(member, k):
                angular, linear = column(cluster, m, k, work)
                x, own = along(member.link, angular, linear, work)
                missing, square = missing - x, square + own
        for t in range(cluster.first_spin, cluster.first_spin + cluster.spin_count):
            x = spin_torque(model, cluster, t, work)
            x = work.Gd[cluster.G + model.spins[t].dependent * cluster.ny + k] * x
            missing, square = missing - x, square + x * x
        for d in range(cluster.nd):
            armature = model.armature[model.ds[cluster.first_d + d]]
            if armature != 0.0:
                x = armature * work.Gd[cluster.G + d * cluster.ny + k]
                own = rotor_acceleration(model, cluster, d, work)
                x = x * (own + work.g[model.ds[cluster.first_d + d]])
                missing, square = missing - x, square + x * x
        total = total + relative(missing * missing, square)
    for m in range(cluster.first_member, cluster.first_member + cluster.member_count):
        hand_on(model.members[m].link, cluster.handle, work)
    return total


@function
def spin_torque(model, cluster, t, work):
    """The torque that a spin takes about its axis."""
    spin = model.spins[t]
    x = spin.inertia * rotor_acceleration(model, cluster, spin.dependent, work)
    if spin.link > 0:
        alpha = get3(work.links, spin.link * LINK.size + MOTION.alpha)
        x = x + spin.inertia * dot(get3(work.spins, t * SPIN.size + SPIN.n), alpha)
    return work.spins[t * SPIN.size + SPIN.torque] + x

"""Rows of constraints that hold a mechanism with clusters: what they measure, and their strands.

See `structure.routes`. A strand carries the forces of its rows from the link or joint that they
pull at to the world, as the sweep of forces does; what it gives each degree of freedom on the way
is an entry of Y = J U^-T.
"""

from __future__ import annotations

from ...compile import clear, function, routine
from ...compile.recorded.programs import implicit_registers
from ...constrained.factor.kkt import padded_extents
from ...constrained.recursion.links import refer_to_tree
from ...constrained.rows.measures import put_rows
from ...constrained.rows.pieces import COUPLING
from ...constrained.rows.wrenches import ROW, piece_registers
from ...dynamics.aba import DOF, LINK, MOTION
from ...spatial.vectors import add_scaled, dot, get3, put3, scale
from ..structure.packed import NO_CLUSTER
from ..structure.routes import NO_ROOT, NO_TERM
from .elimination import column, is_moved

ROOT = 15  # numbers of `put_root`


@routine
def put_held_rows(model, q, v, with_error, work):
    """Wrenches, velocities, drifts and errors of all rows, from motions with y'' = 0."""
    for k in range(len(model.independent)):
        work.all_v[k] = v[k]
    for c in range(len(model.clusters)):
        cluster = model.clusters[c]
        for t in range(cluster.first_y, cluster.first_y + cluster.ny):
            work.all_v[model.ys[t]] = work.v[model.ys[t]]
        for t in range(cluster.first_d, cluster.first_d + cluster.nd):
            work.all_v[model.ds[t]] = work.v[model.ds[t]]
    put3(work.links, MOTION.u, (0.0, 0.0, 0.0))
    for t in range(len(model.supports)):
        i = model.supports[t]
        link = model.links[i]
        u = get3(work.links, link.parent * LINK.size + MOTION.u)
        for k in range(link.v, link.v + link.nv):
            u = add_scaled(u, work.all_v[k], get3(work.dofs, k * DOF.size + DOF.linear))
        put3(work.links, i * LINK.size + MOTION.u, u)
    for t in range(len(model.supports)):
        refer_to_tree(model.supports[t] * LINK.size, work.links)
    for c in range(len(model.pieces)):
        put_rows(model, model.pieces[c], q, work.all_v, with_error, work.links, LINK.size, work)


@routine
def put_strands(model, work):
    """Y by panels, and the inverse of D for all degrees of freedom that strands meet."""
    _, panels = padded_extents(model)
    clear(work.Y, panels)
    for t in range(len(model.roots)):
        put_root(model.roots[t], t, work)
    for t in range(len(model.strands)):
        strand = model.strands[t]
        piece = model.pieces[strand.piece]
        for r in range(piece.count):
            run(model, strand, piece, r, work)


@function
def run(model, strand, piece, r, work):
    """One row of a strand, from where it starts to the world."""
    n, f, pull = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0
    if strand.term == NO_TERM:
        at = (piece.row + r) * ROW.size + strand.wrench
        n = scale(-strand.sign, get3(work.rows, at))
        f = scale(-strand.sign, get3(work.rows, at + 3))
    else:
        pull = coefficient(model, strand, piece, r, work)
    for t in range(strand.first_stop, strand.first_stop + strand.stop_count):
        stop = model.stops[t]
        starts_at_joint = strand.term != NO_TERM and t == strand.first_stop
        at = piece.panel + stop.place * piece.height + r
        if stop.root != NO_ROOT:
            end_at_root(stop, at, piece.height, n, f, work)
        elif stop.cluster == NO_CLUSTER:
            n, f = pass_joint(stop.dof, at, pull if starts_at_joint else 0.0, n, f, work)
        else:
            n, f = pass_cluster(model, stop, at, piece.height, starts_at_joint, pull, n, f, work)


@function
def coefficient(model, strand, piece, r, work):
    """The entry of a row at a joint coordinate."""
    if piece.kind == COUPLING:
        return model.terms[piece.first_term + strand.term].coefficient
    at = implicit_registers(piece.term_count, piece.count)
    return piece_registers(piece, work)[at.jacobian + r * piece.term_count + strand.term]


@function
def start_dof(model, strand):
    """The degree of freedom of the joint coordinate where a strand starts."""
    stop = model.stops[strand.first_stop]
    if stop.cluster == NO_CLUSTER:
        return stop.dof
    return model.ys[model.clusters[stop.cluster].first_y + stop.member]


@function
def pass_joint(k, at, pull, n, f, work):
    """The entry at a joint's degree of freedom, and what remains of a force for its carrier."""
    dofs, dof = work.dofs, k * DOF.size
    u = pull - dot(get3(dofs, dof + DOF.angular), n) - dot(get3(dofs, dof + DOF.linear), f)
    work.Y[at] = work.Y[at] + u
    work.D[k] = dofs[dof + DOF.D_inverse]
    n = add_scaled(n, u, get3(dofs, dof + DOF.G_angular))
    return n, add_scaled(f, u, get3(dofs, dof + DOF.G_linear))


@function
def put_root(first, root, work):
    """What forces along each motion of a free body leave along those that are eliminated later.

    S_j . G_k, j < k: as S are the body's axes at its origin, nothing else of G_k is needed.
    """
    dofs, at = work.dofs, root * ROOT
    for k in range(6):
        dof = (first + k) * DOF.size
        work.D[first + k] = dofs[dof + DOF.D_inverse]
        moment, force = get3(dofs, dof + DOF.G_angular), get3(dofs, dof + DOF.G_linear)
        for j in range(k):
            axis = get3(dofs, (first + j % 3) * DOF.size + DOF.linear)
            work.roots[at] = dot(axis, force if j < 3 else moment)
            at = at + 1


@function
def end_at_root(stop, at, height, n, f, work):
    """The entries at the six degrees of freedom of a free body, the last one first."""
    row = stop.root * ROOT
    first = stop.dof * DOF.size + DOF.linear
    x, y = get3(work.dofs, first), get3(work.dofs, first + DOF.size)
    z = get3(work.dofs, first + 2 * DOF.size)
    u5, u4, u3 = -dot(z, n), -dot(y, n), -dot(x, n)
    u2, u1, u0 = -dot(z, f), -dot(y, f), -dot(x, f)
    u4 = u4 - u5 * work.roots[row + 14]
    u3 = u3 - u5 * work.roots[row + 13]
    u3 = u3 - u4 * work.roots[row + 9]
    u2 = u2 - u5 * work.roots[row + 12]
    u2 = u2 - u4 * work.roots[row + 8]
    u2 = u2 - u3 * work.roots[row + 5]
    u1 = u1 - u5 * work.roots[row + 11]
    u1 = u1 - u4 * work.roots[row + 7]
    u1 = u1 - u3 * work.roots[row + 4]
    u1 = u1 - u2 * work.roots[row + 2]
    u0 = u0 - u5 * work.roots[row + 10]
    u0 = u0 - u4 * work.roots[row + 6]
    u0 = u0 - u3 * work.roots[row + 3]
    u0 = u0 - u2 * work.roots[row + 1]
    u0 = u0 - u1 * work.roots[row + 0]
    work.Y[at] = work.Y[at] + u5
    work.Y[at + 1 * height] = work.Y[at + 1 * height] + u4
    work.Y[at + 2 * height] = work.Y[at + 2 * height] + u3
    work.Y[at + 3 * height] = work.Y[at + 3 * height] + u2
    work.Y[at + 4 * height] = work.Y[at + 4 * height] + u1
    work.Y[at + 5 * height] = work.Y[at + 5 * height] + u0


@function
def pass_cluster(model, stop, at, height, starts_at_joint, pull, n, f, work):
    """Entries at a cluster, L^-1 (pull - s^T (n, f)), and what remains for its handle."""
    cluster = model.clusters[stop.cluster]
    L, D, ny = work.factor, cluster.factor, cluster.ny
    rest_n, rest_f = n, f
    for k in range(ny):
        z = 0.0 * L[D]
        if starts_at_joint:
            if k == stop.member:
                z = z + pull
        elif is_moved(model.members[cluster.first_member + stop.member], k):
            angular, linear = column(cluster, stop.member, k, work)
            z = z - dot(angular, n) - dot(linear, f)
        for t in range(k):
            z = z - L[D + k * ny + t] * work.solved[t]
        z = z * L[D + k * ny + k]
        work.solved[k] = z
        work.Y[at + k * height] = work.Y[at + k * height] + z
        y = model.ys[cluster.first_y + k]
        work.D[y] = 1.0
        rest_n = add_scaled(rest_n, z, get3(work.dofs, y * DOF.size + DOF.G_angular))
        rest_f = add_scaled(rest_f, z, get3(work.dofs, y * DOF.size + DOF.G_linear))
    return rest_n, rest_f


@function
def put_held_residual(model, a, work):
    """r = gamma - a* + J a, from the accelerations of links and joints."""
    padded = work.padded
    padded_rows, _ = padded_extents(model)
    for t in range(padded_rows):
        padded.residual[t] = padded.target[t]
    for t in range(len(model.strands)):
        strand = model.strands[t]
        piece = model.pieces[strand.piece]
        for r in range(piece.count):
            to = piece.padded_row + r
            if strand.term == NO_TERM:
                at, link = (piece.row + r) * ROW.size + strand.wrench, strand.link * LINK.size
                x = dot(get3(work.rows, at), get3(work.links, link + MOTION.alpha))
                x = x + dot(get3(work.rows, at + 3), get3(work.links, link + MOTION.a))
                padded.residual[to] = padded.residual[to] + strand.sign * x
            else:
                x = coefficient(model, strand, piece, r, work) * a[start_dof(model, strand)]
                padded.residual[to] = padded.residual[to] + x

"""Planar loops: a chain of hinges about one axis z, closed by a hinge about it.

All of the loop's links turn about z. A hinge at p moves the point c where the loop closes by
z x (c - p): so with u = c - p, of hinges on the one side of the loop, and u = p - c on the other,
the loop stays closed if the sum of u v is zero in the plane. Two of the rates, v_d and v_e, are
dependent. With X(a, b) = z . (a x b), for each of the others, v_k:

    v_d = -X(u_k, u_e) / X(u_d, u_e) v_k,   v_e = -X(u_d, u_k) / X(u_d, u_e) v_k

With rates W of links, and r from each hinge to the next, the bias accelerations follow from
d = sum of -W^2 r, in the plane: g_d = -(d . u_e) / X(u_d, u_e), g_e = (d . u_d) / X(u_d, u_e).
"""

from __future__ import annotations

from ...compile import absolute, function, select
from ...dynamics.aba import DOF, LINK
from ...dynamics.steps.points import frame_position
from ...spatial.vectors import add_scaled, cross, dot, get3, put3, scale, subtract
from .singular import NAN, SINGULAR


@function
def put_planar_G(model, cluster, work):
    """u of all hinges, in the place of K, and G; returns z and 1 / X(u_d, u_e)."""
    K, n = work.K, cluster.ny
    z = axis_of(model, cluster, work)
    c, c_other = closing_points(model, cluster, work)
    for t in range(cluster.first_member, cluster.first_member + cluster.member_count):
        member = model.members[t]
        p = get3(work.links, member.link * LINK.size + LINK.p)
        u = subtract(c, p) if member.side > 0 else subtract(p, c_other)
        put3(K, 3 * member.local, u if member.sense > 0 else scale(-1.0, u))
    u_d, u_e = get3(K, 3 * n), get3(K, 3 * n + 3)
    x = dot(z, cross(u_d, u_e))
    is_regular = absolute(x) > SINGULAR * (dot(u_d, u_d) + dot(u_e, u_e))
    inverse = 1.0 / select(is_regular, x, NAN)
    along_d, along_e = scale(inverse, cross(z, u_d)), scale(inverse, cross(z, u_e))
    for k in range(n):
        u = get3(K, 3 * k)
        work.Gd[cluster.G + k] = dot(along_e, u)
        work.Gd[cluster.G + n + k] = -dot(along_d, u)
    return z, inverse


@function
def axis_of(model, cluster, work):
    """The axis of the first hinge."""
    first = model.links[model.members[cluster.first_member].link]
    return get3(work.dofs, first.v * DOF.size + DOF.angular)


@function
def closing_points(model, cluster, work):
    """The point where the loop closes, on the one side of it and on the other."""
    piece = model.loops[model.cluster_pieces[cluster.first_piece]]
    return (
        frame_position(model.frames[piece.frame], work.links, LINK.size),
        frame_position(model.frames[piece.other], work.links, LINK.size),
    )


@function
def put_planar_g(model, cluster, z, inverse, work):
    """The bias accelerations of the two dependent hinges."""
    K, n = work.K, cluster.ny
    c, c_other = closing_points(model, cluster, work)
    one = chain_bias(model, cluster, 1, c, work)
    other = chain_bias(model, cluster, -1, c_other, work)
    d = subtract(other, one)
    d = add_scaled(d, -dot(z, d), z)
    work.g[model.ds[cluster.first_d]] = -inverse * dot(d, get3(K, 3 * n + 3))
    work.g[model.ds[cluster.first_d + 1]] = inverse * dot(d, get3(K, 3 * n))


@function
def chain_bias(model, cluster, side, end, work):
    """The sum of W^2 r along one side of a loop, up to its end."""
    W, total = 0.0 * end[0], scale(0.0, end)
    p = total
    for t in range(cluster.first_member, cluster.first_member + cluster.member_count):
        member = model.members[t]
        if member.side == side:
            own = get3(work.links, member.link * LINK.size + LINK.p)
            total = add_scaled(total, W * W, subtract(own, p))
            rate = work.v[model.links[member.link].v]
            W, p = W + (rate if member.sense > 0 else -rate), own
    return add_scaled(total, W * W, subtract(end, p))

"""Articulated inertias: what the inertia of a subtree is to a force on its first link.

The inertia of a link, IA = [[A, H], [H^T, M]] in angular and linear parts, is kept in world axes
but about the link's own origin: about the tree's, that of a light link far out would drown in its
mass times the square of the distance. What is projected through joints, U = IA S, is kept as
G = U D^-1 with D = S^T U, about the tree's origin like all vectors (see `links`).

Sweeps that use these steps keep a record a link that starts with the slots of LINK, and a record a
degree of freedom that starts with those of DOF.
"""

from __future__ import annotations

from ...compile import function, overlay, slots
from ...model.parts.kinds import PRISMATIC, REVOLUTE
from ...spatial.vectors import (
    add6,
    add9,
    add_cross,
    dot,
    get3,
    get6,
    get9,
    outer_update,
    outer_update9,
    put3,
    put6,
    put9,
    rotate,
    rotate_back,
    rotate_factored,
    scale,
    subtract,
    symmetric_times,
)
from .links import AT_ONCE, PLACEMENT, SUBSPACE, place_range, put_sines

# Placement, articulated inertia, and the link's own inertia and first moment.
LINK = slots(PLACEMENT, A=6, M=6, own_inertia=6, own_h=3)
# H takes the place of the rotation, which is not needed once the rigid body is there.
INERTIA = overlay(LINK, "R p A M", H=9, p=3, A=6, M=6)
# S, G = U D^-1 and 1/D.
DOF = slots(SUBSPACE, G_angular=3, G_linear=3, D_inverse=1)


@function
def place_bodies(model, q, links, size, dofs, dof_size):
    """Placements of all links, and their own inertias, some links at a time."""
    n = len(model.links)
    put_sines(model, q, dofs, dof_size)
    for first in range(1, n, AT_ONCE):
        end = min(first + AT_ONCE, n)
        place_range(model, first, end, q, links, size, dofs, dof_size)
        for i in range(first, end):
            put_rigid_body(model.links[i], i * size, links)


@function
def put_rigid_body(link, at, links):
    """Store and return the link's own inertia and first moment."""
    R = get9(links, at + LINK.R)
    inertia = rotate_factored(R, link.inertia_factor)
    h = rotate(R, get3(link.moment, 0))
    put6(links, at + LINK.own_inertia, inertia)
    put3(links, at + LINK.own_h, h)
    return inertia, h


@function
def start_inertia(link, at, links):
    """The articulated inertia of a link that has met none of its children."""
    m, h = link.mass, get3(links, at + LINK.own_h)
    put6(links, at + LINK.A, get6(links, at + LINK.own_inertia))
    put9(links, at + INERTIA.H, (0.0, -h[2], h[1], h[2], 0.0, -h[0], -h[1], h[0], 0.0))
    put6(links, at + LINK.M, (m, 0.0, 0.0, m, 0.0, m))


@function
def articulate_range(model, first, end, links, size, dofs, dof_size):
    """The articulated inertias of a range of links, from the last one back.

    A leaf's is its own. The others start from what the last of their children gives them.
    """
    for i in range(end - 1, first - 1, -1):
        link = model.links[i]
        if not link.has_children:
            start_inertia(link, i * size, links)
        articulate(model, i, link.is_last_child, links, size, dofs, dof_size)


@function
def articulate(model, i, is_first, links, size, dofs, dof_size):
    """Project the articulated inertia of link i through its joint, and give the parent the rest.

    `is_first` tells that no other child has given it any.
    """
    link, at, parent = model.links[i], i * size, model.links[i].parent * size
    if link.kind == REVOLUTE:  # as most are: without a loop
        projected = project_revolute(model, link.v, at, links, link.v * dof_size, dofs)
        if link.parent > 0:
            pass_remainder(model, link, is_first, at, parent, projected, links)
    else:
        for k in range(link.v + link.nv - 1, link.v - 1, -1):
            projected = project(model, link, k, at, links, k * dof_size, dofs)
            if k > link.v:
                keep_remainder(at, projected, links)
            elif link.parent > 0:
                pass_remainder(model, link, is_first, at, parent, projected, links)


@function
def project(model, link, k, at, links, dof, dofs):
    """U = IA S and D = S^T U, armature included, of degree of freedom k; stores G and 1/D.

    Returns moment and force of U, and of G, about the link's own origin.
    """
    if link.kind == REVOLUTE:
        return project_revolute(model, k, at, links, dof, dofs)
    H, M = get9(links, at + INERTIA.H), get6(links, at + LINK.M)
    if link.kind == PRISMATIC:
        linear = get3(dofs, dof + DOF.linear)
        moment, force = rotate(H, linear), symmetric_times(M, linear)
        D = dot(linear, force)
    else:
        A, angular = get6(links, at + LINK.A), get3(dofs, dof + DOF.angular)
        linear = add_cross(get3(dofs, dof + DOF.linear), angular, get3(links, at + LINK.p))
        moment, force = inertia_times(A, H, M, angular, linear)
        D = dot(angular, moment) + dot(linear, force)
    return put_projection(moment, force, D + model.armature[k], at, links, dof, dofs)


@function
def project_revolute(model, k, at, links, dof, dofs):
    """U, D and G of a revolute joint, whose axis goes through the link's origin."""
    A, H = get6(links, at + LINK.A), get9(links, at + INERTIA.H)
    axis = get3(dofs, dof + DOF.angular)
    moment, force = symmetric_times(A, axis), rotate_back(H, axis)
    D = dot(axis, moment) + model.armature[k]
    return put_projection(moment, force, D, at, links, dof, dofs)


@function
def put_projection(moment, force, D, at, links, dof, dofs):
    """Store G and 1/D; return U and G."""
    D_inverse = 1.0 / D
    g_moment, g_force = scale(D_inverse, moment), scale(D_inverse, force)
    # By U, which is there before the division is done.
    U_angular = add_cross(moment, get3(links, at + LINK.p), force)
    put3(dofs, dof + DOF.G_angular, scale(D_inverse, U_angular))
    put3(dofs, dof + DOF.G_linear, g_force)
    dofs[dof + DOF.D_inverse] = D_inverse
    return moment, force, g_moment, g_force


@function
def keep_remainder(at, projected, links):
    """IA - U D^-1 U^T, in the link's own place."""
    moment, force, g_moment, g_force = projected
    put6(links, at + LINK.A, outer_update(get6(links, at + LINK.A), moment, g_moment))
    put9(links, at + INERTIA.H, outer_update9(get9(links, at + INERTIA.H), moment, g_force))
    put6(links, at + LINK.M, outer_update(get6(links, at + LINK.M), force, g_force))


@function
def pass_remainder(model, link, is_first, at, to, projected, links):
    """IA - U D^-1 U^T, moved to the parent's origin and added there, to its own if the first."""
    moment, force, g_moment, g_force = projected
    M = outer_update(get6(links, at + LINK.M), force, g_force)
    H = outer_update9(get9(links, at + INERTIA.H), moment, g_force)
    A = outer_update(get6(links, at + LINK.A), moment, g_moment)
    if not link.shares_origin:
        A, H = move_inertia(A, H, M, subtract(get3(links, at + LINK.p), get3(links, to + LINK.p)))
    if is_first:
        m, h = model.links[link.parent].mass, get3(links, to + LINK.own_h)
        put6(links, to + LINK.A, add6(A, get6(links, to + LINK.own_inertia)))
        put9(links, to + INERTIA.H, add_skew(H, h))
        put6(links, to + LINK.M, (M[0] + m, M[1], M[2], M[3] + m, M[4], M[5] + m))
    else:
        put6(links, to + LINK.A, add6(A, get6(links, to + LINK.A)))
        put9(links, to + INERTIA.H, add9(H, get9(links, to + INERTIA.H)))
        put6(links, to + LINK.M, add6(M, get6(links, to + LINK.M)))


@function
def move_inertia(A, H, M, r):
    """Inertia about a point from which the old one is at r; M stays as it is."""
    # In this order H may be moved in its place.
    A = move_moments(A, H, r)
    H = move_coupling(H, M, r)
    return move_moments_further(A, H, r), H


@function
def add_skew(H, h):
    """H + (h x)"""
    return (
        H[0],
        H[1] - h[2],
        H[2] + h[1],
        H[3] + h[2],
        H[4],
        H[5] - h[0],
        H[6] - h[1],
        H[7] + h[0],
        H[8],
    )


@function
def move_coupling(H, M, r):
    """H + (r x) M for a symmetric M."""
    return (
        H[0] + r[1] * M[2] - r[2] * M[1],
        H[1] + r[1] * M[4] - r[2] * M[3],
        H[2] + r[1] * M[5] - r[2] * M[4],
        H[3] + r[2] * M[0] - r[0] * M[2],
        H[4] + r[2] * M[1] - r[0] * M[4],
        H[5] + r[2] * M[2] - r[0] * M[5],
        H[6] + r[0] * M[1] - r[1] * M[0],
        H[7] + r[0] * M[3] - r[1] * M[1],
        H[8] + r[0] * M[4] - r[1] * M[2],
    )


@function
def move_moments(A, H, r):
    """A - (H (r x))^T: its upper half, of a matrix that is symmetric after the next step only."""
    return (
        A[0] - H[1] * r[2] + H[2] * r[1],
        A[1] - H[4] * r[2] + H[5] * r[1],
        A[2] - H[7] * r[2] + H[8] * r[1],
        A[3] - H[5] * r[0] + H[3] * r[2],
        A[4] - H[8] * r[0] + H[6] * r[2],
        A[5] - H[6] * r[1] + H[7] * r[0],
    )


@function
def move_moments_further(A, H, r):
    """A - H (r x), where H has been moved by r."""
    return (
        A[0] - H[1] * r[2] + H[2] * r[1],
        A[1] - H[2] * r[0] + H[0] * r[2],
        A[2] - H[0] * r[1] + H[1] * r[0],
        A[3] - H[5] * r[0] + H[3] * r[2],
        A[4] - H[3] * r[1] + H[4] * r[0],
        A[5] - H[6] * r[1] + H[7] * r[0],
    )


@function
def inertia_times(A, H, M, angular, linear):
    """Moment and force of [[A, H], [H^T, M]] (angular, linear)."""
    moment, force = symmetric_times(A, angular), symmetric_times(M, linear)
    return (
        (
            moment[0] + H[0] * linear[0] + H[1] * linear[1] + H[2] * linear[2],
            moment[1] + H[3] * linear[0] + H[4] * linear[1] + H[5] * linear[2],
            moment[2] + H[6] * linear[0] + H[7] * linear[1] + H[8] * linear[2],
        ),
        (
            force[0] + H[0] * angular[0] + H[3] * angular[1] + H[6] * angular[2],
            force[1] + H[1] * angular[0] + H[4] * angular[1] + H[7] * angular[2],
            force[2] + H[2] * angular[0] + H[5] * angular[1] + H[8] * angular[2],
        ),
    )

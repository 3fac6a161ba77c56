"""Articulated inertias: what the inertia of a subtree is to a force on its first link.

The inertia of a link, IA = [[A, H], [H^T, M]] in angular and linear parts, is kept in world axes
but about the link's own origin: about the tree's, that of a light link far out would drown in its
mass times the square of the distance. What is projected through joints, U = IA S, is given about
the tree's origin like all vectors (see `links`).

Sweeps that use these steps keep a record a link that starts with the slots of LINK, and a record a
degree of freedom that starts with those of DOF.
"""

from __future__ import annotations

from ..compile import function, slots
from ..model.packed import PRISMATIC, REVOLUTE
from ..spatial.vectors import (
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

# Placement, articulated inertia, and the link's own inertia and first moment.
LINK = slots(R=9, p=3, A=6, M=6, own_inertia=6, own_h=3)
# H takes the place of the rotation, which is not needed once the rigid body is there.
INERTIA = slots(H=9, p=3, A=6, M=6)
# S, U and 1/D.
DOF = slots(angular=3, linear=3, U_angular=3, U_linear=3, D_inverse=1)


@function
def put_rigid_body(link, at, work):
    """Store and return the link's own inertia and first moment; a leaf's is the articulated one.

    The other links get theirs from their last child, the first that the backward sweep meets.
    """
    R = get9(work, at + LINK.R)
    factor = link.inertia_factor
    inertia = rotate_factored(R, get3(factor, 0), get3(factor, 3), factor[6])
    h = rotate(R, get3(link.moment, 0))
    put6(work, at + LINK.own_inertia, inertia)
    put3(work, at + LINK.own_h, h)
    if not link.has_children:
        start_inertia(link, at, work)
    return inertia, h


@function
def start_inertia(link, at, work):
    """The articulated inertia of a link that has met none of its children."""
    m, h = link.mass, get3(work, at + LINK.own_h)
    put6(work, at + LINK.A, get6(work, at + LINK.own_inertia))
    put9(work, at + INERTIA.H, (0.0, -h[2], h[1], h[2], 0.0, -h[0], -h[1], h[0], 0.0))
    put6(work, at + LINK.M, (m, 0.0, 0.0, m, 0.0, m))


@function
def articulate(model, i, is_first, work, size, dofs, dof_size):
    """Project the articulated inertia of link i through its joint, and give the parent the rest.

    `is_first` tells that no other child has given it any.
    """
    link, at = model.links[i], i * size
    for k in range(link.v + link.nv - 1, link.v - 1, -1):
        dof = dofs + k * dof_size
        moment = project(model, link, k, at, work, dof)
        if k > link.v:
            keep_remainder(at, moment, work, dof)
        elif link.parent > 0:
            pass_remainder(model, link, is_first, at, link.parent * size, moment, work, dof)


@function
def project(model, link, k, at, work, dof):
    """U = IA S and D = S^T U, armature included, of degree of freedom k.

    Returns the moment of U about the link's own origin.
    """
    A, H, M = get6(work, at + LINK.A), get9(work, at + INERTIA.H), get6(work, at + LINK.M)
    p = get3(work, at + LINK.p)
    angular = get3(work, dof + DOF.angular)
    if link.kind == REVOLUTE:  # its axis goes through the link's origin
        moment, force = symmetric_times(A, angular), rotate_back(H, angular)
        D = dot(angular, moment)
    elif link.kind == PRISMATIC:
        linear = get3(work, dof + DOF.linear)
        moment, force = rotate(H, linear), symmetric_times(M, linear)
        D = dot(linear, force)
    else:
        linear = add_cross(get3(work, dof + DOF.linear), angular, p)
        moment, force = inertia_times(A, H, M, angular, linear)
        D = dot(angular, moment) + dot(linear, force)
    put3(work, dof + DOF.U_angular, add_cross(moment, p, force))
    put3(work, dof + DOF.U_linear, force)
    work[dof + DOF.D_inverse] = 1.0 / (D + model.armature[k])
    return moment


@function
def keep_remainder(at, moment, work, dof):
    """IA - U D^-1 U^T, in the link's own place."""
    force = get3(work, dof + DOF.U_linear)
    D_inverse = work[dof + DOF.D_inverse]
    g_moment, g_force = scale(D_inverse, moment), scale(D_inverse, force)
    put6(work, at + LINK.A, outer_update(get6(work, at + LINK.A), moment, g_moment))
    put9(work, at + INERTIA.H, outer_update9(get9(work, at + INERTIA.H), moment, g_force))
    put6(work, at + LINK.M, outer_update(get6(work, at + LINK.M), force, g_force))


@function
def pass_remainder(model, link, is_first, at, to, moment, work, dof):
    """IA - U D^-1 U^T, moved to the parent's origin and added there, to its own if the first."""
    force = get3(work, dof + DOF.U_linear)
    D_inverse = work[dof + DOF.D_inverse]
    g_moment, g_force = scale(D_inverse, moment), scale(D_inverse, force)
    r = subtract(get3(work, at + LINK.p), get3(work, to + LINK.p))
    M = outer_update(get6(work, at + LINK.M), force, g_force)
    H = outer_update9(get9(work, at + INERTIA.H), moment, g_force)
    moved = move_coupling(H, M, r)
    A = move_moments(outer_update(get6(work, at + LINK.A), moment, g_moment), moved, H, r)
    if is_first:
        add_rigid_body(model.links[link.parent].mass, A, moved, M, to, work)
    else:
        put6(work, to + LINK.A, add6(A, get6(work, to + LINK.A)))
        put9(work, to + INERTIA.H, add9(moved, get9(work, to + INERTIA.H)))
        put6(work, to + LINK.M, add6(M, get6(work, to + LINK.M)))


@function
def add_rigid_body(m, A, H, M, at, work):
    """The first inertia that a link gets from its children meets the link's own."""
    h = get3(work, at + LINK.own_h)
    put6(work, at + LINK.A, add6(A, get6(work, at + LINK.own_inertia)))
    put3(work, at + INERTIA.H, (H[0], H[1] - h[2], H[2] + h[1]))
    put3(work, at + INERTIA.H + 3, (H[3] + h[2], H[4], H[5] - h[0]))
    put3(work, at + INERTIA.H + 6, (H[6] - h[1], H[7] + h[0], H[8]))
    put6(work, at + LINK.M, (M[0] + m, M[1], M[2], M[3] + m, M[4], M[5] + m))


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
def move_moments(A, moved, H, r):
    """A - moved (r x) - (H (r x))^T, which is symmetric where moved = H + (r x) M."""
    return (
        A[0] - moved[1] * r[2] + moved[2] * r[1] - H[1] * r[2] + H[2] * r[1],
        A[1] - moved[2] * r[0] + moved[0] * r[2] - H[4] * r[2] + H[5] * r[1],
        A[2] - moved[0] * r[1] + moved[1] * r[0] - H[7] * r[2] + H[8] * r[1],
        A[3] - moved[5] * r[0] + moved[3] * r[2] - H[5] * r[0] + H[3] * r[2],
        A[4] - moved[3] * r[1] + moved[4] * r[0] - H[8] * r[0] + H[6] * r[2],
        A[5] - moved[6] * r[1] + moved[7] * r[0] - H[6] * r[1] + H[7] * r[0],
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

"""Steps that sweeps over links share, in world axes.

All vectors of a link are written in the world's axes, and all moments taken about one point: the
origin of the root link of its tree. So nothing is ever rotated on its way to the parent, which
halves the arithmetic, and a robot far from the world's origin loses no digits.

Each sweep keeps a record a link that starts with the slots of PLACEMENT, and a record a degree of
freedom that starts with those of SUBSPACE.
"""

from __future__ import annotations

from ...compile import absolute, any_true, far, function, near_sincos, presume, sincos, slots
from ...model.parts.kinds import FREE, HELICAL, PLANAR, PRISMATIC, REVOLUTE, SPHERICAL
from ...spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    compose,
    cross,
    get3,
    get9,
    put3,
    put9,
    rotate,
    scale,
)
from .joints import turned_placement

PLACEMENT = slots(R=9, p=3)
SUBSPACE = slots(angular=3, linear=3)
# After the placement, where links move: velocity (omega, u) and acceleration (alpha, a) of the
# point of the link that is at the tree's origin.
MOVING = slots(PLACEMENT, omega=3, u=3, alpha=3, a=3)
# Links that one sweep takes before the next sweep takes the same: their records then stay in the
# innermost cache (0.8 of the time at 1533 links, no change below 20).
AT_ONCE = 16


@function
def place_links(model, q, links, size, dofs, dof_size):
    """Placements of all links, and motion subspaces of their joints."""
    put_sines(model, q, dofs, dof_size)
    place_range(model, 1, len(model.links), q, links, size, dofs, dof_size)


@function
def place_range(model, first, end, q, links, size, dofs, dof_size):
    """Placements and motion subspaces of links first..end-1, after `put_sines`."""
    for i in range(first, end):
        link = model.links[i]
        at = link.v * dof_size
        R, p = place_link(link, i, q, dofs[at], dofs[at + 1], links, size)
        put_subspace(link, R, p, dofs, at, dof_size)


@function
def put_sines(model, q, dofs, dof_size):
    """Sines and cosines of all angles; one by one only if any is very large.

    They come before all else, as they need not wait for each other: they stand where the subspace
    of their joint is to be.
    """
    count = len(model.angles)
    if count == 0:
        return
    length = 0.0 * q[model.angles[0].q]
    for t in range(0, count - 1, 2):  # two by two, as each takes a long chain of operations
        one, other = model.angles[t], model.angles[t + 1]
        x, y = q[one.q], q[other.q]
        length = length + (absolute(x) + absolute(y))
        x, y = near_sincos(x), near_sincos(y)
        put_sine(dofs, one.v * dof_size, x)
        put_sine(dofs, other.v * dof_size, y)
    if count % 2 == 1:
        last = model.angles[count - 1]
        length = length + absolute(q[last.q])
        put_sine(dofs, last.v * dof_size, near_sincos(q[last.q]))
    if any_true(presume(far(length), False)):
        for t in range(count):
            angle = model.angles[t]
            put_sine(dofs, angle.v * dof_size, sincos(q[angle.q]))


@function
def put_sine(dofs, at, both):
    """Store a sine and a cosine."""
    dofs[at] = both[0]
    dofs[at + 1] = both[1]


@function
def place_link(link, i, q, s, c, links, size):
    """Store and return rotation and position of link i, whose joint turns by a known angle."""
    at, parent = i * size, link.parent * size
    if link.kind == REVOLUTE and link.axis[0] >= 0 and link.parent > 0:
        R, p = place_aligned(link, s, c, links, parent)
    else:
        R, p = turned_placement(link, q, s, c)
        if link.parent == 0:
            p = (0.0, 0.0, 0.0)
        else:
            R_parent = get9(links, parent + PLACEMENT.R)
            p = add(get3(links, parent + PLACEMENT.p), rotate(R_parent, p))
            R = compose(R_parent, R)
    put9(links, at + PLACEMENT.R, R)
    put3(links, at + PLACEMENT.p, p)
    return R, p


@function
def place_aligned(link, s, c, links, parent):
    """Rotation and position of a link whose joint axes, at angle 0, are the parent's reordered.

    Most joints are such: then no rotations are multiplied.
    """
    i, j, k = link.axis[0], link.axis[1], link.axis[2]
    x, y, z = column(links, parent, i), column(links, parent, j), column(links, parent, k)
    x_sign, y_sign = link.rotation[3 * i], link.rotation[3 * j + 1]
    p = get3(links, parent + PLACEMENT.p)
    if link.offset_count == 1:
        along = link.offset_axis
        p = add_scaled(p, link.position[along], column(links, parent, along))
    elif link.offset_count > 1:
        p = add_scaled(add_scaled(p, link.position[i], x), link.position[j], y)
        p = add_scaled(p, link.position[k], z)
    z = scale(link.rotation[3 * k + 2], z)
    x, y = (
        add_scaled(scale(c * x_sign, x), s * y_sign, y),
        add_scaled(scale(c * y_sign, y), -s * x_sign, x),
    )
    return (x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]), p


@function
def column(links, at, k):
    """An axis of a link."""
    return links[at + k], links[at + 3 + k], links[at + 6 + k]


@function
def put_subspace(link, R, p, dofs, at, size):
    """Store the motion subspace of a link's joint, a column every `size` from `at` on."""
    x, y, z = (R[0], R[3], R[6]), (R[1], R[4], R[7]), (R[2], R[5], R[8])
    if link.kind == REVOLUTE:
        put_rotation(dofs, at, z, p)
    elif link.kind == PRISMATIC:
        put_translation(dofs, at, z)
    elif link.kind == HELICAL:
        put3(dofs, at + SUBSPACE.angular, z)
        put3(dofs, at + SUBSPACE.linear, add_scaled(cross(p, z), link.pitch, z))
    elif link.kind == SPHERICAL:
        put_rotations(dofs, at, size, x, y, z, p)
    elif link.kind == PLANAR:
        put_translation(dofs, at, x)
        put_translation(dofs, at + size, y)
        put_rotation(dofs, at + 2 * size, z, p)
    else:  # TRANSLATION or FREE
        put_translation(dofs, at, x)
        put_translation(dofs, at + size, y)
        put_translation(dofs, at + 2 * size, z)
        if link.kind == FREE:
            put_rotations(dofs, at + 3 * size, size, x, y, z, p)


@function
def put_rotation(dofs, at, axis, p):
    """The column of a rotation about an axis through p."""
    put3(dofs, at + SUBSPACE.angular, axis)
    put3(dofs, at + SUBSPACE.linear, cross(p, axis))


@function
def put_translation(dofs, at, axis):
    """The column of a translation along an axis."""
    put3(dofs, at + SUBSPACE.angular, (0.0, 0.0, 0.0))
    put3(dofs, at + SUBSPACE.linear, axis)


@function
def put_rotations(dofs, at, size, x, y, z, p):
    """The columns of rotations about three axes through p."""
    put_rotation(dofs, at, x, p)
    put_rotation(dofs, at + size, y, p)
    put_rotation(dofs, at + 2 * size, z, p)


@function
def start_at_rest(links, acceleration):
    """The world does not move; its acceleration stands for gravity."""
    put3(links, MOVING.omega, (0.0, 0.0, 0.0))
    put3(links, MOVING.u, (0.0, 0.0, 0.0))
    put3(links, MOVING.alpha, (0.0, 0.0, 0.0))
    put3(links, MOVING.a, acceleration)


@function
def move_link(link, i, v, links, size, dofs, dof_size):
    """Velocity of link i, and its acceleration with zero joint acceleration: a_p + v_p x v_joint"""
    at, parent = i * size, link.parent * size
    omega_p, u_p = get3(links, parent + MOVING.omega), get3(links, parent + MOVING.u)
    dof = link.v * dof_size
    w = scale(v[link.v], get3(dofs, dof + SUBSPACE.angular))
    u = scale(v[link.v], get3(dofs, dof + SUBSPACE.linear))
    for k in range(link.v + 1, link.v + link.nv):
        dof = k * dof_size
        w = add_scaled(w, v[k], get3(dofs, dof + SUBSPACE.angular))
        u = add_scaled(u, v[k], get3(dofs, dof + SUBSPACE.linear))
    a = add_cross(get3(links, parent + MOVING.a), omega_p, u)
    put3(links, at + MOVING.omega, add(omega_p, w))
    put3(links, at + MOVING.u, add(u_p, u))
    put3(links, at + MOVING.alpha, add_cross(get3(links, parent + MOVING.alpha), omega_p, w))
    put3(links, at + MOVING.a, add_cross(a, u_p, w))


@function
def floats(model, link):
    """Whether a link is a free body in the world: what it carries feels no change of its pose."""
    is_bare = True
    for k in range(link.v, link.v + link.nv):
        is_bare = is_bare and model.armature[k] == 0.0
    return link.parent == 0 and link.kind == FREE and is_bare

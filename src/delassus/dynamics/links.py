"""Steps that sweeps over links share, in world axes.

All vectors of a link are written in the world's axes, and all moments taken about one point: the
origin of the root link of its tree. So nothing is ever rotated on its way to the parent, which
halves the arithmetic, and a robot far from the world's origin loses no digits.

Each sweep keeps a record a link that starts with the slots of PLACEMENT, and a record a degree of
freedom that starts with those of SUBSPACE.
"""

from __future__ import annotations

from ..compile import absolute, any_true, far, function, near_sincos, presume, sincos, slots
from ..model.packed import FREE, HELICAL, PLANAR, PRISMATIC, REVOLUTE, SPHERICAL
from ..spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    compose,
    cross,
    dot,
    get3,
    get9,
    put3,
    put9,
    rotate,
    rotate_factored,
    scale,
    symmetric_times,
)
from .joints import turned_placement

PLACEMENT = slots(R=9, p=3)
SUBSPACE = slots(angular=3, linear=3)
# After the placement, where links move: velocity (omega, u) and acceleration (alpha, a) of the
# point of the link that is at the tree's origin.
MOVING = slots(before=PLACEMENT.size, omega=3, u=3, alpha=3, a=3)
# Sweeps that follow each other take so many links at a time: their records stay in the innermost
# cache from one sweep to the next.
AT_ONCE = 16


@function
def place_links(model, q, work, size, dofs, dof_size):
    """Placements of all links, and motion subspaces of their joints from `dofs` on."""
    put_sines(model, q, work, dofs, dof_size)
    place_range(model, 1, len(model.links), q, work, size, dofs, dof_size)


@function
def place_range(model, first, end, q, work, size, dofs, dof_size):
    """The same of links from the first to the one before the end, once sines are there."""
    for i in range(first, end):
        link = model.links[i]
        at = dofs + link.v * dof_size
        R, p = place_link(link, i, q, work[at], work[at + 1], work, size)
        put_subspace(link, R, p, work, at, dof_size)


@function
def put_sines(model, q, work, dofs, dof_size):
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
        put_sine(work, dofs + one.v * dof_size, x)
        put_sine(work, dofs + other.v * dof_size, y)
    if count % 2 == 1:
        last = model.angles[count - 1]
        length = length + absolute(q[last.q])
        put_sine(work, dofs + last.v * dof_size, near_sincos(q[last.q]))
    if any_true(presume(far(length), False)):
        for t in range(count):
            angle = model.angles[t]
            put_sine(work, dofs + angle.v * dof_size, sincos(q[angle.q]))


@function
def put_sine(work, at, both):
    """Store a sine and a cosine."""
    work[at] = both[0]
    work[at + 1] = both[1]


@function
def place_link(link, i, q, s, c, work, size):
    """Store and return rotation and position of link i, whose joint turns by a known angle."""
    at, parent = i * size, link.parent * size
    if link.kind == REVOLUTE and link.axis[0] >= 0 and link.parent > 0:
        R, p = place_aligned(link, s, c, work, parent)
    else:
        R, p = turned_placement(link, q, s, c)
        if link.parent == 0:
            p = (0.0, 0.0, 0.0)
        else:
            R_parent = get9(work, parent + PLACEMENT.R)
            p = add(get3(work, parent + PLACEMENT.p), rotate(R_parent, p))
            R = compose(R_parent, R)
    put9(work, at + PLACEMENT.R, R)
    put3(work, at + PLACEMENT.p, p)
    return R, p


@function
def place_aligned(link, s, c, work, parent):
    """The same of a joint whose axes, where it does not turn, are the parent's in another order.

    Most joints are such: then no rotations are multiplied.
    """
    i, j, k = link.axis[0], link.axis[1], link.axis[2]
    x, y, z = column(work, parent, i), column(work, parent, j), column(work, parent, k)
    x_sign, y_sign = link.rotation[3 * i], link.rotation[3 * j + 1]
    p = get3(work, parent + PLACEMENT.p)
    if link.offset_count == 1:
        along = link.offset_axis
        p = add_scaled(p, link.position[along], column(work, parent, along))
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
def column(work, at, k):
    """An axis of a link."""
    return work[at + k], work[at + 3 + k], work[at + 6 + k]


@function
def put_subspace(link, R, p, work, at, size):
    """Store the motion subspace of a link's joint, a column every `size` from `at` on."""
    x, y, z = (R[0], R[3], R[6]), (R[1], R[4], R[7]), (R[2], R[5], R[8])
    if link.kind == REVOLUTE:
        put_rotation(work, at, z, p)
    elif link.kind == PRISMATIC:
        put_translation(work, at, z)
    elif link.kind == HELICAL:
        put3(work, at + SUBSPACE.angular, z)
        put3(work, at + SUBSPACE.linear, add_scaled(cross(p, z), link.pitch, z))
    elif link.kind == SPHERICAL:
        put_rotations(work, at, size, x, y, z, p)
    elif link.kind == PLANAR:
        put_translation(work, at, x)
        put_translation(work, at + size, y)
        put_rotation(work, at + 2 * size, z, p)
    else:  # TRANSLATION or FREE
        put_translation(work, at, x)
        put_translation(work, at + size, y)
        put_translation(work, at + 2 * size, z)
        if link.kind == FREE:
            put_rotations(work, at + 3 * size, size, x, y, z, p)


@function
def put_rotation(work, at, axis, p):
    """The column of a rotation about an axis through p."""
    put3(work, at + SUBSPACE.angular, axis)
    put3(work, at + SUBSPACE.linear, cross(p, axis))


@function
def put_translation(work, at, axis):
    """The column of a translation along an axis."""
    put3(work, at + SUBSPACE.angular, (0.0, 0.0, 0.0))
    put3(work, at + SUBSPACE.linear, axis)


@function
def put_rotations(work, at, size, x, y, z, p):
    """The columns of rotations about three axes through p."""
    put_rotation(work, at, x, p)
    put_rotation(work, at + size, y, p)
    put_rotation(work, at + 2 * size, z, p)


@function
def central_inertia(solid, R):
    """Rotational inertia about the centre of mass, in world axes."""
    return rotate_factored(R, solid.central_factor)


@function
def moved_inertia(inertia, m, x):
    """Rotational inertia about the origin of a body with mass m and centre x."""
    h = scale(m, x)
    hx = dot(h, x)
    return (
        inertia[0] + (hx - h[0] * x[0]),
        inertia[1] - h[0] * x[1],
        inertia[2] - h[0] * x[2],
        inertia[3] + (hx - h[1] * x[1]),
        inertia[4] - h[1] * x[2],
        inertia[5] + (hx - h[2] * x[2]),
    )


@function
def composite_times(inertia, h, m, angular, linear):
    """Moment and force of a rigid body with inertia about the origin and first moment h."""
    return (
        add_cross(symmetric_times(inertia, angular), h, linear),
        add_cross(scale(m, linear), angular, h),
    )


@function
def rigid_inertia(link, solid, R, p):
    """A link's inertia about the tree's origin, and mass times centre of mass."""
    x = add(p, rotate(R, get3(solid.center, 0)))
    return moved_inertia(central_inertia(solid, R), link.mass, x), scale(link.mass, x)


@function
def start_at_rest(work, acceleration):
    """The world does not move; its acceleration stands for gravity."""
    put3(work, MOVING.omega, (0.0, 0.0, 0.0))
    put3(work, MOVING.u, (0.0, 0.0, 0.0))
    put3(work, MOVING.alpha, (0.0, 0.0, 0.0))
    put3(work, MOVING.a, acceleration)


@function
def move_link(link, i, v, work, size, dofs, dof_size):
    """Velocity of link i, and its acceleration with zero joint acceleration: a_p + v_p x v_joint"""
    at, parent = i * size, link.parent * size
    omega_p, u_p = get3(work, parent + MOVING.omega), get3(work, parent + MOVING.u)
    dof = dofs + link.v * dof_size
    w = scale(v[link.v], get3(work, dof + SUBSPACE.angular))
    u = scale(v[link.v], get3(work, dof + SUBSPACE.linear))
    for k in range(link.v + 1, link.v + link.nv):
        dof = dofs + k * dof_size
        w = add_scaled(w, v[k], get3(work, dof + SUBSPACE.angular))
        u = add_scaled(u, v[k], get3(work, dof + SUBSPACE.linear))
    a = add_cross(get3(work, parent + MOVING.a), omega_p, u)
    put3(work, at + MOVING.omega, add(omega_p, w))
    put3(work, at + MOVING.u, add(u_p, u))
    put3(work, at + MOVING.alpha, add_cross(get3(work, parent + MOVING.alpha), omega_p, w))
    put3(work, at + MOVING.a, add_cross(a, u_p, w))


@function
def external_wrench(link, solid, R, p, external_forces):
    """Moment about the tree's origin and force of what acts on a body, given in its own axes."""
    E = get9(solid.orientation, 0)
    p = body_position(solid, R, p)
    f = rotate(R, rotate(E, get3(external_forces, 6 * link.body)))
    n = rotate(R, rotate(E, get3(external_forces, 6 * link.body + 3)))
    return add_cross(n, p, f), f


@function
def body_position(solid, R, p):
    """Where a body has its own origin, given that of its link."""
    return add_scaled(p, solid.height, (R[2], R[5], R[8]))


@function
def floats(model, link):
    """Whether a link is a free body in the world: what it carries feels no change of its pose."""
    is_bare = True
    for k in range(link.v, link.v + link.nv):
        is_bare = is_bare and model.armature[k] == 0.0
    return link.parent == 0 and link.kind == FREE and is_bare

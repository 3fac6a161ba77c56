"""Rigid bodies: inertias, and the forces that motions take."""

from __future__ import annotations

from ...compile import function
from ...spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    cross,
    dot,
    get3,
    get9,
    rotate,
    rotate_factored,
    scale,
    symmetric_times,
)


@function
def newton_euler(inertia, h, m, omega, alpha, a):
    """Moment about a link's origin and force that give it its motion.

    The link turns by omega, and alpha is its angular acceleration; its origin has acceleration a.
    `inertia` is about the origin, h is mass times centre of mass from there, m the mass.
    """
    f = add_cross(add_cross(scale(m, a), alpha, h), omega, cross(omega, h))
    n = add_cross(symmetric_times(inertia, alpha), omega, symmetric_times(inertia, omega))
    return add_cross(n, h, a), f


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

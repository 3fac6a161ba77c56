"""Points and frames fixed to links: where they are, and how they move.

`links` holds a record of `size` numbers a link. The record starts with the slots of PLACEMENT, for
motions with those of MOVING (see `links`). Positions count from the origin that the placements
count from: of a link, from the origin of its tree; of a frame fixed to the world, from the world's.
"""

from __future__ import annotations

from ...compile import function
from ...spatial.vectors import add, add_cross, compose, get3, get9, put3, put9, rotate
from .joints import joint_placement
from .links import MOVING, PLACEMENT


@function
def place_world(links):
    """The world's own placement, for frames that are fixed to it."""
    put9(links, PLACEMENT.R, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    put3(links, PLACEMENT.p, (0.0, 0.0, 0.0))


@function
def frame_offset(frame, links, size):
    """R r: from the origin of a frame's link to the frame, r in the link's axes."""
    r = get3(frame.position, 0)
    if frame.link > 0:
        r = rotate(get9(links, frame.link * size + PLACEMENT.R), r)
    return r


@function
def point_position(frame, r, links, size):
    """p + r: position of a point that is at r from the origin of a frame's link."""
    if frame.link > 0:
        r = add(get3(links, frame.link * size + PLACEMENT.p), r)
    return r


@function
def frame_position(frame, links, size):
    """p + R r: position of a frame."""
    return point_position(frame, frame_offset(frame, links, size), links, size)


@function
def frame_rotation(frame, links, size):
    """R R_frame: rotation of a frame; the record of the world must hold a rotation too."""
    return compose(get9(links, frame.link * size + PLACEMENT.R), get9(frame.rotation, 0))


@function
def frame_pose(frame, links, size):
    """Rotation and position of a frame."""
    return frame_rotation(frame, links, size), frame_position(frame, links, size)


@function
def tree_origin(model, root, q):
    """The origin of the tree of link `root` in the world; the world's own for link 0."""
    p = (0.0, 0.0, 0.0)
    if root > 0:
        _, p = joint_placement(model.links[root], q)
    return p


@function
def velocity_at(links, at, p):
    """omega and u + omega x p: velocity of a link at a point p; its record starts at `at`.

    p counts from the point whose velocity u the record holds.
    """
    omega, u = get3(links, at + MOVING.omega), get3(links, at + MOVING.u)
    if at > 0:  # the world does not turn
        u = add_cross(u, omega, p)
    return omega, u


@function
def acceleration_at(links, at, p):
    """alpha and a + alpha x p: spatial acceleration of a link at a point p."""
    alpha, a = get3(links, at + MOVING.alpha), get3(links, at + MOVING.a)
    if at > 0:  # the world accelerates alike everywhere
        a = add_cross(a, alpha, p)
    return alpha, a


@function
def motion_at(links, at, p):
    """Velocity and spatial acceleration of a link at a point p: (omega, u, alpha, a)."""
    omega, u = velocity_at(links, at, p)
    alpha, a = acceleration_at(links, at, p)
    return omega, u, alpha, a


@function
def point_motion(links, at, p):
    """u and a + omega x u: velocity and acceleration of the point of a link that is at p."""
    omega, u, _, a = motion_at(links, at, p)
    return u, add_cross(a, omega, u)

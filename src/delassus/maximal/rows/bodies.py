"""Bodies at a state: axes, inertia and motion of each, in world axes.

| paper      | here       | what it is                                             |
| ---------- | ---------- | ------------------------------------------------------ |
| r_i        | BODY.r     | position of the centre of mass                         |
| q_i, R_i   | BODY.R     | rotation of the body's axes, a quaternion in poses     |
| v_i, w_i   | BODY.v, omega | velocity of the centre of mass, angular velocity    |
| I_i, (58)  | BODY.I     | rotational inertia about the centre of mass            |
| I_i^-1     | BODY.W     | its inverse; zero for a body without inertia           |
"""

from __future__ import annotations

from ...compile import function, slots
from ...spatial.quaternions import rotation
from ...spatial.vectors import (
    add,
    add_cross,
    compose,
    cross,
    dot,
    get3,
    get6,
    get9,
    put3,
    put6,
    put9,
    rotate,
    scale,
    symmetric_times,
)

BODY = slots(R=9, r=3, v=3, omega=3, I=6, W=6)
POSE = slots(r=3, quaternion=4)
TWIST = slots(v=3, omega=3)


@function
def put_body(system, i, R, r, bodies):
    """Store where body i is, and its inertia in world axes."""
    at, body = i * BODY.size, system.bodies[i]
    put9(bodies, at + BODY.R, R)
    put3(bodies, at + BODY.r, r)
    put6(bodies, at + BODY.I, rotated(R, get6(body.inertia, 0)))
    put6(bodies, at + BODY.W, rotated(R, get6(body.inverse_inertia, 0)))


@function
def put_motion(i, v, omega, bodies):
    """Store the motion of body i."""
    put3(bodies, i * BODY.size + BODY.v, v)
    put3(bodies, i * BODY.size + BODY.omega, omega)


@function
def place_world(system, bodies):
    """Store that body 0, the world, is at rest."""
    none = (0.0, 0.0, 0.0)
    put_body(system, 0, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), none, bodies)
    put_motion(0, none, none, bodies)


@function
def place_bodies(system, poses, twists, bodies):
    """Place all bodies by their poses, and store their twists."""
    place_world(system, bodies)
    for i in range(1, len(system.bodies)):
        pose, twist = (i - 1) * POSE.size, (i - 1) * TWIST.size
        x = pose + POSE.quaternion
        R = rotation(poses[x], poses[x + 1], poses[x + 2], poses[x + 3])
        put_body(system, i, R, get3(poses, pose), bodies)
        put_motion(i, get3(twists, twist), get3(twists, twist + TWIST.omega), bodies)


@function
def rotated(R, A):
    """R A R^T for a symmetric A"""
    B = compose(R, (A[0], A[1], A[2], A[1], A[3], A[4], A[2], A[4], A[5]))
    x, y, z = (B[0], B[1], B[2]), (B[3], B[4], B[5]), (B[6], B[7], B[8])
    first, second, third = (R[0], R[1], R[2]), (R[3], R[4], R[5]), (R[6], R[7], R[8])
    return (
        dot(x, first),
        dot(x, second),
        dot(x, third),
        dot(y, second),
        dot(y, third),
        dot(z, third),
    )


@function
def point_velocity(bodies, i, arm):
    """v + omega x arm: velocity of the point of body i that is at an arm from its centre."""
    at = i * BODY.size
    return add_cross(get3(bodies, at + BODY.v), get3(bodies, at + BODY.omega), arm)


@function
def center(bodies, i):
    """Position of the centre of mass of body i."""
    return get3(bodies, i * BODY.size + BODY.r)


@function
def frame_rotation(bodies, i, inner):
    """Rotation of a frame that is fixed to body i with rotation `inner`."""
    return compose(get9(bodies, i * BODY.size + BODY.R), inner)


@function
def frame_position(bodies, i, inner):
    """Position of a frame that is fixed to body i at `inner` from its centre."""
    at = i * BODY.size
    return add(get3(bodies, at + BODY.r), rotate(get9(bodies, at + BODY.R), inner))


@function
def side_mobility(system, bodies, i, blocks, at):
    """J M_i^-1 J^T of a row of a block of body i: the velocity of the row for a unit impulse."""
    f, n = get3(blocks, at), get3(blocks, at + 3)
    turned = symmetric_times(get6(bodies, i * BODY.size + BODY.W), n)
    return system.bodies[i].inverse_mass * dot(f, f) + dot(n, turned)


@function
def side_velocity(bodies, i, blocks, at):
    """J u_i of a row of a block of body i"""
    body = i * BODY.size
    linear = dot(get3(blocks, at), get3(bodies, body + BODY.v))
    return linear + dot(get3(blocks, at + 3), get3(bodies, body + BODY.omega))


@function
def put_side(blocks, at, sign, f, n, arm):
    """sign (f, n + arm x f): a force f at an arm from the centre of a body, and a moment n."""
    put3(blocks, at, scale(sign, f))
    put3(blocks, at + 3, scale(sign, add_cross(n, arm, f)))


@function
def gyroscopic(bodies, i):
    """omega x I omega of body i"""
    at = i * BODY.size
    omega = get3(bodies, at + BODY.omega)
    return cross(omega, symmetric_times(get6(bodies, at + BODY.I), omega))

"""Joints at a state: their rows, errors, coordinates and velocities.

Tsounis et al., On Solving the Dynamics of Constrained Rigid Multi-Body Systems with Kinematic
Loops, Sec. IV-B and Eqs. (21) to (26), (63), (64).

| paper         | here             | what it is                                                    |
| ------------- | ---------------- | ------------------------------------------------------------- |
| R_j X_j       | R_base           | axes of the frame on the base                                 |
| r_j           | p                | origin of the frame on the follower, where all rows act       |
| r_j - r_i     | arm_base, arm    | from the centres of mass of base and follower to that point   |
| R_j X_j S_c   | JOINT.rows       | force and moment of each constrained row at the joint         |
| R_j X_j S_a   | JOINT.rows, last | force and moment of each degree of freedom                    |
| f_j           | JOINT.error      | by how much each constrained row is violated                  |

A row's velocity is f . (v_F - v_B) + n . (w_F - w_B), with force f and moment n, and velocities v
of the points of both bodies at the joint: + for the follower, - for the base.

Rotation errors are smooth and of length 2 sin(angle / 2): twice the vector part of the relative
quaternion where no rotation is free; along z_B x z_F, the tilt, where that about z is. Their rates
are the angular rows where the error is zero.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...compile import atan2, function, maximum, select, sincos, slots, sqrt
from ...spatial.quaternions import from_rotation, rotation
from ...spatial.quaternions import multiply as quaternion_product
from ...spatial.vectors import (
    add,
    add_scaled,
    compose,
    cross,
    dot,
    get3,
    get4,
    get9,
    put3,
    put4,
    rotate,
    rotate_back,
    scale,
    subtract,
)
from ..structure.joints import DISTANCE, GIMBAL, UNIVERSAL
from .bodies import BODY, center, frame_position, frame_rotation, point_velocity

JOINT = slots(arm_base=3, arm=3, rows=36, error=6)
LOCKED = 1e-24  # of the squared cosine of a gimbal's second angle, where two axes are parallel
ROW_SIZE = 6  # numbers of a row in JOINT.rows: force, then moment


class Seen(NamedTuple):
    """The frame on the follower, as seen from that on the base."""

    position: Any  # R_base^T (p - p_base)
    rotation: Any  # R_base^T R


@function
def column(R, i):
    """Column i of a matrix."""
    if i == 0:
        return (R[0], R[3], R[6])
    if i == 1:
        return (R[1], R[4], R[7])
    return (R[2], R[5], R[8])


@function
def base_frame(joint, bodies):
    """Rotation and position of the frame on the base."""
    R = frame_rotation(bodies, joint.base_body, get9(joint.base_rotation, 0))
    return R, frame_position(bodies, joint.base_body, get3(joint.base_position, 0))


@function
def follower_frame(joint, bodies):
    """Rotation and position of the frame on the follower."""
    R = frame_rotation(bodies, joint.follower, get9(joint.rotation, 0))
    return R, frame_position(bodies, joint.follower, get3(joint.position, 0))


@function
def place_joint(system, j, near, bodies, joints):
    """Rows and errors of joint j, and where its frames are, which is returned.

    `near` are coordinates that tell how often joints have turned.
    """
    joint, at = system.joints[j], j * JOINT.size
    R_base, p_base = base_frame(joint, bodies)
    R, p = follower_frame(joint, bodies)
    put3(joints, at + JOINT.arm_base, subtract(p, center(bodies, joint.base_body)))
    put3(joints, at + JOINT.arm, subtract(p, center(bodies, joint.follower)))
    apart = subtract(p, p_base)
    put_constrained_rows(joint, R_base, R, apart, joints, at)
    put_free_rows(joint, R_base, R, near, joints, at)
    seen = Seen(rotate_back(R_base, apart), compose(transposed(R_base), R))
    put_error(joint, seen, near, joints, at)
    return seen


# --- rows -----------------------------------------------------------------------------------------


@function
def put_row(joints, at, k, f, n):
    """Store force and moment of row k of the joint whose record is at `at`."""
    put3(joints, at + JOINT.rows + ROW_SIZE * k, f)
    put3(joints, at + JOINT.rows + ROW_SIZE * k + 3, n)


@function
def put_constrained_rows(joint, R_base, R, apart, joints, at):
    """R_j X_j S_c: unit forces and moments along the axes of the base; then special rows."""
    none, k = (0.0, 0.0, 0.0), 0
    for i in range(3):
        if joint.linear[i] > 0:
            x = column(R_base, i)
            # A screw advances by its pitch; all other joints have the pitch zero.
            put_row(joints, at, k, x, scale(-joint.pitch, x) if i == 2 else none)
            k += 1
    for i in range(3):
        if joint.angular[i] > 0:
            put_row(joints, at, k, none, column(R_base, i))
            k += 1
    if joint.kind == UNIVERSAL:
        first, second = rotate(R_base, get3(joint.first, 0)), rotate(R, get3(joint.second, 0))
        put_row(joints, at, k, none, scale(1.0 / joint.sine, cross(first, second)))
    elif joint.kind == DISTANCE:
        put_row(joints, at, k, scale(1.0 / sqrt(dot(apart, apart)), apart), none)


@function
def put_free_rows(joint, R_base, R, near, joints, at):
    """R_j X_j S_a: row k has the velocity v_k of the joint."""
    if joint.nv == 0:
        return
    none, k = (0.0, 0.0, 0.0), joint.rows
    axes = R if joint.moves_in_own_axes > 0 else R_base
    for i in range(3):
        if joint.free_linear[i] > 0:
            put_row(joints, at, k, column(axes, i), none)
            k += 1
    for i in range(3):
        if joint.free_angular[i] > 0:
            put_row(joints, at, k, none, column(axes, i))
            k += 1
    if joint.kind == UNIVERSAL:
        # The two vectors whose products with the axes are one and zero.
        first, second = rotate(R_base, get3(joint.first, 0)), rotate(R, get3(joint.second, 0))
        weight = 1.0 / (joint.sine * joint.sine)
        put_row(joints, at, k, none, scale(weight, add_scaled(first, -joint.cosine, second)))
        put_row(joints, at, k + 1, none, scale(weight, add_scaled(second, -joint.cosine, first)))
    elif joint.kind == GIMBAL:
        first, second, third = gimbal_axes(R_base, R, gimbal_side(near[joint.q + 1]))
        sine = dot(first, third)
        weight = 1.0 / maximum(1.0 - sine * sine, LOCKED)
        put_row(joints, at, k, none, scale(weight, add_scaled(first, -sine, third)))
        put_row(joints, at, k + 1, none, second)
        put_row(joints, at, k + 2, none, scale(weight, add_scaled(third, -sine, first)))


@function
def gimbal_side(angle):
    """The sign of the cosine of a gimbal's second angle, 1 where that is not known."""
    _, c = sincos(angle)
    return select(c < 0.0, -1.0, 1.0)


@function
def gimbal_axes(R_base, R, side):
    """x of the base, y of the ring between, which is at right angles to both others, z of R."""
    first, third = column(R_base, 0), column(R, 2)
    across = cross(third, first)
    length = sqrt(maximum(dot(across, across), LOCKED))
    return first, scale(side / length, across), third


@function
def row_velocity(joint, k, bodies, joints, at):
    """f . (v_F - v_B) + n . (w_F - w_B) of row k of the joint whose record is at `at`"""
    f = get3(joints, at + JOINT.rows + ROW_SIZE * k)
    n = get3(joints, at + JOINT.rows + ROW_SIZE * k + 3)
    moved = subtract(
        point_velocity(bodies, joint.follower, get3(joints, at + JOINT.arm)),
        point_velocity(bodies, joint.base_body, get3(joints, at + JOINT.arm_base)),
    )
    turned = subtract(
        get3(bodies, joint.follower * BODY.size + BODY.omega),
        get3(bodies, joint.base_body * BODY.size + BODY.omega),
    )
    return dot(f, moved) + dot(n, turned)


# --- errors ---------------------------------------------------------------------------------------


@function
def put_error(joint, seen, near, joints, at):
    """f_j, in the order of the constrained rows"""
    local, error, k = seen.position, at + JOINT.error, 0
    for i in range(3):
        if joint.linear[i] > 0:
            joints[error + k] = local[i]
            if i == 2 and joint.pitch != 0.0:
                joints[error + k] -= joint.pitch * turned_angle(joint, seen, near)
            k += 1
    turned = rotation_error(joint, seen.rotation)
    for i in range(3):
        if joint.angular[i] > 0:
            joints[error + k] = turned[i]
            k += 1
    if joint.kind == UNIVERSAL:
        first, second = get3(joint.first, 0), rotate(seen.rotation, get3(joint.second, 0))
        joints[error + k] = (joint.cosine - dot(first, second)) / joint.sine
    elif joint.kind == DISTANCE:
        joints[error + k] = sqrt(dot(local, local)) - joint.length


@function
def transposed(R):
    """R^T"""
    return (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8])


@function
def rotation_error(joint, relative):
    """The rotation that is not free, in the axes of the base."""
    if joint.free_angular[2] > 0:
        tilt = sqrt(2.0 / maximum(1.0 + relative[8], 1e-12))
        return (-tilt * relative[5], tilt * relative[2], 0.0 * tilt)
    x = from_rotation(relative)
    return scale(select(x[3] < 0.0, -2.0, 2.0), (x[0], x[1], x[2]))


# --- coordinates ----------------------------------------------------------------------------------


@function
def wound(angle, near):
    """angle + 2 pi k, as near as possible to an angle; as it is if that is NaN."""
    s, c = sincos(angle - near)
    return select(near == near, near + atan2(s, c), angle)


@function
def turned_angle(joint, seen, near):
    """The angle about z of a joint that turns about it, with all turns.

    Without a known angle nearby, the turns of a screw are counted by its advance.
    """
    relative = seen.rotation
    sine, cosine = relative[3] - relative[1], relative[0] + relative[4]
    if joint.nq > 0:  # a joint of the tree, whose last coordinate is the angle
        known = near[joint.q + joint.nq - 1]
        if known == known:
            s, c = sincos(known)
            return known + atan2(sine * c - cosine * s, cosine * c + sine * s)
    angle = atan2(sine, cosine)
    return angle if joint.pitch == 0.0 else wound(angle, seen.position[2] / joint.pitch)


@function
def angle_about(axis, x, y):
    """The angle of the rotation about an axis that turns x towards y."""
    across = dot(axis, cross(x, y))
    return atan2(across, dot(x, y) - dot(axis, x) * dot(axis, y))


@function
def put_coordinates(joint, seen, near, q):
    """The coordinates of a joint of the tree, nearest to `near` where they are not unique."""
    relative, at, count = seen.rotation, joint.q, 0
    for i in range(3):
        if joint.free_linear[i] > 0:
            q[at] = seen.position[i]
            at += 1
    for i in range(3):
        count += joint.free_angular[i]
    if count == 1:
        q[at] = turned_angle(joint, seen, near)
    elif count == 3:
        x, y = from_rotation(relative), get4(near, at)
        along = x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3]
        sign = select(select(along == along, along, x[3]) < 0.0, -1.0, 1.0)
        put4(q, at, (sign * x[0], sign * x[1], sign * x[2], sign * x[3]))
    elif joint.kind == UNIVERSAL:
        first, second = get3(joint.first, 0), get3(joint.second, 0)
        q[at] = wound(angle_about(first, second, rotate(relative, second)), near[at])
        seen = rotate_back(relative, first)
        q[at + 1] = wound(angle_about(second, seen, first), near[at + 1])
    elif joint.kind == GIMBAL:
        # Two sets of angles give one rotation; that whose second angle is on the known side counts.
        side = gimbal_side(near[at + 1])
        length = sqrt(relative[0] * relative[0] + relative[1] * relative[1])
        q[at] = wound(atan2(-side * relative[5], side * relative[8]), near[at])
        q[at + 1] = wound(atan2(relative[2], side * length), near[at + 1])
        s, c = sincos(q[at])  # the third by what the first leaves: right at the lock, too
        sine, cosine = c * relative[3] + s * relative[6], c * relative[4] + s * relative[7]
        q[at + 2] = wound(atan2(sine, cosine), near[at + 2])


@function
def put_velocities(joint, bodies, joints, at, v):
    """v = J_a u of a joint of the tree"""
    for k in range(joint.nv):
        v[joint.v + k] = row_velocity(joint, joint.rows + k, bodies, joints, at)


# --- motions from coordinates ---------------------------------------------------------------------


@function
def turn_about(axis, angle):
    """The quaternion of a rotation about an axis."""
    s, c = sincos(0.5 * angle)
    return (s * axis[0], s * axis[1], s * axis[2], c)


@function
def displacement(joint, q):
    """Rotation and position of the follower's frame in the base's, at the joint's coordinates."""
    at, count, p, x = joint.q, 0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0)
    z = (0.0, 0.0, 1.0)
    if joint.free_linear[0] > 0:
        p, at = (q[at], q[at + 1], 0.0), at + 2
    if joint.free_linear[2] > 0:
        p, at = (p[0], p[1], q[at]), at + 1
    for i in range(3):
        count += joint.free_angular[i]
    if count == 1:
        p = (p[0], p[1], p[2] + joint.pitch * q[at])
        x = turn_about(z, q[at])
    elif count == 3:
        x = get4(q, at)
    elif joint.kind == UNIVERSAL:
        first = turn_about(get3(joint.first, 0), q[at])
        x = quaternion_product(first, turn_about(get3(joint.second, 0), q[at + 1]))
    elif joint.kind == GIMBAL:
        x = turn_about((1.0, 0.0, 0.0), q[at])
        x = quaternion_product(x, turn_about((0.0, 1.0, 0.0), q[at + 1]))
        x = quaternion_product(x, turn_about(z, q[at + 2]))
    return rotation(x[0], x[1], x[2], x[3]), p


@function
def motion_across(joint, R_base, R, q, v):
    """Linear and angular velocity of the follower in the base, at the follower's origin."""
    k, linear, angular = joint.v, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    axes = R if joint.moves_in_own_axes > 0 else R_base
    for i in range(3):
        if joint.free_linear[i] > 0:
            linear = add_scaled(linear, v[k], column(axes, i))
            k += 1
    for i in range(3):
        if joint.free_angular[i] > 0:
            angular = add_scaled(angular, v[k], column(axes, i))
            if i == 2:
                linear = add_scaled(linear, joint.pitch * v[k], column(axes, 2))
            k += 1
    if joint.kind == UNIVERSAL:
        first, second = rotate(R_base, get3(joint.first, 0)), rotate(R, get3(joint.second, 0))
        angular = add(scale(v[k], first), scale(v[k + 1], second))
    elif joint.kind == GIMBAL:
        first, second, third = gimbal_axes(R_base, R, gimbal_side(q[joint.q + 1]))
        angular = add(scale(v[k], first), add(scale(v[k + 1], second), scale(v[k + 2], third)))
    return linear, angular

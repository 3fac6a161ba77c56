"""dJ_a/dt u and dJ/dt u: how fast velocities of rows change while the twists of bodies do not.

The velocity of a row is f . (v_F - v_B) + n . (w_F - w_B), at the origin p of the follower's frame.
Forces f and moments n turn with the base, or with the follower, and p moves with the follower:

    f' . (v_F - v_B) + f . (w_F x (w_F x r_F) - w_B x (p' - v_B)) + n' . (w_F - w_B)

| symbol     | here             | what it is                                                     |
| ---------- | ---------------- | -------------------------------------------------------------- |
| r_F        | arm              | from the follower's centre of mass to p                        |
| p'         | moving           | velocity of p                                                  |
| v_F - v_B  | passed           | velocity of the follower at p, less that of the base there     |
| w_B, w_F   | omega_base, omega | angular velocities                                            |
| f', n'     | f_rate, n_rate   | rates of force and moment of a row                             |

In w_B x (p' - v_B), v_B is the velocity of the base's centre. Inertia of motors needs drifts of
degrees of freedom: they resist the change of a joint's velocity, not that of twists. Accelerations
that keep joints closed need those of constrained rows: J a + dJ/dt u = 0.
"""

from __future__ import annotations

from ...compile import function, maximum, sqrt
from ...spatial.vectors import add, add_scaled, cross, dot, get3, rotate, scale, subtract
from ..structure.joints import DISTANCE, GIMBAL, UNIVERSAL
from .bodies import BODY, point_velocity
from .joints import JOINT, LOCKED, ROW_SIZE, base_frame, column, follower_frame


@function
def free_drift(system, j, k, bodies, joints):
    """dJ_a/dt u of degree of freedom k of joint j."""
    joint, row = system.joints[j], row_start(j, system.joints[j].rows + k)
    f, n = get3(joints, row), get3(joints, row + 3)
    omega_base, omega = angular_velocities(joint, bodies)
    turning = omega if joint.moves_in_own_axes > 0 else omega_base
    n_rate = cross(turning, n)
    if joint.kind == UNIVERSAL:
        n_rate = universal_rate(joint, k, bodies, omega_base, omega)
    elif joint.kind == GIMBAL:
        n_rate = gimbal_rate(joint, k, n, bodies, omega_base, omega)
    return row_drift(system, j, f, (cross(turning, f), n_rate), bodies, joints)


@function
def held_drift(system, j, k, bodies, joints):
    """dJ/dt u of constrained row k of joint j. All but special rows turn with the base."""
    joint, row = system.joints[j], row_start(j, k)
    f, n = get3(joints, row), get3(joints, row + 3)
    omega_base, omega = angular_velocities(joint, bodies)
    f_rate, n_rate = cross(omega_base, f), cross(omega_base, n)
    if joint.kind == UNIVERSAL and k == joint.rows - 1:
        n_rate = across_rate(joint, bodies, omega_base, omega)
    elif joint.kind == DISTANCE:
        f_rate = distance_rate(system, j, f, bodies, joints)
    return row_drift(system, j, f, (f_rate, n_rate), bodies, joints)


@function
def row_start(j, k):
    """Where force and moment of row k of joint j stand."""
    return j * JOINT.size + JOINT.rows + ROW_SIZE * k


@function
def angular_velocities(joint, bodies):
    """w_B and w_F"""
    base, follower = joint.base_body * BODY.size, joint.follower * BODY.size
    return get3(bodies, base + BODY.omega), get3(bodies, follower + BODY.omega)


@function
def row_drift(system, j, f, rates, bodies, joints):
    """f' . (v_F - v_B) + f . (...) + n' . (w_F - w_B): see above; `rates` are f' and n'."""
    joint, at = system.joints[j], j * JOINT.size
    arm, arm_base = get3(joints, at + JOINT.arm), get3(joints, at + JOINT.arm_base)
    omega_base, omega = angular_velocities(joint, bodies)
    moving = point_velocity(bodies, joint.follower, arm)
    passed = subtract(moving, point_velocity(bodies, joint.base_body, arm_base))
    rate = subtract(
        cross(omega, cross(omega, arm)),
        cross(omega_base, subtract(moving, get3(bodies, joint.base_body * BODY.size + BODY.v))),
    )
    drift = dot(rates[0], passed) + dot(f, rate)
    return drift + dot(rates[1], subtract(omega, omega_base))


@function
def across_rate(joint, bodies, omega_base, omega):
    """Rate of the moment first x second / sine that a universal joint bears."""
    R_base, _ = base_frame(joint, bodies)
    R, _ = follower_frame(joint, bodies)
    first, second = rotate(R_base, get3(joint.first, 0)), rotate(R, get3(joint.second, 0))
    rate = add(cross(cross(omega_base, first), second), cross(first, cross(omega, second)))
    return scale(1.0 / joint.sine, rate)


@function
def distance_rate(system, j, f, bodies, joints):
    """Rate of the unit vector f between the two points of a distance."""
    joint, at = system.joints[j], j * JOINT.size
    _, p_base = base_frame(joint, bodies)
    _, p = follower_frame(joint, bodies)
    arm_base = subtract(p_base, get3(bodies, joint.base_body * BODY.size + BODY.r))
    apart = subtract(p, p_base)
    moved = subtract(
        point_velocity(bodies, joint.follower, get3(joints, at + JOINT.arm)),
        point_velocity(bodies, joint.base_body, arm_base),
    )
    return scale(1.0 / sqrt(dot(apart, apart)), add_scaled(moved, -dot(f, moved), f))


@function
def universal_rate(joint, k, bodies, omega_base, omega):
    """Rate of the moment of row k of a universal joint, which turns with both bodies."""
    R_base, _ = base_frame(joint, bodies)
    R, _ = follower_frame(joint, bodies)
    first = cross(omega_base, rotate(R_base, get3(joint.first, 0)))
    second = cross(omega, rotate(R, get3(joint.second, 0)))
    if k == 1:
        first, second = second, first
    return scale(1.0 / (joint.sine * joint.sine), add_scaled(first, -joint.cosine, second))


@function
def gimbal_rate(joint, k, n, bodies, omega_base, omega):
    """Rate of the moment n of row k of a gimbal.

    With axes a and c, s = a.c: n_0 (1 - s^2) = a - s c, n_2 likewise, n_1 along c x a.
    """
    R_base, _ = base_frame(joint, bodies)
    R, _ = follower_frame(joint, bodies)
    a, c = column(R_base, 0), column(R, 2)
    a_rate, c_rate = cross(omega_base, a), cross(omega, c)
    if k == 1:
        length = sqrt(maximum(1.0 - dot(a, c) * dot(a, c), LOCKED))
        side = dot(n, cross(c, a)) / length
        rate = scale(side / length, add(cross(c_rate, a), cross(c, a_rate)))
        return add_scaled(rate, -dot(n, rate), n)
    if k == 2:
        a, c, a_rate, c_rate = c, a, c_rate, a_rate
    s, s_rate = dot(a, c), dot(a_rate, c) + dot(a, c_rate)
    weight = 1.0 / maximum(1.0 - s * s, LOCKED)
    rate = add_scaled(add_scaled(a_rate, -s, c_rate), -s_rate, c)
    return scale(weight, add_scaled(rate, 2.0 * s * s_rate, n))

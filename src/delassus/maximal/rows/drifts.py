"""dJ_a/dt u: how fast velocities of joints change while the twists of bodies do not.

The velocity of a row is f . (v_F - v_B) + n . (w_F - w_B), at the origin p of the follower's frame.
Forces f and moments n turn with the base, or with the follower, and p moves with the follower:

    f' . (v_F - v_B) + f . (w_F x (w_F x r_F) - w_B x (p' - v_B)) + n' . (w_F - w_B)

| symbol     | here             | what it is                                                     |
| ---------- | ---------------- | -------------------------------------------------------------- |
| r_F        | arm              | from the follower's centre of mass to p                        |
| p'         | moving           | velocity of p                                                  |
| v_F - v_B  | passed           | velocity of the follower at p, less that of the base there     |
| w_B, w_F   | omega_base, omega | angular velocities                                            |
| f', n'     | n_rate           | rates of force and moment of a row                             |

In w_B x (p' - v_B), v_B is the velocity of the base's centre. Inertia of motors needs all this:
they resist the change of a joint's velocity, not that of twists.
"""

from __future__ import annotations

from ...compile import function, maximum, sqrt
from ...spatial.vectors import add, add_scaled, cross, dot, get3, rotate, scale, subtract
from ..structure.joints import GIMBAL, UNIVERSAL
from .bodies import BODY, point_velocity
from .joints import JOINT, LOCKED, ROW_SIZE, base_frame, column, follower_frame


@function
def free_drift(system, j, k, bodies, joints):
    """dJ_a/dt u of degree of freedom k of joint j."""
    joint, at = system.joints[j], j * JOINT.size
    row = at + JOINT.rows + ROW_SIZE * (joint.rows + k)
    f, n = get3(joints, row), get3(joints, row + 3)
    base, follower = joint.base_body * BODY.size, joint.follower * BODY.size
    arm, arm_base = get3(joints, at + JOINT.arm), get3(joints, at + JOINT.arm_base)
    omega_base, omega = get3(bodies, base + BODY.omega), get3(bodies, follower + BODY.omega)
    moving = point_velocity(bodies, joint.follower, arm)
    passed = subtract(moving, point_velocity(bodies, joint.base_body, arm_base))
    rate = subtract(
        cross(omega, cross(omega, arm)),
        cross(omega_base, subtract(moving, get3(bodies, base + BODY.v))),
    )
    turning = omega if joint.moves_in_own_axes > 0 else omega_base
    n_rate = cross(turning, n)
    if joint.kind == UNIVERSAL:
        n_rate = universal_rate(joint, k, bodies, omega_base, omega)
    elif joint.kind == GIMBAL:
        n_rate = gimbal_rate(joint, k, n, bodies, omega_base, omega)
    drift = dot(cross(turning, f), passed) + dot(f, rate)
    return drift + dot(n_rate, subtract(omega, omega_base))


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

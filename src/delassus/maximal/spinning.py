"""A rigid body that turns by itself: torque-free rotation that keeps momentum and energy.

    R' J omega' = R J omega,    omega' . J omega' = omega . J omega

R is the rotation of the body's axes, J the inertia and omega the angular velocity in these axes. A
step of time is that of the implicit midpoint rule with Cayley's transform (Austin, Krishnaprasad
and Wang 1993), which keeps both to rounding, however fast a body spins:

    J (omega' - omega) + tau m x J m = 0,    m = (omega + omega') / 2,    R' = R cay(tau m)

| symbol | here | what it is |
| --- | --- | --- |
| omega, omega' | omega, x | angular velocity before and after, in the body's axes |
| m | m | their mean |
| tau | time | the time h, stretched: see below |
| cay(a) | | the rotation by 2 atan(|a| / 2) about a, with the quaternion (a / 2, 1) |

Where omega is along a principal axis, cay(h m) turns by 2 atan(h |m| / 2) and not by h |m|. The
time tau = tan(h s / 2) / (s / 2) takes that away; for s we take the part of omega along the
momentum, 2 E / L, which is constant. All is symmetric in time, and of order 2.

Newton's method solves for omega'. Fast rotations are divided into parts of at most ANGLE. What is
beyond MOST_PARTS of them, and where no omega' is found (inertias that no body can have), is a turn
about the momentum with the rate s, omega constant in the body: this keeps both, too.
"""

from __future__ import annotations

from ..compile import function, minimum, sincos, sqrt
from ..spatial.quaternions import multiply, rotation, unit
from ..spatial.vectors import (
    add,
    add_scaled,
    cross,
    dot,
    get3,
    get4,
    get6,
    put3,
    put4,
    rotate,
    rotate_back,
    scale,
    subtract,
    symmetric_times,
)
from .rows.bodies import POSE, TWIST

ANGLE, MOST_PARTS = 0.5, 40
# Squares of angles. Where a step turns the momentum in the body by less than STEADY, omega is
# constant to rounding; where it turns the body by less than CALM, an explicit step adds less than
# this to energy. Bodies of robots that stand are calm, and Newton's method for all of them would
# take 5 % of a step. SLOW is for the square of a relative change of omega, below which the next
# step of Newton's method adds nothing.
STEADY, CALM, SLOW = 1e-30, 1e-13, 1e-16
MOST_STEPS = 20
_LITTLE = 1e-10  # of the trace of J: what is added to it in Newton's steps, for rods without width
_SMALL = 1e-12  # a rotation below which the quaternion of half the angle is exact to rounding


@function
def turn(quaternion, x):
    """A quaternion (x, y, z, w) turned by a rotation vector in world axes."""
    angle = sqrt(dot(x, x))
    if angle < _SMALL:
        return unit(multiply((0.5 * x[0], 0.5 * x[1], 0.5 * x[2], 1.0), quaternion))
    s, c = sincos(0.5 * angle)
    s = s / angle
    return unit(multiply((s * x[0], s * x[1], s * x[2], c), quaternion))


@function
def solve3(a, b, c, y):
    """The x of a x0 + b x1 + c x2 = y, with columns a, b, c."""
    bc = cross(b, c)
    s = 1.0 / dot(a, bc)
    return (s * dot(y, bc), s * dot(y, cross(c, a)), s * dot(y, cross(a, b)))


@function
def end_velocity(J, omega, time):
    """omega' of a step, and whether Newton's method has found it."""
    little = _LITTLE * (J[0] + J[3] + J[5])
    half, x, size = 0.5 * time, omega, dot(omega, omega)
    steps, change = 0, size
    while steps < MOST_STEPS and change > SLOW * size:
        m = scale(0.5, add(omega, x))
        Jm = symmetric_times(J, m)
        y = add_scaled(symmetric_times(J, subtract(omega, x)), -time, cross(m, Jm))
        # Columns of J + tau / 2 (m x J - (J m) x)
        a = add_scaled((J[0] + little, J[1], J[2]), half, cross(m, (J[0], J[1], J[2])))
        b = add_scaled((J[1], J[3] + little, J[4]), half, cross(m, (J[1], J[3], J[4])))
        c = add_scaled((J[2], J[4], J[5] + little), half, cross(m, (J[2], J[4], J[5])))
        d = solve3(
            (a[0], a[1] - half * Jm[2], a[2] + half * Jm[1]),
            (b[0] + half * Jm[2], b[1], b[2] - half * Jm[0]),
            (c[0] - half * Jm[1], c[1] + half * Jm[0], c[2]),
            y,
        )
        x, change, steps = add(x, d), dot(d, d), steps + 1
    return x, not change > SLOW * size


@function
def spin(J, inverse, quaternion, w, h):
    """Quaternion and angular velocity w, in world axes, after a time h without torques.

    J and its inverse are in the axes of the body.
    """
    R = rotation(quaternion[0], quaternion[1], quaternion[2], quaternion[3])
    omega = rotate_back(R, w)
    momentum = symmetric_times(J, omega)
    turning, size = cross(omega, momentum), dot(momentum, momentum)
    if not h * h * dot(turning, turning) > STEADY * size:
        return turn(quaternion, (h * w[0], h * w[1], h * w[2])), w
    if h * h * dot(omega, omega) < CALM:
        after = add_scaled(omega, -h, symmetric_times(inverse, turning))
        m = scale(0.25 * h, add(omega, after))
        return unit(multiply(quaternion, (m[0], m[1], m[2], 1.0))), rotate(R, after)
    s = dot(omega, momentum) / sqrt(size)
    left, parts = h, 0
    while left > 0.0 and parts < MOST_PARTS:
        part = minimum(left, ANGLE / sqrt(dot(omega, omega)))
        angle = 0.5 * part * s
        x = angle * angle
        stretch = 1.0 + x * (1.0 / 3.0 + x * (2.0 / 15.0 + x * (17.0 / 315.0 + x * 62.0 / 2835.0)))
        time = stretch * part
        after, is_found = end_velocity(J, omega, time)
        if not is_found:
            break
        m = scale(0.25 * time, add(omega, after))
        quaternion = unit(multiply(quaternion, (m[0], m[1], m[2], 1.0)))
        omega, left, parts = after, left - part, parts + 1
    if left > 0.0:
        quaternion = turn(quaternion, scale(left * s / sqrt(size), rotate(R, momentum)))
    R = rotation(quaternion[0], quaternion[1], quaternion[2], quaternion[3])
    return quaternion, rotate(R, omega)


@function
def move_freely(system, poses, twists, h):
    """Move all bodies for a time without forces: poses, and angular velocities in twists."""
    for i in range(len(system.bodies) - 1):
        pose, twist = i * POSE.size, i * TWIST.size
        for k in range(3):
            poses[pose + k] = poses[pose + k] + h * twists[twist + k]
        at, body = pose + POSE.quaternion, system.bodies[i + 1]
        J, inverse = get6(body.inertia, 0), get6(body.inverse_inertia, 0)
        quaternion, w = spin(J, inverse, get4(poses, at), get3(twists, twist + TWIST.omega), h)
        put4(poses, at, quaternion)
        put3(twists, twist + TWIST.omega, w)

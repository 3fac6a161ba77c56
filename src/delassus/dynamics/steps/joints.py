"""What each kind of joint does: where it places its link, how it moves it, what it feels."""

from __future__ import annotations

from ...compile import function, sincos
from ...model.parts.kinds import FREE, HELICAL, PLANAR, PRISMATIC, REVOLUTE, SPHERICAL
from ...spatial.quaternions import rotation
from ...spatial.vectors import add, add_scaled, compose, get3, get9, put3, rotate, turn_about_z


@function
def turns(link):
    """Whether a joint turns its link about one axis."""
    return link.kind == REVOLUTE or link.kind == HELICAL or link.kind == PLANAR


@function
def joint_angle(link, q):
    """Sine and cosine of the angle by which a joint turns its link about one axis."""
    return sincos(q[link.q + 2 if link.kind == PLANAR else link.q])


@function
def joint_placement(link, q):
    """Rotation and position of a link in its parent's axes."""
    s, c = 0.0 * q[link.q], 0.0 * q[link.q]
    if turns(link):
        s, c = joint_angle(link, q)
    return turned_placement(link, q, s, c)


@function
def turned_placement(link, q, s, c):
    """Rotation and position of a joint; s and c are sine and cosine of the angle it turns by."""
    R = get9(link.rotation, 0)
    p = get3(link.position, 0)
    i = link.q
    if link.kind == REVOLUTE:
        R = turn_about_z(R, s, c)
    elif link.kind == PRISMATIC:
        p = add_scaled(p, q[i], (R[2], R[5], R[8]))
    elif link.kind == HELICAL:
        p = add_scaled(p, link.pitch * q[i], (R[2], R[5], R[8]))
        R = turn_about_z(R, s, c)
    elif link.kind == PLANAR:
        p = add_scaled(add_scaled(p, q[i], (R[0], R[3], R[6])), q[i + 1], (R[1], R[4], R[7]))
        R = turn_about_z(R, s, c)
    elif link.kind == SPHERICAL:
        R = compose(R, rotation(q[i], q[i + 1], q[i + 2], q[i + 3]))
    else:  # TRANSLATION or FREE
        p = add(p, rotate(R, get3(q, i)))
        if link.kind == FREE:
            R = compose(R, rotation(q[i + 3], q[i + 4], q[i + 5], q[i + 6]))
    return R, p


@function
def joint_motion(link, x):
    """Linear and angular motion across a joint in the link's axes: S x, for x among v or a."""
    i = link.v
    linear = (0.0, 0.0, 0.0)
    angular = (0.0, 0.0, 0.0)
    if link.kind == REVOLUTE:
        angular = (0.0, 0.0, x[i])
    elif link.kind == PRISMATIC:
        linear = (0.0, 0.0, x[i])
    elif link.kind == HELICAL:
        linear = (0.0, 0.0, link.pitch * x[i])
        angular = (0.0, 0.0, x[i])
    elif link.kind == SPHERICAL:
        angular = get3(x, i)
    elif link.kind == PLANAR:
        linear = (x[i], x[i + 1], 0.0)
        angular = (0.0, 0.0, x[i + 2])
    else:  # TRANSLATION or FREE
        linear = get3(x, i)
        if link.kind == FREE:
            angular = get3(x, i + 3)
    return linear, angular


@function
def put_joint_force(link, f, n, armature, a, tau):
    """Forces of a joint that balance force f and moment n on its link, and move its motor.

    tau = S^T (f, n) + armature a
    """
    i = link.v
    if link.kind == REVOLUTE:
        tau[i] = n[2] + armature[i] * a[i]
    elif link.kind == PRISMATIC:
        tau[i] = f[2] + armature[i] * a[i]
    elif link.kind == HELICAL:
        tau[i] = n[2] + link.pitch * f[2] + armature[i] * a[i]
    elif link.kind == SPHERICAL:
        put3(tau, i, add_motors(n, armature, a, i))
    elif link.kind == PLANAR:
        put3(tau, i, add_motors((f[0], f[1], n[2]), armature, a, i))
    else:  # TRANSLATION or FREE
        put3(tau, i, add_motors(f, armature, a, i))
        if link.kind == FREE:
            put3(tau, i + 3, add_motors(n, armature, a, i + 3))


@function
def add_motors(x, armature, a, i):
    """x + armature a, three entries from i on."""
    return (
        x[0] + armature[i] * a[i],
        x[1] + armature[i + 1] * a[i + 1],
        x[2] + armature[i + 2] * a[i + 2],
    )

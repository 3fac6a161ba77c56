"""Unit quaternions (x, y, z, w) as tuples of scalars."""

from __future__ import annotations

from ..compile import function, sqrt


@function
def rotation(x, y, z, w):
    """The rotation matrix of a unit quaternion, by rows."""
    x2, y2, z2 = x + x, y + y, z + z
    xx, yy, zz = x * x2, y * y2, z * z2
    xy, xz, yz = x * y2, x * z2, y * z2
    wx, wy, wz = w * x2, w * y2, w * z2
    return (
        1.0 - (yy + zz),
        xy - wz,
        xz + wy,
        xy + wz,
        1.0 - (xx + zz),
        yz - wx,
        xz - wy,
        yz + wx,
        1.0 - (xx + yy),
    )


@function
def multiply(a, b):
    """The quaternion of rotation a times rotation b."""
    return (
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    )


@function
def conjugate(a):
    """The quaternion of the inverse rotation."""
    return (-a[0], -a[1], -a[2], a[3])


@function
def unit(a):
    """a scaled to unit length."""
    k = 1.0 / sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3])
    return (k * a[0], k * a[1], k * a[2], k * a[3])

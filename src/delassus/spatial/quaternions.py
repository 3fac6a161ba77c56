"""Unit quaternions (x, y, z, w) as tuples of scalars."""

from __future__ import annotations

from ..compile import absolute, function, maximum, select, sqrt


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


@function
def unit_of_any_length(a):
    """a scaled to unit length, even if its square is too large or too small; NaN if it is zero."""
    x, y = absolute(a[0]), absolute(a[1])
    z, w = absolute(a[2]), absolute(a[3])
    largest = maximum(maximum(x, y), maximum(z, w))
    size = select(largest > 0.0, largest, sqrt(-1.0 - largest))  # the root is NaN
    return unit((a[0] / size, a[1] / size, a[2] / size, a[3] / size))


@function
def from_rotation(R):
    """The unit quaternion of a rotation matrix, from the largest of its four components."""
    x, y = 1.0 + R[0] - R[4] - R[8], 1.0 - R[0] + R[4] - R[8]
    z, w = 1.0 - R[0] - R[4] + R[8], 1.0 + R[0] + R[4] + R[8]
    by_x = (x, R[1] + R[3], R[2] + R[6], R[7] - R[5])
    by_y = (R[1] + R[3], y, R[5] + R[7], R[2] - R[6])
    by_z = (R[2] + R[6], R[5] + R[7], z, R[3] - R[1])
    by_w = (R[7] - R[5], R[2] - R[6], R[3] - R[1], w)
    xy, zw = _larger(x, by_x, y, by_y), _larger(z, by_z, w, by_w)
    return unit(_larger(select(x > y, x, y), xy, select(z > w, z, w), zw))


@function
def _larger(x, a, y, b):
    """a where x is larger than y, b elsewhere."""
    is_first = x > y
    return (
        select(is_first, a[0], b[0]),
        select(is_first, a[1], b[1]),
        select(is_first, a[2], b[2]),
        select(is_first, a[3], b[3]),
    )

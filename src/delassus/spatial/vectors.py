"""Three-vectors, rotations and symmetric matrices as tuples of scalars, which stay in registers.

A rotation is its nine entries by rows; a symmetric matrix is (xx, xy, xz, yy, yz, zz).
"""

from __future__ import annotations

from ..compile import function


@function
def add(a, b):
    """a + b"""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@function
def subtract(a, b):
    """a - b"""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@function
def scale(s, a):
    """s a"""
    return (s * a[0], s * a[1], s * a[2])


@function
def add_scaled(a, s, b):
    """a + s b"""
    return (a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2])


@function
def scale4(s, a):
    """s a for four numbers"""
    return (s * a[0], s * a[1], s * a[2], s * a[3])


@function
def add_scaled4(a, s, b):
    """a + s b for four numbers"""
    return (a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2], a[3] + s * b[3])


@function
def dot(a, b):
    """a . b"""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@function
def less_dot(x, a, b):
    """x - a . b"""
    return x - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]


@function
def cross(a, b):
    """a x b"""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@function
def add_cross(a, b, c):
    """a + b x c"""
    return (
        a[0] + b[1] * c[2] - b[2] * c[1],
        a[1] + b[2] * c[0] - b[0] * c[2],
        a[2] + b[0] * c[1] - b[1] * c[0],
    )


@function
def rotate(R, x):
    """R x"""
    return (
        R[0] * x[0] + R[1] * x[1] + R[2] * x[2],
        R[3] * x[0] + R[4] * x[1] + R[5] * x[2],
        R[6] * x[0] + R[7] * x[1] + R[8] * x[2],
    )


@function
def rotate_back(R, x):
    """R^T x"""
    return (
        R[0] * x[0] + R[3] * x[1] + R[6] * x[2],
        R[1] * x[0] + R[4] * x[1] + R[7] * x[2],
        R[2] * x[0] + R[5] * x[1] + R[8] * x[2],
    )


@function
def compose(A, B):
    """A B"""
    return (
        A[0] * B[0] + A[1] * B[3] + A[2] * B[6],
        A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
        A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
        A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
        A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[3] + A[8] * B[6],
        A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
        A[6] * B[2] + A[7] * B[5] + A[8] * B[8],
    )


@function
def turn_about_z(R, s, c):
    """R times the rotation about z whose sine and cosine are given."""
    return (
        R[0] * c + R[1] * s,
        R[1] * c - R[0] * s,
        R[2],
        R[3] * c + R[4] * s,
        R[4] * c - R[3] * s,
        R[5],
        R[6] * c + R[7] * s,
        R[7] * c - R[6] * s,
        R[8],
    )


@function
def symmetric_times(A, x):
    """A x for a symmetric A"""
    return (
        A[0] * x[0] + A[1] * x[1] + A[2] * x[2],
        A[1] * x[0] + A[3] * x[1] + A[4] * x[2],
        A[2] * x[0] + A[4] * x[1] + A[5] * x[2],
    )


@function
def rotate_factored(R, factor):
    """R A R^T for A = x x^T + y y^T + d: x, then y but for its first number, zero, and then d."""
    x, d = rotate(R, (factor[0], factor[1], factor[2])), factor[5]
    y = (
        R[1] * factor[3] + R[2] * factor[4],
        R[4] * factor[3] + R[5] * factor[4],
        R[7] * factor[3] + R[8] * factor[4],
    )
    return (
        d + x[0] * x[0] + y[0] * y[0],
        x[0] * x[1] + y[0] * y[1],
        x[0] * x[2] + y[0] * y[2],
        d + x[1] * x[1] + y[1] * y[1],
        x[1] * x[2] + y[1] * y[2],
        d + x[2] * x[2] + y[2] * y[2],
    )


@function
def add6(a, b):
    """a + b for symmetric matrices"""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@function
def add9(a, b):
    """a + b for matrices"""
    return (
        a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
        a[6] + b[6],
        a[7] + b[7],
        a[8] + b[8],
    )


@function
def outer_update9(A, x, y):
    """A - x y^T"""
    return (
        A[0] - x[0] * y[0],
        A[1] - x[0] * y[1],
        A[2] - x[0] * y[2],
        A[3] - x[1] * y[0],
        A[4] - x[1] * y[1],
        A[5] - x[1] * y[2],
        A[6] - x[2] * y[0],
        A[7] - x[2] * y[1],
        A[8] - x[2] * y[2],
    )


@function
def outer_update(A, x, y):
    """A - x y^T for a symmetric A, where x y^T is symmetric too"""
    return (
        A[0] - x[0] * y[0],
        A[1] - x[0] * y[1],
        A[2] - x[0] * y[2],
        A[3] - x[1] * y[1],
        A[4] - x[1] * y[2],
        A[5] - x[2] * y[2],
    )


# --- between tuples and flat memory ---------------------------------------------------------------


@function
def get3(a, i):
    """Three numbers from i on."""
    return (a[i], a[i + 1], a[i + 2])


@function
def get4(a, i):
    """Four numbers from i on."""
    return (a[i], a[i + 1], a[i + 2], a[i + 3])


@function
def get6(a, i):
    """Six numbers from i on."""
    return (a[i], a[i + 1], a[i + 2], a[i + 3], a[i + 4], a[i + 5])


@function
def get9(a, i):
    """Nine numbers from i on."""
    return (
        a[i],
        a[i + 1],
        a[i + 2],
        a[i + 3],
        a[i + 4],
        a[i + 5],
        a[i + 6],
        a[i + 7],
        a[i + 8],
    )


@function
def put3(a, i, x):
    """Store three numbers from i on."""
    a[i] = x[0]
    a[i + 1] = x[1]
    a[i + 2] = x[2]


@function
def put4(a, i, x):
    """Store four numbers from i on."""
    a[i] = x[0]
    a[i + 1] = x[1]
    a[i + 2] = x[2]
    a[i + 3] = x[3]


@function
def put6(a, i, x):
    """Store six numbers from i on."""
    a[i] = x[0]
    a[i + 1] = x[1]
    a[i + 2] = x[2]
    a[i + 3] = x[3]
    a[i + 4] = x[4]
    a[i + 5] = x[5]


@function
def put9(a, i, x):
    """Store nine numbers from i on."""
    a[i] = x[0]
    a[i + 1] = x[1]
    a[i + 2] = x[2]
    a[i + 3] = x[3]
    a[i + 4] = x[4]
    a[i + 5] = x[5]
    a[i + 6] = x[6]
    a[i + 7] = x[7]
    a[i + 8] = x[8]

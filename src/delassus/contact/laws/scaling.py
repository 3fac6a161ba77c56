"""Pairs of vectors in second-order cones, and the scaling that makes them equal.

    L = {x: x_0 >= |(x_1, x_2)|}        x o y = (x.y, x_0 y_t + y_0 x_t)
    W z = W^-1 w = g                    w, z inside L

W is symmetric and maps L onto itself (Nesterov and Todd). With it the condition w o z = m e, e =
(1, 0, 0), becomes g o g = m e, of which Newton's method makes a symmetric system.

| symbol | here | what |
| --- | --- | --- |
| W | Scaling | size times the reflection of the vector q, q_0^2 - q_1^2 - q_2^2 = 1 |
| W x, W^-1 x | scale_up, scale_down | |
| W^-2 | inverse_square | six numbers 00 01 02 11 12 22 |
| x o y | jordan_product | |
| x such that g o x = r | jordan_quotient | |
"""

from __future__ import annotations

from typing import NamedTuple

from ...compile import function, maximum, minimum, sqrt
from .cones import length2

FAR = 1e10  # a step that never leaves a cone
TINY = 1e-300


class Scaling(NamedTuple):
    """W of a pair."""

    q0: float
    q1: float
    q2: float
    size: float


@function
def cone_length(x):
    """sqrt(x_0^2 - x_1^2 - x_2^2), which is 0 on the boundary of the cone."""
    a = length2(x[1], x[2])
    return sqrt(maximum((x[0] - a) * (x[0] + a), TINY))


@function
def scaling_of(w, z):
    """W with W z = W^-1 w."""
    a, b = 1.0 / cone_length(w), 1.0 / cone_length(z)
    product = a * b * (w[0] * z[0] + w[1] * z[1] + w[2] * z[2])
    half = 0.5 / sqrt(maximum(0.5 * (1.0 + product), 0.5))
    q1, q2 = half * (a * w[1] - b * z[1]), half * (a * w[2] - b * z[2])
    return Scaling(sqrt(1.0 + q1 * q1 + q2 * q2), q1, q2, sqrt(b / a))


@function
def reflect(size, q0, q1, q2, x):
    """size (1 + q q^T / (1 + q_0)), with the first row and column q."""
    along = q1 * x[1] + q2 * x[2]
    share = x[0] + along / (1.0 + q0)
    return size * (q0 * x[0] + along), size * (x[1] + share * q1), size * (x[2] + share * q2)


@function
def scale_up(W, x):
    """W x"""
    return reflect(W.size, W.q0, W.q1, W.q2, x)


@function
def scale_down(W, x):
    """W^-1 x"""
    return reflect(1.0 / W.size, W.q0, -W.q1, -W.q2, x)


@function
def inverse_square(W):
    """W^-2: the numbers 00 01 02 11 12 22"""
    s = 1.0 / (W.size * W.size)
    two = 2.0 * s
    return (
        two * W.q0 * W.q0 - s,
        -(two * W.q0 * W.q1),
        -(two * W.q0 * W.q2),
        two * W.q1 * W.q1 + s,
        two * W.q1 * W.q2,
        two * W.q2 * W.q2 + s,
    )


@function
def jordan_product(x, y):
    """x o y"""
    return (
        x[0] * y[0] + x[1] * y[1] + x[2] * y[2],
        x[0] * y[1] + y[0] * x[1],
        x[0] * y[2] + y[0] * x[2],
    )


@function
def jordan_quotient(g, r):
    """x with g o x = r"""
    a = cone_length(g)
    square, along = a * a, g[1] * r[1] + g[2] * r[2]
    x0 = (g[0] * r[0] - along) / square
    return x0, (r[1] - x0 * g[1]) / g[0], (r[2] - x0 * g[2]) / g[0]


@function
def step_to_zero(x, dx):
    """The largest step with x + step dx >= 0."""
    return -x / dx if dx < 0.0 else FAR


@function
def positive_root(found, x):
    """The smaller of two steps, of which only positive ones count."""
    return minimum(found, x) if x > 0.0 else found


@function
def step_to_boundary(x, dx):
    """The largest step with x + step dx in L."""
    found, length = step_to_zero(x[0], dx[0]), cone_length(x)
    c, a = length * length, dx[0] * dx[0] - dx[1] * dx[1] - dx[2] * dx[2]
    b = x[0] * dx[0] - x[1] * dx[1] - x[2] * dx[2]
    square = b * b - a * c
    if square >= 0.0:
        root = -(b + sqrt(square)) if b >= 0.0 else sqrt(square) - b
        if a != 0.0:
            found = positive_root(found, root / a)
        if root != 0.0:
            found = positive_root(found, c / root)
    return found

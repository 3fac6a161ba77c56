"""Functions of the adjoint of a motion: derivatives of exponentials and logarithms, in body axes.

With W the matrix of the cross product by w, every function of a rotation vector that is needed here
is F(w) = k 1 + s W + c W^2, where s and c depend on the squared angle only:

    exp(-W)              transports tangent vectors over the rotation exp(w)
    (1 - exp(-W)) / W    is the right Jacobian: exp(w + x) = exp(w) exp(F x) for small x
    W / (1 - exp(-W))    is its inverse:        log(exp(w) exp(x)) = w + F x for small x

A rigid motion (u, w) is the rotation vector w + e u in dual numbers, e^2 = 0. So its 6x6 matrix,
linear first, has F(w) twice on the diagonal, and above it the derivative of F along u.
"""

from __future__ import annotations

from ..compile import function
from .groups import exp_terms, log_terms
from .vectors import add_scaled, dot, scale


@function
def exp_functions(square):
    """Terms (k, s, c, ds, dc) of exp(-W) and of the right Jacobian of the exponential."""
    a, b, c, da, db, dc = exp_terms(square)
    return (1.0, -a, b, -da, db), (1.0, -b, c, -db, dc)


@function
def log_functions(square):
    """Terms of the logarithm's derivative by the start, and by the end: -F(-w) and F(w)."""
    d, dd = log_terms(square)
    return (-1.0, 0.5, -d, 0.0, -dd), (1.0, 0.5, d, 0.0, dd)


@function
def rotational_block(terms, w):
    """F(w) = k 1 + s W + c W^2"""
    k, s, c, _, _ = terms
    return _matrix(k, scale(s, w), w, scale(0.5 * c, w))


@function
def coupling_block(terms, w, u):
    """dF/de of F(w + e u) = s U + c (W U + U W) + 2 w . u (ds W + dc W^2)"""
    _, s, c, ds, dc = terms
    r = dot(w, u)
    x = add_scaled(scale(s, u), 2.0 * r * ds, w)
    return _matrix(0.0, x, w, add_scaled(scale(c, u), r * dc, w))


@function
def _matrix(k, x, w, y):
    """k 1 + X + W Y + Y W, by rows."""
    xx, yy, zz = 2.0 * w[0] * y[0], 2.0 * w[1] * y[1], 2.0 * w[2] * y[2]
    xy = w[0] * y[1] + w[1] * y[0]
    xz = w[0] * y[2] + w[2] * y[0]
    yz = w[1] * y[2] + w[2] * y[1]
    return (
        k - (yy + zz),
        xy - x[2],
        xz + x[1],
        xy + x[2],
        k - (xx + zz),
        yz - x[0],
        xz - x[1],
        yz + x[0],
        k - (xx + yy),
    )

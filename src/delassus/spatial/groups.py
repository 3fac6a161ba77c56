"""Exponentials and logarithms of rotations and rigid motions, as tuples of scalars.

Near zero the closed forms cancel, so a series replaces them there; both are evaluated and one is
selected, as lanes cannot branch.
"""

from __future__ import annotations

from ..compile import atan2, function, select, sincos, sqrt
from .vectors import add, cross, dot, scale

# Below this squared angle the series are exact to the last digit.
_SMALL = 0.25


@function
def _safe(square):
    """The squared angle, kept away from zero for the closed forms."""
    return select(square < _SMALL, 1.0 + square, square)


@function
def sine_ratio(square):
    """sin(t) / t of t^2."""
    t = sqrt(_safe(square))
    s, _ = sincos(t)
    z = square
    series = 1.0 - z / 6.0 * (
        1.0 - z / 20.0 * (1.0 - z / 42.0 * (1.0 - z / 72.0 * (1.0 - z / 110.0 * (1.0 - z / 156.0))))
    )
    return select(square < _SMALL, series, s / t)


@function
def cosine_ratio(square):
    """(1 - cos(t)) / t^2 of t^2, which is half the square of sin(t/2) / (t/2)."""
    r = sine_ratio(0.25 * square)
    return 0.5 * r * r


@function
def sine_remainder(square):
    """(t - sin(t)) / t^3 of t^2."""
    safe = _safe(square)
    t = sqrt(safe)
    s, _ = sincos(t)
    z = square
    series = (
        1.0 - z / 20.0 * (1.0 - z / 42.0 * (1.0 - z / 72.0 * (1.0 - z / 110.0 * (1.0 - z / 156.0))))
    ) / 6.0
    return select(square < _SMALL, series, (t - s) / (safe * t))


@function
def cotangent_remainder(square):
    """(1 - (t/2) cot(t/2)) / t^2 of t^2."""
    safe = _safe(square)
    half = 0.5 * sqrt(safe)
    s, c = sincos(half)
    z = square
    tail = 1.0 + z * (5.0 / 198.0) * (1.0 + z * (691.0 / 27300.0) * (1.0 + z * (35.0 / 1382.0)))
    series = (1.0 + z / 60.0 * (1.0 + z / 42.0 * (1.0 + z / 40.0 * tail))) / 12.0
    return select(square < _SMALL, series, (1.0 - half * c / s) / safe)


@function
def exp_terms(square):
    """sin(t) / t, (1 - cos(t)) / t^2, (t - sin(t)) / t^3, and their derivatives in t^2."""
    z, is_small, safe = square, square < _SMALL, _safe(square)
    a, b, c = sine_ratio(z), cosine_ratio(z), sine_remainder(z)
    tail = 1.0 - z * (2.0 / 135.0) * (1.0 - z * (5.0 / 528.0) * (1.0 - z * (3.0 / 455.0)))
    series = (1.0 - z / 15.0 * (1.0 - z * (3.0 / 112.0) * tail)) / -24.0
    db = select(is_small, series, 0.5 * (a - 2.0 * b) / safe)
    tail = 1.0 - z * (2.0 / 165.0) * (1.0 - z * (5.0 / 624.0) * (1.0 - z / 175.0))
    series = (1.0 - z / 21.0 * (1.0 - z / 48.0 * tail)) / -120.0
    dc = select(is_small, series, 0.5 * (b - 3.0 * c) / safe)
    return a, b, c, 0.5 * (c - b), db, dc


@function
def log_terms(square):
    """(1 - (t/2) cot(t/2)) / t^2, and its derivative in t^2."""
    z, d = square, cotangent_remainder(square)
    tail = 1.0 + z * (21.0 / 691.0) * (1.0 + z * (3617.0 / 122400.0))
    tail = 1.0 + z * (10.0 / 297.0) * (1.0 + z * (691.0 / 21840.0) * tail)
    series = (1.0 + z / 21.0 * (1.0 + z * (3.0 / 80.0) * tail)) / 720.0
    closed = (0.125 - 1.5 * d + 0.5 * z * d * d) / _safe(z)
    return d, select(z < _SMALL, series, closed)


@function
def quaternion_exp(w):
    """The unit quaternion of a rotation vector."""
    z = 0.25 * dot(w, w)
    k = 0.5 * sine_ratio(z)
    # The cosine as 1 - (1 - cos): a square root would have no derivative at zero.
    return (k * w[0], k * w[1], k * w[2], 1.0 - z * cosine_ratio(z))


@function
def quaternion_log(x):
    """The rotation vector, shorter than a half turn, of a unit quaternion."""
    sign = select(x[3] < 0.0, -1.0, 1.0)
    square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2]
    w = sign * x[3]
    is_small = square < 1.0e-8
    length = sqrt(select(is_small, 1.0 + square, square))
    closed = 2.0 * atan2(length, w) / length
    ratio = square / (w * w)
    series = 2.0 / w * (1.0 - ratio / 3.0 * (1.0 - 0.6 * ratio))
    return scale(sign * select(is_small, series, closed), (x[0], x[1], x[2]))


@function
def translation_exp(w, u):
    """V(w) u: the displacement of a motion with angular velocity w and linear velocity u."""
    square = dot(w, w)
    wu = cross(w, u)
    return add(u, add(scale(cosine_ratio(square), wu), scale(sine_remainder(square), cross(w, wu))))


@function
def translation_log(w, p):
    """V(w)^-1 p: the linear velocity of a motion with angular velocity w and displacement p."""
    wp = cross(w, p)
    return add(p, add(scale(-0.5, wp), scale(cotangent_remainder(dot(w, w)), cross(w, wp))))

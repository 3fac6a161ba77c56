"""Spheres and capsules among each other: the closest points of two segments.

| here   | what it is                                                        |
| ------ | ----------------------------------------------------------------- |
| p, d, h | a segment: its middle, its direction, half its length            |
| s, t   | parameters of points on the first and the second, from the middle |

A sphere is a capsule of length zero. Nearly parallel capsules touch at the two ends of where they
run side by side. Elsewhere they touch at one point.
"""

from __future__ import annotations

from ...compile import function
from ...spatial.vectors import add_scaled, cross, dot, subtract
from .records import add_found, center_of, column_of, unit

PARALLEL = 1e-4  # square of the sine of the angle between two directions
# Features: of one point, and of the two ends of parallel segments.
SINGLE, START, END = 30, 31, 62


@function
def clamp(x, h):
    """x, but at least -h and at most h"""
    return min(max(x, -h), h)


@function
def closest_parameters(p1, d1, h1, p2, d2, h2):
    """s and t of the closest points p1 + s d1 and p2 + t d2."""
    r, b = subtract(p1, p2), dot(d1, d2)
    c, f = dot(d1, r), dot(d2, r)
    square = 1.0 - b * b
    s = clamp((b * f - c) / square, h1) if square > 1e-12 else 0.0
    t = clamp(b * s + f, h2)
    return clamp(b * t - c, h1), t


@function
def side_by_side(p1, d1, h1, p2, d2, h2):
    """s of the ends of where two segments run side by side; the first is larger if they do not."""
    across = cross(d1, d2)
    if h1 > 0.0 and h2 > 0.0 and dot(across, across) < PARALLEL:
        middle = dot(d1, subtract(p2, p1))
        return max(-h1, middle - h2), min(h1, middle + h2)
    return 1.0, 0.0


@function
def touching_parameters(p1, d1, h1, p2, d2, h2, k):
    """s, t and the feature of touching point k of two segments; a negative feature if none."""
    start, end = side_by_side(p1, d1, h1, p2, d2, h2)
    if start < end:
        s = start if k == 0 else end
        t = clamp(dot(d2, subtract(add_scaled(p1, s, d1), p2)), h2)
        return s, t, START if k == 0 else END
    s, t = closest_parameters(p1, d1, h1, p2, d2, h2)
    return s, t, SINGLE if k == 0 else -1


@function
def capsules(world, i, j, margin, work):
    """Points between two spheres or capsules."""
    placed, count = work.placed, 0
    first, second = world.shapes[i], world.shapes[j]
    p1, d1, h1 = center_of(placed, i), column_of(placed, i, 2), first.half[2]
    p2, d2, h2 = center_of(placed, j), column_of(placed, j, 2), second.half[2]
    for k in range(2):
        s, t, feature = touching_parameters(p1, d1, h1, p2, d2, h2, k)
        if feature >= 0:
            x1, x2 = add_scaled(p1, s, d1), add_scaled(p2, t, d2)
            apart = subtract(x2, x1)
            # Where the segments meet, any direction across the first serves.
            n = unit(apart, column_of(placed, i, 0))
            distance = dot(n, apart) - first.half[0] - second.half[0]
            middle = add_scaled(x1, first.half[0] + 0.5 * distance, n)
            count = add_found(work.found, count, margin, middle, n, distance, feature)
    return count

"""A plane and a convex hull: corners of the hull within the margin, at most nine of them.

| here  | what it is                                                                       |
| ----- | -------------------------------------------------------------------------------- |
| w     | height of a corner above the plane                                               |
| m     | normal of the plane, in the hull's axes                                          |
| t     | one of eight directions along the plane, which turn with the hull                |

In each direction t the corner counts for which LEAN t.x - w is largest: on a flat sole the one that
is farthest out, on a round one a corner near the lowest. The lowest corner of all counts too, if it
is lower than those by more than a part SLACK of the size. So a hull that rests keeps its corners,
whatever rounding makes the lowest of a flat sole.
"""

from __future__ import annotations

from ...compile import absolute, function, sincos
from ...spatial.vectors import (
    add_scaled,
    cross,
    dot,
    get3,
    get9,
    rotate,
    rotate_back,
    scale,
    subtract,
)
from .records import FOUND, PLACED, add_found, center_of, column_of, unit

DIRECTIONS = 8
LEAN = 0.05
DONE = 1e9  # in the place of the feature of a point that does not count, or no more
_KEPT = 1e7  # is added to features of points that are kept: these are less
SLACK = 1e-4
_FIRST, _STEP = 0.2, 0.7853981633974483  # angles: no direction is across an edge of a square sole


@function
def along_plane(placed, j, n):
    """A unit vector along a plane with the normal n that turns with shape j."""
    axis = 0
    for k in range(1, 3):
        x = absolute(dot(n, column_of(placed, j, k)))
        if x < absolute(dot(n, column_of(placed, j, axis))) - 0.1:
            axis = k
    x = column_of(placed, j, axis)
    return unit(add_scaled(x, -dot(n, x), n), x)


@function
def keep_farthest(found, count, placed, j):
    """Keep at most eight points of a pair whose second shape is j; others lose their feature.

    They are those farthest out in each direction, as with corners of hulls. Returns their number.
    """
    if count <= DIRECTIONS:
        return count
    n, kept = get3(found, FOUND.normal), 0
    a = along_plane(placed, j, n)
    b = cross(n, a)
    for t in range(DIRECTIONS):
        s, c = sincos(_FIRST + _STEP * t)
        direction = add_scaled(scale(LEAN * c, a), LEAN * s, b)
        best, most = 0, -1e300
        for k in range(count):
            at = k * FOUND.size
            score = dot(direction, get3(found, at + FOUND.point)) - found[at + FOUND.distance]
            if score > most:
                best, most = k, score
        at = best * FOUND.size + FOUND.feature
        if found[at] < _KEPT:
            found[at] = found[at] + _KEPT
            kept += 1
    for k in range(count):
        at = k * FOUND.size + FOUND.feature
        found[at] = found[at] - _KEPT if found[at] >= _KEPT else DONE
    return kept


@function
def farthest_corner(world, shape, m, height, direction, margin):
    """The corner x with w <= margin and the largest direction.x - w; -1 if there is none."""
    best, most = -1, -1e300
    for k in range(shape.first, shape.end):
        x = get3(world.vertices, 3 * k)
        w = height + dot(m, x)
        if w <= margin:
            score = dot(direction, x) - w
            if score > most:
                best, most = k, score
    return best


@function
def add_corner(world, j, k, n, height, m, margin, count, work):
    """Store corner k of hull j, unless it is there already; returns how many there are."""
    feature = k - world.shapes[j].first
    for f in range(count):
        if work.found[f * FOUND.size + FOUND.feature] == 1.0 * feature:
            return count
    x = get3(world.vertices, 3 * k)
    w = height + dot(m, x)
    at = add_scaled(center_of(work.placed, j), 1.0, rotate(get9(work.placed, j * PLACED.size), x))
    return add_found(work.found, count, margin, add_scaled(at, -0.5 * w, n), n, w, feature)


@function
def hull_on_plane(world, i, j, margin, work):
    """Points between plane i and hull j; the feature is the number of the corner."""
    placed, shape, count = work.placed, world.shapes[j], 0
    n, R = column_of(placed, i, 2), get9(placed, j * PLACED.size)
    height = dot(n, subtract(center_of(placed, j), center_of(placed, i)))
    m, u = rotate_back(R, n), along_plane(placed, j, n)
    a, b = rotate_back(R, u), rotate_back(R, cross(n, u))
    deepest = farthest_corner(world, shape, m, height, (0.0, 0.0, 0.0), margin)
    if deepest < 0:
        return 0
    lowest = margin
    for t in range(DIRECTIONS):
        s, c = sincos(_FIRST + _STEP * t)
        direction = add_scaled(scale(LEAN * c, a), LEAN * s, b)
        k = farthest_corner(world, shape, m, height, direction, margin)
        lowest = min(lowest, height + dot(m, get3(world.vertices, 3 * k)))
        count = add_corner(world, j, k, n, height, m, margin, count, work)
    if height + dot(m, get3(world.vertices, 3 * deepest)) < lowest - SLACK * shape.radius:
        count = add_corner(world, j, deepest, n, height, m, margin, count, work)
    return count

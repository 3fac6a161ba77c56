"""A sphere or capsule and a box or cylinder: the distance of points of a segment from a solid.

The signed distance f of a point from a convex solid is convex, so along a segment its slope grows.
A capsule touches where the slope passes from below -FLAT to above FLAT: at one point, or at both
ends of a stretch that runs along a face. Its own ends touch too, if they are within the margin.

| here  | what it is                                                                   |
| ----- | ---------------------------------------------------------------------------- |
| x     | a point in the axes of the solid                                             |
| f, g  | signed distance of x, negative inside; its gradient, the normal of the solid |
| c, e  | middle and direction of the segment in the axes of the solid                 |

Exact while the segment itself is outside of the solid. Once it is inside, so that the overlap is
more than the radius of the capsule, the normal is that of the face nearest to the deepest point,
and other ends of the capsule do not touch: they would push it towards other faces, where it stays.
"""

from __future__ import annotations

from ...compile import absolute, function, sqrt
from ...spatial.vectors import add_scaled, dot, get9, rotate, rotate_back, scale, subtract
from .records import BOX, PLACED, add_found, center_of, column_of

FLAT = 1e-3  # slopes below this count as level
CLOSE = 0.1  # parts of the radius: points closer than this are one
_HALVINGS = 40
# Features: of the start and the end of a level stretch, and of the two ends of the capsule.
LEVEL_START, LEVEL_END, FIRST_END, LAST_END = 0, 1, 2, 3


@function
def box_distance(size, x):
    """Signed distance of x from a box with half edges `size`, and its gradient."""
    largest, axis = -1e300, 0
    q = (absolute(x[0]) - size[0], absolute(x[1]) - size[1], absolute(x[2]) - size[2])
    for k in range(3):
        if q[k] > largest:
            largest, axis = q[k], k
    if largest <= 0.0:
        side = -1.0 if x[axis] < 0.0 else 1.0
        g = (
            side if axis == 0 else 0.0,
            side if axis == 1 else 0.0,
            side if axis == 2 else 0.0,
        )
        return largest, g
    outside = (max(q[0], 0.0), max(q[1], 0.0), max(q[2], 0.0))
    f = sqrt(dot(outside, outside))
    g = (
        outside[0] / f if x[0] > 0.0 else -outside[0] / f,
        outside[1] / f if x[1] > 0.0 else -outside[1] / f,
        outside[2] / f if x[2] > 0.0 else -outside[2] / f,
    )
    return f, g


@function
def cylinder_distance(radius, half, x):
    """Signed distance of x from a cylinder, and its gradient: a rectangle's, turned about z."""
    rho = sqrt(x[0] * x[0] + x[1] * x[1])
    u = (x[0] / rho, x[1] / rho) if rho > 1e-12 else (1.0, 0.0)
    f, g = box_distance((radius, half, 1e300), (rho, x[2], 0.0))
    return f, (g[0] * u[0], g[0] * u[1], g[1])


@function
def solid_distance(shape, x):
    """Signed distance of x from a box or cylinder, and its gradient."""
    if shape.kind == BOX:
        return box_distance((shape.half[0], shape.half[1], shape.half[2]), x)
    return cylinder_distance(shape.half[0], shape.half[2], x)


@function
def level_end(shape, c, e, h, slope):
    """The parameter from which on the distance along a segment grows faster than a slope."""
    low, high = -h, h
    for _ in range(_HALVINGS):
        t = 0.5 * (low + high)
        _, g = solid_distance(shape, add_scaled(c, t, e))
        if dot(g, e) > slope:
            high = t
        else:
            low = t
    t = 0.5 * (low + high)
    if h - t < 1e-9 * h:
        return h
    return -h if t + h < 1e-9 * h else t


@function
def level_stretch(shape, c, e, h, radius):
    """Parameters of the start and the end of the level stretch, equal if they are close."""
    start, end = -h, h
    for k in range(2):
        found = level_end(shape, c, e, h, FLAT if k else -FLAT)
        if k:
            end = found
        else:
            start = found
    if end - start < CLOSE * radius:
        # An end of the capsule stays one.
        start = start if start == -h else (end if end == h else 0.5 * (start + end))
        end = start
    return start, end


@function
def touching_parameter(k, start, end, h, close):
    """Parameter and feature of touching point k of a capsule; a negative feature if none."""
    if k < 2:
        t = start if k == 0 else end
        if k == 1 and start == end:
            return t, -1
        if t == -h and h > 0.0:
            return t, FIRST_END
        return t, LAST_END if t == h and h > 0.0 else k
    t = -h if k == 2 else h
    is_other = absolute(t - start) > close and absolute(t - end) > close
    return t, k if is_other and h > 0.0 else -1


@function
def capsule_and_solid(world, i, j, margin, work):
    """Points between a sphere or capsule i and a box or cylinder j."""
    placed, count = work.placed, 0
    capsule, solid = world.shapes[i], world.shapes[j]
    radius, h = capsule.half[0], capsule.half[2]
    R, p = get9(placed, j * PLACED.size), center_of(placed, j)
    c = rotate_back(R, subtract(center_of(placed, i), p))
    e = rotate_back(R, column_of(placed, i, 2))
    start, end = 0.0, 0.0
    if h > 0.0:
        start, end = level_stretch(solid, c, e, h, radius)
    deepest, out = solid_distance(solid, add_scaled(c, start, e))
    for k in range(4):
        t, feature = touching_parameter(k, start, end, h, CLOSE * radius)
        if feature >= 0 and (k < 2 or deepest >= 0.0):
            x = add_scaled(c, t, e)
            f, g = solid_distance(solid, x)
            if deepest < 0.0:
                f, g = deepest, out
            middle = rotate(R, add_scaled(x, -0.5 * (f + radius), g))
            n, distance = scale(-1.0, rotate(R, g)), f - radius
            point = add_scaled(middle, 1.0, p)
            count = add_found(work.found, count, margin, point, n, distance, feature)
    return count

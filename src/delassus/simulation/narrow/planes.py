"""A plane and a shape: the points of the shape that can be lowest.

| shape     | points                                                                            |
| --------- | --------------------------------------------------------------------------------- |
| sphere    | its lowest point                                                                  |
| capsule   | the lowest points of its two ends                                                 |
| box       | its corners                                                                       |
| cylinder  | four of the rim of the lower cap, the first of them the lowest point of all, and  |
|           | the lowest of the other cap                                                       |
| ellipsoid | its lowest point                                                                  |
| hull      | see `hulls`                                                                       |

All are exact, but the rim of a cylinder that stands: there four points stand for the circle. Where
it is tilted by less than UPRIGHT, it has no lowest point, and the four are fixed to the body.
"""

from __future__ import annotations

from ...compile import function, sincos, sqrt
from ...spatial.vectors import add_scaled, cross, dot, scale, subtract
from .records import (
    BOX,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    add_found,
    center_of,
    column_of,
)

UPRIGHT = 1e-4  # radians
_QUARTER = 1.5707963267948966


@function
def rim_axes(placed, i, n):
    """Unit vectors across the axis of cylinder i: the first is the farthest from the normal n."""
    z = column_of(placed, i, 2)
    away = add_scaled(n, -dot(n, z), z)
    tilt = sqrt(dot(away, away))
    u = scale(-1.0 / tilt, away) if tilt > UPRIGHT else column_of(placed, i, 0)
    return u, cross(z, u)


@function
def rim_point(center, u, v, radius, angle):
    """The point of a circle at an angle from u."""
    s, c = sincos(angle)
    return add_scaled(add_scaled(center, radius * c, u), radius * s, v)


@function
def lowest_count(kind):
    """Number of points of a kind that can be lowest."""
    if kind == BOX:
        return 8
    if kind == CYLINDER:
        return 5
    return 2 if kind == CAPSULE else 1


@function
def box_corner(shape, placed, i, k):
    """Corner k of box i; bits of k tell on which side along each axis."""
    x = center_of(placed, i)
    for t in range(3):
        side = 1.0 if (k >> t) & 1 else -1.0
        x = add_scaled(x, side * shape.half[t], column_of(placed, i, t))
    return x


@function
def lowest_rim(shape, placed, i, n, k):
    """Point k of cylinder i that can be lowest: 0 to 3 on the lower cap, 4 on the other."""
    z = column_of(placed, i, 2)
    side = -1.0 if dot(n, z) > 0.0 else 1.0
    if k == 4:
        side = -side
    u, v = rim_axes(placed, i, n)
    cap = add_scaled(center_of(placed, i), side * shape.half[2], z)
    return rim_point(cap, u, v, shape.half[0], _QUARTER * (k % 4))


@function
def lowest_of_ellipsoid(shape, placed, i, n):
    """c - S^2 n / |S n|, S the radii along the ellipsoid's axes"""
    x, square = (0.0, 0.0, 0.0), 0.0
    for t in range(3):
        axis, radius = column_of(placed, i, t), shape.half[t]
        along = radius * dot(n, axis)
        square += along * along
        x = add_scaled(x, radius * along, axis)
    return add_scaled(center_of(placed, i), -1.0 / sqrt(square), x)


@function
def lowest_point(shape, placed, i, n, k):
    """Point k of shape i that can be lowest along the normal n."""
    if shape.kind == BOX:
        return box_corner(shape, placed, i, k)
    if shape.kind == CYLINDER:
        return lowest_rim(shape, placed, i, n, k)
    if shape.kind == ELLIPSOID:
        return lowest_of_ellipsoid(shape, placed, i, n)
    side = 1.0 if k == 0 else -1.0
    end = add_scaled(center_of(placed, i), side * shape.half[2], column_of(placed, i, 2))
    return add_scaled(end, -shape.half[0], n)


@function
def with_plane(world, i, j, margin, work):
    """Points between plane i and shape j; the feature is the number of the point."""
    placed, shape, count = work.placed, world.shapes[j], 0
    n, origin = column_of(placed, i, 2), center_of(placed, i)
    for k in range(lowest_count(shape.kind)):
        x = lowest_point(shape, placed, j, n, k)
        distance = dot(n, subtract(x, origin))
        middle = add_scaled(x, -0.5 * distance, n)
        count = add_found(work.found, count, margin, middle, n, distance, k)
    return count

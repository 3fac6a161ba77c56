"""Boxes and cylinders: the direction in which two of them are farthest apart.

| here    | what it is                                                                          |
| ------- | ----------------------------------------------------------------------------------- |
| d       | a unit vector, from the first shape to the second                                   |
| reach   | how far a shape extends from its centre along d                                     |
| gap     | distance of the two shapes along d, negative where they overlap; the largest counts |
| circle  | the unit vectors across an axis: normals of an edge of a box, of a cylinder's side  |

Two boxes: the gap is largest along a normal of a face, or across an edge of each (separating axes;
exact where they overlap). With a cylinder: along a normal of a box, along an axis of a cylinder, or
on a circle of either, which is searched: at COARSE angles, and from the best one by steps that are
halved. Rims of two cylinders are found by steps that leave the circle. The gap is never more than
the distance; it is less for shapes that are apart and nearest at a corner.
"""

from __future__ import annotations

from ...compile import absolute, function, sincos, sqrt
from ...spatial.vectors import add_scaled, cross, dot, scale, subtract
from .records import BOX, CYLINDER, center_of, column_of, unit

COARSE = 12  # angles of half a circle
FINEST = 1e-7  # radians
# Faces are preferred to edges, and those of the first shape to those of the second, by this part
# of the size: otherwise a box that rests on another has four points now and one a step later.
PREFERENCE = 1e-4
_MOST_STEPS = 100  # about 40 are usual
_STEP = 3.141592653589793 / COARSE


@function
def reach(shape, placed, i, d):
    """How far a box or cylinder extends from its centre along d."""
    along = dot(d, column_of(placed, i, 2))
    if shape.kind == BOX:
        x = absolute(dot(d, column_of(placed, i, 0)))
        y = absolute(dot(d, column_of(placed, i, 1)))
        return shape.half[0] * x + shape.half[1] * y + shape.half[2] * absolute(along)
    across = sqrt(max(0.0, 1.0 - along * along))
    return shape.half[2] * absolute(along) + shape.half[0] * across


@function
def gap_along(world, i, j, apart, d, placed):
    """Distance of two shapes along d or -d; `apart` is from one centre to the other."""
    reaches = reach(world.shapes[i], placed, i, d) + reach(world.shapes[j], placed, j, d)
    return absolute(dot(d, apart)) - reaches


@function
def is_axis(world, i, k):
    """Whether axis k of a shape is a normal of it: of a box all three, of a cylinder the last."""
    return k == 2 or world.shapes[i].kind == BOX


@function
def best_normal(world, i, j, apart, preference, placed):
    """The normal of a face of either shape along which the gap is largest, and the gap."""
    best, d = -1e300, (0.0, 0.0, 1.0)
    for k in range(6):
        owner = i if k < 3 else j
        if is_axis(world, owner, k % 3):
            axis = column_of(placed, owner, k % 3)
            gap = gap_along(world, i, j, apart, axis, placed)
            if gap > best + (0.0 if k < 3 else preference):
                best, d = gap, axis
    return best, d


@function
def best_edges(world, i, j, apart, best, d, placed):
    """The direction across an edge of each box, if the gap is larger than `best`; and the gap."""
    for k in range(9):
        across = cross(column_of(placed, i, k // 3), column_of(placed, j, k % 3))
        square = dot(across, across)
        if square > 1e-6:  # else the edges are parallel
            axis = scale(1.0 / sqrt(square), across)
            gap = gap_along(world, i, j, apart, axis, placed)
            if gap > best:
                best, d = gap, axis
    return best, d


@function
def coarse_on_circle(world, i, j, apart, axes, placed):
    """The best of a few directions between two axes."""
    best, d = -1e300, axes[0]
    for k in range(COARSE):
        s, c = sincos(_STEP * k)
        direction = add_scaled(scale(c, axes[0]), s, axes[1])
        gap = gap_along(world, i, j, apart, direction, placed)
        if gap > best:
            best, d = gap, direction
    return best, d


@function
def climb(world, i, j, apart, axis, best, d, floor, placed):
    """The direction with the largest gap near d, on the circle across an axis.

    For two cylinders also off the circle, where two rims touch. Where the gap cannot become larger
    than the floor, the search ends: this saves a third of its steps for a box and a cylinder.
    """
    step = 0.5 * _STEP
    # The gap changes at most by this much a radian: centres are no farther apart than the sum.
    most = 2.0 * (world.shapes[i].radius + world.shapes[j].radius)
    is_free = world.shapes[i].kind == CYLINDER and world.shapes[j].kind == CYLINDER
    for _ in range(_MOST_STEPS):
        has_moved = False
        for k in range(4 if is_free else 2):
            along = unit(cross(axis, d), d)
            tangent = along if k < 2 else cross(d, along)
            direction = unit(add_scaled(d, step if k % 2 else -step, tangent), d)
            gap = gap_along(world, i, j, apart, direction, placed)
            if gap > best + 1e-15:
                best, d, has_moved = gap, direction, True
        if not has_moved:
            step *= 0.5
            if step < FINEST or best + 4.0 * most * step < floor:
                break
    return best, d


@function
def best_curved(world, i, j, apart, best, d, margin, placed):
    """The direction across an axis of either, if the gap is larger than `best`; and the gap."""
    for k in range(6):
        owner = i if k < 3 else j
        if is_axis(world, owner, k % 3) and best <= margin:
            axis = column_of(placed, owner, k % 3)
            axes = column_of(placed, owner, (k + 1) % 3), column_of(placed, owner, (k + 2) % 3)
            gap, direction = coarse_on_circle(world, i, j, apart, axes, placed)
            gap, direction = climb(world, i, j, apart, axis, gap, direction, best, placed)
            if gap > best:
                best, d = gap, direction
    return best, d


@function
def farthest_direction(world, i, j, margin, placed):
    """The largest gap of boxes or cylinders i and j, and its direction from i to j.

    The search ends early where the gap is more than the margin.
    """
    apart = subtract(center_of(placed, j), center_of(placed, i))
    preference = PREFERENCE * (world.shapes[i].radius + world.shapes[j].radius)
    best, d = best_normal(world, i, j, apart, preference, placed)
    if best <= margin:
        least, normal = best + preference, d
        if world.shapes[j].kind == BOX:  # then both are
            gap, other = best_edges(world, i, j, apart, least, normal, placed)
        else:
            gap, other = best_curved(world, i, j, apart, least, normal, margin, placed)
        if gap > least:
            best, d = gap, other
    return best, scale(-1.0 if dot(d, apart) < 0.0 else 1.0, d)

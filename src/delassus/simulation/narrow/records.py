"""Shapes as pairs see them: their kinds, where they are, and the points found between two of them.

| here            | what it is                                                                  |
| --------------- | --------------------------------------------------------------------------- |
| PLACED.R, p     | axes of a shape by rows, and its centre, in world axes                      |
| shape.half      | box: half edges; sphere, capsule, cylinder: radius, radius, half length     |
|                 | along z; ellipsoid: radii; a plane has none, its normal is z; a hull has    |
| shape.first, end | numbers of its corners among world.vertices, three numbers each            |
| FOUND.point     | midway between the two surfaces                                             |
| FOUND.normal    | unit vector from the first shape to the second                              |
| FOUND.distance  | gap along the normal, negative where the shapes overlap                     |
| FOUND.feature   | a number that stays the same while the same corner or edge touches          |

Functions of pairs are called as f(world, i, j, margin, work) with the numbers of two shapes, and
return how many points they have found. Points farther apart than the margin are not stored.
"""

from __future__ import annotations

from ...compile import function, layout, slots, sqrt
from ...spatial.vectors import dot, get3, put3, scale

# Kinds of shapes. In a pair the shape of the lower kind comes first.
PLANE, SPHERE, CAPSULE, BOX, CYLINDER, ELLIPSOID, HULL, HEIGHTS = range(8)

PLACED = slots(R=9, p=3)
FOUND = slots(point=3, normal=3, distance=1, feature=1)
MOST_FOUND = 24  # points of one pair; two caps have at most 18
CORNERS = 8  # of a face that is clipped
FEATURES = 1 << 20  # numbers of features of one pair: corners of a hull can be many

# Work memory of collision: shapes in world axes, points of the current pair, a face to clip.
COLLISION = layout(
    placed=("n_shapes", PLACED),
    found=MOST_FOUND * FOUND.size,
    face=CORNERS * 3,
)


@function
def column_of(placed, i, k):
    """Axis k of shape i, in world axes."""
    at = i * PLACED.size + PLACED.R + k
    return (placed[at], placed[at + 3], placed[at + 6])


@function
def center_of(placed, i):
    """Centre of shape i."""
    return get3(placed, i * PLACED.size + PLACED.p)


@function
def unit(x, otherwise):
    """x / |x|, or another vector where x is nearly zero"""
    length = sqrt(dot(x, x))
    if length > 1e-12:
        return scale(1.0 / length, x)
    return otherwise


@function
def add_found(found, count, margin, point, normal, distance, feature):
    """Store a point, unless it is farther apart than the margin; returns how many there are."""
    if distance <= margin:
        at = count * FOUND.size
        put3(found, at + FOUND.point, point)
        put3(found, at + FOUND.normal, normal)
        found[at + FOUND.distance] = distance
        found[at + FOUND.feature] = 1.0 * feature
        return count + 1
    return count

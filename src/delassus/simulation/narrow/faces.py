"""Boxes and cylinders: where two of them touch along a given direction.

If the direction is the normal of a face (of a box, or the cap of a cylinder), the facing side of
the other shape is clipped to that face. Else edges, sides, corners or rims touch: two segments.

| here    | what it is                                                                       |
| ------- | -------------------------------------------------------------------------------- |
| a, b    | the shape whose face it is, and the other one, which is clipped                   |
| u, v, w | coordinates from the centre of the face: along it, and along its outward normal  |
| x       | corners of the facing side of b, three numbers each: u, v, w                     |

The facing side of b: a face of a box; a cap of a cylinder, as a polygon of CAP points, the first of
them the nearest; or the nearest line of a cylinder's side. Clipping is exact, to a circle too.
"""

from __future__ import annotations

from ...compile import absolute, function, sincos, sqrt
from ...spatial.vectors import add_scaled, cross, dot, get3, put3, scale, subtract
from .planes import rim_axes
from .records import BOX, CYLINDER, add_found, center_of, column_of, unit
from .segments import touching_parameters

CAP = 6  # points of the rim of a cap
LYING = 0.7  # a cylinder faces with its side where its axis is across the normal by this cosine
ALIGNED = 1.0 - 1e-7  # cosine from which on a direction is that of a normal
EDGE = 1e-4  # sine up to which a direction is across an edge
ROUGH = 1e-5  # parts of the size: points that are so little outside of a face are on it
_SIXTH = 6.283185307179586 / CAP
# Features of a pair: corners of b from 0 on, where an edge of b enters the face, where it leaves
# it, corners of the face; OTHER is added where a is the second shape of the pair.
ENTERING, LEAVING, OWN, OTHER = 8, 16, 24, 32


# --- the facing side ------------------------------------------------------------------------------


@function
def nearest_axis(world, i, placed, n):
    """The axis of a shape that is a normal of it and nearest to n or -n; and the cosine to n."""
    best, cosine = 2, dot(n, column_of(placed, i, 2))
    if world.shapes[i].kind == BOX:
        for k in range(2):
            x = dot(n, column_of(placed, i, k))
            if absolute(x) > absolute(cosine):
                best, cosine = k, x
    return best, cosine


@function
def facing_side(world, b, placed, n):
    """Middle, two half axes and number of corners of the side of b that faces against n."""
    shape, p = world.shapes[b], center_of(placed, b)
    k, cosine = nearest_axis(world, b, placed, n)
    axis = column_of(placed, b, k)
    if shape.kind == CYLINDER and absolute(cosine) < LYING:
        u, _ = rim_axes(placed, b, n)
        return add_scaled(p, shape.half[0], u), scale(shape.half[2], axis), (0.0, 0.0, 0.0), 2
    middle = add_scaled(p, -shape.half[k] if cosine > 0.0 else shape.half[k], axis)
    if shape.kind == CYLINDER:
        u, v = rim_axes(placed, b, n)
        return middle, scale(shape.half[0], u), scale(shape.half[0], v), CAP
    along, other = (k + 1) % 3, (k + 2) % 3
    u = scale(shape.half[along], column_of(placed, b, along))
    return middle, u, scale(shape.half[other], column_of(placed, b, other)), 4


@function
def corner_weights(count, m):
    """By how much corner m of a side is along its two half axes."""
    if count == CAP:
        s, c = sincos(_SIXTH * m)
        return c, s
    return (1.0 if m == 0 or m == 3 else -1.0), (1.0 if m < 2 else -1.0)


@function
def corner_number(world, b, placed, n, count, m):
    """A number of corner m of the facing side that no other corner of b has."""
    if count != 4:
        return m
    k, cosine = nearest_axis(world, b, placed, n)
    x, y = corner_weights(count, m)
    number = 0 if cosine > 0.0 else 1 << k
    number += 1 << ((k + 1) % 3) if x > 0.0 else 0
    return number + (1 << ((k + 2) % 3) if y > 0.0 else 0)


@function
def put_facing_side(world, b, frame, placed, face):
    """Store the corners of the facing side of b in the coordinates of a face; how many they are."""
    origin, u, v, n = frame
    middle, first, second, count = facing_side(world, b, placed, n)
    for m in range(count):
        x, y = corner_weights(count, m)
        corner = add_scaled(add_scaled(middle, x, first), y, second)
        away = subtract(corner, origin)
        put3(face, 3 * m, (dot(u, away), dot(v, away), dot(n, away)))
    return count


# --- clipping -------------------------------------------------------------------------------------


@function
def clip_to_slab(x, change, h, start, end):
    """The part of start to end where x + t change is within -h and h."""
    if absolute(change) < 1e-14 * h:
        return (start, end) if absolute(x) <= h else (1.0, 0.0)
    first, last = (-h - x) / change, (h - x) / change
    return max(start, min(first, last)), min(end, max(first, last))


@function
def clip_to_circle(x, y, dx, dy, radius):
    """The part of 0 to 1 where (x, y) + t (dx, dy) is within a circle."""
    a, b = dx * dx + dy * dy, x * dx + y * dy
    c = x * x + y * y - radius * radius
    square = b * b - a * c
    if a < 1e-28 * radius * radius:
        return (0.0, 1.0) if c <= 0.0 else (1.0, 0.0)
    if square < 0.0:
        return 1.0, 0.0
    root = sqrt(square)
    return max(0.0, (-b - root) / a), min(1.0, (root - b) / a)


@function
def clip_edge(kind, half, x, change):
    """The part of an edge, from 0 to 1, that is above a face; empty if the first is larger."""
    hu, hv = half[0] * (1.0 + ROUGH), half[1] * (1.0 + ROUGH)
    if kind == CYLINDER:
        return clip_to_circle(x[0], x[1], change[0], change[1], hu)
    start, end = clip_to_slab(x[0], change[0], hu, 0.0, 1.0)
    return clip_to_slab(x[1], change[1], hv, start, end)


@function
def height_at(face, count, u, v, rough):
    """Whether (u, v) is inside of a side with corners in `face`, and the height w of the side."""
    x0, x1, x2 = get3(face, 0), get3(face, 3), get3(face, 6)
    m = cross(subtract(x1, x0), subtract(x2, x0))
    turn, is_inside = (1.0 if m[2] > 0.0 else -1.0), True
    for k in range(count):
        start, end = get3(face, 3 * k), get3(face, 3 * ((k + 1) % count))
        du, dv = end[0] - start[0], end[1] - start[1]
        area = du * (v - start[1]) - dv * (u - start[0])
        is_inside = is_inside and turn * area > rough * sqrt(du * du + dv * dv)
    if absolute(m[2]) < 1e-12 * sqrt(dot(m, m)):
        return False, 0.0
    return is_inside, x0[2] - (m[0] * (u - x0[0]) + m[1] * (v - x0[1])) / m[2]


@function
def add_above(frame, x, sign, feature, margin, count, work):
    """Store the point at coordinates x above a face; the shapes' normal is `sign` times its own."""
    origin, u, v, n = frame
    point = add_scaled(add_scaled(origin, x[0], u), x[1], v)
    point = add_scaled(point, 0.5 * x[2], n)
    return add_found(work.found, count, margin, point, scale(sign, n), x[2], feature)


@function
def face_frame(world, a, placed, n):
    """Centre, two axes and normal of the face of a towards n, and its two half sizes."""
    shape = world.shapes[a]
    k, cosine = nearest_axis(world, a, placed, n)
    first, second = (k + 1) % 3, (k + 2) % 3
    normal = scale(-1.0 if cosine < 0.0 else 1.0, column_of(placed, a, k))
    origin = add_scaled(center_of(placed, a), shape.half[k], normal)
    axes = column_of(placed, a, first), column_of(placed, a, second)
    half = (shape.half[first], shape.half[second])
    return (origin, axes[0], axes[1], normal), half


@function
def clip_side(world, a, b, frame, half, features, margin, work):
    """Points of the facing side of b above a face of a; `features` are a sign and a first one."""
    face, kind, found = work.face, world.shapes[a].kind, 0
    sign, first = features
    count = put_facing_side(world, b, frame, work.placed, face)
    for m in range(1 if count == 2 else count):
        x = get3(face, 3 * m)
        change = subtract(get3(face, 3 * ((m + 1) % count)), x)
        start, end = clip_edge(kind, half, x, change)
        for k in range(2 if start <= end else 0):
            t, is_corner = (end, end == 1.0) if k else (start, start == 0.0)
            number = first + (LEAVING if k else ENTERING) + m
            if is_corner:
                number = first + corner_number(world, b, work.placed, frame[3], count, m + k)
            if k == 0 or not is_corner or count == 2:  # else the next edge starts there
                at = add_scaled(x, t, change)
                found = add_above(frame, at, sign, number, margin, found, work)
    for m in range(0 if count == 2 else (CAP if kind == CYLINDER else 4)):
        x, y = corner_weights(CAP if kind == CYLINDER else 4, m)
        rough = ROUGH * (half[0] + half[1])
        is_inside, w = height_at(face, count, x * half[0], y * half[1], rough)
        if is_inside:
            at = (x * half[0], y * half[1], w)
            found = add_above(frame, at, sign, first + OWN + m, margin, found, work)
    return found


# --- edges ----------------------------------------------------------------------------------------


@function
def extreme_segment(world, i, placed, d):
    """Middle, direction and half length of what is farthest along d; a corner has no length."""
    shape, x = world.shapes[i], center_of(placed, i)
    direction, half = column_of(placed, i, 2), 0.0
    for k in range(3):
        axis = column_of(placed, i, k)
        along = dot(d, axis)
        if k == 2 or shape.kind == BOX:
            if absolute(along) < EDGE and half == 0.0:
                direction, half = axis, 1.0 * shape.half[k]
            else:
                x = add_scaled(x, shape.half[k] if along > 0.0 else -shape.half[k], axis)
    if shape.kind == CYLINDER:
        z = column_of(placed, i, 2)
        across = add_scaled(d, -dot(d, z), z)
        x = add_scaled(x, shape.half[0], unit(across, column_of(placed, i, 0)))
    return x, direction, half


@function
def between_edges(world, i, j, d, margin, work):
    """Points between what is farthest along d of i and along -d of j."""
    count = 0
    p1, d1, h1 = extreme_segment(world, i, work.placed, d)
    p2, d2, h2 = extreme_segment(world, j, work.placed, scale(-1.0, d))
    for k in range(2):
        s, t, feature = touching_parameters(p1, d1, h1, p2, d2, h2, k)
        if feature >= 0:
            x1, x2 = add_scaled(p1, s, d1), add_scaled(p2, t, d2)
            apart = subtract(x2, x1)
            middle = add_scaled(x1, 0.5, apart)
            distance = dot(d, apart)
            count = add_found(work.found, count, margin, middle, d, distance, feature)
    return count


@function
def beside_face(world, b, frame, features, margin, work):
    """The one point of b that is deepest beneath a face, where b has none above the face itself.

    That is a corner or the end of a cylinder's side a little beside the face.
    """
    origin, u, v, n = frame
    sign, first = features
    x, along, half = extreme_segment(world, b, work.placed, scale(-1.0, n))
    nearest = dot(subtract(origin, x), along)
    away = subtract(add_scaled(x, max(-half, min(nearest, half)), along), origin)
    at = (dot(u, away), dot(v, away), dot(n, away))
    return add_above(frame, at, sign, first, margin, 0, work)


@function
def touch_along(world, i, j, d, gap, margin, work):
    """Points between boxes or cylinders i and j whose distance, the gap, is along d."""
    _, own = nearest_axis(world, i, work.placed, d)
    _, other = nearest_axis(world, j, work.placed, d)
    is_own = absolute(own) >= ALIGNED
    if not is_own and absolute(other) < ALIGNED:
        return between_edges(world, i, j, d, margin, work)
    a, b, sign = (i, j, 1.0) if is_own else (j, i, -1.0)
    frame, half = face_frame(world, a, work.placed, scale(sign, d))
    features = sign, 0 if is_own else OTHER
    count = clip_side(world, a, b, frame, half, features, margin, work)
    # The line of a cylinder's side can miss a face that the cylinder overlaps with.
    if count == 0 and gap < 0.0:
        count = beside_face(world, b, frame, features, margin, work)
    return count

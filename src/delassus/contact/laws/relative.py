"""How far reactions are from a solution, relative to what the problem is about.

The natural map of a problem as given adds N s and m/s, so that light bodies pass with any error. In
units of its own each row has reactions and velocities of one unit, the root of an energy:

    W = (mean of the diagonal of D over the rows of a limit, joint row or contact)^-1/2
    lambda^ = lambda / W        v^ = W v        b^ = W b        b: v without reactions of cones

The relative natural map is the largest |F_i| / s_i over rows i, where F is the natural map of
lambda^ and v^, and s_i the size of the limit, bounded row or contact that row i belongs to:

    s = max(a, min(|lambda^|, S), LIGHT S, ROUNDED |b^|, ROUNDED_REACTION |lambda^|)

with a the part of b^ that reactions have to take away and S the largest a of all cone rows; the
last two are the largest of all cone rows: what is smaller than they are is rounding.

| rows | a |
| --- | --- |
| limits | max(-b^, 0): the speed of closing |
| contacts | max(-b^_n, 0); without Gamma max(mu abs(b^_t) - b^_n, 0) |
| bounded | min(abs(b^), bound / W) |
| joints | abs(b^), where b is their given free velocity |

So each contact is judged by what it takes away itself, or carries. Slip does not count, as friction
is to be right where a box slides fast. Reactions count up to S only: where rows contradict each
other, they grow without bound, and an error must not look small beside them. LIGHT S is for rows
that neither close nor carry: those of two boxes side by side on the ground. Joint rows have S', the
largest a of all rows, in place of S, and no ROUNDED |b^|; where D_ii is IMMOVABLE times the largest
D_ii of them, or less, that one is taken.

| symbol | here | what |
| --- | --- | --- |
| W | unit | of cones, and of joints that are eliminated |
| max(a, LIGHT S, ROUNDED abs(b^)) | least | of each row |
| S, S' | cones.size | |
"""

from __future__ import annotations

from ...compile import absolute, function, maximum, minimum, select, sqrt
from .cones import clip, length2, project_cone, row_count

LIGHT = 1e-3
ROUNDED, ROUNDED_REACTION = 1e-7, 1e-9
# Of the largest diagonal entry of joint rows: what is smaller is rounding, as of the rows that keep
# a planar loop in its plane. They count like the most mobile row.
IMMOVABLE = 1e-13
NEVER = 1e300  # the relative natural map of what should be zero


@function
def unit_of(mobility):
    """W for a mean diagonal of D; 1 for rows that nothing moves."""
    one = 1.0 + 0.0 * mobility
    return select(mobility > 0.0, 1.0 / sqrt(select(mobility > 0.0, mobility, one)), one)


@function
def joint_unit(mobility, largest):
    """W of a joint row, for the largest diagonal entry of all joint rows."""
    return unit_of(select(mobility > IMMOVABLE * largest, mobility, largest))


@function
def put_sizes(counts, is_ncp, cones):
    """`least` and `size` of a problem, from its scaled free velocity."""
    put_sizes_of(counts, is_ncp, cones.b, cones.scale, cones)


@function
def put_sizes_of(counts, is_ncp, b, scale, cones):
    """`least` and `size`, from free velocities b / scale."""
    free, limits, bounded, _ = counts
    n, singles = row_count(counts), free + limits + bounded
    none = 0.0 * is_ncp
    size, fastest, most = none, none, none
    for i in range(n):
        x = cones.unit[i] * b[i] / scale[i]
        a = absolute(x)
        if i >= free:
            fastest = maximum(fastest, a)
        if free <= i < free + limits:
            a = maximum(-x, none)
        elif free <= i < singles:
            a = minimum(a, cones.own_coefficients[i] / cones.unit[i])
        elif i >= singles and (i - singles) % 3 < 2:
            a = none  # slip
        elif i >= singles:
            slip = length2(b[i - 2], b[i - 1]) * cones.unit[i] / scale[i]
            shift = (1.0 - is_ncp) * cones.own_coefficients[i] * slip
            a = maximum(shift - x, none)
        cones.least[i] = a
        if i >= free:
            size = maximum(size, a)
        most = maximum(most, a)
    floor = maximum(LIGHT * size, ROUNDED * fastest)
    for i in range(n):
        cones.least[i] = maximum(cones.least[i], floor if i >= free else LIGHT * most)
    cones.size[0] = size
    cones.size[1] = most


@function
def size_of(least, floor, size, reaction):
    """s of a row or contact with that reaction."""
    return maximum(maximum(least, floor), minimum(absolute(reaction), size))


@function
def size_to_reach(cones):
    """What velocities of joints are to be small beside: S, or S' where no cone closes."""
    return select(cones.size[0] > 0.0, cones.size[0], cones.size[1])


@function
def put_joint_sizes(count, free_velocity, cones, joints):
    """`least` of joint rows, and S'; after `put_sizes`."""
    size = cones.size[0]
    for i in range(count):
        joints.least[i] = joints.unit[i] * absolute(free_velocity[i])
        size = maximum(size, joints.least[i])
    for i in range(count):
        joints.least[i] = maximum(joints.least[i], LIGHT * size)
    cones.size[1] = maximum(size, cones.size[1])


@function
def relative_joint_map(count, reactions, velocity, cones, joints):
    """The relative natural map of joint rows that are eliminated."""
    found, floor = 0.0 * cones.size[1], 0.0 * cones.size[1]
    for i in range(count):
        floor = maximum(floor, absolute(reactions[i] / joints.unit[i]))
    for i in range(count):
        reaction = reactions[i] / joints.unit[i]
        s = size_of(joints.least[i], ROUNDED_REACTION * floor, cones.size[1], reaction)
        found = relative_to(found, joints.unit[i] * velocity[i], s)
    return found


@function
def relative_to(found, x, size):
    """The largest quotient so far, after one more."""
    one = 1.0 + 0.0 * size
    quotient = absolute(x) / select(size > 0.0, size, one)
    nothing = absolute(x) <= 0.0
    return maximum(found, select(size > 0.0, quotient, select(nothing, 0.0 * x, NEVER + x)))


@function
def largest_reaction(first, end, none, cones):
    """The largest lambda^ of some rows."""
    found = none
    for i in range(first, end):
        found = maximum(found, absolute(cones.own_reactions[i] / cones.unit[i]))
    return found


@function
def free_map(free, none, cones):
    """The relative natural map of free rows: joints that are not eliminated."""
    found, floor = none, ROUNDED_REACTION * largest_reaction(0, free, none, cones)
    for i in range(free):
        reaction = cones.own_reactions[i] / cones.unit[i]
        s = size_of(cones.least[i], floor, cones.size[1], reaction)
        found = relative_to(found, cones.unit[i] * cones.own_velocity[i], s)
    return found


@function
def relative_map(counts, cones, is_ncp):
    """The relative natural map of own_reactions and own_velocity."""
    free, limits, bounded, contacts = counts
    x, v, unit, least = cones.own_reactions, cones.own_velocity, cones.unit, cones.least
    size, singles, none = cones.size[0], free + limits + bounded, 0.0 * is_ncp
    found = free_map(free, none, cones)
    floor = ROUNDED_REACTION * largest_reaction(free, row_count(counts), none, cones)
    for i in range(free, singles):
        y, w = x[i] / unit[i], unit[i] * v[i]
        t = maximum(y - w, none)
        if i >= free + limits:
            t = clip(cones.own_coefficients[i] / unit[i], y - w)
        found = relative_to(found, y - t, size_of(least[i], floor, size, y))
    for c in range(contacts):
        i = singles + 3 * c
        mu, w = cones.own_coefficients[i + 2], unit[i + 2]
        y0, y1, y2 = x[i] / w, x[i + 1] / w, x[i + 2] / w
        v0, v1, v2 = w * v[i], w * v[i + 1], w * v[i + 2]
        shift = is_ncp * mu * length2(v0, v1)
        t0, t1, t2 = project_cone(mu, y0 - v0, y1 - v1, y2 - v2 - shift)
        error = maximum(absolute(y0 - t0), maximum(absolute(y1 - t1), absolute(y2 - t2)))
        reaction = maximum(absolute(y0), maximum(absolute(y1), absolute(y2)))
        s = size_of(least[i + 2], floor, size, reaction)
        found = relative_to(found, error, s)
    return found


@function
def scaled_map(counts, cones, is_ncp, reactions, velocity):
    """The relative natural map for scaled reactions and D_c times them.

    Reactions and velocities as given stay in `own_reactions` and `own_velocity`.
    """
    for i in range(row_count(counts)):
        cones.own_reactions[i] = cones.scale[i] * reactions[i]
        cones.own_velocity[i] = (velocity[i] + cones.b[i]) / cones.scale[i]
    return relative_map(counts, cones, is_ncp)

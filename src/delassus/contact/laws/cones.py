"""Sets that reactions are restricted to, and projections onto them (seed 001, (147) to (151)).

Rows stand in this order, and `counts` tells how many of each kind there are:

| kind | set K of reactions | dual: velocities |
| --- | --- | --- |
| free (joints that are not eliminated) | all numbers | 0 |
| limits | lambda >= 0 | v >= 0 |
| bounded | abs(lambda) <= b | any; v opposes lambda where abs(lambda) = b |
| contacts, three rows t1 t2 n | abs(lambda_t) <= mu lambda_n | v_n >= mu abs(v_t) |

`coefficients` has a number for each row: b of a bounded row, mu in the normal row of a contact.

Departure: the third case of (150) and (151) is "otherwise". As printed there is a gap for mu > 1.
"""

from __future__ import annotations

from ...compile import absolute, function, maximum, minimum, select, sqrt


@function
def length2(x, y):
    """The length of a vector in the plane."""
    return sqrt(x * x + y * y)


@function
def project_cone(mu, x, y, n):
    """The nearest point of Coulomb's cone, (150)."""
    a, none = length2(x, y), 0.0 * n
    # The order matters for mu = 0, where the cone is a ray.
    is_polar, is_inside = mu * a <= -n, a <= mu * n
    normal = (mu * a + n) / (1.0 + mu * mu)
    share = mu * normal / select(a > 0.0, a, 1.0 + none)
    normal = select(is_polar, none, select(is_inside, n, normal))
    share = select(is_polar, none, select(is_inside, 1.0 + none, share))
    return share * x, share * y, normal


@function
def project_dual_cone(mu, x, y, n):
    """The nearest point of the dual of Coulomb's cone, (151)."""
    a, none = length2(x, y), 0.0 * n
    is_inside, is_polar = mu * a <= n, a <= -(mu * n)
    size = (a + mu * n) / (1.0 + mu * mu)
    share = size / select(a > 0.0, a, 1.0 + none)
    normal = select(is_inside, n, select(is_polar, none, mu * size))
    share = select(is_inside, 1.0 + none, select(is_polar, none, share))
    return share * x, share * y, normal


@function
def project_disk(radius, x, y):
    """The nearest point of a disk, (148)."""
    a = length2(x, y)
    share = select(a > radius, radius / select(a > 0.0, a, 1.0 + 0.0 * a), 1.0 + 0.0 * a)
    return share * x, share * y


@function
def clip(bound, x):
    """The nearest number of [-bound, bound]."""
    return minimum(maximum(x, -bound), bound)


@function
def row_count(counts):
    """The number of rows of all kinds."""
    return counts[0] + counts[1] + counts[2] + 3 * counts[3]


@function
def project(counts, coefficients, x, y):
    """y = P_K(x)"""
    free, limits, bounded, contacts = counts
    for i in range(free):
        y[i] = x[i]
    for i in range(free, free + limits):
        y[i] = maximum(x[i], 0.0 * x[i])
    at = free + limits + bounded
    for i in range(free + limits, at):
        y[i] = clip(coefficients[i], x[i])
    for c in range(contacts):
        i = at + 3 * c
        y[i], y[i + 1], y[i + 2] = project_cone(coefficients[i + 2], x[i], x[i + 1], x[i + 2])


@function
def natural_entry(found, x, y):
    """The largest entry of a natural map so far, after one more."""
    return maximum(found, absolute(x - y))


@function
def natural_map(counts, coefficients, is_ncp, reactions, velocity):
    """max |lambda - P_K(lambda - v - Gamma(v))|, (163); without Gamma for `is_ncp` = 0, (164)."""
    free, limits, bounded, contacts = counts
    found = 0.0 * is_ncp
    for i in range(free):
        found = maximum(found, absolute(velocity[i]))
    for i in range(free, free + limits):
        x = reactions[i] - velocity[i]
        found = natural_entry(found, reactions[i], maximum(x, 0.0 * x))
    at = free + limits + bounded
    for i in range(free + limits, at):
        x = clip(coefficients[i], reactions[i] - velocity[i])
        found = natural_entry(found, reactions[i], x)
    for c in range(contacts):
        i = at + 3 * c
        mu = coefficients[i + 2]
        shift = is_ncp * mu * length2(velocity[i], velocity[i + 1])
        x, y, n = project_cone(
            mu,
            reactions[i] - velocity[i],
            reactions[i + 1] - velocity[i + 1],
            reactions[i + 2] - velocity[i + 2] - shift,
        )
        found = natural_entry(found, reactions[i], x)
        found = natural_entry(found, reactions[i + 1], y)
        found = natural_entry(found, reactions[i + 2], n)
    return found

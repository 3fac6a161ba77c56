"""The conditions of the interior-point method, row by row, and Newton's system that they make.

See `interior` for the conditions and the symbols. Functions of one row or contact come first, then
the loop over all of them.
"""

from __future__ import annotations

from ...compile import function, layout, maximum, minimum
from ..laws.cones import row_count
from ..laws.scaling import (
    FAR,
    Scaling,
    inverse_square,
    jordan_product,
    jordan_quotient,
    scale_down,
    scale_up,
    scaling_of,
    step_to_boundary,
    step_to_zero,
)
from .newton import put_row

# x, y, z, changes, right-hand sides, r, products of changes; q and size are W of a contact.
INTERIOR = layout(
    **dict.fromkeys(
        ("x", "y", "z", "dy", "dz", "cy", "cz", "missing", "second", "third", "q", "size"),
        "cone_rows",
    )
)
PROXIMAL = 1e-8  # added to D, of the change of reactions only: redundant rows need it


# --- sums and steps over all cones ----------------------------------------------------------------


@function
def pair_of(mu, i, interior):
    """w and z of a contact whose rows start at i."""
    w = mu * interior.x[i + 2], interior.x[i], interior.x[i + 1]
    return w, (interior.z[i + 2], interior.y[i], interior.y[i + 1])


@function
def pair_change(mu, i, interior, d):
    """dw and dz"""
    return (mu * d[i + 2], d[i], d[i + 1]), (interior.dz[i + 2], interior.dy[i], interior.dy[i + 1])


@function
def gap_after(counts, cones, is_ncp, step, interior, d):
    """Sum of all products of reactions and velocities after a step, and their number."""
    free, limits, bounded, contacts = counts
    singles, x, y, z = free + limits + bounded, interior.x, interior.y, interior.z
    total, number = 0.0, 0
    for i in range(free, singles):
        a = x[i] + step * d[i]
        b = y[i] + step * interior.dy[i]
        if i < free + limits:
            total, number = total + a * b, number + 1
        elif cones.coefficients[i] > 0.0:
            upper = (cones.coefficients[i] - a) * (z[i] + step * interior.dz[i])
            total, number = total + (cones.coefficients[i] + a) * b + upper, number + 2
    for c in range(contacts):
        i = singles + 3 * c
        mu = cones.coefficients[i + 2]
        if is_ncp > 0.0 or mu <= 0.0:
            normal = x[i + 2] + step * d[i + 2]
            total = total + normal * (y[i + 2] + step * interior.dy[i + 2])
            number += 1
        if mu > 0.0:
            w, s = pair_of(mu, i, interior)
            dw, ds = pair_change(mu, i, interior, d)
            for t in range(3):
                total = total + (w[t] + step * dw[t]) * (s[t] + step * ds[t])
            number += 1
    return total, maximum(number, 1)


@function
def longest_step(counts, cones, interior, d):
    """The largest step that leaves no cone."""
    free, limits, bounded, contacts = counts
    singles, found = free + limits + bounded, FAR
    for i in range(free, singles):
        found = minimum(found, step_to_zero(interior.y[i], interior.dy[i]))
        if i < free + limits:
            found = minimum(found, step_to_zero(interior.x[i], d[i]))
        elif cones.coefficients[i] > 0.0:
            found = minimum(found, step_to_zero(interior.z[i], interior.dz[i]))
            found = minimum(found, step_to_zero(cones.coefficients[i] + interior.x[i], d[i]))
            found = minimum(found, step_to_zero(cones.coefficients[i] - interior.x[i], -d[i]))
    for c in range(contacts):
        i = singles + 3 * c
        mu = cones.coefficients[i + 2]
        found = minimum(found, step_to_zero(interior.x[i + 2], d[i + 2]))
        found = minimum(found, step_to_zero(interior.y[i + 2], interior.dy[i + 2]))
        if mu > 0.0:
            w, s = pair_of(mu, i, interior)
            dw, ds = pair_change(mu, i, interior, d)
            for t in range(2):
                a, da = (w, dw) if t == 0 else (s, ds)
                found = minimum(found, step_to_boundary(a, da))
    return found


@function
def put_scaling(i, W, interior):
    """Keep W of the contact whose rows start at i."""
    put_row(interior.q, i, W.q0, W.q1, W.q2)
    interior.size[i] = W.size


@function
def get_scaling(i, interior):
    """W of the contact whose rows start at i."""
    return Scaling(interior.q[i], interior.q[i + 1], interior.q[i + 2], interior.size[i])


# --- Newton's system ------------------------------------------------------------------------------


@function
def single_slope(i, is_limit, bound, interior):
    """Theta of a limit or a bounded row."""
    if is_limit:
        return interior.y[i] / interior.x[i]
    return interior.y[i] / (bound + interior.x[i]) + interior.z[i] / (bound - interior.x[i])


@function
def put_single_blocks(counts, cones, newton, interior):
    """E and H of rows for themselves."""
    free, limits, bounded, _ = counts
    for i in range(free + limits + bounded):
        slope = 0.0
        if i >= free:
            slope = single_slope(i, i < free + limits, cones.coefficients[i], interior)
        s = 1.0 / (1.0 + slope)
        newton.E[9 * i] = s * (slope + PROXIMAL)
        newton.H[9 * i] = s
        if i >= free + limits and cones.coefficients[i] <= 0.0:  # its reaction stays 0
            newton.E[9 * i] = 1.0
            newton.H[9 * i] = 0.0


@function
def put_contact_blocks(mu, is_ncp, i, at, newton, interior):
    """E and H of a contact whose rows start at i; `at` is where its blocks start."""
    n0, n1, n2 = 0.0, 0.0, interior.y[i + 2] / interior.x[i + 2]
    if mu > 0.0:
        w, z = pair_of(mu, i, interior)
        W = scaling_of(w, z)
        put_scaling(i, W, interior)
        t00, t01, t02, t11, t12, t22 = inverse_square(W)
        if is_ncp <= 0.0:
            n0, n1, n2 = mu * t01, mu * t02, mu * mu * t00
        s, r = 1.0 / (1.0 + t11), 1.0 / (1.0 + t22)
        put_row(newton.E, at, s * (t11 + PROXIMAL), s * t12, s * mu * t01)
        put_row(newton.E, at + 3, r * t12, r * (t22 + PROXIMAL), r * mu * t02)
    else:  # friction stays 0
        s, r = 0.0, 0.0
        put_row(newton.E, at, 1.0, 0.0, 0.0)
        put_row(newton.E, at + 3, 0.0, 1.0, 0.0)
    q = 1.0 / (1.0 + n2)
    put_row(newton.E, at + 6, q * n0, q * n1, q * (n2 + PROXIMAL))
    put_row(newton.H, at, s, 0.0, 0.0)
    put_row(newton.H, at + 3, 0.0, r, 0.0)
    put_row(newton.H, at + 6, 0.0, 0.0, q)


@function
def put_blocks(counts, cones, is_ncp, newton, interior):
    """E and H of all rows."""
    singles = counts[0] + counts[1] + counts[2]
    put_single_blocks(counts, cones, newton, interior)
    for c in range(counts[3]):
        i = singles + 3 * c
        mu = cones.coefficients[i + 2]
        put_contact_blocks(mu, is_ncp, i, 9 * (singles + c), newton, interior)


@function
def put_single_right(i, is_limit, bound, aim, interior):
    """c of a limit's velocity, or of the two slacks of a bounded row."""
    x, y, z = interior.x[i], interior.y[i], interior.z[i]
    if is_limit:
        interior.cy[i] = (aim - x * y - interior.second[i]) / x
    else:
        below, above = bound + x, bound - x
        interior.cy[i] = (aim - below * y - interior.second[i]) / below
        interior.cz[i] = (aim - above * z - interior.third[i]) / above


@function
def put_pair_right(i, aim, interior):
    """c of the pair w, z: W^-1 u with g o u = aim e - g o g - products of changes"""
    W = get_scaling(i, interior)
    g = scale_up(W, (interior.z[i + 2], interior.y[i], interior.y[i + 1]))
    a, b, c = jordan_product(g, g)
    second = interior.second
    r = aim - a - second[i + 2], -b - second[i], -c - second[i + 1]
    interior.cz[i + 2], interior.cy[i], interior.cy[i + 1] = scale_down(W, jordan_quotient(g, r))


@function
def put_right(counts, cones, is_ncp, aim, newton, interior):
    """c for m = aim, and F = r - c, scaled by rows; it is 0 where the reaction stays 0."""
    free, limits, bounded, contacts = counts
    singles = free + limits + bounded
    for i in range(row_count(counts)):
        interior.cy[i] = 0.0
        interior.cz[i] = 0.0
    for i in range(free, singles):
        if newton.H[9 * i] > 0.0:
            put_single_right(i, i < free + limits, cones.coefficients[i], aim, interior)
    for i in range(singles):
        c = interior.cy[i] - interior.cz[i]
        newton.F[i] = newton.H[9 * i] * (interior.missing[i] - c)
    for k in range(contacts):
        i, at = singles + 3 * k, 9 * (singles + k)
        mu, x, y = cones.coefficients[i + 2], interior.x[i + 2], interior.y[i + 2]
        interior.cy[i + 2] = (aim - x * y - interior.third[i + 2]) / x
        if mu > 0.0:
            put_pair_right(i, aim, interior)
            if is_ncp <= 0.0:
                interior.cy[i + 2] = mu * interior.cz[i + 2]
        for t in range(3):
            change = interior.missing[i + t] - interior.cy[i + t]
            newton.F[i + t] = newton.H[at + 4 * t] * change


@function
def put_contact_change(mu, is_ncp, i, d, interior):
    """dy of a contact, and dz of psi."""
    interior.dy[i + 2] = interior.cy[i + 2] - interior.y[i + 2] / interior.x[i + 2] * d[i + 2]
    if mu > 0.0:
        t00, t01, t02, t11, t12, t22 = inverse_square(get_scaling(i, interior))
        n, d0, d1 = mu * d[i + 2], d[i], d[i + 1]
        interior.dy[i] = interior.cy[i] - t01 * n - t11 * d0 - t12 * d1
        interior.dy[i + 1] = interior.cy[i + 1] - t02 * n - t12 * d0 - t22 * d1
        interior.dz[i + 2] = interior.cz[i + 2] - t00 * n - t01 * d0 - t02 * d1
        if is_ncp <= 0.0:
            interior.dy[i + 2] = mu * interior.dz[i + 2]


@function
def put_changes(counts, cones, is_ncp, d, interior):
    """dy and dz from dlambda."""
    free, limits, bounded, contacts = counts
    singles = free + limits + bounded
    for i in range(row_count(counts)):
        interior.dy[i] = 0.0
        interior.dz[i] = 0.0
    for i in range(free, singles):
        bound, x = cones.coefficients[i], interior.x[i]
        if i < free + limits:
            interior.dy[i] = interior.cy[i] - interior.y[i] / x * d[i]
        elif bound > 0.0:
            interior.dy[i] = interior.cy[i] - interior.y[i] / (bound + x) * d[i]
            interior.dz[i] = interior.cz[i] + interior.z[i] / (bound - x) * d[i]
    for c in range(contacts):
        i = singles + 3 * c
        put_contact_change(cones.coefficients[i + 2], is_ncp, i, d, interior)


@function
def put_second(counts, cones, d, interior):
    """Products of changes: what the linear conditions have left out."""
    free, limits, bounded, contacts = counts
    singles = free + limits + bounded
    for i in range(row_count(counts)):
        interior.second[i] = d[i] * interior.dy[i]
        interior.third[i] = -(d[i] * interior.dz[i])
    for c in range(contacts):
        i = singles + 3 * c
        mu = cones.coefficients[i + 2]
        interior.third[i + 2] = interior.second[i + 2]
        if mu > 0.0:
            dw, dz = pair_change(mu, i, interior, d)
            W = get_scaling(i, interior)
            a, b, e = jordan_product(scale_down(W, dw), scale_up(W, dz))
            put_row(interior.second, i, b, e, a)

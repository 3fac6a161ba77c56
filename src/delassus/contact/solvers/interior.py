"""A primal-dual interior-point method: the last resort where Newton and ADMM fail.

The friction cone is written without Gamma, by smooth conditions only (as Howell et al. in Dojo):

    lambda_n >= 0, v_n >= 0, lambda_n v_n = m
    w = (mu lambda_n, lambda_t) in L, z = (psi, v_t) in L, w o z = m e         psi -> |v_t|

L is the second-order cone of `laws.scaling`. A limit has lambda v = m; a bounded row two slacks,
v = y - z with (b + lambda) y = m and (b - lambda) z = m. For m -> 0 the solution is that of the
problem. Without Gamma, law="ccp", psi is v_n / mu, and lambda_n v_n = m is left out. With mu = 0
only the normal row is left.

Each iteration is a step of Newton's method for a smaller m (Mehrotra's predictor and corrector):

    (D + Theta) dlambda = c - r        dv = c - Theta dlambda        r = D lambda + b - v

| symbol | here | what |
| --- | --- | --- |
| lambda, v | x, y | reactions and velocities, strictly inside their cones |
| psi | z, in the normal row | bounded rows have their second slack there |
| Theta | E | blocks, scaled by rows; H has the scales |
| r | missing | what y misses of the true velocity |
| m | mean | mean of all products of reactions and velocities |
| c | `contact_right`, `pair_right` | right-hand sides of the conditions, of size v |
| dx o dy | second, third | products of the predictor's changes, for the corrector |

The Coulomb problem is not monotone: the path of solutions can turn back, and steps get short. Then
another attempt from a larger start, with shorter steps, often follows another path.
"""

from __future__ import annotations

from ...compile import absolute, function, layout, maximum, minimum
from ..laws.cones import row_count
from ..laws.request import OPTION
from ..laws.residuals import unscaled_map
from ..laws.scaling import (
    FAR,
    inverse_square,
    jordan_product,
    jordan_quotient,
    scale_down,
    scale_up,
    scaling_of,
    step_to_boundary,
    step_to_zero,
)
from ..operators import Operator
from .newton import put_row

INTERIOR = layout(
    **dict.fromkeys(("x", "y", "z", "dy", "dz", "missing", "second", "third"), "cone_rows")
)
PROXIMAL = 1e-8  # added to D, of the change of reactions only: redundant rows need it
SHORT, MOST_SHORT = 0.05, 10  # so many short steps in a row end an attempt
MOST_STEPS = 80


@function
def settings(attempt):
    """Size of the start, fraction of the way to the boundary, least share of m to aim at.

    Of 118 problems that Newton and ADMM had failed on, the first attempt solved 79 and the second
    91, both together 100.
    """
    if attempt == 0:
        return 1.0, 0.9, 1e-6
    return 100.0, 0.7, 0.1


@function
def start(counts, cones, is_ncp, factor, interior):
    """Reactions and velocities in the middle of their cones."""
    free, limits, bounded, contacts = counts
    singles = free + limits + bounded
    size = 1e-12
    for i in range(row_count(counts)):
        size = maximum(size, absolute(cones.b[i]))
        interior.x[i] = 0.0
        interior.y[i] = 0.0
        interior.z[i] = 0.0
    size = factor * size
    for i in range(free, singles):
        interior.x[i] = size if i < free + limits else 0.0
        interior.y[i] = size
        interior.z[i] = size
    for c in range(contacts):
        i = singles + 3 * c + 2
        mu = cones.coefficients[i]
        interior.x[i] = size
        interior.y[i] = size if is_ncp > 0.0 or mu <= 0.0 else mu * size
        interior.z[i] = size


@function
def put_missing(counts, cones, interior, newton):
    """r = D lambda + b - v, from newton.v = D lambda"""
    first = counts[0] + counts[1]
    for i in range(row_count(counts)):
        slack = interior.y[i]
        if first <= i < first + counts[2]:
            slack = slack - interior.z[i]
        interior.missing[i] = newton.v[i] + cones.b[i] - slack


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
            found = minimum(found, minimum(step_to_boundary(w, dw), step_to_boundary(s, ds)))
    return found


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
        t00, t01, t02, t11, t12, t22 = inverse_square(scaling_of(w, z))
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
def single_right(i, is_limit, bound, aim, interior):
    """What a limit's velocity, or the two slacks of a bounded row, would be for m = aim: c."""
    x, y, z = interior.x[i], interior.y[i], interior.z[i]
    if is_limit:
        return (aim - x * y - interior.second[i]) / x, 0.0
    below, above = bound + x, bound - x
    return (
        (aim - below * y - interior.second[i]) / below,
        (aim - above * z - interior.third[i]) / above,
    )


@function
def pair_right(mu, i, aim, interior):
    """c of the pair w, z: W^-1 (g \\ (aim e - g o g - second-order terms))"""
    w, z = pair_of(mu, i, interior)
    W = scaling_of(w, z)
    g = scale_up(W, z)
    a, b, c = jordan_product(g, g)
    second = interior.second
    r = aim - a - second[i + 2], -b - second[i], -c - second[i + 1]
    return scale_down(W, jordan_quotient(g, r))


@function
def contact_right(mu, is_ncp, i, aim, interior):
    """c of a contact's three rows, and that of psi."""
    head, c0, c1 = 0.0, 0.0, 0.0
    if mu > 0.0:
        head, c0, c1 = pair_right(mu, i, aim, interior)
        if is_ncp <= 0.0:
            return c0, c1, mu * head, head
    x, y = interior.x[i + 2], interior.y[i + 2]
    return c0, c1, (aim - x * y - interior.third[i + 2]) / x, head


@function
def put_right(counts, cones, is_ncp, aim, newton, interior):
    """F = r - c, scaled by rows; of rows whose reaction stays 0 it is 0."""
    free, limits, bounded, contacts = counts
    singles = free + limits + bounded
    for i in range(singles):
        c = 0.0
        if i >= free and newton.H[9 * i] > 0.0:
            lower, upper = single_right(i, i < free + limits, cones.coefficients[i], aim, interior)
            c = lower - upper
        newton.F[i] = newton.H[9 * i] * (interior.missing[i] - c)
    for k in range(contacts):
        i, at = singles + 3 * k, 9 * (singles + k)
        c0, c1, c2, _ = contact_right(cones.coefficients[i + 2], is_ncp, i, aim, interior)
        newton.F[i] = newton.H[at] * (interior.missing[i] - c0)
        newton.F[i + 1] = newton.H[at + 4] * (interior.missing[i + 1] - c1)
        newton.F[i + 2] = newton.H[at + 8] * (interior.missing[i + 2] - c2)


@function
def put_single_change(i, is_limit, bound, aim, d, interior):
    """dy and dz of a limit or a bounded row."""
    lower, upper = single_right(i, is_limit, bound, aim, interior)
    if is_limit:
        interior.dy[i] = lower - interior.y[i] / interior.x[i] * d[i]
    else:
        interior.dy[i] = lower - interior.y[i] / (bound + interior.x[i]) * d[i]
        interior.dz[i] = upper + interior.z[i] / (bound - interior.x[i]) * d[i]


@function
def put_contact_change(mu, is_ncp, i, aim, d, interior):
    """dy of a contact, and dz of psi."""
    c0, c1, c2, head = contact_right(mu, is_ncp, i, aim, interior)
    interior.dy[i] = 0.0
    interior.dy[i + 1] = 0.0
    interior.dz[i + 2] = 0.0
    if mu > 0.0:
        w, z = pair_of(mu, i, interior)
        t00, t01, t02, t11, t12, t22 = inverse_square(scaling_of(w, z))
        n = mu * d[i + 2]
        interior.dy[i] = c0 - t01 * n - t11 * d[i] - t12 * d[i + 1]
        interior.dy[i + 1] = c1 - t02 * n - t12 * d[i] - t22 * d[i + 1]
        interior.dz[i + 2] = head - t00 * n - t01 * d[i] - t02 * d[i + 1]
    if is_ncp > 0.0 or mu <= 0.0:
        interior.dy[i + 2] = c2 - interior.y[i + 2] / interior.x[i + 2] * d[i + 2]
    else:
        interior.dy[i + 2] = mu * interior.dz[i + 2]


@function
def put_changes(counts, cones, is_ncp, aim, d, interior):
    """dy and dz from dlambda."""
    free, limits, bounded, contacts = counts
    singles = free + limits + bounded
    for i in range(singles):
        interior.dy[i] = 0.0
        interior.dz[i] = 0.0
        if free <= i < free + limits or (i >= free and cones.coefficients[i] > 0.0):
            put_single_change(i, i < free + limits, cones.coefficients[i], aim, d, interior)
    for c in range(contacts):
        i = singles + 3 * c
        put_contact_change(cones.coefficients[i + 2], is_ncp, i, aim, d, interior)


@function
def put_second(counts, cones, weight, d, interior):
    """Products of changes: what the linear conditions have left out. `weight` is 0 or 1."""
    free, limits, bounded, contacts = counts
    singles = free + limits + bounded
    for i in range(row_count(counts)):
        interior.second[i] = weight * d[i] * interior.dy[i]
        interior.third[i] = -weight * d[i] * interior.dz[i]
    for c in range(contacts):
        i = singles + 3 * c
        mu = cones.coefficients[i + 2]
        interior.third[i + 2] = interior.second[i + 2]
        if mu > 0.0:
            w, z = pair_of(mu, i, interior)
            dw, dz = pair_change(mu, i, interior, d)
            W = scaling_of(w, z)
            a, b, e = jordan_product(scale_down(W, dw), scale_up(W, dz))
            put_row(interior.second, i, weight * b, weight * e, weight * a)


@function
def move(n, step, d, interior):
    """Take a step."""
    for i in range(n):
        interior.x[i] = interior.x[i] + step * d[i]
        interior.y[i] = interior.y[i] + step * interior.dy[i]
        interior.z[i] = interior.z[i] + step * interior.dz[i]


@function
def clear_changes(n, d, interior):
    """No change yet."""
    for i in range(n):
        d[i] = 0.0
        interior.dy[i] = 0.0
        interior.dz[i] = 0.0


def interior_method(op: Operator):
    """The interior-point method with an operator."""
    multiply, solve_blocks = op.multiply, op.solve_blocks
    solve_again = op.solve_blocks_again or op.solve_blocks

    @function
    def put_direction(model, counts, least, cones, is_ncp, work):
        """The predictor, then the corrector, which is left in d, dy and dz."""
        newton, interior, n = work.newton, work.interior, row_count(counts)
        clear_changes(n, newton.d, interior)
        gap, number = gap_after(counts, cones, is_ncp, 0.0, interior, newton.d)
        put_blocks(counts, cones, is_ncp, newton, interior)
        put_second(counts, cones, 0.0, newton.d, interior)
        put_right(counts, cones, is_ncp, 0.0, newton, interior)
        solve_blocks(model, counts, 0.0, newton, work.dense)
        put_changes(counts, cones, is_ncp, 0.0, newton.d, interior)
        step = minimum(1.0, longest_step(counts, cones, interior, newton.d))
        after, _ = gap_after(counts, cones, is_ncp, step, interior, newton.d)
        share = after / gap
        aim = minimum(maximum(share * share * share, least), 1.0) * gap / number
        put_second(counts, cones, 1.0, newton.d, interior)
        put_right(counts, cones, is_ncp, aim, newton, interior)
        solve_again(model, counts, 0.0, newton, work.dense)
        put_changes(counts, cones, is_ncp, aim, newton.d, interior)
        return gap

    @function
    def run(model, counts, attempt, cones, options, reactions, work):
        """Reactions from a start of its own. Returns their natural map, and the steps."""
        newton, interior, n = work.newton, work.interior, row_count(counts)
        is_ncp, tolerance = options[OPTION.is_ncp], options[OPTION.tolerance]
        factor, fraction, least = settings(attempt)
        start(counts, cones, is_ncp, factor, interior)
        best, steps, short, gap = 1e300, 0, 0, 1.0
        while best > tolerance and steps < MOST_STEPS and short < MOST_SHORT and 0.0 < gap < 1e300:
            multiply(model, n, interior.x, newton.v, work.dense)
            found = unscaled_map(counts, cones, options, interior.x, newton.v)
            if found < best:
                best = found
                for i in range(n):
                    reactions[i] = interior.x[i]
            put_missing(counts, cones, interior, newton)
            gap = put_direction(model, counts, least, cones, is_ncp, work)
            step = minimum(1.0, fraction * longest_step(counts, cones, interior, newton.d))
            short = short + 1 if not step >= SHORT else 0
            move(n, step, newton.d, interior)
            steps += 1
        return best, steps

    return run

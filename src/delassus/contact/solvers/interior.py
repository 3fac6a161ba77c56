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
| m | gap / number | mean of all products of reactions and velocities |
| c | cy, cz | right-hand sides of the conditions, with the unit of v |
| dx o dy | second, third | products of the predictor's changes, for the corrector |

The Coulomb problem is not monotone: the path of solutions can turn back, and steps get short. Then
another attempt, from a start of another size and with shorter steps, often follows another path: of
118 problems that Newton and ADMM had failed on, `settings` 0 solved 79, 1 solved 91, both 100. Of
26 that the first four fail on (120 and 240 rows, masses 1e6 apart), 4 to 6 solve 8.
"""

from __future__ import annotations

from ...compile import absolute, function, maximum, minimum, routine
from ..laws.cones import row_count
from ..laws.relative import scaled_map
from ..laws.request import OPTION
from ..operators import Operator
from .conditions import gap_after, longest_step, put_blocks, put_changes, put_right, put_second

SHORT, MOST_SHORT = 0.05, 10  # so many short steps in a row end an attempt
MOST_STEPS = 120
ATTEMPTS = 7


@function
def settings(attempt):
    """Size of the start, fraction of the way to the boundary, least share of m to aim at."""
    if attempt == 0:
        return 1.0, 0.9, 1e-6
    if attempt == 1:
        return 100.0, 0.7, 0.1
    if attempt == 2:
        return 0.1, 0.9, 1e-6
    if attempt == 3:
        return 10.0, 0.5, 0.2
    if attempt == 4:
        return 0.1, 0.3, 0.3
    if attempt == 5:
        return 100.0, 0.5, 0.2
    return 1.0, 0.7, 0.1


@function
def start(counts, cones, is_ncp, factor, interior):
    """Reactions and velocities in the middle of their cones."""
    free, limits, bounded, contacts = counts
    singles = free + limits + bounded
    size = 0.0
    for i in range(row_count(counts)):
        size = maximum(size, absolute(cones.b[i]))
        interior.x[i] = 0.0
        interior.y[i] = 0.0
        interior.z[i] = 0.0
    size = factor * size if size > 0.0 else factor
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
        """The predictor, then the corrector, which stays in d, dy, dz. Returns gap and step."""
        newton, interior = work.newton, work.interior
        clear_changes(row_count(counts), newton.d, interior)
        put_blocks(counts, cones, is_ncp, newton, interior)
        gap, aim, step = 1.0, 0.0, 0.0
        # Each function is called in one place, as each place is compiled anew.
        for phase in range(2):
            after, number = gap_after(counts, cones, is_ncp, minimum(1.0, step), interior, newton.d)
            put_second(counts, cones, newton.d, interior)
            if phase == 0:
                gap = after
            else:
                share = after / gap
                aim = minimum(maximum(share * share * share, least), 1.0) * gap / number
            put_right(counts, cones, is_ncp, aim, newton, interior)
            if phase == 0:
                solve_blocks(model, counts, 0.0, newton, work.dense)
            else:
                solve_again(model, counts, 0.0, newton, work.dense)
            put_changes(counts, cones, is_ncp, newton.d, interior)
            step = longest_step(counts, cones, interior, newton.d)
        return gap, step

    @routine
    def run(model, counts, attempt, cones, options, reactions, work):
        """Reactions from a start of its own. Returns the number of steps."""
        newton, interior, n = work.newton, work.interior, row_count(counts)
        is_ncp, tolerance = options[OPTION.is_ncp], options[OPTION.tolerance]
        factor, fraction, least = settings(attempt)
        start(counts, cones, is_ncp, factor, interior)
        best, steps, short, gap = 1e300, 0, 0, 1.0
        while best > tolerance and steps < MOST_STEPS and short < MOST_SHORT and 0.0 < gap < 1e300:
            multiply(model, n, interior.x, newton.v, work.dense)
            found = scaled_map(counts, cones, is_ncp, interior.x, newton.v)
            if found < best:
                best = found
                for i in range(n):
                    reactions[i] = interior.x[i]
            put_missing(counts, cones, interior, newton)
            gap, longest = put_direction(model, counts, least, cones, is_ncp, work)
            step = minimum(1.0, fraction * longest)
            short = short + 1 if not step >= SHORT else 0
            move(n, step, newton.d, interior)
            steps += 1
        return steps

    return run

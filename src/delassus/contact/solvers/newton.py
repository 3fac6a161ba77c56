"""A semi-smooth Newton method on the natural map, safeguarded by a line search.

    F(lambda) = lambda - P_K(t)        t = lambda - v - Gamma(v)        v = D lambda + b
    (E + H D) d = -F                   E = 1 - P', H = P' (1 + Gamma')

P' is the derivative of the projection at t: 1 where a contact sticks, 0 where it opens. Blocks of E
and H belong to a contact; those of other rows are numbers. A step is shortened until F falls, and
projected onto K. Where that fails, the method says so: `auto` then goes on by ADMM.

| symbol | here | what |
| --- | --- | --- |
| E, H | E, H | nine numbers for each row or contact, of which single rows use the first |
| F, d | F, d | the natural map, and the step |

All is scaled (see `operators.dense`). The cost of a step is O(n^3) for the n rows that are active.
"""

from __future__ import annotations

from ...compile import absolute, function, layout, maximum, minimum, routine, sqrt
from ..laws.cones import length2, natural_map, project, row_count
from ..laws.relative import scaled_map
from ..laws.request import OPTION
from ..operators import Operator

NEWTON = layout(
    E=lambda n: 9 * n["cone_rows"],
    H=lambda n: 9 * n["cone_rows"],
    F="cone_rows",
    d="cone_rows",
    v="cone_rows",
    tried="cone_rows",
)
SHORTENING, MOST_TRIES = 0.4, 6
CLOSE = 0.01  # of 1: a factor for all reactions that is not worth a look
# Of its bound: dry friction that slides has at least this. And of the largest reaction: a speed, in
# scaled rows, with which a contact hardly closes.
AT_BOUND, HARDLY = 1.0 - 1e-4, 1e-2
SLIP = 1e-14  # of the largest speed of closing: slip that has no direction
# Of E, so that redundant contacts do not make the matrix singular. Rows that hold more than bodies
# can follow, as dry friction of all joints does with feet that stick, ask for changes without
# bounds, which damping keeps small: it is this share of the natural map beside the reactions, and
# falls with it, but not faster than by DAMPING_FALL in a step. FAR from a solution, as where there
# are no reactions yet, it would only delay. Where a step fails, it is as strong as it may be.
DAMPING_SHARE, DAMPING_FALL, FAR = 0.1, 0.1, 0.5
DAMPING, STRONG_DAMPING = 1e-7, 1e-3


@function
def put_single(i, is_active, x, newton):
    """Blocks of a row for itself: active rows have v = 0, others lambda = x."""
    newton.E[9 * i] = 0.0 if is_active else 1.0
    newton.H[9 * i] = 1.0 if is_active else 0.0
    newton.F[i] = x


@function
def put_singles(counts, coefficients, reactions, newton):
    """F and the blocks of rows that are no contacts."""
    free, limits, bounded, _ = counts
    for i in range(free + limits + bounded):
        t = reactions[i] - newton.v[i]
        if i < free:
            put_single(i, True, newton.v[i], newton)
        elif i < free + limits:
            put_single(i, t > 0.0, reactions[i] - maximum(t, 0.0), newton)
        elif absolute(t) < coefficients[i]:
            put_single(i, True, newton.v[i], newton)
        else:
            bound = coefficients[i] if t > 0.0 else -coefficients[i]
            put_single(i, False, reactions[i] - bound, newton)


@function
def projection_slope(mu, x, y, n):
    """Value and derivative of the projection onto Coulomb's cone: x y n, then the six numbers."""
    a = length2(x, y)
    if mu * a <= -n:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    if a <= mu * n:
        return (x, y, n), (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
    c0, c1, q = x / a, y / a, 1.0 / (1.0 + mu * mu)
    normal = (mu * a + n) * q
    s = mu * normal / a
    w = mu * mu * q - s
    slope = (s + w * c0 * c0, w * c0 * c1, mu * q * c0, s + w * c1 * c1, mu * q * c1, q)
    return (s * x, s * y, normal), slope


@function
def put_contact(mu, is_ncp, least_slip, i, at, reactions, newton):
    """F and the blocks of a contact whose rows start at i; `at` is where its blocks start."""
    v0, v1 = newton.v[i], newton.v[i + 1]
    slip = length2(v0, v1)
    shift = is_ncp * mu * slip
    (x, y, n), (p00, p01, p02, p11, p12, p22) = projection_slope(
        mu,
        reactions[i] - v0,
        reactions[i + 1] - v1,
        reactions[i + 2] - newton.v[i + 2] - shift,
    )
    newton.F[i] = reactions[i] - x
    newton.F[i + 1] = reactions[i + 1] - y
    newton.F[i + 2] = reactions[i + 2] - n
    h0, h1 = 0.0, 0.0
    if slip > least_slip:
        h0, h1 = is_ncp * mu * v0 / slip, is_ncp * mu * v1 / slip
    put_row(newton.E, at, 1.0 - p00, -p01, -p02)
    put_row(newton.E, at + 3, -p01, 1.0 - p11, -p12)
    put_row(newton.E, at + 6, -p02, -p12, 1.0 - p22)
    put_row(newton.H, at, p00 + p02 * h0, p01 + p02 * h1, p02)
    put_row(newton.H, at + 3, p01 + p12 * h0, p11 + p12 * h1, p12)
    put_row(newton.H, at + 6, p02 + p22 * h0, p12 + p22 * h1, p22)


@function
def put_row(memory, at, x, y, z):
    """Three numbers."""
    memory[at] = x
    memory[at + 1] = y
    memory[at + 2] = z


@function
def put_system(counts, cones, options, reactions, newton):
    """F, E and H. Returns the square of the length of F."""
    singles, least = counts[0] + counts[1] + counts[2], SLIP * cones.size[0]
    put_singles(counts, cones.coefficients, reactions, newton)
    for c in range(counts[3]):
        i = singles + 3 * c
        mu = cones.coefficients[i + 2]
        put_contact(mu, options[OPTION.is_ncp], least, i, 9 * (singles + c), reactions, newton)
    square = 0.0
    for i in range(singles + 3 * counts[3]):
        square = square + newton.F[i] * newton.F[i]
    return square


@function
def keep_active(counts, coefficients, reactions, newton):
    """Blocks for reactions that come from a problem solved before: few rows change their kind.

    Dry friction at its bound slides on, and contacts without reaction stay open if they hardly
    close. The natural map would often have them stick and close, as all rows have small velocities
    until reactions fit each other again.
    """
    first = counts[0] + counts[1]
    singles = first + counts[2]
    for i in range(first, singles):
        x = reactions[i]
        if x != 0.0 and absolute(x) > AT_BOUND * coefficients[i]:
            bound = coefficients[i] if x > 0.0 else -coefficients[i]
            put_single(i, False, x - bound, newton)
    largest = 0.0
    for c in range(counts[3]):
        largest = maximum(largest, reactions[singles + 3 * c + 2])
    for c in range(counts[3]):
        i, at = singles + 3 * c, 9 * (singles + c)
        if reactions[i + 2] == 0.0 and -newton.v[i + 2] < HARDLY * largest:
            for k in range(9):
                newton.E[at + k] = 0.0
                newton.H[at + k] = 0.0
            for k in range(3):
                newton.E[at + 4 * k] = 1.0
                newton.F[i + k] = reactions[i + k]


@function
def choose_damping(n, reactions, merit):
    """Damping that falls with the natural map; its length |F| is `merit`."""
    square = 0.0
    for i in range(n):
        square = square + reactions[i] * reactions[i]
    size = sqrt(square) + merit
    is_near = merit < FAR * size
    damping = DAMPING_SHARE * merit / size if is_near else DAMPING
    return minimum(maximum(damping, DAMPING), STRONG_DAMPING)


def newton_method(op: Operator):
    """Newton's method with an operator."""
    multiply, solve_blocks = op.multiply, op.solve_blocks

    @function
    def evaluate(model, counts, cones, options, reactions, newton, memory):
        """v, then F and its derivative. Returns the relative natural map, and |F|."""
        n = row_count(counts)
        multiply(model, n, reactions, newton.v, memory)
        found = scaled_map(counts, cones, options[OPTION.is_ncp], reactions, newton.v)
        for i in range(n):
            newton.v[i] = newton.v[i] + cones.b[i]
        return found, sqrt(put_system(counts, cones, options, reactions, newton))

    @function
    def rescale(model, counts, before, cones, options, reactions, newton, memory):
        """All reactions times the factor that suits best, where that helps.

        Reactions of the last step are often given times 0.9, so that those of redundant rows do not
        grow. Cones do not mind, but the velocity of all rows does.
        """
        n, work, drive = row_count(counts), 0.0, 0.0
        for i in range(n):
            work = work + reactions[i] * (newton.v[i] - cones.b[i])
            drive = drive - reactions[i] * cones.b[i]
        is_close = absolute(drive - work) < CLOSE * work
        if is_close or not (0.0 < 0.5 * work < drive < 2.0 * work):
            return before
        for i in range(n):
            newton.d[i] = drive / work * reactions[i]
        project(counts, cones.coefficients, newton.d, newton.tried)
        after = before
        for k in range(2):  # the second time for reactions as they were, where they are better
            after = evaluate(model, counts, cones, options, newton.tried, newton, memory)
            if k == 0 and after[1] < before[1]:
                for i in range(n):
                    reactions[i] = newton.tried[i]
                return after
            for i in range(n):
                newton.tried[i] = reactions[i]
        return after

    @routine
    def run(
        model, counts, most, polish, is_kept, cones, options, reactions, first, history, newton,
        memory,
    ):  # fmt: skip
        """Improve reactions by at most `most` steps. Returns their relative natural map, and steps.

        Where that is below the tolerance, but not by the factor `polish`, there is one step more.
        `is_kept` tells whether to write the natural map after each step to `history`, from `first`.
        """
        n, tolerance = row_count(counts), options[OPTION.tolerance]
        found, merit = evaluate(model, counts, cones, options, reactions, newton, memory)
        if found > polish * tolerance and most > 0:
            found, merit = rescale(
                model, counts, (found, merit), cones, options, reactions, newton, memory
            )
        steps, is_falling, is_polished = 0, True, found <= polish * tolerance
        damping = choose_damping(n, reactions, merit)
        while is_falling and steps < most and (found > tolerance or not is_polished):
            steps += 1
            length, is_falling, is_strong, tries = 1.0, False, False, 0
            before, is_polished = merit, found <= tolerance
            while not is_falling and tries < (1 if is_polished else MOST_TRIES):
                if tries == 0 or not is_strong:
                    if tries > 0:  # the system is that of the reactions again
                        evaluate(model, counts, cones, options, reactions, newton, memory)
                        damping = STRONG_DAMPING
                    elif steps == 1:
                        keep_active(counts, cones.coefficients, reactions, newton)
                    is_strong = damping == STRONG_DAMPING
                    solve_blocks(model, counts, damping, newton, memory)
                else:
                    length = SHORTENING * length
                tries += 1
                for i in range(n):
                    newton.tried[i] = reactions[i] + length * newton.d[i]
                project(counts, cones.coefficients, newton.tried, newton.F)
                for i in range(n):
                    newton.tried[i] = newton.F[i]
                new, merit = evaluate(model, counts, cones, options, newton.tried, newton, memory)
                # A natural map that is small enough counts, whatever |F| does.
                is_falling = merit < (1.0 - 0.1 * length) * before
                is_falling = is_falling or new <= polish * tolerance
            if is_falling:
                found = new
                is_polished = is_polished or found <= polish * tolerance
                for i in range(n):
                    reactions[i] = newton.tried[i]
                least = maximum(DAMPING_FALL * damping, DAMPING)
                damping = maximum(choose_damping(n, reactions, merit), least)
            if is_kept:  # of what was tried last, better or not
                history[first + steps - 1] = natural_map(
                    counts, cones.own_coefficients, options[OPTION.is_ncp], cones.own_reactions,
                    cones.own_velocity,
                )  # fmt: skip
        return found, steps

    return run

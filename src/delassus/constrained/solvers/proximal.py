"""The proximal iteration that solvers of constrained dynamics share.

Carpentier, Budhiraja and Mansard, Proximal and Sparse Resolution of Constrained Dynamic Equations,
2021, Eq. (18); Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Eqs.
(16), (27), Algorithm 3 lines 5 to 8, and Algorithm 4 lines 12 to 15. With the damping mu of a row,
or the stiffness W = 1 / mu of a spring along it, an iteration is

    r <- N r, the residual J a + gamma - a* once the row's springs, drawn by r, have given way
    lambda <- lambda - W r

where N = mu (G + mu)^-1, with G = J M^-1 J^T.

| papers | here | what |
| --- | --- | --- |
| K a - k (000), J a + gamma - a* (003) | dual.residual | r |
| lambda, of the opposite sign | multipliers | M a + b = tau + J^T lambda |
| mu (000), 1 / mu (003) | dual.weights | W |
| epsilon | goal | where to stop |

What methods differ in is the first line, a function `step`: `proximal` makes the iteration of a
method from it.

Departs from the papers in these ways:

- It stops where r is small, each row by its scale, at half the tolerance: what is measured at the
  end also has the rounding of accelerations, and may be a little larger (see `rows.request`).
- Along rows that are nearly redundant, N is nearly 1, and r hardly falls. The method of conjugate
  residuals (Stiefel 1955) on G x = r, with (G + mu)^-1 for the preconditioner, takes a few
  applications of N for all of them: see `accelerate`.
- Where rows contradict each other, a part of r stays that N does not change. The rest has then
  converged. What stays is least in the norm of W, so solvers start again with one W for all rows,
  as the answer is the least-squares one. Along with it lambda grows by -W r each time, without any
  effect: `take_back` takes that off again, so that the shortest lambda is left.
- In a batch, states that are done are frozen while others go on.
"""

from __future__ import annotations

from ...compile import (
    absolute,
    any_true,
    function,
    maximum,
    minimum,
    presume,
    routine,
    select,
    sqrt,
)
from ..rows.request import CANCELS, FLOOR, INFO, OPTIONS, measured

# An iteration is slow where r falls by less than this factor.
SLOW = 0.1
# The first attempt has the weights that are given, the second one for all rows that contradict.
ATTEMPTS = 2
# How many steps more the equations of motion may take.
POLISHING = 3
NEVER = 1e38  # more than any change
# The number of conjugate directions after which rounding asks for a new start.
DIRECTIONS = 8


@function
def goal_of(options):
    """Where r, as it is measured, is small enough."""
    return 0.5 * options[OPTIONS.tolerance]


@function
def is_open(residual, goal, stays, limit, info):
    """Whether iterations are left for a state whose rows miss the goal and do not contradict."""
    bound = select(info[INFO.iterations] < limit, goal, residual)
    return any_true(presume(residual > select(stays > 0.0, residual, bound), False))


@function
def is_uneven(stays, options):
    """Whether rows contradict each other in a state, and have different weights."""
    return any_true(presume(stays * options[OPTIONS.weight] > 0.0, False))


@function
def level_weights(size, stays, options, dual):
    """One weight for all rows that contradict each other, if they have different ones.

    It is in the middle of theirs. Rows that have no part in r, in dual.residual, keep their own:
    they may act on bodies of another scale.
    """
    none = 0.0 * options[OPTIONS.weight]
    largest, least, most = none, NEVER * NEVER + none, none
    for t in range(size):
        largest = maximum(largest, absolute(dual.residual[t]) / dual.lengths[t])
    bound = sqrt(options[OPTIONS.rounding]) * largest
    for t in range(size):
        takes_part = absolute(dual.residual[t]) > bound * dual.lengths[t]
        most = select(takes_part, maximum(most, dual.weights[t]), most)
        least = select(takes_part, minimum(least, dual.weights[t]), least)
    level = sqrt(least) * sqrt(most)
    for t in range(size):
        takes_part = absolute(dual.residual[t]) > bound * dual.lengths[t]
        is_level = select(takes_part, stays * options[OPTIONS.weight], none) > 0.0
        dual.weights[t] = select(is_level, level, dual.weights[t])


@function
def widen_floors(size, stays, options, dual):
    """Where rows contradict each other, what else is in r is known to the root of rounding only."""
    square = 0.0 * stays
    for t in range(size):
        x = dual.residual[t] / dual.lengths[t]
        square = square + x * x
    margin = select(stays > 0.0, 4.0 * sqrt(options[OPTIONS.rounding] * square), 0.0 * square)
    for t in range(size):
        dual.floors[t] = dual.floors[t] + margin * dual.lengths[t]


@function
def tell_other_part(size, stays, imbalance, options, info, dual):
    """What rows miss without the part that stays, if forces along that part have no effect."""
    widen_floors(size, stays, options, dual)
    other = measured(size, dual.kept, dual, options)
    is_contrary = select(stays > 0.0, imbalance, 1.0 + 0.0 * imbalance) < CANCELS
    info[INFO.rows] = select(is_contrary, other, info[INFO.rows])


def proximal(step, renew=None, error=None, *, is_always_whole: bool = False):
    """The functions `iterate`, `polish` and `take_back` of a method.

    `step(model, is_active, is_whole, tau, work)` turns the residual r into N r, of states that are
    active. A whole step starts from all that is missing in the equations of motion, and from the
    multipliers. Another is the linear function N alone, of any r. After the first iteration, which
    solvers do themselves, only the second is whole, or all are.

    Methods whose steps follow accelerations have two more. `renew(model, is_active, work)` puts
    their residual in the place of that of iterations. `error(model, tau, none, work)` tells how far
    the equations of motion are from holding. Without these, `iterate` leaves a state as it is where
    the residual of accelerations is needed.
    """
    is_followed = renew is not None

    @function
    def iterate(model, size, limit, done, count, goal, options, tau, dual, multipliers, work):
        """Iterate until |r| is at most the goal.

        `size` is the number of rows, `dual` has what is known of them. `done` iterations are done
        already for these multipliers, `count` of each state in all. Returns that count; how often
        -W r was added to multipliers; and in how many iterations r has stayed, as rows contradict
        each other.
        """
        none = 0.0 * goal
        one, least = 1.0 + none, options[OPTIONS.least]
        residual = measured(size, dual.residual, dual, options)
        own_count, growth, stays = count, done * one, none
        last_change, paused = NEVER * one, none
        is_active = presume(residual > select(own_count < limit, goal, residual), True)
        while done < limit and any_true(is_active):
            for t in range(size):
                dual.kept[t] = dual.residual[t]
            step(model, is_active, is_always_whole or done == 1, tau, work)
            tighten(size, is_active, dual, multipliers)
            done = done + 1
            before, residual = residual, measured(size, dual.residual, dual, options)
            own_count = own_count + select(is_active, one, none)
            growth = growth + select(is_active, one, none)
            # What follows is for states in which r hardly falls.
            bound = select(is_active, maximum(SLOW * before, goal), residual)
            is_slow = presume(residual > bound, False)
            if any_true(is_slow):
                change, whole = change_of(size, dual, dual.residual, none)
                stays = select(is_slow, select(least * whole > change, stays + one, none), stays)
                bound = select(stays > 0.0, change, SLOW * last_change)
                bound = select(own_count < limit - 2.0, bound, change)
                is_slow = select(is_slow, change, none) > select(is_slow, bound, none)
                last_change = select(is_slow, NEVER * one, change)
                if any_true(is_slow):
                    so_far = own_count, growth, stays
                    own_count, growth, stays = accelerate(
                        model, size, limit, is_slow, so_far, goal, options, tau, dual, multipliers,
                        work,
                    )  # fmt: skip
                    residual = measured(size, dual.residual, dual, options)
                    if not is_followed:
                        paused = select(is_slow, one, paused)
            bound = select(own_count < limit, select(stays > 1.0, residual, goal), residual)
            is_active = presume(residual > select(paused > 0.0, residual, bound), True)
        return own_count, growth, stays

    @routine
    def accelerate(
        model, size, limit, is_slow, so_far, goal, options, tau, dual, multipliers, work
    ):
        """The method of conjugate residuals for states that are slow, and then a whole step.

        `so_far` is what `iterate` returns; it comes back as it is then.

        | symbol | here | what |
        | --- | --- | --- |
        | r, z = W N r | dual.kept, dual.mapped (N r) | residual, and preconditioned |
        | p, G p | dual.direction (mu p), dual.image | direction, and what it does to r |
        | z^T G z | power | |
        """
        none = 0.0 * goal
        one, least = 1.0 + none, options[OPTIONS.least]
        own_count, growth, stays = so_far
        for t in range(size):
            dual.kept[t] = dual.residual[t]
        step(model, is_slow, False, tau, work)
        for t in range(size):
            dual.mapped[t] = dual.residual[t]
            dual.direction[t] = dual.residual[t]
            dual.image[t] = dual.kept[t] - dual.residual[t]
        power = power_of(size, dual, none)
        own_count = own_count + select(is_slow, one, none)
        weight = one  # how much of W r, where r stays, is in the direction
        is_active = is_slow
        for _ in range(DIRECTIONS):
            if any_true(is_active):
                for t in range(size):
                    dual.residual[t] = dual.image[t]
                step(model, is_active, False, tau, work)
                square = none
                for t in range(size):
                    square = square + dual.weights[t] * (dual.image[t] * dual.residual[t])
                alpha = select(square > 0.0, power / square, none)
                # Beyond these bounds a step is rounding.
                alpha = select(alpha > 0.0, select(alpha * least < 1.0, alpha, none), none)
                alpha = select(is_active, alpha, none)
                for t in range(size):
                    x = alpha * (dual.weights[t] * dual.direction[t])
                    multipliers[t] = multipliers[t] - select(is_active, x, none)
                    x, y = alpha * dual.image[t], alpha * dual.residual[t]
                    dual.kept[t] = dual.kept[t] - select(is_active, x, none)
                    dual.mapped[t] = dual.mapped[t] - select(is_active, y, none)
                before = power
                power = power_of(size, dual, none)
                beta = select(before > 0.0, power / before, none)
                for t in range(size):
                    dual.direction[t] = dual.mapped[t] + beta * dual.direction[t]
                    image = dual.kept[t] - dual.mapped[t] + beta * dual.image[t]
                    dual.image[t] = image
                growth = growth + alpha * weight
                weight = one + beta * weight
                own_count = own_count + select(is_active, one, none)
                residual = measured(size, dual.kept, dual, options)
                change, whole = change_of(size, dual, dual.mapped, none)
                is_contrary = least * whole > change
                stays = select(is_active, select(is_contrary, one, none), stays)
                residual = select(is_contrary, none, residual)
                bound = select(own_count < limit - 1.0, goal, residual)
                bound = select(alpha > 0.0, bound, residual)
                is_active = residual > bound
        for t in range(size):
            dual.residual[t] = dual.kept[t]
        if is_followed:
            renew(model, is_slow, work)
            step(model, is_slow, True, tau, work)
            tighten(size, is_slow, dual, multipliers)
            own_count = own_count + select(is_slow, one, none)
            growth = growth + select(is_slow, one, none)
        return own_count, growth, stays

    @function
    def polish(model, size, limit, count, growth, options, tau, dual, multipliers, work):
        """Whole steps where equations of motion do not hold to tolerance yet, or to rounding.

        What rounding leaves in them no step makes smaller. Returns their error, and the new
        `count` and `growth` (see `iterate`).
        """
        none = 0.0 * count
        one, motion = 1.0 + none, error(model, tau, none, work)
        aim = 0.5 * options[OPTIONS.tolerance] + FLOOR * options[OPTIONS.rounding]
        for _ in range(POLISHING):
            is_off = presume(motion > select(count < limit, aim, motion), False)
            if any_true(is_off):
                renew(model, is_off, work)
                step(model, is_off, True, tau, work)
                tighten(size, is_off, dual, multipliers)
                count = count + select(is_off, one, none)
                growth = growth + select(is_off, one, none)
                motion = error(model, tau, none, work)
        return motion, count, growth

    @function
    def take_back(model, size, stays, growth, tau, options, dual, multipliers, work):
        """Take off what multipliers have grown by without effect, where a part of r stays.

        Two more steps leave nothing else in r: dual.residual has the part that stays, dual.kept the
        other one. What multipliers have grown by is large, and takes digits from them. So where
        steps follow accelerations, a last one finds both anew with the part that stays as given.
        """
        none = 0.0 * growth
        contradicts = stays > 0.0
        for t in range(size):
            dual.kept[t] = dual.residual[t]
        for _ in range(2):
            step(model, contradicts, False, tau, work)
        for t in range(size):
            y = growth * (dual.weights[t] * dual.residual[t])
            multipliers[t] = multipliers[t] + select(contradicts, y, none)
            dual.kept[t] = dual.kept[t] - select(contradicts, dual.residual[t], none)
        if is_followed:
            for t in range(size):
                dual.mapped[t] = dual.residual[t]
            renew(model, contradicts, work)
            for t in range(size):
                dual.residual[t] = dual.residual[t] - dual.mapped[t]
            step(model, contradicts, True, tau, work)
            tighten(size, contradicts, dual, multipliers)
            renew(model, contradicts, work)
            for t in range(size):
                dual.kept[t] = dual.residual[t] - dual.mapped[t]
                dual.residual[t] = dual.mapped[t]

    return iterate, polish, take_back


@function
def power_of(size, dual, none):
    """z^T G z"""
    power = none
    for t in range(size):
        change = dual.kept[t] - dual.mapped[t]
        power = power + dual.weights[t] * (dual.mapped[t] * change)
    return power


@function
def change_of(size, dual, mapped, none):
    """The lengths, in the norm of W, of r - N r and of r."""
    square, whole = none, none
    for t in range(size):
        r, change, w = dual.kept[t], dual.kept[t] - mapped[t], dual.weights[t]
        square = square + w * (change * change)
        whole = whole + w * (r * r)
    return sqrt(square), sqrt(whole)


@function
def tighten(size, is_active, dual, multipliers):
    """lambda <- lambda - W r"""
    for t in range(size):
        y = dual.weights[t] * dual.residual[t]
        multipliers[t] = multipliers[t] - select(is_active, y, 0.0 * y)

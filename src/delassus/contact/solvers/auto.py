"""`auto`: Newton from the given reactions; where it fails ADMM and Newton in turns.

ADMM gets twice the iterations each turn. After two turns the interior-point method and ADMM take
turns, as what has not been solved by then is often too ill-conditioned for ADMM: masses far apart,
much friction. The best reactions of all are what is returned.
"""

from __future__ import annotations

from ...compile import function
from ..laws.cones import natural_map, row_count
from ..laws.request import LIMIT, OPTION
from ..operators import Operator
from .interior import ATTEMPTS, interior_method
from .newton import newton_method

FIRST_ATTEMPT = 3  # the turn of the interior-point method, after two of ADMM


@function
def copy(n, x, y):
    """y = x"""
    for i in range(n):
        y[i] = x[i]


def newton_or_admm(op: Operator, run_admm):
    """`auto` with an operator."""
    run_newton = newton_method(op)
    run_interior = interior_method(op)

    @function
    def run(model, counts, limits, spent, cones, options, reactions, history, work):
        """Returns the number of iterations of all methods, and of those `spent` before."""
        budget, tolerance = limits[LIMIT.iterations], options[OPTION.tolerance]
        n, kept, turn, share = row_count(counts), work.kept, 0, limits[LIMIT.first_share]
        natural = 1e300
        is_kept, least, total = limits[LIMIT.record] > 0, 1e300, spent
        # Each method is called in one place, as each place is compiled anew.
        while turn == 0 or (least > tolerance and total < budget and share > 0):
            number, before = (turn - FIRST_ATTEMPT) // 2, total
            is_attempt = (turn - FIRST_ATTEMPT) % 2 == 0 and 0 <= number < ATTEMPTS
            is_attempt = is_attempt and limits[LIMIT.interior] > 0
            if is_attempt:
                steps = run_interior(model, counts, number, cones, options, reactions, work)
                total = min(total + int(steps), budget)
                if is_kept:  # its steps are not looked at one by one
                    for t in range(before, total):
                        history[t] = natural
            elif turn > 0:
                steps = run_admm(
                    model, counts, limits, min(share, budget - total), cones, options, reactions,
                    total, history, work.dual, work.dense,
                )  # fmt: skip
                total, share = total + int(steps), 2 * share
            found, steps = run_newton(
                model, counts, min(limits[LIMIT.newton_steps], budget - total), 1.0, is_kept, cones,
                options, reactions, total, history, work.newton, work.dense,
            )  # fmt: skip
            if is_kept:
                natural = natural_map(
                    counts, cones.own_coefficients, options[OPTION.is_ncp], cones.own_reactions,
                    cones.own_velocity,
                )  # fmt: skip
                if is_attempt and steps == 0 and total > before:
                    history[total - 1] = natural
            total, turn = total + steps, turn + 1
            if turn == 1 or found < least:
                least = found
                copy(n, reactions, kept)
            elif is_attempt:  # ADMM goes on from what is best
                copy(n, kept, reactions)
        copy(n, kept, reactions)
        return total

    return run

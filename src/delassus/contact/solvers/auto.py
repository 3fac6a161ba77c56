"""`auto`: Newton from the given reactions; where it fails ADMM and Newton in turns.

ADMM gets twice the iterations each turn. After two turns the interior-point method and ADMM take
turns, as what has not been solved by then is often too ill-conditioned for ADMM: masses far apart,
much friction. The best reactions of all are what is returned.
"""

from __future__ import annotations

from ...compile import function
from ..laws.cones import row_count
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
    def run(model, counts, limits, cones, options, reactions, history, work):
        """Returns the number of iterations of all methods."""
        budget, tolerance = limits[LIMIT.iterations], options[OPTION.tolerance]
        n, kept, turn, share = row_count(counts), work.kept, 0, limits[LIMIT.first_share]
        least, total = 1e300, 0.0
        # Each method is called in one place, as each place is compiled anew.
        while turn == 0 or (least > tolerance and total < budget and share > 0):
            number = (turn - FIRST_ATTEMPT) // 2
            is_attempt = (turn - FIRST_ATTEMPT) % 2 == 0 and 0 <= number < ATTEMPTS
            is_attempt = is_attempt and limits[LIMIT.interior] > 0
            if is_attempt:
                total = total + run_interior(model, counts, number, cones, options, reactions, work)
            elif turn > 0:
                most = share if total + share <= budget else int(budget - total)
                total = total + run_admm(
                    model, counts, limits, most, cones, options, reactions, history, work.dual,
                    work.dense,
                )  # fmt: skip
                share = 2 * share
            found, steps = run_newton(
                model, counts, limits[LIMIT.newton_steps], cones, options, reactions, work.newton,
                work.dense,
            )  # fmt: skip
            total, turn = total + steps, turn + 1
            if turn == 1 or found < least:
                least = found
                copy(n, reactions, kept)
            elif is_attempt:  # ADMM goes on from what is best
                copy(n, kept, reactions)
        copy(n, kept, reactions)
        return total

    return run

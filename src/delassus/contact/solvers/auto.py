"""`auto`: Newton from the given reactions; where it fails ADMM and Newton in turns.

ADMM gets twice the iterations each turn. After some turns the interior-point method tries, as what
has not been solved by then is often too ill-conditioned for ADMM: masses far apart, much friction.
The best reactions of all are what is returned.
"""

from __future__ import annotations

from ...compile import function
from ..laws.cones import row_count
from ..laws.request import LIMIT, OPTION
from ..operators import Operator
from .interior import interior_method
from .newton import newton_method

# Turns of ADMM and Newton after which the interior-point method makes its two attempts.
FIRST_ATTEMPT, SECOND_ATTEMPT = 3, 4


@function
def keep_better(n, found, least, reactions, kept):
    """Keep reactions whose natural map is less than that of those kept. Returns the least."""
    if found < least:
        for i in range(n):
            kept[i] = reactions[i]
        return found
    return least


def newton_or_admm(op: Operator, run_admm):
    """`auto` with an operator."""
    run_newton = newton_method(op)
    run_interior = interior_method(op)

    @function
    def polish(model, counts, limits, cones, options, reactions, work):
        """Newton's method."""
        return run_newton(
            model, counts, limits[LIMIT.newton_steps], cones, options, reactions, work.newton,
            work.dense,
        )  # fmt: skip

    @function
    def attempt(model, counts, limits, number, cones, options, reactions, work):
        """The interior-point method, then Newton's. Returns the natural map, and the steps."""
        _, steps = run_interior(model, counts, number, cones, options, reactions, work)
        found, more = polish(model, counts, limits, cones, options, reactions, work)
        return found, steps + more

    @function
    def run(model, counts, limits, cones, options, reactions, history, work):
        """Returns the number of iterations of all methods."""
        budget, tolerance = limits[LIMIT.iterations], options[OPTION.tolerance]
        n, kept, turn, share = row_count(counts), work.kept, 0, limits[LIMIT.first_share]
        found, steps = polish(model, counts, limits, cones, options, reactions, work)
        least, total = keep_better(n, found, 1e300, reactions, kept), 0.0 + steps
        while least > tolerance and total < budget and share > 0:
            most = share if total + share <= budget else int(budget - total)
            total = total + run_admm(
                model, counts, limits, most, cones, options, reactions, history, work.dual,
                work.dense,
            )  # fmt: skip
            found, steps = polish(model, counts, limits, cones, options, reactions, work)
            least, total = keep_better(n, found, least, reactions, kept), total + steps
            turn, share = turn + 1, 2 * share
            is_turn = turn == FIRST_ATTEMPT or turn == SECOND_ATTEMPT
            if least > tolerance and is_turn and limits[LIMIT.interior] > 0:
                found, steps = attempt(
                    model, counts, limits, turn - FIRST_ATTEMPT, cones, options, reactions, work
                )
                least, total = keep_better(n, found, least, reactions, kept), total + steps
                for i in range(n):
                    reactions[i] = kept[i]
        if found > least:
            for i in range(n):
                reactions[i] = kept[i]
        return total

    return run

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

# The turns of the interior-point method: the first follows two of ADMM, 25 and 50 iterations.
FIRST_ATTEMPT, SECOND_ATTEMPT = 3, 5


@function
def keep_better(n, found, least, reactions, kept):
    """Keep reactions whose natural map is less than that of those kept. Returns the least."""
    if found < least:
        for i in range(n):
            kept[i] = reactions[i]
        return found
    return least


@function
def put_back(n, kept, reactions):
    """The reactions that were kept."""
    for i in range(n):
        reactions[i] = kept[i]


def newton_or_admm(op: Operator, run_admm):
    """`auto` with an operator."""
    run_newton = newton_method(op)
    run_interior = interior_method(op)

    @function
    def run(model, counts, limits, cones, options, reactions, history, work):
        """Returns the number of iterations of all methods."""
        budget, tolerance = limits[LIMIT.iterations], options[OPTION.tolerance]
        n, kept, turn, share = row_count(counts), work.kept, 0, limits[LIMIT.first_share]
        found, least, total = 1e300, 1e300, 0.0
        # Each method is called in one place, as each place is compiled anew.
        while turn == 0 or (least > tolerance and total < budget and share > 0):
            is_attempt = turn in (FIRST_ATTEMPT, SECOND_ATTEMPT) and limits[LIMIT.interior] > 0
            if is_attempt:
                number = 0 if turn == FIRST_ATTEMPT else 1
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
            least = keep_better(n, found, least, reactions, kept)
            if is_attempt:  # ADMM goes on from what is best
                put_back(n, kept, reactions)
        if found > least:
            put_back(n, kept, reactions)
        return total

    return run

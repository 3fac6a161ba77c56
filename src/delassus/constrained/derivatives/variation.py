"""The parts that derivatives of constrained dynamics are products of: memory, and rows' part.

F and C are the derivatives of M a + b - J^T multipliers and of J a + gamma - a*, at constant a and
multipliers. Forces of constraints are taken as fixed in the links first (see
`derivatives.dynamics`).
"""

from __future__ import annotations

from ...compile import layout, part, routine
from ...dynamics.derivatives.rnea import DOF, LINK
from ...dynamics.derivatives.rnea import WORK as VARIED
from ..rows.request import OPTIONS
from .forces import CHANGE, WRENCH, put_changes, put_wrench
from .rows import RATE, put_rates, put_row_derivatives


def square(n: dict[str, int]) -> int:
    """How many numbers an nv by nv matrix has."""
    return n["nv"] * n["nv"]


# The solution; motions of links and their variations; F and C by q and v; for each step its CHANGE,
# for each piece its WRENCH, for each row its RATE.
VARIATIONS = layout(
    a="nv",
    multipliers="m",
    varied=VARIED,
    F_q=square,
    F_v=square,
    C_q="panels",
    C_v="panels",
    changes=lambda n: n["panels"] // 3 * CHANGE.size,
    wrenches=("m", WRENCH),
    rates=("m", RATE),
)


@routine
def vary_pieces(model, q, options, work):
    """C of all pieces, their wrenches, and the changes of these with q."""
    links, dofs, solution = work.varied.links, work.varied.dofs, work.solution
    gains = options[OPTIONS.kp], options[OPTIONS.kd]
    for c in range(len(model.pieces)):
        piece, wrench = model.pieces[c], part(work.wrenches, c * WRENCH.size)
        put_rates(
            model, piece, q, work.a, work.multipliers, gains, links, LINK.size, work.rates, solution
        )
        put_wrench(model, piece, solution.rows, work.multipliers, wrench)
        put_changes(
            model, piece, q, work.multipliers, wrench, links, LINK.size, dofs, DOF.size,
            work.changes,
        )  # fmt: skip
        put_row_derivatives(
            model, piece, gains, dofs, DOF.size, work.rates, work.C_q, work.C_v, solution
        )

"""Cone rows by sweeps: Gauss-Seidel's method and PROX, on the Delassus matrix of rows at hand.

See `contact.solvers.splitting` and `contact.solvers.prox`.
"""

from __future__ import annotations

from ...compile import function, layout
from ...contact.operators.dense import DENSE_OPERATOR
from ...contact.solvers.prox import PROX, prox
from ...contact.solvers.splitting import SPLITTING, splitting
from .solving import SOLVING

SWEEPS = layout(by_splitting=SPLITTING, by_prox=PROX)

run_splitting, run_prox = splitting(DENSE_OPERATOR), prox(DENSE_OPERATOR)


@function
def sweep_cones(model, counts, limits, options, work):
    """Reactions of cone rows, and the number of sweeps; the natural map is looked at later."""
    cones, matrix = work.cones, work.op.rows_matrix
    if limits[SOLVING.is_prox] > 0:
        total = run_prox(
            model, counts, limits, cones, options, cones.reactions, work.history, work.by_prox,
            matrix,
        )  # fmt: skip
    else:
        total = run_splitting(
            model, counts, limits, cones, options, cones.reactions, work.history,
            work.by_splitting, matrix,
        )  # fmt: skip
    return 0.0, total

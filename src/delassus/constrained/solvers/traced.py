"""Whether a trace with symbols comes to the end: it has no numbers to test.

A trace has the plain iterations only, each of which leaves mu / (mu + g) of what rows miss along a
direction, where g is an eigenvalue of J M^-1 J^T. The method of conjugate residuals, which takes
over where g is small, needs numbers. Loops of robots are often nearly redundant: then a trace would
be off by some per cent, without a word.
"""

from __future__ import annotations

import numpy as np

from ...compile import is_symbolic
from ...errors import DataTypeError
from ..rows.constraints import Constraints
from ..rows.request import damping_rows
from ..rows.scales import matrices

# What a trace may leave of accelerations, relative to the largest.
_LEFT = 1e-8
# Eigenvalues below this part of the largest are rounding.
_ROUNDING = 1e-15
_MOST = 1000  # iterations to ask for


def check_traced(cs: Constraints, damping, tolerance, max_iterations: int, *states) -> None:
    """Raise an error where symbols are given, and iterations do not suffice at neutral().

    With a tolerance of 0 exactly `max_iterations` are asked for, whatever they leave.
    """
    if not any(map(is_symbolic, states)) or tolerance == 0.0 or not _has_loops(cs):
        return
    J, M, _ = matrices(cs, cs.model.neutral()[None])
    roots = np.sqrt(damping_rows(cs, damping, None, np.dtype(np.float64)))
    A = np.linalg.solve(np.linalg.cholesky(M[0]), (J[0] / roots[:, None]).T)
    g = np.linalg.svd(A, compute_uv=False) ** 2
    g = g[g > _ROUNDING * g.max(initial=0.0)]
    if not g.size:
        return
    left = np.sqrt(g / g.max()) * np.exp(-max_iterations * np.log1p(g))
    if left.max() <= _LEFT:
        return
    needed = np.max(np.log(np.sqrt(g / g.max()) / _LEFT) / np.log1p(g))
    way = (
        f"ask for max_iterations={int(np.ceil(needed))}"
        if needed <= _MOST
        else "embed the loops (dl.embed), which takes no iterations"
    )
    raise DataTypeError(
        f"a trace of {max_iterations} iterations would not come to the end, as rows of "
        f"{cs.model.name!r} are nearly redundant: {way}, or trace just these iterations with "
        "tolerance=0.0"
    )


def _has_loops(cs: Constraints) -> bool:
    """Whether a constraint is between two frames that move, or between joints."""
    return any(c.joints or "world" not in c.frames for c in cs.declared)

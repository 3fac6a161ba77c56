"""The Delassus matrix of cone rows, in the forms that solvers can work with.

A solver is made for an `Operator`: functions that are called as f(model, count, ..., memory), with
`count` cone rows and the memory of the operator. So one source of a solver serves all forms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Operator(NamedTuple):
    """Products and solutions with D_c, the Delassus matrix of cone rows, joints eliminated."""

    factor: Callable  # (model, count, penalty, memory): prepare `solve` for a penalty
    solve: Callable  # (model, count, x, memory): x <- (D_c + penalty)^-1 x
    multiply: Callable  # (model, count, x, y, memory): y = D_c x
    solve_blocks: Callable  # (model, counts, damping, newton, memory): a step of `solvers.newton`
    # The next right-hand side F with the matrix of the last `solve_blocks`, if that is kept.
    solve_blocks_again: Callable | None = None

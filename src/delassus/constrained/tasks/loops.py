"""Configurations near given ones at which constraints hold; `search` has how they are found."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from ...checks import flag, real_array
from ...dynamics.arguments import numbers_of
from ...errors import ConvergenceError
from ...model.model import Model
from ...model.parts.names import names_of
from ..rows.checks import check_constraints
from ..rows.constraints import Constraints
from ..rows.jacobian import evaluate_rows
from .search import Search, rank_cut, units_of


def close_loops(
    model: Model,
    q: ArrayLike,
    constraints: Constraints,
    *,
    fixed: str | Iterable[str] = (),
    respect_limits: bool = False,
    tolerance: float | None = None,
    max_iterations: int = 100,
) -> np.ndarray:
    """The nearest configuration to q at which constraints hold.

    It has a `position_error` of at most `tolerance`, in metres and radians. Without a tolerance,
    that is 1e-10, or what digits of a file leave open: the error that remains where rows depend on
    each other, such as those across a planar loop, if it is below 2e-6 of a typical length. A q
    that is closed as far as that stays where it is: it moves by 1e-7 at most, or ten times the
    error by that length.

    `fixed` names joints that keep their coordinates. With `respect_limits`, joints stay within
    their limits, and coordinates of q beyond limits are moved there first. If no configuration is
    found, `ConvergenceError` has the best one as `.q`, and its error as `.error`.
    """
    cs = check_constraints(model, constraints)
    tree = model.tree
    if tree is not model:  # loops that are embedded are closed with the others
        whole = Constraints(tree, model.all_constraints(cs.declared))
        options = {"respect_limits": respect_limits, "tolerance": tolerance}
        q = real_array("q", numbers_of("q", q))
        start = np.asarray(model.spanning(q))
        wide = close_loops(
            tree, start, whole, fixed=fixed, max_iterations=max_iterations, **options
        )
        return wide if q.shape == wide.shape else np.asarray(model.independent(wide))
    limited = flag("respect_limits", respect_limits)
    search = Search(cs, q, _movable(model, fixed), limited)
    found, are_closed = search.run(tolerance, max_iterations)
    if not are_closed.all():
        errors = np.abs(search.left()).max(axis=-1, initial=0.0)
        raise ConvergenceError(_message(errors, are_closed, search.goal.max()), found, errors[()])
    return found


def nearest_velocities(cs: Constraints, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The velocities nearest to v that satisfy the constraints, for states (N, nq) and (N, nv)."""
    # In one call: the entry for single states would be compiled for this alone.
    found = evaluate_rows(cs, (q, v))
    J, error = found[0], found[3]
    units = units_of(cs, J)
    even = units.weights[:, :, None] * J * units.motions
    _, s, V = np.linalg.svd(even, full_matrices=False)
    size = np.abs(units.weights * error).max(axis=1, initial=0.0)
    # Along directions in which J is zero but for rounding, no velocity is forbidden.
    V = np.where((s > rank_cut(s, size))[:, :, None], V, 0.0)
    along = np.einsum("kij,kj->ki", V, v / units.motions)
    return v - units.motions * np.einsum("kij,ki->kj", V, along)


def _movable(model: Model, fixed: str | Iterable[str]) -> np.ndarray:
    """Which degrees of freedom may move."""
    result = np.ones(model.nv, bool)
    for name in names_of("fixed joints", fixed):
        result[model.joint(name).v] = False
    return result


def _message(errors: np.ndarray, are_closed: np.ndarray, tolerance: float) -> str:
    many = f" of {np.sum(~are_closed)} of {errors.size} states" if errors.ndim else ""
    return (
        f"the constraints are not satisfied: an error{many} of up to {np.max(errors):.3g} remains, "
        f"above the tolerance {tolerance:.3g}"
    )

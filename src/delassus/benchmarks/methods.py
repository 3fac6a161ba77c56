"""The methods for constraints that the library has, and how many operations each takes."""

from __future__ import annotations

import delassus

from ..compile import OperationCount
from ..constrained.rows.constraints import Constraints

# Public functions, and what lists the methods of each.
_LISTS = {
    "constrained_dynamics": "CONSTRAINED_METHODS",
    "delassus_matrix": "DELASSUS_METHODS",
    "delassus_inverse": "DELASSUS_INVERSE_METHODS",
}
DYNAMICS, MATRIX, INVERSE = _LISTS
# Dense matrices are there to be compared with.
_REFERENCE = "dense"


def methods(function: str) -> list[str]:
    """The names of a function's methods, but for the textbook's."""
    return [name for name in getattr(delassus, _LISTS[function], ()) if name != _REFERENCE]


def proximal_methods() -> list[str]:
    """Methods of constrained dynamics that converge by proximal iterations."""
    return [name for name in methods(DYNAMICS) if name == "caba" or name.startswith("prox-")]


def all_methods() -> list[tuple[str, str]]:
    """All functions with each of their methods."""
    return [(function, method) for function in _LISTS for method in methods(function)]


def count_method(
    function: str, method: str, constraints: Constraints, damping: float, iterations: int
) -> OperationCount:
    """The operations of a method for one state: of dynamics, without the residuals."""
    options: dict[str, object] = {"constraints": constraints, "method": method}
    if function == DYNAMICS:
        options |= {"tolerance": 0.0, "max_iterations": iterations}
        options |= {"outputs": ("acceleration", "multipliers")}
    if function != MATRIX:
        options["damping"] = damping
    return delassus.operation_count(getattr(delassus, function), constraints.model, **options)

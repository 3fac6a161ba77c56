"""The methods of constrained dynamics by name. Layers above add their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...compile import Kernel
from ...errors import ModelError
from ..recursion.open_trees import check_open
from ..rows.constraints import Constraints
from .caba import caba
from .dense import dense
from .prox_ltl import prox_ltl
from .prox_ltls import prox_ltls
from .prox_pv import prox_pv, pv
from .pv_early import pv_early


def _take_models(constraints: Constraints, method: str) -> None:
    """Accept constraints of all kinds, on a model."""
    if constraints.model.tree is not constraints.model:
        raise ModelError(
            f"method {method!r} takes a model; on an embedding use 'hybrid', or 'dense' to check"
        )


def _take_open(constraints: Constraints, method: str) -> None:
    """Accept constraints between a body and the world, on a model."""
    _take_models(constraints, method)
    check_open(constraints, method)


def take_all(constraints: Constraints, method: str) -> None:
    """Accept constraints of all kinds."""


class Method(NamedTuple):
    """A way to solve constrained dynamics.

    `solver` is a kernel with the arguments of `rows.request`, or a function in its place that takes
    the constraints, the inputs, arrays to write to or None, the number of threads, and the limit of
    iterations. `check` raises an error for constraints that the method does not take.
    `most_iterations`, if given, takes the place of the user's limit. `suits`, if given, tells
    whether "auto" takes the method. `iterates` tells whether it iterates on all rows until these
    hold.
    """

    solver: Kernel | Callable
    check: Callable[[Constraints, str], None] = _take_models
    most_iterations: int | None = None
    suits: Callable[[Constraints], bool] | None = None
    iterates: bool = False


METHODS: dict[str, Method] = {
    "caba": Method(caba, iterates=True),
    "prox-ltl": Method(prox_ltl, iterates=True),
    "prox-ltls": Method(prox_ltls, iterates=True),
    "prox-pv": Method(prox_pv, _take_open),
    "pv": Method(pv, _take_open),
    "pv-soft": Method(caba, most_iterations=1),  # the first iterate
    "pv-early": Method(pv_early, _take_open),
    "dense": Method(dense, take_all),
}


_FASTEST = "caba"


def add_method(name: str, method: Method) -> None:
    """Add a method that `constrained_dynamics` can choose by name."""
    if name in METHODS:
        raise ValueError(f"there are two methods named {name!r}")
    METHODS[name] = method


def fastest(constraints: Constraints) -> str:
    """The method that "auto" takes."""
    for name, method in METHODS.items():
        if method.suits is not None and method.suits(constraints):
            return name
    return _FASTEST

"""The methods of constrained dynamics by name. Layers above add their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...compile import Kernel
from ..recursion.open_trees import check_open
from ..rows.constraints import Constraints
from .caba import caba
from .dense import dense
from .prox_ltl import prox_ltl
from .prox_ltls import prox_ltls
from .prox_pv import prox_pv, pv
from .pv_early import pv_early


def _take_all(constraints: Constraints, method: str) -> None:
    """Accept constraints of all kinds."""


class Method(NamedTuple):
    """A way to solve constrained dynamics.

    `solver` is a kernel with the arguments of `rows.request`, or a function in its place that takes
    the constraints, the inputs, arrays to write to or None, the number of threads, and the limit of
    iterations. `check` raises an error for constraints that the method does not take.
    `most_iterations`, if given, takes the place of the user's limit.
    """

    solver: Kernel | Callable
    check: Callable[[Constraints, str], None] = _take_all
    most_iterations: int | None = None


METHODS: dict[str, Method] = {
    "caba": Method(caba),
    "prox-ltl": Method(prox_ltl),
    "prox-ltls": Method(prox_ltls),
    "prox-pv": Method(prox_pv, check_open),
    "pv": Method(pv, check_open),
    "pv-soft": Method(caba, most_iterations=1),  # the first iterate
    "pv-early": Method(pv_early, check_open),
    "dense": Method(dense),
}


def add_method(name: str, method: Method) -> None:
    """Add a method that `constrained_dynamics` can choose by name."""
    if name in METHODS:
        raise ValueError(f"there are two methods named {name!r}")
    METHODS[name] = method

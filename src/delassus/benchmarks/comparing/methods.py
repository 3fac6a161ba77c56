"""Methods for constraints: their names, their calls, and how many operations each takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from timeit import Timer

import numpy as np

from ... import (
    CONSTRAINED_METHODS,
    DELASSUS_INVERSE_METHODS,
    DELASSUS_METHODS,
    Constraints,
    OperationCount,
    constrained_dynamics,
    delassus_inverse,
    delassus_matrix,
    operation_count,
)
from ..measuring.states import States
from ..measuring.timing import state_timer
from ..peers.constraints import PeerCall

# Public functions with their methods. Dense matrices are a reference for tests, not a method, and
# embedding is for loops (see `seed_002`).
_OTHERS = ("dense", "embedding", "hybrid")
_FUNCTIONS = {
    function.__name__: (function, [name for name in names if name not in _OTHERS])
    for function, names in (
        (constrained_dynamics, CONSTRAINED_METHODS),
        (delassus_matrix, DELASSUS_METHODS),
        (delassus_inverse, DELASSUS_INVERSE_METHODS),
    )
}
DYNAMICS, MATRIX, INVERSE = _FUNCTIONS


def methods(function: str) -> list[str]:
    """The names of a function's methods."""
    return _FUNCTIONS[function][1]


def proximal_methods() -> list[str]:
    """Methods of constrained dynamics that converge by proximal iterations."""
    return [name for name in methods(DYNAMICS) if name == "caba" or name.startswith("prox-")]


def all_methods() -> list[tuple[str, str]]:
    """All functions with each of their methods."""
    return [(function, method) for function in _FUNCTIONS for method in methods(function)]


def count_method(
    function: str,
    method: str,
    constraints: Constraints,
    damping: float,
    iterations: int,
    outputs: Sequence[str] = ("acceleration", "multipliers"),
) -> OperationCount:
    """The operations of a method for one state; of dynamics, what `outputs` take is counted."""
    options: dict[str, object] = {"constraints": constraints, "method": method}
    if function == DYNAMICS:
        options |= {"tolerance": 0.0, "max_iterations": iterations}
        options |= {"outputs": outputs}
    if function != MATRIX:
        options["damping"] = damping
    return operation_count(_FUNCTIONS[function][0], constraints.model, **options)


def evaluate(function: Callable, constraints: Constraints, states: States, **options):
    """The result of a function for constraints, for one state or a batch."""
    inputs = (getattr(states, name) for name in _inputs(function))
    return function(constraints.model, *inputs, constraints, **options)


def own_timer(function: Callable, constraints: Constraints, states: States, **options) -> Timer:
    """A timer of a call on one state, or on a batch by one thread into existing arrays."""
    scope = {"function": function, "model": constraints.model, "constraints": constraints}
    if states.is_batch:
        scope["out"] = evaluate(function, constraints, states, **options)
        options["threads"] = 1
    keywords = [f"{name}={value!r}" for name, value in options.items()]
    keywords += ["out=out"] if states.is_batch else []
    arguments = ", ".join(("model", *_inputs(function), "constraints", *keywords))
    return Timer(f"function({arguments})", globals={**scope, **vars(states)})


def peer_timer(call: PeerCall, states: States, *out: np.ndarray) -> Timer:
    """A timer of Pinocchio on one state, or on a batch state by state.

    `states` are in Pinocchio's coordinates, and `out` are the arrays that results are written to.
    """
    names = ["out"] if len(out) == 1 else [f"out{k}" for k in range(len(out))]
    arrays = dict(zip(names, out, strict=True))
    arrays |= {name: getattr(states, name) for name in call.inputs}
    return state_timer(call.statement, call.scope, arrays, states.is_batch)


def _inputs(function: Callable) -> tuple[str, ...]:
    """The arrays of `States` that a function takes; Delassus matrices depend on q alone."""
    return ("q",) if function.__name__.startswith("delassus") else ("q", "v", "x")

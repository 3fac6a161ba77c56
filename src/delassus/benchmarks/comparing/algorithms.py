"""Algorithms on trees with Pinocchio's functions for them, and timers of both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from timeit import Timer
from types import ModuleType

import numpy as np

from ... import Model, forward_dynamics, inverse_dynamics, inverse_mass_matrix, mass_matrix
from ..measuring.states import States
from ..measuring.timing import state_timer
from ..peers.packages import pinocchio
from ..peers.pinocchio import PinocchioPeer

# Results of an algorithm for one state or a batch: an array, or a tuple of several.
Results = np.ndarray | tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Algorithm:
    """A function of ours, and Pinocchio's functions that compute the same result."""

    function: Callable
    inputs: tuple[str, ...]  # names of arrays in `States`
    # Pinocchio's function for one state: its name, or a function that makes it from the module.
    peer: str | Callable[[ModuleType], Callable]
    peer_batch: str | None = None  # the name of its function for a batch
    has_conventions: bool = False  # whether Pinocchio lets one choose the axes it computes in
    options: str = ""  # further arguments of ours, as source text
    result_type: type | None = None  # the named tuple of a function that returns several matrices
    peer_results: tuple[str, ...] = ()  # attributes of Pinocchio's data with several matrices

    def __str__(self) -> str:
        return self.function.__name__.replace("_", " ")

    @property
    def gives_matrix(self) -> bool:
        """Whether the result is a matrix, or several, rather than a vector."""
        return self.result_type is not None or str(self).endswith("matrix")

    def peer_function(self) -> Callable:
        """Pinocchio's function for one state."""
        module = pinocchio()
        return getattr(module, self.peer) if isinstance(self.peer, str) else self.peer(module)


INVERSE_DYNAMICS = Algorithm(inverse_dynamics, ("q", "v", "x"), "rnea", "rneaInParallel")
FORWARD_DYNAMICS = Algorithm(
    forward_dynamics, ("q", "v", "x"), "aba", "abaInParallel", has_conventions=True
)
MASS_MATRIX = Algorithm(mass_matrix, ("q",), "crba", has_conventions=True)
INVERSE_MASS_MATRIX = Algorithm(inverse_mass_matrix, ("q",), "computeMinverse")


def result_array(algorithm: Algorithm, states: States) -> Results:
    """An array of zeros for the results of all the states, or a tuple of arrays."""
    shape = states.v.shape + (states.v.shape[-1:] if algorithm.gives_matrix else ())
    if algorithm.result_type is None:
        return np.zeros(shape, states.v.dtype)
    fields = algorithm.result_type._fields
    return algorithm.result_type(*(np.zeros(shape, states.v.dtype) for _ in fields))


def own_timer(
    algorithm: Algorithm,
    model: Model,
    states: States,
    out: Results | None,
    threads: int | None = None,
) -> Timer:
    """A call of ours on one state or a batch; `threads` is only passed for a batch."""
    options = [
        "" if threads is None else f", threads={threads}",
        f", {algorithm.options}" if algorithm.options else "",
        "" if out is None else ", out=out",
    ]
    statement = f"function(model, {', '.join(algorithm.inputs)}{''.join(options)})"
    scope = {"function": algorithm.function, "model": model, "out": out}
    return Timer(statement, globals={**scope, **vars(states)})


def peer_timers(
    algorithm: Algorithm, peer: PinocchioPeer, states: States, out: Results | None
) -> dict[str, Timer]:
    """Pinocchio on one state, or on a batch state by state, in every way it offers.

    Results are copied to `out`; without it they stay where Pinocchio puts them.
    """
    results = () if out is None else out if isinstance(out, tuple) else (out,)
    targets = {f"out{k}": array for k, array in enumerate(results)}
    arrays = targets | {name: getattr(states, name) for name in algorithm.inputs}
    scope = {"function": algorithm.peer_function(), "model": peer.model, "data": peer.data,
             "world": pinocchio().Convention.WORLD}  # fmt: skip
    return {
        way: state_timer(statement, scope, arrays, states.is_batch)
        for way, statement in _peer_statements(algorithm, list(targets)).items()
    }


def _peer_statements(algorithm: Algorithm, targets: list[str]) -> dict[str, str]:
    """Pinocchio's call in every convention it offers, with every way to copy its results."""
    inputs = ", ".join(algorithm.inputs)
    call = f"function(model, data, {inputs})"
    calls = {"peer": call}
    if algorithm.has_conventions:
        calls["peer_world"] = f"function(model, data, {inputs}, world)"
    if not targets:
        return calls
    copied = ", ".join(f"{target}[:]" for target in targets)
    statements = {way: f"{copied} = {call}" for way, call in calls.items()}
    if algorithm.peer_results:
        pairs = zip(targets, algorithm.peer_results, strict=True)
        copies = "; ".join(f"{target}[:] = data.{result}" for target, result in pairs)
        statements["peer_data"] = f"{call}; {copies}"
    return statements


def peer_batch_timer(
    algorithm: Algorithm, peer: PinocchioPeer, columns: States, out: np.ndarray
) -> Timer:
    """Pinocchio's own function for a batch, with one thread."""
    module = pinocchio()
    scope = {"function": getattr(module, algorithm.peer_batch),
             "pool": module.ModelPool(peer.model, 1), "out": out, **vars(columns)}  # fmt: skip
    return Timer(f"function(1, pool, {', '.join(algorithm.inputs)}, out)", globals=scope)


def peer_results(algorithm: Algorithm, peer: PinocchioPeer, states: States) -> Results:
    """Pinocchio's results for a batch, in our order."""
    out = result_array(algorithm, states)
    peer_timers(algorithm, peer, states.for_peer(peer), out)["peer"].timeit(1)
    return in_our_order(out, algorithm, peer)


def in_our_order(results: Results, algorithm: Algorithm, peer: PinocchioPeer) -> Results:
    """Results of Pinocchio's with degrees of freedom in our order."""
    if isinstance(results, tuple):
        *matrices, symmetric = results
        # Some versions of Pinocchio give only the upper triangle of a symmetric matrix.
        below = np.triu(symmetric, 1).swapaxes(-1, -2)
        return tuple(map(peer.from_matrix, (*matrices, np.triu(symmetric) + below)))
    return peer.from_matrix(results) if algorithm.gives_matrix else peer.from_velocity(results)

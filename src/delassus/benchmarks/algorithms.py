"""The algorithms that are compared, what both libraries call them, and calls of them to time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from timeit import Timer
from types import ModuleType

import numpy as np

import delassus

from ..model.model import Model
from .pinocchio_peer import PinocchioPeer, pinocchio
from .states import States

# Results of an algorithm for one state or a batch: an array, or a tuple of several.
Results = np.ndarray | tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Algorithm:
    """A function of ours, and Pinocchio's functions for the same."""

    name: str  # in `delassus`
    inputs: tuple[str, ...]
    peer: str | Callable[[ModuleType], Callable]  # in `pinocchio`, or what makes it of the module
    peer_batch: str | None = None
    has_conventions: bool = False  # whether Pinocchio lets one choose the axes it computes in
    options: str = ""  # further arguments of ours, as source text
    result_type: type | None = None  # the tuple of several matrices
    peer_results: tuple[str, ...] = ()  # where Pinocchio's data keep several matrices

    @property
    def label(self) -> str:
        """The name as people write it."""
        return self.name.replace("_", " ")

    @property
    def gives_matrix(self) -> bool:
        """Whether the result is a matrix rather than a vector."""
        return self.name.endswith("matrix") or self.result_type is not None

    def peer_function(self) -> Callable:
        """Pinocchio's function for one state."""
        module = pinocchio()
        return getattr(module, self.peer) if isinstance(self.peer, str) else self.peer(module)


INVERSE_DYNAMICS = Algorithm("inverse_dynamics", ("q", "v", "x"), "rnea", "rneaInParallel")
FORWARD_DYNAMICS = Algorithm(
    "forward_dynamics", ("q", "v", "x"), "aba", "abaInParallel", has_conventions=True
)
MASS_MATRIX = Algorithm("mass_matrix", ("q",), "crba", has_conventions=True)
INVERSE_MASS_MATRIX = Algorithm("inverse_mass_matrix", ("q",), "computeMinverse")


def result_array(algorithm: Algorithm, states: States) -> Results:
    """An array for the results of all the states, or a tuple of arrays."""
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
    function = getattr(delassus, algorithm.name)
    return Timer(statement, globals={"function": function, "model": model, "out": out,
                                     **vars(states)})  # fmt: skip


def peer_timers(
    algorithm: Algorithm, peer: PinocchioPeer, states: States, out: Results | None
) -> dict[str, Timer]:
    """Pinocchio on one state, or on a batch state by state, by every way it offers.

    Results are copied to `out`; without it they stay where Pinocchio puts them.
    """
    results = () if out is None else out if isinstance(out, tuple) else (out,)
    targets = [f"out{k}" for k in range(len(results))]
    scope = {"function": algorithm.peer_function(), "model": peer.model, "data": peer.data,
             "world": pinocchio().Convention.WORLD}  # fmt: skip
    arrays = dict(zip(targets, results, strict=True)) | vars(states)
    loop = ""
    if states.v.ndim > 1:
        # The loop's variables must not shadow the arrays that they come from.
        names = [*targets, *algorithm.inputs]
        loop = f"for {', '.join(names)}, in zip({', '.join(f'all_{name}' for name in names)}): "
        arrays = {f"all_{name}": array for name, array in arrays.items()}
    return {
        way: Timer(loop + statement, globals=scope | arrays)
        for way, statement in _peer_statements(algorithm, targets).items()
    }


def _peer_statements(algorithm: Algorithm, targets: list[str]) -> dict[str, str]:
    """Pinocchio's call by every convention it offers, with every way to copy what it gives."""
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
    """What Pinocchio finds for a batch, in our order."""
    out = result_array(algorithm, states)
    peer_timers(algorithm, peer, states.for_peer(peer), out)["peer"].timeit(1)
    return in_our_order(out, algorithm, peer)


def in_our_order(results: Results, algorithm: Algorithm, peer: PinocchioPeer) -> Results:
    """Results of Pinocchio's in our order."""
    if isinstance(results, tuple):
        *matrices, symmetric = results
        # Of a symmetric matrix, some versions of Pinocchio give the upper triangle only.
        below = np.triu(symmetric, 1).swapaxes(-1, -2)
        return tuple(map(peer.from_matrix, (*matrices, np.triu(symmetric) + below)))
    return peer.from_matrix(results) if algorithm.gives_matrix else peer.from_velocity(results)

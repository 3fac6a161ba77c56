"""The algorithms that are compared, what both libraries call them, and states to try them on."""

from __future__ import annotations

from dataclasses import dataclass
from timeit import Timer

import numpy as np

import delassus

from ...model.model import Model
from ..pinocchio_peer import PinocchioPeer, pinocchio


@dataclass(frozen=True)
class Algorithm:
    """A function of ours, and Pinocchio's functions for the same."""

    name: str  # in `delassus`
    inputs: tuple[str, ...]
    peer: str  # in `pinocchio`
    peer_batch: str | None = None
    has_conventions: bool = False  # whether Pinocchio lets one choose the axes it computes in

    @property
    def label(self) -> str:
        """The name as people write it."""
        return self.name.replace("_", " ")

    @property
    def gives_matrix(self) -> bool:
        """Whether the result is a matrix rather than a vector."""
        return self.name.endswith("matrix")


INVERSE_DYNAMICS = Algorithm("inverse_dynamics", ("q", "v", "x"), "rnea", "rneaInParallel")
FORWARD_DYNAMICS = Algorithm(
    "forward_dynamics", ("q", "v", "x"), "aba", "abaInParallel", has_conventions=True
)
MASS_MATRIX = Algorithm("mass_matrix", ("q",), "crba", has_conventions=True)
INVERSE_MASS_MATRIX = Algorithm("inverse_mass_matrix", ("q",), "computeMinverse")
ALGORITHMS = (INVERSE_DYNAMICS, FORWARD_DYNAMICS, MASS_MATRIX, INVERSE_MASS_MATRIX)


@dataclass(frozen=True)
class States:
    """A batch of states; x is an acceleration or the joint forces."""

    q: np.ndarray
    v: np.ndarray
    x: np.ndarray

    @classmethod
    def random(cls, model: Model, count: int, seed: int, reach: float | None = None) -> States:
        """Random states; `reach` bounds the configuration's distance from the neutral one."""
        rng = np.random.default_rng(seed)
        v, x = rng.standard_normal((2, count, model.nv))
        if reach is None:
            return cls(model.random_configuration(rng, count), v, x)
        steps = rng.uniform(-reach, reach, (count, model.nv))
        return cls(model.integrate(np.tile(model.neutral(), (count, 1)), steps), v, x)

    def astype(self, dtype) -> States:
        """The same states in another precision."""
        return States(self.q.astype(dtype), self.v.astype(dtype), self.x.astype(dtype))

    def first(self) -> States:
        """One state without a batch axis."""
        return States(self.q[0].copy(), self.v[0].copy(), self.x[0].copy())

    def for_peer(self, peer: PinocchioPeer) -> States:
        """The same states in Pinocchio's coordinates."""
        return States(
            peer.configuration(self.q), np.ascontiguousarray(peer.velocity(self.v)),
            np.ascontiguousarray(peer.velocity(self.x)),
        )  # fmt: skip

    def as_columns(self) -> States:
        """A column a state, the layout of Pinocchio's batch functions."""
        return States(*(np.asfortranarray(array.T) for array in (self.q, self.v, self.x)))


def result_array(algorithm: Algorithm, states: States) -> np.ndarray:
    """An array for the results of all the states."""
    shape = states.v.shape + (states.v.shape[-1:] if algorithm.gives_matrix else ())
    return np.zeros(shape, states.v.dtype)


def own_timer(
    algorithm: Algorithm, model: Model, states: States, out: np.ndarray, threads: int | None = None
) -> Timer:
    """A call of ours on one state or a batch; `threads` is only passed for a batch."""
    option = "" if threads is None else f", threads={threads}"
    statement = f"function(model, {', '.join(algorithm.inputs)}, out=out{option})"
    function = getattr(delassus, algorithm.name)
    return Timer(statement, globals={"function": function, "model": model, "out": out,
                                     **vars(states)})  # fmt: skip


def peer_timers(
    algorithm: Algorithm, peer: PinocchioPeer, states: States, out: np.ndarray
) -> dict[str, Timer]:
    """Pinocchio on one state, or on a batch state by state, by every convention it offers."""
    module = pinocchio()
    inputs = ", ".join(algorithm.inputs)
    call = f"[:] = function(model, data, {inputs}"
    scope = {"function": getattr(module, algorithm.peer), "model": peer.model, "data": peer.data,
             "world": module.Convention.WORLD, "out": out}  # fmt: skip
    if states.v.ndim > 1:
        # The loop's variables must not shadow the arrays that they come from.
        loop = f"for row, {inputs} in zip(out, {', '.join(f'all_{x}' for x in algorithm.inputs)}):"
        scope |= {f"all_{name}": array for name, array in vars(states).items()}
        statement = f"{loop}\n    row{call}"
    else:
        scope |= vars(states)
        statement = f"out{call}"
    timers = {"peer": Timer(f"{statement})", globals=scope)}
    if algorithm.has_conventions:
        timers["peer_world"] = Timer(f"{statement}, world)", globals=scope)
    return timers


def peer_batch_timer(
    algorithm: Algorithm, peer: PinocchioPeer, columns: States, out: np.ndarray
) -> Timer:
    """Pinocchio's own function for a batch, with one thread."""
    module = pinocchio()
    scope = {"function": getattr(module, algorithm.peer_batch),
             "pool": module.ModelPool(peer.model, 1), "out": out, **vars(columns)}  # fmt: skip
    return Timer(f"function(1, pool, {', '.join(algorithm.inputs)}, out)", globals=scope)


def largest_difference(result: np.ndarray, reference: np.ndarray) -> float:
    """The largest difference of any state, relative to the largest number of its result."""
    axes = tuple(range(1, reference.ndim))
    scale = np.abs(reference).max(axis=axes)
    return float((np.abs(result - reference).max(axis=axes) / scale).max())

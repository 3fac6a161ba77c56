"""Mechanisms whose dynamics is timed, and closed states of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ... import Constraints, ConvergenceError, Embedding, Model, robots
from ..measuring.states import States
from .counting import closed_at_points

_CLOSED = 1e-12  # the largest error of a closed configuration
_REGULAR = 1e-3  # conditioning of configurations that are kept
_REACH = 0.2  # of independent joints from a closed configuration, in rad
_CRANKS = (0.5, 2.6)  # angles of parallelograms; at 0 and pi they are singular

Configurations = Callable[[Embedding, np.random.Generator, int], np.ndarray]


def anywhere(embedding: Embedding, rng: np.random.Generator, count: int) -> np.ndarray:
    """Random configurations; for loops that are closed by gears and belts."""
    return embedding.spanning(
        embedding.independent(embedding.model.random_configuration(rng, count))
    )


def parallelograms(embedding: Embedding, rng: np.random.Generator, count: int) -> np.ndarray:
    """Random regular configurations of `robots.four_bars`."""
    model = embedding.model
    loops = len(model.constraints)
    q = robots.assembled(model, rng.uniform(*_CRANKS, (count, loops)))
    base = model.joints[0].q
    q[:, base] = model.random_configuration(rng, count)[:, base]
    return q


def nearby(embedding: Embedding, rng: np.random.Generator, count: int) -> np.ndarray:
    """Regular configurations near one; those that cannot be closed are left out."""
    model, found = embedding.model, []
    while sum(map(len, found)) < count:
        steps = rng.uniform(-_REACH, _REACH, (count, model.nv))
        y = embedding.independent(model.integrate(np.tile(embedding.reference, (count, 1)), steps))
        try:
            q = embedding.spanning(y)
        except ConvergenceError as error:
            q = error.q[error.error <= _CLOSED]
        found.append(q[embedding.conditioning(q) > _REGULAR])
    return np.concatenate(found)[:count]


@dataclass(frozen=True)
class LoopProblem:
    """A mechanism with loops.

    `rotor_free` makes it without motors, if it has any. `constraints` are what solvers get, and
    `has_peer` tells whether Pinocchio can take them.
    """

    label: str
    make: Callable[[], Model]
    configurations: Configurations
    rotor_free: Callable[[], Model] | None = None
    constraints: Callable[[Model], Constraints] = Constraints
    has_peer: bool = False

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class ClosedStates:
    """Closed states, in independent coordinates and in those of the spanning tree."""

    embedded: States  # as kernels of the embedding take them
    spanning: States

    @classmethod
    def random(
        cls, embedding: Embedding, configurations: Configurations, count: int, seed: int
    ) -> ClosedStates:
        """Random velocities and forces at closed configurations."""
        rng = np.random.default_rng(seed)
        q = configurations(embedding, rng, count)
        yd, forces = rng.standard_normal((2, count, embedding.nv))
        tau = np.zeros((count, embedding.model.nv))
        tau[:, embedding.independent_dofs] = forces
        y = embedding.independent(q) if embedding.takes_y else q
        return cls(
            States(np.ascontiguousarray(y), yd, forces),
            States(q, embedding.spanning_velocity(q, yd), tau),
        )

    @property
    def count(self) -> int:
        """The number of states."""
        return self.embedded.count

    def first(self, count: int | None = None) -> ClosedStates:
        """The first `count` states, or the first one without a batch axis."""
        return ClosedStates(self.embedded.first(count), self.spanning.first(count))


PROBLEMS = (
    LoopProblem(
        "Mini Cheetah", robots.mini_cheetah, anywhere, lambda: robots.mini_cheetah("none")
    ),
    LoopProblem(
        "MIT Humanoid", robots.mit_humanoid, anywhere, lambda: robots.mit_humanoid("none")
    ),
    LoopProblem(
        "four-bars, 4 x 5", lambda: robots.four_bars(4, 5), parallelograms,
        constraints=closed_at_points, has_peer=True,
    ),
    LoopProblem("Cassie", lambda: robots.load("cassie_without_springs"), nearby),
)  # fmt: skip

"""Random states to measure on, and how far results for them are apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ... import Model
from ..peers.pinocchio import PinocchioPeer


@dataclass(frozen=True)
class States:
    """A batch of states, or one without a batch axis; x is an acceleration or joint forces."""

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

    @property
    def is_batch(self) -> bool:
        """Whether there is a batch axis."""
        return self.v.ndim > 1

    @property
    def count(self) -> int:
        """The number of states."""
        return len(self.q) if self.is_batch else 1

    def astype(self, dtype) -> States:
        """These states in another precision."""
        return States(self.q.astype(dtype), self.v.astype(dtype), self.x.astype(dtype))

    def first(self, count: int | None = None) -> States:
        """The first `count` states, or the first one without a batch axis."""
        return self.at(0 if count is None else slice(count))

    def at(self, part: int | slice) -> States:
        """One state without a batch axis, or some of them."""
        return States(self.q[part].copy(), self.v[part].copy(), self.x[part].copy())

    def at_rest(self) -> States:
        """These configurations without velocity, and without acceleration or joint forces."""
        return States(self.q, np.zeros_like(self.v), np.zeros_like(self.x))

    def for_peer(self, peer: PinocchioPeer) -> States:
        """These states in Pinocchio's coordinates."""
        return States(
            peer.configuration(self.q),
            np.ascontiguousarray(peer.velocity(self.v)),
            np.ascontiguousarray(peer.velocity(self.x)),
        )

    def as_columns(self) -> States:
        """One column a state: the layout that Pinocchio's batch functions take."""
        return States(*(np.asfortranarray(array.T) for array in (self.q, self.v, self.x)))


def largest_difference(result, reference) -> float:
    """The largest difference of any state, relative to the largest number of its result.

    Of several results, given as tuples, each is compared by itself.
    """
    if isinstance(reference, tuple):
        pairs = zip(result, reference, strict=True)
        return float(np.max([largest_difference(x, y) for x, y in pairs]))
    axes = tuple(range(1, reference.ndim))
    scale = np.abs(reference).max(axis=axes)
    return float((np.abs(result - reference).max(axis=axes) / scale).max())

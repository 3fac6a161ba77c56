"""What functions of dynamics are called with: a model, or what stands in its place."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from ..compile import Kernel, Tabulated
from .parts.constraints import Constraint


class Mechanism(Tabulated):
    """A mechanism with nq coordinates, nv velocities, n_bodies bodies and named frames.

    A `Model` is one. A layer above may have others, with other coordinates or other places where
    they are evaluated: functions ask them which kernel serves (see `Tabulated.kernels`).
    """

    nq: int
    nv: int
    n_bodies: int

    @property
    def tree(self) -> Mechanism:
        """The model whose bodies and joints these are."""
        return self

    # Between a mechanism and its tree, for functions that work on the tree only:

    def spanning(self, y: ArrayLike, near: ArrayLike | None = None) -> ArrayLike:
        """Coordinates of the tree."""
        return y

    def independent(self, q: ArrayLike) -> ArrayLike:
        """Coordinates of this, from those of the tree."""
        return q

    def independent_velocity(self, v: ArrayLike) -> ArrayLike:
        """Velocities of this, from those of the tree."""
        return v

    def all_constraints(self, held: Iterable[Constraint]) -> tuple[Constraint, ...]:
        """What holds the tree: constraints on this, and those that are part of this."""
        return tuple(held)

    def degrees_of_freedom(self, joint: str) -> np.ndarray:
        """Numbers of a joint's velocities among those of this."""
        raise NotImplementedError

    def serve_rows(
        self,
        constraints: Tabulated,
        kernel: Kernel,
        inputs: tuple,
        out: tuple | None,
        threads: int | None,
        shared: tuple,
    ) -> list | None:
        """Outputs of a kernel for constraints on this, if there is a way of its own; else None."""
        return None

    def check_rows(self, constraints: Tabulated) -> None:
        """Raise an error for constraints that cannot be on this."""

    def frame_index(self, name: str) -> int:
        """Where a frame stands among those that kernels know."""
        raise NotImplementedError

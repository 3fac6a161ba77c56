"""What functions of dynamics are called with: a model, or what stands in its place."""

from __future__ import annotations

from ..compile import Tabulated


class Mechanism(Tabulated):
    """A mechanism with nq coordinates, nv velocities, n_bodies bodies and named frames.

    A `Model` is one. A layer above may have others, with other coordinates or other places where
    they are evaluated: functions ask them which kernel serves (see `Tabulated.kernels`).
    """

    nq: int
    nv: int
    n_bodies: int

    def frame_index(self, name: str) -> int:
        """Where a frame stands among those that kernels know."""
        raise NotImplementedError

"""The class Constraints: constraints of a model as rows, which are evaluated at a state."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ...checks import instance, items, not_negative
from ...compile import FLOAT64, Kernel, Tabulated
from ...dynamics.arguments import check_model, numbers_of, zero_velocity
from ...errors import ModelError
from ...model.model import Model
from ...model.parts.constraints import Constraint
from ...spatial.constant import Immutable
from . import packed, pieces
from .jacobian import evaluate_rows
from .scales import RowScales, find_scales


@dataclass(frozen=True)
class Baumgarte:
    """Stabilisation: rows are asked for the acceleration -kp error - kd velocity.

    With kd = 2 sqrt(kp) errors decay without oscillation, at the rate sqrt(kp).
    """

    kp: float = 0.0
    kd: float = 0.0

    def __post_init__(self) -> None:
        for name in ("kp", "kd"):
            object.__setattr__(self, name, not_negative(name, getattr(self, name)))


_MOST_REQUESTS = 100  # to keep, see `Constraints.remember`


class Constraints(Immutable, Tabulated):
    """Constraints on a model that hold at the same time: `size` rows, in the order of the list.

    Without a list, they are the constraints that the model declares.
    """

    _instead = "; make new ones"

    def __init__(
        self,
        model: Model,
        constraints: Iterable[Constraint] | None = None,
        *,
        stabilization: Baumgarte | None = None,
    ):
        super().__init__()
        check_model(model)
        self.model: Model = model
        own = model.constraints if model.tree is model else ()  # an embedding has taken them
        declared = own if constraints is None else constraints
        self.declared: tuple[Constraint, ...] = items("constraints", declared, Constraint)
        chosen = Baumgarte() if stabilization is None else stabilization
        self.stabilization: Baumgarte = instance("stabilization", chosen, Baumgarte)
        self._parts = [pieces.pieces(model.tree, c) for c in self.declared]
        counts = [sum(piece.count for piece in own) for own in self._parts]
        ends = np.cumsum(counts, dtype=int)
        self.slices = tuple(
            slice(int(end - count), int(end)) for end, count in zip(ends, counts, strict=True)
        )
        self.size = int(sum(counts))
        self.requests: dict = {}  # checked inputs of solvers, by the options that they follow from
        self._paths: dict = {}  # by precision
        found = self.paths(FLOAT64)  # raises an error for wrong names
        model.check_rows(self)
        known = {"m": self.size, "size": self.size + model.nv, **packed.sizes(found.records)}
        self.dimensions = {**model.dimensions, **known}
        self._is_made = True

    def __getstate__(self) -> dict:
        return {**super().__getstate__(), "requests": {}, "_paths": {}}  # requests hold kernels

    def paths(self, dtype: np.dtype) -> packed.Paths:
        """Pieces and their paths, in one precision: all arrays of kernels follow from them."""
        if dtype not in self._paths:
            self._paths[dtype] = packed.find_paths(self.model.tree, self._parts, dtype)
        return self._paths[dtype]

    @cached_property
    def scales(self) -> RowScales:
        """Usual sizes of the rows, found when first asked for."""
        return find_scales(self)

    def serve(
        self, kernel: Kernel, inputs: tuple, out: tuple | None, threads: int | None, shared: tuple
    ) -> list | None:
        """Outputs of a kernel where what the constraints are on has a way of its own."""
        return self.model.serve_rows(self, kernel, inputs, out, threads, shared)

    # --- at a state -------------------------------------------------------------------------------

    def remember(self, key: Hashable, request: object) -> None:
        """Keep checked inputs of solvers for later calls; if they are too many, drop all others."""
        if len(self.requests) > _MOST_REQUESTS:
            self.requests.clear()
        self.requests[key] = request

    def _at_rest(self, q, threads):
        return evaluate_rows(self, (q, zero_velocity(self.model, q)), None, threads)

    def jacobian(self, q: ArrayLike, *, threads: int | None = None) -> np.ndarray:
        """J with J v the velocities of the rows, (..., size, nv)."""
        return self._at_rest(q, threads)[0]

    def velocity(self, q: ArrayLike, v: ArrayLike, *, threads: int | None = None) -> np.ndarray:
        """J v: the velocities of the rows, zero where the constraints hold, (..., size)."""
        return evaluate_rows(self, (q, v), None, threads)[1]

    def drift(self, q: ArrayLike, v: ArrayLike, *, threads: int | None = None) -> np.ndarray:
        """dJ/dt v: the accelerations of the rows if joints do not accelerate, (..., size)."""
        return evaluate_rows(self, (q, v), None, threads)[2]

    def position_error(self, q: ArrayLike, *, threads: int | None = None) -> np.ndarray:
        """By how much each row is violated, in metres and radians, (..., size)."""
        return self._at_rest(q, threads)[3]

    def rank(self, q: ArrayLike, tolerance: float = 1e-8) -> int | np.ndarray:
        """The number of rows that are independent at a state; 0 where that has NaN."""
        J, tolerance = self.jacobian(numbers_of("q", q)), not_negative("tolerance", tolerance)
        if J.shape[-2] == 0:
            return np.zeros(J.shape[:-2], int)[()]
        J = np.where(np.isfinite(J).all(axis=(-2, -1), keepdims=True), J, 0.0)
        singular = np.linalg.svd(J, compute_uv=False)
        return np.sum(singular > tolerance * singular.max(axis=-1, keepdims=True), axis=-1)[()]

    def redundant_rows(self, q: ArrayLike, tolerance: float = 1e-8) -> list[int]:
        """Rows that follow from those before them at one state."""
        J, tolerance = self.jacobian(numbers_of("q", q)), not_negative("tolerance", tolerance)
        if J.ndim != 2:
            raise ModelError("redundant_rows takes one state")
        return _dependent(J, tolerance)

    def __repr__(self) -> str:
        return f"<Constraints on {self.model.name!r}: {len(self.declared)}, {self.size} rows>"


def _dependent(J: np.ndarray, tolerance: float) -> list[int]:
    """Rows that depend on rows before them: Gram-Schmidt, each step twice for accuracy."""
    basis = np.zeros((0, J.shape[1]))
    scale = np.linalg.norm(J, axis=1).max(initial=0.0)
    found = []
    for r, row in enumerate(J):
        rest = row - basis.T @ (basis @ row)
        rest = rest - basis.T @ (basis @ rest)
        length = np.linalg.norm(rest)
        if length <= tolerance * scale:
            found.append(r)
        else:
            basis = np.vstack([basis, rest / length])
    return found

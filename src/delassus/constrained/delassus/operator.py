"""The Delassus matrix as an operator: products and solutions in O(n + m), without the matrix."""

from __future__ import annotations

import copy

import numpy as np
from numpy.typing import ArrayLike

from ...checks import real_array
from ...dynamics.arguments import numbers_of
from ...errors import ShapeError
from ...model.model import Model
from ..rows.checks import check_constraints
from ..rows.constraints import Constraints
from .caba_osim import caba_osimf_branches
from .diagonal import delassus_diagonal
from .matrices import check_uncoupled, damping_of, delassus_inverse, delassus_matrix
from .sweeps import factor_operator, multiply_operator, place_operator, solve_operator


class DelassusOperator:
    """G = J M^-1 J^T at one state or many, and G + damping, without forming either.

    Products and solutions cost O(n + m), by sweeps over the links that support constraints. The
    data of the sweeps are computed once; for another damping, only a part is computed again.
    """

    def __init__(
        self,
        model: Model,
        q: ArrayLike,
        constraints: Constraints,
        damping: float | ArrayLike | None = None,
        *,
        threads: int | None = None,
    ):
        self.constraints = check_constraints(model, constraints)
        self.threads = threads
        q = numbers_of("q", q)
        self._geometry = place_operator(self.constraints, (q,), None, threads)
        self._q = np.array(q)
        none = np.zeros((*self._geometry.shape[:-1], self.constraints.size), self._geometry.dtype)
        self._loose = factor_operator(self.constraints, (self._geometry, none), None, threads)
        self.set_damping(damping)

    @property
    def size(self) -> int:
        """The number of rows."""
        return self.constraints.size

    @property
    def damping(self) -> np.ndarray:
        """What `solve` adds to the diagonal of G, a number for each row."""
        return np.broadcast_to(self._damping, (*self._q.shape[:-1], self.size)).copy()

    def set_damping(self, damping: float | ArrayLike) -> None:
        """Change the damping: one number, one for each row, or one for each state and row."""
        rows = damping_of(self.constraints, damping, self._q)
        inputs = (self._geometry, 1.0 / rows)
        self._stiff = factor_operator(self.constraints, inputs, None, self.threads)
        self._damping = rows

    def with_damping(self, damping: float | ArrayLike) -> DelassusOperator:
        """A new operator for these states, with another damping."""
        other = copy.copy(self)
        other.set_damping(damping)
        return other

    def multiply(self, x: ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
        """G x, without damping."""
        return multiply_operator(self.constraints, (self._loose, x), out, self.threads)

    def solve(self, x: ArrayLike, out: np.ndarray | None = None) -> np.ndarray:
        """(G + damping)^-1 x"""
        inputs = (self._loose, self._stiff, self._damping, x)
        return solve_operator(self.constraints, inputs, out, self.threads)

    __matmul__ = multiply

    def matrix(self) -> np.ndarray:
        """G, (..., size, size)."""
        cs = self.constraints
        return delassus_matrix(cs.model, self._q, cs, threads=self.threads)

    def inverse(self) -> np.ndarray:
        """(G + damping)^-1, (..., size, size)."""
        cs = self.constraints
        return delassus_inverse(cs.model, self._q, cs, self.damping, threads=self.threads)

    def diagonal_blocks(self) -> list[np.ndarray]:
        """The block of G of each constraint as it was declared, (..., rows, rows). O(n + m)."""
        flat = delassus_diagonal(self.constraints, (self._loose,), None, self.threads)
        blocks, at = [], 0
        for rows in self.constraints.slices:
            size = rows.stop - rows.start
            block = flat[..., at : at + size * size]
            blocks.append(block.reshape(*flat.shape[:-1], size, size))
            at += size * size
        return blocks

    def __repr__(self) -> str:
        return f"<DelassusOperator of {self.constraints!r}>"


class BranchedInverse:
    """(J M^-1 J^T + damping)^-1 = local - coupling coupling^T at one state or many.

    Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Sec. VI-B. The
    matrix `local` has a block for each branch of a free base and is zero elsewhere; `coupling` has
    six columns, for the motion of the base. Without a free base, `coupling` is zero.
    """

    def __init__(
        self,
        model: Model,
        q: ArrayLike,
        constraints: Constraints,
        damping: float | ArrayLike,
        *,
        threads: int | None = None,
    ):
        cs = self.constraints = check_constraints(model, constraints)
        check_uncoupled(cs, "caba-osimf")
        q = numbers_of("q", q)
        inputs = (q, damping_of(cs, damping, q))
        self.local, self.coupling = caba_osimf_branches(cs, inputs, None, threads)

    def multiply(self, x: ArrayLike) -> np.ndarray:
        """(J M^-1 J^T + damping)^-1 x"""
        x = real_array("x", x, keep_single=True)
        if x.shape != self.local.shape[:-1]:
            raise ShapeError(f"x must have shape {self.local.shape[:-1]}, got {x.shape}")
        x = x[..., None]
        through_base = self.coupling @ (self.coupling.swapaxes(-1, -2) @ x)
        return (self.local @ x - through_base)[..., 0]

    __matmul__ = multiply

    def matrix(self) -> np.ndarray:
        """The inverse itself, (..., size, size)."""
        return self.local - self.coupling @ self.coupling.swapaxes(-1, -2)

"""The Delassus matrix as an operator: products and solutions in O(n + m), without the matrix.

Python calls `multiply` and `solve`. Solvers of upper layers that are compiled make factors of their
own from what an operator keeps, with springs along rows as they need them: see `Springs`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...checks import real_array
from ...compile import Layout, function, layout
from ...dynamics.arguments import numbers_of
from ...errors import ShapeError
from ...model.model import Model
from ..recursion.couplings import BLOCKS
from ..recursion.links import RECURSION
from ..rows.checks import check_constraints
from ..rows.constraints import Constraints
from .caba_osim import caba_osimf_branches
from .diagonal import delassus_diagonal
from .matrices import check_uncoupled, damping_of, delassus_inverse, delassus_matrix
from .sweeps import (
    OTHER_FACTOR,
    OperatorArrays,
    copy_rows,
    factor_links,
    factor_operator,
    geometry_parts,
    multiply,
    multiply_operator,
    place_operator,
    read_links,
    solve_operator,
    sweep_with,
)
from .sweeps import copy as copy_numbers


class SpringArrays(OperatorArrays):
    """The arrays of an operator, with the extents that solvers of upper layers ask for.

    `kept` is what an operator keeps: its geometry. Any row may be a cone row.
    """

    __slots__ = ()
    dimensions = (*OperatorArrays.dimensions, "rows", "cone_rows", "kept")

    @classmethod
    def sizes(cls, constraints) -> dict[str, int]:
        """Extents of work memory, and numbers of rows and of what is kept."""
        known, rows = super().sizes(constraints), constraints.size
        return known | {"rows": rows, "cone_rows": rows, "kept": known["geometry"]}


class Springs(NamedTuple):
    """Products with D(W) = J (M + J^T W J)^-1 J^T, as functions on the work memory of any kernel.

    W is the stiffness of springs along rows. A solver makes as many factors as it needs.
    """

    arrays: type  # that the functions read; with the extents `rows`, `cone_rows` and `kept`
    memory: Layout
    factor_memory: Layout  # of each factor
    start: Callable  # (model, kept, memory): once, with the numbers that an operator keeps
    factor: Callable  # (model, weights, factor, memory): a factor of M + J^T W J
    multiply: Callable  # (model, x, y, factor, memory): y = D(W) x


class Sprung(NamedTuple):
    """An operator for compiled solvers: its kind, what kernels are called with, what it keeps."""

    kind: Springs
    model: Any
    kept: np.ndarray


@function
def start_springs(model, kept, memory):
    """What all factors are made of."""
    copy_numbers(kept, 0, memory.geometry, 0, model.geometry_starts[4])
    given = geometry_parts(model, memory.geometry)
    copy_rows(model.geometry_starts, given.rows, given.registers, memory.rows, memory.registers)


@function
def factor_springs(model, weights, factor, memory):
    """Articulated inertias with springs; D and G of all joints"""
    view = sweep_with(factor, memory)
    read_links(model, geometry_parts(model, memory.geometry), view)
    factor_links(model, weights, view)


@function
def multiply_springs(model, x, y, factor, memory):
    """y = J (M + J^T W J)^-1 J^T x"""
    multiply(model, x, y, sweep_with(factor, memory))


SPRINGS = Springs(
    SpringArrays,
    layout(RECURSION, BLOCKS, joints="nv", geometry="kept"),
    OTHER_FACTOR,
    start_springs,
    factor_springs,
    multiply_springs,
)


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

    def diagonal(self) -> np.ndarray:
        """The diagonal of G, (..., size). O(n + m)."""
        flat = delassus_diagonal(self.constraints, (self._loose,), None, self.threads)
        return flat[..., self._places_of_diagonal]

    @cached_property
    def _places_of_diagonal(self) -> np.ndarray:
        """Where the blocks one after the other have the diagonal."""
        places, at = [], 0
        for rows in self.constraints.slices:
            size = rows.stop - rows.start
            places.append(at + (size + 1) * np.arange(size))
            at += size * size
        return np.concatenate([np.zeros(0, int), *places])

    @property
    def springs(self) -> Sprung:
        """The operator for compiled solvers."""
        return Sprung(SPRINGS, self.constraints, self._geometry)

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

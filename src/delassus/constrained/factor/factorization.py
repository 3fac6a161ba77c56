"""K = U D U^T as an object: the factors, products with them, and the Delassus matrix from them.

Carpentier, Budhiraja and Mansard, Proximal and Sparse Resolution of Constrained Dynamic Equations,
2021, Sec. IV: constraint rows come before joints, and

    K = [[-mu, J], [J^T, M]]

U is stored as a dense matrix, but products with it skip the zeros that follow from the tree and
the paths of pieces (see `factor.kkt`).

| paper | here | what |
| --- | --- | --- |
| U_K_mu, D_K_mu (Eq. 24) | U, D of KKTFactorization | factors of K |
| U x, U^t x, U^-1 x, U^-t x (Sec. IV-D) | `apply_factor` | sparse products |
| U_Lambda, D_Lambda (Sec. IV-E) | `delassus_factor` | factor of J M^-1 J^T + mu |
| Lambda_mu (Eq. 20) | `delassus_inverse` | damped inverse |
| other matrices than M (Sec. IV-F) | `tree_factorization` | factor of any matrix of the pattern |
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...checks import instance
from ...compile import FLOAT64, clear, function, kernel, layout
from ...dynamics.arguments import check_model, zero_velocity
from ...model.model import Model
from ...model.packed import ModelArrays
from ..rows.checks import check_constraints, state_count
from ..rows.constraints import Constraints
from ..rows.packed import ConstrainedArrays
from ..rows.request import damping_rows
from ..rows.wrenches import count_rows
from .equations import SYSTEM, put_equations
from .kkt import MARGIN, factorize, factorize_tree, padded_extents

# Choices of `apply_factor`: U x, U^T x, U^-1 x, U^-T x.
MULTIPLY, MULTIPLY_TRANSPOSED, SOLVE, SOLVE_TRANSPOSED = range(4)


@kernel(
    ConstrainedArrays,
    inputs={"q": "nq", "v": "nv", "damping": "m", "external_forces": "n_bodies 6 optional"},
    outputs={"U": "size size", "D": "size"},
    work=layout(SYSTEM, damping="padded_rows"),
    label="kkt_factorization",
)
def factor_kkt(model, q, v, damping, external_forces, U, D, work):
    """K(q) = U D U^T; `v` must be zero: it stands for tau, too"""
    padded_rows, _ = padded_extents(model)
    put_equations(model, q, v, v, external_forces, False, work)
    for t in range(padded_rows):
        work.damping[t] = 1.0
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for t in range(piece.count):
            work.damping[piece.padded_row + t] = damping[piece.row + t]
    factorize(model, work.J, work.damping, work)
    for c in range(len(model.pieces)):
        put_rows_of_factor(model, c, U, D, work)
    put_joints_of_factor(model, work.M, work.D, U, D)


@function
def put_joints_of_factor(model, M, D_M, U, D):
    """Copy U_M and D_M, the rows of joints, to U and D."""
    nv = len(model.armature)
    pitch, m = nv + MARGIN, count_rows(model)
    for i in range(nv):
        at = (m + i) * (m + nv) + m
        U[at + i] = 1.0
        D[m + i] = 1.0 / D_M[i]
        for k in range(i + 1, model.dof_end[i]):
            U[at + k] = M[i * pitch + k]


@function
def put_rows_of_factor(model, c, U, D, work):
    """Copy U_G, Y D_M^-1 and -D_G, for the rows of piece c, to U and D, without filler rows."""
    piece, m = model.pieces[c], count_rows(model)
    size, pitch = m + len(model.armature), padded_extents(model)[0] + MARGIN
    for t in range(piece.count):
        row, at = piece.row + t, (piece.row + t) * size
        U[at + row] = 1.0
        D[row] = -1.0 / work.D_G[piece.padded_row + t]
        for d in range(c, len(model.pieces)):
            other = model.pieces[d]
            for s in range(other.count):
                if other.row + s > row:
                    entry = (piece.padded_row + t) * pitch + other.padded_row + s
                    U[at + other.row + s] = work.G[entry]
        for place in range(piece.length):
            k = model.steps[piece.path + place].dof
            U[at + m + k] = work.Y[piece.panel + place * piece.height + t] * work.D[k]


@kernel(
    ConstrainedArrays,
    shared=("choice",),
    inputs={"U": "size size", "x": "size"},
    outputs={"y": "size"},
    label="product with the factor of K",
)
def apply_factor(model, choice, U, x, y, work):
    """U x, U^T x, U^-1 x or U^-T x"""
    nv, m = len(model.armature), count_rows(model)
    for t in range(m + nv):
        y[t] = x[t]
    if choice[0] == MULTIPLY:
        for t in range(m):
            y[t] = y[t] + row_times(model, m, U, x, t)
        for i in range(nv):
            y[m + i] = y[m + i] + joint_times(model, m, U, x, i)
    elif choice[0] == SOLVE:
        for i in range(nv - 1, -1, -1):
            y[m + i] = y[m + i] - joint_times(model, m, U, y, i)
        for t in range(m - 1, -1, -1):
            y[t] = y[t] - row_times(model, m, U, y, t)
    elif choice[0] == MULTIPLY_TRANSPOSED:
        for i in range(nv - 1, -1, -1):
            spread_joint(model, m, U, y, i, 1.0)
        for t in range(m - 1, -1, -1):
            spread_row(model, m, U, y, t, 1.0)
    else:
        for t in range(m):
            spread_row(model, m, U, y, t, -1.0)
        for i in range(nv):
            spread_joint(model, m, U, y, i, -1.0)


@function
def row_times(model, m, U, x, t):
    """Constraint row t of U, right of the diagonal, times x; only joints on the piece's path."""
    size, piece = m + len(model.armature), piece_of(model, t)
    y = 0.0 * x[t]
    for s in range(t + 1, m):
        y = y + U[t * size + s] * x[s]
    for place in range(piece.length):
        k = m + model.steps[piece.path + place].dof
        y = y + U[t * size + k] * x[k]
    return y


@function
def spread_row(model, m, U, y, t, sign):
    """y + sign U_t^T y_t for constraint row t of U, right of the diagonal"""
    size, piece = m + len(model.armature), piece_of(model, t)
    x = sign * y[t]
    for s in range(t + 1, m):
        y[s] = y[s] + U[t * size + s] * x
    for place in range(piece.length):
        k = m + model.steps[piece.path + place].dof
        y[k] = y[k] + U[t * size + k] * x


@function
def joint_times(model, m, U, x, i):
    """The row of joint i of U, right of the diagonal, times x: only joints that i carries."""
    at = (m + i) * (m + len(model.armature)) + m
    y = 0.0 * x[m + i]
    for k in range(i + 1, model.dof_end[i]):
        y = y + U[at + k] * x[m + k]
    return y


@function
def spread_joint(model, m, U, y, i, sign):
    """y + sign U_i^T y_i for the row of joint i of U, right of the diagonal"""
    at = (m + i) * (m + len(model.armature)) + m
    x = sign * y[m + i]
    for k in range(i + 1, model.dof_end[i]):
        y[m + k] = y[m + k] + U[at + k] * x


@function
def piece_of(model, row):
    """The piece that a row belongs to."""
    c = 0
    while model.pieces[c].row + model.pieces[c].count <= row:
        c = c + 1
    return model.pieces[c]


@kernel(
    ModelArrays,
    inputs={"A": "nv nv"},
    outputs={"U": "nv nv", "D": "nv"},
    work=layout(M=lambda n: n["nv"] * (n["nv"] + MARGIN)),
    label="tree_factorization",
)
def factor_tree(model, A, U, D, work):
    """A = U D U^T for a symmetric matrix with the tree's pattern"""
    nv = len(model.armature)
    pitch = nv + MARGIN
    clear(work.M, nv * pitch)
    for k in range(nv):
        for i in range(k + 1):
            work.M[k * pitch + i] = A[k * nv + i]
    factorize_tree(model, work.M, D)
    for i in range(nv):
        U[i * nv + i] = 1.0
        D[i] = 1.0 / D[i]
        for k in range(i + 1, model.dof_end[i]):
            U[i * nv + k] = work.M[i * pitch + k]


class KKTFactorization:
    """K = [[-damping, J], [J^T, M]] = U D U^T at one state or many; rows come before joints."""

    def __init__(self, constraints: Constraints, U: np.ndarray, D: np.ndarray, damping: np.ndarray):
        self.constraints = instance("constraints", constraints, Constraints)
        self.U, self.D, self.damping = U, D, damping

    def _apply(self, choice: int, x: ArrayLike) -> np.ndarray:
        return apply_factor(self.constraints, (self.U, x), None, None, (np.array([choice]),))

    def multiply(self, x: ArrayLike) -> np.ndarray:
        """U x"""
        return self._apply(MULTIPLY, x)

    def multiply_transposed(self, x: ArrayLike) -> np.ndarray:
        """U^T x"""
        return self._apply(MULTIPLY_TRANSPOSED, x)

    def solve_upper(self, x: ArrayLike) -> np.ndarray:
        """U^-1 x"""
        return self._apply(SOLVE, x)

    def solve_transposed(self, x: ArrayLike) -> np.ndarray:
        """U^-T x"""
        return self._apply(SOLVE_TRANSPOSED, x)

    def solve(self, x: ArrayLike) -> np.ndarray:
        """K^-1 x"""
        return self.solve_transposed(self.solve_upper(x) / self.D)

    @property
    def delassus_factor(self) -> tuple[np.ndarray, np.ndarray]:
        """U_G and D_G with J M^-1 J^T + damping = U_G D_G U_G^T."""
        m = self.constraints.size
        return self.U[..., :m, :m], -self.D[..., :m]

    @property
    def delassus_matrix(self) -> np.ndarray:
        """J M^-1 J^T: the inverse of the operational-space inertia."""
        U, D = self.delassus_factor
        damped = (U * D[..., None, :]) @ U.swapaxes(-1, -2)
        return damped - self.damping[..., None] * np.eye(U.shape[-1])

    @property
    def delassus_inverse(self) -> np.ndarray:
        """(J M^-1 J^T + damping)^-1: the damped operational-space inertia."""
        U, D = self.delassus_factor
        inverse = np.linalg.inv(U)
        return inverse.swapaxes(-1, -2) @ (inverse / D[..., :, None])


def kkt_factorization(
    model: Model,
    q: ArrayLike,
    constraints: Constraints,
    damping: float | ArrayLike | None = None,
    *,
    threads: int | None = None,
    out: KKTFactorization | None = None,
) -> KKTFactorization:
    """The sparse factorisation of [[-damping, J], [J^T, M]], constraint rows before joints.

    `out` is a factorisation that is no longer needed, of the same constraints and number of states.
    """
    cs = check_constraints(model, constraints)
    count = state_count(q)
    one = damping_rows(cs, damping, None, FLOAT64)
    rows = one if count is None else np.broadcast_to(one, (count, cs.size))
    given = None
    if out is not None:
        instance("out", out, KKTFactorization)
        given = out.U, out.D
    U, D = factor_kkt(cs, (q, zero_velocity(model, q), rows), given, threads)
    return KKTFactorization(cs, U, D, rows)


def tree_factorization(
    model: Model,
    matrix: ArrayLike,
    *,
    threads: int | None = None,
    out: Sequence[np.ndarray] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """U and D with matrix = U D U^T, for symmetric matrices with the pattern of the mass matrix.

    Entries between degrees of freedom of which neither carries the other are taken for zero.
    """
    return tuple(factor_tree(check_model(model), (matrix,), out, threads))

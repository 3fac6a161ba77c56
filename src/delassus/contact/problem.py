"""The dual problem as an object: rows, cones, the Delassus matrix, checks of what is given."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import positive_integer, real_array
from ..errors import DataTypeError, ShapeError

# How far entries of D may differ from those of its transpose, and how negative its diagonal and its
# eigenvalues may be: of the diagonal entries of their rows, and of the largest entry. Rows may be
# of masses far apart. Matrices in files are often inverted, condensed or printed before: published
# ones have eigenvalues down to -7e-12 of the largest entry.
_OWN, _COMMON, _NEGATIVE = 1e-8, 1e-12, 1e-10
_OPERATOR = ("size", "multiply", "solve", "set_damping", "diagonal_blocks")


class Problem:
    """Find lambda in K with v + Gamma(v) in K*, orthogonal to it, v = (D + R) lambda + v_f + v_r.

    Rows are in this order: joints, limits, bounded rows, contacts. A contact has three rows: two
    tangents, then the normal. `delassus` is an array (rows, rows), or (N, rows, rows) for N
    problems of one shape, or an operator with the methods of `DelassusOperator`.

    `bounds` has the largest absolute reaction of each bounded row, `friction` the coefficient of
    each contact, or one for all. `compliance` is the diagonal R, `target` is v_r: seed 001, (95).
    """

    def __init__(
        self,
        delassus: Any,
        free_velocity: ArrayLike,
        n_joint_rows: int = 0,
        n_limit_rows: int = 0,
        bounds: ArrayLike = (),
        friction: ArrayLike = (),
        compliance: ArrayLike | None = None,
        target: ArrayLike | None = None,
        *,
        check: bool = True,
    ):
        self.free_velocity = _finite("free_velocity", free_velocity)
        if self.free_velocity.ndim not in (1, 2):
            raise ShapeError(
                "free_velocity must have shape (rows,), or (N, rows) for N problems, got "
                f"{self.free_velocity.shape}"
            )
        self.n_rows = self.free_velocity.shape[-1]
        self.n_joint_rows = _count("n_joint_rows", n_joint_rows)
        self.n_limit_rows = _count("n_limit_rows", n_limit_rows)
        lead = self.free_velocity.shape[:-1]
        self.bounds = _finite("bounds", np.atleast_1d(real_array("bounds", bounds)))
        self.n_bounded_rows = self.bounds.shape[-1] if self.bounds.size else 0
        if self.bounds.shape[:-1] not in ((), lead) and self.bounds.size:
            raise ShapeError(
                f"bounds must have shape {(*lead, self.n_bounded_rows)}, got {self.bounds.shape}"
            )
        self.n_contacts = self._count_contacts()
        self.friction = self._per("friction", friction, self.n_contacts, "contact", lead)
        self._check_sign("bounds", self.bounds)
        self._check_sign("friction", self.friction)
        self.compliance = self._per("compliance", compliance, self.n_rows, "row", lead)
        self._check_sign("compliance", self.compliance)
        self.target = self._per("target", target, self.n_rows, "row", lead)
        self.is_soft = bool(self.compliance.any() or self.target.any())
        self.operator = delassus if _is_operator(delassus) else None
        if self.operator is not None:
            self._check_operator(lead)
            self._matrix = None
        else:
            self._matrix = _matrix(delassus, self.n_rows, lead, check)
        self._packed: tuple | None = None

    @property
    def batch(self) -> int | None:
        """The number of problems, None for one."""
        return self.free_velocity.shape[0] if self.free_velocity.ndim == 2 else None

    @property
    def delassus(self) -> np.ndarray:
        """D as an array; it is formed if an operator was given."""
        if self._matrix is None:
            if not hasattr(self.operator, "matrix"):
                raise DataTypeError(
                    f"{type(self.operator).__name__} has no `matrix`: only ADMM works without"
                )
            self._matrix = _matrix(self.operator.matrix(), self.n_rows, (), True)
        return self._matrix

    @property
    def counts(self) -> tuple[int, int, int, int]:
        """Numbers of joint, limit and bounded rows, and of contacts."""
        return self.n_joint_rows, self.n_limit_rows, self.n_bounded_rows, self.n_contacts

    @property
    def coefficients(self) -> np.ndarray:
        """A number for each row: the bound of a bounded row, mu in the normal row of a contact."""
        found = np.zeros(self.free_velocity.shape)
        first = self.n_joint_rows + self.n_limit_rows
        found[..., first : first + self.n_bounded_rows] = self.bounds
        found[..., first + self.n_bounded_rows + 2 :: 3] = self.friction
        return found

    def packed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """D + R, v_f + v_r and the coefficients, as solvers take them."""
        if self._packed is None:
            D = self.delassus
            if self.compliance.any():
                D = D + self.compliance[..., None] * np.eye(self.n_rows)
            lead = self.free_velocity.shape[:-1]
            D = np.ascontiguousarray(np.broadcast_to(D, (*lead, self.n_rows, self.n_rows)))
            self._packed = D, self.free_velocity + self.target, self.coefficients
        return self._packed

    def delassus_diagonal(self) -> np.ndarray:
        """The diagonal of D, for an operator too."""
        if self.operator is None:
            return np.einsum("...ii->...i", self.delassus)
        if hasattr(self.operator, "diagonal"):
            return self.operator.diagonal()
        return np.concatenate([np.diagonal(b) for b in self.operator.diagonal_blocks()])

    def velocity(self, reactions: ArrayLike) -> np.ndarray:
        """D lambda + v_f"""
        reactions = self.check_rows("reactions", reactions)
        if self.operator is not None:
            return self.operator.multiply(reactions) + self.free_velocity
        return np.einsum("...ij,...j->...i", self.delassus, reactions) + self.free_velocity

    def augmented_velocity(self, reactions: ArrayLike) -> np.ndarray:
        """(D + R) lambda + v_f + v_r, which cones are about."""
        reactions = self.check_rows("reactions", reactions)
        return self.velocity(reactions) + self.compliance * reactions + self.target

    def check_rows(self, what: str, given: ArrayLike) -> np.ndarray:
        """An array with a number for each row."""
        x = real_array(what, given)
        if x.shape != self.free_velocity.shape:
            raise ShapeError(f"{what} must have shape {self.free_velocity.shape}, got {x.shape}")
        return x

    def save(self, path: str | PathLike) -> None:
        """Write the problem to an .npz file: see `files`."""
        from .files import save

        save(self, path)

    def _count_contacts(self) -> int:
        left = self.n_rows - self.n_joint_rows - self.n_limit_rows - self.n_bounded_rows
        if left < 0:
            raise ShapeError(
                f"free_velocity has {self.n_rows} rows, fewer than the {self.n_joint_rows} joint, "
                f"{self.n_limit_rows} limit and {self.n_bounded_rows} bounded rows"
            )
        if left % 3:
            raise ShapeError(
                f"{left} rows are left for contacts, after joints, limits and bounded rows, but a "
                "contact has three"
            )
        return left // 3

    def _per(self, what: str, given, count: int, each: str, lead: tuple) -> np.ndarray:
        """A number for each row or contact, from one or from as many."""
        x = _finite(what, np.zeros(()) if given is None else given)
        if what == "friction" and x.size == 0 and count:
            raise ShapeError(f"friction is missing: {count} contacts need one number each, or one")
        x = np.zeros(count) if x.size == 0 and count == 0 else x
        try:
            return np.ascontiguousarray(np.broadcast_to(x, (*lead, count)))
        except ValueError:
            raise ShapeError(
                f"{what} must be one number, or one for each {each}, ({count},), got {x.shape}"
            ) from None

    @staticmethod
    def _check_sign(what: str, x: np.ndarray) -> None:
        if (x < 0.0).any():
            place = np.argwhere(x < 0.0)[0]
            raise ShapeError(f"{what} must not be negative, but {what}{list(map(int, place))} is")

    def _check_operator(self, lead: tuple) -> None:
        if lead:
            raise ShapeError("an operator stands for one problem: free_velocity must be (rows,)")
        if self.operator.size != self.n_rows:
            raise ShapeError(
                f"the operator has {self.operator.size} rows, free_velocity has {self.n_rows}"
            )
        springs = getattr(self.operator, "springs", None)
        if springs is not None and springs.kept.ndim > 1:
            many = springs.kept.shape[:-1]
            raise ShapeError(f"an operator stands for one problem, this one has {many} states")

    def __repr__(self) -> str:
        many = "" if self.batch is None else f"{self.batch} problems of "
        return (
            f"<Problem: {many}{self.n_rows} rows, {self.n_joint_rows} of joints, "
            f"{self.n_limit_rows} limits, {self.n_bounded_rows} bounded, "
            f"{self.n_contacts} contacts>"
        )


def _count(what: str, given) -> int:
    return 0 if type(given) is int and given == 0 else positive_integer(what, given)


def _finite(what: str, given) -> np.ndarray:
    x = real_array(what, given)
    if not np.isfinite(x).all():
        place = np.argwhere(~np.isfinite(np.atleast_1d(x)))[0]
        raise ShapeError(f"{what} must be finite, but {what}{list(map(int, place))} is not")
    return x


def _is_operator(given) -> bool:
    missing = [name for name in _OPERATOR if not hasattr(given, name)]
    if missing and hasattr(given, "multiply"):
        raise DataTypeError(
            f"{type(given).__name__} is no operator: it has no {', '.join(missing)}"
        )
    return not missing


def _matrix(given, rows: int, lead: tuple, check: bool) -> np.ndarray:
    D = np.ascontiguousarray(real_array("delassus", given))
    if D.shape not in ((rows, rows), (*lead, rows, rows)):
        raise ShapeError(
            f"delassus must have shape {(*lead, rows, rows)} for {rows} rows, got {D.shape}"
        )
    if not check or not D.size:
        return D
    if not np.isfinite(D).all():
        raise ShapeError("delassus has entries that are not finite")
    diagonal = np.einsum("...ii->...i", D)
    largest = np.abs(D).max(axis=(-2, -1), keepdims=True)
    common, negative = _COMMON * largest, _NEGATIVE * largest
    if (diagonal < -negative[..., 0]).any():
        raise ShapeError(f"delassus has a negative diagonal entry, {diagonal.min():.3g}")
    size = np.sqrt(np.maximum(diagonal, 0.0))
    allowed = _OWN * size[..., :, None] * size[..., None, :] + common
    if (np.abs(D - D.swapaxes(-1, -2)) > allowed).any():
        raise ShapeError("delassus is not symmetric")
    try:
        damping = _OWN * np.maximum(diagonal, 0.0)[..., None] + negative + 1e-300
        np.linalg.cholesky(D + damping * np.eye(rows))
    except np.linalg.LinAlgError:
        raise ShapeError(_why_not_definite(D, largest[..., 0, 0])) from None
    return D


def _why_not_definite(D: np.ndarray, largest: np.ndarray) -> str:
    """What is negative, and how far that is beyond what counts as rounding."""
    shares = np.linalg.eigvalsh(D)[..., 0] / largest
    k = np.unravel_index(np.argmin(shares), shares.shape)
    who = f"delassus{list(map(int, k))}" if k else "delassus"
    return (
        f"{who} is not positive semi-definite: its least eigenvalue is "
        f"{shares[k] * largest[k]:.3g}, {shares[k]:.2g} of the largest entry; from "
        f"{-_NEGATIVE:.0e} of it on, that counts as rounding (check=False takes it as it is)"
    )


def check_problem(given) -> Problem:
    """A problem, or an error that says what was expected."""
    if not isinstance(given, Problem):
        raise DataTypeError(f"expected a contact.Problem, got {type(given).__name__}")
    return given

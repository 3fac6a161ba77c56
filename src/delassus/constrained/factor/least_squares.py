"""Dense linear algebra on batches of matrices, of which some may contain NaN."""

from __future__ import annotations

import numpy as np

# Singular values below this part of the largest count as zero: rows are redundant. Axes in files
# are rounded to as many digits.
TRUNCATION = 2e-8


def pseudo_inverse(A: np.ndarray) -> np.ndarray:
    """A^+: A^+ b is the shortest x that minimises |A x - b|."""
    good, least = _finite(A), max(TRUNCATION, 16.0 * np.finfo(A.dtype).eps)
    inverse = np.linalg.pinv(np.where(good, A, 0.0), rcond=least)
    return np.where(good.swapaxes(-1, -2), inverse, np.nan)


class LeastSquares:
    """The shortest x that minimises |A x - d|, and forces along rows, whose units may be any.

    All is decided and solved with rows of A divided by their `scales`: D^-1 A = U S V^T, of which
    singular values that count as zero are left out. So a row of large numbers takes no digits from
    another one. With N for the vectors that U leaves out, what no x can change of d is its
    projection on D^-1 N.
    """

    def __init__(self, A: np.ndarray, scales: np.ndarray):
        good = _finite(A)
        self._scales = scales
        scaled = np.where(good, A, 0.0) / scales[..., None]
        U, s, V_transposed = np.linalg.svd(scaled, full_matrices=True)
        r = s.shape[-1]
        kept = s > TRUNCATION * s.max(axis=-1, keepdims=True, initial=0.0)
        self._S = np.where(good[..., 0], np.where(kept, s, np.inf), np.nan)
        self._U, self._V = U[..., :r], transposed(V_transposed)[..., :r]
        left_out = np.ones(U.shape[:-1], bool)
        left_out[..., :r] = ~kept
        self._N = U * left_out[..., None, :]
        # An orthonormal basis of D^-1 N; columns that are not there are zero.
        Q, s, _ = np.linalg.svd(self._N / scales[..., None], full_matrices=False)
        count = left_out.sum(axis=-1, keepdims=True)
        self._Q = Q * (np.arange(s.shape[-1]) < count)[..., None, :]

    def unchanged(self, d: np.ndarray) -> np.ndarray:
        """The part of d, columns side by side, that no A x changes."""
        return self._Q @ (transposed(self._Q) @ d)

    def solve(self, d: np.ndarray) -> np.ndarray:
        """The shortest x that minimises |A x - d|, for columns d."""
        d = (d - self.unchanged(d)) / self._scales[..., None]
        return self._V @ ((transposed(self._U) @ d) / self._S[..., None])

    def forces(self, x: np.ndarray, damping: np.ndarray) -> np.ndarray:
        """Of all y with A^T y = x, of x that rows see, those of the least y^2 damping."""
        y = self._U @ ((transposed(self._V) @ x) / self._S[..., None])
        weights, inverse = self._weighted(damping)
        y = y - self._N @ (inverse @ (weights * y))
        return y / self._scales[..., None]

    def without_effect(self, x: np.ndarray, damping: np.ndarray) -> np.ndarray:
        """N (N^T W N)^-1 N^T x, with the damping W, and N all forces without effect: A^T N = 0."""
        _, inverse = self._weighted(damping)
        x = transposed(self._N) @ (x / self._scales[..., None])
        return (self._N @ (inverse @ (transposed(inverse) @ x))) / self._scales[..., None]

    def _weighted(self, damping: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """sqrt(W) D^-1, and the pseudo-inverse of its product with N."""
        weights = (np.sqrt(damping) / self._scales)[..., None]
        return weights, np.linalg.pinv(weights * self._N, rcond=1e-13)


def cholesky(M: np.ndarray) -> np.ndarray:
    """L with M = L L^T"""
    good = _finite(M)
    return np.where(good, np.linalg.cholesky(np.where(good, M, np.eye(M.shape[-1]))), np.nan)


def _finite(A: np.ndarray) -> np.ndarray:
    """Which matrices have no NaN or infinity; the others must not stop a batch."""
    return np.isfinite(A).all(axis=(-2, -1), keepdims=True)


def times(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A x"""
    return (A @ x[..., None])[..., 0]


def transposed(A: np.ndarray) -> np.ndarray:
    """A^T"""
    return A.swapaxes(-1, -2)

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


def least_squares(A: np.ndarray, scales: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U, S and B with the shortest x that minimises |A x - b| being B S^-1 U^T b.

    B has orthonormal columns. Which singular values count as zero is decided with rows of A divided
    by their `scales`, so that it does not depend on their units: then B spans all x that rows see.
    S is infinite for directions that are left out.
    """
    good = _finite(A)
    A = np.where(good, A, 0.0)
    _, s, V_transposed = np.linalg.svd(A / scales[..., None], full_matrices=False)
    kept = s > TRUNCATION * s.max(axis=-1, keepdims=True, initial=0.0)
    V = transposed(V_transposed) * kept[..., None, :]
    U, S, W = np.linalg.svd(A @ V, full_matrices=False)
    # As many singular values as directions are kept are not zero, and come first.
    seen = np.arange(S.shape[-1]) < kept.sum(axis=-1, keepdims=True)
    S = np.where(seen & (S > 0.0), S, np.inf)
    return U, np.where(good[..., 0], S, np.nan), V @ transposed(W)


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

"""Dense linear algebra on batches of matrices, of which some may contain NaN."""

from __future__ import annotations

import numpy as np

# Singular values below this part of the largest count as zero.
TRUNCATION = 1e-8


def pseudo_inverse(A: np.ndarray) -> np.ndarray:
    """A^+: A^+ b is the shortest x that minimises |A x - b|."""
    good, least = _finite(A), max(TRUNCATION, 16.0 * np.finfo(A.dtype).eps)
    inverse = np.linalg.pinv(np.where(good, A, 0.0), rcond=least)
    return np.where(good.swapaxes(-1, -2), inverse, np.nan)


def singular_values(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """U, S^+ and V^T with A^+ = V S^+ U^T, where S^+ is zero for truncated singular values."""
    good = _finite(A)
    U, s, V_transposed = np.linalg.svd(np.where(good, A, 0.0), full_matrices=False)
    kept = s > TRUNCATION * s.max(axis=-1, keepdims=True, initial=0.0)
    inverse = np.where(kept, 1.0 / np.where(kept, s, 1.0), 0.0)
    return U, np.where(good[..., 0], inverse, np.nan), V_transposed


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

"""Constrained dynamics in extended precision: a small textbook evaluation, for tests alone.

With M = L L^T, A = J L^-T and a = L^-T (y + x), y = L^-1 (tau - b), x is the shortest vector that
minimises |A x - d|. Rows of A are divided by their lengths, and one-sided Jacobi rotations find its
singular values to a high relative accuracy (Demmel and Veselic 1992).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Real = np.longdouble  # 64 bits of mantissa on x86-64, 113 on AArch64


class Reference(NamedTuple):
    """Acceleration; what rows miss; singular values of scaled rows; residual that must stay."""

    acceleration: np.ndarray
    singular: np.ndarray
    stays: np.ndarray
    free: np.ndarray


def cholesky(M):
    n, L = len(M), np.array(M, Real)
    for k in range(n):
        L[k, k] = np.sqrt(L[k, k])
        L[k + 1 :, k] /= L[k, k]
        for j in range(k + 1, n):
            L[j:, j] -= L[j:, k] * L[j, k]
    return np.tril(L)


def solve_lower(L, X):
    X = np.array(X, Real)
    for k in range(len(L)):
        X[k] = (X[k] - L[k, :k] @ X[:k]) / L[k, k]
    return X


def solve_upper(L, X):
    """L^-T X"""
    X = np.array(X, Real)
    for k in range(len(L) - 1, -1, -1):
        X[k] = (X[k] - L[k + 1 :, k] @ X[k + 1 :]) / L[k, k]
    return X


def jacobi(A):
    """Q and V with A V = Q, columns of Q orthogonal and V orthogonal."""
    Q, n = np.array(A, Real), A.shape[1]
    V = np.eye(n, dtype=Real)
    least = 4 * np.finfo(Real).eps
    for _ in range(40):
        rotated = False
        for i in range(n - 1):
            for j in range(i + 1, n):
                a, b, c = Q[:, i] @ Q[:, i], Q[:, j] @ Q[:, j], Q[:, i] @ Q[:, j]
                if abs(c) <= least * np.sqrt(a * b) or c == 0:
                    continue
                rotated = True
                zeta = (b - a) / (2 * c)
                sign = Real(1) if zeta >= 0 else Real(-1)
                t = sign / (abs(zeta) + np.sqrt(1 + zeta * zeta))
                cosine = 1 / np.sqrt(1 + t * t)
                sine = cosine * t
                for X in (Q, V):
                    x = X[:, i].copy()
                    X[:, i] = cosine * x - sine * X[:, j]
                    X[:, j] = sine * x + cosine * X[:, j]
        if not rotated:
            break
    return Q, V


def solve(M, J, force, target, cut=1e-9) -> Reference:
    """M a - J^T lambda = force, J a = target, in the least-squares sense where rows contradict."""
    J, target = np.array(J, Real), np.array(target, Real)
    L = cholesky(M)
    y = solve_lower(L, force)
    free = solve_upper(L, y)
    A = solve_lower(L, J.T).T
    lengths = np.sqrt(np.sum(A * A, axis=1))
    lengths = np.where(lengths > 0, lengths, 1)
    scaled = A / lengths[:, None]
    Q, U = jacobi(scaled.T)  # columns: directions in rows, as scaled = U S W^T with Q = W S
    s = np.sqrt(np.sum(Q * Q, axis=0))
    kept = s > cut * max(s.max(initial=0), Real(0))
    d = target - J @ free
    # What stays: the projection of d on D^-1 N, N the directions that are left out.
    N = U[:, ~kept] / lengths[:, None]
    P, _ = jacobi(N) if N.shape[1] else (N, None)
    norms = np.sqrt(np.sum(P * P, axis=0))
    P = P / np.where(norms > 0, norms, 1)
    stays = -(P @ (P.T @ d))
    wanted = (d + stays) / lengths
    x = Q[:, kept] @ ((U[:, kept].T @ wanted) / s[kept] ** 2)
    return Reference(solve_upper(L, y + x), np.sort(s)[::-1], stays, free)

"""Blocks on flat memory: factors, substitution and pivots against NumPy."""

import numpy as np
import pytest

from delassus.contact.operators.blocks import (
    Block,
    add_product,
    factor_block,
    factor_front,
    solve_block,
    solve_front,
    solve_pivoted,
    solve_small,
)
from delassus.contact.operators.free import invert_block, is_definite

pytestmark = pytest.mark.uncompiled


def definite(n, rng):
    X = rng.standard_normal((n, n))
    return X @ X.T + 0.1 * np.eye(n)


def test_a_block_within_a_larger_matrix_is_factored_in_its_place():
    rng = np.random.default_rng(0)
    A, others = definite(6, rng), rng.standard_normal((9, 10))
    memory = others.copy()
    memory[2:8, 3:9] = A
    factor_block(Block(memory.ravel(), 23, 10))
    U = np.triu(memory[2:8, 3:9], 1) + np.diag(1.0 / np.diag(memory[2:8, 3:9]))
    assert np.allclose(U.T @ U, A, rtol=1e-13)
    memory[2:8, 3:9] = others[2:8, 3:9]
    assert np.array_equal(memory, others)


def test_columns_are_solved_and_products_subtracted():
    rng = np.random.default_rng(1)
    A, B, C = definite(6, rng), *rng.standard_normal((2, 6, 6))
    factor, X, rest = A.ravel().copy(), B.ravel().copy(), C.ravel().copy()
    factor_block(Block(factor, 0, 6))
    solve_block(Block(factor, 0, 6), Block(X, 0, 6))
    X_block = Block(X, 0, 6)
    add_product(Block(rest, 0, 6), -1.0, X_block, X_block, 6)
    assert np.allclose(rest.reshape(6, 6), C - B.T @ np.linalg.solve(A, B), rtol=1e-11)


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_the_front_is_solved_from_its_upper_triangle(count):
    rng = np.random.default_rng(2)
    A, b = definite(6 * count, rng), rng.standard_normal(6 * count)
    upper, x = np.triu(A).ravel().copy(), b.copy()
    factor_front(upper, count)
    solve_front(upper, count, x)
    assert np.allclose(A @ x, b, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_pivots_solve_matrices_with_zeros_on_the_diagonal(count):
    rng = np.random.default_rng(3)
    n = 6 * count
    A, b = rng.standard_normal((n, n)), rng.standard_normal(n)
    A[np.diag_indices(n)] = 0.0
    A[: n // 2, : n // 2] = 0.0
    memory = np.hstack([A, b[:, None]]).ravel()
    solve_pivoted(memory, count)
    x = memory.reshape(n, n + 1)[:, n]
    assert np.linalg.norm(A @ x - b) < 1e-11 * np.linalg.norm(x)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_small_systems_may_have_several_right_sides(n):
    rng = np.random.default_rng(4)
    A, B = rng.standard_normal((n, n)), rng.standard_normal((n, n + 1))
    if n > 1:
        A[0, 0] = 0.0
    memory = np.hstack([A, B]).ravel()
    solve_small(memory, n, 2 * n + 1)
    assert np.allclose(memory.reshape(n, 2 * n + 1)[:, n:], np.linalg.solve(A, B), rtol=1e-11)


def test_inertias_without_an_inverse_are_told_apart():
    rng = np.random.default_rng(5)
    M, factor, inverse = definite(6, rng), np.zeros(36), np.zeros(36)
    assert is_definite(Block(M.ravel(), 0, 6), factor)
    invert_block(Block(factor, 0, 6), Block(inverse, 0, 6))
    assert np.allclose(inverse.reshape(6, 6), np.linalg.inv(M), rtol=1e-11)
    rod = np.diag([1.0, 1.0, 1.0, 0.1, 0.1, 0.0])  # a thin rod turns freely about its axis
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    turned = rod.copy()
    turned[3:, 3:] = turn @ rod[3:, 3:] @ turn.T
    with np.errstate(all="ignore"):
        for singular in (np.zeros((6, 6)), rod, turned, -np.eye(6), np.full((6, 6), np.nan)):
            assert not is_definite(Block(singular.ravel(), 0, 6), factor)

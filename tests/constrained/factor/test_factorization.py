"""The sparse factorisation of the constrained equations against dense matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import delassus as dl
from delassus.constrained.factor.factorization import kkt_factorization, tree_factorization
from trees import random_states, random_tree, relative, unrelated

TREES = st.builds(
    random_tree,
    st.integers(0, 10**6),
    bodies=st.integers(4, 10),
    branching=st.sampled_from([0.0, 0.4, 0.9]),
)
DAMPING = 1e-3


def loops(model):
    """Constraints across branches, along a branch, and to the world."""
    names = [f.name for f in model.frames]
    joints = [j.name for j in model.joints if j.nv == 1]
    result = [dl.Connect(names[-1]), dl.Closure(dl.Revolute([1, 2, 0]), names[-1], names[0])]
    result += [dl.Distance(names[-2], names[1], 0.4), dl.Weld(names[1])]
    if len(joints) > 1:
        result.append(dl.Gear(joints[0], joints[1], 2.0))
    return dl.Constraints(model, result)


def dense_matrix(model, cs, q):
    M, J = dl.mass_matrix(model, q), cs.jacobian(q)
    damping = np.broadcast_to(-DAMPING * np.eye(cs.size), (len(q), cs.size, cs.size))
    return np.block([[damping, J], [J.swapaxes(1, 2), M]]), M, J


@settings(max_examples=25)
@given(TREES, st.integers(0, 10**6))
def test_factors_and_products(model, seed):
    cs = loops(model)
    q, _, _ = random_states(model, seed, 3)
    factor = kkt_factorization(model, q, cs, DAMPING)
    K, M, J = dense_matrix(model, cs, q)
    U, D = factor.U, factor.D
    assert relative((U * D[:, None, :]) @ U.swapaxes(1, 2), K) < 1e-12
    assert not np.tril(U, -1).any()
    assert (D[:, : cs.size] < 0.0).all()
    assert (D[:, cs.size :] > 0.0).all()
    x = np.random.default_rng(seed).standard_normal((3, cs.size + model.nv))
    assert relative(factor.multiply(x), np.einsum("nij,nj->ni", U, x)) < 1e-13
    assert relative(factor.multiply_transposed(x), np.einsum("nji,nj->ni", U, x)) < 1e-13
    assert relative(factor.multiply(factor.solve_upper(x)), x) < 1e-10
    assert relative(factor.multiply_transposed(factor.solve_transposed(x)), x) < 1e-10
    assert relative(np.einsum("nij,nj->ni", K, factor.solve(x)), x) < 1e-8
    G = J @ np.linalg.solve(M, J.swapaxes(1, 2))
    assert relative(factor.delassus_matrix, G) < 1e-10
    damped = G + DAMPING * np.eye(cs.size)
    identity = np.broadcast_to(np.eye(cs.size), damped.shape)
    assert relative(factor.delassus_inverse @ damped, identity) < 1e-8


def test_pattern_is_that_of_the_tree_and_the_paths():
    model = dl.robots.load("talos")
    cs = dl.Constraints(model, [dl.Weld("left_sole_link"), dl.Weld("right_sole_link")])
    q, _, _ = random_states(model, 0)
    U = kkt_factorization(model, q, cs).U
    m = cs.size
    apart = np.triu(unrelated(model))
    assert not U[m:, m:][apart].any()
    carried = cs.jacobian(q).any(axis=0)
    assert carried.sum() == 18
    assert not U[:m, m:][:, ~carried].any()


@settings(max_examples=15)
@given(TREES, st.integers(0, 10**6))
def test_any_matrix_with_the_pattern_of_the_tree(model, seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((2, model.nv, model.nv))
    A = np.where(unrelated(model), 0.0, A + A.swapaxes(1, 2)) + 4 * model.nv * np.eye(model.nv)
    U, D = tree_factorization(model, A)
    assert relative((U * D[:, None, :]) @ U.swapaxes(1, 2), A) < 1e-12
    assert not U[:, unrelated(model)].any()


def test_damping_must_be_positive():
    model = random_tree(3, bodies=5)
    cs = loops(model)
    with pytest.raises(dl.SettingError, match="damping must be positive"):
        kkt_factorization(model, model.neutral(), cs, 0.0)

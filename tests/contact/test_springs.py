"""ADMM with an operator instead of the matrix: compiled where it offers springs, in Python else."""

import numpy as np
import pytest

import delassus as dl
from constrained.mechanisms import close, four_bar
from contact.problems import stack
from delassus import contact
from trees import relative


def quadruped(loops=(), seed=0, damping=1e-3):
    """HyQ that falls on its feet; `loops` are constraints on top, which hold as joints."""
    model = dl.robots.load("hyq")
    rng = np.random.default_rng(seed)
    q = model.random_configuration(rng)
    feet = [n for n in model.frame_names if n.endswith("_foot")][: 4 - bool(loops)]
    cs = dl.Constraints(model, [*loops, *(dl.Connect(name) for name in feet)])
    operator = dl.DelassusOperator(model, q, cs, damping)
    v = operator.constraints.jacobian(q) @ (0.1 * rng.standard_normal(model.nv))
    n_joint_rows = operator.size - 3 * len(feet)
    v[n_joint_rows + 2 :: 3] -= 0.3
    return operator, v, n_joint_rows


def walker(copies):
    """A figure with loops on twelve contacts; copies of its loops are redundant joints."""
    model = dl.robots.walker()
    q = model.neutral()
    q[2] = 0.94
    points = [dl.Connect(s.frame) for s in model.shapes]
    cs = dl.Constraints(model, [*copies * model.constraints, *points])
    J = cs.jacobian(q)
    down = np.zeros(cs.size)
    down[cs.size - 3 * len(points) + 2 :: 3] = -0.3
    noise = 0.1 * np.random.default_rng(0).standard_normal(model.nv)
    v = J @ (noise + np.linalg.pinv(J, 1e-8) @ down)
    return dl.DelassusOperator(model, q, cs), v, cs.size - 3 * len(points)


def both(operator, v, n_joint_rows, **kinds):
    """A problem by the operator, and by its matrix."""
    kinds = {"n_joint_rows": n_joint_rows, "friction": 0.7} | kinds
    return contact.Problem(operator, v, **kinds), contact.Problem(operator.matrix(), v, **kinds)


FOOT = dl.Connect("rh_foot")
LOOPS = {"tree": (), "a foot held": (FOOT,), "a foot held twice": (FOOT, FOOT)}


@pytest.mark.parametrize("loops", LOOPS.values(), ids=LOOPS)
@pytest.mark.parametrize("law", ["ncp", "ccp"])
def test_reactions_of_contacts_are_those_of_the_matrix(loops, law):
    operator, v, n_joint_rows = quadruped(loops)
    by_operator, by_matrix = both(operator, v, n_joint_rows)
    exact = contact.solve(by_matrix, tolerance=1e-12, law=law)
    assert exact.converged
    for solver in ("admm-ncp-sa", "admm-ncp-la", "admm-ncp-fp"):
        r = contact.solve(by_operator, solver, 1e-10, 20_000, law=law)
        assert r.converged
        assert relative(r.reactions[n_joint_rows:], exact.reactions[n_joint_rows:]) < 1e-8
        assert relative(r.velocity, exact.velocity) < 1e-8


@pytest.mark.parametrize("copies", [1, 2])
def test_a_figure_with_loops_moves_as_by_the_matrix(copies):
    operator, v, n_joint_rows = walker(copies)
    by_operator, by_matrix = both(operator, v, n_joint_rows)
    exact = contact.solve(by_matrix, tolerance=1e-12)
    r = contact.solve(by_operator, "admm-ncp-sa", 1e-9, 20_000)
    assert exact.converged
    assert r.converged
    assert np.abs(r.velocity - exact.velocity).max() < 1e-8
    assert np.abs(r.velocity[:n_joint_rows]).max() < 1e-9


def test_rows_of_all_kinds_and_soft_ones():
    operator, v, _ = quadruped((FOOT, dl.Connect("rf_upperleg")))
    rng = np.random.default_rng(1)
    kinds = {
        **{"n_joint_rows": 2, "n_limit_rows": 2, "bounds": [0.01, 0.2]},
        "compliance": 0.1 * rng.uniform(size=operator.size),
        "target": 0.1 * rng.standard_normal(operator.size),
    }
    assert np.linalg.matrix_rank(operator.matrix()) == operator.size
    by_operator, by_matrix = both(operator, v, **kinds)
    exact = contact.solve(by_matrix, tolerance=1e-12)
    r = contact.solve(by_operator, "admm-ncp-sa", 1e-10, 20_000)
    assert exact.converged
    assert r.converged
    assert relative(r.reactions, exact.reactions) < 1e-8
    assert relative(r.velocity, by_matrix.velocity(exact.reactions)) < 1e-8


@pytest.mark.parametrize("loops", [(), (FOOT, FOOT)], ids=["tree", "redundant"])
def test_residuals_are_those_of_the_reactions_that_are_returned(loops):
    by_operator, by_matrix = both(*quadruped(loops))
    for budget in (1, 5, 1000):
        r = contact.solve(by_operator, "admm-ncp-sa", 1e-8, budget)
        other = contact.residuals(by_matrix, r.reactions)
        assert np.allclose(r.residuals, other, rtol=1e-6, atol=1e-11)
        assert r.converged == (r.residuals.relative_natural_map <= 1e-8)
        assert r.iterations <= budget


@pytest.mark.parametrize("loops", [(), (FOOT,)], ids=["tree", "loop"])
def test_a_solution_is_a_warm_start_that_leaves_little_to_do(loops):
    p, _ = both(*quadruped(loops))
    cold = contact.solve(p, "admm-ncp-sa", 1e-8, record=True)
    warm = contact.solve(p, "admm-ncp-sa", 1e-7, warm_start=cold.reactions)
    assert warm.converged
    assert warm.iterations < cold.iterations / 5
    assert len(cold.history) == cold.iterations


def test_joints_that_contradict_each_other_give_finite_reactions_and_no_solution():
    operator, v, n_joint_rows = quadruped((FOOT, FOOT))
    v[:3] += 1.0
    p, _ = both(operator, v, n_joint_rows)
    r = contact.solve(p, "admm-ncp-sa", max_iterations=50)
    assert not r.converged
    assert np.isfinite(r.reactions).all()


def test_joints_alone_are_a_linear_system():
    operator, v, _ = quadruped()
    r = contact.solve(contact.Problem(operator, v, n_joint_rows=12), "admm-ncp-sa", 1e-10)
    assert r.converged
    assert relative(r.reactions, -np.linalg.solve(operator.matrix(), v)) < 1e-8


@pytest.mark.uncompiled
def test_a_four_bar_that_is_stopped_at_a_point():
    model = four_bar()
    q = close(dl.Constraints(model), np.array([1.0, -0.5, 2.0]))
    cs = dl.Constraints(model, [*model.constraints, dl.Connect("coupler")])
    J = cs.jacobian(q)
    down = np.zeros(cs.size)
    down[-1] = -1.0
    v = J @ np.linalg.pinv(J, 1e-8) @ down
    by_operator, by_matrix = both(dl.DelassusOperator(model, q, cs), v, cs.size - 3)
    exact = contact.solve(by_matrix, tolerance=1e-12)
    r = contact.solve(by_operator, "admm-ncp-sa", 1e-9)
    assert exact.converged
    assert r.converged
    assert exact.reactions[-1] > 0.0
    assert np.abs(r.velocity - exact.velocity).max() < 1e-8


class Matrix:
    """An operator as a user may write one."""

    def __init__(self, D):
        self.D, self.S, self.size = D, 0.0, len(D)

    def multiply(self, x):
        return self.D @ x

    def set_damping(self, S):
        self.S = S

    def solve(self, x):
        return np.linalg.solve(self.D + np.diag(self.S), x)

    def diagonal_blocks(self):
        return [self.D]


@pytest.mark.uncompiled
def test_a_user_s_own_operator_carries_a_heavy_top():
    by_matrix = stack([1.0, 1.0, 1e3], push=0.1)
    p = contact.Problem(Matrix(by_matrix.delassus), by_matrix.free_velocity, friction=0.6)
    as_they_are = contact.solve(p, "admm-ncp-sa", large=1e300)
    fitted = contact.solve(p, "admm-ncp-sa")
    assert as_they_are.converged
    assert fitted.converged
    assert fitted.iterations < 0.5 * as_they_are.iterations


@pytest.mark.parametrize("loops", [(), (FOOT,)], ids=["tree", "loop"])
def test_a_user_s_own_operator_needs_no_more_than_four_methods(loops):
    operator, v, n_joint_rows = quadruped(loops)
    _, by_matrix = both(operator, v, n_joint_rows)
    p = contact.Problem(Matrix(operator.matrix()), v, n_joint_rows, friction=0.7)
    exact = contact.solve(by_matrix, tolerance=1e-12)
    r = contact.solve(p, "admm-ncp-sa", 1e-10, 20_000)
    assert r.converged
    assert relative(r.reactions[n_joint_rows:], exact.reactions[n_joint_rows:]) < 1e-8

"""The operator over bodies against dense matrices in NumPy, on all kinds of mechanisms."""

import numpy as np
import pytest
from numpy.linalg import norm

from delassus.compile import FLOAT64
from delassus.contact.operators import bodies as bodies_operator
from delassus.contact.operators.elements import PANEL
from delassus.contact.operators.kernels import Memory, cones_in
from delassus.contact.operators.structure import BodiesArrays
from delassus.contact.operators.system import BodiesOperator
from delassus.errors import DataTypeError, ModelError, SettingError, ShapeError

from .mechanisms import SYSTEMS, Bodies, Builder, solve_exactly, system

pytestmark = pytest.mark.uncompiled

WITH_INVERSE = [name for name in SYSTEMS if name != "massless"]


def error(found, expected):
    return norm(np.asarray(found - expected, float)) / norm(np.asarray(expected, float))


def operator(bodies: Bodies, damping=None, **options):
    return BodiesOperator(bodies.inertias, bodies.joints, bodies.cones, damping, **options)


class Dense:
    """The matrices of an operator's bodies, joints and cones."""

    def __init__(self, bodies, op):
        self.M, self.J, self.C = bodies.M, bodies.J, bodies.C
        self.K = np.vstack([self.J, self.C])
        self.S_j, self.S = np.split(op.damping, [len(self.J)])
        self.A = self.M + self.J.T @ (self.J / self.S_j[:, None])

    @property
    def D(self):
        return self.K @ solve_exactly(self.M, self.K.T)

    @property
    def D_c(self):
        return self.C @ solve_exactly(self.A, self.C.T)


@pytest.fixture(params=SYSTEMS)
def bodies(request):
    return system(request.param)


@pytest.fixture(params=WITH_INVERSE)
def solid(request):
    return system(request.param)


# --- all rows -------------------------------------------------------------------------------------


def test_the_matrix_is_that_of_the_textbook(solid):
    op = operator(solid)
    D = Dense(solid, op).D
    x = np.linspace(-1.0, 1.0, op.size)
    assert error(op.matrix(), D) < 1e-13
    assert error(op @ x, D @ x) < 1e-12


def test_diagonal_blocks_are_those_of_the_matrix(solid):
    op = operator(solid)
    D, at = Dense(solid, op).D, 0
    for block in op.diagonal_blocks():
        rows = slice(at, at + len(block))
        assert error(block, D[rows, rows]) < 1e-13
        at += len(block)
    assert at == op.size


@pytest.mark.parametrize("damping", [1e-5, 1e-2, 1.0])
def test_solutions_satisfy_the_damped_equations(solid, damping):
    op = operator(solid)
    op.set_damping(op.relative_damping(damping))
    D, x = Dense(solid, op).D, np.linspace(-1.0, 1.0, op.size)
    # A velocity of redundant rows gives reactions that hide all others, D x does not.
    for v in (x, np.asarray(D @ x, float)):
        expected = solve_exactly(D + np.diag(op.damping), v)
        assert error(op.solve(v), expected) < 1e-8
        assert error(op.inverse() @ v, expected) < 1e-8


def test_solutions_need_no_inverse_of_the_inertias():
    bodies = system("massless")
    op = operator(bodies, 0.01)
    dense = Dense(bodies, op)
    # (D + S)^-1 = S^-1 - S^-1 K (M + K^T S^-1 K)^-1 K^T S^-1
    K, x = dense.K, np.linspace(-1.0, 1.0, op.size)
    u = solve_exactly(dense.M + K.T @ K / 0.01, K.T @ x / 0.01)
    assert error(op.solve(x), (x - K @ u) / 0.01) < 1e-8
    for asked in (op.matrix, op.diagonal_blocks, lambda: op @ x):
        with pytest.raises(ModelError, match="definite"):
            asked()


# --- cone rows ------------------------------------------------------------------------------------


def test_products_of_cone_rows_have_joints_eliminated(bodies):
    op = operator(bodies)
    x = np.linspace(-1.0, 1.0, op.cone_rows)
    assert error(op.multiply_cones(x), Dense(bodies, op).D_c @ x) < 1e-8


def test_blocks_of_cones_are_those_of_the_reduced_matrix(bodies):
    op = operator(bodies)
    D_c, at = Dense(bodies, op).D_c, 0
    for block in op.cone_blocks():
        rows = slice(at, at + len(block))
        assert error(block, D_c[rows, rows]) < 1e-8
        at += len(block)


@pytest.mark.parametrize("penalty", [1e-4, 1.0, 1e4])
def test_solutions_of_cone_rows_satisfy_the_penalised_equations(bodies, penalty):
    op = operator(bodies)
    S = penalty * op.relative_damping(1.0)
    S[: op.joint_rows] = op.damping[: op.joint_rows]
    op.set_damping(S)
    dense = Dense(bodies, op)
    D_c, x = dense.D_c, np.linspace(-1.0, 1.0, op.cone_rows)
    for v in (x, np.asarray(D_c @ x, float)):
        expected = solve_exactly(D_c + np.diag(dense.S), v)
        assert error(op.solve_cones(v), expected) < 1e-8


def test_solutions_and_products_may_take_the_place_of_what_is_given():
    """For solvers, which call the functions on work memory."""
    op = operator(system("loops"))
    model = op._system.arrays(BodiesArrays, FLOAT64)
    kept = op._prepared, op._prepared[op.order.matrix_size :], op._penalised
    memory, cones = Memory(*kept, np.zeros(6 * 3), np.zeros(PANEL)), cones_in(op._cone_numbers)
    x = np.linspace(-1.0, 1.0, op.cone_rows)
    y = x.copy()
    bodies_operator.solve(model, cones, op._W, y, y, memory)
    assert error(y, op.solve_cones(x)) < 1e-12
    y = x.copy()
    bodies_operator.multiply(model, cones, y, y, memory)
    assert error(y, op.multiply_cones(x)) < 1e-8


def test_velocities_follow_from_forces_and_reactions(bodies):
    op = operator(bodies)
    dense, rng = Dense(bodies, op), np.random.default_rng(1)
    g = rng.standard_normal((len(bodies.inertias), 6))
    reactions, bias = rng.standard_normal((2, op.cone_rows))
    expected = solve_exactly(dense.A, g.ravel() + dense.C.T @ reactions)
    u, v = op.velocities(g, reactions, bias)
    assert error(u.ravel(), expected) < 1e-8
    assert error(v, dense.C @ expected + bias) < 1e-8


def test_joints_hold_to_the_tolerance_with_momentum_in_balance(bodies):
    op = operator(bodies)
    op.set_damping(op.relative_damping(by="heaviest"))
    dense, rng = Dense(bodies, op), np.random.default_rng(2)
    g = bodies.M @ rng.standard_normal(6 * len(bodies.inertias))
    bias = dense.J @ rng.standard_normal(len(g))  # what joints can follow, redundant or not
    reactions = rng.standard_normal(op.cone_rows)
    found = op.recover(g.reshape(-1, 6), reactions, bias, tolerance=1e-9, passes=10)
    u = found.velocities.ravel()
    assert found.residual < 2e-9 and found.passes < 10
    assert np.abs(dense.J @ u + bias).max(initial=0.0) < 2e-9
    balance = g + dense.J.T @ found.multipliers + dense.C.T @ reactions
    assert norm(dense.M @ u - balance) < 1e-8 * norm(balance)


def test_rows_that_contradict_each_other_do_not_blow_up_multipliers():
    bodies = system("twice")
    op = operator(bodies)
    half, g = op.joint_rows // 2, np.ones((6, 6))
    none = np.zeros(op.cone_rows)
    exact = op.recover(g, none, tolerance=1e-9, passes=50)
    apart = np.zeros(op.joint_rows)
    apart[0], apart[half] = 1e-6, -1e-6  # two joints of one kind that ask for opposite velocities
    found = op.recover(g, none, apart, tolerance=1e-9, passes=50)
    assert found.passes < 10
    assert np.isclose(found.residual, 1e-6, rtol=1e-3)
    together = [m[:half] + m[half:] for m in (found.multipliers, exact.multipliers)]
    assert error(together[0], together[1]) < 1e-4
    assert norm(found.multipliers) < 3.0 * norm(exact.multipliers)
    assert error(found.velocities, exact.velocities) < 1e-4


def test_multipliers_of_the_last_step_save_passes():
    bodies = system("space_loops")
    op = operator(bodies)
    g, none = np.ones((8, 6)), np.zeros(op.cone_rows)
    first = op.recover(g, none, tolerance=1e-9, passes=30)
    again = op.recover(g, none, multipliers=first.multipliers, tolerance=1e-9, passes=30)
    assert again.passes == 1 < first.passes
    assert error(again.velocities, first.velocities) < 1e-8


def test_newton_steps_solve_their_equations(bodies):
    op, rng = operator(bodies), np.random.default_rng(3)
    heights = [jacobian.shape[1] for _, jacobian in bodies.cones]
    E, H = ([rng.standard_normal((h, h)) for h in heights] for _ in range(2))
    f, delta = rng.standard_normal(op.cone_rows), 1e-7
    whole = np.zeros((2, op.cone_rows, op.cone_rows))
    at = 0
    for e, h in zip(E, H, strict=True):
        whole[:, at : at + len(e), at : at + len(e)] = e, h
        at += len(e)
    D_c = np.asarray(Dense(bodies, op).D_c, float)
    matrix = whole[0] + delta * np.eye(at) + whole[1] @ D_c
    x = op.solve_blocks(E, H, f, delta)
    assert norm(matrix @ x - f) < 1e-8 * norm(matrix, 2) * norm(x)
    assert error(x, np.linalg.solve(matrix, f)) < 1e-8


def test_newton_steps_allow_contacts_that_do_not_slip_and_contacts_that_are_open():
    """E is zero but for delta where a contact sticks, and one where it is open."""
    bodies = system("tree")
    op, delta = operator(bodies), 1e-7
    heights = [jacobian.shape[1] for _, jacobian in bodies.cones]
    open_cones = [k % 2 for k in range(len(heights))]
    E = [o * np.eye(h) for o, h in zip(open_cones, heights, strict=True)]
    H = [(1.0 - o) * np.eye(h) for o, h in zip(open_cones, heights, strict=True)]
    f = np.linspace(-1.0, 1.0, op.cone_rows)
    diagonal = np.repeat(open_cones, heights)
    D_c = np.asarray(Dense(bodies, op).D_c, float)
    matrix = np.diag(diagonal + delta) + (1.0 - diagonal)[:, None] * D_c
    assert error(op.solve_blocks(E, H, f, delta), np.linalg.solve(matrix, f)) < 1e-6


# --- what is kept and what is done again ----------------------------------------------------------


def test_a_new_penalty_gives_what_a_new_operator_gives(bodies):
    op = operator(bodies)
    inside = op._prepared
    damping = op.damping
    damping[op.joint_rows :] *= 37.0
    op.set_damping(damping)
    assert op._prepared is inside  # inside bodies were not eliminated again
    x = np.linspace(-1.0, 1.0, op.cone_rows)
    assert np.array_equal(op.solve_cones(x), operator(bodies, damping).solve_cones(x))


def test_a_larger_front_changes_nothing_but_the_order(bodies):
    n = len(bodies.inertias)
    small, large = operator(bodies), operator(bodies, front=range(n))
    assert small.order.n_front < large.order.n_front == n
    x = np.linspace(-1.0, 1.0, small.cone_rows)
    assert error(small.solve_cones(x), large.solve_cones(x)) < 1e-8
    assert error(small.multiply_cones(x), large.multiply_cones(x)) < 1e-8


def test_new_contacts_within_the_front_keep_the_order():
    bodies = system("tree")
    op = operator(bodies, front=(1, 7), slots=2)
    order = op.order
    builder = Builder(np.random.default_rng(5), np.zeros((9, 3)))
    for body, other in ((7, 1), (1, -1), (5, 2), (2, -1), (8, 7), (5, -1), (1, 5), (7, 8)):
        builder.contact(body, other)
    changed = bodies._replace(cones=builder.cones)
    op.update(cones=changed.cones)
    assert op.order is order
    x = np.linspace(-1.0, 1.0, 24)
    assert error(op.multiply_cones(x), Dense(changed, op).D_c @ x) < 1e-8
    op.update(cones=[])
    assert op.order is order and op.cone_rows == 0
    builder.contact(4)
    op.update(cones=builder.cones)
    assert op.order is not order and 4 in op.order.front


def test_other_inertias_and_jacobians_keep_the_order():
    op = operator(system("space_loops"))
    order, other = op.order, system("space_loops", seed=1)
    op.update(other.inertias, other.joints, other.cones)
    assert op.order is order
    x = np.linspace(-1.0, 1.0, op.size)
    assert error(op.solve(x), operator(other).solve(x)) < 1e-12


def test_with_damping_leaves_the_first_operator_as_it_was():
    op = operator(system("tree"))
    x = np.linspace(-1.0, 1.0, op.size)
    before = op.solve(x)
    assert error(op.with_damping(1.0).solve(x), before) > 0.1
    assert np.array_equal(op.solve(x), before)


def test_without_cones_there_is_no_front():
    bodies = system("loops")._replace(cones=[])
    op = operator(bodies)
    x = np.linspace(-1.0, 1.0, op.size)
    assert op.order.n_front == 0
    expected = solve_exactly(Dense(bodies, op).D + np.diag(op.damping), x)
    assert error(op.solve(x), expected) < 1e-8


def test_relative_damping_is_a_part_of_each_rows_own_diagonal():
    bodies = system("heavy")
    op = operator(bodies)
    diagonal = np.diag(np.asarray(Dense(bodies, op).D, float))
    assert np.allclose(op.damping, 1e-5 * diagonal, rtol=1e-12)
    (_, body), jacobian = bodies.joints[5]  # of bodies 5 and 6, a light one and a heavy one
    row = jacobian[1, 0]
    share = row @ np.linalg.solve(bodies.inertias[body], row)
    assert np.isclose(op.relative_damping(1.0, by="heaviest")[25], share)
    assert diagonal[25] > 1e3 * share


# --- bad input ------------------------------------------------------------------------------------

ONE = (np.eye(6)[None], [], [])


@pytest.mark.parametrize(
    ("inertias", "joints", "cones", "says"),
    [
        (np.eye(6), [], [], r"inertias must have shape \(bodies, 6, 6\)"),
        (np.triu(np.ones((6, 6)))[None], [], [], "symmetric"),
        (np.full((1, 6, 6), np.nan), [], [], "finite"),
        (np.eye(6)[None], [((0, 1), np.ones((2, 1, 6)))], [], "joint 0 touches body 1"),
        (np.eye(6)[None], [((-1,), np.ones((1, 1, 6)))], [], "must touch 1 to 8 bodies"),
        (np.eye(6)[None], [((0, 0), np.ones((2, 1, 6)))], [], "must touch 1 to 8 bodies once"),
        (np.eye(6)[None], [((0,), np.ones((1, 7, 6)))], [], "joint 0 must have 1 to 6 rows"),
        (np.eye(6)[None], [], [((0,), np.ones((1, 4, 6)))], "cone 0 must have 1 to 3 rows"),
        (np.eye(6)[None], [], [((0,), np.ones((2, 3, 6)))], r"must have shape \(1, rows, 6\)"),
        (np.eye(6)[None], [], [3], "cone 0 must be a pair"),
        (np.zeros((1, 6, 6)), [], [((0,), np.ones((1, 3, 6)))], "bodies without mass move freely"),
    ],
)
def test_bad_bodies_are_refused(inertias, joints, cones, says):
    with pytest.raises((ModelError, ShapeError, DataTypeError), match=says):
        BodiesOperator(inertias, joints, cones)


def test_bad_numbers_are_refused():
    op = operator(system("tree"))
    with pytest.raises(ShapeError, match="x must have shape"):
        op.solve(np.zeros(op.size + 1))
    with pytest.raises(ShapeError, match="damping must be a number"):
        op.set_damping(np.ones(3))
    with pytest.raises(SettingError, match="positive"):
        op.set_damping(0.0)
    with pytest.raises(SettingError, match="by must be one of diagonal, heaviest, got 'mass'"):
        op.relative_damping(by="mass")
    with pytest.raises(ShapeError, match="a block for each of 5 cones"):
        op.solve_blocks([np.eye(3)], [np.eye(3)], np.zeros(op.cone_rows))
    with pytest.raises(ShapeError, match=r"g must have shape \(9, 6\)"):
        op.velocities(np.zeros((3, 6)), np.zeros(op.cone_rows))
    with pytest.raises(ModelError, match="other joints need a new operator"):
        op.update(joints=[])

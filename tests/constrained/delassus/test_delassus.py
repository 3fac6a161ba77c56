"""The Delassus matrix, its damped inverse and the operator, against the dense textbook."""

import numpy as np
import pytest

import delassus as dl
from constrained.mechanisms import (
    CONTACTS,
    cassie,
    feet_and_hands,
    four_bar,
    hanging,
    random_loops,
    repeated,
    six_bar,
    standing,
    standing_cassie,
)
from delassus.constrained.delassus.arrays import KINDS
from delassus.constrained.delassus.diagonal_plan import DiagonalArrays
from delassus.constrained.delassus.operator import BranchedInverse
from trees import chain, random_states, random_tree, relative

METHODS = dl.DELASSUS_METHODS
INVERSE_METHODS = dl.DELASSUS_INVERSE_METHODS
SPRINGS = ("caba-osim", "caba-osimf")
EXACT = [method for method in INVERSE_METHODS if method not in (*SPRINGS, "pv-osimf")]
uncompiled = pytest.mark.uncompiled


def dense_matrix(cs, q):
    """J M^-1 J^T"""
    J = cs.jacobian(q)
    return J @ np.linalg.solve(dl.mass_matrix(cs.model, q), J.swapaxes(-1, -2))


def dense_inverse(cs, q, damping):
    """(J M^-1 J^T + damping)^-1"""
    rows = np.broadcast_to(damping, (cs.size,))
    return np.linalg.inv(dense_matrix(cs, q) + np.diag(rows))


def matrix(cs, q, **options):
    return dl.delassus_matrix(cs.model, q, cs, **options)


def inverse(cs, q, damping, **options):
    return dl.delassus_inverse(cs.model, q, cs, damping, **options)


def operator(cs, q, damping=1e-6):
    return dl.DelassusOperator(cs.model, q, cs, damping)


# --- mechanisms -----------------------------------------------------------------------------------


def crowded(seed):
    """Several constraints on a link, others on one that carries it, and on other branches."""
    model = random_tree(seed, 12)
    declared = [dl.Weld("f7"), dl.Connect("f3"), dl.Connect("f7"), dl.Weld("f11")]
    return dl.Constraints(model, [*declared, dl.Distance("f5", "world", 1.0)])


def trees_apart():
    """Constraints on two trees that nothing couples, one free and one fixed to the world."""
    builder = dl.ModelBuilder("two")
    builder.add_body("a", "world", dl.Free(), mass=2.0, inertia=np.diag([0.3, 0.4, 0.5]))
    builder.add_body("b", "a", dl.Revolute([0, 1, 0]), [0.3, 0, 0], mass=1.0, inertia=np.eye(3))
    builder.add_body("c", "world", dl.Revolute([0, 0, 1]), [3, 0, 0], mass=1.0, inertia=np.eye(3))
    builder.add_body("d", "c", dl.Spherical(), [0.4, 0.1, 0], mass=1.0, inertia=np.eye(3))
    for name in "abcd":
        builder.add_frame(f"f{name}", name, [0.2, 0.1, -0.3])
    return builder.build()


def long_limbs():
    """A chain that many constraints at its end share: knots save arithmetic."""
    builder = dl.ModelBuilder("limbs")
    parent = "world"
    for i in range(14):
        axis = np.eye(3)[i % 3]
        builder.add_body(
            f"t{i}", parent, dl.Revolute(axis), [0.1, 0.05, 0.2], mass=1.0, inertia=0.1 * np.eye(3)
        )
        parent = f"t{i}"
    for k in range(3):
        for i in range(6):
            on = parent if i == 0 else f"l{k}{i - 1}"
            builder.add_body(
                f"l{k}{i}", on, dl.Revolute(np.eye(3)[(i + k) % 3]), [0.1, 0.1 * k, 0.1],
                mass=0.5, inertia=0.05 * np.eye(3),
            )  # fmt: skip
        builder.add_frame(f"tip{k}", f"l{k}5", [0.0, 0.1, 0.1])
    model = builder.build()
    return dl.Constraints(model, [dl.Weld(f"tip{k}") for k in range(3)])


def coupled_joints():
    """Joints of a leg that are geared together, and one relation that a function tells."""
    model = dl.robots.load("solo12")
    joints = [name for name in model.joint_names if model.joint(name).nv == 1]
    declared = [
        dl.Gear(joints[1], joints[2], 0.7),
        dl.Coupling({joints[0]: 1.0, joints[4]: -2.0, joints[7]: 0.5}),
        dl.Implicit(lambda x: [x[0] * x[1] - x[2]], joints[3:6]),
        dl.Connect("FL_FOOT"),
    ]
    return dl.Constraints(model, declared)


ON_THE_WORLD = {
    **{name: lambda name=name: standing(name) for name in CONTACTS},
    "talos, feet and hands": feet_and_hands,
    **{f"crowded tree {seed}": lambda seed=seed: crowded(seed) for seed in range(4)},
    "two trees": lambda: dl.Constraints(trees_apart(), [dl.Weld("fb"), dl.Connect("fd")]),
    "two trees by turns": lambda: dl.Constraints(
        trees_apart(), [dl.Weld("fb"), dl.Connect("fd"), dl.Connect("fa"), dl.Connect("fc")]
    ),
    "long limbs": long_limbs,
    "one foot": lambda: dl.Constraints(dl.robots.load("talos"), [dl.Weld("left_sole_link")]),
    "the base": lambda: dl.Constraints(dl.robots.load("solo12"), [dl.Connect("base_link")]),
}
COUPLED = {
    **{f"loops {seed}": lambda seed=seed: random_loops(seed) for seed in range(4)},
    "between two trees": lambda: dl.Constraints(
        trees_apart(), [dl.Connect("fb", "fd"), dl.Weld("fa")]
    ),
    "coupled joints": coupled_joints,
    "feet tied together": lambda: dl.Constraints(
        dl.robots.load("solo12"), [dl.Connect("FL_FOOT", "HR_FOOT"), dl.Connect("FL_FOOT")]
    ),
}
ALL = {**ON_THE_WORLD, **COUPLED}


def arm():
    """An arm on a table: its hand and a joint before it."""
    model = dl.robots.load("panda")
    return dl.Constraints(model, [dl.Weld("panda_hand"), dl.Connect("panda_link4")])


def universal(frame, other):
    """Two pieces between the same frames."""
    return dl.Closure(dl.Universal([1, 0, 0], [0, 1, 0]), frame, other)


def pieces_and_trees():
    """Constraints of two pieces, along a branch and between two trees, and one of a row."""
    model = random_tree(3, 14, trees=0.2)
    declared = [
        universal("f13", "f2"),
        dl.Connect("f4"),
        universal("f9", "f0"),
        universal("f5", "f6"),
    ]
    return dl.Constraints(model, [*declared, dl.Distance("f7", "f11", 1.0), dl.Weld("f12", "f3")])


def crowded_chain():
    """Constraints at many links of a chain, ties between some of them too."""
    model = chain(24)
    declared = [dl.Connect(f"b{i}") for i in range(12, 24)]
    return dl.Constraints(model, [*declared, dl.Weld("b20", "b15"), universal("b23", "b3")])


def crowded_foot():
    """A foot that so much is asked of that the base answers, and a tie between feet besides."""
    model = dl.robots.load("solo12")
    feet = CONTACTS["solo12"][1]
    declared = [dl.Connect(feet[0])] * 8 + [dl.Connect(feet[1])] * 4
    return dl.Constraints(model, [*declared, dl.Connect(feet[0], feet[3]), dl.Weld(feet[1])])


MORE = {
    "four bar": lambda: dl.Constraints(four_bar()),
    "four bar, universal": lambda: dl.Constraints(four_bar(closure=universal)),
    "six bar": lambda: dl.Constraints(six_bar()),
    "arm": arm,
    "pieces and trees": pieces_and_trees,
    "crowded chain": crowded_chain,
    "crowded foot": crowded_foot,
    "feet twice": lambda: repeated(standing("talos")),
}


def state(cs, seed=1, count=None):
    return random_states(cs.model, seed, count)[0]


# --- the matrix -----------------------------------------------------------------------------------


@uncompiled
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ALL)
def test_the_matrix_is_that_of_the_textbook(name, method):
    cs = ALL[name]()
    q = state(cs)
    G = matrix(cs, q, method=method)
    assert G.shape == (cs.size, cs.size)
    assert relative(G, dense_matrix(cs, q)) < 1e-11
    assert np.array_equal(G, G.T)


@pytest.mark.parametrize("method", METHODS)
def test_loops_of_a_robot(method):
    cs = standing_cassie()
    q = hanging(cs.model)
    assert relative(matrix(cs, q, method=method), dense_matrix(cs, q)) < 1e-10


@pytest.mark.parametrize("method", METHODS)
def test_a_fixed_base(method):
    model = cassie(floating_base=False)
    cs = dl.Constraints(model, [*model.constraints, dl.Connect("left-foot")])
    q = hanging(model)
    assert relative(matrix(cs, q, method=method), dense_matrix(cs, q)) < 1e-10


@pytest.mark.parametrize("method", METHODS)
def test_a_batch_of_matrices_is_its_states(method):
    cs = standing("talos")
    q = state(cs, 2, 5)
    batch = matrix(cs, q, method=method)
    for i in range(5):
        assert relative(batch[i], matrix(cs, q[i], method=method)) < 1e-12
    assert matrix(cs, q[:0], method=method).shape == (0, cs.size, cs.size)


@pytest.mark.slow
def test_single_precision():
    cs = standing("solo12")
    q = state(cs, 3, 4)
    G = matrix(cs, q.astype(np.float32))
    assert G.dtype == np.float32
    assert relative(G, matrix(cs, q)) < 1e-4


def test_knots_are_tied_where_they_save_arithmetic():
    arrays = {kind: kind.pack(long_limbs(), np.dtype(float)) for kind in KINDS}
    counts = [len(arrays[kind].omegas) for kind in KINDS]
    assert counts == [0, 4, 1, 0, 0]
    assert all(len(kind.pack(standing("talos"), np.dtype(float)).knots) == 0 for kind in KINDS[2:3])


# --- the inverse ----------------------------------------------------------------------------------


@uncompiled
@pytest.mark.parametrize("method", INVERSE_METHODS)
@pytest.mark.parametrize("name", ON_THE_WORLD)
def test_the_inverse_is_that_of_the_textbook(name, method):
    cs = ON_THE_WORLD[name]()
    q = state(cs)
    found = inverse(cs, q, 1e-3, method=method)
    assert relative(found, dense_inverse(cs, q, 1e-3)) < 1e-9
    assert np.array_equal(found, found.T)


@pytest.mark.parametrize("method", EXACT)
@pytest.mark.parametrize("name", [*CONTACTS, "talos, feet and hands"])
def test_small_damping_costs_no_digits(name, method):
    cs = ON_THE_WORLD[name]()
    q = state(cs, 4, 50)
    found = inverse(cs, q, 1e-6, method=method)
    assert relative(found, dense_inverse(cs, q, 1e-6)) < 1e-9


@pytest.mark.parametrize("method", SPRINGS)
@pytest.mark.parametrize("name", [*CONTACTS, "talos, feet and hands"])
def test_what_stiff_springs_cost(name, method):
    cs = ON_THE_WORLD[name]()
    q = state(cs, 4, 50)
    assert relative(inverse(cs, q, 1e-4, method=method), dense_inverse(cs, q, 1e-4)) < 1e-9
    assert relative(inverse(cs, q, 1e-6, method=method), dense_inverse(cs, q, 1e-6)) < 1e-7


@pytest.mark.parametrize("method", [m for m in INVERSE_METHODS if m not in SPRINGS])
@pytest.mark.parametrize("name", COUPLED)
def test_the_inverse_with_loops(name, method):
    cs = COUPLED[name]()
    q = state(cs)
    tolerance = 1e-7 if method == "pv-osimf" else 1e-9
    assert relative(inverse(cs, q, 1e-4, method=method), dense_inverse(cs, q, 1e-4)) < tolerance


@pytest.mark.parametrize("method", INVERSE_METHODS)
def test_redundant_rows(method):
    cs = repeated(standing("talos"), 3)
    q = state(cs)
    found = inverse(cs, q, 1e-2, method=method)
    assert relative(found, dense_inverse(cs, q, 1e-2)) < 1e-9


@pytest.mark.parametrize("method", INVERSE_METHODS)
def test_damping_may_differ_from_row_to_row(method):
    cs = standing("talos")
    q, damping = state(cs, 1, 3), np.geomspace(1e-3, 1.0, cs.size)
    found = inverse(cs, q, damping, method=method)
    assert relative(found, dense_inverse(cs, q, damping)) < 1e-9
    each = np.stack([damping, 2.0 * damping, 3.0 * damping])
    found = inverse(cs, q, each, method=method)
    for i in range(3):
        assert relative(found[i], dense_inverse(cs, q[i], each[i])) < 1e-9
        assert relative(inverse(cs, q[i], each[i], method=method), found[i]) < 1e-10


@pytest.mark.parametrize("method", SPRINGS)
@pytest.mark.parametrize("name", ["loops 0", "coupled joints"])
def test_springs_may_not_couple_links(name, method):
    cs = COUPLED[name]()
    with pytest.raises(dl.ModelError, match=f"{method}.*'pv-osim'.*'ltl'"):
        inverse(cs, state(cs), 1e-3, method=method)


# --- the operator ---------------------------------------------------------------------------------


@uncompiled
@pytest.mark.parametrize("name", ALL)
def test_products_and_solutions(name):
    cs = ALL[name]()
    q, x = state(cs), np.random.default_rng(0).standard_normal(cs.size)
    G = dense_matrix(cs, q)
    op = operator(cs, q, 1e-4)
    assert relative(op.multiply(x), G @ x) < 1e-10
    assert relative(op @ x, G @ x) < 1e-10
    assert relative(op.solve(x), np.linalg.solve(G + 1e-4 * np.eye(cs.size), x)) < 1e-9


@pytest.mark.parametrize("damping", [1e-2, 1e-6, 1e-8])
@pytest.mark.parametrize("name", [*CONTACTS, "talos, feet and hands", "loops 1"])
def test_solutions_are_exact_with_little_damping(name, damping):
    cs = ALL[name]()
    q, x = state(cs, 5, 20), np.random.default_rng(1).standard_normal((20, cs.size))
    expected = np.linalg.solve(dense_matrix(cs, q) + damping * np.eye(cs.size), x[..., None])
    assert relative(operator(cs, q, damping).solve(x), expected[..., 0]) < 1e-9


def test_solutions_with_loops_of_a_robot():
    cs = standing_cassie()
    q, x = hanging(cs.model), np.random.default_rng(2).standard_normal(cs.size)
    op = operator(cs, q, 1e-3)
    assert relative(op.solve(x), dense_inverse(cs, q, 1e-3) @ x) < 1e-9


def test_an_operator_at_many_states_is_as_many_operators():
    cs = standing("solo12")
    q, x = state(cs, 6, 4), np.random.default_rng(3).standard_normal((4, cs.size))
    op = operator(cs, q)
    assert op.size == cs.size
    assert op.damping.shape == (4, cs.size)
    for i in range(4):
        one = operator(cs, q[i])
        assert relative(one.multiply(x[i]), op.multiply(x)[i]) < 1e-12
        assert relative(one.solve(x[i]), op.solve(x)[i]) < 1e-10


def test_another_damping():
    cs = standing("talos")
    q, x = state(cs), np.random.default_rng(4).standard_normal(cs.size)
    op = operator(cs, q, 1e-2)
    other = op.with_damping(0.5)
    assert np.all(op.damping == 1e-2)
    assert np.all(other.damping == 0.5)
    assert relative(op.solve(x), dense_inverse(cs, q, 1e-2) @ x) < 1e-9
    assert relative(other.solve(x), dense_inverse(cs, q, 0.5) @ x) < 1e-9
    damping = np.linspace(0.1, 1.0, cs.size)
    op.set_damping(damping)
    assert relative(op.solve(x), dense_inverse(cs, q, damping) @ x) < 1e-9
    assert relative(op.multiply(x), dense_matrix(cs, q) @ x) < 1e-10


def test_matrices_of_an_operator():
    cs = dl.Constraints(
        dl.robots.load("talos"),
        [dl.Weld(CONTACTS["talos"][1][0]), dl.Connect(CONTACTS["talos"][1][1])],
    )
    q = state(cs, 7, 3)
    op = operator(cs, q, 1e-3)
    G = dense_matrix(cs, q)
    assert relative(op.matrix(), G) < 1e-10
    assert relative(op.inverse(), dense_inverse(cs, q, 1e-3)) < 1e-9
    blocks = op.diagonal_blocks()
    assert [block.shape for block in blocks] == [(3, 6, 6), (3, 3, 3)]
    assert relative(blocks[1], G[:, 6:, 6:]) < 1e-10
    assert "9 rows" in repr(op)


def worst(blocks, cs, G):
    """The largest error of diagonal blocks."""
    assert len(blocks) == len(cs.slices)
    return max(relative(b, G[..., s, s]) for b, s in zip(blocks, cs.slices, strict=True))


@uncompiled
@pytest.mark.parametrize("name", [*ALL, *MORE])
def test_diagonal_blocks(name):
    cs = {**ALL, **MORE}[name]()
    for count in (None, 3):
        q = state(cs, 9, count)
        blocks = operator(cs, q).diagonal_blocks()
        assert worst(blocks, cs, dense_matrix(cs, q)) < 1e-10
        assert all(np.array_equal(block, block.swapaxes(-1, -2)) for block in blocks)


@pytest.mark.parametrize("floating_base", [True, False])
def test_diagonal_blocks_with_loops_of_a_robot(floating_base):
    cs = standing_cassie() if floating_base else dl.Constraints(cassie(floating_base=False))
    q = np.stack([hanging(cs.model), state(cs)])
    assert worst(operator(cs, q).diagonal_blocks(), cs, dense_matrix(cs, q)) < 1e-10


def test_diagonal_blocks_in_batches():
    cs = crowded_chain()
    q = state(cs, 10, 37)
    op = operator(cs, q)
    assert worst(op.diagonal_blocks(), cs, op.matrix()) < 1e-10
    for i in (0, 36):
        one = operator(cs, q[i]).diagonal_blocks()
        assert (
            max(relative(a, b[i]) for a, b in zip(one, op.diagonal_blocks(), strict=True)) < 1e-12
        )
    assert [block.shape for block in operator(cs, q[:0]).diagonal_blocks()][-2:] == [
        (0, 6, 6),
        (0, 4, 4),
    ]
    single = operator(cs, q.astype(np.float32), 1e-2).diagonal_blocks()
    assert all(block.dtype == np.float32 for block in single)
    assert worst(single, cs, op.matrix()) < 1e-3


def test_links_answer_where_that_saves_arithmetic():
    counts = {
        name: len(DiagonalArrays.pack(make(), np.dtype(float)).answers)
        for name, make in {**ALL, **MORE}.items()
    }
    assert counts["solo12"] == counts["talos, feet and hands"] == counts["four bar"] == 0
    assert counts["crowded chain"] > 5
    assert counts["crowded foot"] > 1


@pytest.mark.parametrize("name", ["talos, feet and hands", "two trees", "long limbs"])
def test_the_inverse_in_branches(name):
    cs = ON_THE_WORLD[name]()
    q, x = state(cs, 8, 3), np.random.default_rng(5).standard_normal((3, cs.size))
    branched = BranchedInverse(cs.model, q, cs, 1e-3)
    expected = dense_inverse(cs, q, 1e-3)
    assert relative(branched.matrix(), expected) < 1e-9
    assert relative(branched @ x, np.einsum("nij,nj->ni", expected, x)) < 1e-9
    if name == "talos, feet and hands":
        assert np.all(branched.local[:, :6, 6:] == 0.0)
        assert np.any(branched.local[:, 12:18, 18:] != 0.0)  # the torso couples the hands


def test_inputs_do_not_change_an_operator():
    cs = standing("solo12")
    q, x = state(cs), np.ones(cs.size)
    op = operator(cs, q)
    before = op.multiply(x)
    q[:] = 0.0
    assert np.array_equal(op.multiply(x), before)
    assert relative(op.matrix() @ x, before) < 1e-10


# --- edges ----------------------------------------------------------------------------------------


@uncompiled
def test_no_rows():
    model = dl.robots.load("solo12")
    cs = dl.Constraints(model, [])
    q = model.neutral()
    for method in METHODS:
        assert matrix(cs, q, method=method).shape == (0, 0)
    for method in INVERSE_METHODS:
        assert inverse(cs, np.stack([q, q]), 1e-3, method=method).shape == (2, 0, 0)
    op = operator(cs, q)
    assert op.multiply(np.zeros(0)).shape == op.solve(np.zeros(0)).shape == (0,)
    assert op.diagonal_blocks() == []


def test_unknown_methods():
    cs = standing("solo12")
    q = state(cs)
    with pytest.raises(dl.UnknownNameError, match="pv-osim"):
        matrix(cs, q, method="pv-osin")
    with pytest.raises(dl.UnknownNameError, match="caba-osim"):
        inverse(cs, q, 1e-3, method="efpa")


@pytest.mark.parametrize("damping", [0.0, -1.0, [1.0] * 11 + [0.0]])
def test_damping_must_be_positive(damping):
    cs = standing("solo12")
    q = state(cs)
    with pytest.raises(dl.SettingError, match="positive"):
        inverse(cs, q, damping)
    with pytest.raises(dl.SettingError, match="positive"):
        operator(cs, q, damping)


def test_wrong_shapes():
    cs = standing("solo12")
    q = state(cs)
    with pytest.raises(dl.ShapeError, match="damping"):
        inverse(cs, q, [1.0, 2.0])
    with pytest.raises(dl.ShapeError, match="q must have shape"):
        matrix(cs, q[:-1])
    with pytest.raises(dl.ShapeError, match="x must have shape"):
        operator(cs, q).multiply(np.ones(cs.size + 1))
    with pytest.raises(dl.ShapeError, match="states"):
        operator(cs, q).solve(np.ones((2, cs.size)))


def test_constraints_of_another_model():
    cs = standing("solo12")
    with pytest.raises(dl.ModelError, match="another model"):
        dl.delassus_matrix(chain(3), np.zeros(3), cs)
    with pytest.raises(dl.DataTypeError, match="Constraints"):
        dl.DelassusOperator(cs.model, state(cs), [dl.Weld("FL_FOOT")])

"""Constrained dynamics by all methods: independent, redundant and contradictory rows."""

import numpy as np
import pytest

import delassus as dl
from constrained.mechanisms import (
    ALL_PURPOSE,
    CONTACTS,
    close,
    consistent,
    feet_and_hands,
    four_bar,
    hanging,
    random_loops,
    repeated,
    six_bar,
    standing,
    standing_cassie,
)
from delassus.benchmarks.comparing.mechanisms import binary_tree, four_bars, hanging_chain
from delassus.constrained.recursion.plan import ArticulatedArrays
from trees import random_states, random_tree, relative

METHODS = ALL_PURPOSE
ITERATIVE = [method for method in METHODS if method != "dense"]
SEEDS = range(8)
FINE = 1e-13  # so that what is compared is rounding, not where iterations stop


def solve(constraints, q, v, tau, **options):
    return dl.constrained_dynamics(constraints.model, q, v, tau, constraints, **options)


def slope(constraints, q, v, a, target=0.0):
    """The length of J^T (J a + gamma - a*), which is zero at the least-squares answer."""
    J = constraints.jacobian(q)
    r = np.einsum("...ij,...j->...i", J, a) + constraints.drift(q, v) - target
    return np.linalg.norm(np.einsum("...ij,...i->...j", J, r), axis=-1)


def imbalance(constraints, q, v, tau, solution):
    """M a + b - tau - J^T multipliers, relative to the largest force."""
    J = constraints.jacobian(q)
    exerted = np.einsum("...ij,...i->...j", J, solution.multipliers)
    forces = dl.inverse_dynamics(constraints.model, q, v, solution.acceleration)
    scale = max(np.abs(forces).max(), np.abs(exerted).max())
    return np.abs(forces - tau - exerted).max() / scale


# --- independent rows -----------------------------------------------------------------------------

INDEPENDENT = {
    **{name: lambda name=name: standing(name) for name in CONTACTS},
    "talos, feet and hands": feet_and_hands,
    **{f"loops {seed}": lambda seed=seed: random_loops(seed) for seed in SEEDS},
    **{f"large loops {seed}": lambda seed=seed: random_loops(seed, bodies=40) for seed in (0, 1)},
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", INDEPENDENT)
def test_methods_agree(name, method):
    cs = INDEPENDENT[name]()
    q, v, tau = random_states(cs.model, 1, 4)
    assert np.all(cs.rank(q) == cs.size)
    found = solve(cs, q, v, tau, method=method, tolerance=FINE)
    expected = solve(cs, q, v, tau, method="dense")
    assert relative(found.acceleration, expected.acceleration) < 1e-10
    assert relative(found.multipliers, expected.multipliers) < 1e-10
    assert imbalance(cs, q, v, tau, found) < 1e-10
    assert np.all(found.residual <= 1e-10 * np.abs(expected.acceleration).max())


LARGE = {"chain": (hanging_chain, 150), "tree": (binary_tree, 6), "four-bars": (four_bars, 30)}


@pytest.mark.parametrize("method", ["caba", "prox-ltls"])
@pytest.mark.parametrize("name", LARGE)
def test_mechanisms_of_many_links(name, method):
    make, count = LARGE[name]
    cs = make(count)
    q, v, tau = random_states(cs.model, 1, 3)
    q = 0.3 * q  # so that a chain does not curl up
    found = solve(cs, q, v, tau, method=method)
    expected = solve(cs, q, v, tau, method="prox-ltl")
    assert np.all(found.converged)
    assert relative(found.acceleration, expected.acceleration) < 1e-9


def test_memory_that_couples_links_does_not_grow_with_the_number_of_loops():
    few, many = (four_bars(n).extents(ArticulatedArrays) for n in (3, 30))
    assert few["cross_blocks"] == many["cross_blocks"]


@pytest.mark.parametrize("method", METHODS)
def test_constraints_of_several_kinds_at_one_link(method):
    model = random_tree(11, bodies=12, types=[lambda rng: dl.Spherical()], trees=0.0)
    kinds = [
        dl.Connect("f9"),
        dl.Closure(dl.Revolute([0.0, 1.0, 0.0]), "f9", "f2"),
        dl.Closure(dl.Prismatic([1.0, 0.0, 0.0]), "f5", "f9"),
        dl.Distance("f9", "f0", 0.7),
        dl.Connect("f5", "f3"),
    ]
    stabilization = dl.Baumgarte(kp=3.0, kd=2.0)
    for declared in (kinds, kinds[::-1]):
        cs = dl.Constraints(model, declared, stabilization=stabilization)
        q, v, tau = random_states(model, 5, 3)
        found = solve(cs, q, v, tau, method=method, tolerance=FINE)
        expected = solve(cs, q, v, tau, method="dense")
        assert relative(found.acceleration, expected.acceleration) < 1e-9
        assert np.all(found.residual <= 1e-9 * np.abs(expected.acceleration).max())


@pytest.mark.parametrize("method", ["caba", "prox-ltls"])
def test_few_iterations_of_nearly_singular_arms(method):
    cs = dl.Constraints(dl.robots.load("panda"), [dl.Weld("panda_hand")])
    q, v, tau = random_states(cs.model, 0, 512)
    least = np.linalg.svd(cs.jacobian(q), compute_uv=False)[:, -1]
    hardest = np.argsort(least)[:8]
    assert least[hardest[0]] < 1e-3
    state = q[hardest], v[hardest], tau[hardest]
    options = {"damping": 1e-6, "tolerance": 0.0, "max_iterations": 3}
    found = solve(cs, *state, method=method, **options).acceleration
    expected = solve(cs, *state, method="prox-ltl", **options).acceleration
    scale = np.abs(expected).max(axis=1, keepdims=True)
    assert np.max(np.abs(found - expected) / scale) < 1e-10


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["solo12", "loops 3"])
def test_a_batch_is_its_states(name, method):
    cs = INDEPENDENT[name]()
    states = random_states(cs.model, 2, 7)
    batch = solve(cs, *states, method=method, max_iterations=3)
    for i, state in enumerate(zip(*states, strict=True)):
        one = solve(cs, *state, method=method, max_iterations=3)
        assert one.acceleration.shape == (cs.model.nv,)
        assert one.multipliers.shape == (cs.size,)
        assert relative(one.acceleration, batch.acceleration[i]) < 1e-10
        assert relative(one.multipliers, batch.multipliers[i]) < 1e-10
        assert one.iterations == batch.iterations[i]
        assert np.ndim(one.residual) == np.ndim(one.converged) == 0


@pytest.mark.slow
@pytest.mark.parametrize("method", ITERATIVE)
def test_single_precision_is_roughly_the_same(method):
    cs = standing("talos")
    states = random_states(cs.model, 3, 8)
    expected = solve(cs, *states, method="dense").acceleration
    options = {"method": method, "damping": 1e-3, "tolerance": 1e-2}
    found = solve(cs, *(x.astype(np.float32) for x in states), **options).acceleration
    assert found.dtype == np.float32
    assert relative(found, expected) < 1e-2


@pytest.mark.parametrize("method", METHODS)
def test_without_constraints_the_motion_is_free(method):
    model = random_tree(4)
    q, v, tau = random_states(model, 4, 3)
    found = solve(dl.Constraints(model, []), q, v, tau, method=method)
    assert relative(found.acceleration, dl.forward_dynamics(model, q, v, tau)) < 1e-10
    assert found.multipliers.shape == (3, 0)
    assert np.all(found.converged)


@pytest.mark.parametrize("method", METHODS)
def test_desired_acceleration_is_reached(method):
    cs = standing("talos")
    q, v, tau = random_states(cs.model, 5, 4)
    desired = np.random.default_rng(5).standard_normal((4, cs.size))
    for target in (desired, desired[0]):
        found = solve(cs, q, v, tau, method=method, desired=target)
        rows = np.einsum("nij,nj->ni", cs.jacobian(q), found.acceleration) + cs.drift(q, v)
        assert np.abs(rows - target).max() < 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_stabilization_asks_for_what_brings_errors_back(method):
    cs = standing("solo12", stabilization=dl.Baumgarte(kp=100.0, kd=20.0))
    q, v, tau = random_states(cs.model, 6, 4)
    found = solve(cs, q, v, tau, method=method)
    rows = np.einsum("nij,nj->ni", cs.jacobian(q), found.acceleration) + cs.drift(q, v)
    target = -100.0 * cs.position_error(q) - 20.0 * cs.velocity(q, v)
    assert relative(rows, target) < 1e-10


@pytest.mark.parametrize("method", METHODS)
def test_external_forces_act_like_the_joint_forces_they_make(method):
    cs = random_loops(7)
    q, v, tau = random_states(cs.model, 7, 3)
    rng = np.random.default_rng(7)
    pushes = rng.standard_normal((3, cs.model.n_bodies, 6))
    still = np.zeros_like(v)
    pushed = dl.inverse_dynamics(cs.model, q, v, still, pushes)
    same = tau + dl.inverse_dynamics(cs.model, q, v, still) - pushed
    found = solve(cs, q, v, tau, external_forces=pushes, method=method, tolerance=FINE)
    expected = solve(cs, q, v, same, method=method, tolerance=FINE)
    assert relative(found.acceleration, expected.acceleration) < 1e-10
    assert relative(found.multipliers, expected.multipliers) < 1e-9


# --- the iteration --------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ITERATIVE)
def test_a_warm_start_takes_fewer_iterations(method):
    cs = standing("talos")
    q, v, tau = random_states(cs.model, 8, 4)
    options = {"method": method, "damping": 1e-2, "tolerance": 1e-6}
    cold = solve(cs, q, v, tau, **options)
    nearby = cs.model.integrate(q, 1e-6 * v)
    warm = solve(cs, nearby, v, tau, warm_start=cold.multipliers, **options)
    assert np.all(warm.converged)
    assert np.all(warm.iterations < cold.iterations)
    assert relative(warm.acceleration, solve(cs, nearby, v, tau).acceleration) < 1e-4


@pytest.mark.parametrize("method", ITERATIVE)
def test_damping_of_each_row_does_not_change_the_answer(method):
    cs = standing("talos")
    q, v, tau = random_states(cs.model, 9, 4)
    damping = 10.0 ** np.random.default_rng(9).uniform(-8, -3, (4, cs.size))
    expected = solve(cs, q, v, tau, method="dense")
    for mu in (damping, damping[0]):
        found = solve(cs, q, v, tau, method=method, damping=mu, tolerance=FINE)
        assert relative(found.acceleration, expected.acceleration) < 1e-10
        assert relative(found.multipliers, expected.multipliers) < 1e-10


@pytest.mark.parametrize("damping", [1e-2, 1e-4])
@pytest.mark.parametrize("name", ["solo12", "talos", "loops 0", "loops 1"])
def test_methods_agree_after_each_iteration(name, damping):
    """Proximal points of the dual are the steps of the augmented Lagrangian."""
    cs = INDEPENDENT[name]()
    states = random_states(cs.model, 5, 2)
    for count in (1, 2, 3):
        options = {"damping": damping, "max_iterations": count, "tolerance": 0.0}
        expected = solve(cs, *states, method="prox-ltl", **options)
        assert np.all(expected.iterations == count)
        for method in ("caba", "prox-ltls"):
            found = solve(cs, *states, method=method, **options)
            assert np.all(found.iterations == count)
            assert relative(found.multipliers, expected.multipliers) < 1e-9
            assert relative(found.acceleration, expected.acceleration) < 1e-9


@pytest.mark.parametrize("method", ITERATIVE)
def test_one_iteration_with_much_damping_has_not_converged(method):
    cs = standing("talos")
    q, v, tau = random_states(cs.model, 10, 4)
    found = solve(cs, q, v, tau, method=method, damping=1.0, max_iterations=1)
    assert not np.any(found.converged)
    assert np.all(found.iterations == 1)
    assert np.all(found.residual > 1e-3)
    assert np.all(slope(cs, q, v, found.acceleration) > 1e-3)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["solo12", "anymal", "g1", "talos"])
def test_what_has_converged_says_so(name, method):
    cs = standing(name)
    found = solve(cs, *random_states(cs.model, 11, 64), method=method)
    assert np.all(found.converged)


# --- redundant and singular -----------------------------------------------------------------------


def standing_state(constraints, q, seed=0):
    """A state at which no row moves, and joint forces."""
    v, tau = np.random.default_rng(seed).standard_normal((2, constraints.model.nv))
    return q, consistent(constraints, q, v), tau


def doubled(name):
    cs = repeated(standing(name))
    return cs, *standing_state(cs, cs.model.random_configuration(1))


def six_welds():
    """Both feet and a hand, each held twice."""
    held = feet_and_hands()
    cs = repeated(dl.Constraints(held.model, held.declared[:3]))
    assert cs.size == 36
    return cs, *standing_state(cs, cs.model.random_configuration(2))


def straight_legs():
    """A quadruped that hangs fixed by its trunk, all knees straight, feet held."""
    model = dl.robots.load("solo12", floating_base=False)
    cs = dl.Constraints(model, [dl.Connect(foot) for foot in CONTACTS["solo12"][1]])
    assert cs.rank(model.neutral()) < cs.size
    return cs, *standing_state(cs, model.neutral())


def linkage(model, near):
    cs = dl.Constraints(model)
    q = close(cs, np.array(near))
    assert np.abs(cs.position_error(q)).max() < 1e-13
    return cs, *standing_state(cs, q)


def dead_point():
    """A parallelogram laid flat: it may go on as such or as its mirror image."""
    cs, *state = linkage(four_bar(0.5, 0.9, 0.5, 0.9), [0.0, 0.0, 0.0])
    assert cs.rank(state[0]) == 1
    return cs, *state


def cassie_on_lines():
    """Two loops a leg, and both ends of the lines that it stands on."""
    cs = standing_cassie()
    return cs, *standing_state(cs, hanging(cs.model))


REDUNDANT = {
    **{f"{name}, twice": lambda name=name: doubled(name) for name in CONTACTS},
    "six welds": six_welds,
    "straight legs": straight_legs,
    "four-bar": lambda: linkage(four_bar(), [1.0, -0.5, -1.0]),
    "four-bar, connected": lambda: linkage(four_bar(closure=dl.Connect), [1.0, -0.5, -1.0]),
    "six-bar": lambda: linkage(six_bar(), [1.0, -0.5, -1.0, 0.5, -1.0]),
    "dead point": dead_point,
    "cassie": cassie_on_lines,
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", REDUNDANT)
def test_redundant_rows_have_one_motion(name, method):
    cs, q, v, tau = REDUNDANT[name]()
    assert cs.rank(q) < cs.size
    found = solve(cs, q, v, tau, method=method)
    expected = solve(cs, q, v, tau, method="dense")
    assert np.isfinite(found.acceleration).all()
    assert np.isfinite(found.multipliers).all()
    assert found.converged
    assert found.iterations <= 20
    assert slope(cs, q, v, found.acceleration) < 1e-10
    assert relative(found.acceleration, expected.acceleration) < 1e-9
    assert imbalance(cs, q, v, tau, found) < 1e-10


@pytest.mark.parametrize("method", METHODS)
def test_repeated_rows_share_the_force(method):
    once = standing("talos")
    q, v, tau = random_states(once.model, 12)
    thrice = repeated(once, 3)
    single = solve(once, q, v, tau, method=method, tolerance=FINE)
    found = solve(thrice, q, v, tau, method=method, tolerance=FINE)
    assert relative(found.acceleration, single.acceleration) < 1e-10
    # How redundant rows share a force is known to rounding over the relative damping of 5e-7.
    shared = 3 * found.multipliers.reshape(3, -1)
    assert relative(shared, [single.multipliers] * 3) < 3e-9


@pytest.mark.parametrize("method", METHODS)
def test_contradictory_rows_are_met_halfway(method):
    """One point is to be at two places: it heads for the middle, and the residual tells."""
    kp = 100.0
    builder = dl.ModelBuilder("puck")
    builder.add_body("puck", joint=dl.Free(), mass=1.0, inertia=np.eye(3) * 0.1)
    builder.add_frame("left", "world", [-1.0, 0.0, 0.0])
    builder.add_frame("right", "world", [3.0, 0.0, 0.0])
    model = builder.build()
    declared = [dl.Connect("puck", "left"), dl.Connect("puck", "right")]
    cs = dl.Constraints(model, declared, stabilization=dl.Baumgarte(kp=kp))
    q, zero = model.neutral(), np.zeros(model.nv)
    found = solve(cs, q, zero, zero, method=method, damping=1e-4)
    expected = solve(cs, q, zero, zero, method="dense")
    middle = np.array([kp * 1.0, 0.0, 0.0])
    assert np.abs(found.acceleration[:3] - middle).max() < 1e-8
    assert relative(found.acceleration, expected.acceleration) < 1e-9
    assert relative(found.multipliers, expected.multipliers) < 1e-6
    assert found.residual == pytest.approx(expected.residual)
    assert found.residual > kp
    # While it iterates, multipliers of such rows grow to residual / damping, and so does rounding.
    slope_left = slope(cs, q, zero, found.acceleration, -kp * cs.position_error(q))
    assert slope_left < 1e-11 * found.residual
    assert found.converged


# --- trees and places -----------------------------------------------------------------------------


def two_pendulums(offset):
    """Two free bodies with an arm each, far from the origin by an offset."""
    builder = dl.ModelBuilder("pair")
    for side, x in (("left", -1.0), ("right", 1.0)):
        base, arm = f"{side}_base", f"{side}_arm"
        builder.add_body(base, joint=dl.Free(), mass=3.0, inertia=np.eye(3) * 0.2)
        builder.add_body(arm, base, dl.Revolute(), [x, 0.2, 0.1], mass=1.0, com=[0.3, 0.0, 0.1],
                         inertia=np.eye(3) * 0.1)  # fmt: skip
        builder.add_frame(f"{side}_tip", arm, [0.5, 0.1, 0.2])
    builder.add_frame("post", "world", offset)
    return builder.build()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", [dl.Connect, dl.Weld])
def test_constraints_far_away_are_as_accurate(kind, method):
    """Between two trees and between one and the world: the place does not matter."""
    offset = np.array([1e5, -2e5, 3e4])
    solutions = []
    for shift in (np.zeros(3), offset):
        model = two_pendulums(shift)
        q, v, tau = random_states(model, 13)
        for side in ("left_base", "right_base"):
            at = model.joint(f"{side}_joint").q.start
            q[at : at + 3] = 0.1 * np.arange(3) + shift
        declared = [kind("left_tip", "right_tip"), dl.Connect("right_base", "post")]
        solutions.append(solve(dl.Constraints(model, declared), q, v, tau, method=method,
                               tolerance=FINE))  # fmt: skip
    near, far = solutions
    assert relative(far.acceleration, near.acceleration) < 1e-9
    assert relative(far.multipliers, near.multipliers) < 1e-9

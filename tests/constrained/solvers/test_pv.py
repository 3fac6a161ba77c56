"""Constrained dynamics by the Popov-Vereshchagin algorithms, of constraints with the world."""

import numpy as np
import pytest

import delassus as dl
from constrained.mechanisms import (
    CONTACTS,
    consistent,
    feet_and_hands,
    four_bar,
    repeated,
    standing,
)
from delassus.constrained.recursion.open_trees import (
    check_open,
)
from trees import random_states, random_tree, relative

METHODS = ["prox-pv", "pv", "pv-early"]
FINE = 1e-13
uncompiled = pytest.mark.uncompiled


def solve(cs, q, v, tau, external_forces=None, **options):
    return dl.constrained_dynamics(cs.model, q, v, tau, cs, external_forces, **options)


def dense(cs, q, v, tau, external_forces=None, **options):
    return dl.constrained_dynamics(
        cs.model, q, v, tau, cs, external_forces, method="dense", **options
    )


def slope(constraints, q, v, a):
    """The length of J^T (J a + gamma), which is zero at the least-squares answer."""
    J = constraints.jacobian(q)
    return np.linalg.norm(J.T @ (J @ a + constraints.drift(q, v)))


def imbalance(constraints, q, v, tau, solution):
    """M a + b - tau - J^T multipliers, relative to the largest force."""
    exerted = np.einsum("...ij,...i->...j", constraints.jacobian(q), solution.multipliers)
    forces = dl.inverse_dynamics(constraints.model, q, v, solution.acceleration)
    return np.abs(forces - tau - exerted).max() / max(np.abs(forces).max(), np.abs(exerted).max())


# --- independent rows -----------------------------------------------------------------------------


def held_tree(seed):
    """A tree with joints of all types, held by constraints of all kinds that join it to the world.

    Frames stand on either side, and some constraints have rows that fill no block of three.
    """
    model = random_tree(seed, 10, trees=0.2)
    rng = np.random.default_rng(seed)
    while True:
        a, b, c = rng.choice(10, 3, replace=False)
        closure = dl.Closure(dl.Revolute([0.0, 0.6, 0.8]), "world", f"f{b}")
        cs = dl.Constraints(
            model, [dl.Connect(f"f{a}"), closure, dl.Distance("world", f"f{c}", 1.0)]
        )
        if np.all(cs.rank(random_states(model, seed, 3)[0]) == cs.size):
            return cs


INDEPENDENT = {
    **{name: lambda name=name: standing(name) for name in CONTACTS},
    "talos, feet and hands": feet_and_hands,
    **{f"tree {seed}": lambda seed=seed: held_tree(seed) for seed in range(6)},
}


@uncompiled
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", INDEPENDENT)
def test_methods_agree(name, method):
    cs = INDEPENDENT[name]()
    q, v, tau = random_states(cs.model, int(name[-1]) if name.startswith("tree") else 1, 3)
    found, expected = solve(cs, q, v, tau, method=method, tolerance=FINE), dense(cs, q, v, tau)
    assert relative(found.acceleration, expected.acceleration) < 1e-9
    assert relative(found.multipliers, expected.multipliers) < 1e-9
    assert imbalance(cs, q, v, tau, found) < 1e-10
    assert np.all(found.residual <= 1e-10 * np.abs(expected.acceleration).max())
    assert np.all(found.converged)


@pytest.mark.parametrize("method", METHODS)
def test_a_batch_is_its_states(method):
    cs = held_tree(2)
    states = random_states(cs.model, 2, 7)
    batch = solve(cs, *states, method=method)
    for i, state in enumerate(zip(*states, strict=True)):
        one = solve(cs, *state, method=method)
        assert one.acceleration.shape == (cs.model.nv,)
        assert relative(one.acceleration, batch.acceleration[i]) < 1e-9
        assert relative(one.multipliers, batch.multipliers[i]) < 1e-9
        assert one.iterations == batch.iterations[i]


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_single_precision_is_roughly_the_same(method):
    cs = standing("talos")
    states = random_states(cs.model, 3, 8)
    expected = dense(cs, *states).acceleration
    options = {"method": method, "damping": 1e-3, "tolerance": 1e-2}
    found = solve(cs, *(x.astype(np.float32) for x in states), **options).acceleration
    assert found.dtype == np.float32
    assert relative(found, expected) < 1e-2


@uncompiled
@pytest.mark.parametrize("method", METHODS)
def test_without_constraints_the_motion_is_free(method):
    model = random_tree(4)
    q, v, tau = random_states(model, 4, 3)
    found = solve(dl.Constraints(model, []), q, v, tau, method=method)
    assert relative(found.acceleration, dl.forward_dynamics(model, q, v, tau)) < 1e-10
    assert np.all(found.converged)


@uncompiled
@pytest.mark.parametrize("method", METHODS)
def test_rows_are_asked_for_accelerations_under_external_forces(method):
    stabilization = dl.Baumgarte(kp=100.0, kd=20.0)
    cs = standing("solo12", stabilization=stabilization)
    q, v, tau = random_states(cs.model, 6, 3)
    rng = np.random.default_rng(6)
    desired = rng.standard_normal((3, cs.size))
    pushes = rng.standard_normal((3, cs.model.n_bodies, 6))
    found = solve(cs, q, v, tau, pushes, method=method, desired=desired, tolerance=FINE)
    expected = dense(cs, q, v, tau, pushes, desired=desired)
    assert relative(found.acceleration, expected.acceleration) < 1e-9
    assert relative(found.multipliers, expected.multipliers) < 1e-9


@pytest.mark.parametrize("name", CONTACTS)
def test_few_states_are_too_singular_for_early_elimination_and_say_so(name):
    cs = standing(name)
    q, v, tau = random_states(cs.model, 5, 4096)
    found, expected = solve(cs, q, v, tau, method="pv-early"), solve(cs, q, v, tau, method="pv")
    error = np.abs(found.acceleration - expected.acceleration).max(axis=1)
    error = error / np.abs(expected.acceleration).max(axis=1)
    assert np.all(expected.converged)
    assert np.mean(found.converged) > 0.999
    assert np.max(error[found.converged]) < 1e-8


# --- the iteration --------------------------------------------------------------------------------


@uncompiled
@pytest.mark.parametrize("damping", [1e-2, 1e-4])
@pytest.mark.parametrize("name", ["solo12", "talos", "tree 1"])
def test_iterates_are_those_of_the_constrained_articulated_body_algorithm(name, damping):
    cs = INDEPENDENT[name]()
    q, v, tau = random_states(cs.model, 1, 2)
    for count in (1, 2, 3):
        options = {"damping": damping, "max_iterations": count, "tolerance": 0.0}
        found = solve(cs, q, v, tau, method="prox-pv", **options)
        expected = solve(cs, q, v, tau, method="caba", **options)
        assert relative(found.multipliers, expected.multipliers) < 1e-10
        assert relative(found.acceleration, expected.acceleration) < 1e-10
        assert np.all(found.iterations == count)


@uncompiled
def test_one_iteration_with_much_damping_has_not_converged():
    cs = standing("talos")
    q, v, tau = random_states(cs.model, 10)
    found = solve(cs, q, v, tau, method="prox-pv", damping=1.0, max_iterations=1)
    assert not found.converged
    assert found.iterations == 1
    assert slope(cs, q, v, found.acceleration) > 1e-3


def test_a_warm_start_takes_fewer_iterations():
    cs = standing("talos")
    q, v, tau = random_states(cs.model, 8, 4)
    options = {"method": "prox-pv", "damping": 1e-2, "tolerance": 1e-6}
    cold = solve(cs, q, v, tau, **options)
    nearby = cs.model.integrate(q, 1e-6 * v)
    warm = solve(cs, nearby, v, tau, warm_start=cold.multipliers, **options)
    assert np.all(warm.converged)
    assert np.all(warm.iterations < cold.iterations)


def test_damping_of_each_row_does_not_change_the_answer():
    cs = held_tree(3)
    q, v, tau = random_states(cs.model, 3, 3)
    damping = 10.0 ** np.random.default_rng(9).uniform(-8, -3, (3, cs.size))
    expected = dense(cs, q, v, tau)
    found = solve(cs, q, v, tau, method="prox-pv", damping=damping, tolerance=FINE)
    assert relative(found.acceleration, expected.acceleration) < 1e-9
    assert relative(found.multipliers, expected.multipliers) < 1e-9


# --- redundant and contradictory rows -------------------------------------------------------------


def at_rest(cs, q, seed=0):
    """A state at which no row moves, and joint forces."""
    v, tau = np.random.default_rng(seed).standard_normal((2, cs.model.nv))
    return cs, q, consistent(cs, q, v), tau


def doubled(cs):
    cs = repeated(cs)
    return at_rest(cs, cs.model.random_configuration(1))


def straight_legs():
    """A quadruped that hangs fixed by its trunk, all knees straight, feet held."""
    model = dl.robots.load("solo12", floating_base=False)
    cs = dl.Constraints(model, [dl.Connect(foot) for foot in CONTACTS["solo12"][1]])
    return at_rest(cs, model.neutral())


REDUNDANT = {
    **{f"{name}, twice": lambda name=name: doubled(standing(name)) for name in CONTACTS},
    "feet and hands, twice": lambda: doubled(feet_and_hands()),
    "tree, twice": lambda: doubled(held_tree(0)),
    "straight legs": straight_legs,
}


@uncompiled
@pytest.mark.parametrize("method", ["prox-pv", "pv-early"])
@pytest.mark.parametrize("name", REDUNDANT)
def test_redundant_rows_have_one_motion(name, method):
    cs, q, v, tau = REDUNDANT[name]()
    assert cs.rank(q) < cs.size
    found, expected = solve(cs, q, v, tau, method=method), dense(cs, q, v, tau)
    assert np.isfinite(found.multipliers).all()
    # Where rows also contradict each other, pv-early does not know whether its answer is the best.
    assert found.converged == (method != "pv-early" or expected.residual < 1e-10)
    assert slope(cs, q, v, found.acceleration) < 1e-10
    assert relative(found.acceleration, expected.acceleration) < 1e-9
    assert imbalance(cs, q, v, tau, found) < 1e-10


def test_repeated_rows_share_the_force():
    once = standing("talos")
    q, v, tau = random_states(once.model, 12)
    single = solve(once, q, v, tau, method="prox-pv", tolerance=FINE)
    found = solve(repeated(once, 3), q, v, tau, method="prox-pv", tolerance=FINE)
    assert relative(found.acceleration, single.acceleration) < 1e-10
    # How redundant rows share a force is known to rounding over the relative damping of 5e-7.
    shared = 3 * found.multipliers.reshape(3, -1)
    assert relative(shared, [single.multipliers] * 3) < 3e-9


def test_without_damping_redundant_rows_are_solved_or_said_not_to_be():
    cs = repeated(standing("solo12"))
    q, v, tau = random_states(cs.model, 1, 64)
    found, expected = solve(cs, q, v, tau, method="pv"), dense(cs, q, v, tau)
    error = np.abs(found.acceleration - expected.acceleration).max(axis=1)
    assert np.all((error < 1e-6) | ~found.converged)


def puck(sides, kp=100.0):
    """A free body whose centre is to be at several places at once."""
    builder = dl.ModelBuilder("puck")
    builder.add_body("puck", joint=dl.Free(), mass=1.0, inertia=np.eye(3) * 0.1)
    for k, x in enumerate(sides):
        builder.add_frame(f"place{k}", "world", [x, 0.0, 0.0])
    model = builder.build()
    contacts = [dl.Connect("puck", f"place{k}") for k in range(len(sides))]
    return dl.Constraints(model, contacts, stabilization=dl.Baumgarte(kp=kp))


@uncompiled
@pytest.mark.parametrize("method", ["prox-pv", "pv-early"])
def test_contradictory_rows_are_met_halfway(method):
    cs = puck([-1.0, 3.0])
    q, zero = cs.model.neutral(), np.zeros(6)
    found, expected = (
        solve(cs, q, zero, zero, method=method, damping=1e-4),
        dense(cs, q, zero, zero),
    )
    assert np.abs(found.acceleration - [100.0, 0.0, 0.0, 0.0, 0.0, 0.0]).max() < 1e-8
    assert np.isfinite(found.multipliers).all()
    assert found.residual == pytest.approx(expected.residual)
    if method == "prox-pv":
        assert relative(found.multipliers, expected.multipliers) < 1e-6
        assert found.converged


# --- soft constraints -----------------------------------------------------------------------------


def soft(cs, q, v, tau, damping, desired, method="pv-soft"):
    """min |a - a_free|^2_M + |J a + gamma - a*|^2 / damping: one iteration from no force."""
    options = {} if method == "pv-soft" else {"max_iterations": 1}
    options |= {"method": method, "damping": damping, "desired": desired, "tolerance": 0.0}
    return solve(cs, q, v, tau, **options).acceleration


@uncompiled
@pytest.mark.parametrize("method", ["pv-soft", "caba", "prox-ltls", "prox-pv"])
def test_one_iteration_is_the_soft_principle_of_gauss(method):
    cs = held_tree(1)
    q, v, tau = random_states(cs.model, 1)
    rng = np.random.default_rng(1)
    damping, desired = rng.uniform(0.01, 1.0, cs.size), rng.standard_normal(cs.size)
    M, J = dl.mass_matrix(cs.model, q), cs.jacobian(q)
    free = dl.forward_dynamics(cs.model, q, v, tau)
    pull = J.T @ ((desired - cs.drift(q, v)) / damping)
    expected = np.linalg.solve(M + J.T @ (J / damping[:, None]), M @ free + pull)
    assert relative(soft(cs, q, v, tau, damping, desired, method), expected) < 1e-10


SOFT = 'solref="0.05 1.2" solimp="0.8 0.9 0.01 0.5 2"'
ATTACHED = {
    "connect": f'<connect body1="b6" anchor="0.1 0.02 0.03" {SOFT}/>',
    "weld": f'<weld body1="b6" {SOFT}/>',
}


def attached_arm(kind):
    """MJCF of an arm of seven joints whose last body is held softly."""
    axes = ["0 0 1", "0 1 0", "1 0 0"]
    bodies = "".join(
        f'<body name="b{k}" pos="0.05 0.02 0.25" euler="17 -31 23">'
        f'<joint name="j{k}" axis="{axes[k % 3]}"/>'
        f'<inertial pos="0.02 0.01 0.1" mass="{2 - 0.2 * k}" diaginertia="0.02 0.03 0.015"/>'
        for k in range(7)
    )
    return (
        '<mujoco><option gravity="0.3 -0.2 -9.81" jacobian="dense" tolerance="0"/>'
        f"<worldbody>{bodies}{'</body>' * 7}</worldbody>"
        f"<equality>{ATTACHED[kind]}</equality></mujoco>"
    )


@uncompiled
@pytest.mark.parametrize("kind", ATTACHED)
def test_mujoco_solves_the_same_soft_problem(kind, tmp_path):
    """Its compliance is the damping; its rows are ours but for scale and axes, without drift."""
    mujoco = pytest.importorskip("mujoco")
    xml = attached_arm(kind)
    (tmp_path / "arm.xml").write_text(xml)
    model = dl.load(tmp_path / "arm.xml")
    peer = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(peer)
    rng = np.random.default_rng(0)
    # A weld's rows are ours up to a rotation only where nothing is turned.
    data.qpos[:] = 0.3 * rng.standard_normal(7) if kind == "connect" else 0.0
    data.qvel[:], data.qfrc_applied[:] = rng.standard_normal((2, 7))
    mujoco.mj_forward(peer, data)
    cs = dl.Constraints(model)
    q, v = data.qpos.copy(), data.qvel.copy()
    turn = data.efc_J.reshape(cs.size, 7) @ np.linalg.pinv(cs.jacobian(q))
    weights = turn.T @ (turn / data.efc_R[:, None])
    assert np.abs(weights - np.diag(np.diag(weights))).max() < 1e-9 * weights.max()
    desired = np.linalg.solve(turn, data.efc_aref) + cs.drift(q, v)
    found = soft(cs, q, v, data.qfrc_applied.copy(), 1.0 / np.diag(weights), desired)
    assert relative(found, data.qacc) < 1e-8


# --- what cannot be solved ------------------------------------------------------------------------


@uncompiled
def test_constraints_with_the_world_are_taken():
    for cs in (standing("solo12"), held_tree(0), dl.Constraints(dl.robots.load("solo12"), [])):
        check_open(cs, "pv")
        check_open(cs, "pv")


@uncompiled
def test_loops_and_couplings_are_refused_with_a_way_out():
    loops = dl.Constraints(four_bar())
    with pytest.raises(dl.ModelError, match=r"'prox-pv'.*'coupler_tip' and 'rocker_tip'.*'caba'"):
        check_open(loops, "prox-pv")
    model = four_bar()
    crank, coupler = "crank_joint", "coupler_joint"
    others = r"between joints.*'prox-ltl', 'prox-ltls', 'dense'"
    for coupling in (dl.Gear(crank, coupler, 2.0), dl.Coupling({crank: 1.0, coupler: 2.0})):
        with pytest.raises(dl.ModelError, match=others):
            check_open(dl.Constraints(model, [dl.Connect("rocker_tip"), coupling]), "pv-early")

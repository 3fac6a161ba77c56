"""Derivatives of constrained dynamics: central differences, Pinocchio, redundant rows, batches."""

import numpy as np
import pytest

import delassus as dl
from constrained.mechanisms import CONTACTS, four_bar, repeated, standing
from delassus.constrained.derivatives.dynamics import constrained_dynamics_derivatives
from trees import random_states, random_tree, relative

STABILIZATION = dl.Baumgarte(3.0, 1.7)
FIELDS = 3  # derivatives of accelerations come first, then as many of multipliers
# Constraints between two frames, of every kind of row.
KINDS = {
    "connect": lambda rng: dl.Connect,
    "weld": lambda rng: dl.Weld,
    "distance": lambda rng: lambda frame, other: dl.Distance(frame, other, 0.5),
    "spherical": lambda rng: closure(dl.Spherical()),
    "translation": lambda rng: closure(dl.Translation()),
    "universal": lambda rng: closure(dl.Universal(rng.standard_normal(3), rng.standard_normal(3))),
    "revolute": lambda rng: closure(dl.Revolute(rng.standard_normal(3))),
    "prismatic": lambda rng: closure(dl.Prismatic(rng.standard_normal(3))),
    "cylindrical": lambda rng: closure(dl.Cylindrical(rng.standard_normal(3))),
    "planar": lambda rng: closure(dl.Planar(rng.standard_normal(3))),
    "helical": lambda rng: closure(dl.Helical(rng.standard_normal(3), 0.3)),
}


def closure(joint):
    return lambda frame, other: dl.Closure(joint, frame, other)


def central_differences(constraints, q, v, tau, forces, step=1e-5, **options):
    """The same derivatives from constrained dynamics itself, all evaluations in one batch."""
    model = constraints.model
    nv = model.nv
    steps = np.concatenate([np.eye(nv), -np.eye(nv)]) * step
    q, v, tau, forces = (np.repeat(x[None], 2 * nv, 0) for x in (q, v, tau, forces))
    moved = [
        dl.constrained_dynamics(
            model, *state, constraints, forces, tolerance=1e-12, max_iterations=60, **options
        )
        for state in (
            (model.integrate(q, steps), v, tau),
            (q, v + steps, tau),
            (q, v, tau + steps),
        )
    ]
    return [
        (y[:nv] - y[nv:]).T / (2 * step)
        for name in ("acceleration", "multipliers")
        for y in (getattr(s, name) for s in moved)
    ]


def check(constraints, q, v, tau, seed=0, tolerance=1e-6, method="auto", **options):
    model = constraints.model
    forces = np.random.default_rng(seed).standard_normal((model.n_bodies, 6))
    found = constrained_dynamics_derivatives(model, q, v, tau, constraints, forces, **options)
    expected = central_differences(constraints, q, v, tau, forces, method=method, **options)
    assert found.converged
    for part in (slice(FIELDS), slice(FIELDS, None)):
        scale = max(np.abs(x).max(initial=0.0) for x in expected[part])
        for x, y in zip(found[part], expected[part], strict=True):
            assert x.shape == y.shape
            assert np.abs(x - y).max(initial=0.0) <= tolerance * scale


def independent(model, declared, q):
    """The constraints, if their rows are well apart from depending on each other."""
    constraints = dl.Constraints(model, declared, stabilization=STABILIZATION)
    return constraints if constraints.rank(q, 1e-3) == constraints.size else None


def random_constraints(kind, seed, count):
    """A tree, a state, and that many constraints of a kind with independent rows."""
    for attempt in range(100):
        rng = np.random.default_rng([seed, attempt])
        model = random_tree(int(rng.integers(10**6)), bodies=8, trees=0.15)
        q, v, tau = random_states(model, seed)
        frames = [f"f{k}" for k in range(8)] + ["world"]
        pairs = [rng.choice(frames, 2, replace=False) for _ in range(count)]
        constraints = independent(model, [KINDS[kind](rng)(*map(str, p)) for p in pairs], q)
        if constraints is not None:
            return constraints, q, v, tau
    raise AssertionError(f"no independent rows of kind {kind}")


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", KINDS)
def test_central_differences(kind, seed):
    """Between any two frames: across branches, along one, between two trees, with the world."""
    count = 2 if kind in ("connect", "distance", "universal") else 1
    check(*random_constraints(kind, seed, count), seed)


@pytest.mark.uncompiled
@pytest.mark.parametrize("kind", ["connect", "distance", "universal", "helical", "prismatic"])
def test_loops_along_and_across_branches(kind):
    rng = np.random.default_rng(1)
    builder = dl.ModelBuilder("fork", gravity=[1.0, 2.0, -9.0])
    parents = ["world", "b0", "b1", "b2", "b1", "b4", "b5"]
    types = [dl.Free(), dl.Spherical(), *(dl.Revolute(rng.standard_normal(3)) for _ in range(5))]
    for i, (parent, joint) in enumerate(zip(parents, types, strict=True)):
        builder.add_body(f"b{i}", parent, joint, rng.uniform(-1, 1, 3), mass=1.0,
                         com=rng.uniform(-1, 1, 3), inertia=np.diag([0.3, 0.4, 0.5]))  # fmt: skip
    model = builder.build()
    q, v, tau = random_states(model, 3)
    for frames in (("b3", "b6"), ("b6", "b3"), ("b0", "b6"), ("b6", "b0"), ("b6", "world")):
        constraints = dl.Constraints(
            model, [KINDS[kind](rng)(*frames)], stabilization=STABILIZATION
        )
        if constraints.rank(q, 1e-3) == constraints.size:
            check(constraints, q, v, tau)


def test_constraints_on_coordinates():
    model = dl.robots.load("talos")
    joints = [joint.name for joint in model.joints if joint.nv == 1]
    declared = [
        dl.Weld("left_sole_link"),
        dl.Gear(joints[1], joints[2], 0.3, 0.1),
        dl.Coupling({joints[3]: 1.0, joints[8]: -0.4, joints[20]: 0.2}, 0.3),
        dl.Implicit(lambda x: [np.sin(x[0]) * x[1] + x[2] ** 3, x[0] * x[2]], joints[5:8]),
    ]
    state = random_states(model, 4)
    constraints = independent(model, declared, state[0])
    assert constraints is not None
    check(constraints, *state)


@pytest.mark.parametrize("name", ["solo12", "talos"])
def test_feet_on_the_ground(name):
    constraints = standing(name, stabilization=STABILIZATION)
    q, v, tau = random_states(constraints.model, 2)
    damping = np.geomspace(1e-7, 1e-5, constraints.size)
    check(constraints, q, v, tau, damping=damping, desired=np.linspace(-1, 1, constraints.size))


def test_without_rows_they_are_those_of_forward_dynamics():
    model = random_tree(3, bodies=7)
    state = random_states(model, 1, 3)
    found = constrained_dynamics_derivatives(model, *state, dl.Constraints(model, []))
    for x, y in zip(found, dl.forward_dynamics_derivatives(model, *state), strict=False):
        assert relative(x, y) < 1e-10
    assert found.multipliers_dq.shape == (3, 0, model.nv)


# --- redundant rows -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["solo12", "talos"])
def test_rows_that_say_the_same_twice(name):
    """Accelerations vary as with the rows once, and each copy takes half of the forces."""
    once = standing(name)
    model = once.model
    state = random_states(model, 3, 5)
    single = constrained_dynamics_derivatives(model, *state, once)
    double = constrained_dynamics_derivatives(model, *state, repeated(once), max_iterations=60)
    for x, y in zip(double[:FIELDS], single[:FIELDS], strict=True):
        assert relative(x, y) < 1e-7
    for x, y in zip(double[FIELDS:], single[FIELDS:], strict=True):
        assert relative(x[:, : once.size], 0.5 * y) < 1e-6
        assert relative(x[:, once.size :], 0.5 * y) < 1e-6


def test_linkage_in_a_plane():
    """Three of five rows say nothing new, and take no forces."""
    model = four_bar()
    constraints = dl.Constraints(model, stabilization=STABILIZATION)
    q, v, tau = random_states(model, 6)
    assert constraints.rank(q) == constraints.size - 3
    check(constraints, q, v, tau)


# --- Pinocchio ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["solo12", "talos"])
def test_pinocchio(name):
    pinocchio = pytest.importorskip("pinocchio")
    from delassus.benchmarks.peers.constraints import ConstrainedPeer, proximal_settings
    from delassus.benchmarks.peers.pinocchio import load_pair

    model, peer = load_pair(name)
    kind, frames = CONTACTS[name]
    constraints = dl.Constraints(model, [kind(frame) for frame in frames])
    theirs, settings = ConstrainedPeer(peer, constraints), proximal_settings(1e-6, 20, 1e-12)
    q, v, tau = random_states(model, 1)
    found = constrained_dynamics_derivatives(model, q, v, tau, constraints, tolerance=1e-13)
    _, multipliers = theirs.solve(q, v, tau, settings)
    data = theirs.data
    pinocchio.computeConstraintDynamicsDerivatives(
        theirs.model, data, theirs.constraints, theirs.constraint_data, settings
    )
    for x, y in zip(found, (data.ddq_dq, data.ddq_dv, data.ddq_dtau), strict=False):
        assert relative(x, peer.from_matrix(y)) < 1e-7
    for by, y in (("dq", data.dlambda_dq), ("dv", data.dlambda_dv), ("dtau", data.dlambda_dtau)):
        expected = peer.from_velocity(y)
        if kind is dl.Connect:
            expected = in_axes_of_the_world(constraints, q, multipliers, expected, by == "dq")
        assert relative(getattr(found, f"multipliers_{by}"), expected) < 1e-7


def in_axes_of_the_world(constraints, q, multipliers, matrix, turns):
    """R f varies by R df, and as q moves by omega x R f."""
    result = np.empty_like(matrix)
    for declared, rows in zip(constraints.declared, constraints.slices, strict=True):
        R = dl.forward_kinematics(constraints.model, q, [declared.frame]).rotation[0]
        result[rows] = R @ matrix[rows]
        if turns:
            omega = dl.frame_jacobian(constraints.model, q, declared.frame, "aligned")[3:]
            result[rows] += np.cross(omega.T, R @ multipliers[rows]).T
    return result


# --- batches --------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 3, 130])
def test_batches_of_any_size(count):
    constraints, *_ = random_constraints("connect", 1, 2)
    model = constraints.model
    state = random_states(model, 1, count)
    batch = constrained_dynamics_derivatives(model, *state, constraints, threads=1)
    shared = constrained_dynamics_derivatives(model, *state, constraints, threads=2)
    for i in {0, count // 2, count - 1}:
        one = constrained_dynamics_derivatives(model, *(x[i] for x in state), constraints)
        for x, y, z in zip(batch, shared, one, strict=True):
            assert np.array_equal(x, y)
            assert relative(x[i], z) < 1e-8


def test_state_that_is_not_a_number_stays_alone():
    constraints, *_ = random_constraints("weld", 2, 1)
    model = constraints.model
    q, v, tau = random_states(model, 1, 6)
    clean = constrained_dynamics_derivatives(model, q, v, tau, constraints)
    v[2] = np.nan
    spoilt = constrained_dynamics_derivatives(model, q, v, tau, constraints)
    others = [0, 1, 3, 4, 5]
    for before, after in zip(clean, spoilt, strict=True):
        assert np.array_equal(before[others], after[others])
    assert np.isnan(spoilt.dv[2]).any()


def test_results_go_where_they_are_asked_to():
    constraints = standing("solo12")
    model = constraints.model
    for count in (None, 5):
        state = random_states(model, 1, count)
        expected = constrained_dynamics_derivatives(model, *state, constraints)
        out = type(expected)(*(np.full_like(x, np.nan) for x in expected))
        result = constrained_dynamics_derivatives(model, *state, constraints, out=out)
        for given_array, found, wanted in zip(out, result, expected, strict=True):
            assert found is given_array
            assert np.array_equal(found, wanted)


@pytest.mark.slow
def test_single_precision():
    constraints = standing("solo12")
    model = constraints.model
    state = random_states(model, 1, 9)
    high = constrained_dynamics_derivatives(model, *state, constraints)
    low = constrained_dynamics_derivatives(
        model, *(x.astype(np.float32) for x in state), constraints, tolerance=1e-4, damping=1e-3
    )
    for x, y in zip(low, high, strict=True):
        assert x.dtype == np.float32
        assert relative(x, y) < 1e-2


# --- rows that are redundant, or nearly so --------------------------------------------------------


def joints_in_a_row():
    """A body in a plane, one that it shifts, and one that turns about two axes."""
    builder = dl.ModelBuilder("row")
    turning = np.diag([0.1, 0.2, 0.25])
    builder.add_body(
        "b0", "world", dl.Planar([0.3, 0.5, 0.8]), mass=1.0, com=[0.1, 0.2, 0.3], inertia=turning
    )
    builder.add_body("b1", "b0", dl.Translation(), [0.1, 0.2, 0.3], mass=2.0, inertia=np.eye(3))
    builder.add_body(
        "b2", "b1", dl.Universal([1, 0, 0], [0, 1, 0]), [0.3, 0.2, 0.3],
        mass=2.0, com=[0.1, 0.1, 0.1], inertia=np.eye(3),
    )  # fmt: skip
    builder.add_frame("f0", "b0", [0.4, 0.1, 0.2])
    builder.add_frame("f2", "b2", [0.4, 0.1, 0.2])
    return builder.build()


FOOT, HAND = dl.Connect("f0"), dl.Connect("f2", "f0")


@pytest.mark.uncompiled
@pytest.mark.parametrize(
    ("declared", "rank"),
    [([FOOT], 2), ([FOOT, FOOT], 2), ([dl.Weld("f0")], 3), ([FOOT, HAND, FOOT], 5)],
)
def test_multipliers_of_redundant_rows_stay_the_shortest(declared, rank):
    """As q moves, their derivatives have a part that has no effect on the motion."""
    model = joints_in_a_row()
    constraints = dl.Constraints(model, declared, stabilization=STABILIZATION)
    q, v, tau = random_states(model, 0)
    assert constraints.rank(q) == rank
    check(constraints, q, v, tau, method="dense")


def motors_on(model):
    """1 N m on each motor of Cassie."""
    tau = np.zeros(model.nv)
    for name in model.joint_names:
        if name.endswith("-ip"):
            tau[model.joint(name).v] = 1.0
    return tau


@pytest.mark.parametrize("seed", [None, 0, 1])
def test_cassie_closed_anywhere(seed):
    """36 rows of rank 28, of which two are nearly redundant. Along motions that keep loops closed.

    Central differences have few digits there: the derivatives are as large as 1e10.
    """
    model = dl.robots.load("cassie")
    constraints, q, tau = dl.Constraints(model), model.neutral(), motors_on(model)
    v = np.zeros(model.nv)
    if seed is not None:
        rng = np.random.default_rng(seed)
        away = model.integrate(q, 0.15 * rng.standard_normal(model.nv))
        q = dl.close_loops(model, away, constraints)
        v = rng.standard_normal(model.nv)
    _, singular, V = np.linalg.svd(constraints.jacobian(q))
    open_ways = V[(singular > 1e-9).sum() :]
    v = open_ways.T @ (open_ways @ v)
    found = constrained_dynamics_derivatives(model, q, v, tau, constraints)
    assert found.converged

    def slopes(ways, move, step):
        states = [move(s * step * w) for s in (1, -1) for w in ways]
        q, tau = (np.array(x) for x in zip(*states, strict=True))
        v_all = np.repeat(v[None], len(q), 0)
        moved = dl.constrained_dynamics(model, q, v_all, tau, constraints, method="dense")
        count = len(ways)
        results = moved.acceleration, moved.multipliers
        return [(y[:count] - y[count:]).T / (2 * step) for y in results]

    ways = open_ways[:4]
    a, multipliers = slopes(ways, lambda w: (model.integrate(q, w), tau), 1e-5)
    assert relative(found.dq @ ways.T, a) < 2e-5
    assert relative(found.multipliers_dq @ ways.T, multipliers) < 5e-3
    ways = np.eye(model.nv)[6:12]
    a, multipliers = slopes(ways, lambda w: (q, tau + w), 1.0)
    assert relative(found.dtau @ ways.T, a) < 1e-7


@pytest.mark.uncompiled
def test_derivatives_tell_whether_their_solution_has_converged():
    constraints = standing("solo12")
    state = random_states(constraints.model, 3, 2)
    found = constrained_dynamics_derivatives(constraints.model, *state, constraints)
    assert found.converged.tolist() == [True, True]
    one = constrained_dynamics_derivatives(constraints.model, *(x[0] for x in state), constraints)
    assert one.converged is True
    assert len(one) == 6

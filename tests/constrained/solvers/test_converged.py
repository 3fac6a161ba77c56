"""`converged` means the same for all methods, and is never true of a wrong answer."""

import numpy as np
import pytest

import delassus as dl
from constrained.mechanisms import standing
from trees import random_states, relative

uncompiled = pytest.mark.uncompiled
CLOSED = ("caba", "prox-ltl", "prox-ltls")  # methods that take loops and couplings
OPEN = (*CLOSED, "prox-pv", "pv-early")


def solve(cs, *states, **options):
    return dl.constrained_dynamics(cs.model, *states, cs, **options)


def motors_on():
    """Cassie as its file has it, 1 N m on each motor."""
    model = dl.robots.load("cassie")
    tau = np.zeros(model.nv)
    for name in model.joint_names:
        if name.endswith("-ip"):
            tau[model.joint(name).v] = 1.0
    return dl.Constraints(model), model.neutral(), np.zeros(model.nv), tau


def hinges(mass, other=None):
    """Two hinges side by side."""
    builder = dl.ModelBuilder("hinges")
    for k, m in enumerate((mass, mass if other is None else other)):
        builder.add_body(
            f"link{k}", "world", dl.Revolute([0, 1, 0]), joint_name=f"hinge{k}",
            mass=m, com=[0.3, 0, 0], inertia=0.1 * m * np.eye(3),
        )  # fmt: skip
    return builder.build()


def held_arm(mass):
    """An arm of four joints whose tip is held."""
    builder, parent = dl.ModelBuilder("arm"), "world"
    for k, axis in enumerate(([0, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1])):
        builder.add_body(
            f"link{k}", parent, dl.Revolute(axis), [0.5 if k else 0.0, 0, 0],
            mass=mass, com=[0.2, 0, 0.05], inertia=0.05 * mass * np.eye(3),
        )  # fmt: skip
        parent = f"link{k}"
    builder.add_frame("tip", parent, [0.4, 0.1, 0.0])
    return dl.Constraints(builder.build(), [dl.Connect("tip")])


def errors(cs, q, v, tau, sol):
    """What rows and equations of motion miss, each relative to what it is made of."""
    if not np.isfinite(sol.acceleration).all():
        return np.inf, np.inf
    J, M = cs.jacobian(q), dl.mass_matrix(cs.model, q)
    force = tau - dl.bias_forces(cs.model, q, v)
    a, multipliers = sol.acceleration, sol.multipliers
    rows = (J @ a + cs.drift(q, v)) / np.linalg.norm(J, axis=1)
    terms = np.hstack([force[:, None], M * a, J.T * multipliers])
    missing = force - M @ a + J.T @ multipliers
    return np.abs(rows).max(), np.abs(missing / np.linalg.norm(terms, axis=1)).max()


@uncompiled
@pytest.mark.parametrize("limit", [20, 200])
@pytest.mark.parametrize("method", CLOSED)
def test_nearly_redundant_rows_are_iterated_to_the_end(method, limit):
    """Of Cassie's 36 rows 8 follow from others, and two more nearly do."""
    cs, q, v, tau = motors_on()
    expected = solve(cs, q, v, tau, method="dense")
    found = solve(cs, q, v, tau, method=method, max_iterations=limit)
    assert expected.converged
    assert expected.residual < 1e-10
    assert found.converged or (method, limit) == ("prox-ltl", 20)
    assert relative(found.acceleration, expected.acceleration) < (1e-8 if found.converged else 1e-5)


@uncompiled
@pytest.mark.parametrize("mass", [1e-9, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("size", [1e-6, 1e-3, 1.0, 1e5, 1e6])
@pytest.mark.parametrize("method", CLOSED)
def test_units_of_rows_and_masses_do_not_matter(method, size, mass):
    """Rows in counts of an encoder; links of a microgram, and of a thousand tons."""
    model = hinges(mass)
    q, v, tau = np.array([0.3, 0.8]), np.array([0.5, -0.2]), mass * np.array([0.1, 0.4])
    for row in (
        dl.Coupling({"hinge0": size, "hinge1": -2.0 * size}),
        dl.Gear("hinge0", "hinge1", size),
    ):
        cs = dl.Constraints(model, [row])
        found, expected = solve(cs, q, v, tau, method=method), solve(cs, q, v, tau, method="dense")
        assert found.converged
        assert found.iterations <= 5
        assert relative(found.acceleration, expected.acceleration) < 1e-9
        assert relative(found.multipliers, expected.multipliers) < 1e-9
        assert max(errors(cs, q, v, tau, found)) < 1e-10


@uncompiled
@pytest.mark.parametrize("mass", [1e-9, 1e-3, 1e6])
@pytest.mark.parametrize("method", OPEN)
def test_masses_of_all_sizes_converge(method, mass):
    cs = held_arm(mass)
    q, v, tau = random_states(cs.model, 3)
    tau = mass * tau
    found, expected = solve(cs, q, v, tau, method=method), solve(cs, q, v, tau, method="dense")
    assert found.converged
    assert relative(found.acceleration, expected.acceleration) < 1e-9
    assert max(errors(cs, q, v, tau, found)) < 1e-10


@uncompiled
@pytest.mark.parametrize("size", [1e-5, 1.0, 1e5, 1e6])
@pytest.mark.parametrize("method", CLOSED)
def test_damping_that_does_not_fit_never_passes_for_an_answer(method, size):
    """A number is taken as it is: where springs round off all inertia, the solution says so."""
    cs = dl.Constraints(hinges(1.0), [dl.Coupling({"hinge0": size, "hinge1": -2.0 * size})])
    q, v, tau = np.array([0.3, 0.8]), np.array([0.5, -0.2]), np.array([0.1, 0.4])
    expected = solve(cs, q, v, tau, method="dense")
    for damping in (1e-12, 1e-6, 1.0, 1e6):
        found = solve(cs, q, v, tau, method=method, damping=damping)
        right = relative(found.acceleration, expected.acceleration) < 1e-7
        assert right or not found.converged
        holds = max(errors(cs, q, v, tau, found)) < 1e-9
        assert holds or not found.converged


@uncompiled
@pytest.mark.parametrize("method", CLOSED)
def test_rows_of_different_units_that_contradict_meet_in_the_least_squares_sense(method):
    """A hinge is to accelerate by 1, and a hundred times it by 300: (1 + 100 * 300) / 10001."""
    model = hinges(1.0)
    rows = [dl.Coupling({"hinge0": 1.0}), dl.Coupling({"hinge0": 100.0})]
    cs = dl.Constraints(model, [*rows, dl.Gear("hinge1", "hinge0", 2.0)])
    zero = np.zeros(2)
    found = solve(cs, zero, zero, zero, method=method, desired=np.array([1.0, 300.0, 0.0]))
    assert found.converged
    assert found.acceleration[0] == pytest.approx(30001.0 / 10001.0, abs=1e-7)
    assert np.isfinite(found.multipliers).all()


def test_rows_of_the_same_kind_share_forces_evenly():
    """Four corners of a plate on the ground carry the same."""
    builder = dl.ModelBuilder("plate")
    builder.add_body("plate", joint=dl.Free(), mass=4.0, inertia=np.diag([0.1, 0.1, 0.2]))
    for k, (x, y) in enumerate(((1, 1), (1, -1), (-1, 1), (-1, -1))):
        builder.add_frame(f"corner{k}", "plate", [0.2 * x, 0.3 * y, 0.0])
    model = builder.build()
    cs = dl.Constraints(model, [dl.Connect(f"corner{k}") for k in range(4)])
    zero = np.zeros(6)
    found = solve(cs, model.neutral(), zero, zero)
    assert found.converged
    assert found.multipliers[2::3] == pytest.approx([9.81] * 4)


slow = pytest.mark.slow
SINGLE = ["auto", "dense", *(pytest.param(x, marks=slow) for x in ("prox-ltl", "prox-ltls"))]


@pytest.mark.parametrize("name", ["solo12", "talos", "g1"])
@pytest.mark.parametrize("method", SINGLE)
def test_single_precision_converges(name, method):
    cs = standing(name)
    states = random_states(cs.model, 0, 16)
    expected = solve(cs, *states, method="dense")
    found = solve(cs, *(x.astype(np.float32) for x in states), method=method)
    assert found.acceleration.dtype == np.float32
    assert found.converged.all()
    assert relative(found.acceleration, expected.acceleration) < 1e-3


def test_a_limit_of_iterations_is_no_convergence():
    cs, q, v, tau = motors_on()
    expected = solve(cs, q, v, tau, method="dense")
    for limit in range(1, 15):
        found = solve(cs, q, v, tau, max_iterations=limit)
        assert found.iterations <= limit
        assert not found.converged or relative(found.acceleration, expected.acceleration) < 1e-7

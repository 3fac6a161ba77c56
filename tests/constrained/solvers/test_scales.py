"""`converged` where forces cancel, where scales are far apart, and where rows contradict."""

import numpy as np
import pytest

import delassus as dl
from constrained.mechanisms import four_bar

ALL = ("dense", "caba", "prox-ltl", "prox-ltls")
FEET = [dl.Connect(f) for f in ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")]
uncompiled = pytest.mark.uncompiled


def solve(cs, *states, **options):
    return dl.constrained_dynamics(cs.model, *states, cs, **options)


def falling_four_bar():
    """A four-bar linkage on a free base."""
    builder = dl.ModelBuilder("falling")
    builder.add_body("base", "world", dl.Free(), mass=2.0, inertia=0.1 * np.eye(3))
    for name, parent, at, length in (
        ("crank", "base", [0, 0, 0], 0.3),
        ("coupler", "crank", [0.3, 0, 0], 0.8),
        ("rocker", "base", [0.9, 0, 0], 0.6),
    ):
        builder.add_body(
            name, parent, dl.Revolute([0, 1, 0]), at,
            mass=length, com=[length / 2, 0, 0], inertia=np.eye(3) * length**3 / 12,
        )  # fmt: skip
        builder.add_frame(f"{name}_tip", name, [length, 0, 0])
    model = builder.build()
    return dl.Constraints(model, [dl.Connect("coupler_tip", "rocker_tip")])


@uncompiled
@pytest.mark.parametrize("method", ALL)
def test_free_fall_converges(method):
    """All forces in joints are rounding, and so are accelerations of rows."""
    for cs in (dl.Constraints(dl.robots.load("cassie")), falling_four_bar()):
        model = cs.model
        zero = np.zeros(model.nv)
        for q in (model.neutral(), model.random_configuration(np.random.default_rng(1))):
            found = solve(cs, q, zero, zero, method=method)
            assert found.converged
            assert abs(found.acceleration[2] ** 2) < 1e3
            lifted = found.acceleration.copy()
            lifted[:3] = 0.0
            assert np.abs(lifted).max() < 1e-6


@uncompiled
@pytest.mark.parametrize("method", ALL)
def test_a_robot_that_tau_holds_still_converges(method):
    cs = dl.Constraints(four_bar())
    q = cs.model.random_configuration(np.random.default_rng(0))
    tau = dl.gravity_forces(cs.model, q)
    found = solve(cs, q, np.zeros(cs.model.nv), tau, method=method)
    assert found.converged
    assert np.abs(found.acceleration).max() < 1e-10


@uncompiled
@pytest.mark.parametrize("decades", [3.0, 7.5, 8.0, 12.0])
@pytest.mark.parametrize("method", ALL)
def test_a_row_counts_whatever_others_act_on(method, decades):
    """Two sliders, each locked by a row of its own, one 1e24 times as heavy as the other."""
    builder = dl.ModelBuilder("sliders", gravity=(0, 0, 0))
    masses = 10.0 ** np.array([decades, -decades])
    for k, mass in enumerate(masses):
        builder.add_body(
            f"b{k}", "world", dl.Prismatic([1, 0, 0]), joint_name=f"j{k}",
            mass=mass, inertia=mass * np.eye(3),
        )  # fmt: skip
    model = builder.build()
    cs = dl.Constraints(model, [dl.Coupling({"j0": 1.0}), dl.Coupling({"j1": 1.0})])
    zero = np.zeros(2)
    for tau in (masses, np.ones(2), np.array([1.0, 0.0])):
        found = solve(cs, zero, zero, tau, method=method)
        assert found.converged
        assert np.all(np.abs(found.acceleration) <= 1e-9 * tau / masses)


@uncompiled
@pytest.mark.parametrize("method", ("caba", "prox-ltl", "prox-ltls", "prox-pv"))
@pytest.mark.parametrize("damping", [None, 1e-4, 1e-6, 1e-9, 1e-12])
def test_what_converges_with_contradicting_rows_is_the_least_squares_answer(method, damping):
    """Four welded feet: 24 rows for 18 degrees of freedom."""
    model = dl.robots.load("solo12")
    cs = dl.Constraints(model, [dl.Weld(foot.frame) for foot in FEET])
    rng = np.random.default_rng(2)
    right = 0
    for _ in range(3):
        q, (v, tau) = model.random_configuration(rng), rng.standard_normal((2, model.nv))
        expected = solve(cs, q, v, tau, method="dense")
        found = solve(cs, q, v, tau, method=method, damping=damping)
        error = np.abs(found.acceleration - expected.acceleration).max()
        assert expected.converged
        assert error < 1e-7 * np.abs(expected.acceleration).max()
        right += found.converged
    assert right >= 2

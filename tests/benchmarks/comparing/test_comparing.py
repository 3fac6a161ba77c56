"""Mechanisms and problems that benchmarks share, and the calls on them."""

import numpy as np
import pytest

pytest.importorskip("pinocchio")

import delassus as dl
from delassus.benchmarks.comparing import mechanisms, methods
from delassus.benchmarks.comparing.problems import PROXIMAL, robot_pair
from delassus.benchmarks.measuring.states import States
from delassus.benchmarks.seed_000 import problems


def test_humanoid_with_hands_is_large():
    for problem, tips in ((problems.FINGERTIPS, 8), (problems.LARGEST, 10)):
        constraints = problem.constraints()
        assert constraints.model.nv >= 80
        assert constraints.size == 12 + tips * 3


def test_robots_are_loaded_once():
    assert robot_pair("panda") is robot_pair("panda")


@pytest.mark.parametrize("levels", [1, 3])
def test_trees_divide_in_two(levels):
    constraints = mechanisms.binary_tree(levels)
    assert constraints.model.n_bodies == 3 * (2**levels - 1)
    assert constraints.size == 3 * 2 ** (levels - 1)


def test_four_bars_have_a_loop_each():
    constraints = mechanisms.four_bars(4)
    assert (constraints.model.nv, constraints.size) == (12, 12)
    J = constraints.jacobian(constraints.model.neutral())
    assert np.abs(J).max() > 0.0


def test_timed_calls_compute_what_the_function_does():
    constraints = mechanisms.hanging_chain(4)
    states = States.random(constraints.model, 3, 0, reach=mechanisms.REACH)
    timer = methods.own_timer(
        dl.constrained_dynamics, constraints, states, method="caba", **PROXIMAL
    )
    timer.timeit(1)
    found = dl.constrained_dynamics(
        constraints.model, states.q, states.v, states.x, constraints, method="caba", **PROXIMAL
    )
    assert np.array_equal(timer_out(timer).acceleration, found.acceleration)


def timer_out(timer):
    """The arrays that a timer's call writes to."""
    return timer.inner.__globals__["out"]


def test_every_function_has_methods():
    assert {function for function, _ in methods.all_methods()} == {
        "constrained_dynamics", "delassus_matrix", "delassus_inverse",
    }  # fmt: skip
    assert "dense" not in methods.methods(methods.DYNAMICS)
    assert set(methods.proximal_methods()) == {"caba", "prox-ltl", "prox-ltls", "prox-pv"}

"""Physics of constraints: what they may not do to energy, and that loops stay closed."""

import numpy as np
import pytest

import delassus as dl
from constrained.mechanisms import (
    ALL_PURPOSE,
    cassie,
    close,
    consistent,
    four_bar,
    hanging,
    mendable_error,
    random_loops,
    six_bar,
    standing,
)
from trees import random_states

ITERATIVE = [method for method in ALL_PURPOSE if method != "dense"]
STABLE = dl.Baumgarte(kp=100.0, kd=20.0)
SECONDS = 10.0


def energy(model, q, v):
    return dl.kinetic_energy(model, q, v) + dl.potential_energy(model, q)


def start(constraints, near, seed=0):
    """A state that no constraint objects to."""
    q = close(constraints, near)
    assert mendable_error(constraints, q) < 1e-12
    push = 0.3 * np.random.default_rng(seed).standard_normal(constraints.model.nv)
    return q, consistent(constraints, q, push)


def simulate(constraints, q, v, step, seconds, method, limit):
    """Runge and Kutta's fourth-order steps; the last state, and the largest error on the way."""
    model, tau, largest = constraints.model, np.zeros(constraints.model.nv), 0.0

    def acceleration(q, v):
        options = {"method": method, "damping": 1e-5, "max_iterations": limit}
        return dl.constrained_dynamics(model, q, v, tau, constraints, **options).acceleration

    for n in range(round(seconds / step)):
        k1, a1 = v, acceleration(q, v)
        k2 = v + step / 2 * a1
        a2 = acceleration(model.integrate(q, step / 2 * k1), k2)
        k3 = v + step / 2 * a2
        a3 = acceleration(model.integrate(q, step / 2 * k2), k3)
        k4 = v + step * a3
        a4 = acceleration(model.integrate(q, step * k3), k4)
        q = model.integrate(q, step / 6 * (k1 + 2 * k2 + 2 * k3 + k4))
        v = v + step / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        if n % 50 == 0:
            largest = max(largest, mendable_error(constraints, q))
    return q, v, largest


def keeps_energy(constraints, near, step, method, limit=20):
    q, v = start(constraints, near)
    before, scale = energy(constraints.model, q, v), dl.kinetic_energy(constraints.model, q, v)
    q, v, error = simulate(constraints, q, v, step, SECONDS, method, limit)
    assert abs(energy(constraints.model, q, v) - before) < 1e-6 * max(scale, abs(before))
    assert error < 1e-8


@pytest.mark.parametrize("method", ITERATIVE)
def test_a_passive_four_bar_keeps_its_energy_and_stays_closed(method):
    constraints = dl.Constraints(four_bar(), stabilization=STABLE)
    keeps_energy(constraints, np.array([1.0, -0.5, -1.0]), 1e-3, method)


@pytest.mark.parametrize("method", ITERATIVE)
def test_cassie_that_hangs_freely_keeps_its_energy_and_stays_closed(method):
    """Its loops never quite meet across their planes: few iterations leave them soft there."""
    model = cassie(floating_base=False)
    cs = dl.Constraints(model, stabilization=STABLE)
    keeps_energy(cs, hanging(model), 1e-3, method, limit=3)


# Constraints that do not depend on time, and where each is looked at.
PASSIVE = {
    "four-bar": lambda: (dl.Constraints(four_bar()), np.array([1.0, -0.5, -1.0])),
    "six-bar": lambda: (dl.Constraints(six_bar()), np.array([1.0, -0.5, -1.0, 0.5, -1.0])),
    "cassie": lambda: (dl.Constraints(model := cassie()), hanging(model)),
}
ANYWHERE = {
    "solo12": lambda: standing("solo12"),
    "talos": lambda: standing("talos"),
    "loops": lambda: random_loops(1),
}


@pytest.mark.parametrize("method", ALL_PURPOSE)
@pytest.mark.parametrize("name", PASSIVE)
def test_forces_of_closed_loops_do_no_work(name, method):
    constraints, near = PASSIVE[name]()
    q, _ = start(constraints, near)
    v, tau = np.random.default_rng(1).standard_normal((2, constraints.model.nv))
    does_no_work(constraints, q, consistent(constraints, q, v), tau, method)


@pytest.mark.parametrize("method", ALL_PURPOSE)
@pytest.mark.parametrize("name", ANYWHERE)
def test_forces_of_contacts_do_no_work(name, method):
    constraints = ANYWHERE[name]()
    q, v, tau = random_states(constraints.model, 1)
    does_no_work(constraints, q, consistent(constraints, q, v), tau, method)


def does_no_work(constraints, q, v, tau, method):
    """J v . multipliers is zero, and so the power of joint forces is all that energy gains."""
    model = constraints.model
    solution = dl.constrained_dynamics(model, q, v, tau, constraints, method=method)
    a, forces = solution.acceleration, constraints.jacobian(q).T @ solution.multipliers
    assert np.abs(v @ forces) < 1e-10 * np.abs(v * forces).max()

    def ahead(t):
        return energy(model, model.integrate(q, t * v + t * t / 2 * a), v + t * a)

    step = 1e-6
    gained = (ahead(step) - ahead(-step)) / (2 * step)
    assert abs(gained - tau @ v) < 1e-5 * np.abs(tau * v).max()

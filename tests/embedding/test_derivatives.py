"""Derivatives of embedded dynamics are those of central differences."""

import numpy as np
import pytest

import delassus as dl
from embedding.mechanisms import belt, closed_states, differential, four_bar, geared
from trees import relative

pytestmark = pytest.mark.uncompiled

MECHANISMS = {
    "four-bar on a floating base": lambda: four_bar(base=True),
    "motors": lambda: geared(1),
    "belt": belt,
    "differential": differential,
    "four-bar leg": dl.robots.four_bar_leg,
    "parallel ankle": dl.robots.parallel_ankle,
}
STEP = 1e-6


def moved(emb, q, k, h):
    """q with independent velocity k for a time h, on the same branch."""
    unit = np.zeros(emb.nv)
    unit[k] = 1.0
    ahead = emb.model.integrate(q, h * emb.spanning_velocity(q, unit))
    return emb.spanning(emb.independent(ahead), near=ahead)


def pairs_around(emb, state, k):
    """Two states a step ahead and behind along y_k, for each of the three parts of a state."""
    q, v, x = state
    unit = np.eye(emb.nv)[k] * STEP
    return [
        ((moved(emb, q, k, STEP), v, x), (moved(emb, q, k, -STEP), v, x)),
        ((q, v + unit, x), (q, v - unit, x)),
        ((q, v, x + unit), (q, v, x - unit)),
    ]


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.parametrize("direction", ["forward", "inverse"])
def test_central_differences(name, direction):
    emb = dl.embed(MECHANISMS[name]())
    q, v, x, forces = (s[0] for s in closed_states(emb, 2, 1))
    f = dl.forward_dynamics if direction == "forward" else dl.inverse_dynamics
    df = getattr(dl, f"{direction}_dynamics_derivatives")
    found = df(emb, q, v, x, forces)
    expected = [np.empty((emb.nv, emb.nv)) for _ in range(3)]
    for k in range(emb.nv):
        pairs = pairs_around(emb, (q, v, x), k)
        for matrix, (one, other) in zip(expected, pairs, strict=True):
            change = f(emb, *one, forces) - f(emb, *other, forces)
            matrix[:, k] = change / (2 * STEP)
    for given, wanted in zip(found, expected, strict=True):
        assert relative(given, wanted) < 1e-6


def test_derivatives_of_batches_are_those_of_their_states():
    emb = dl.embed(dl.robots.four_bar_leg())
    q, v, tau, _ = closed_states(emb, 2, 3)
    whole = dl.forward_dynamics_derivatives(emb, q, v, tau)
    for i in range(3):
        one = dl.forward_dynamics_derivatives(emb, q[i], v[i], tau[i])
        for x, y in zip(whole, one, strict=True):
            assert relative(x[i], y) < 1e-12


@pytest.mark.parametrize("name", ["belt", "differential", "four-bar leg", "parallel ankle"])
def test_derivatives_of_the_traced_functions(name):
    emb = dl.embed(MECHANISMS[name]())
    q, v, tau, _ = (s[0] for s in closed_states(emb, 4, 1))
    if emb.model.nq != emb.model.nv:  # by coordinates, as the traced function has them
        emb = dl.embed(dl.reduce(emb.model, {"base_joint": [0, 0, 0, 0, 0, 0, 1]}))
        q, v, tau, _ = (s[0] for s in closed_states(emb, 4, 1))
    own = q[emb.y_places] if emb.takes_y else q
    traced = dl.symbolic(dl.forward_dynamics, emb)
    by_q, by_v, by_tau = (np.asarray(x) for x in _jacobians(traced, own, v, tau))
    found = dl.forward_dynamics_derivatives(emb, q, v, tau)
    along = np.eye(emb.nv) if emb.takes_y else emb.G(q)
    assert relative(found.dq, by_q @ along) < 1e-8
    assert relative(found.dv, by_v) < 1e-8
    assert relative(found.dtau, by_tau) < 1e-8


def _jacobians(traced, *at):
    """The derivatives of a traced function by its arguments."""
    casadi = pytest.importorskip("casadi")
    x = [casadi.SX.sym(f"x{k}", len(a)) for k, a in enumerate(at)]
    y = traced(*x)
    return casadi.Function("jacobians", x, [casadi.jacobian(y, own) for own in x])(*at)


HELD = {
    "four-bar on a floating base": (lambda: four_bar(base=True), [dl.Connect("tool")]),
    "motors": (lambda: geared(1), [dl.Weld("b4")]),
    "differential": (differential, [dl.Connect("hand")]),
}


@pytest.mark.parametrize("name", HELD)
def test_central_differences_of_dynamics_that_is_held(name):
    build, held = HELD[name]
    emb = dl.embed(build())
    cs = dl.Constraints(emb, held, stabilization=dl.Baumgarte(kp=30.0, kd=5.0))
    q, v, tau, forces = (s[0] for s in closed_states(emb, 2, 1))
    found = dl.constrained_dynamics_derivatives(emb, q, v, tau, cs, forces, tolerance=1e-12)

    def solve(*state):
        s = dl.constrained_dynamics(emb, *state, cs, forces, tolerance=1e-13)
        return np.concatenate([s.acceleration, s.multipliers])

    for k in range(emb.nv):
        pairs = pairs_around(emb, (q, v, tau), k)
        for by, multipliers_by, (one, other) in zip(found[:3], found[3:], pairs, strict=True):
            expected = (solve(*one) - solve(*other)) / (2 * STEP)
            column = np.concatenate([by[:, k], multipliers_by[:, k]])
            scale = max(np.abs(by).max(), np.abs(multipliers_by).max())
            assert np.abs(column - expected).max() < 2e-6 * scale

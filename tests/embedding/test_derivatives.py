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
        unit = np.eye(emb.nv)[k] * STEP
        ahead, behind = moved(emb, q, k, STEP), moved(emb, q, k, -STEP)
        pairs = [
            ((ahead, v, x), (behind, v, x)),
            ((q, v + unit, x), (q, v - unit, x)),
            ((q, v, x + unit), (q, v, x - unit)),
        ]
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

"""Embedded dynamics equals the dense evaluation on the spanning tree, and undoes itself."""

import numpy as np
import pytest

import delassus as dl
from embedding.mechanisms import (
    belt,
    closed_states,
    dense_acceleration,
    dense_forces,
    dense_G,
    dense_g,
    differential,
    four_bar,
    geared,
)
from trees import relative

pytestmark = pytest.mark.uncompiled

MECHANISMS = {
    "four-bar": four_bar,
    "four-bar on a floating base": lambda: four_bar(base=True),
    "four-bar closed by a point": lambda: four_bar(
        base=True, closed_by=dl.Connect("coupler_end", "rocker_end")
    ),
    "motors": lambda: geared(1),
    "oblique motors": lambda: geared(2, is_parallel=False),
    "uneven rotors": lambda: geared(3, is_round=False),
    "uneven oblique rotors": lambda: geared(4, is_parallel=False, is_round=False),
    "belt": belt,
    "differential": differential,
    "crank-rocker": dl.robots.crank_rocker,
    "four-bar leg": dl.robots.four_bar_leg,
    "parallel ankle": dl.robots.parallel_ankle,
    "four-bars": lambda: dl.robots.four_bars(2, 2),
    "belts": lambda: dl.robots.belts(1, 2),
    "chains with a rod": lambda: dl.robots.parallel_chains(5, 2, "rod"),
    "coupled chains": lambda: dl.robots.parallel_chains(5, 3, "coupling"),
    "mini cheetah": dl.robots.mini_cheetah,
    "mit humanoid": dl.robots.mit_humanoid,
    "leg": dl.robots.mit_humanoid_leg,
}
each_mechanism = pytest.mark.parametrize("name", MECHANISMS)


@pytest.fixture(scope="module")
def embeddings():
    made = {}

    def get(name):
        if name not in made:
            emb = dl.embed(MECHANISMS[name]())
            made[name] = emb, closed_states(emb, 0, 3)
        return made[name]

    return get


@each_mechanism
def test_forward_dynamics_is_the_dense_one(embeddings, name):
    emb, (q, v, tau, forces) = embeddings(name)
    expected = [dense_acceleration(emb, *state) for state in zip(q, v, tau, strict=True)]
    assert relative(dl.forward_dynamics(emb, q, v, tau), expected) < 1e-10
    states = zip(q, v, tau, forces, strict=True)
    expected = [dense_acceleration(emb, *state) for state in states]
    found = dl.forward_dynamics(emb, q, v, tau, forces)
    assert relative(found, expected) < 1e-10
    assert relative(dl.forward_dynamics(emb, q[0], v[0], tau[0], forces[0]), expected[0]) < 1e-10


@each_mechanism
def test_inverse_dynamics_is_the_dense_one_and_undoes_forward_dynamics(embeddings, name):
    emb, (q, v, a, forces) = embeddings(name)
    states = zip(q, v, a, forces, strict=True)
    expected = [dense_forces(emb, *state) for state in states]
    found = dl.inverse_dynamics(emb, q, v, a, forces)
    assert relative(found, expected) < 1e-10
    assert relative(dl.forward_dynamics(emb, q, v, found, forces), a) < 1e-9
    expected = [dense_forces(emb, *state) for state in zip(q, v, a, strict=True)]
    assert relative(dl.inverse_dynamics(emb, q, v, a), expected) < 1e-10


@each_mechanism
def test_the_mass_matrix_is_projected(embeddings, name):
    emb, (q, _, _, _) = embeddings(name)
    G = np.array([dense_G(emb, x) for x in q])
    M = dl.mass_matrix(emb.model, q)
    assert relative(dl.mass_matrix(emb, q), G.swapaxes(1, 2) @ M @ G) < 1e-10


@each_mechanism
def test_motions_fulfil_the_constraints(embeddings, name):
    emb, (q, v, _, _) = embeddings(name)
    G, g = emb.G(q), emb.g(q, v)
    assert relative(G, [dense_G(emb, x) for x in q]) < 1e-9
    assert relative(g, [dense_g(emb, x, yd) for x, yd in zip(q, v, strict=True)]) < 1e-8
    K, k = emb.K(q), emb.k(q, v)
    assert np.abs(K @ G).max() < 1e-9 * np.abs(K).max() * np.abs(G).max()
    missed = np.einsum("nij,nj->ni", K, g) - k
    assert np.abs(missed).max() < 1e-9 * max(np.abs(K).max() * np.abs(g).max(), 1.0)


@each_mechanism
def test_power_changes_energy(embeddings, name):
    """dE/dt along the motion is the power of the independent forces."""
    emb, (q, v, tau, _) = embeddings(name)
    a = dl.forward_dynamics(emb, q, v, tau)
    h = 1e-6

    def energy(t):
        x = dl.close_loops(
            emb.model,
            emb.model.integrate(q, t * emb.spanning_velocity(q, v)),
            emb.constraints,
            fixed=emb.independent_joints,
            tolerance=1e-12,
        )
        return dl.kinetic_energy(emb, x, v + t * a) + dl.potential_energy(emb, x)

    rate = (energy(h) - energy(-h)) / (2 * h)
    assert relative(rate, np.einsum("ni,ni->n", tau, v)) < 1e-4


@each_mechanism
def test_coordinates_are_told_apart_by_their_length(embeddings, name):
    emb, (q, v, tau, _) = embeddings(name)
    y = emb.independent(q)
    expected = dl.forward_dynamics(emb, q, v, tau)
    full = emb.spanning_velocity(q, v)
    G, g = emb.G(q), emb.g(q, v)
    wide = dl.forward_dynamics(emb, q, full, tau)
    assert relative(wide, np.einsum("nij,nj->ni", G, expected) + g) < 1e-9
    if emb.is_constant:
        assert np.abs(emb.constraints.position_error(emb.spanning(y))).max() < 1e-12
        assert relative(dl.forward_dynamics(emb, y, v, tau), expected) < 1e-12
    else:
        near = emb.spanning(y, near=q)
        assert np.abs(near - q).max() < 1e-9
        with pytest.raises(dl.ShapeError, match="independent entries"):
            dl.forward_dynamics(emb, q[:, :-1], v, tau)


@pytest.mark.slow
def test_cassie():
    """Its knees have rows that are nearly redundant, and its feet are closed by points."""
    model = dl.robots.load("cassie")
    emb = dl.embed(model)
    assert (emb.nv, model.nv) == (16, 44)
    rng = np.random.default_rng(0)
    q = emb.random_configuration(rng, 6)
    q[:, :7] = model.random_configuration(rng, 6)[:, :7]
    v, tau = rng.standard_normal((2, 6, emb.nv))
    forces = rng.standard_normal((6, model.n_bodies, 6))
    wide = np.zeros((6, model.nv))
    wide[:, emb.independent_dofs] = tau
    cs = dl.Constraints(model)
    dense = dl.constrained_dynamics(
        model, q, emb.spanning_velocity(q, v), wide, cs, forces, method="dense"
    )
    own = dense.acceleration[:, emb.independent_dofs]
    error = np.abs(dl.forward_dynamics(emb, q, v, tau, forces) - own).max()
    assert error < 1e-10 * np.abs(dense.acceleration).max()
    assert np.abs(emb.K(q) @ emb.G(q)).max() < 1e-12


@pytest.mark.parametrize("kind", ["rod", "coupling"])
def test_long_chains(kind):
    emb = dl.embed(dl.robots.parallel_chains(40, 6, kind))
    q = emb.random_configuration(0, 2)
    v, tau = np.random.default_rng(0).standard_normal((2, 2, emb.nv))
    expected = [dense_acceleration(emb, *state) for state in zip(q, v, tau, strict=True)]
    assert relative(dl.forward_dynamics(emb, q, v, tau), expected) < 1e-8

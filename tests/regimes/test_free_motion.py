"""Motion without contacts: free bodies at any spin and scale, passive chains and loops."""

import numpy as np
from scipy.spatial.transform import Rotation

import delassus as dl

from .cases import generated

AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def random_moments(rng):
    """Moments of inertia of a body of unit size: round, flat, long, or like a rod."""
    spread = rng.choice([1.0, 1e-2, 1e-6])
    a, b, c = spread ** rng.random(3)
    return np.array([b + c, c + a, a + b])


def spun(rng, integrator):
    """A free body that spins, some hundred steps of it; mass, moments, and the recording."""
    mass, size, dt = 10 ** rng.uniform(-9, 6), 10 ** rng.uniform(-3, 1), 10 ** rng.uniform(-5, -2)
    moments = mass * size**2 * random_moments(rng)
    turn = Rotation.random(random_state=rng).as_matrix()
    b = dl.ModelBuilder("body", gravity=(0, 0, 0))
    b.add_body("body", joint=dl.Free(), mass=mass, inertia=turn @ np.diag(moments) @ turn.T)
    model, spin = b.build(), rng.normal(size=3)
    spin *= 10 ** rng.uniform(-3, np.log10(3.0)) / dt / np.linalg.norm(spin)
    sim = dl.Simulator(model, ground=False, dt=dt, integrator=integrator)
    sim.reset(model.neutral(), np.concatenate([rng.normal(size=3), spin]))
    return turn @ np.diag(moments) @ turn.T, sim.rollout(300)


@generated(small=40, large=2000)
def test_free_bodies_keep_energy_and_momentum(seed):
    rng = np.random.default_rng(seed)
    inertia, rec = spun(rng, rng.choice(["midpoint", "euler"]))
    kinetic = rec.metrics["kinetic_energy"]
    np.testing.assert_allclose(kinetic, kinetic[0], rtol=1e-9)
    R = Rotation.from_quat(rec.q[[0, -1], 3:7]).as_matrix()
    first, last = (R[k] @ inertia @ rec.v[-k, 3:] for k in (0, 1))
    assert np.linalg.norm(last - first) < 1e-9 * np.linalg.norm(first)


def linkage(rng):
    """A random chain or tree of hinges and ball joints on the world, maybe with a rotor at its end.

    Masses are within a thousand of each other.
    """
    b, parents, scale = dl.ModelBuilder("linkage"), ["world"], 10 ** rng.uniform(-3, 3)
    length = 10 ** rng.uniform(-1.5, 0.5)
    for k in range(rng.integers(1, 6)):
        kind = rng.integers(3)
        joint = dl.Spherical() if kind == 0 else dl.Revolute(AXES[rng.integers(3)])
        mass, place = scale * 10 ** rng.uniform(-1.5, 1.5), length * rng.normal(size=3)
        parent = parents[-1] if rng.random() < 0.7 else parents[rng.integers(len(parents))]
        turn = Rotation.random(random_state=rng).as_matrix()
        inertia = mass * length**2 * turn @ np.diag(random_moments(rng) + 1e-3) @ turn.T
        com = 0.5 * length * rng.normal(size=3)
        b.add_body(f"link{k}", parent, joint, place, mass=mass, com=com, inertia=inertia)
        parents.append(f"link{k}")
    return b.build(), np.sqrt(9.81 / length)


@generated(small=10, large=500)
def test_passive_chains_keep_their_energy(seed):
    rng = np.random.default_rng(seed)
    model, rate = linkage(rng)
    dt = 10 ** rng.uniform(-2.7, -1.5) / rate
    q, v = model.random_configuration(rng), rate * rng.normal(size=model.nv)
    sim = dl.Simulator(model, ground=False, dt=dt)
    sim.reset(q, v)
    told = sim.rollout(500).metrics
    total = told["kinetic_energy"] + told["potential_energy"]
    assert np.abs(total - total[0]).max() < 1e-6 * told["kinetic_energy"].max()

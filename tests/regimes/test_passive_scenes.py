"""Random scenes without motors: their energy does not rise untold, at any scale.

Up to six bodies of random shapes fall, spin and bounce, some of them joined, most above the ground.
Sizes go from a millimetre to a kilometre. Speeds and steps are those of falling bodies of that size
(Froude's scaling), so that scenes of all sizes are as hard. Energy is that of the metrics, and its
measure is the kinetic energy of the start and what bodies have above the ground.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import delassus as dl

from .cases import generated, seeds

G = 9.81
GAIN = 1e-2  # of the measure
TOLD = 0.01  # of all scenes, at most


class Scene(NamedTuple):
    """A model, the settings of its simulator, a start, and how many steps."""

    model: dl.Model
    settings: dict
    q: np.ndarray
    v: np.ndarray
    steps: int
    size: float


def random_shape(rng: np.random.Generator, size: float) -> tuple[str, list[float], np.ndarray]:
    """Kind, sizes, and the inertia of a unit mass."""
    kind = rng.choice(["sphere", "box", "capsule", "cylinder"])
    if kind == "sphere":
        r = size * rng.uniform(0.2, 0.6)
        return kind, [r], 0.4 * r * r * np.eye(3)
    if kind == "box":
        x, y, z = size * rng.uniform(0.3, 1.1, 3)
        return kind, [x, y, z], np.diag([y * y + z * z, x * x + z * z, x * x + y * y]) / 12.0
    r, length = size * rng.uniform(0.15, 0.45), size * rng.uniform(0.3, 1.0)
    whole = length + r if kind == "capsule" else length
    across = 0.25 * r * r + whole * whole / 12.0
    return kind, [r, length], np.diag([across, across, 0.5 * r * r])


def random_scene(seed: int) -> Scene:
    """A scene by its number."""
    rng = np.random.default_rng(seed)
    size, mass = 10.0 ** rng.uniform(-3, 3), 10.0 ** rng.uniform(-3, 3)
    n, is_joined, has_ground = rng.integers(1, 7), rng.random() < 0.4, rng.random() < 0.85
    builder = dl.ModelBuilder("scene")
    parent = "world"
    for i in range(n):
        name = f"body{i}"
        kind, sizes, inertia = random_shape(rng, size)
        m = mass * 10.0 ** rng.uniform(-1.5, 1.5)
        joint, placement, hangs = dl.Free(), None, is_joined and i > 0 and rng.random() < 0.7
        if hangs:
            axis = rng.standard_normal(3)
            joint = dl.Revolute(axis) if rng.random() < 0.6 else dl.Spherical()
            placement = (0.0, 0.0, 1.1 * size)
        builder.add_body(
            name,
            parent if hangs else "world",
            joint,
            placement,
            mass=m,
            com=(0.0, 0.0, 1.1 * size) if hangs else (0.0, 0.0, 0.0),
            inertia=m * inertia,
        )
        at = dl.Transform(np.eye(3), [0.0, 0.0, 1.1 * size if hangs else 0.0])
        surface = dl.Surface(friction=rng.uniform(0.0, 1.0), restitution=rng.choice([0, 1, 0.5]))
        shape = dl.Shape(f"shape{i}", name, "collision", kind, at, sizes, surface=surface)
        builder.add_shape(shape)
        parent = name
    model = builder.build()
    q, v = model.neutral(), np.zeros(model.nv)
    speed, spin = np.sqrt(G * size), 10.0 ** rng.uniform(-1, 0.7) * np.sqrt(G / size)
    height = 1.0
    for body in model.bodies:
        joint = body.joint
        if joint.nq == 7:
            q[joint.q] = [*(0.3 * size * rng.standard_normal(2)), height * size, 0, 0, 0, 1]
            if not is_joined:
                x = rng.standard_normal(4)
                q[joint.q][3:] = x / np.linalg.norm(x)
            v[joint.v][:3] = 0.5 * speed * rng.standard_normal(3)
            v[joint.v][3:] = spin * rng.standard_normal(3)
        else:
            v[joint.v] = 0.5 * spin * rng.standard_normal(joint.nv)
        height += 2.3
    dt = 10.0 ** rng.uniform(-4, np.log10(5e-3)) * np.sqrt(size)
    settings = {
        "dt": dt,
        "ground": bool(has_ground),
        "friction": rng.uniform(0.0, 1.0),
        "restitution": rng.choice([0.0, 1.0, rng.random()]),
        "impact": str(rng.choice(["newton", "newton", "poisson", "sequential"])),
    }
    steps = int(min(1500, 3.0 * np.sqrt(size) / dt))
    return Scene(model, settings, q, v, steps, size)


class Outcome(NamedTuple):
    """By how much energy rises, at most, by its measure; what was told, by kinds."""

    gain: float
    kinds: tuple[str, ...]
    recording: dl.Recording


def run(scene: Scene) -> Outcome:
    """Simulate a scene."""
    sim = dl.Simulator(scene.model, on_error="record", threads=1, **scene.settings)
    sim.reset(scene.q, scene.v)
    start = dl.kinetic_energy(scene.model, sim.q, sim.v)
    falls = dl.potential_energy(scene.model, sim.q)
    mass = sum(body.inertia.mass for body in scene.model.bodies)
    rec = sim.rollout(scene.steps)
    energy = rec.metrics["kinetic_energy"] + rec.metrics["potential_energy"]
    measure = start + max(falls, mass * G * scene.size)
    energies = np.concatenate([[start + falls], energy[np.isfinite(energy)]])
    gain = (energies - np.minimum.accumulate(energies)).max() / measure
    kinds = tuple(sorted({failure.kind for failure in sim.failures}))
    if not np.isfinite(energy).all():
        assert kinds, "not a number, and nothing is told"
    return Outcome(float(gain), kinds, rec)


@generated(40, 2000)
def test_no_energy_from_nothing(seed):
    outcome = run(random_scene(seed))
    assert outcome.gain < GAIN or outcome.kinds


def test_few_scenes_tell_anything():
    tried = seeds(100, 1000)
    told = [seed for seed in tried if run(random_scene(seed)).kinds]
    assert len(told) <= TOLD * len(tried), told

"""Random sets of constraints on random trees, over scales of mass, size and coefficients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

import delassus as dl
from trees import AXES, random_placement

TYPES = [
    lambda rng: dl.Revolute(rng.standard_normal(3)),
    lambda rng: dl.Prismatic(rng.standard_normal(3)),
    lambda rng: dl.Revolute(AXES[rng.integers(4)]),
    lambda rng: dl.Prismatic(AXES[rng.integers(4)]),
    lambda rng: dl.Spherical(),
    lambda rng: dl.Universal([1, 0, 0], [0, 1, 0]),
    lambda rng: dl.Planar(rng.standard_normal(3)),
]


class Case(NamedTuple):
    """Constraints, a state, and what rows are asked for."""

    constraints: dl.Constraints
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    desired: np.ndarray


def scale(rng, decades):
    return 10.0 ** rng.uniform(-decades, decades)


def random_case(seed: int, only_world: bool = False) -> Case:
    """`only_world`: constraints are between a body and the world, as some methods take."""
    rng = np.random.default_rng(seed)
    # Half of the cases are ordinary; scales of the others are up to 1e12 from end to end.
    decades = 0.0 if rng.random() < 0.5 else rng.uniform(0.0, 6.0)
    masses, sizes, rows = decades * (rng.random(3) < 0.5)
    sizes = min(sizes, 3.0)
    size = scale(rng, sizes)
    free = rng.random() < 0.4
    builder = dl.ModelBuilder("set", gravity=rng.standard_normal(3) * rng.choice([0.0, 5.0]))
    count = int(rng.integers(2, 6))
    for i in range(count):
        parent = "world" if i == 0 or rng.random() < 0.2 else f"b{rng.integers(i)}"
        kind = dl.Free() if i == 0 and free else TYPES[rng.integers(len(TYPES))](rng)
        mass, own = scale(rng, masses), size * rng.uniform(0.3, 1.5)
        points = rng.normal(size=(6, 3)) * 0.3 * own
        d = points - points.mean(0)
        matrix = mass / 6 * (np.sum(d * d) * np.eye(3) - d.T @ d)
        builder.add_body(
            f"b{i}", parent, kind, random_placement(rng, own),
            inertia=dl.Inertia.of(mass, points.mean(0), matrix),
        )  # fmt: skip
        turn = Rotation.random(random_state=rng.integers(2**31)).as_matrix()
        builder.add_frame(f"f{i}", f"b{i}", dl.Transform(turn, own * rng.standard_normal(3)))
    model = builder.build()
    chosen = [one(rng, model, rows, only_world) for _ in range(rng.integers(1, 4))]
    kind = rng.integers(4)
    if kind == 0:
        chosen.append(chosen[0])  # redundant
    cs = dl.Constraints(model, chosen)
    q = model.random_configuration(rng)
    v = rng.standard_normal(model.nv) * rng.choice([0.0, 1.0])
    M = dl.mass_matrix(model, q)
    tau = rng.standard_normal(model.nv) * np.sqrt(np.diag(M)) * rng.choice([0.0, 1.0])
    desired = np.zeros(cs.size)
    if rng.random() < 0.3:  # rows that are redundant may then contradict each other
        desired = rng.standard_normal(cs.size) * cs.scales.lengths
    return Case(cs, q, v, tau, desired)


def one(rng, model, decades, only_world):
    """A constraint of any kind."""
    frames = rng.permutation(len(model.bodies))
    first = f"f{frames[0]}"
    second = "world" if only_world or len(frames) < 2 or rng.random() < 0.5 else f"f{frames[1]}"
    simple = [j.name for j in model.joints if j.type.nv == 1]
    draw = rng.integers(6)
    if draw == 0:
        return dl.Weld(first, second)
    if draw == 1 and not only_world:
        return dl.Closure(dl.Revolute([0.0, 1.0, 0.0]), first, second)
    if draw == 2 and not only_world:
        return dl.Distance(first, second, 1.0)
    if draw == 3 and simple and not only_world:
        names = rng.permutation(simple)[: rng.integers(1, 4)]
        return dl.Coupling({str(name): scale(rng, decades) for name in names})
    if draw == 4 and len(simple) > 1 and not only_world:
        names = rng.permutation(simple)
        return dl.Gear(str(names[0]), str(names[1]), scale(rng, decades))
    return dl.Connect(first, second)

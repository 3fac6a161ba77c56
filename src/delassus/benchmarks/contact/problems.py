"""The problems, by kinds. They are random, and the same ones for a seed.

| kind | what | rows |
| --- | --- | --- |
| box at rest, box sliding | a box on four corners | 12 |
| feet at rest, feet sliding | a trunk on two feet, each by a hinge and on four corners | 34 |
| stack | three to five boxes on each other, of one mass | 36 to 60 |
| heavy stack | three to five boxes, the one on top 10 to 1000 times as heavy, pushed | 36 to 60 |
| random | bodies that touch each other and the ground anywhere | 24 to 60 |
| mass ratios | such bodies with masses from 1 to 1000 | 24 to 60 |
| mixed | bodies with joints (some redundant), limits, bounded rows and contacts | 20 to 50 |
| large | many random bodies | 120 to 240 |
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from ..measuring.settings import Settings
from .bodies import Bodies, Sample, at_point, corners, sample

Generator = np.random.Generator
_HINGE = np.array([0, 1, 2, 3, 5])  # rows of a hinge about y: the point, and two axes


def _friction(rng: Generator) -> float:
    return rng.uniform(0.3, 0.9)


def _direction(rng: Generator) -> np.ndarray:
    angle = rng.uniform(0.0, 2.0 * np.pi)
    return np.array([np.cos(angle), np.sin(angle)])


def box(rng: Generator, speed: float) -> Sample:
    """A box on four corners, which moves along the ground and turns."""
    bodies = Bodies(np.array([10.0 ** rng.uniform(-1.0, 1.0)]))
    half = rng.uniform(0.05, 0.2, 3)
    bodies.contacts = [bodies.rows((0, at_point(r))) for r in corners(half)]
    u = bodies.falling()
    u[:2] = speed * _direction(rng)
    u[5] = speed * rng.standard_normal()
    return sample(bodies, u, _friction(rng), rng)


def feet(rng: Generator, speed: float) -> Sample:
    """A trunk on two feet: hinges at the ankles, four contacts a foot."""
    bodies = Bodies(np.array([rng.uniform(20.0, 60.0), 1.0, 1.0]), size=0.4)
    for foot, side in ((1, 0.1), (2, -0.1)):
        ankle = np.array([rng.uniform(-0.05, 0.05), side, -rng.uniform(0.7, 0.9)])
        blocks = [np.vstack([at_point(r), np.eye(6)[3:]])[_HINGE] for r in (ankle, (0, 0, 0.05))]
        bodies.joints.append(bodies.rows((0, blocks[0]), (foot, -blocks[1])))
        bodies.contacts += [bodies.rows((foot, at_point(r))) for r in corners((0.1, 0.05, 0.05))]
    u = bodies.falling()
    for body in range(3):
        u[6 * body : 6 * body + 2] = speed * _direction(rng)
    return sample(bodies, u, _friction(rng), rng)


def stack(rng: Generator, height: int, ratio: float, speed: float) -> Sample:
    """Boxes on each other, four contacts a pair: redundant, and hard where masses are far apart."""
    masses = np.ones(height)
    masses[-1] = ratio
    bodies, up = Bodies(masses), np.array([0.0, 0.0, 0.2])
    for k in range(height):
        for r in corners((0.1, 0.1, 0.1)):
            below = [] if k == 0 else [(k - 1, -at_point(r + up))]
            bodies.contacts.append(bodies.rows((k, at_point(r)), *below))
    u = bodies.falling()
    along = speed * _direction(rng)
    u[0::6], u[1::6] = along
    return sample(bodies, u, _friction(rng), rng)


def scattered(rng: Generator, contacts: int, spread: float = 3.0) -> Sample:
    """Bodies with masses 1 to `spread`, a third as many as contacts; half of these are pairs."""
    count = max(1, contacts // 3)
    bodies = Bodies(spread ** rng.uniform(0.0, 1.0, count))
    _touch(rng, bodies, contacts)
    return sample(bodies, _thrown(rng, count), _friction(rng), rng)


def mixed(rng: Generator) -> Sample:
    """Bodies with joints, limits, bounded rows and contacts in random places."""
    count = rng.integers(3, 6)
    bodies = Bodies(10.0 ** rng.uniform(-0.5, 0.5, count))
    for _ in range(3):
        a, b = rng.choice(count, 2, replace=False)
        block = np.vstack([at_point(rng.uniform(-0.2, 0.2, 3)), np.eye(6)[3:]])
        block = block[: rng.integers(1, 6)]
        bodies.joints.append(bodies.rows((a, block), (b, -block)))
    bodies.joints.append(bodies.joints[0])  # redundant rows
    for rows in (bodies.limits, bodies.bounded):
        for _ in range(3):
            rows.append(bodies.rows((rng.integers(count), rng.standard_normal((1, 6)))))
    bodies.bounds = rng.uniform(0.01, 0.3, 3)
    _touch(rng, bodies, int(rng.integers(3, 9)))
    return sample(bodies, _thrown(rng, count), _friction(rng), rng)


def _touch(rng: Generator, bodies: Bodies, contacts: int) -> None:
    """Contacts of random points, with the ground and with other bodies in turn."""
    count = len(bodies.masses)
    for c in range(contacts):
        a, b = rng.integers(count, size=2)
        pairs = [(a, at_point(rng.uniform(-0.3, 0.3, 3)))]
        if a != b and c % 2:
            pairs.append((b, -at_point(rng.uniform(-0.3, 0.3, 3))))
        bodies.contacts.append(bodies.rows(*pairs))


def _thrown(rng: Generator, count: int) -> np.ndarray:
    u = 0.3 * rng.standard_normal(6 * count)
    u[2::6] -= 0.3
    return u


def _height(rng: Generator) -> int:
    return int(rng.integers(3, 6))


KINDS: dict[str, Callable[[Generator], Sample]] = {
    "box at rest": lambda rng: box(rng, 0.0),
    "box sliding": lambda rng: box(rng, 0.5),
    "feet at rest": lambda rng: feet(rng, 0.0),
    "feet sliding": lambda rng: feet(rng, 0.5),
    "stack": lambda rng: stack(rng, _height(rng), 1.0, 0.0),
    "heavy stack": lambda rng: stack(rng, _height(rng), 10.0 ** rng.uniform(1.0, 3.0), 0.1),
    "random": lambda rng: scattered(rng, int(rng.integers(8, 21))),
    "mass ratios": lambda rng: scattered(rng, int(rng.integers(8, 21)), 1000.0),
    "mixed": mixed,
    "large": lambda rng: scattered(rng, int(rng.integers(40, 81))),
}


@lru_cache(maxsize=32)
def samples(kind: str, count: int, seed: int) -> tuple[Sample, ...]:
    """The first problems of a kind."""
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    return tuple(KINDS[kind](rng) for _ in range(count))


def samples_of(kind: str, settings: Settings) -> tuple[Sample, ...]:
    """As many problems of a kind as the settings ask for."""
    return samples(kind, settings.contact_problems, settings.seed)

"""Rigid bodies and rows that touch them: what the problems of this benchmark are made of.

    D = J M^-1 J^T        v_f = J u

u has the twists of all bodies, the velocity of the centre before the angular velocity.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ... import contact

GRAVITY, STEP = 9.81, 0.01  # m/s^2, s
_NEARBY = 0.05  # change of the twists from one problem to the next, of their size


def at_point(r: Sequence[float]) -> np.ndarray:
    """The velocity of a point of a body, by its twist: (3, 6)."""
    x, y, z = r
    return np.array([[1, 0, 0, 0, z, -y], [0, 1, 0, -z, 0, x], [0, 0, 1, y, -x, 0]], float)


def corners(half: Sequence[float]) -> list[np.ndarray]:
    """The four lower corners of a box."""
    return [np.array([x, y, -half[2]]) for x in (-half[0], half[0]) for y in (-half[1], half[1])]


@dataclass
class Bodies:
    """Boxes with masses and twists, and rows between them and the ground, (count, 6 n) each."""

    masses: np.ndarray
    size: float = 0.2  # edge of a box, m
    joints: list[np.ndarray] = field(default_factory=list)
    limits: list[np.ndarray] = field(default_factory=list)
    bounded: list[np.ndarray] = field(default_factory=list)
    contacts: list[np.ndarray] = field(default_factory=list)
    bounds: Sequence[float] = ()

    def rows(self, *pairs: tuple[int, np.ndarray]) -> np.ndarray:
        """Rows that act on some bodies, by pairs of a body and its block."""
        J = np.zeros((len(np.atleast_2d(pairs[0][1])), 6 * len(self.masses)))
        for body, block in pairs:
            J[:, 6 * body : 6 * body + 6] += block
        return J

    def falling(self) -> np.ndarray:
        """Twists after a step of free fall from rest."""
        u = np.zeros(6 * len(self.masses))
        u[2::6] = -GRAVITY * STEP
        return u

    def problem(self, u: np.ndarray, friction: float) -> contact.Problem:
        """The dual problem for these twists."""
        J = _stacked((self.joints, self.limits, self.bounded, self.contacts), len(u))
        turning = self.masses * self.size**2 / 6.0
        inertia = np.repeat(np.stack([self.masses, turning], axis=1), 3, axis=1).ravel()
        D = (J / inertia) @ J.T
        counts = (sum(map(len, part)) for part in (self.joints, self.limits))
        return contact.Problem(0.5 * (D + D.T), J @ u, *counts, self.bounds, friction)


def _stacked(parts: Iterable[Sequence[np.ndarray]], columns: int) -> np.ndarray:
    return np.vstack([np.zeros((0, columns)), *(rows for part in parts for rows in part)])


@dataclass(frozen=True)
class Sample:
    """A problem, and one that was solved a moment before: the same rows, other twists."""

    problem: contact.Problem
    before: contact.Problem


def sample(bodies: Bodies, u: np.ndarray, friction: float, rng: np.random.Generator) -> Sample:
    """A problem of bodies with twists u, and its neighbour."""
    change = _NEARBY * np.sqrt(np.mean(u * u)) * rng.standard_normal(len(u))
    return Sample(bodies.problem(u, friction), bodies.problem(u + change, friction))


def without_joints(given: contact.Problem) -> contact.Problem:
    """The problem of the other rows, with joints eliminated: what a robot's Delassus matrix is."""
    j = given.n_joint_rows
    D, v = given.delassus, given.free_velocity
    X = np.linalg.pinv(D[:j, :j], rcond=1e-12, hermitian=True) @ np.c_[D[:j, j:], v[:j]]
    left = D[j:, j:] - D[j:, :j] @ X[:, :-1]
    free = v[j:] - D[j:, :j] @ X[:, -1]
    bounds, friction = given.bounds, given.friction
    return contact.Problem(0.5 * (left + left.T), free, 0, given.n_limit_rows, bounds, friction)

"""Dual problems for tests: boxes on planes and on each other, random bodies, all kinds of rows."""

from __future__ import annotations

import numpy as np

from delassus.contact import Problem


def cross(r):
    return np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])


def at_point(r):
    """The velocity of a point of a body, in world axes, by its twist."""
    return np.hstack([np.eye(3), -cross(np.asarray(r))])


def corners(half):
    return [np.array([x, y, -half[2]]) for x in (-half[0], half[0]) for y in (-half[1], half[1])]


class System:
    """Bodies with twists, and rows that touch them."""

    def __init__(self, masses, size=0.2):
        masses = np.asarray(masses, float)
        inertia = masses[:, None] * np.array([1, 1, 1] + [size**2 / 6] * 3)
        self.inverse = 1.0 / inertia.ravel()
        self.n = len(masses)
        self.joints, self.limits, self.bounded, self.contacts = [], [], [], []

    def row(self, blocks):
        J = np.zeros((np.atleast_2d(blocks[0][1]).shape[0], 6 * self.n))
        for body, block in blocks:
            J[:, 6 * body : 6 * body + 6] += block
        return J

    def problem(self, twist, friction=0.8, bounds=(), **more):
        parts = [self.joints, self.limits, self.bounded, self.contacts]
        J = np.vstack([np.zeros((0, 6 * self.n)), *(x for part in parts for x in part)])
        D = (J * self.inverse) @ J.T
        rows = [sum(x.shape[0] for x in part) for part in parts]
        return Problem(0.5 * (D + D.T), J @ twist, rows[0], rows[1], bounds, friction, **more)


def box_on_plane(push=(0.0, 0.0, -0.01), spin=(0.0, 0.0, 0.0), mu=0.5, mass=1.0):
    s = System([mass])
    s.contacts += [s.row([(0, at_point(r))]) for r in corners((0.1, 0.1, 0.1))]
    return s.problem(np.concatenate([push, spin]), mu)


def stack(masses, push=0.0, dt=1e-2, mu=0.6):
    """Boxes on each other, four contacts a pair: redundant, and hard where masses are far apart."""
    s, n = System(masses), len(masses)
    for k in range(n):
        for r in corners((0.1, 0.1, 0.1)):
            below = [] if k == 0 else [(k - 1, -at_point(r + np.array([0.0, 0.0, 0.2])))]
            s.contacts.append(s.row([(k, at_point(r)), *below]))
    twist = np.zeros(6 * n)
    twist[2::6] = -9.81 * dt
    twist[0::6] = push
    return s.problem(twist, mu)


def mixed(rng, n_bodies=4, n_joints=3, n_limits=2, n_bounded=2, n_contacts=5, ratio=10.0, mu=0.7):
    """Bodies with joints (some redundant), limits, bounded rows and contacts in random places."""
    s = System(ratio ** rng.uniform(-0.5, 0.5, n_bodies))
    for _ in range(n_joints):
        a, b = rng.integers(n_bodies, size=2)
        rows = rng.integers(1, 6)
        block = np.vstack([at_point(rng.uniform(-0.2, 0.2, 3)), np.eye(6)[3:]])[:rows]
        blocks = [(a, block)]
        if a != b:
            blocks.append((b, -block))
        s.joints.append(s.row(blocks))
    if n_joints > 1:
        s.joints.append(s.joints[0])  # a redundant one
    for rows, count in ((s.limits, n_limits), (s.bounded, n_bounded)):
        for _ in range(count):
            rows.append(s.row([(rng.integers(n_bodies), rng.standard_normal((1, 6)))]))
    for c in range(n_contacts):
        a, b = rng.integers(n_bodies, size=2)
        blocks = [(a, at_point(rng.uniform(-0.2, 0.2, 3)))]
        if a != b and c % 2:
            blocks.append((b, -at_point(rng.uniform(-0.2, 0.2, 3))))
        s.contacts.append(s.row(blocks))
    twist = rng.standard_normal(6 * n_bodies) * 0.3
    twist[2::6] -= 0.3
    return s.problem(twist, mu, rng.uniform(0.01, 0.3, n_bounded))

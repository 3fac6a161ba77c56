"""Systems of rigid bodies for tests and measurements, and their dense matrices in NumPy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Bodies(NamedTuple):
    """Inertias, and elements of rows as pairs of bodies and of Jacobians."""

    inertias: np.ndarray
    joints: list
    cones: list

    def dense(self, elements):
        """The Jacobian of elements as one matrix."""
        n = len(self.inertias)
        rows = [np.zeros((0, 6 * n))]
        for bodies, jacobian in elements:
            matrix = np.zeros((jacobian.shape[1], 6 * n))
            for body, block in zip(bodies, jacobian, strict=True):
                if body >= 0:
                    matrix[:, 6 * body : 6 * body + 6] = block
            rows.append(matrix)
        return np.vstack(rows)

    @property
    def M(self):
        n = len(self.inertias)
        M = np.zeros((n, 6, n, 6))
        M[np.arange(n), :, np.arange(n)] = self.inertias
        return M.reshape(6 * n, 6 * n)

    @property
    def J(self):
        return self.dense(self.joints)

    @property
    def C(self):
        return self.dense(self.cones)


def cross(r):
    """[r], so that [r] x is the cross product."""
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


def point_rows(at, center):
    """Velocity of a point of a body, from its velocities: linear of its centre, then angular."""
    return np.hstack([np.eye(3), -cross(at - center)])


class Builder:
    """Bodies at random positions in space, with joints and contacts between any of them."""

    def __init__(self, rng, centers, masses=None):
        self.rng, self.centers = rng, np.asarray(centers, float)
        masses = np.ones(len(self.centers)) if masses is None else masses
        self.inertias = np.array([mass * self.unit_inertia() for mass in masses])
        self.joints, self.cones = [], []

    def unit_inertia(self):
        """Inertia of a body of mass 1, a few centimetres large."""
        axes = np.linalg.qr(self.rng.standard_normal((3, 3)))[0]
        M = np.eye(6)
        M[3:, 3:] = axes @ np.diag(self.rng.uniform(0.002, 0.01, 3)) @ axes.T
        return M

    def _ends(self, a, b, at, directions, with_turning):
        """Rows of b less rows of a: velocities of a point along directions, then about them."""
        blocks = []
        for body, sign in ((a, -1.0), (b, 1.0)):
            center = self.centers[body] if body >= 0 else np.zeros(3)
            rows = point_rows(at, center)
            if with_turning is None:
                blocks.append(sign * directions @ rows)
            else:
                turning = np.hstack([np.zeros((len(with_turning), 3)), with_turning])
                blocks.append(sign * np.vstack([rows, turning]))
        return (a, b), np.array(blocks)

    def hinge(self, a, b, at=None, axis=None):
        """Five rows: no motion of a point, no turning but about an axis. Body -1 is the world."""
        near = [self.centers[body] for body in (a, b) if body >= 0]
        at = np.mean(near, axis=0) if at is None else np.asarray(at, float)
        axis = self.rng.standard_normal(3) if axis is None else axis
        others = np.linalg.svd(np.asarray(axis, float)[None])[2][1:]
        self.joints.append(self._ends(a, b, at, None, others))

    def contact(self, a, b=-1):
        """Three rows: the velocity of a point of one body against another or the world."""
        at = self.centers[a] + 0.05 * self.rng.standard_normal(3)
        frame = np.linalg.qr(self.rng.standard_normal((3, 3)))[0]
        self.cones.append(self._ends(b, a, at, frame, None))

    def limit(self, a, b=-1):
        """One row: the turning of one body against another about an axis."""
        axis = np.concatenate([np.zeros(3), self.rng.standard_normal(3)])
        self.cones.append(((b, a), np.array([[-axis], [axis]])))

    def coupling(self, *bodies):
        """One row of up to four bodies."""
        self.cones.append((bodies, self.rng.standard_normal((len(bodies), 1, 6))))

    def build(self):
        return Bodies(self.inertias, self.joints, self.cones)


def chain_of_loops(n_bodies, rng, masses=None):
    """A hanging chain whose bodies close a loop of four with the next ones; its first is held."""
    centers = np.cumsum(rng.uniform(0.05, 0.15, (n_bodies, 3)), axis=0)
    builder = Builder(rng, centers, masses)
    builder.hinge(-1, 0, axis=(0, 1, 0))
    for i in range(1, n_bodies):
        builder.hinge(i - 1, i, axis=(0, 1, 0))
        if i % 4 == 3:
            builder.hinge(i - 3, i, axis=(0, 1, 0))
    return builder


def legged(n_bodies, n_joints, rng):
    """A free body with legs of loops, of so many bodies and hinges in all."""
    builder = Builder(rng, rng.uniform(-0.5, 0.5, (n_bodies, 3)))
    legs = 6
    ends = [0] * legs
    for i in range(1, n_bodies):
        builder.hinge(ends[i % legs], i)
        ends[i % legs] = i
    loops = n_joints - (n_bodies - 1)
    for k in range(loops):
        i = n_bodies - 1 - (k * 3) % (n_bodies - 20)
        builder.hinge(max(i - 2 * legs, 0), i)
    return builder, ends


# --- systems by name ------------------------------------------------------------------------------


def _touch(builder, bodies):
    """A contact with the world, one between two bodies, a limit and a coupling."""
    first, *_, last = bodies
    builder.contact(first)
    builder.contact(last, first)
    builder.contact(last)
    builder.limit(last)
    builder.coupling(*bodies)
    return builder.build()


def tree(rng):
    """A free tree of hinges."""
    builder = Builder(rng, rng.uniform(-0.5, 0.5, (9, 3)))
    for i in range(1, 9):
        builder.hinge(rng.integers(i), i)
    return _touch(builder, (2, 5, 8))


def loops(rng):
    """A chain of loops that hangs from the world, all axes parallel: many rows are redundant."""
    return _touch(chain_of_loops(8, rng), (1, 4, 7))


def space_loops(rng):
    """Loops with axes in all directions, and two attachments to the world."""
    builder = Builder(rng, rng.uniform(-0.5, 0.5, (8, 3)))
    for i in range(1, 8):
        builder.hinge(i - 1, i)
    builder.hinge(-1, 3)
    builder.hinge(2, 6)
    builder.hinge(7, -1)
    return _touch(builder, (0, 5))


def twice(rng):
    """A chain of loops, of which each joint stands there twice."""
    builder = chain_of_loops(6, rng)
    builder.joints *= 2
    return _touch(builder, (2, 5))


def massless(rng):
    """A chain of loops in which bodies between others have no mass."""
    masses = np.ones(8)
    masses[[2, 5]] = 0.0
    return _touch(chain_of_loops(8, rng, masses), (3, 7))


def heavy(rng):
    """Masses of 1e-3 to 1e3, light ones between heavy ones."""
    builder = Builder(rng, rng.uniform(-0.5, 0.5, (8, 3)), [1e3, 1e-3] * 4)
    for i in range(1, 8):
        builder.hinge(i - 1, i)
    builder.hinge(1, 6)
    return _touch(builder, (2, 7))


def couplings(rng):
    """Joints of rows that three or four bodies share, as gears have."""
    builder = Builder(rng, rng.uniform(-0.5, 0.5, (7, 3)))
    for i in range(1, 7):
        builder.hinge(i - 1, i)
    builder.joints.append(((0, 2, 4, 6), rng.standard_normal((4, 2, 6))))
    builder.joints.append(((5, -1, 3), rng.standard_normal((3, 1, 6))))
    return _touch(builder, (1, 4, 5, 6))


def separate(rng):
    """Bodies without joints."""
    return _touch(Builder(rng, rng.uniform(-0.5, 0.5, (4, 3))), (0, 1, 3))


SYSTEMS = {
    f.__name__: f for f in (tree, loops, space_loops, twice, massless, heavy, couplings, separate)
}


def system(name, seed=0):
    return SYSTEMS[name](np.random.default_rng(seed))


def solve_exactly(A, B):
    """A^-1 B in more digits than doubles have, for a matrix that is symmetric and definite."""
    A, X = np.array(A, np.longdouble), np.array(B, np.longdouble)
    n = len(A)
    for k in range(n):
        s = A[k + 1 :, k] / A[k, k]
        A[k + 1 :] -= np.outer(s, A[k])
        X[k + 1 :] -= np.multiply.outer(s, X[k])
    for k in range(n - 1, -1, -1):
        X[k] = (X[k] - A[k, k + 1 :] @ X[k + 1 :]) / A[k, k]
    return X

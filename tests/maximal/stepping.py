"""Time steps of a mechanism on the ground, one after the other: the dual problem, and its solution.

Semi-implicit Euler, as Eq. (10). It is what a simulator does, in a few lines of Python.
"""

from __future__ import annotations

import numpy as np

from delassus import contact
from delassus.maximal import Contact, MaximalSystem, Stabilization


def turned(quaternion, rotation):
    """A quaternion (x, y, z, w) turned by a rotation vector in world axes."""
    angle = np.linalg.norm(rotation)
    axis = rotation / angle if angle > 0 else rotation
    a, w = np.sin(0.5 * angle) * axis, np.cos(0.5 * angle)
    b, v = quaternion[:3], quaternion[3]
    found = np.array([*(w * b + v * a + np.cross(a, b)), w * v - a @ b])
    return found / np.linalg.norm(found)


def rotated(quaternion, x):
    t = 2.0 * np.cross(quaternion[:3], x)
    return np.asarray(x) + quaternion[3] * t + np.cross(quaternion[:3], t)


class World:
    """Bodies of a model, and points of them that touch the plane through 0 with a normal."""

    def __init__(self, model, q, v=None, points=(), dt=1e-3, mu=0.8, restitution=0.0, **more):
        self.system = MaximalSystem(model, contact_slots=max(len(points), 1))
        v = np.zeros(model.nv) if v is None else v
        self.poses, self.twists = self.system.state(q, v)
        self.points, self.dt, self.mu, self.restitution = points, dt, mu, restitution
        self.normal = np.array([0.0, 0.0, 1.0])
        self.options = {"solver": "auto", "tolerance": 1e-9}
        self.stabilization = Stabilization(**more)
        self.coms = np.array([b.inertia.center for b in model.bodies])
        self.last, self.reactions, self.solution = {}, None, None
        self.near, self.gains, self.target = np.array(q, float), None, np.array(q, float)
        self.margin = 1e-3

    def contacts(self):
        """Contacts of points near the plane, with their number."""
        found = []
        for k, (name, at) in enumerate(self.points):
            i = self.system.model.body_index(name)
            place = self.poses[i, :3] + rotated(self.poses[i, 3:], np.asarray(at) - self.coms[i])
            distance = float(self.normal @ place)
            if distance < self.margin:
                found.append((k, self.contact(name, place, distance)))
        return found

    def contact(self, name, place, distance):
        return Contact(
            "world", name, place - distance * self.normal, normal=self.normal, distance=distance,
            friction=self.mu, restitution=self.restitution,
        )  # fmt: skip

    def servo(self):
        """Forces of springs and dampers at the start of a step."""
        if self.gains is None:
            return {}
        q, _ = self.system.coordinates(self.poses, self.twists, self.near)
        self.near = q
        error = self.system.model.difference(q, self.target)
        return {"tau": self.gains[:, 0] * error, "gains": self.gains, "near": q}

    def problem(self, wrenches=None):
        found = self.contacts()
        dual = self.system.dual_problem(
            self.poses, self.twists, self.dt, contacts=[c for _, c in found], wrenches=wrenches,
            stabilization=self.stabilization, **self.servo(),
        )  # fmt: skip
        return dual, [k for k, _ in found]

    def warm(self, dual, touching):
        """The last reactions, of contacts by their number, times 0.9."""
        start = np.zeros(dual.size)
        if self.reactions is not None:
            m = dual.n_joint_rows
            start[:m] = 0.9 * self.reactions[:m]
        first = dual.size - 3 * len(touching)
        for c, k in enumerate(touching):
            start[first + 3 * c : first + 3 * c + 3] = 0.9 * self.last.get(k, np.zeros(3))
        return start

    def step(self, wrenches=None):
        dual, touching = self.problem(wrenches)
        if dual.size:
            start = self.warm(dual, touching)
            self.solution = contact.solve(dual.problem, warm_start=start, **self.options)
            self.reactions = self.solution.reactions
            first = dual.size - 3 * len(touching)
            each = self.reactions[first:].reshape(-1, 3)
            self.last = dict(zip(touching, each, strict=True))
            self.twists = dual.twists(self.reactions)
        else:
            self.twists = dual.twists(np.zeros(0))
        self.move()
        return self.solution

    def move(self):
        for i in range(len(self.poses)):
            self.poses[i, :3] += self.dt * self.twists[i, :3]
            self.poses[i, 3:] = turned(self.poses[i, 3:], self.dt * self.twists[i, 3:])

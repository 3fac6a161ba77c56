"""Forces as they are drawn: arrows of contacts and of joints, cones of friction, in world axes.

| group | what it has |
| --- | --- |
| "contact forces" | on the bodies that are pushed; between two bodies, on the second |
| "friction cones" | where contact forces can point to |
| "joint reactions" | on the body that a joint carries; the force only, not the moment |
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..maximal import MaximalSystem
from ..model.model import Model
from ..model.parts.elements import WORLD
from ..simulation.told.recording import Recording
from .motion import Motion, rotated

GROUPS = ("contact forces", "friction cones", "joint reactions")
HIDDEN = ("joint reactions",)  # unless asked for
COLORS = ((0.98, 0.67, 0.12), (0.55, 0.85, 0.35), (0.35, 0.62, 1.0))
_LONGEST = 2.0  # reaches; forces of impacts are many times the weight


class Contacts(NamedTuple):
    """Contacts at one time: points, normals and forces (n, 3), friction (n,)."""

    points: np.ndarray
    normals: np.ndarray
    forces: np.ndarray
    friction: np.ndarray

    @classmethod
    def of(cls, table: np.ndarray) -> Contacts:
        """Contacts of `Simulator.contacts`: those with the world as they act on bodies."""
        sign = np.where(table["second"] == WORLD, -1.0, 1.0)[:, None]
        normals, forces = sign * table["normal"], sign * table["force"]
        return cls(table["point"], normals, forces, table["friction"])

    def moved(self, offset: np.ndarray) -> Contacts:
        """Contacts of a world that stands elsewhere."""
        return self._replace(points=self.points + offset)


class Reactions:
    """Where joints are, and what they carry."""

    def __init__(self, model: Model):
        system = MaximalSystem(model)
        joints = [j for j in system.joints if j.rows > 0]
        self.chosen = [k for k, j in enumerate(system.joints) if j.rows > 0]
        self.names = [j.name for j in system.joints]
        self._bases = np.array([j.base for j in joints], int)
        self._followers = np.array([j.follower for j in joints], int)
        centers = np.array([np.zeros(3), *(b.inertia.center for b in model.bodies)])
        at = np.array([j.on_follower.translation for j in joints]).reshape(-1, 3)
        self._at = at + centers[self._followers]
        self._axes = np.array([j.on_base.rotation for j in joints]).reshape(-1, 3, 3)

    def in_world(self, motion: Motion, reactions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Points and forces (frames, n, 3) of reactions (frames, n_joints, 6)."""
        still = np.zeros((len(motion.positions), 1, 4))
        still[..., 3] = 1.0
        quaternions = np.concatenate([still, motion.quaternions], axis=1)
        positions = np.concatenate([still[..., :3], motion.positions], axis=1)
        own = self._followers
        points = positions[:, own] + rotated(quaternions[:, own], self._at)
        forces = np.einsum("nij,fnj->fni", self._axes, reactions[:, self.chosen, :3])
        return points, rotated(quaternions[:, self._bases], forces)


class Recorded:
    """Contacts and reactions of a recording, as far as it has them."""

    def __init__(self, recording: Recording, model: Model):
        self.recording = recording
        self.has_contacts, self.has_reactions = recording.has_contacts, recording.has_sensors
        if self.has_contacts:
            table = recording.contacts
            place = table["world"] * len(recording) + table["step"]
            order = np.argsort(place, kind="stable")
            self._table, self._places = table[order], place[order]
        if self.has_reactions:
            self._reactions = Reactions(model)
            felt = recording.reactions
            self._felt = felt if recording.is_many else felt[None]

    def contacts(self, world: int, step: int) -> Contacts:
        """Contacts of a world at the end of a step; none if they were not recorded."""
        place = world * len(self.recording) + step
        first, end = np.searchsorted(self._places, [place, place + 1])
        return Contacts.of(self._table[first:end])

    def reactions(self, world: int, steps: np.ndarray, motion: Motion) -> tuple:
        """Points and forces (steps, n, 3) of a world's joints, whose bodies move as told."""
        return self._reactions.in_world(motion, self._felt[world, steps])


class Drawn(NamedTuple):
    """Lengths of what is drawn, in metres: of a newton, of the longest arrow, of a cone."""

    newton: float
    longest: float
    cone: float

    @classmethod
    def of(cls, model: Model, reach: float) -> Drawn:
        """The weight of the model is an arrow as long as its reach."""
        gravity = float(np.linalg.norm(model.gravity)) or 9.81
        weight = max(model.mass * gravity, 1e-6)
        return cls(reach / weight, _LONGEST * reach, 0.07 * reach)

    def arrows(self, points: np.ndarray, forces: np.ndarray) -> np.ndarray:
        """Starts and ends (n, 2, 3) of arrows; none for forces too small to be seen."""
        long = self.newton * np.linalg.norm(forces, axis=-1)
        seen = np.isfinite(long) & (long > 1e-2 * self.cone)
        points, forces, long = points[seen], forces[seen], long[seen]
        shown = self.newton * forces * np.minimum(1.0, self.longest / long)[:, None]
        return np.stack([points, points + shown], axis=1)

    def cones(self, contacts: Contacts) -> np.ndarray:
        """Points, axes as long as the cone is high, and friction: (n, 7)."""
        axes = self.cone * contacts.normals
        return np.concatenate([contacts.points, axes, contacts.friction[:, None]], axis=1)

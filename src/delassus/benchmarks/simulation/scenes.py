"""What is simulated: a walking figure with loops, and a quadruped on one or three points a foot.

Friction, servos and shapes are those that MuJoCo gets, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ... import Model, Simulator, Transform, forward_kinematics, robots, servos

DT = 1e-3
# Joints of the walking figure that have servos: the others follow by loops.
_MOVED = ("yaw", "roll", "crank", "rotor", "foot", "toe")
_POINTS, _RADIUS = 0.02, 0.01  # of three small spheres in the place of a foot, m


@dataclass(frozen=True)
class Scene:
    """A model, where it starts, and the targets of its servos."""

    model: Model
    q: np.ndarray
    control: np.ndarray
    has_ground: bool = True

    def simulator(self, **options: Any) -> Simulator:
        """A simulator of it, on one thread, that is not reset."""
        told: dict[str, Any] = {"dt": DT, "threads": 1, "on_error": "record"}
        return Simulator(self.model, ground=self.has_ground, **(told | options))

    def starts(self, worlds: int) -> np.ndarray:
        """Starts of many worlds, those on the ground a little above each other."""
        q = np.tile(self.q, (worlds, 1))
        if self.has_ground:
            q[:, 2] += 0.005 * np.arange(worlds) / worlds
        return q


def walker() -> Scene:
    """31 bodies, 36 hinges and six loops, on the twelve points of its feet."""
    model = robots.walker()
    moved = [j.name for j in model.joints if any(word in j.name for word in _MOVED)]
    model = model.replace(actuators=servos(model, 60.0, 3.0, moved))
    q = model.neutral()
    q[2] = 0.945
    return Scene(model, q, np.zeros(model.nu))


def limp() -> Scene:
    """The walking figure without servos: it collapses."""
    scene = walker()
    return Scene(scene.model.replace(actuators=()), scene.q, np.zeros(scene.model.nv))


def hanging() -> Scene:
    """The walking figure without servos, hung by its base."""
    model = robots.walker(floating_base=False)
    return Scene(model, model.neutral(), np.zeros(model.nv), has_ground=False)


def quadruped(points: int, dry_friction: bool = True) -> Scene:
    """Unitree Go1 that stands on so many points a foot: one sphere, or three that are level."""
    figure = robots.figure("quadruped")
    model, q = figure.model, figure.start
    feet = [s for s in model.shapes if s.role == "collision" and "foot" in s.name]
    if points > 1:
        places = forward_kinematics(model, q, [s.frame for s in feet])
        feet = [
            replace(
                foot,
                name=f"{foot.name}_{k}",
                size=(_RADIUS,),
                placement=Transform(
                    foot.placement.rotation,
                    foot.placement.translation + rotation.T @ (np.cos(a), np.sin(a), 0.0) * _POINTS,
                ),
            )
            for foot, rotation in zip(feet, places.rotation, strict=True)
            for k, a in enumerate(2 * np.pi * np.arange(points) / points)
        ]
    model = model.replace(shapes=feet)
    targets = [q[model.joint(a.joint).q.start] for a in model.actuators]
    return Scene(model, q, np.array(targets))


def effort(metrics: Mapping[str, np.ndarray]) -> dict[str, float]:
    """The share of steps whose natural map is above 1e-6, and iterations of a step."""
    return {
        "unsolved": float((~(metrics["natural_map"] <= 1e-6)).mean()),
        "iterations": float(metrics["iterations"].mean()),
    }


SCENES: dict[str, Callable[[], Scene]] = {
    "walker, 12 contacts": walker,
    "walker, hanging": hanging,
    "go1, 4 contacts": lambda: quadruped(1),
    "go1, 12 contacts": lambda: quadruped(3),
}

"""The mechanisms of the demonstration: models with servos, and where they start."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ... import Actuator, Model, Shape, robots

# Cassie stands with bent knees at zero. Its file has no pose in which the feet are level: here
# they are, and below the centre of mass. Cranks and rods of the feet follow.
_POSE = {"pitch-op": 0.2734, "foot-op": -1.3759}
_FOLLOWING = {"tarsus-crank-joint": -1.3759, "crank-rod-joint": 1.3759}
_BASE = 1.1054  # m, where its feet touch the ground
_SERVOS = {"roll-op": 3e3, "yaw-op": 1e3, "pitch-op": 4e3, "knee-op": 4e3, "foot-op": 1.5e3}
_TIME = 1 / 15  # s, damping by stiffness of a servo
# Springs of the shin and of the heel, which the file has almost without damping.
_SPRINGS = ("knee-shin-joint", "tarsus-spring-joint")
_SPRING_DAMPING = 40.0  # N m s / rad
_HEIGHT = 0.15  # m above the ground at the start


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A model with servos, and where it starts; loops need not be closed there."""

    title: str
    about: str
    model: Model
    q: np.ndarray
    control: np.ndarray


def cassie() -> Mechanism:
    """Cassie with its springs, 0.15 m above the ground."""
    model = robots.load("cassie_without_springs")  # of the gear boxes: those of its legs are there
    q = model.neutral()
    q[2] = _BASE + _HEIGHT
    servos = []
    for side in ("left-", "right-"):
        for name, x in {**_POSE, **_FOLLOWING}.items():
            q[model.joint(side + name).q] = x
        for name, stiffness in _SERVOS.items():
            damping = _TIME * stiffness
            servos.append(_servo(side + name, stiffness, damping))
        servos += [_servo(side + name, 0.0, _SPRING_DAMPING) for name in _SPRINGS]
    targets = [q[model.joint(servo.joint).q.start] for servo in servos]
    about = (
        "the biped of example-robot-data with its leaf springs, which are damped here: a rod "
        "behind each shin, and a crank and a rod to each foot, close four loops"
    )
    model = model.replace(actuators=servos, shapes=_colored(model))
    return Mechanism("Cassie", about, model, q, np.array(targets))


def _colored(model: Model) -> list[Shape]:
    """Shapes in the colours that they have in another file of this robot."""
    colors = {shape.name: shape.color for shape in robots.load("cassie").shapes}
    return [replace(s, color=colors.get(s.name)) for s in model.shapes]


def _servo(joint: str, stiffness: float, damping: float) -> Actuator:
    return Actuator(joint, joint, "position", stiffness=stiffness, damping=damping)


def walker() -> Mechanism:
    """A generated biped, upright and 0.15 m above the ground.

    A tilt of a degree, and it would rock from foot to foot for two seconds: with hard contacts it
    loses little of its energy each time that it lands on a foot.
    """
    figure = robots.figure("walker")
    model = figure.model
    home = model.keyframes["home"]
    q = home.q.copy()
    q[2] += _HEIGHT
    about = (
        'a generated biped, dl.robots.figure("walker"): three four-bars, and three axes with a '
        "second, redundant bearing, make six loops"
    )
    return Mechanism("Walker", about, model, q, home.u)


MECHANISMS = (cassie, walker)

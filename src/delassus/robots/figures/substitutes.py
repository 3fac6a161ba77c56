"""Robots of the installed collection that stand for those of the paper that are not public.

| figure      | robot here                              | what differs                |
| ----------- | --------------------------------------- | --------------------------- |
| `arm7d`     | xArm 7                                  | mass ratio                  |
| `quadruped` | Unitree Go1                             | mass ratio                  |
| `bdx`       | Unitree G1: legs, waist and right elbow | mass ratio; it has no neck  |
| `lima`      | Talos: legs, four joints of each arm    | mass ratio                  |

Joints that are left out are locked where the start has them, and their bodies part of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...dynamics.actuation.servos import servos
from ...model.edit import reduce
from ...model.formats import read
from ...model.model import Model
from ...model.parts.constraints import Weld
from ...model.parts.joints import Free
from ...model.parts.keyframes import Keyframe
from ...spatial.transform import Transform, rotation_from_quaternion
from .. import collection
from .draft import HOME

_GO1_LEG = {"hip": 0.0, "thigh": 0.8, "calf": -1.6}
_SPREAD = 0.3  # by how large a part a seed bends all joints more or less; feet stay flat


class Substitute(NamedTuple):
    """A robot, the joints it keeps (all if none are named), its start and its servos."""

    robot: str
    kept: tuple[str, ...]
    start: Mapping[str, float]
    stiffness: float
    damping: float
    is_fixed: bool = False


_G1_LEG = ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")
_G1_START = {"hip_pitch": -0.2, "knee": 0.4, "ankle_pitch": -0.2}
_TALOS_START = {3: -0.4, 4: 0.8, 5: -0.4}
SUBSTITUTES = {
    "arm7d": Substitute(
        "xarm7", (), {"joint2": -0.5, "joint4": 0.8, "joint6": 1.2}, 800.0, 40.0, is_fixed=True
    ),
    "quadruped": Substitute(
        "go1",
        (),
        {f"{leg}_{k}_joint": x for leg in ("FR", "FL", "RR", "RL") for k, x in _GO1_LEG.items()},
        150.0,
        4.0,
    ),
    "bdx": Substitute(
        "g1",
        (
            *(f"{side}_{k}_joint" for side in ("left", "right") for k in _G1_LEG),
            "waist_yaw_joint",
            "right_elbow_joint",
        ),
        {f"{side}_{k}_joint": x for side in ("left", "right") for k, x in _G1_START.items()},
        500.0,
        15.0,
    ),
    "lima": Substitute(
        "talos_box",
        (
            *(f"leg_{side}_{k}_joint" for side in ("left", "right") for k in range(1, 7)),
            *(f"arm_{side}_{k}_joint" for side in ("left", "right") for k in range(1, 5)),
        ),
        {
            **{f"leg_{s}_{k}_joint": x for s in ("left", "right") for k, x in _TALOS_START.items()},
            **{f"arm_{s}_4_joint": -1.0 for s in ("left", "right")},
            **{"arm_left_2_joint": 0.3, "arm_right_2_joint": -0.3},
        },
        3000.0,
        120.0,
    ),
}


def substitute(name: str, seed: int = 0) -> Model:
    """The robot that stands for a figure; seeds other than 0 start bent more or less."""
    chosen = SUBSTITUTES[name]
    model, _ = read(collection.file_of(chosen.robot), floating_base=True)
    root = model.bodies[0].name
    if chosen.kept:
        keep = {*chosen.kept, model.joints[0].name}
        lock = {j.name: chosen.start.get(j.name, 0.0) for j in model.joints if j.name not in keep}
        model = reduce(model, lock)
    q = _start(model, chosen.start, seed)
    if chosen.is_fixed:
        model = model.replace(constraints=[Weld(root, "world")])
    else:
        q[2] -= lowest_point(model, q)
    own = [joint.name for joint in model.joints if not isinstance(joint.type, Free)]
    model = model.replace(actuators=servos(model, chosen.stiffness, chosen.damping, own))
    u = np.array([q[model.joint(a.joint).q][0] for a in model.actuators])
    return model.replace(name=name, keyframes=[Keyframe(HOME, q, u=u)])


def _start(model: Model, angles: Mapping[str, float], seed: int) -> np.ndarray:
    q = model.neutral()
    bend = 1.0 + (seed > 0) * _SPREAD * np.random.default_rng(seed).uniform(-1.0, 1.0)
    for joint in model.joints:
        if not isinstance(joint.type, Free):
            x = bend * angles.get(joint.name, 0.0)
            q[joint.q] = np.clip(x, joint.data.lower, joint.data.upper)
    return q


def lowest_point(model: Model, q: np.ndarray) -> float:
    """Height of the lowest point of spheres and boxes that collide."""
    places: list[Transform] = []
    for body in model.bodies:
        own = body.placement @ _displacement(body.joint, q)
        places.append(own if body.parent < 0 else places[body.parent] @ own)
    heights = []
    for shape in model.shapes:
        frame = model.frame(shape.frame)
        if shape.role == "collision" and shape.kind in ("sphere", "box") and frame.body >= 0:
            at = places[frame.body] @ frame.placement @ shape.placement
            half = np.array(shape.size) / 2.0
            below = shape.size[0] if shape.kind == "sphere" else np.abs(at.rotation[2]) @ half
            heights.append(at.translation[2] - below)
    return min(heights)


def _displacement(joint, q: np.ndarray) -> Transform:
    own = q[joint.q]
    if isinstance(joint.type, Free):
        return Transform(rotation_from_quaternion(*own[3:]), own[:3])
    return joint.type.displacement(own)

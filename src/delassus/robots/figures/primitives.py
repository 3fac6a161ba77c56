"""Primitive systems: boxes, a nunchuk, four-bars (Tsounis et al., Fig. 8, top row)."""

from __future__ import annotations

import numpy as np

from ...model.builder import ModelBuilder
from ...model.model import Model
from ...model.parts.actuators import Actuator
from ...model.parts.constraints import Closure, Weld
from ...model.parts.contacts import ContactExclusion
from ...model.parts.elements import Shape
from ...model.parts.joints import Free, Revolute, Spherical
from ...model.parts.keyframes import Keyframe
from ...spatial.inertia import Inertia
from ...spatial.transform import (
    Transform,
    rotation_from_rpy,
    rotation_to_axis,
    rotation_to_quaternion,
)
from ..linkages import meeting_point
from .draft import HOME, Y

_BLUE, _GREY, _ORANGE = (0.35, 0.55, 0.8, 1.0), (0.72, 0.74, 0.78, 1.0), (0.92, 0.55, 0.2, 1.0)


def box_on_plane(seed: int = 0) -> Model:
    """A box of 1 kg that is dropped by one of its edges or corners, from 5 cm.

    Edges are about 0.2 m long. Seed 0 stands flat on the plane.
    """
    rng = np.random.default_rng(seed)
    size = np.array([0.2, 0.2, 0.2]) * (1.0 + 0.2 * rng.uniform(-1, 1, 3) * (seed > 0))
    builder = ModelBuilder("box_on_plane")
    _add_box(builder, "box", size, 1.0, _BLUE)
    turn, drop = (rng.uniform(-0.6, 0.6, 3), 0.05) if seed > 0 else (np.zeros(3), 0.0)
    return _with_home(builder, [_resting(size, turn, drop)])


def boxes_fixed(seed: int = 0, mass_ratio: float = 1000.0) -> Model:
    """Two boxes, one on the other, that a fixed joint joins; the upper one is the heavy one."""
    rng = np.random.default_rng(seed)
    edges = 0.2 * (1.0 + 0.2 * rng.uniform(-1, 1, 2) * (seed > 0))
    low, high = (np.full(3, edge) for edge in edges)
    builder = ModelBuilder("boxes_fixed")
    _add_box(builder, "lower", low, 1.0, _GREY)
    _add_box(builder, "upper", high, mass_ratio, _BLUE)
    builder.add_frame("top", "lower", (0, 0, low[2] / 2))
    builder.add_frame("bottom", "upper", (0, 0, -high[2] / 2))
    builder.add_constraint(Weld("bottom", "top"))
    upright = [0.0, 0.0, 0.0, 1.0]
    poses = [[0, 0, low[2] / 2, *upright], [0, 0, low[2] + high[2] / 2, *upright]]
    return _with_home(builder, poses)


def nunchuk(seed: int = 0) -> Model:
    """Two sticks and a link between them by spherical joints, all of 1 kg; it falls from 0.3 m."""
    rng = np.random.default_rng(seed)
    stick = 0.3 * (1.0 + 0.2 * rng.uniform(-1, 1) * (seed > 0))
    link, radius = 0.1, 0.02
    builder = ModelBuilder("nunchuk")
    _add_capsule(builder, "stick_1", Free(), "world", None, stick, radius, _BLUE)
    end = (stick / 2 + radius, 0, 0)
    _add_capsule(builder, "link", Spherical(), "stick_1", end, link, radius / 2, _GREY, True)
    end = (link + radius, 0, 0)
    _add_capsule(builder, "stick_2", Spherical(), "link", end, stick, radius, _BLUE, True)
    model = builder.build()
    q = model.neutral()
    q[2] = 0.3
    if seed > 0:  # sticks folded by some angle at both joints
        for name, angle in zip(("link", "stick_2"), rng.uniform(-1.0, 1.0, 2), strict=True):
            q[model.joint(f"{name}_joint").q] = [0, 0, np.sin(angle / 2), np.cos(angle / 2)]
    return model.replace(keyframes=[Keyframe(HOME, q)])


def fourbar_fixed(seed: int = 0) -> Model:
    """A crank-rocker whose ground bar a Weld holds in the world; the crank has a servo."""
    return _fourbar(seed, is_fixed=True)


def fourbar_free(seed: int = 0) -> Model:
    """A crank-rocker of four moving bars that falls on the ground from 5 cm."""
    return _fourbar(seed, is_fixed=False)


def _fourbar(seed: int, is_fixed: bool) -> Model:
    """Bars of 1 kg in the plane y = 0; the ground bar is the base."""
    rng = np.random.default_rng(seed)
    crank, coupler, rocker, ground = np.array([0.1, 0.3, 0.25, 0.3]) * (
        1.0 + 0.1 * rng.uniform(-1, 1, 4) * (seed > 0)
    )
    a, d = np.zeros(3), np.array([ground, 0.0, 0.0])
    angle = np.pi / 3 + 0.5 * rng.uniform(-1, 1) * (seed > 0)
    b = crank * np.array([np.cos(angle), 0.0, np.sin(angle)])
    c = meeting_point(b, coupler, d, rocker)
    builder = ModelBuilder("fourbar_fixed" if is_fixed else "fourbar_free")
    height = 0.5 if is_fixed else 0.07
    lift = np.array([0.0, 0.0, height])
    # A fixed base has its frame in the world's origin, where its weld holds it.
    origin = a - lift if is_fixed else a
    _add_bar(builder, "ground", "world", origin, a, d)
    _add_bar(builder, "crank", "ground", a, a, b, before=origin)
    _add_bar(builder, "coupler", "crank", b, b, c, before=a)
    _add_bar(builder, "rocker", "ground", d, d, c, before=origin)
    for body, at in (("coupler", b), ("rocker", d)):
        builder.add_frame(f"{body}_end", body, c - at)
    builder.add_constraint(Closure(Revolute(Y), "coupler_end", "rocker_end"))
    if is_fixed:
        builder.add_constraint(Weld("ground", "world"))
        # The bar stands in the world, whose neighbours may touch it; bars overlap at their hinges.
        for body in ("crank", "rocker"):
            builder.add_contact_exclusion(ContactExclusion("ground", body))
    builder.add_actuator(Actuator("crank_servo", "crank_joint", "position", 1.0, 60.0, 3.0))
    model = builder.build()
    q = model.neutral()
    q[2] = 0.0 if is_fixed else height
    return model.replace(keyframes=[Keyframe(HOME, q)])


def _add_bar(builder, name, parent, anchor, start, end, before=None) -> None:
    """A capsule of 1 kg from start to end on a hinge about y; the base moves freely."""
    radius = 0.015
    joint = Free() if parent == "world" else Revolute(Y)
    along = end - start
    length = float(np.linalg.norm(along))
    R, middle = rotation_to_axis(along / length), 0.5 * (start + end) - anchor
    inertia = Inertia.of(1.0, middle, R @ np.diag(_cylinder(length, radius)) @ R.T)
    at = None if before is None else anchor - before
    independent = name in ("ground", "crank")
    builder.add_body(name, parent, joint, at, inertia=inertia, independent=independent)
    place, color = Transform(R, middle), _ORANGE if name == "crank" else _GREY
    _add_shapes(builder, name, "capsule", place, (radius, 0.8 * length), color)


def _add_capsule(builder, name, joint, parent, at, length, radius, color, from_end=False) -> None:
    """A capsule of 1 kg along x, about its middle or its end."""
    middle = np.array([length / 2, 0.0, 0.0]) if from_end else np.zeros(3)
    R = rotation_to_axis(np.array([1.0, 0.0, 0.0]))
    inertia = Inertia.of(1.0, middle, R @ np.diag(_cylinder(length, radius)) @ R.T)
    builder.add_body(name, parent, joint, at, inertia=inertia)
    _add_shapes(builder, name, "capsule", Transform(R, middle), (radius, length), color)


def _cylinder(length: float, radius: float) -> np.ndarray:
    """Moments of inertia of a cylinder of 1 kg along z."""
    across = (3.0 * radius**2 + length**2) / 12.0
    return np.array([across, across, radius**2 / 2.0])


def _add_box(builder, name, size, mass, color) -> None:
    x, y, z = np.square(size)
    matrix = mass / 12.0 * np.diag([y + z, x + z, x + y])
    builder.add_body(name, joint=Free(), mass=mass, inertia=matrix)
    _add_shapes(builder, name, "box", None, size, color)


def _add_shapes(builder, body, kind, place, size, color) -> None:
    for role in ("visual", "collision"):
        builder.add_shape(Shape(f"{body}_{role}", body, role, kind, place, size, color=color))


def _resting(size: np.ndarray, turn: np.ndarray, drop: float) -> list[float]:
    """Coordinates of a box that is turned, its lowest corner above the plane."""
    R = rotation_from_rpy(*turn)
    corner = 0.5 * np.abs(R[2]) @ size
    return [0.0, 0.0, corner + drop, *rotation_to_quaternion(R)]


def _with_home(builder: ModelBuilder, poses: list) -> Model:
    model = builder.build()
    return model.replace(keyframes=[Keyframe(HOME, np.concatenate(poses))])

"""The joints of an SDF model: types, axes, limits, springs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ....spatial.constant import unit_vector
from ....spatial.transform import Transform
from ...parts.joints import Fixed, Helical, JointType, Prismatic, Revolute, Spherical, Universal
from ..xml import Node
from .frames import MODEL, SdfFrames

_AXES = {
    "revolute": 1, "continuous": 1, "prismatic": 1, "screw": 1,
    "universal": 2, "revolute2": 2, "ball": 0, "fixed": 0, "gearbox": 2,
}  # fmt: skip
_UNLIMITED = 1e16  # what files before SDF 1.9 write for infinity
_AXIS_TOLERANCE = 1e-3


@dataclass(eq=False)
class SdfJoint:
    """A joint between two links; its pose is that of the file's configuration, in the world."""

    name: str
    type: str
    parent: str  # a link or the world
    child: str
    pose: Transform
    node: Node
    axes_in_model: bool  # whether axes are given in the model's frame by default

    def axis(self, number: int, frames: SdfFrames) -> np.ndarray:
        """The unit direction of <axis> (0) or <axis2> (1) in the joint's frame."""
        tag = ("axis", "axis2")[number]
        node = self.node.required_child(tag)
        xyz = node.child("xyz")
        direction = np.array([0.0, 0.0, 1.0]) if xyz is None else xyz.text_vector(3, huge=np.inf)
        length = math.hypot(*direction)
        if length == 0.0:
            raise node.error("the axis is zero")
        if abs(length - 1.0) > _AXIS_TOLERANCE:
            node.document.report.remark(
                "axes that are not of unit length, scaled to it", f"{self.name} ({length:.4g})"
            )
        return self._turned(node, xyz, frames) @ unit_vector("the axis", direction, 3)

    def _turned(self, node: Node, xyz: Node | None, frames: SdfFrames) -> np.ndarray:
        """The rotation from the frame in which an axis is given to the joint's."""
        flag = node.child("use_parent_model_frame")
        in_model = self.axes_in_model if flag is None else flag.text_flag()
        name = (xyz.attribute("expressed_in") if xyz is not None else None) or None
        if name is None and not in_model:
            return np.eye(3)
        given = frames.pose(name or MODEL, node)
        return self.pose.rotation.T @ given.rotation

    def joint_type(self, frames: SdfFrames) -> JointType:
        """The type of joint in this library; a gearbox is none, but a constraint."""
        if self.type in ("fixed", "ball"):
            self.node.skip("axis", "axis2")  # exporters write axes for all joints
            return Fixed() if self.type == "fixed" else Spherical()
        axes = [tuple(self.axis(i, frames)) for i in range(_AXES[self.type])]
        if self.type == "prismatic":
            return Prismatic(*axes)
        if self.type == "screw":
            return Helical(*axes, pitch=self._pitch())
        return Revolute(*axes) if len(axes) == 1 else Universal(*axes)

    def _pitch(self) -> float:
        """Metres a radian, positive for a right-handed thread."""
        modern, classic = self.node.child("screw_thread_pitch"), self.node.child("thread_pitch")
        if modern is not None:
            return modern.text_number() / (2.0 * np.pi)  # metres a turn
        if classic is None:
            raise self.node.error("needs a <screw_thread_pitch>")
        turns = classic.text_number()  # radians a metre, positive for a left-handed thread
        if turns == 0.0:
            raise classic.error("must not be zero")
        return -1.0 / turns

    def data(self) -> dict[str, list[float]]:
        """Limits, passive data and springs, one entry an axis."""
        result: dict[str, list[float]] = {}
        for tag in ("axis", "axis2")[: _AXES[self.type]]:
            for name, value in self._axis_data(self.node.required_child(tag)).items():
                result.setdefault(name, []).append(value)
        return result

    def _axis_data(self, axis: Node) -> dict[str, float]:
        data = {
            "lower": -np.inf, "upper": np.inf, "effort_limit": np.inf, "velocity_limit": np.inf,
            "damping": 0.0, "friction": 0.0, "stiffness": 0.0, "rest": 0.0,
        }  # fmt: skip
        names = {"effort": "effort_limit", "velocity": "velocity_limit"}
        if self.type != "continuous":
            names |= {"lower": "lower", "upper": "upper"}
        limit, dynamics = axis.child("limit"), axis.child("dynamics")
        for tag, name in names.items():
            node = None if limit is None else limit.child(tag)
            if node is not None:
                value = _limit(node)
                negative = value < 0.0 and tag in ("effort", "velocity")
                data[name] = np.inf if negative else value  # negative means not enforced
        springs = {"spring_stiffness": "stiffness", "spring_reference": "rest"}
        for tag, name in ({"damping": "damping", "friction": "friction"} | springs).items():
            node = None if dynamics is None else dynamics.child(tag)
            if node is not None:
                data[name] = node.text_number()
        return data


def _limit(node: Node) -> float:
    value = node.text_number(infinite=True)
    return float(np.copysign(np.inf, value)) if abs(value) >= _UNLIMITED else value


def read_joints(frames: SdfFrames, axes_in_model: bool) -> list[SdfJoint]:
    """All joints of a model, in the file's order."""
    joints = []
    for name in frames.names("joint"):
        node = frames.node("joint", name)
        kind = node.required("type")
        if kind not in _AXES:
            raise node.error(f"unknown joint type {kind!r}; SDF has {', '.join(_AXES)}")
        parent = frames.carrier(node.required_child("parent").text(), node)
        child_name = node.required_child("child").text()
        child = frames.carrier(child_name, node)
        if child_name == "world":
            raise node.error("its child is the world")
        if parent == child:
            raise node.error(f"connects link {child!r} to itself")
        pose = frames.pose(name, node, "joint")
        joints.append(SdfJoint(name, kind, parent, child, pose, node, axes_in_model))
    return joints

"""Loops, gearboxes and mimic axes of an SDF model as constraints."""

from __future__ import annotations

import numpy as np

from ...builder import ModelBuilder
from ...parts.constraints import Closure, Connect, Coupling, Gear, Weld
from ...parts.joints import Fixed, Revolute, Spherical
from .frames import SdfFrames
from .graph import SdfGraph
from .joints import SdfJoint

_PARALLEL = 1e-4  # how far the axes of a gearbox may be from those of the joints it gears
_SINGLE = ("revolute", "continuous", "prismatic", "screw")


def add_loop(builder: ModelBuilder, joint: SdfJoint, frames: SdfFrames) -> None:
    """Close a loop by a joint, between the frames <joint>_predecessor and <joint>_successor."""
    names = []
    for role, link in (("successor", joint.child), ("predecessor", joint.parent)):
        names.append(f"{joint.name}_{role}")
        builder.add_frame(names[-1], link, frames.link_pose(link).inverse() @ joint.pose)
    for axis in (*joint.node.children("axis"), *joint.node.children("axis2")):
        if axis.child("limit") is not None or axis.child("dynamics") is not None:
            subject = "joints that close loops, whose limits, springs and damping are left out"
            axis.document.report.remark(subject, joint.name)
        axis.skip("limit", "dynamics")
    joint_type = joint.joint_type(frames)
    if isinstance(joint_type, Fixed):
        builder.add_constraint(Weld(*names))
    elif isinstance(joint_type, Spherical):
        builder.add_constraint(Connect(*names))
    else:
        builder.add_constraint(Closure(joint_type, *names))


def add_gearbox(
    builder: ModelBuilder, gearbox: SdfJoint, graph: SdfGraph, frames: SdfFrames
) -> None:
    """Add child angle = -ratio * parent angle, both from the reference body about given axes."""
    node = gearbox.node
    reference = frames.carrier(node.required_child("gearbox_reference_body").text(), node)
    ratio_node = node.child("gearbox_ratio")
    ratio = 1.0 if ratio_node is None else ratio_node.text_number()
    has_second = node.child("axis2") is not None
    parent_axis = gearbox.axis(0, frames)
    child_axis = gearbox.axis(1, frames) if has_second else parent_axis
    parent = _angle(gearbox, reference, gearbox.parent, parent_axis, graph, frames)
    child = _angle(gearbox, reference, gearbox.child, child_axis, graph, frames)
    if len(parent) == len(child) == 1 and parent.keys() != child.keys():
        ((own, own_sign),), ((other, other_sign),) = child.items(), parent.items()
        builder.add_constraint(Gear(own, other, -ratio * other_sign / own_sign))
        return
    coefficients = dict(child)
    for name, sign in parent.items():
        coefficients[name] = coefficients.get(name, 0.0) + ratio * sign
    builder.add_constraint(Coupling(coefficients))


def _angle(
    gearbox: SdfJoint,
    reference: str,
    link: str,
    axis: np.ndarray,
    graph: SdfGraph,
    frames: SdfFrames,
) -> dict[str, float]:
    """The angle of a link from the reference body, as coefficients of joint angles."""
    up, down = graph.joints_above(reference), graph.joints_above(link)
    while up and down and up[-1] is down[-1]:
        up.pop()
        down.pop()
    direction = gearbox.pose.rotation @ axis
    result = {}
    for path, sense in ((down, 1.0), (up, -1.0)):
        for joint in path:
            joint_type = joint.joint_type(frames)
            if isinstance(joint_type, Fixed):
                continue
            along = 0.0
            if isinstance(joint_type, Revolute):
                along = float(joint.pose.rotation @ joint_type.axis @ direction)
            if abs(abs(along) - 1.0) > _PARALLEL:
                raise gearbox.node.error(
                    f"its angle between {reference!r} and {link!r} is not that of joint "
                    f"{joint.name!r}, which does not turn about the gearbox's axis"
                )
            result[joint.name] = sense * float(np.sign(along))
    return result


def add_mimic(builder: ModelBuilder, joint: SdfJoint, joints: dict[str, SdfJoint]) -> None:
    """Add own angle = multiplier * (other angle - reference) + offset where an axis says so."""
    axis = joint.node.child("axis") if joint.type in _SINGLE else None
    mimic = None if axis is None else axis.child("mimic")
    if mimic is None:
        return
    other = joints.get(mimic.required("joint"))
    if other is None or other.type not in _SINGLE:
        raise mimic.error(f"there is no joint {mimic.required('joint')!r} of one axis")
    if mimic.attribute("axis") not in (None, "axis"):
        raise mimic.error(f"joint {other.name!r} has one axis only", "axis")
    values = {"multiplier": 1.0, "offset": 0.0, "reference": 0.0}
    for tag in values:
        child = mimic.child(tag)
        if child is not None:
            values[tag] = child.text_number()
    ratio = values["multiplier"]
    offset = values["offset"] - ratio * values["reference"]
    builder.add_constraint(Gear(joint.name, other.name, ratio, offset))

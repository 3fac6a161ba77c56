"""Origins, axes and inertias as URDF writes them."""

from __future__ import annotations

import math

import numpy as np

from ....spatial.constant import unit_vector
from ....spatial.inertia import Inertia
from ....spatial.transform import Transform, rotation_from_quaternion
from ..inertial import judged_inertia
from ..xml import Node

_AXIS_TOLERANCE = 1e-3


def read_origin(parent: Node) -> Transform:
    """The placement that an <origin> gives, identity if there is none."""
    origin = parent.child("origin")
    if origin is None:
        return Transform()
    xyz = origin.vector("xyz", 3, (0.0, 0.0, 0.0))
    if origin.attribute("quat_xyzw") is None:
        return Transform.from_rpy(xyz, origin.vector("rpy", 3, (0.0, 0.0, 0.0)))
    if origin.attribute("rpy") is not None:
        raise origin.error("has both rpy and quat_xyzw")
    quaternion = origin.vector("quat_xyzw", 4, huge=np.inf)
    if not quaternion.any():
        raise origin.error("the quaternion is zero", "quat_xyzw")
    return Transform(rotation_from_quaternion(*quaternion), xyz)


def read_axis(parent: Node, name: str) -> np.ndarray:
    """The unit axis of a joint; URDF's default is x."""
    node = parent.child("axis")
    if node is None:
        return np.array([1.0, 0.0, 0.0])
    axis = node.vector("xyz", 3, huge=np.inf)
    length = math.hypot(*axis)
    if length == 0.0:
        raise node.error("the axis is zero", "xyz")
    if abs(length - 1.0) > _AXIS_TOLERANCE:
        parent.document.report.remark(
            "axes that are not of unit length, scaled to it", f"{name} ({length:.4g})"
        )
    return unit_vector("the axis", axis, 3)


def read_inertia(link: Node) -> Inertia:
    """The inertia of a link in the link's frame; a link without one has no mass."""
    node = link.child("inertial")
    if node is None:
        return Inertia()
    mass = node.required_child("mass").number("value")
    moments = node.required_child("inertia")
    xx, xy, xz, yy, yz, zz = (
        moments.number(name) for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    with node.blamed():
        inertia = judged_inertia(
            link.required("name"), mass, np.zeros(3), matrix, node.document.report
        )
    return inertia.moved(read_origin(node))

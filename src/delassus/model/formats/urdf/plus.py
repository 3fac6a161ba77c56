"""What URDF+ adds to URDF: loop joints and couplings of joint angles."""

from __future__ import annotations

from collections.abc import Mapping

from ...builder import ModelBuilder
from ...model import Model
from ...parts.constraints import Closure, Connect, Constraint, Coupling, Gear, Weld
from ...parts.joints import Planar, Prismatic, Revolute
from ..xml import Document, Node
from .tree import UrdfJoint, UrdfTree
from .values import read_axis, read_origin

_CLOSURES = {"revolute": Revolute, "continuous": Revolute, "prismatic": Prismatic, "planar": Planar}
_POINTS = ("spherical", "ball")
_SINGLE = ("revolute", "continuous", "prismatic")


def add_loops(builder: ModelBuilder, robot: Node, tree: UrdfTree, names: Mapping[str, str]) -> None:
    """Add each <loop> as two frames, <name>_predecessor and <name>_successor, and a constraint."""
    for index, node in enumerate(robot.children("loop")):
        name = node.attribute("name") or f"loop_{index}"
        frames = {}
        for role in ("predecessor", "successor"):
            end = node.required_child(role)
            frames[role] = f"{name}_{role}"
            with end.blamed():
                builder.add_frame(frames[role], names[_link(end, tree)], read_origin(end))
        with node.blamed():
            constraint = _closure(node, name, frames["successor"], frames["predecessor"])
            builder.add_constraint(constraint)


def _closure(node: Node, name: str, frame: str, other: str) -> Constraint:
    kind = node.required("type")
    if kind in _CLOSURES:
        return Closure(_CLOSURES[kind](tuple(read_axis(node, name))), frame, other)
    if kind in _POINTS:
        return Connect(frame, other)
    if kind == "fixed":
        return Weld(frame, other)
    known = ", ".join((*_CLOSURES, *_POINTS, "fixed"))
    raise node.error(f"unknown loop type {kind!r}; there are {known}")


def add_couplings(builder: ModelBuilder, robot: Node, tree: UrdfTree) -> None:
    """Add each <coupling>: the successor's angles sum to `ratio` times the predecessor's.

    The sums run over the joints between each link and the nearest common ancestor of the two.
    """
    for node in robot.children("coupling"):
        node.attribute("name")
        if node.attribute("type") not in (None, "rolling"):
            raise node.error(f"unknown coupling type {node.attribute('type')!r}; there is rolling")
        predecessor = tree.joints_above(_link(node.required_child("predecessor"), tree))
        successor = tree.joints_above(_link(node.required_child("successor"), tree))
        while predecessor and successor and predecessor[-1] is successor[-1]:
            predecessor.pop()
            successor.pop()
        ratio = node.required_child("ratio").number("value")
        if ratio == 0.0:
            raise node.error("a ratio of zero couples nothing; a joint that stands still is fixed")
        with node.blamed():
            constraint = _coupling(_moving(node, predecessor), _moving(node, successor), ratio)
            builder.add_constraint(constraint)


def _coupling(predecessor: list[str], successor: list[str], ratio: float) -> Constraint:
    if len(predecessor) == len(successor) == 1:
        return Gear(successor[0], predecessor[0], ratio)
    return Coupling({**dict.fromkeys(successor, 1.0), **dict.fromkeys(predecessor, -ratio)})


def _moving(node: Node, joints: list[UrdfJoint]) -> list[str]:
    for joint in joints:
        if joint.type not in (*_SINGLE, "fixed"):
            raise node.error(f"its path holds joint {joint.name!r}, which is {joint.type}")
    return [joint.name for joint in joints if joint.type != "fixed"]


def remark_on_untied_joints(model: Model, document: Document) -> None:
    """Warn of joints that are declared dependent, but that nothing in the file moves."""
    tied: set[str] = set()
    for constraint in model.constraints:
        tied.update(constraint.joints)
        above = [_joints_above(model, name) for name in constraint.frames]
        tied.update(set.symmetric_difference(*above) if above else ())
    for joint in model.joints:
        if joint.independent is False and joint.name not in tied:
            document.report.remark(
                "joints declared dependent that no loop or coupling ties, and that move freely",
                joint.name,
            )


def _joints_above(model: Model, frame: str) -> set[str]:
    names, body = set(), model.frame(frame).body
    while body >= 0:
        names.add(model.joints[body].name)
        body = model.bodies[body].parent
    return names


def _link(node: Node, tree: UrdfTree) -> str:
    name = node.required("link")
    if name not in tree.links:
        raise node.error(f"there is no link {name!r}")
    return name

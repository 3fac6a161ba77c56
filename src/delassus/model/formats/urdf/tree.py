"""The links and joints of a URDF file as a tree, or an error that says why they are none."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..xml import Document, Node


@dataclass(eq=False)
class UrdfLink:
    """A link, the joint above it and the joints below, in the file's order."""

    name: str
    node: Node
    parent_joint: UrdfJoint | None = None
    child_joints: list[UrdfJoint] = field(default_factory=list)


@dataclass(eq=False)
class UrdfJoint:
    """A joint and the names of the links it connects."""

    name: str
    type: str
    parent: str
    child: str
    node: Node


@dataclass(eq=False)
class UrdfTree:
    """All links by name and all joints by name; `ordered` is depth first from the root."""

    root: UrdfLink
    links: dict[str, UrdfLink]
    joints: dict[str, UrdfJoint]

    def ordered(self) -> list[UrdfLink]:
        """The links, parents before children, children in the order of their joints."""
        result, pending = [], [self.root]
        while pending:
            link = pending.pop()
            result.append(link)
            pending.extend(self.links[j.child] for j in reversed(link.child_joints))
        return result

    def joints_above(self, link: str) -> list[UrdfJoint]:
        """The joints from a link up to the root."""
        result, joint = [], self.links[link].parent_joint
        while joint is not None:
            result.append(joint)
            joint = self.links[joint.parent].parent_joint
        return result


def read_tree(document: Document) -> UrdfTree:
    """Read names and connections, and check that they make one tree."""
    links = _read_links(document)
    joints = _read_joints(document)
    for joint in joints.values():
        _connect(joint, links)
    roots = [link for link in links.values() if link.parent_joint is None]
    if len(roots) > 1:
        raise roots[1].node.error(
            f"a second root: no joint has it as its child, nor has one link {roots[0].name!r}"
        )
    if not roots:
        raise _cycle_error(links, next(iter(links)))
    tree = UrdfTree(roots[0], links, joints)
    reached = {link.name for link in tree.ordered()}
    for name in links:
        if name not in reached:
            raise _cycle_error(links, name)
    return tree


def _read_links(document: Document) -> dict[str, UrdfLink]:
    links: dict[str, UrdfLink] = {}
    for node in document.root.children("link"):
        name = node.required("name")
        if name in links:
            raise node.error("there are two links of this name")
        links[name] = UrdfLink(name, node)
    if not links and any(node.tag.startswith("xacro:") for node in document.root.descendants()):
        raise document.root.error(
            "is a xacro file, from which a URDF is made: run `xacro robot.xacro > robot.urdf` (of "
            "ROS, or of the package xacrodoc) and load that"
        )
    if not links:
        raise document.root.error("has no <link>")
    return links


def _read_joints(document: Document) -> dict[str, UrdfJoint]:
    joints: dict[str, UrdfJoint] = {}
    for node in document.root.children("joint"):
        name = node.required("name")
        if name in joints:
            raise node.error("there are two joints of this name")
        parent = node.required_child("parent").required("link")
        child = node.required_child("child").required("link")
        joints[name] = UrdfJoint(name, node.required("type"), parent, child, node)
    return joints


def _connect(joint: UrdfJoint, links: dict[str, UrdfLink]) -> None:
    for role, name in (("parent", joint.parent), ("child", joint.child)):
        if name not in links:
            raise joint.node.error(f"its {role} link {name!r} does not exist")
    if joint.parent == joint.child:
        raise joint.node.error(f"connects link {joint.parent!r} to itself")
    child = links[joint.child]
    if child.parent_joint is not None:
        raise joint.node.error(
            f"link {child.name!r} is the child of joint {child.parent_joint.name!r} already; URDF "
            "describes trees, a loop is closed by a <loop> element (URDF+)"
        )
    child.parent_joint = joint
    links[joint.parent].child_joints.append(joint)


def _cycle_error(links: dict[str, UrdfLink], start: str):
    """Links that do not hang on a root: going up from any of them ends in a cycle."""
    seen, name = [], start
    while name not in seen:
        seen.append(name)
        name = links[name].parent_joint.parent
    cycle = seen[seen.index(name) :]
    joint = links[name].parent_joint
    shown = " <- ".join(repr(n) for n in [*cycle[:4], *(["..."] if len(cycle) > 4 else []), name])
    return joint.node.error(f"the links form a cycle: {shown}")

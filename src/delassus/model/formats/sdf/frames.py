"""The frames of an SDF model: where links, joints and frames are, and what they are attached to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....spatial.transform import Transform, rotation_from_quaternion
from ...parts.elements import WORLD
from ..xml import Node

MODEL = "__model__"
_KINDS = ("link", "joint", "frame")

Key = tuple[str, str]  # kind and name: a link and a joint may share a name


@dataclass(eq=False)
class _Entry:
    node: Node
    pose: Transform
    relative_to: str  # the frame in which the pose is given
    attached_to: str  # the frame it moves with; a link moves with itself


class SdfFrames:
    """Resolves names of frames to poses in the world, and to the links that carry them."""

    def __init__(self, model: Node):
        self._model_pose, relative_to = read_pose(model)
        if relative_to not in (None, WORLD):
            raise model.error(f"its pose is relative to {relative_to!r}, which is not read")
        self._entries: dict[Key, _Entry] = {}
        self._poses: dict[Key, Transform] = {}
        for kind in _KINDS:
            for node in model.children(kind):
                name = node.required("name")
                if (kind, name) in self._entries:
                    raise node.error(f"there are two {kind}s of this name")
                self._entries[kind, name] = _read_entry(kind, node)
        links = self.names("link")
        if not links:
            raise model.error("has no <link>")
        self.canonical_link = model.attribute("canonical_link") or links[0]
        if ("link", self.canonical_link) not in self._entries:
            raise model.error(f"there is no link {self.canonical_link!r}", "canonical_link")

    def names(self, kind: str) -> list[str]:
        """Names of all links, joints or frames, in the file's order."""
        return [name for k, name in self._entries if k == kind]

    def node(self, kind: str, name: str) -> Node:
        """The element that declares a link, joint or frame."""
        return self._entries[kind, name].node

    def pose(self, name: str, asker: Node, kind: str | None = None) -> Transform:
        """The pose of a frame in the world, in the configuration of the file."""
        key = self._key(name, asker) if kind is None else (kind, name)
        chain: dict[Key, None] = {}
        while key is not None and key not in self._poses:
            if key in chain:
                raise self._entries[key].node.error("its pose is relative to itself in the end")
            chain[key] = None
            entry = self._entries[key]
            key = self._key(entry.relative_to, entry.node)
        pose = self._model_pose if key is None else self._poses[key]
        for key in reversed(chain):
            pose = pose @ self._entries[key].pose
            self._poses[key] = pose
        return pose

    def link_pose(self, link: str) -> Transform:
        """The pose of a link, or of the world itself, in the world."""
        return Transform() if link == WORLD else self.pose(link, self.node("link", link), "link")

    def carrier(self, name: str, asker: Node) -> str:
        """The link that a frame is fixed to, or the world."""
        if name == WORLD:
            return WORLD
        seen: set[Key] = set()
        key = self._key(name, asker)
        while key is not None and key[0] != "link":
            if key in seen:
                raise self._entries[key].node.error("is attached to itself in the end")
            seen.add(key)
            entry = self._entries[key]
            key = self._key(entry.attached_to, entry.node)
        return self.canonical_link if key is None else key[1]

    def _key(self, name: str, asker: Node) -> Key | None:
        """The element of a name; None is the model itself."""
        if name == MODEL:
            return None
        for kind in _KINDS:
            if (kind, name) in self._entries:
                return (kind, name)
        hint = "; nested models are not read" if "::" in name else ""
        raise asker.error(f"there is no link, joint or frame {name!r}{hint}")


def _read_entry(kind: str, node: Node) -> _Entry:
    pose, relative_to = read_pose(node)
    if kind == "link":
        return _Entry(node, pose, relative_to or MODEL, node.required("name"))
    if kind == "joint":
        child = node.required_child("child").text()
        return _Entry(node, pose, relative_to or child, child)
    attached_to = node.attribute("attached_to") or MODEL
    return _Entry(node, pose, relative_to or attached_to, attached_to)


def read_pose(parent: Node) -> tuple[Transform, str | None]:
    """What a <pose> says, and the frame it names; identity if there is none."""
    node = parent.child("pose")
    if node is None:
        return Transform(), None
    relative_to = node.attribute("relative_to") or node.attribute("frame") or None
    kind = node.attribute("rotation_format") or "euler_rpy"
    if not (node.element.text or "").strip():
        return Transform(), relative_to
    if kind == "quat_xyzw":
        values = node.text_vector(7, huge=np.inf)
        if not values[3:].any():
            raise node.error("the quaternion is zero")
        return Transform(rotation_from_quaternion(*values[3:]), values[:3]), relative_to
    if kind != "euler_rpy":
        raise node.error(f"unknown rotation format {kind!r}", "rotation_format")
    values = node.text_vector(6)
    angles = np.radians(values[3:]) if node.flag("degrees") else values[3:]
    return Transform.from_rpy(values[:3], angles), relative_to

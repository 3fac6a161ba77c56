"""SDF: models with links and joints in any order, loops included."""

from __future__ import annotations

import re

import numpy as np

from ....spatial.inertia import Inertia
from ...builder import ModelBuilder
from ...model import Model
from ...parts.elements import WORLD
from ...parts.joints import Fixed, Free
from ..inertial import judged_inertia
from ..options import ROOT_JOINT, Options
from ..xml import Document, Node
from .constraints import add_gearbox, add_loop, add_mimic
from .frames import SdfFrames, read_pose
from .graph import span
from .joints import read_joints
from .shapes import add_shapes


def read_sdf(document: Document, options: Options) -> Model:
    """The one model of an <sdf> document.

    Poses in the file describe the configuration in which all joints are at zero. The root link is
    fixed where the file puts it, or, with a floating base, its pose in the world is the first part
    of q. Links that hang on nothing move freely, as SDF has it.
    """
    version = _version(document.root)
    model, world = _only_model(document.root)
    _refuse_nested(model)
    builder = ModelBuilder(model.required("name"))
    builder.describes_world = world is not None
    if world is not None:
        world.attribute("name")
        gravity = world.child("gravity")
        if gravity is not None:
            builder.gravity = gravity.text_vector(3)
    # Axes were given in the model's frame before SDF 1.5.
    reader = _Reader(model, builder, options, axes_in_model=version < (1, 5))
    reader.read()
    document.report_unused()
    return builder.build()


def _version(root: Node) -> tuple[int, int]:
    text = root.attribute("version") or "1.6"
    match = re.fullmatch(r"\s*(\d{1,3})\.(\d{1,3})(\.\d+)?\s*", text, re.ASCII)
    if not match:
        raise root.error(f"expected a version such as 1.6, got {text!r}", "version")
    return int(match[1]), int(match[2])


def _only_model(root: Node) -> tuple[Node, Node | None]:
    """The file's model and the world around it, if there is one."""
    worlds = root.children("world")
    world = worlds[0] if worlds else None
    models = [*root.children("model"), *(m for w in worlds for m in w.children("model"))]
    if len(models) != 1 or len(worlds) > 1:
        raise root.error(f"expected one <model>, got {len(models)}")
    for parent in (root, *worlds):
        includes = parent.children("include")
        if includes:
            raise includes[0].error("included files are not read; expand the file first")
    return models[0], world


def _refuse_nested(model: Node) -> None:
    for tag in ("model", "include"):
        nested = model.children(tag)
        if nested:
            raise nested[0].error(f"a <{tag}> inside a <model> is not read; flatten the file first")


class _Reader:
    """Takes one <model> to a builder."""

    def __init__(self, model: Node, builder: ModelBuilder, options: Options, axes_in_model: bool):
        self.model, self.builder, self.options = model, builder, options
        self.frames = SdfFrames(model)
        self.joints = read_joints(self.frames, axes_in_model)
        movable = [joint for joint in self.joints if joint.type != "gearbox"]
        self.graph = span(self.frames.names("link"), movable)
        self.base = self.graph.root_of(self.frames.canonical_link)

    def read(self) -> None:
        """Add links, frames and constraints."""
        self._free_base()
        for link in self.graph.ordered():
            node = self.frames.node("link", link)
            with node.blamed():
                self._add_link(link, node)
                add_shapes(self.builder, node, link, self.options.meshes)
        self._add_frames()
        joints = {joint.name: joint for joint in self.joints}
        for joint in self.joints:
            with joint.node.blamed():
                if joint.type == "gearbox":
                    add_gearbox(self.builder, joint, self.graph, self.frames)
                elif self.graph.above.get(joint.child) is joint:
                    add_mimic(self.builder, joint, joints)
                else:
                    add_loop(self.builder, joint, self.frames)

    def _free_base(self) -> None:
        """Let go of a base that is to float but that the file holds in the world."""
        remark = self.model.document.report.remark
        static = self.model.child("static")
        if static is not None and static.text_flag():
            remark("a static model, whose joints move here nevertheless", self.base)
        if self.options.floating_base and self.base in self.graph.above:
            joint = self.graph.above.pop(self.base)
            self.joints.remove(joint)
            joint.node.skip("*")
            remark("joints that held the base in the world, replaced by the free one", joint.name)

    def _add_link(self, link: str, node: Node) -> None:
        inertia = _read_inertia(link, node)
        gravity = node.child("gravity")
        is_weightless = gravity is not None and not gravity.text_flag()
        held = {"gravity_compensation": float(is_weightless)}
        joint = self.graph.above.get(link)
        if joint is not None:
            parent, child = self.frames.link_pose(joint.parent), self.frames.link_pose(link)
            with joint.node.blamed():
                self.builder.add_body(
                    link,
                    joint.parent,
                    joint.joint_type(self.frames),
                    parent.inverse() @ joint.pose,
                    origin=joint.pose.inverse() @ child,
                    inertia=inertia,
                    joint_name=joint.name,
                    **held,
                    **joint.data(),
                )
        elif link != self.base:
            remark = node.document.report.remark
            remark("links that no joint carries, which move freely", link)
            self.builder.add_body(link, WORLD, Free(), inertia=inertia, **held)
        elif self.options.floating_base:
            self.builder.add_body(
                link, WORLD, Free(), inertia=inertia, joint_name=ROOT_JOINT, **held
            )
        else:
            pose = self.frames.link_pose(link)
            self.builder.add_body(link, WORLD, Fixed(), pose, inertia=inertia, **held)

    def _add_frames(self) -> None:
        """Add the file's own frames and one for each joint of the tree, at its moving side."""
        tree = {joint.name for joint in self.graph.above.values()}
        if self.options.floating_base and not self.builder.has_frame(ROOT_JOINT):
            self.builder.add_frame(ROOT_JOINT, self.base)
        for kind in ("frame", "joint"):
            for name in self.frames.names(kind):
                if self.builder.has_frame(name) or (kind == "joint" and name not in tree):
                    continue
                node = self.frames.node(kind, name)
                link = self.frames.carrier(name, node)
                pose = self.frames.pose(name, node, kind)
                self.builder.add_frame(name, link, self.frames.link_pose(link).inverse() @ pose)


def _read_inertia(link: str, parent: Node) -> Inertia:
    """What <inertial> says; SDF gives a link without it one kilogram and unit moments."""
    node = parent.child("inertial")
    if node is None:
        parent.document.report.remark(
            "links without <inertial>, to which SDF gives 1 kg and unit moments of inertia", link
        )
        return Inertia(1.0, np.zeros(3), np.eye(3))
    if node.flag("auto"):
        raise node.error("inertias are not computed from shapes", "auto")
    mass = _number(node, "mass", 1.0)
    moments = node.child("inertia")
    names = {"ixx": 1.0, "ixy": 0.0, "ixz": 0.0, "iyy": 1.0, "iyz": 0.0, "izz": 1.0}
    if moments is not None:
        names = {name: _number(moments, name, default) for name, default in names.items()}
    xx, xy, xz, yy, yz, zz = names.values()
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    pose, relative_to = read_pose(node)
    if relative_to is not None:
        raise node.error(f"its pose is relative to {relative_to!r}, which is not read")
    with node.blamed():
        inertia = judged_inertia(link, mass, np.zeros(3), matrix, node.document.report)
    return inertia.moved(pose)


def _number(parent: Node, tag: str, default: float) -> float:
    node = parent.child(tag)
    return default if node is None else node.text_number()

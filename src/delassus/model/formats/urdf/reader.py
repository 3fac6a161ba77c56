"""URDF, and the loops and couplings that URDF+ adds to it."""

from __future__ import annotations

from ...builder import ModelBuilder
from ...model import Model
from ...parts.constraints import Coupling, Gear
from ...parts.contacts import ContactExclusion
from ...parts.elements import WORLD
from ...parts.joints import Fixed, Free, JointType, Planar, Prismatic, Revolute
from ..options import ROOT_JOINT, Options
from ..xml import Document, Node
from .plus import add_couplings, add_loops, remark_on_untied_joints
from .shapes import ShapeReader
from .tree import UrdfJoint, UrdfLink, UrdfTree, read_tree
from .values import read_axis, read_inertia, read_origin

_AXIAL = {"revolute": Revolute, "continuous": Revolute, "prismatic": Prismatic, "planar": Planar}
_TYPES = (*_AXIAL, "fixed", "floating")


def read_urdf(document: Document, options: Options) -> Model:
    """The model of a <robot> document."""
    robot = document.root
    robot.attribute("version")
    builder = ModelBuilder(robot.required("name"))
    tree = read_tree(document)
    names = _body_names(tree, options.floating_base, document)
    shapes = ShapeReader(robot, options.meshes)
    for link in tree.ordered():
        with link.node.blamed():
            _add_link(builder, link, names, options.floating_base)
        shapes.add(builder, link.node, names[link.name])
    _add_joint_frames(builder, tree, names, options.floating_base)
    for joint in tree.joints.values():
        _add_mimic(builder, joint, tree)
    add_loops(builder, robot, tree, names)
    add_couplings(builder, robot, tree)
    _exclude_base(builder, tree, names)
    document.report_unused()
    model = builder.build()
    remark_on_untied_joints(model, document)
    return model


def _body_names(tree: UrdfTree, floating_base: bool, document: Document) -> dict[str, str]:
    """Links keep their names, but for one called "world" that is not the world."""
    names = {name: name for name in tree.links}
    if WORLD in names and (floating_base or tree.root.name != WORLD):
        new = f"{WORLD}_link"
        while new in names:
            new += "_"
        names[WORLD] = new
        document.report.remark(
            '"world" is the fixed world, so the link of this name is called', new
        )
    return names


def _add_link(
    builder: ModelBuilder, link: UrdfLink, names: dict[str, str], floating_base: bool
) -> None:
    inertia = read_inertia(link.node)
    name, joint = names[link.name], link.parent_joint
    if joint is not None:
        node = joint.node
        data = _read_joint_data(joint)
        with node.blamed():
            builder.add_body(
                name,
                names[joint.parent],
                _read_joint_type(joint),
                read_origin(node),
                inertia=inertia,
                joint_name=joint.name,
                independent=node.flag("independent"),
                **data,
            )
    elif floating_base:
        builder.add_body(name, WORLD, Free(), inertia=inertia, joint_name=ROOT_JOINT)
    elif name != WORLD:
        builder.add_body(name, WORLD, Fixed(), inertia=inertia)


def _add_joint_frames(
    builder: ModelBuilder, tree: UrdfTree, names: dict[str, str], floating_base: bool
) -> None:
    for joint in tree.joints.values():
        if not builder.has_frame(joint.name):
            builder.add_frame(joint.name, names[joint.child])
    if floating_base and not builder.has_frame(ROOT_JOINT):
        builder.add_frame(ROOT_JOINT, names[tree.root.name])


def _exclude_base(builder: ModelBuilder, tree: UrdfTree, names: dict[str, str]) -> None:
    """Links that a joint joins do not touch, also where one is fixed to the world.

    Simulators let shapes of the world touch all bodies, as it may have walls and tables.
    """
    for joint in tree.joints.values():
        links = [tree.links[name].node for name in (joint.parent, joint.child)]
        can_touch = all(list(node.children("collision")) for node in links)
        parent = names[joint.parent]
        moves = joint.type in _AXIAL
        if can_touch and moves and parent != WORLD and builder.frame(parent).body < 0:
            builder.add_contact_exclusion(ContactExclusion(parent, names[joint.child]))


def _read_joint_type(joint: UrdfJoint) -> JointType:
    if joint.type not in _TYPES:
        raise joint.node.error(f"unknown joint type {joint.type!r}; URDF has {', '.join(_TYPES)}")
    if joint.type in _AXIAL:
        return _AXIAL[joint.type](tuple(read_axis(joint.node, joint.name)))
    # Exporters write these for joints that cannot use them.
    joint.node.skip("axis", "limit", "dynamics", "safety_controller", "calibration")
    return Free() if joint.type == "floating" else Fixed()


def _read_joint_data(joint: UrdfJoint) -> dict[str, float]:
    """Limits and passive data of a joint of one coordinate; the others have none in URDF."""
    if joint.type not in ("revolute", "continuous", "prismatic"):
        return {}
    data: dict[str, float] = {}
    dynamics, limit = joint.node.child("dynamics"), joint.node.child("limit")
    if dynamics is not None:
        data["damping"] = dynamics.number("damping", 0.0)
        data["friction"] = dynamics.number("friction", 0.0)
    if limit is not None:
        if limit.attribute("effort") is not None:
            data["effort_limit"] = limit.limit("effort")
        if limit.attribute("velocity") is not None:
            data["velocity_limit"] = limit.limit("velocity")
        if joint.type != "continuous":
            _warn_of_absent_range(joint, limit)
            data["lower"], data["upper"] = limit.limit("lower", 0.0), limit.limit("upper", 0.0)
    return data


def _warn_of_absent_range(joint: UrdfJoint, limit: Node) -> None:
    if limit.attribute("lower") is None and limit.attribute("upper") is None:
        limit.document.report.remark(
            "limits without lower and upper, which URDF takes to be zero", joint.name
        )


def _add_mimic(builder: ModelBuilder, joint: UrdfJoint, tree: UrdfTree) -> None:
    mimic = joint.node.child("mimic")
    if mimic is None:
        return
    name = mimic.required("joint")
    ratio, offset = mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
    other = tree.joints.get(name)
    if other is None:  # published files hold such, and move freely in other libraries
        mimic.document.report.remark(
            "joints that mimic one that does not exist, and now move freely",
            f"{joint.name} (mimics {name!r})",
        )
        return
    for each in (joint, other):
        if each.type in ("floating", "planar"):
            raise mimic.error(f"joint {each.name!r} is {each.type}, which cannot be mimicked")
    if joint.type == "fixed":
        joint.node.document.report.ignore("<mimic> of a fixed joint")
        return
    with mimic.blamed():
        if other.type == "fixed":
            builder.add_constraint(Coupling({joint.name: 1.0}, offset))
        else:
            builder.add_constraint(Gear(joint.name, other.name, ratio, offset))

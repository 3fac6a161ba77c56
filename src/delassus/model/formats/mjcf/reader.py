"""MJCF, read by MuJoCo's own compiler and converted from the compiled model.

Coordinates are MuJoCo's: a hinge or slide at its `ref` has q = ref here too, so that conversions of
states (`delassus.mujoco`) only reorder numbers and turn velocities. Several joints of one body
become a chain of bodies without mass, all with the body's frame.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ....errors import FileFormatError, MissingDependencyError, ModelError
from ....extras import install_command
from ....spatial.inertia import Inertia
from ....spatial.transform import Transform
from ...builder import ModelBuilder
from ...model import Model
from ...parts.joints import Fixed, Free, JointType, Prismatic, Revolute, Spherical
from ..options import ROOT_JOINT, Options
from ..report import Report
from ..xml import Document
from .actuators import add_actuators
from .constraints import add_equalities
from .contacts import add_contacts
from .flags import is_disabled, report_flags
from .guard import as_one, check_mjcf
from .keyframes import with_keyframes
from .names import MjcfNames, blamed, placement_of
from .shapes import add_geoms
from .unread import report_unread

_is_broken: list[str] = []  # files on which MuJoCo has failed with an error that is not its own

FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint

# Numbers of elements in a compiled model that have no meaning here.
_IGNORED = {
    "nsensor": "<sensor>", "nflex": "<flex>", "nskin": "<skin>",
    "nplugin": "<plugin>", "ncam": "<camera>", "nlight": "<light>", "nmocap": "mocap bodies",
    "nnumeric": "<numeric>", "ntext": "<text>", "ntuple": "<tuple>",
}  # fmt: skip


def read_mjcf(document: Document, options: Options) -> Model:
    """The model of a <mujoco> document, with bodies and joints in MuJoCo's order."""
    compiled = _compile(document, options)
    report = document.report
    names = MjcfNames(compiled)
    builder = ModelBuilder(compiled.names[: compiled.names.find(b"\0")].decode() or "model")
    builder.gravity = _gravity(compiled)
    builder.describes_world = True
    freed = _freed_body(compiled, names) if options.floating_base else None
    for index in range(1, compiled.nbody):
        _add_body(builder, compiled, names, index, index == freed, report)
    _add_sites(builder, compiled, names, report)
    add_geoms(builder, compiled, names, options.meshes, report)
    add_equalities(builder, compiled, names, report)
    controls = add_actuators(builder, compiled, names, report)
    add_contacts(builder, compiled, names, report)
    _report_unused(compiled, report)
    report_unread(compiled, report)
    report_flags(compiled, report)
    _remark_on_compensation(compiled, names, freed, report)
    return with_keyframes(builder.build(), compiled, names, controls, freed)


def _compile(document: Document, options: Options):
    try:
        import mujoco
    except ImportError:
        raise MissingDependencyError(
            f"{document.file} is an MJCF file, which MuJoCo's own compiler reads: "
            f"{install_command('mjcf')}"
        ) from None
    check_mjcf(document, options.path)
    if _is_broken:
        raise FileFormatError(
            f"{document.file}: MuJoCo has failed on a file before, and may not read another one: "
            "start Python again"
        )
    try:
        return _compiled(mujoco, document, options.path)
    except FileFormatError:
        raise
    except (ValueError, mujoco.FatalError) as error:
        reason = " ".join(str(error).split())
        raise FileFormatError(f"{document.file}: MuJoCo cannot compile it: {reason}") from None
    except Exception as error:  # which MuJoCo does not foresee, and may keep a lock after
        _is_broken.append(document.file)
        raise FileFormatError(f"{document.file}: MuJoCo fails on it: {error}") from None


def _compiled(mujoco, document: Document, path: Path):
    try:
        if path.suffix.lower() == ".xml":
            specification = mujoco.MjSpec.from_file(str(path))
        else:  # MuJoCo goes by the name, and reads no other
            specification = mujoco.MjSpec.from_string(as_one(document, path))
            specification.modelfiledir = str(path.absolute().parent)
        # Ranges of muscles are found by a simulation that may never end, and are not used here.
        specification.compiler.LRopt.mode = mujoco.mjtLRMode.mjLRMODE_NONE
    except AttributeError:  # of a version before specifications
        return mujoco.MjModel.from_xml_path(str(path))
    return specification.compile()


def _gravity(compiled) -> np.ndarray:
    if is_disabled(compiled, "gravity"):
        return np.zeros(3)
    return np.array(compiled.opt.gravity)


def _freed_body(compiled, names: MjcfNames) -> int | None:
    """The body to free for a floating base; None if the file has a free root already."""
    roots = [i for i in range(1, compiled.nbody) if compiled.body_parentid[i] == 0]
    types = [compiled.jnt_type[compiled.body_jntadr[i]] for i in roots if compiled.body_jntnum[i]]
    if FREE in types:
        return None
    if len(roots) == 1 and not types:
        return roots[0]
    raise ModelError(
        "a floating base needs one root body that is free or has no joint; the root bodies are "
        + ", ".join(repr(names.bodies[i]) for i in roots)
    )


def _add_body(
    builder: ModelBuilder, compiled, names: MjcfNames, index: int, freed: bool, report: Report
) -> None:
    name, parent = names.bodies[index], names.bodies[compiled.body_parentid[index]]
    with blamed("body", name):
        at = placement_of(compiled.body_pos[index], compiled.body_quat[index])
        axes = placement_of(compiled.body_ipos[index], compiled.body_iquat[index])
        principal = np.diag(compiled.body_inertia[index])
        inertia = Inertia(float(compiled.body_mass[index]), np.zeros(3), principal).moved(axes)
    first = int(compiled.body_jntadr[index])
    joints = range(first, first + int(compiled.body_jntnum[index]))
    held = {"gravity_compensation": float(compiled.body_gravcomp[index])}
    if freed:
        builder.add_body(name, parent, Free(), inertia=inertia, joint_name=ROOT_JOINT, **held)
        return
    if not joints:
        builder.add_body(name, parent, Fixed(), at, inertia=inertia, **held)
        return
    for joint in joints:
        is_last = joint == joints[-1]
        own = name if is_last else _intermediate(builder, name, names.joints[joint])
        with blamed("joint", names.joints[joint]):
            joint_type, placement, origin = _motion(compiled, joint, at)
        builder.add_body(
            own,
            parent,
            joint_type,
            placement,
            origin=origin,
            inertia=inertia if is_last else Inertia(),
            joint_name=names.joints[joint],
            **(held if is_last else {}),
            **_joint_data(compiled, names, joint, joint_type, report),
        )
        parent, at = own, Transform()


def _intermediate(builder: ModelBuilder, body: str, joint: str) -> str:
    """A name for the body between two joints of one body."""
    name = f"{body}_{joint}"
    while builder.has_frame(name) or builder.has_body(name):
        name += "_"
    return name


def _motion(compiled, joint: int, at: Transform) -> tuple[JointType, Transform, Transform]:
    """The type of a joint, its placement on the parent, and the body's frame in the joint's."""
    kind = compiled.jnt_type[joint]
    if kind == FREE:  # its q is the pose in the world, wherever the file puts the body
        return Free(), Transform(), Transform()
    anchor = placement_of(compiled.jnt_pos[joint])
    placement, origin = at @ anchor, anchor.inverse()
    if kind == BALL:
        return Spherical(), placement, origin
    axis = tuple(compiled.jnt_axis[joint])
    joint_type = Revolute(axis) if kind == HINGE else Prismatic(axis)
    reference = float(compiled.qpos0[compiled.jnt_qposadr[joint]])
    return joint_type, placement @ joint_type.displacement([-reference]), origin


def _joint_data(compiled, names: MjcfNames, joint: int, joint_type, report: Report) -> dict:
    dofs = slice(compiled.jnt_dofadr[joint], compiled.jnt_dofadr[joint] + joint_type.nv)
    start = compiled.jnt_qposadr[joint]
    rest = np.array(compiled.qpos_spring[start : start + joint_type.nq])
    if joint_type.quaternion is not None:
        rest[joint_type.quaternion :] = np.roll(rest[joint_type.quaternion :], -1)
    data = {
        "damping": np.maximum(compiled.dof_damping[dofs], 0.0),
        "friction": compiled.dof_frictionloss[dofs],
        "armature": compiled.dof_armature[dofs],
        "stiffness": float(compiled.jnt_stiffness[joint]),
        "rest": rest,
    }
    if (compiled.dof_damping[dofs] < 0.0).any():
        report.remark("joints whose damping is negative, taken as none", names.joints[joint])
    for name, part in (
        ("damping", "damper"),
        ("friction", "frictionloss"),
        ("stiffness", "spring"),
    ):
        if is_disabled(compiled, part):
            del data[name]
    if compiled.jnt_limited[joint] and not is_disabled(compiled, "limit"):
        if joint_type.nq == 1:
            data["lower"], data["upper"] = map(float, compiled.jnt_range[joint])
        else:
            report.remark("limits of ball joints, left out", names.joints[joint])
    if joint_type.nq == 1 and compiled.jnt_actfrclimited[joint]:
        data["effort_limit"] = float(np.abs(compiled.jnt_actfrcrange[joint]).max())
    if _is_nonlinear(compiled, "jnt_stiffnesspoly", joint) or _is_nonlinear(
        compiled, "dof_dampingpoly", dofs
    ):
        report.remark(
            "springs and dampers that are not linear, taken as linear", names.joints[joint]
        )
    return data


def _is_nonlinear(compiled, field: str, where) -> bool:
    """Whether one of the polynomials that newer versions of MuJoCo have is set."""
    return bool(np.any(getattr(compiled, field)[where])) if hasattr(compiled, field) else False


def _add_sites(builder: ModelBuilder, compiled, names: MjcfNames, report: Report) -> None:
    for i, name in enumerate(names.sites):
        if builder.has_frame(name):
            report.remark("sites renamed, as a body has their name", f"{name}_site")
            names.sites[i] = name = f"{name}_site"
        with blamed("site", name):
            at = placement_of(compiled.site_pos[i], compiled.site_quat[i])
        builder.add_frame(name, names.bodies[compiled.site_bodyid[i]], at)


def _report_unused(compiled, report: Report) -> None:
    for field, what in _IGNORED.items():
        count = int(getattr(compiled, field, 0))
        if count:
            report.ignore(what, count)
    if compiled.opt.density or compiled.opt.viscosity:
        report.ignore("the fluid of <option>")


def _remark_on_compensation(compiled, names: MjcfNames, freed: int | None, report: Report) -> None:
    """Tell of bodies that become one here and whose weights are compensated in different parts."""
    carriers = [0]
    parts: dict[int, set[float]] = {}
    for i in range(1, compiled.nbody):
        moves = i == freed or compiled.body_jntnum[i] > 0
        carriers.append(i if moves else carriers[compiled.body_parentid[i]])
        if compiled.body_mass[i] > 0.0:
            parts.setdefault(carriers[i], set()).add(float(compiled.body_gravcomp[i]))
    for carrier, found in parts.items():
        if carrier and len(found) > 1:
            subject = "bodies fixed together with different gravcomp, of which the mean is taken"
            report.remark(subject, names.bodies[carrier])

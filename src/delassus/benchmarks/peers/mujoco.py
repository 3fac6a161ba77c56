"""Models of this library for MuJoCo, so that both simulate the same mechanism."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from ... import Free, Model, Prismatic, Revolute, SettingError, Spherical
from ...model.parts.constraints import Closure
from .packages import package

SOLVER_REFERENCE = (0.002, 1.0)  # of all constraints: as stiff as two steps of a millisecond allow
FLOOR = "floor"


def mujoco() -> ModuleType:
    """The simulator that ours is compared with."""
    return package("mujoco", "the comparison needs MuJoCo", "mjcf")


def mujoco_model(model: Model, dt: float, friction: float = 0.8) -> Any:
    """An MjModel on a plane: elliptic cones, implicitfast, one `connect` for each closed hinge.

    A hinge that closes a planar loop is held by one point: that is what MuJoCo does fastest.
    """
    mj = mujoco()
    spec = mj.MjSpec()
    spec.option.timestep, spec.option.gravity = dt, list(model.gravity)
    spec.option.cone = mj.mjtCone.mjCONE_ELLIPTIC
    spec.option.integrator = mj.mjtIntegrator.mjINT_IMPLICITFAST
    spec.compiler.degree = False
    made = [spec.worldbody]
    for body in model.bodies:
        made.append(_add_body(mj, made[body.parent + 1], body))
    _add_shapes(mj, spec, model, made, friction)
    for number, constraint in enumerate(model.constraints):
        _add_loop(mj, spec, model, constraint, number)
    for actuator in model.actuators:
        _add_actuator(mj, spec, actuator)
    return spec.compile()


def _quaternion(rotation: np.ndarray) -> list[float]:
    """w x y z"""
    found = np.zeros(4)
    mujoco().mju_mat2Quat(found, np.ascontiguousarray(rotation).ravel())
    return found.tolist()


def _add_body(mj: ModuleType, parent: Any, body: Any) -> Any:
    place, inertia = body.placement, body.inertia
    made = parent.add_body(
        name=body.name, pos=place.translation.tolist(), quat=_quaternion(place.rotation)
    )
    made.explicitinertial = True
    made.mass, made.ipos = inertia.mass, inertia.center.tolist()
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.matrix
    made.fullinertia = [xx, yy, zz, xy, xz, yz]
    joint, data = body.joint, body.joint.data
    if isinstance(joint.type, Free):
        made.add_freejoint(name=joint.name)
        return made
    kinds = {
        Revolute: mj.mjtJoint.mjJNT_HINGE,
        Prismatic: mj.mjtJoint.mjJNT_SLIDE,
        Spherical: mj.mjtJoint.mjJNT_BALL,
    }
    if type(joint.type) not in kinds:
        raise SettingError(f"joint {joint.name!r} has a type that is not handed to MuJoCo")
    told = {"name": joint.name, "type": kinds[type(joint.type)]}
    if not isinstance(joint.type, Spherical):
        told["axis"] = list(joint.type.axis)
        if np.isfinite([data.lower[0], data.upper[0]]).all():
            told |= {"limited": True, "range": [data.lower[0], data.upper[0]]}
            told["solref_limit"] = SOLVER_REFERENCE
    made.add_joint(
        **told,
        damping=[data.damping[0], 0.0, 0.0],
        armature=data.armature[0],
        frictionloss=data.friction[0],
    )
    return made


def _add_shapes(mj: ModuleType, spec: Any, model: Model, made: list, friction: float) -> None:
    """The floor, and shapes that touch nothing but it."""
    touch = {"friction": [friction, 0.0, 0.0], "condim": 3, "solref": SOLVER_REFERENCE}
    plane = mj.mjtGeom.mjGEOM_PLANE
    spec.worldbody.add_geom(name=FLOOR, type=plane, size=[5.0, 5.0, 0.1], conaffinity=2, **touch)
    kinds = {
        "sphere": (mj.mjtGeom.mjGEOM_SPHERE, lambda s: [s[0], 0.0, 0.0]),
        "box": (mj.mjtGeom.mjGEOM_BOX, lambda s: [0.5 * x for x in s]),
        "capsule": (mj.mjtGeom.mjGEOM_CAPSULE, lambda s: [s[0], 0.5 * s[1], 0.0]),
        "cylinder": (mj.mjtGeom.mjGEOM_CYLINDER, lambda s: [s[0], 0.5 * s[1], 0.0]),
    }
    for shape in model.shapes:
        if shape.role != "collision" or shape.kind not in kinds:
            continue
        frame = model.frame(shape.frame)
        place, (kind, size) = frame.placement @ shape.placement, kinds[shape.kind]
        made[frame.body + 1].add_geom(
            type=kind, size=size(shape.size), pos=place.translation.tolist(),
            quat=_quaternion(place.rotation), contype=2, conaffinity=0, **touch,
        )  # fmt: skip


def _add_loop(mj: ModuleType, spec: Any, model: Model, constraint: Any, number: int) -> None:
    if not (isinstance(constraint, Closure) and isinstance(constraint.joint_type, Revolute)):
        raise SettingError(f"{constraint} is not handed to MuJoCo")
    ends = [model.frame(name) for name in (constraint.frame, constraint.other)]
    names = [model.bodies[end.body].name if end.body >= 0 else "world" for end in ends]
    spec.add_equality(
        name=f"loop_{number}", type=mj.mjtEq.mjEQ_CONNECT, objtype=mj.mjtObj.mjOBJ_BODY,
        name1=names[0], name2=names[1], data=[*ends[0].placement.translation, *[0.0] * 9],
        solref=SOLVER_REFERENCE,
    )  # fmt: skip


def _add_actuator(mj: ModuleType, spec: Any, actuator: Any) -> None:
    made = spec.add_actuator(name=actuator.name, target=actuator.joint)
    made.trntype = mj.mjtTrn.mjTRN_JOINT
    made.gear[0] = actuator.gear[0]
    made.biastype = mj.mjtBias.mjBIAS_AFFINE
    made.gainprm[0] = actuator.stiffness
    made.biasprm[1], made.biasprm[2] = -actuator.stiffness, -actuator.damping

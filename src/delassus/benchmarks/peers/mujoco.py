"""Models of this library for MuJoCo, so that both simulate the same mechanism.

| here | in MuJoCo |
| --- | --- |
| a free body that a `Weld` holds in the world | a body without a joint |
| `Weld` of two bodies | `weld` |
| `Connect`; `Closure` by a hinge or a universal joint | `connect` |
| `Universal` | two hinges |

A hinge that closes a planar loop is held by one point: that is what MuJoCo does fastest. For a
universal joint that is one row less, so that a loop may have a freedom more. Meshes do not collide.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from ... import Free, Model, Prismatic, Revolute, SettingError, Spherical, Universal
from ...model.parts.constraints import Closure, Connect, Weld
from ...model.parts.elements import WORLD
from ...spatial.transform import Transform
from .packages import package

# Time constant and damping ratio of all rows: those that MuJoCo takes by itself, and as stiff as
# two steps of a millisecond allow.
USUAL, STIFF = (0.02, 1.0), (0.002, 1.0)
FLOOR = "floor"


def mujoco() -> ModuleType:
    """The simulator that ours is compared with."""
    return package("mujoco", "the comparison needs MuJoCo", "mjcf")


def mujoco_model(
    model: Model,
    dt: float,
    friction: float = 0.8,
    touches_all: bool = False,
    reference: tuple[float, float] = STIFF,
) -> Any:
    """An MjModel on a plane: elliptic cones, implicitfast.

    Shapes touch nothing but the floor, or with `touches_all` what ours touch too.
    """
    mj = mujoco()
    spec = mj.MjSpec()
    spec.option.timestep, spec.option.gravity = dt, list(model.gravity)
    spec.option.cone = mj.mjtCone.mjCONE_ELLIPTIC
    spec.option.integrator = mj.mjtIntegrator.mjINT_IMPLICITFAST
    spec.compiler.degree = False
    spec.default.geom.solref = spec.default.equality.solref = reference
    spec.default.joint.solref_limit = reference
    made, held = [spec.worldbody], held_bodies(model)
    for body in model.bodies:
        made.append(_add_body(mj, made[body.parent + 1], body, held.get(body.name)))
    _add_shapes(mj, spec, model, made, friction, touches_all)
    if touches_all:
        _add_exclusions(spec, model)
    for number, constraint in enumerate(model.constraints):
        if not _holds(model, constraint):
            _add_loop(mj, spec, model, constraint, number)
    for actuator in model.actuators:
        _add_actuator(mj, spec, model, actuator)
    return spec.compile()


def held_bodies(model: Model) -> dict[str, Transform]:
    """Free bodies that the world holds, and where."""
    return {
        model.bodies[_ends(model, c)[0].body].name: _ends(model, c)[1].placement
        @ _ends(model, c)[0].placement.inverse()
        for c in model.constraints
        if _holds(model, c)
    }


def _ends(model: Model, constraint: Any) -> list[Any]:
    return [_frame(model, name) for name in (constraint.frame, constraint.other)]


def _frame(model: Model, name: str) -> Any:
    """A frame; that of the world has no body."""
    return _WorldFrame() if name == WORLD else model.frame(name)


class _WorldFrame:
    body, placement = -1, Transform(np.eye(3), np.zeros(3))


def _holds(model: Model, constraint: Any) -> bool:
    """Whether a constraint welds a free body of the world to the world."""
    if not isinstance(constraint, Weld):
        return False
    first, second = _ends(model, constraint)
    if second.body >= 0 or first.body < 0:
        return False
    body = model.bodies[first.body]
    return body.parent < 0 and isinstance(body.joint.type, Free)


def _quaternion(rotation: np.ndarray) -> list[float]:
    """w x y z"""
    found = np.zeros(4)
    mujoco().mju_mat2Quat(found, np.ascontiguousarray(rotation).ravel())
    return found.tolist()


def _add_body(mj: ModuleType, parent: Any, body: Any, held: Transform | None) -> Any:
    place, inertia = body.placement if held is None else held, body.inertia
    made = parent.add_body(
        name=body.name, pos=place.translation.tolist(), quat=_quaternion(place.rotation)
    )
    made.explicitinertial = True
    made.mass, made.ipos = inertia.mass, inertia.center.tolist()
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia.matrix
    made.fullinertia = [xx, yy, zz, xy, xz, yz]
    joint = body.joint
    if held is not None:
        return made
    if isinstance(joint.type, Free):
        made.add_freejoint(name=joint.name)
    elif isinstance(joint.type, Universal):
        for k, axis in enumerate((joint.type.first, joint.type.second)):
            _add_axis(mj, made, joint, k, mj.mjtJoint.mjJNT_HINGE, axis)
    elif isinstance(joint.type, Spherical):
        damping = [joint.data.damping[0], 0.0, 0.0]
        made.add_joint(name=joint.name, type=mj.mjtJoint.mjJNT_BALL, damping=damping)
    elif isinstance(joint.type, (Revolute, Prismatic)):
        is_hinge = isinstance(joint.type, Revolute)
        kind = mj.mjtJoint.mjJNT_HINGE if is_hinge else mj.mjtJoint.mjJNT_SLIDE
        _add_axis(mj, made, joint, 0, kind, joint.type.axis)
    else:
        raise SettingError(f"joint {joint.name!r} has a type that is not handed to MuJoCo")
    return made


def _add_axis(mj: ModuleType, made: Any, joint: Any, k: int, kind: Any, axis: Any) -> None:
    """Axis number k of a joint; the first has the joint's name."""
    data = joint.data
    told = {"name": joint.name if k == 0 else f"{joint.name}_{k}", "type": kind}
    told["axis"] = [float(x) for x in axis]
    if np.isfinite([data.lower[k], data.upper[k]]).all():
        told |= {"limited": True, "range": [data.lower[k], data.upper[k]]}
    made.add_joint(
        **told,
        damping=[data.damping[k], 0.0, 0.0],
        armature=data.armature[k],
        frictionloss=data.friction[k],
    )


def _add_shapes(
    mj: ModuleType, spec: Any, model: Model, made: list, friction: float, touches_all: bool
) -> None:
    """The floor, and shapes that touch it, and each other if told."""
    touch = {"friction": [friction, 0.0, 0.0], "condim": 3}
    plane, own = mj.mjtGeom.mjGEOM_PLANE, 2 if touches_all else 0
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
            quat=_quaternion(place.rotation), contype=2, conaffinity=own, **touch,
        )  # fmt: skip


def _add_exclusions(spec: Any, model: Model) -> None:
    """What does not touch here: bodies that a joint or loop joins, and pairs that are told."""
    names = [body.name for body in model.bodies]
    pairs = {(b.parent, k) for k, b in enumerate(model.bodies)}
    told = [c for c in model.constraints if hasattr(c, "frame")]
    pairs |= {tuple(end.body for end in _ends(model, c)) for c in told}
    pairs |= {tuple(_frame(model, x).body for x in (e.frame, e.other))
              for e in model.contact_exclusions}  # fmt: skip
    for a, b in sorted({tuple(sorted(p)) for p in pairs if min(p) >= 0 and p[0] != p[1]}):
        spec.add_exclude(name=f"{names[a]} {names[b]}", bodyname1=names[a], bodyname2=names[b])


def _add_loop(mj: ModuleType, spec: Any, model: Model, constraint: Any, number: int) -> None:
    kinds = Revolute, Universal
    is_point = isinstance(constraint, Connect) or (
        isinstance(constraint, Closure) and isinstance(constraint.joint_type, kinds)
    )
    if not is_point and not isinstance(constraint, Weld):
        raise SettingError(f"{constraint} is not handed to MuJoCo")
    ends = _ends(model, constraint)
    names = [model.bodies[end.body].name if end.body >= 0 else "world" for end in ends]
    told = {"name": f"loop_{number}", "objtype": mj.mjtObj.mjOBJ_BODY, "name1": names[0]}
    told |= {"name2": names[1]}
    if is_point:
        data = [*ends[0].placement.translation, *[0.0] * 9]
        spec.add_equality(type=mj.mjtEq.mjEQ_CONNECT, data=data, **told)
        return
    second = ends[0].placement @ ends[1].placement.inverse()  # of the second body in the first
    relative = [*second.translation, *_quaternion(second.rotation)]
    data = [*ends[1].placement.translation, *relative, 1.0, 0.0]
    spec.add_equality(type=mj.mjtEq.mjEQ_WELD, data=data, **told)


def _add_actuator(mj: ModuleType, spec: Any, model: Model, actuator: Any) -> None:
    made = spec.add_actuator(name=actuator.name, target=actuator.joint)
    made.trntype = mj.mjtTrn.mjTRN_JOINT
    made.gear[0] = actuator.gear[0]
    made.biastype = mj.mjtBias.mjBIAS_AFFINE
    made.gainprm[0] = actuator.stiffness
    made.biasprm[1], made.biasprm[2] = -actuator.stiffness, -actuator.damping
    limits = [] if actuator.force_range is None else [np.abs(actuator.force_range).max()]
    effort = float(model.joint(actuator.joint).data.effort_limit[0])
    limit = min([*limits, effort])
    if np.isfinite(limit):
        made.forcelimited, made.forcerange = True, [-limit, limit]

"""Equality elements of a compiled MJCF model as constraints."""

from __future__ import annotations

from ...builder import ModelBuilder
from ...parts.constraints import Connect, Coupling, Gear, Implicit, Polynomial, Weld
from ..report import Report
from .flags import is_disabled
from .names import MjcfNames, blamed, placement_of

_CONNECT, _WELD, _JOINT, _TENDON = range(4)  # mjtEq
_SITE = 6  # mjtObj
_OF_JOINT = 1  # mjtWrap


def add_equalities(builder: ModelBuilder, compiled, names: MjcfNames, report: Report) -> None:
    """Add active equalities: connect, weld and relations of joints; tell of the others."""
    if is_disabled(compiled, "equality"):
        return
    for i, name in enumerate(names.equalities):
        kind = int(compiled.eq_type[i])
        if not compiled.eq_active0[i]:
            report.remark("equality constraints that are not active, left out", name)
        elif kind in (_CONNECT, _WELD):
            constraint = Connect if kind == _CONNECT else Weld
            with blamed("equality", name):
                builder.add_constraint(constraint(*_frames(builder, compiled, names, i)))
        elif kind == _JOINT:
            with blamed("equality", name):
                builder.add_constraint(_relation(compiled, names, i))
        elif kind == _TENDON and _holds_joints(compiled, i):
            with blamed("equality", name):
                builder.add_constraint(_sum_of_joints(compiled, names, i))
        else:
            report.remark("equality constraints of tendons or flexes, left out", name)


def _frames(builder: ModelBuilder, compiled, names: MjcfNames, i: int) -> tuple[str, str]:
    """The two frames of a connect or weld: sites, or new ones on the bodies."""
    first, second = int(compiled.eq_obj1id[i]), int(compiled.eq_obj2id[i])
    if compiled.eq_objtype[i] == _SITE:
        return names.sites[first], names.sites[second]
    data, name = compiled.eq_data[i], names.equalities[i]
    if compiled.eq_type[i] == _CONNECT:
        places = placement_of(data[0:3]), placement_of(data[3:6])
    else:
        places = placement_of(data[3:6], data[6:10]), placement_of(data[0:3])
    frames = f"{name}_successor", f"{name}_predecessor"
    for frame, body, placement in zip(frames, (first, second), places, strict=True):
        builder.add_frame(frame, names.bodies[body], placement)
    return frames


def _relation(compiled, names: MjcfNames, i: int) -> Gear | Coupling | Implicit:
    """q1 - ref1 = polynomial in q2 - ref2, or q1 - ref1 = constant."""
    first, second = int(compiled.eq_obj1id[i]), int(compiled.eq_obj2id[i])
    constant, slope, *higher = map(float, compiled.eq_data[i, :5])
    own = constant + float(compiled.qpos0[compiled.jnt_qposadr[first]])
    if second < 0:
        return Coupling({names.joints[first]: 1.0}, own)
    other = float(compiled.qpos0[compiled.jnt_qposadr[second]])
    joints = names.joints[first], names.joints[second]
    if any(higher):
        return Implicit(Polynomial((own, slope, *higher), other), joints)
    return Gear(*joints, slope, own - slope * other)


def _holds_joints(compiled, i: int) -> bool:
    """Whether an equality is a linear one of tendons that run over joints only."""
    numbers = [int(x) for x in (compiled.eq_obj1id[i], compiled.eq_obj2id[i]) if x >= 0]
    is_linear = len(numbers) == 1 or not compiled.eq_data[i, 2:5].any()
    return is_linear and all(joints_of_tendon(compiled, number) for number in numbers)


def _sum_of_joints(compiled, names: MjcfNames, i: int) -> Coupling:
    """l1 - l1_0 = a + b (l2 - l2_0), or l1 - l1_0 = a, with lengths of tendons."""
    first, second = int(compiled.eq_obj1id[i]), int(compiled.eq_obj2id[i])
    constant, slope = map(float, compiled.eq_data[i, :2])
    offset, coefficients = constant + float(compiled.tendon_length0[first]), {}
    for joint, factor in joints_of_tendon(compiled, first).items():
        coefficients[names.joints[joint]] = factor
    if second >= 0:
        offset -= slope * float(compiled.tendon_length0[second])
        for joint, factor in joints_of_tendon(compiled, second).items():
            name = names.joints[joint]
            coefficients[name] = coefficients.get(name, 0.0) - slope * factor
    return Coupling(coefficients, offset)


def joints_of_tendon(compiled, tendon: int) -> dict[int, float]:
    """The coefficient of each joint; none if the tendon runs along a path in space."""
    first = int(compiled.tendon_adr[tendon])
    wraps = range(first, first + int(compiled.tendon_num[tendon]))
    if any(int(compiled.wrap_type[k]) != _OF_JOINT for k in wraps):
        return {}
    found: dict[int, float] = {}
    for k in wraps:
        joint = int(compiled.wrap_objid[k])
        found[joint] = found.get(joint, 0.0) + float(compiled.wrap_prm[k])
    return found

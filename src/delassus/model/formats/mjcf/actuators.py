"""Actuators of a compiled MJCF model: motors and servos of joints, and of tendons over joints.

MuJoCo's force is gain u + b0 + b1 l + b2 l', l the gear's length, for all kinds of actuators with a
fixed gain and an affine bias. It is written by kp and kv here, see `parts.actuators`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np

from ....errors import DelassusError
from ...builder import ModelBuilder
from ...parts.actuators import Actuator, Range
from ..report import Report
from .constraints import joints_of_tendon
from .flags import is_disabled
from .names import MjcfNames, blamed

_FIXED_GAIN = 0  # mjtGain
_NO_BIAS, _AFFINE_BIAS = 0, 1  # mjtBias
_NO_DYNAMICS = 0  # mjtDyn
_JOINT, _JOINT_IN_PARENT, _TENDON = 0, 1, 3  # mjtTrn
_FREE, _BALL = 0, 1  # mjtJoint
# What actuators act on, where it is not a joint, and dynamics that they have.
_TRANSMISSIONS = {2: "slider-crank", 3: "tendon in space", 4: "site", 5: "body"}
_DYNAMICS = {1: "integrator", 4: "muscle"}
_FILTERS = (2, 3)
_GROUPS = 31  # groups that a file can disable


class _NotRepresented(Exception):
    """Why an actuator is left out."""


def add_actuators(builder: ModelBuilder, compiled, names: MjcfNames, report: Report) -> list[int]:
    """Add actuators that can be represented, and tell of the others.

    Returns the numbers in MuJoCo of the controls of those that were added.
    """
    found: list[Actuator] = []
    controls: list[int] = []
    for i, name in enumerate(names.actuators):
        try:
            with blamed("actuator", name):
                found.append(_actuator(compiled, names, i))
            controls.append(int(_field(compiled, "actuator_ctrladr", i, i)))
        except _NotRepresented as reason:
            report.remark("actuators that are not represented, left out", f"{name} ({reason})")
            continue
        if int(compiled.actuator_dyntype[i]) in _FILTERS:
            report.remark("filters of controls, left out: these act at once", name)
        if _field(compiled, "actuator_armature", i, 0) or _field(
            compiled, "actuator_damping", i, 0
        ):
            report.remark("armature and damping of actuators, left out", name)
    for actuator in _limited_by_joints(found, compiled, names, report):
        builder.add_actuator(actuator)
    _report_compensation(compiled, report)
    return controls


def _field(compiled, name: str, i: int, default: float) -> float:
    """A number of an actuator that older versions of MuJoCo do not have."""
    return getattr(compiled, name)[i] if hasattr(compiled, name) else default


def _actuator(compiled, names: MjcfNames, i: int) -> Actuator:
    _check_kind(compiled, i)
    transmission, moved = int(compiled.actuator_trntype[i]), int(compiled.actuator_trnid[i, 0])
    force, is_free = tuple(map(float, compiled.actuator_forcerange[i])), False
    if transmission == _TENDON:
        tendon = joints_of_tendon(compiled, moved)
        joints, gear = [names.joints[joint] for joint in tendon], _gear_of(compiled, i)[0]
        acted = {"joint": joints, "gear": [gear * factor for factor in tendon.values()]}
    else:
        is_free = int(compiled.jnt_type[moved]) == _FREE
        gear, in_parent = _gear(compiled, i, int(compiled.jnt_type[moved]), transmission)
        acted = {"joint": names.joints[moved], "gear": gear, "in_parent": in_parent}
    try:
        return Actuator(
            names.actuators[i],
            **acted,
            control_range=_control_range(compiled, i),
            force_range=force if compiled.actuator_forcelimited[i] else None,
            **_law(compiled, i, is_free),
        )
    except DelassusError as error:
        raise _NotRepresented(str(error)) from None


def _check_kind(compiled, i: int) -> None:
    """Raise an exception for what is neither a motor nor a servo of joints."""
    transmission, moved = int(compiled.actuator_trntype[i]), int(compiled.actuator_trnid[i, 0])
    is_on_joints = transmission in (_JOINT, _JOINT_IN_PARENT)
    if transmission == _TENDON:
        is_on_joints = bool(joints_of_tendon(compiled, moved))
    if not is_on_joints:
        raise _NotRepresented(_TRANSMISSIONS.get(transmission, "another transmission"))
    dynamics = int(compiled.actuator_dyntype[i])
    if dynamics != _NO_DYNAMICS and dynamics not in _FILTERS:
        raise _NotRepresented(_DYNAMICS.get(dynamics, "dynamics of its own"))
    if int(compiled.actuator_gaintype[i]) != _FIXED_GAIN:
        raise _NotRepresented("a gain that is not fixed")
    if int(compiled.actuator_biastype[i]) not in (_NO_BIAS, _AFFINE_BIAS):
        raise _NotRepresented("a bias that is not affine")
    if _field(compiled, "actuator_plugin", i, -1) >= 0:
        raise _NotRepresented("a plugin")
    if _field(compiled, "actuator_ctrlnum", i, 1) != 1:
        raise _NotRepresented("several controls")
    if _field(compiled, "actuator_delay", i, 0.0):
        raise _NotRepresented("a delay")
    group = int(compiled.actuator_group[i])
    if 0 <= group < _GROUPS and int(getattr(compiled.opt, "disableactuator", 0)) >> group & 1:
        raise _NotRepresented("its group is disabled")


def _law(compiled, i: int, is_free: bool) -> dict:
    """kind, gains, scale and offset of an actuator, from gain and affine bias."""
    gain = float(compiled.actuator_gainprm[i, 0])
    bias = compiled.actuator_biasprm[i, :3] * (compiled.actuator_biastype[i] == _AFFINE_BIAS)
    constant, by_length, by_rate = map(float, bias)
    if by_length > 0.0 or by_rate > 0.0:
        raise _NotRepresented("a bias that grows with length or velocity")
    if by_length < 0.0 and is_free:
        raise _NotRepresented("a position servo of a free joint")
    if by_length < 0.0:
        kind, gains = "position", {"stiffness": -by_length, "damping": -by_rate + 0.0}
        divisor = -by_length
    elif by_rate < 0.0:
        kind, gains, divisor = "velocity", {"damping": -by_rate}, -by_rate
    else:
        kind, gains, divisor = "torque", {}, 1.0
    return {"kind": kind, **gains, "scale": gain / divisor, "offset": constant / divisor}


def _gear_of(compiled, i: int) -> np.ndarray:
    """The numbers of a gear as the file has them."""
    return np.array(compiled.actuator_gear[int(_field(compiled, "actuator_outadr", i, i))])


def _gear(compiled, i: int, joint_type: int, transmission: int) -> tuple[np.ndarray, bool]:
    """The gear along a joint's degrees of freedom, and whether that is in the parent's axes."""
    gear, in_parent = _gear_of(compiled, i), transmission == _JOINT_IN_PARENT
    if joint_type == _BALL:
        return gear[:3], in_parent
    if joint_type != _FREE:
        return gear[:1], False
    # MuJoCo's free joint translates along the world's axes, and turns about the body's.
    if not in_parent and gear[:3].any():
        if gear[3:].any():
            raise _NotRepresented("a force in the world's axes and a torque in the body's")
        in_parent = True
    return gear, in_parent


def _control_range(compiled, i: int) -> Range | None:
    # Ranges stand by controls, in versions of MuJoCo that count these apart from actuators.
    row = int(_field(compiled, "actuator_ctrladr", i, i))
    if is_disabled(compiled, "clampctrl") or not compiled.actuator_ctrllimited[row]:
        return None
    lower, upper = compiled.actuator_ctrlrange[row]
    return float(lower), float(upper)


def _limited_by_joints(
    found: list[Actuator], compiled, names: MjcfNames, report: Report
) -> list[Actuator]:
    """Actuators with the forces that the ranges of their joints let through.

    A joint's `effort_limit` is symmetric. A range that is not becomes that of the joint's actuator,
    if it has one only.
    """
    count = Counter(name for actuator in found for name in actuator.joints)
    result = []
    for actuator in found:
        if len(actuator.joints) > 1:
            result.append(actuator)
            continue
        joint = names.joints.index(actuator.joint)
        lower, upper = map(float, compiled.jnt_actfrcrange[joint])
        if compiled.jnt_actfrclimited[joint] and lower != -upper and len(actuator.gear) == 1:
            if count[actuator.joint] == 1:
                actuator = _narrowed(actuator, lower, upper)
            else:
                subject = "joints of several actuators with forces limited unevenly, taken as even"
                report.remark(subject, actuator.joint)
        result.append(actuator)
    return result


def _narrowed(actuator: Actuator, lower: float, upper: float) -> Actuator:
    """An actuator whose gear times force is clipped to a range."""
    gear = actuator.gear[0]
    if gear == 0.0:
        return actuator
    ends = sorted((lower / gear, upper / gear))
    own = actuator.force_range or (-np.inf, np.inf)
    return replace(actuator, force_range=tuple(np.clip(own, *ends)))


def _report_compensation(compiled, report: Report) -> None:
    if hasattr(compiled, "jnt_actgravcomp") and compiled.jnt_actgravcomp.any():
        count = int(np.count_nonzero(compiled.jnt_actgravcomp))
        report.ignore("actuatorgravcomp= of <joint>", count)

"""Tendons of a compiled MJCF model that run over joints: their length is a sum of coordinates."""

from __future__ import annotations

import numpy as np

from ..report import Report

_JOINT = 1  # mjtWrap


def joints_of_tendon(compiled, tendon: int) -> dict[int, float]:
    """The coefficient of each joint; none if the tendon runs along a path in space."""
    first = int(compiled.tendon_adr[tendon])
    wraps = range(first, first + int(compiled.tendon_num[tendon]))
    if any(int(compiled.wrap_type[k]) != _JOINT for k in wraps):
        return {}
    found: dict[int, float] = {}
    for k in wraps:
        joint = int(compiled.wrap_objid[k])
        found[joint] = found.get(joint, 0.0) + float(compiled.wrap_prm[k])
    return found


def report_tendons(compiled, report: Report) -> None:
    """Tell of tendons in space, and of what tendons do by themselves."""
    count = int(compiled.ntendon)
    in_space = sum(not joints_of_tendon(compiled, k) for k in range(count))
    if in_space:
        report.ignore("<spatial> of <tendon>", in_space)
    own = np.zeros(count, bool)
    for field in ("stiffness", "damping", "frictionloss", "armature", "limited", "actfrclimited"):
        own |= np.asarray(getattr(compiled, f"tendon_{field}", np.zeros(count)), bool)[:count]
    if own.any():
        report.ignore("springs, dampers, friction and limits of <tendon>", int(own.sum()))

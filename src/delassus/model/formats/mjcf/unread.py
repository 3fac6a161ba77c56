"""What changes the motion in MuJoCo, and has no meaning here: told once for each attribute.

Limits, friction of joints and equalities are hard here, whatever their softness in the file. The
table in docs/mjcf.md has every attribute of MuJoCo's schema, and a test keeps it complete.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..report import Report
from .constraints import joints_of_tendon
from .flags import is_disabled

_SOLREF = (0.02, 1.0)
_SOLIMP = (0.9, 0.95, 0.001, 0.5, 2.0)
_BALL = 1  # mjtJoint
_WELD = 1  # mjtEq
_EQUALITIES = {0: "connect", 1: "weld", 2: "joint> of <equality", 3: "tendon> of <equality"}


def report_unread(compiled, report: Report) -> None:
    """Tell of attributes of joints, equalities, geoms, pairs and tendons that MuJoCo moves by."""
    _report_limits(compiled, report)
    _report_friction(compiled, report)
    _report_springs(compiled, report)
    _report_equalities(compiled, report)
    _report_contacts(compiled, report)
    _report_tendons(compiled, report)
    if np.any(compiled.key_act):
        report.ignore("act= of <key>")


def _tell(report: Report, what: str, found: Iterable) -> None:
    count = int(np.count_nonzero(np.asarray(list(found), bool)))
    if count:
        report.ignore(what, count)


def _differ(values: np.ndarray, usual: tuple[float, ...]) -> np.ndarray:
    """Which rows are not MuJoCo's defaults."""
    return (np.reshape(values, (-1, len(usual))) != usual).any(axis=1)


def _field(owner, name: str, usual) -> np.ndarray:
    """A field that some versions of MuJoCo do not have."""
    return np.asarray(getattr(owner, name, usual))


def _report_limits(compiled, report: Report) -> None:
    if not is_disabled(compiled, "limit"):
        limited = np.asarray(compiled.jnt_limited, bool)
        for name, own in (
            ("margin", np.asarray(compiled.jnt_margin) != 0.0),
            ("solreflimit", _differ(compiled.jnt_solref, _SOLREF)),
            ("solimplimit", _differ(compiled.jnt_solimp, _SOLIMP)),
        ):
            _tell(report, f"{name}= of <joint>", limited & own)
    ranges = _field(compiled, "jnt_actfrclimited", np.zeros(compiled.njnt)).astype(bool)
    _tell(report, "actuatorfrcrange= of ball joints", ranges & (compiled.jnt_type == _BALL))


def _report_friction(compiled, report: Report) -> None:
    if is_disabled(compiled, "frictionloss"):
        return
    is_rough = np.asarray(compiled.dof_frictionloss) > 0.0
    for name, own in (
        ("solreffriction", _differ(compiled.dof_solref, _SOLREF)),
        ("solimpfriction", _differ(compiled.dof_solimp, _SOLIMP)),
    ):
        joints = np.asarray(compiled.dof_jntid)[is_rough & own]
        _tell(report, f"{name}= of <joint>", np.ones(len(set(joints.tolist()))))


def _report_springs(compiled, report: Report) -> None:
    has_yield = _field(compiled, "jnt_springyield", np.zeros(compiled.njnt)) != 0.0
    if not is_disabled(compiled, "spring"):
        _tell(report, "springyield= of <joint>", has_yield & (compiled.jnt_stiffness != 0.0))


def _report_equalities(compiled, report: Report) -> None:
    if is_disabled(compiled, "equality"):
        return
    kinds, is_active = np.asarray(compiled.eq_type), np.asarray(compiled.eq_active0, bool)
    for kind, tag in _EQUALITIES.items():
        chosen = is_active & (kinds == kind)
        _tell(report, f"solref= of <{tag}>", chosen & _differ(compiled.eq_solref, _SOLREF))
        _tell(report, f"solimp= of <{tag}>", chosen & _differ(compiled.eq_solimp, _SOLIMP))
    weld = is_active & (kinds == _WELD)
    _tell(report, "torquescale= of <weld>", weld & (np.asarray(compiled.eq_data)[:, 10] != 1.0))


def _report_contacts(compiled, report: Report) -> None:
    """Margins and mixing of geoms that can collide, and margins and adhesion of pairs."""
    if is_disabled(compiled, "contact"):
        return
    touches = (np.asarray(compiled.geom_contype) != 0) | (
        np.asarray(compiled.geom_conaffinity) != 0
    )
    force = "the force of margin= of <{}>"  # here contacts count from it on, and push from zero
    # In MuJoCo contacts push at margin - gap already.
    _tell(report, force.format("geom"), touches & (compiled.geom_margin > compiled.geom_gap))
    _tell(report, force.format("pair"), compiled.pair_margin > compiled.pair_gap)
    _tell(report, "solmix= of <geom>", touches & (np.asarray(compiled.geom_solmix) != 1.0))
    _tell(
        report, "adhesion= of <pair>", _field(compiled, "pair_adhesion", np.zeros(compiled.npair))
    )


def _report_tendons(compiled, report: Report) -> None:
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

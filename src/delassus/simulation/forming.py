"""The choice of the form in which steps of a system are solved: see `solution`.

| form | for |
| --- | --- |
| joints | robots: cone rows that can touch at most 48 degrees of freedom, loops or none |
| bodies | bodies without joints, or else cone rows that can touch at most six of them |
| joint_rows | robots whose cone rows can touch more degrees of freedom |
| rows | else: gimbals, soft joints, loops that move very many degrees of freedom |
"""

from __future__ import annotations

import numpy as np

from ..maximal.rows.softening import RIGID, SOFTENING
from ..maximal.structure.joints import GIMBAL
from ..maximal.system import MaximalSystem
from .collision.geometry import Geometry
from .step import SETTING
from .structure.elements import cone_bodies
from .structure.grouping import Tree

_MOST_FRONT = 6  # bodies that cone rows can touch, above which these are solved for by rows


def choose_form(system: MaximalSystem, geometry: Geometry, settings: np.ndarray) -> str:
    """The name of a form.

    Joints that give way do not hold by themselves, and gimbals have places where their axes do not
    suffice.
    """
    has_joints = system.n_joint_rows > 0
    are_rigid = settings[SETTING.joint_softening + SOFTENING.law] == RIGID
    tree = system.joints[: system.n_bodies]
    is_regular = all(joint.kind != GIMBAL for joint in tree)
    if has_joints and are_rigid and is_regular:
        for form, has_front in (("joints", True), ("joint_rows", False)):
            if Tree(system, geometry, has_front).is_small():
                return form
    is_few = len(cone_bodies(system, geometry)) <= _MOST_FRONT
    return "bodies" if is_few or not has_joints else "rows"

"""Numbers of the thirteen systems of Tsounis et al., Table II, and how they are counted here.

| column of the paper | name here    | how it is counted here |
| ------------------- | ------------ | --- |
| Base                | `base`       | "free", or "fixed": welded to the world, which is a joint |
| Bodies              | `bodies`     | all bodies, a fixed base among them |
| Joints              | `joints`     | those of tree and loops, and the weld of a fixed base |
| Total DoFs          | `dofs`       | sum over joints, loops too; 6 for a free base |
| Passive DoFs        | `passive`    | those that no actuator drives |
| Actuated DoFs       | `actuated`   | those that an actuator drives |
| Constraints         | `rows`       | sum of 6 - DoFs over joints |
| Mass Ratio          | `mass_ratio` | heaviest body by lightest body |

The paper's own columns of DoFs follow no single rule: see `docs/figures.md`.
"""

from __future__ import annotations

from typing import NamedTuple

from ...model.model import Model
from ...model.parts.constraints import Closure, Connect, Weld
from ...model.parts.joints import Free


class Dimensions(NamedTuple):
    """A line of the table."""

    base: str
    bodies: int
    joints: int
    dofs: int
    passive: int
    actuated: int
    rows: int
    mass_ratio: float


PAPER = {
    "box_on_plane": Dimensions("free", 1, 0, 6, 0, 0, 0, 1.0),
    "boxes_fixed": Dimensions("free", 2, 1, 6, 0, 0, 6, 1000.0),
    "nunchuk": Dimensions("free", 3, 2, 12, 6, 0, 6, 1.0),
    "fourbar_fixed": Dimensions("fixed", 4, 5, 1, 0, 1, 26, 1.0),
    "fourbar_free": Dimensions("free", 4, 4, 7, 5, 1, 20, 1.0),
    "arm7d": Dimensions("fixed", 8, 7, 7, 0, 7, 41, 19.54),
    "quadruped": Dimensions("free", 13, 12, 18, 6, 12, 60, 29.07),
    "bdx": Dimensions("free", 15, 14, 14, 6, 14, 70, 42.49),
    "lima": Dimensions("free", 21, 20, 26, 6, 20, 100, 321.39),
    "misha": Dimensions("fixed", 22, 24, 23, 0, 23, 121, 90.67),
    "walker": Dimensions("free", 31, 36, 42, 18, 24, 180, 99.55),
    "gazelle": Dimensions("fixed", 38, 45, 60, 38, 22, 214, 1012.54),
    "iron_man": Dimensions("fixed", 54, 67, 100, 80, 20, 304, 25544.44),
}


def count(model: Model) -> Dimensions:
    """The numbers of a model whose bodies and joints are those of one figure."""
    joints = [j.nv for j in model.joints if not isinstance(j.type, Free)]
    free = model.n_bodies - len(joints)
    for constraint in model.constraints:
        match constraint:
            case Weld():
                joints.append(0)
            case Connect():
                joints.append(3)
            case Closure():
                joints.append(constraint.joint_type.nv)
    is_fixed = any(isinstance(c, Weld) and "world" in c.frames for c in model.constraints)
    # Two bodies that are welded together, one of them in the world's axes, move as one base.
    welds = sum(isinstance(c, Weld) for c in model.constraints)
    dofs = sum(joints) + 6 * (free - welds)
    driven = sum(1 for actuator in model.actuators for g in actuator.gear if g != 0.0)
    masses = [body.inertia.mass for body in model.bodies]
    return Dimensions(
        "fixed" if is_fixed else "free",
        model.n_bodies,
        len(joints),
        dofs,
        dofs - driven,
        driven,
        sum(6 - nv for nv in joints),
        max(masses) / min(masses),
    )

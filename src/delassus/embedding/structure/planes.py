"""Which clusters are one planar loop: hinges about one axis, closed by a hinge about it."""

from __future__ import annotations

import numpy as np

from ...constrained.rows.constraints import Constraints
from ...model.model import Model
from ...model.parts.constraints import Closure
from ...model.parts.joints import Revolute
from .choice import Choice
from .graph import Group, path_to_world

_PARALLEL = 1e-13  # of the sine of the angle between axes


def planar_senses(
    model: Model, cs: Constraints, group: Group, choice: Choice
) -> dict[int, tuple[int, int]] | None:
    """For each body of a planar loop its side, and whether it turns about the loop's axis.

    The side is 1 for bodies on the way to the closure's `frame`, -1 to its `other`; the sense is 1
    or -1. None if the cluster is something else.
    """
    closures = [cs.declared[c] for c in group.constraints]
    if len(closures) != 1 or not isinstance(closures[0], Closure):
        return None
    (closure,) = closures
    joints = [model.joints[body].type for body in group.bodies]
    if not all(isinstance(kind, Revolute) for kind in (*joints, closure.joint_type)):
        return None
    if choice.G is not None or len(choice.dependent) != 2 or len(choice.rows) != 2:
        return None
    parents = [body.parent for body in model.bodies]
    sides = {}
    for side, name in ((1, closure.frame), (-1, closure.other)):
        own = set(path_to_world(parents, model.frame(name).body)) & set(group.bodies)
        sides.update(dict.fromkeys(own, side))
    axes = _axes(model, group)
    first = axes[group.bodies[0]]
    for name in (closure.frame, closure.other):
        frame = model.frame(name)
        R = _rotation(model, group, frame.body) @ frame.placement.rotation
        if not _is_parallel(R @ np.asarray(closure.joint_type.axis), first):
            return None
    if len(sides) != len(group.bodies) or not all(_is_parallel(x, first) for x in axes.values()):
        return None
    return {body: (sides[body], round(float(axes[body] @ first))) for body in group.bodies}


def _is_parallel(x: np.ndarray, y: np.ndarray) -> bool:
    return float(np.linalg.norm(np.cross(x, y))) < _PARALLEL


def _rotation(model: Model, group: Group, body: int) -> np.ndarray:
    """The rotation of a body in the axes of the group's handle, all angles zero."""
    R = np.eye(3)
    while body in group.bodies:
        R = model.bodies[body].placement.rotation @ R
        body = model.bodies[body].parent
    return R


def _axes(model: Model, group: Group) -> dict[int, np.ndarray]:
    return {
        body: _rotation(model, group, body) @ np.asarray(model.joints[body].type.axis)
        for body in group.bodies
    }

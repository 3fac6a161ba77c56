"""Wrenches on bodies as a step takes them, and switches of constraints.

| here | what it is |
| --- | --- |
| pushes | force and moment on each body, in its own axes and about its own origin |
| lift | force against gravity at each centre of mass, in world axes |
| wrenches | both, at the centres of mass and in world axes |
| switches | 1 or 0 for each loop, then for each coupling: whether it holds |
"""

from __future__ import annotations

from ...compile import clear, function, part
from ...maximal.rows.blocks import ROW, joint_row
from ...maximal.rows.bodies import BODY
from ...maximal.rows.joints import JOINT, ROW_SIZE, base_frame
from ...maximal.structure.packed import SIDE
from ...spatial.vectors import (
    add,
    add_scaled,
    cross,
    get3,
    get9,
    put3,
    rotate,
    rotate_back,
    scale,
    subtract,
)


@function
def put_wrenches(model, pushes, bodies, wrenches):
    """All wrenches at the centres of mass, in world axes."""
    for i in range(1, len(model.bodies)):
        at, R = SIDE * (i - 1), get9(bodies, i * BODY.size + BODY.R)
        f, n = get3(pushes, at), get3(pushes, at + 3)
        moment = subtract(n, cross(get3(model.bodies[i].center, 0), f))
        put3(wrenches, at, add(rotate(R, f), get3(model.lift, 3 * (i - 1))))
        put3(wrenches, at + 3, rotate(R, moment))


# --- switches -------------------------------------------------------------------------------------


@function
def release_loops(model, switches, joints):
    """Loops that are switched off have neither force nor error."""
    first = len(model.bodies) - 1
    for j in range(first, len(model.joints)):
        if switches[j - first] == 0.0:
            clear(part(joints, j * JOINT.size + JOINT.rows), ROW_SIZE * model.joints[j].rows)
            clear(part(joints, j * JOINT.size + JOINT.error), model.joints[j].rows)


@function
def release_couplings(model, switches, blocks, rows):
    """Couplings that are switched off have empty rows."""
    first = len(model.joints) - (len(model.bodies) - 1)
    for c in range(len(model.couplings)):
        coupling = model.couplings[c]
        if switches[first + c] == 0.0:
            clear(part(blocks, coupling.block), SIDE * coupling.rows * coupling.body_count)
            clear(part(rows, coupling.row * ROW.size), coupling.rows * ROW.size)


# --- what joints feel -----------------------------------------------------------------------------


@function
def put_reactions(model, impulses, dt, work, reactions):
    """Force and moment of each joint on its follower, at the joint, in the axes of its base frame.

    They are those of constrained rows: without forces of actuators, springs, limits and friction.
    """
    for j in range(len(model.joints)):
        joint = model.joints[j]
        force, moment = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(joint.rows):
            f, n = joint_row(work.joints, j, k)
            force = add_scaled(force, impulses[joint.row + k], f)
            moment = add_scaled(moment, impulses[joint.row + k], n)
        R, _ = base_frame(joint, work.bodies)
        put3(reactions, SIDE * j, scale(1.0 / dt, rotate_back(R, force)))
        put3(reactions, SIDE * j + 3, scale(1.0 / dt, rotate_back(R, moment)))

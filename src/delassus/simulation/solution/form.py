"""What a form of a step's problem is: its unknowns, its matrices, and how cone rows see it.

    A u+ = g + J^T lambda_j + C^T lambda_c        J u+ + c = 0        v = C u+ + bias

A form solves this for velocities u+ of all bodies in coordinates x of its own: those of all bodies
(`bodies`, `rows`) or of the degrees of freedom of the tree (`joints`).

| symbol | here | what |
| --- | --- | --- |
| A | work.op.A | inertia, springs, joints with damping S_j: see `contact.operators.bodies` |
| S_j^-1 | work.stiffness | of joint rows, 1 / (EPS mobility) |
| c, lambda_j | `Held`, work.drift, work.held | what joint rows add to velocities, impulses |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...compile import function
from ...maximal.assembly import joint_rows
from ...maximal.rows.blocks import ROW

EPS = 1e-6  # damping of joint rows, of their mobility on free bodies


class Held(NamedTuple):
    """Numbers of joint rows: what they add to their velocity, and impulses, which are changed."""

    drift: Any
    impulses: Any


class Form(NamedTuple):
    """The functions of a form."""

    first_joint: Callable  # (model): joints before this one hold by themselves, without blocks
    prepare: Callable  # (model, work): the factor of A
    load: Callable  # (model, held, g, work): forces on x without cone rows, work.moved
    begin: Callable  # (model, counts, work): cone rows, once a step, after the first `load`
    free_velocities: Callable  # (model, count, work): b, velocities of cone rows without reactions
    push: Callable  # (model, count, x, work): x + C^T lambda_c
    # (model, held, limits, x, u, work): u from forces on x, with J u + c = 0; what is left of that
    settle: Callable
    hold: Callable  # (model, count, g, u, work): work.held of joints that hold by themselves
    # (model, gap, shift, work): motions of bodies that close joints of the tree one after the
    # other, outwards; whether the form has them
    carry: Callable


@function
def usual_mobility(model, rows):
    """The mean mobility of joint rows, for those between two bodies without mass."""
    total, count = 0.0, 0
    for t in range(joint_rows(model)):
        mobility = rows[t * ROW.size + ROW.mobility]
        if mobility > 0.0:
            total, count = total + mobility, count + 1
    return total / count if count > 0 else 1.0


@function
def put_stiffness(model, work):
    """S_j^-1 and c of all joint rows"""
    rows = work.rows
    usual = usual_mobility(model, rows)
    for t in range(joint_rows(model)):
        at = t * ROW.size
        mobility = rows[at + ROW.mobility]
        mobility = mobility if mobility > 0.0 else usual
        softness = EPS * mobility + rows[at + ROW.compliance]
        work.stiffness[t] = 1.0 / softness if softness > 0.0 else 0.0
        work.drift[t] = rows[at + ROW.bias] + rows[at + ROW.regulation]

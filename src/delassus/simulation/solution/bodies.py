"""All bodies by their own velocities, and cone rows by the bodies that they touch.

For many contacts on few bodies. See `contact.operators.bodies`; the front are all bodies that cone
rows can touch.
"""

from __future__ import annotations

from ...compile import function, part, routine
from ...contact.operators import bodies as operator
from ...contact.operators.elements import add_joint, weigh_rows
from ...contact.operators.recovery import JointRows, expand, put_forces, recover
from ...maximal.assembly import put_inertia
from ..structure.world import bodies_of
from .blocks import block_operator
from .cones import cones_of
from .form import Form, put_stiffness

BODIES_OPERATOR = block_operator(bodies_of, cones_of)


@function
def first_joint(model):
    """All joints have rows in A."""
    return 0


@routine
def prepare(model, work):
    """A = M + springs + J^T S_j^-1 J, without inside bodies."""
    view, op = bodies_of(model), work.op
    put_stiffness(model, work)
    for i in range(1, len(model.bodies)):
        put_inertia(model, i, work.bodies, work.inertia, 36 * (i - 1))
    operator.put_inertias(view, work.inertia, op)
    operator.add_joints(view, op.blocks, work.stiffness, op)
    for k in range(len(model.springs)):
        spring = model.springs[k]
        total = 0.0
        for t in range(spring.row, spring.row + spring.height):
            total = total + work.weights[t]
        if total > 0.0:
            weigh_rows(spring, work.free_blocks, work.weights, op.panel)
            add_joint(view, spring, work.free_blocks, op.panel, op.A)
    operator.prepare(view, op)


@function
def load(model, held, g, work):
    """g + J^T (lambda_j - S_j^-1 c), with inside bodies eliminated."""
    view, op = bodies_of(model), work.op
    joints = JointRows(op.blocks, work.stiffness, held.drift, held.impulses)
    put_forces(view, joints, g, work.moved, op)
    operator.reduce_forces(view, work.moved, op)


@function
def begin(model, counts, work):
    """Nothing is to be done once a step: the factor of A is all."""


@function
def free_velocities(model, count, work):
    """b: scaled velocities of cone rows without their reactions, by work.moved."""
    view, op, cones = bodies_of(model), work.op, work.cones
    front = part(work.moved, operator.first_cone_velocity(view))
    for t in range(count):
        op.penalties[t] = 0.0
    operator.velocities(view, cones_of(op), front, op.penalties, work.bias, op.u, cones.b, op)


@function
def push(model, count, x, work):
    """x + C^T lambda_c, with inside bodies eliminated."""
    front = part(x, operator.first_cone_velocity(bodies_of(model)))
    operator.push_front(cones_of(work.op), work.cones.reactions, front)


@function
def settle(model, held, limits, x, u, work):
    """u = A^-1 x for joints with damping; then joints hold. What is left of J u + c is returned."""
    view, op = bodies_of(model), work.op
    for t in range(6 * (len(model.bodies) - 1)):
        u[t] = x[t]
    expand(view, u, op)
    joints = JointRows(op.blocks, work.stiffness, held.drift, held.impulses)
    residual, _ = recover(view, joints, limits, u, op)
    return residual


@function
def hold(model, count, g, u, work):
    """All impulses of joints are known."""


@function
def carry(model, gap, shift, work):
    """Joints of the tree are not known apart from others."""
    return False


BODIES_FORM = Form(first_joint, prepare, load, begin, free_velocities, push, settle, hold, carry)

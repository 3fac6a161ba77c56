"""Cone rows by the bodies that they touch: for many contacts on few bodies.

See `contact.operators.bodies`; the front are all bodies that cone rows can touch. Softness R of
rows is a penalty of their own: the operator is D_c + R.
"""

from __future__ import annotations

from ...compile import function, layout, part
from ...contact.operators import Operator
from ...contact.operators import bodies as operator
from ...contact.operators.bodies import BLOCK
from ...contact.operators.elements import cone_at
from ..structure.world import bodies_of
from .cones import cones_of

# Penalties of rows, and E + H R of elements.
BODIES = layout(operator.NEWTON, penalties="cone_rows", softened="cone_blocks")


@function
def factor(model, count, penalty, memory):
    """Prepare solutions with D_c + R + penalty."""
    for t in range(count):
        memory.penalties[t] = 1.0 / (penalty + memory.compliance[t])
    operator.factor(bodies_of(model), cones_of(memory), memory.penalties, memory)


@function
def solve(model, count, x, memory):
    """x <- (D_c + R + penalty)^-1 x"""
    operator.solve(bodies_of(model), cones_of(memory), memory.penalties, x, x, memory)


@function
def multiply(model, count, x, y, memory):
    """y = (D_c + R) x; y is not x"""
    operator.multiply(bodies_of(model), cones_of(memory), x, y, memory)
    for t in range(count):
        y[t] = y[t] + memory.compliance[t] * x[t]


@function
def solve_blocks(model, counts, damping, newton, memory):
    """(E + H R + damping + H D_c) d = -F"""
    for t in range(counts[1] + counts[2] + 3 * counts[3]):
        newton.d[t] = -newton.F[t]
    cones = cones_of(memory)
    for k in range(cones.count):
        element = cone_at(cones, k)
        for i in range(element.height):
            for j in range(element.height):
                at, R = BLOCK * k + element.height * i + j, memory.compliance[element.row + j]
                memory.softened[at] = newton.E[at] + R * newton.H[at]
    operator.solve_blocks(
        bodies_of(model), cones, memory.softened, newton.H, newton.d, damping, newton.d, memory
    )


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
def push(model, count, u, work):
    """u + C^T lambda_c, with inside bodies eliminated."""
    front = part(u, operator.first_cone_velocity(bodies_of(model)))
    operator.push_front(cones_of(work.op), work.cones.reactions, front)


BODIES_OPERATOR = Operator(factor, solve, multiply, solve_blocks)

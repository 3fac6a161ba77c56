"""The operator of cone rows by the blocks of velocities that they touch.

See `contact.operators.bodies`. Softness R of rows is a penalty of their own: the operator is
D_c + R.
"""

from __future__ import annotations

from collections.abc import Callable

from ...compile import function, layout
from ...contact.operators import Operator
from ...contact.operators import bodies as operator
from ...contact.operators.bodies import BLOCK
from ...contact.operators.elements import cone_at

# Penalties of rows, and E + H R of elements.
BLOCKS = layout(operator.NEWTON, penalties="cone_rows", softened="cone_blocks")


def block_operator(view_of: Callable, cones_of: Callable) -> Operator:
    """The operator, by functions for its matrix (of a model) and its cone rows (of memory)."""

    @function
    def factor(model, count, penalty, memory):
        """Prepare solutions with D_c + R + penalty."""
        for t in range(count):
            memory.penalties[t] = 1.0 / (penalty + memory.compliance[t])
        operator.factor(view_of(model), cones_of(memory), memory.penalties, memory)

    @function
    def solve(model, count, x, memory):
        """x <- (D_c + R + penalty)^-1 x"""
        operator.solve(view_of(model), cones_of(memory), memory.penalties, x, x, memory)

    @function
    def multiply(model, count, x, y, memory):
        """y = (D_c + R) x; y is not x"""
        operator.multiply(view_of(model), cones_of(memory), x, y, memory)
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
            view_of(model), cones, memory.softened, newton.H, newton.d, damping, newton.d, memory
        )

    return Operator(factor, solve, multiply, solve_blocks)

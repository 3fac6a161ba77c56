"""Limits of coordinates and dry friction of joints, as rows.

(28), (29): a coordinate has one row at most, that of its nearer limit, and only within a margin.

| paper            | here         | what it is                               |
| ---------------- | ------------ | ---------------------------------------- |
| g_l              | gap          | distance from the nearer limit           |
| s_l, (32), (65)  | sign, row    | + for a lower limit, - for an upper one  |
| lambda_l >= 0    |              | the impulse pushes away from the limit   |

A degree of freedom with dry friction has a row whose impulse is within +- dt friction.
"""

from __future__ import annotations

from ...compile import function, slots
from ..structure.packed import SIDE
from .blocks import PAIR, ROW, joint_arms, joint_row, measure_row, put_free_pair, put_pair
from .joints import base_frame, column

# An active limit: its number among the limits, and the sign of its row; 0 if there are no more.
ACTIVE = slots(limit=1, sign=1)


@function
def find_active(system, q, margin, active):
    """List limits within a margin; returns their count."""
    count = 0
    for i in range(len(system.limits)):
        limit = system.limits[i]
        to_lower, to_upper = q[limit.q] - limit.lower, limit.upper - q[limit.q]
        sign = 1.0 if to_lower <= to_upper else -1.0
        if (to_lower if sign > 0.0 else to_upper) <= margin:
            active[count * ACTIVE.size + ACTIVE.limit] = 1.0 * i
            active[count * ACTIVE.size + ACTIVE.sign] = sign
            count += 1
    return count


@function
def coordinate_row(system, limit, work):
    """Force and moment of the row whose velocity is the rate of a limited coordinate."""
    joint = system.joints[limit.joint]
    if joint.moves_in_own_axes > 0 and limit.coordinate < 3 and joint.free_linear[limit.coordinate]:
        # Positions are in the axes of the base, while velocities are in those of the follower.
        R, _ = base_frame(joint, work.bodies)
        return column(R, limit.coordinate), (0.0, 0.0, 0.0)
    return joint_row(work.joints, limit.joint, joint.rows + limit.coordinate)


@function
def put_limit(system, number, active, work, blocks, at, rows, row):
    """(65): the blocks, from `at` on, and the row of an active limit."""
    limit = system.limits[int(active[number * ACTIVE.size + ACTIVE.limit])]
    sign = active[number * ACTIVE.size + ACTIVE.sign]
    joint = system.joints[limit.joint]
    arms = joint_arms(work.joints, limit.joint)
    put_pair(blocks, at, sign, coordinate_row(system, limit, work), arms)
    ends = (joint.base_body, at), (joint.follower, at + SIDE)
    measure_row(system, work.bodies, blocks, ends, rows, row)
    x = work.q[limit.q]
    rows[row * ROW.size + ROW.residual] = x - limit.lower if sign > 0.0 else limit.upper - x


@function
def put_bounded(system, work, blocks, at, rows, row):
    """Blocks and rows of all degrees of freedom with dry friction."""
    for i in range(len(system.bounded)):
        k = system.bounded[i]
        joint, start = system.joints[system.dofs[k].joint], at + PAIR * i
        put_free_pair(system, k, work.joints, blocks, start)
        ends = (joint.base_body, start), (joint.follower, start + SIDE)
        measure_row(system, work.bodies, blocks, ends, rows, row + i)

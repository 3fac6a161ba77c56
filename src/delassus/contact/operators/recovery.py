"""Velocities of all bodies and impulses along joint rows, once those of cone rows are known.

    M u = g + J^T lambda_j + C^T lambda_c  with  J u + c = 0

With the damping S_j that the factor of A has, lambda_j and u are those of rows that give way a
little. Proximal passes take that away: lambda_j - S_j^-1 (J u + c), then u again, on one factor.
Where light bodies hold heavy ones, or many rows a few bodies, that takes tens of passes. Here the
passes are steps of conjugate residuals, with S_j^-1 as preconditioner, on

    G lambda_j = -(J u + c at lambda_j = 0),  G = J A^-1 J^T

| symbol | here | what |
| --- | --- | --- |
| J, S_j^-1, c, lambda_j | `JointRows` | Jacobians of joints; numbers of their rows |
| r, z | work.residual | J u + c, and z = S_j^-1 r, which is not stored |
| G z | work.rows | by a solution with A |
| p, G p | work.direction, work.image | direction of a step, and what it does to r |
| A^-1 J^T z, A^-1 J^T p | work.change, work.motion | and to the velocities of bodies |

Each pass has one solution with A, as a proximal one has, and r^T S_j^-1 r falls in each. Chains of
loops need 4 to 6 passes where proximal ones need up to 80 (8 bodies, to 1e-9 of velocities of about
1). Redundant rows of loops are not quite redundant while positions are not exact: to satisfy them
to the last digit would take velocities of order one along a direction that G hardly knows. Then
z^T G z is far below r^T z, which is about equal to it for rows that bodies can follow; passes end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...compile import absolute, clear, function, layout, maximum, part, routine
from .blocks import backward_columns, solve_front
from .bodies import count_front, first_cone_velocity, push_front, reduce_forces
from .elements import add_forces, row_velocity

# Passes end where z^T G z is below this part of r^T z: what is left are contradictions.
LEAST_GAIN = 1e-3
RECOVERY = layout(
    rows="joint_rows",
    residual="joint_rows",
    direction="joint_rows",
    image="joint_rows",
    change=("n_bodies", 6),
    motion=("n_bodies", 6),
)


class JointRows(NamedTuple):
    """Numbers of joint rows: Jacobians, S_j^-1, c, and multipliers, which are changed."""

    J: Any
    weights: Any
    bias: Any
    multipliers: Any


class Limits(NamedTuple):
    """When passes end: the velocity that joint rows may have, and how many passes there are."""

    tolerance: float
    passes: int


@function
def count_joint_rows(model):
    """Number of joint rows."""
    if len(model.joints) == 0:
        return 0
    last = model.joints[len(model.joints) - 1]
    return last.row + last.height


@function
def put_forces(model, joints, g, b, work):
    """b = g + J^T (lambda_j - S_j^-1 c), which A turns into velocities without cones"""
    for t in range(6 * len(model.bodies)):
        b[t] = g[t]
    for k in range(len(model.joints)):
        joint = model.joints[k]
        for t in range(joint.row, joint.row + joint.height):
            work.rows[t] = joints.multipliers[t] - joints.weights[t] * joints.bias[t]
        add_forces(joint, joints.J, work.rows, b)


@function
def correct_multipliers(model, joints, work):
    """lambda_j - S_j^-1 r"""
    for t in range(count_joint_rows(model)):
        change = joints.weights[t] * work.residual[t]
        joints.multipliers[t] = joints.multipliers[t] - change


@function
def move_all(model, joints, cones, g, reactions, b, work):
    """b = A^-1 (g + J^T (lambda_j - S_j^-1 c) + C^T lambda_c), velocities of all bodies"""
    put_forces(model, joints, g, b, work)
    push_front(cones, reactions, part(b, first_cone_velocity(model)))
    reduce_forces(model, b, work)
    expand(model, b, work)


@function
def expand(model, b, work):
    """Velocities of all bodies from what `reduce_forces` has left in b"""
    solve_front(work.reduced, count_front(model), part(b, 6 * len(model.columns)))
    backward_columns(model, work.A, b)


@function
def put_residual(model, joints, u, work):
    """r = J u + c; the largest of its numbers is returned"""
    worst = 0.0
    for k in range(len(model.joints)):
        joint = model.joints[k]
        for r in range(joint.height):
            t = joint.row + r
            work.residual[t] = row_velocity(joint, joints.J, r, u) + joints.bias[t]
            worst = maximum(worst, absolute(work.residual[t]))
    return worst


@function
def put_change(model, joints, work):
    """A^-1 J^T z of all bodies and G z of all rows; z^T G z and r^T z are returned"""
    clear(work.change, 6 * len(model.bodies))
    for k in range(len(model.joints)):
        joint = model.joints[k]
        for t in range(joint.row, joint.row + joint.height):
            work.rows[t] = joints.weights[t] * work.residual[t]
        add_forces(joint, joints.J, work.rows, work.change)
    reduce_forces(model, work.change, work)
    expand(model, work.change, work)
    gain, size = 0.0, 0.0
    for k in range(len(model.joints)):
        joint = model.joints[k]
        for r in range(joint.height):
            t = joint.row + r
            z = work.rows[t]
            work.rows[t] = row_velocity(joint, joints.J, r, work.change)
            gain = gain + z * work.rows[t]
            size = size + z * work.residual[t]
    return gain, size


@function
def turn_direction(rows, n, joints, share, work):
    """p = z + share p, with G p and its motion of bodies; (G p)^T S_j^-1 G p is returned"""
    squares = 0.0
    for t in range(rows):
        p, q = joints.weights[t] * work.residual[t], work.rows[t]
        if share != 0.0:
            p, q = p + share * work.direction[t], q + share * work.image[t]
        work.direction[t] = p
        work.image[t] = q
        squares = squares + joints.weights[t] * q * q
    for t in range(n):
        x = work.change[t]
        if share != 0.0:
            x = x + share * work.motion[t]
        work.motion[t] = x
    return squares


@routine
def recover(model, joints, limits, u, work):
    """M u = g + J^T lambda_j + C^T lambda_c with J u + c = 0, for given lambda_c.

    lambda_j is improved from the given one on, for which u are the velocities. The last |J u + c|
    and the number of solutions with A are returned. `work` is memory of layouts OPERATOR and
    RECOVERY.
    """
    n, rows = 6 * len(model.bodies), count_joint_rows(model)
    worst, passes, before = put_residual(model, joints, u, work), 1, 0.0
    while worst > limits.tolerance and passes < limits.passes:
        gain, size = put_change(model, joints, work)
        share = 0.0 if passes == 1 else gain / before
        squares = turn_direction(rows, n, joints, share, work)
        if not gain > LEAST_GAIN * size:
            break
        step, before, worst = gain / squares, gain, 0.0
        for t in range(rows):
            joints.multipliers[t] = joints.multipliers[t] - step * work.direction[t]
            work.residual[t] = work.residual[t] - step * work.image[t]
            worst = maximum(worst, absolute(work.residual[t]))
        for t in range(n):
            u[t] = u[t] - step * work.motion[t]
        passes += 1
    correct_multipliers(model, joints, work)
    return worst, passes

"""Blocks of the Jacobian between two bodies, and what is known of each row at a state.

An element of h rows has a block of h times 6 numbers for its base, then one for its follower; an
impulse along the rows pushes the bodies by the transposed blocks (63) to (66).

| paper  | here           | what it is                                                        |
| ------ | -------------- | ----------------------------------------------------------------- |
| v-     | ROW.velocity   | velocity of the row before the step, J u-                         |
| r      | ROW.residual   | position error, or the gap of a limit or contact                  |
| E v- + v_B | ROW.bias   | what is added to the free velocity: restitution and stabilisation |
| D_jj   | ROW.mobility   | the row's velocity for a unit impulse along it, on free bodies    |
| R_jj   | ROW.compliance | softening, added to the diagonal of the Delassus matrix           |
| v_r    | ROW.regulation | softening, added to the free velocity                             |
"""

from __future__ import annotations

from ...compile import function, slots
from ...spatial.vectors import get3
from ..structure.packed import SIDE
from .bodies import put_side, side_mobility, side_velocity
from .joints import JOINT, ROW_SIZE, row_velocity

ROW = slots(velocity=1, residual=1, bias=1, mobility=1, compliance=1, regulation=1)
PAIR = 2 * SIDE  # numbers of a row between two bodies


@function
def put_pair(blocks, at, sign, row, arms):
    """The two sides of an element of one row; `row` is (f, n), `arms` from base and follower."""
    put_side(blocks, at, -sign, row[0], row[1], arms[0])
    put_side(blocks, at + SIDE, sign, row[0], row[1], arms[1])


@function
def joint_row(joints, j, k):
    """Force and moment of row k of joint j."""
    at = j * JOINT.size + JOINT.rows + ROW_SIZE * k
    return get3(joints, at), get3(joints, at + 3)


@function
def joint_arms(joints, j):
    """From the centres of mass of base and follower of joint j to the point where it acts."""
    at = j * JOINT.size
    return get3(joints, at + JOINT.arm_base), get3(joints, at + JOINT.arm)


@function
def put_free_pair(system, k, joints, blocks, at):
    """(64): the two sides of degree of freedom k, whose row has the velocity v_k."""
    dof = system.dofs[k]
    row, arms = joint_row(joints, dof.joint, dof.place), joint_arms(joints, dof.joint)
    put_pair(blocks, at, 1.0, row, arms)


@function
def put_joint(system, j, bodies, joints, blocks, rows):
    """(63): blocks of joint j, and velocity, error and mobility of its rows."""
    joint, (arm_base, arm) = system.joints[j], joint_arms(joints, j)
    for k in range(joint.rows):
        f, n = joint_row(joints, j, k)
        base = joint.block + SIDE * k
        follower = base + SIDE * joint.rows
        put_side(blocks, base, -1.0, f, n, arm_base)
        put_side(blocks, follower, 1.0, f, n, arm)
        ends = (joint.base_body, base), (joint.follower, follower)
        measure_row(system, bodies, blocks, ends, rows, joint.row + k)
        residual = joints[j * JOINT.size + JOINT.error + k]
        rows[(joint.row + k) * ROW.size + ROW.residual] = residual


@function
def measure_joint(system, j, bodies, joints, rows):
    """Velocity and error of the rows of joint j, for which it holds by itself: without mobility."""
    joint, at = system.joints[j], j * JOINT.size
    for k in range(joint.rows):
        put_measures(rows, joint.row + k, row_velocity(joint, k, bodies, joints, at), 0.0)
        rows[(joint.row + k) * ROW.size + ROW.residual] = joints[at + JOINT.error + k]


@function
def measure_row(system, bodies, blocks, ends, rows, row):
    """Velocity and mobility of a row; each end is a body and where its numbers start in blocks."""
    (base, at), (follower, at_follower) = ends
    velocity = side_velocity(bodies, base, blocks, at)
    mobility = side_mobility(system, bodies, base, blocks, at)
    velocity += side_velocity(bodies, follower, blocks, at_follower)
    mobility += side_mobility(system, bodies, follower, blocks, at_follower)
    put_measures(rows, row, velocity, mobility)


@function
def put_measures(rows, row, velocity, mobility):
    """Store velocity and mobility of a row that has neither bias nor softening yet."""
    at = row * ROW.size
    rows[at + ROW.velocity] = velocity
    rows[at + ROW.mobility] = mobility
    rows[at + ROW.residual] = 0.0
    rows[at + ROW.bias] = 0.0
    rows[at + ROW.compliance] = 0.0
    rows[at + ROW.regulation] = 0.0

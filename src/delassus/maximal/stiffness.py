"""Stiffness of joints in the primal matrix: A + J^T S^-1 J, joint by joint, in 6x6 blocks.

Most rows of a joint are a force or a moment at one point. Their stiffness there is two symmetric
3x3 matrices, L for forces and N for moments, which lever arms move to both bodies: with the arms a
and b of two bodies, the block between them is

    +-[ L        L [b]x^T          ]
      [ [a]x L   [a]x L [b]x^T + N ]

| symbol  | here                | what it is                                                      |
| ------- | ------------------- | --------------------------------------------------------------- |
| S^-1    | k_linear, k_angular | stiffness of constrained rows                                   |
| w       | weights             | of free rows: armature + dt (damping + dt stiffness)            |
| L, N    | L, N                | sum of k f f^T and of k n n^T over the rows of a joint          |

This takes about a third of the products of J^T S^-1 J. The row of a screw is a force and a moment
at once, and is added as a product of its blocks.
"""

from __future__ import annotations

from typing import NamedTuple

from ..compile import function
from ..spatial.vectors import add_cross, cross
from .rows.blocks import joint_arms, joint_row


class Places(NamedTuple):
    """Where blocks of a joint start in flat memory: 36 numbers by rows; -1 where there is none.

    `between` couples the two bodies. Its rows are those of the base if `base_is_row`, else those of
    the follower.
    """

    base: int
    follower: int
    between: int
    base_is_row: int


@function
def add_joint(system, j, stiffness, weights, joints, blocks, places):
    """Add the stiffness of joint j to the blocks at `places`.

    `stiffness` is (k_linear, k_angular), `weights` those of all degrees of freedom.
    """
    arm_base, arm = joint_arms(joints, j)
    L, N = stiffness_at_joint(system, j, stiffness, weights, joints)
    if places.follower >= 0:
        add_moved(blocks, places.follower, 1.0, (arm, arm), L, N)
    if places.base >= 0:
        add_moved(blocks, places.base, 1.0, (arm_base, arm_base), L, N)
    if places.between >= 0:
        arms = (arm_base, arm) if places.base_is_row > 0 else (arm, arm_base)
        add_moved(blocks, places.between, -1.0, arms, L, N)
    joint = system.joints[j]
    if joint.pitch != 0.0:
        add_screw(joints, j, stiffness[0], blocks, places)


@function
def stiffness_at_joint(system, j, stiffness, weights, joints):
    """L and N: sums of k f f^T and k n n^T over the rows of joint j, but for that of a screw."""
    joint, none = system.joints[j], (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    L, N = none, none
    for k in range(joint.rows):
        f, n = joint_row(joints, j, k)
        if joint.pitch == 0.0 or k != 2:
            L, N = add_square(L, stiffness[0], f), add_square(N, stiffness[1], n)
    for k in range(joint.nv):
        f, n = joint_row(joints, j, joint.rows + k)
        weight = weights[joint.v + k]
        L, N = add_square(L, weight, f), add_square(N, weight, n)
    return L, N


@function
def add_square(A, k, x):
    """A + k x x^T for a symmetric A"""
    y = (k * x[0], k * x[1], k * x[2])
    return (
        A[0] + y[0] * x[0],
        A[1] + y[0] * x[1],
        A[2] + y[0] * x[2],
        A[3] + y[1] * x[1],
        A[4] + y[1] * x[2],
        A[5] + y[2] * x[2],
    )


@function
def add_moved(blocks, at, sign, arms, L, N):
    """Add sign times the block of L and N between bodies with these arms, rows' body first."""
    a, b = arms
    x, y, z = (L[0], L[1], L[2]), (L[1], L[3], L[4]), (L[2], L[4], L[5])
    ax, ay, az = cross(a, x), cross(a, y), cross(a, z)  # columns of [a]x L
    moment = (ax[0], ay[0], az[0]), (ax[1], ay[1], az[1]), (ax[2], ay[2], az[2])
    add_row3(blocks, at, sign, x, cross(b, x))
    add_row3(blocks, at + 6, sign, y, cross(b, y))
    add_row3(blocks, at + 12, sign, z, cross(b, z))
    add_row3(blocks, at + 18, sign, moment[0], add_cross((N[0], N[1], N[2]), b, moment[0]))
    add_row3(blocks, at + 24, sign, moment[1], add_cross((N[1], N[3], N[4]), b, moment[1]))
    add_row3(blocks, at + 30, sign, moment[2], add_cross((N[2], N[4], N[5]), b, moment[2]))


@function
def add_row3(blocks, at, sign, f, n):
    """Add sign (f, n) to six numbers."""
    for i in range(3):
        blocks[at + i] += sign * f[i]
        blocks[at + 3 + i] += sign * n[i]


@function
def add_screw(joints, j, k, blocks, places):
    """Add k J^T J of the row of a screw, the third, that couples advance and turn."""
    f, n = joint_row(joints, j, 2)
    arm_base, arm = joint_arms(joints, j)
    moment_base, moment = add_cross(n, arm_base, f), add_cross(n, arm, f)
    if places.follower >= 0:
        add_product(blocks, places.follower, k, (f, moment), (f, moment))
    if places.base >= 0:
        add_product(blocks, places.base, k, (f, moment_base), (f, moment_base))
    if places.between >= 0 and places.base_is_row > 0:
        add_product(blocks, places.between, -k, (f, moment_base), (f, moment))
    elif places.between >= 0:
        add_product(blocks, places.between, -k, (f, moment), (f, moment_base))


@function
def add_product(blocks, at, k, row, column):
    """Add k x y^T to a block, of six numbers x = (f, n) and y each."""
    for i in range(3):
        for half in range(2):
            x = k * row[half][i]
            add_row3(blocks, at + 18 * half + 6 * i, x, column[0], column[1])


@function
def push_joint(system, j, impulses, joints, momentum):
    """Add J^T x of the rows of joint j to the momentum of its bodies; x are its impulses."""
    joint, (arm_base, arm) = system.joints[j], joint_arms(joints, j)
    for k in range(joint.rows):
        f, n = joint_row(joints, j, k)
        x = impulses[joint.row + k]
        if joint.follower > 0:
            add_row3(momentum, 6 * (joint.follower - 1), x, f, add_cross(n, arm, f))
        if joint.base_body > 0:
            add_row3(momentum, 6 * (joint.base_body - 1), -x, f, add_cross(n, arm_base, f))

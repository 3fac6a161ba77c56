"""A free body that carries a tree: its articulated inertia is solved with as a whole.

IA = L D L^T with the moments first. A row of L stands in the place of U of each of the joint's six
degrees of freedom, and 1 / D beside it. The body's own origin is the tree's.
"""

from __future__ import annotations

from ..compile import function
from ..dynamics.aba import DOF
from ..dynamics.articulated import INERTIA
from ..spatial.vectors import dot, get3, get6, get9, put3

_ROW = DOF.U_angular


@function
def factorize_root(at, work, dof):
    """The factor of the articulated inertia of a free body."""
    A, H, M = get6(work, at + INERTIA.A), get9(work, at + INERTIA.H), get6(work, at + INERTIA.M)
    row = dof + _ROW
    put3(work, row, (A[0], 0.0, 0.0))
    put3(work, row + DOF.size, (A[1], A[3], 0.0))
    put3(work, row + 2 * DOF.size, (A[2], A[4], A[5]))
    put3(work, row + 3 * DOF.size, (H[0], H[3], H[6]))
    put3(work, row + 4 * DOF.size, (H[1], H[4], H[7]))
    put3(work, row + 5 * DOF.size, (H[2], H[5], H[8]))
    put3(work, row + 3 * DOF.size + 3, (M[0], 0.0, 0.0))
    put3(work, row + 4 * DOF.size + 3, (M[1], M[3], 0.0))
    put3(work, row + 5 * DOF.size + 3, (M[2], M[4], M[5]))
    for j in range(6):
        D_inverse = 1.0 / work[row + j * DOF.size + j]
        work[dof + j * DOF.size + DOF.D_inverse] = D_inverse
        for i in range(5, j, -1):
            x = work[row + i * DOF.size + j] * D_inverse
            for s in range(j + 1, i + 1):
                entry = row + i * DOF.size + s
                work[entry] = work[entry] - x * work[row + s * DOF.size + j]
            work[row + i * DOF.size + j] = x


@function
def solve_root(n, f, work, dof):
    """The angular and linear acceleration that a moment and a force give a free body."""
    row = dof + _ROW
    b, c = row + DOF.size, row + 2 * DOF.size
    d, e, g = row + 3 * DOF.size, row + 4 * DOF.size, row + 5 * DOF.size
    x0 = n[0]
    x1 = n[1] - work[b] * x0
    x2 = n[2] - work[c] * x0 - work[c + 1] * x1
    x3 = f[0] - work[d] * x0 - work[d + 1] * x1 - work[d + 2] * x2
    x4 = f[1] - work[e] * x0 - work[e + 1] * x1 - work[e + 2] * x2 - work[e + 3] * x3
    x5 = f[2] - work[g] * x0 - work[g + 1] * x1 - work[g + 2] * x2 - work[g + 3] * x3
    x5 = x5 - work[g + 4] * x4
    inverse = dof + DOF.D_inverse
    x5 = x5 * work[inverse + 5 * DOF.size]
    x4 = x4 * work[inverse + 4 * DOF.size] - work[g + 4] * x5
    x3 = x3 * work[inverse + 3 * DOF.size] - work[g + 3] * x5 - work[e + 3] * x4
    x2 = x2 * work[inverse + 2 * DOF.size] - work[g + 2] * x5 - work[e + 2] * x4
    x2 = x2 - work[d + 2] * x3
    x1 = x1 * work[inverse + DOF.size] - work[g + 1] * x5 - work[e + 1] * x4
    x1 = x1 - work[d + 1] * x3 - work[c + 1] * x2
    x0 = x0 * work[inverse] - work[g] * x5 - work[e] * x4 - work[d] * x3
    x0 = x0 - work[c] * x2 - work[b] * x1
    return (x0, x1, x2), (x3, x4, x5)


@function
def joint_force(tau, v, work, dof):
    """Moment and force on a free body of the forces along its joint's degrees of freedom."""
    n, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(3):
        axis = get3(work, dof + k * DOF.size + DOF.linear)
        x, y = tau[v + k], tau[v + 3 + k]
        f = (f[0] + x * axis[0], f[1] + x * axis[1], f[2] + x * axis[2])
        n = (n[0] + y * axis[0], n[1] + y * axis[1], n[2] + y * axis[2])
    return n, f


@function
def joint_acceleration(alpha, a, v, work, dof, acceleration):
    """The accelerations of the six degrees of freedom of a free body's joint."""
    for k in range(3):
        axis = get3(work, dof + k * DOF.size + DOF.linear)
        acceleration[v + k] = dot(axis, a)
        acceleration[v + 3 + k] = dot(axis, alpha)

"""A free body that carries a tree: its articulated inertia is solved with as a whole.

IA = L D L^T with the moments first. A row of L stands in the place of U of each of the joint's six
degrees of freedom, and 1 / D beside it. The body's own origin is the tree's.
"""

from __future__ import annotations

from ..compile import function
from ..dynamics.aba import DOF
from ..dynamics.articulated import INERTIA
from ..spatial.vectors import dot, get3, get6, get9, put3

_ROW = DOF.G_angular


@function
def factorize_root(at, work, dof):
    """The factor of the articulated inertia of a free body."""
    A, H, M = get6(work, at + INERTIA.A), get9(work, at + INERTIA.H), get6(work, at + INERTIA.M)
    L, D_inverse = factorize3(A)
    x, y, z = (H[0], H[3], H[6]), (H[1], H[4], H[7]), (H[2], H[5], H[8])
    x, y, z = solve_lower3(L, x), solve_lower3(L, y), solve_lower3(L, z)
    Lx, Ly, Lz = times(D_inverse, x), times(D_inverse, y), times(D_inverse, z)
    L_rest, D_inverse_rest = factorize3(
        (
            M[0] - dot(Lx, x),
            M[1] - dot(Lx, y),
            M[2] - dot(Lx, z),
            M[3] - dot(Ly, y),
            M[4] - dot(Ly, z),
            M[5] - dot(Lz, z),
        )
    )
    row, rest = dof + _ROW, dof + _ROW + 3 * DOF.size
    put_lower3(work, row, L)
    put3(work, rest, Lx)
    put3(work, rest + DOF.size, Ly)
    put3(work, rest + 2 * DOF.size, Lz)
    put_lower3(work, rest + 3, L_rest)
    for j in range(3):
        work[dof + j * DOF.size + DOF.D_inverse] = D_inverse[j]
        work[dof + (3 + j) * DOF.size + DOF.D_inverse] = D_inverse_rest[j]


@function
def factorize3(A):
    """A = L D L^T of a symmetric three by three: what is below the diagonal of L, and 1 / D."""
    D0 = 1.0 / A[0]
    L10, L20 = A[1] * D0, A[2] * D0
    D1 = 1.0 / (A[3] - L10 * A[1])
    x = A[4] - L20 * A[1]
    L21 = x * D1
    D2 = 1.0 / (A[5] - L20 * A[2] - L21 * x)
    return (L10, L20, L21), (D0, D1, D2)


@function
def solve_lower3(L, x):
    """L^-1 x"""
    y = x[1] - L[0] * x[0]
    return x[0], y, x[2] - L[1] * x[0] - L[2] * y


@function
def put_lower3(work, at, L):
    """Store what is below the diagonal, a row every degree of freedom."""
    work[at + DOF.size] = L[0]
    work[at + 2 * DOF.size] = L[1]
    work[at + 2 * DOF.size + 1] = L[2]


@function
def times(x, y):
    """x and y multiplied entry by entry"""
    return x[0] * y[0], x[1] * y[1], x[2] * y[2]


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

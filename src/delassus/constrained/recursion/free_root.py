"""A free body that carries a tree: its articulated inertia is factorised as a whole.

IA = L D L^T, moments before forces. Row j of L, left of the diagonal, is in the record of the
joint's j-th degree of freedom, in the place of G (see `dynamics.steps.articulated`), with 1 / D_j
beside it. The body's origin is the tree's origin.
"""

from __future__ import annotations

from ...compile import function, routine
from ...dynamics.aba import DOF
from ...dynamics.steps.articulated import INERTIA
from ...spatial.vectors import dot, get3, get6, get9, put3

_ROW = DOF.G_angular


@routine
def factorize_root(at, links, dof, dofs):
    """IA = L D L^T for the articulated inertia of a free body."""
    A, H, M = get6(links, at + INERTIA.A), get9(links, at + INERTIA.H), get6(links, at + INERTIA.M)
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
    put_lower3(dofs, row, L)
    put3(dofs, rest, Lx)
    put3(dofs, rest + DOF.size, Ly)
    put3(dofs, rest + 2 * DOF.size, Lz)
    put_lower3(dofs, rest + 3, L_rest)
    for j in range(3):
        dofs[dof + j * DOF.size + DOF.D_inverse] = D_inverse[j]
        dofs[dof + (3 + j) * DOF.size + DOF.D_inverse] = D_inverse_rest[j]


@function
def factorize3(A):
    """A = L D L^T of a symmetric three by three matrix: L below the diagonal, and 1 / D."""
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
def put_lower3(dofs, at, L):
    """Store a three by three L below the diagonal, a row in each record."""
    dofs[at + DOF.size] = L[0]
    dofs[at + 2 * DOF.size] = L[1]
    dofs[at + 2 * DOF.size + 1] = L[2]


@function
def times(x, y):
    """x and y multiplied entry by entry"""
    return x[0] * y[0], x[1] * y[1], x[2] * y[2]


@function
def solve_lower_root(n, f, dofs, dof):
    """L^-1 (n, f): six numbers."""
    row = dof + _ROW
    b, c = row + DOF.size, row + 2 * DOF.size
    d, e, g = row + 3 * DOF.size, row + 4 * DOF.size, row + 5 * DOF.size
    x0 = n[0]
    x1 = n[1] - dofs[b] * x0
    x2 = n[2] - dofs[c] * x0 - dofs[c + 1] * x1
    x3 = f[0] - dofs[d] * x0 - dofs[d + 1] * x1 - dofs[d + 2] * x2
    x4 = f[1] - dofs[e] * x0 - dofs[e + 1] * x1 - dofs[e + 2] * x2 - dofs[e + 3] * x3
    x5 = f[2] - dofs[g] * x0 - dofs[g + 1] * x1 - dofs[g + 2] * x2 - dofs[g + 3] * x3
    return x0, x1, x2, x3, x4, x5 - dofs[g + 4] * x4


@function
def solve_upper_root(x, dofs, dof):
    """L^-T D^-1 x: an angular and a linear acceleration."""
    row, inverse = dof + _ROW, dof + DOF.D_inverse
    b, c = row + DOF.size, row + 2 * DOF.size
    d, e, g = row + 3 * DOF.size, row + 4 * DOF.size, row + 5 * DOF.size
    x5 = x[5] * dofs[inverse + 5 * DOF.size]
    x4 = x[4] * dofs[inverse + 4 * DOF.size] - dofs[g + 4] * x5
    x3 = x[3] * dofs[inverse + 3 * DOF.size] - dofs[g + 3] * x5 - dofs[e + 3] * x4
    x2 = x[2] * dofs[inverse + 2 * DOF.size] - dofs[g + 2] * x5 - dofs[e + 2] * x4
    x2 = x2 - dofs[d + 2] * x3
    x1 = x[1] * dofs[inverse + DOF.size] - dofs[g + 1] * x5 - dofs[e + 1] * x4
    x1 = x1 - dofs[d + 1] * x3 - dofs[c + 1] * x2
    x0 = x[0] * dofs[inverse] - dofs[g] * x5 - dofs[e] * x4 - dofs[d] * x3
    x0 = x0 - dofs[c] * x2 - dofs[b] * x1
    return (x0, x1, x2), (x3, x4, x5)


@function
def solve_root(n, f, dofs, dof):
    """The angular and linear acceleration that a moment and a force give a free body."""
    return solve_upper_root(solve_lower_root(n, f, dofs, dof), dofs, dof)


@function
def joint_force(tau, v, dofs, dof):
    """Moment and force on a free body by the joint forces tau of its six degrees of freedom."""
    n, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for k in range(3):
        axis = get3(dofs, dof + k * DOF.size + DOF.linear)
        x, y = tau[v + k], tau[v + 3 + k]
        f = (f[0] + x * axis[0], f[1] + x * axis[1], f[2] + x * axis[2])
        n = (n[0] + y * axis[0], n[1] + y * axis[1], n[2] + y * axis[2])
    return n, f


@function
def joint_acceleration(alpha, a, v, dofs, dof, acceleration):
    """The accelerations of the six degrees of freedom of a free body's joint."""
    for k in range(3):
        axis = get3(dofs, dof + k * DOF.size + DOF.linear)
        acceleration[v + k] = dot(axis, a)
        acceleration[v + 3 + k] = dot(axis, alpha)

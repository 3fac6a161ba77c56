"""The inverse of a symmetric positive definite matrix in place, three rows at a time.

Gauss-Jordan elimination, three by three entries after the other, on the lower triangle alone. It
takes n^3 / 2 products, as many as a factor, its inverse and their product do. But it is one simple
loop, whose three by three entries stay in registers.
"""

from __future__ import annotations

from ...compile import function
from ...spatial.vectors import dot, get3, put3

WIDTH = 3


@function
def invert_damped(model, damping, G):
    """G <- (G + damping)^-1, one branch after the other (see `delassus.strands`).

    Filler rows, of strands with fewer than three rows, get a 1 on the diagonal; else they are zero.
    """
    size = len(model.places) + len(model.fillers)
    for t in range(len(model.fillers)):
        G[model.fillers[t] * (size + 1)] = 1.0
    for t in range(len(model.places)):
        at = model.places[t] * (size + 1)
        G[at] = G[at] + damping[t]
    for t in range(len(model.branches)):
        branch = model.branches[t]
        invert(G, branch.start, branch.rows, size)


@function
def invert(A, start, size, pitch):
    """Invert rows and columns start..start+size-1 of A in place, by the lower triangle.

    `size` is a multiple of three.
    """
    for k in range(start, start + size, WIDTH):
        pivot = k * pitch + k
        P = inverse3(
            A[pivot], A[pivot + pitch], A[pivot + pitch + 1],
            A[pivot + 2 * pitch], A[pivot + 2 * pitch + 1], A[pivot + 2 * pitch + 2],
        )  # fmt: skip
        for i in range(start, start + size, WIDTH):
            if i != k:
                eliminate_row(A, start, size, pitch, k, i, P)
        for i in range(start, start + size, WIDTH):
            if i != k:
                scale_block(A, pitch, k, i, P)
        put3(A, pivot, (-P[0], -P[1], -P[2]))
        put3(A, pivot + pitch, (-P[1], -P[3], -P[4]))
        put3(A, pivot + 2 * pitch, (-P[2], -P[4], -P[5]))
    for i in range(start, start + size, WIDTH):
        for j in range(start, i + 1, WIDTH):
            negate_block(A, i * pitch + j, pitch)


@function
def negate_block(A, at, pitch):
    """Change the sign of three by three entries."""
    for _ in range(WIDTH):
        put3(A, at, (-A[at], -A[at + 1], -A[at + 2]))
        at = at + pitch


@function
def inverse3(a, b, d, c, e, f):
    """The inverse of [[a, b, c], [b, d, e], [c, e, f]], positive definite, as xx xy xz yy yz zz."""
    x = 1.0 / a
    l1, l2 = b * x, c * x
    y = 1.0 / (d - l1 * b)
    m = (e - l2 * b) * y
    z = 1.0 / (f - l2 * c - m * m / y)
    # With L = [[1], [l1, 1], [l2, m, 1]] the inverse is L^-T D^-1 L^-1.
    h = l1 * m - l2
    zh, zm = z * h, z * m
    return (x + l1 * l1 * y + h * zh, -l1 * y - m * zh, zh, y + m * zm, -zm, z)


@function
def get_block(A, pitch, k, i):
    """A_ik, three by three entries by rows; above the diagonal, the transpose of A_ki."""
    if i > k:
        at = i * pitch + k
        return get3(A, at), get3(A, at + pitch), get3(A, at + 2 * pitch)
    at = k * pitch + i
    x, y, z = get3(A, at), get3(A, at + pitch), get3(A, at + 2 * pitch)
    return (x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2])


@function
def times_symmetric(x, P):
    """x P for a row x"""
    return (
        x[0] * P[0] + x[1] * P[1] + x[2] * P[2],
        x[0] * P[1] + x[1] * P[3] + x[2] * P[4],
        x[0] * P[2] + x[1] * P[4] + x[2] * P[5],
    )


@function
def eliminate_row(A, start, size, pitch, k, i, P):
    """A_ij <- A_ij - A_ik P A_kj for all j <= i but k"""
    x, y, z = get_block(A, pitch, k, i)
    x, y, z = times_symmetric(x, P), times_symmetric(y, P), times_symmetric(z, P)
    for j in range(start, i + 1, WIDTH):
        if j != k:
            # The rows of A_jk are the columns of A_kj.
            a, b, c = get_block(A, pitch, k, j)
            at = i * pitch + j
            put3(A, at, less(get3(A, at), dot(x, a), dot(x, b), dot(x, c)))
            at = at + pitch
            put3(A, at, less(get3(A, at), dot(y, a), dot(y, b), dot(y, c)))
            at = at + pitch
            put3(A, at, less(get3(A, at), dot(z, a), dot(z, b), dot(z, c)))


@function
def less(x, a, b, c):
    """x - (a, b, c)"""
    return x[0] - a, x[1] - b, x[2] - c


@function
def scale_block(A, pitch, k, i, P):
    """A_ik <- A_ik P"""
    x, y, z = get_block(A, pitch, k, i)
    x, y, z = times_symmetric(x, P), times_symmetric(y, P), times_symmetric(z, P)
    if i > k:
        at = i * pitch + k
        put3(A, at, x)
        put3(A, at + pitch, y)
        put3(A, at + 2 * pitch, z)
    else:
        at = k * pitch + i
        put3(A, at, (x[0], y[0], z[0]))
        put3(A, at + pitch, (x[1], y[1], z[1]))
        put3(A, at + 2 * pitch, (x[2], y[2], z[2]))

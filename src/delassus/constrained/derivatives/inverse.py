"""The inverse of the constrained equations, as matrices: responses to forces and accelerations.

    P = M^-1 - M^-1 J^T L    L = G^+ J M^-1    G = J M^-1 J^T

They follow from the factors of `factor.kkt`: with W = U_M^-1, M^-1 = W^T D^-1 W and
J M^-1 = Y D^-1 W.

The pseudo-inverse G^+ follows from the damped inverse B = (G + mu)^-1 by the proximal iterations of
`solvers.prox_ltl`, for all right-hand sides at once. n iterations give B_n = B + B mu B + ..., a
sum of n terms. Each step here doubles n:

    B_2n = B_n + E_n B_n      E_2n = E_n E_n      E_1 = B mu

In the end E is the projection on multipliers that have no effect. It is zero unless rows are
redundant; then its part of B_n is subtracted. All matrices are made symmetric by a factor sqrt(mu)
on either side.

Carpentier, Budhiraja and Mansard, Proximal and Sparse Resolution of Constrained Dynamic Equations,
2021:

| paper | here | what |
| --- | --- | --- |
| Lambda_mu (Eq. 20) | E at first, by `put_scaled_inverse` | sqrt(mu) B sqrt(mu) |
| iteration of Eq. (18), for all right-hand sides | `put_pseudo_inverse` | B_n in X, E_n in E |
| M^-1 (Eq. 19) | `put_inverse_mass` | |
| J M^-1 | `put_row_responses` | T |
| Lambda_mu J M^-1 (Eq. 19), mu -> 0 | `put_responses` | L |
| M^-1 - M^-1 J^T Lambda_mu J M^-1, mu -> 0 | `put_responses` | P |
"""

from __future__ import annotations

from ...compile import absolute, any_true, either, function, layout, maximum, routine, select, sqrt
from ...spatial.vectors import add_scaled4, get4, put4, scale4
from ..factor.kkt import MARGIN, padded_extents
from ..rows.wrenches import count_rows

# In the end E is zero or a projection, which has an entry of at least 1 / m. It counts as a
# projection if an entry is larger than this.
PROJECTS = 1e-3


def _square(n: dict[str, int]) -> int:
    """How many numbers an m by m matrix has, with both extents padded to fours."""
    return padded(n["m"]) * padded(n["m"])


def _wide(n: dict[str, int]) -> int:
    """How many numbers an m by nv matrix has, with both extents padded to fours."""
    return padded(n["m"]) * padded(n["nv"])


# X becomes G^+ and is kept. The others are needed to find it: T = J M^-1; E, the two factors of
# E_1, and products with E; and at the end L, in the place of these.
PSEUDO_INVERSE = layout(X=_square)
INVERSE = layout(
    either(
        layout(
            E=_square,
            scaled=lambda n: n["padded_rows"] * padded(n["m"]),
            scaled_D=lambda n: n["padded_rows"] * padded(n["m"]),
            product=_square,
        ),
        layout(L=_wide),
    ),
    T=_wide,
)


@routine
def put_inverse(model, limit, tolerance, factor, damping, dtau, rows_dtau, X, work):
    """P = da/dtau, -L = dmultipliers/dtau, and G^+ in X, whose rows are padded to fours.

    `factor` has the factors of `factor.kkt`; those in M and G are overwritten. `work` has the
    layout INVERSE. Returns zero where rows are independent, and the iterations have come to an end.
    """
    nv, unsure = len(model.armature), 0.0 * tolerance
    invert_tree_factor(model, factor.M)
    put_inverse_mass(model, factor.M, factor.D, dtau)
    if count_rows(model) > 0:
        put_row_responses(model, factor.M, factor.D, factor.Y, work.T)
        put_scaled_inverse(model, factor.G, factor.D_G, damping, work)
        unsure = put_pseudo_inverse(model, limit, tolerance, damping, work.E, X, work.product)
        put_responses(model, work.T, X, dtau, rows_dtau, work.L)
    mirror(nv, dtau)
    return unsure


@function
def padded(n):
    """The smallest multiple of four that is not less than n."""
    return n + (-n) % 4


@function
def invert_tree_factor(model, M):
    """U_M <- U_M^-1, in place"""
    nv = len(model.armature)
    pitch = nv + MARGIN
    for i in range(nv):
        for k in range(i + 1, model.dof_end[i]):
            M[i * pitch + k] = -M[i * pitch + k]
        for between in range(i + 1, model.dof_end[i]):
            x = M[i * pitch + between]
            for k in range(between + 1, model.dof_end[between]):
                M[i * pitch + k] = M[i * pitch + k] - x * M[between * pitch + k]


@function
def put_inverse_mass(model, M, D, inverse):
    """The lower triangle of M^-1 = W^T D^-1 W, with W above the diagonal of M"""
    nv = len(model.armature)
    pitch = nv + MARGIN
    for k in range(nv):
        for j in range(k + 1):
            inverse[k * nv + j] = 0.0 * D[0]
    for i in range(nv):
        inverse[i * nv + i] = inverse[i * nv + i] + D[i]
        for k in range(i + 1, model.dof_end[i]):
            x = M[i * pitch + k] * D[i]
            inverse[k * nv + i] = inverse[k * nv + i] + x
            for j in range(i + 1, k + 1):
                inverse[k * nv + j] = inverse[k * nv + j] + x * M[i * pitch + j]


@function
def put_row_responses(model, M, D, Y, T):
    """T = J M^-1 = Y D^-1 W, rows `padded(nv)` apart"""
    nv = len(model.armature)
    pitch, width = nv + MARGIN, padded(nv)
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for r in range(piece.count):
            row = (piece.row + r) * width
            for k in range(width):
                T[row + k] = 0.0 * D[0]
            for place in range(piece.length):
                i = model.steps[piece.path + place].dof
                x = Y[piece.panel + place * piece.height + r] * D[i]
                T[row + i] = T[row + i] + x
                for k in range(i + 1, model.dof_end[i]):
                    T[row + k] = T[row + k] + x * M[i * pitch + k]


@function
def tile(count, A, a_pitch, r, B, b_pitch, c):
    """Four by four entries of A^T B, from row r and column c on; a tuple for each column."""
    x, y = get4(A, r), get4(B, c)
    s0, s1, s2, s3 = scale4(y[0], x), scale4(y[1], x), scale4(y[2], x), scale4(y[3], x)
    for k in range(1, count):
        x, y = get4(A, k * a_pitch + r), get4(B, k * b_pitch + c)
        s0, s1 = add_scaled4(s0, y[0], x), add_scaled4(s1, y[1], x)
        s2, s3 = add_scaled4(s2, y[2], x), add_scaled4(s3, y[3], x)
    return s0, s1, s2, s3


@function
def put_product(rows, columns, count, A, a_pitch, B, b_pitch, result, pitch):
    """A^T B, four by four entries at a time."""
    for r in range(0, rows, 4):
        for c in range(0, columns, 4):
            s0, s1, s2, s3 = tile(count, A, a_pitch, r, B, b_pitch, c)
            at = r * pitch + c
            put4(result, at, (s0[0], s1[0], s2[0], s3[0]))
            put4(result, at + pitch, (s0[1], s1[1], s2[1], s3[1]))
            put4(result, at + 2 * pitch, (s0[2], s1[2], s2[2], s3[2]))
            put4(result, at + 3 * pitch, (s0[3], s1[3], s2[3], s3[3]))


@function
def invert_dense_factor(padded_rows, G):
    """U_G <- U_G^-1, in place"""
    pitch = padded_rows + MARGIN
    for i in range(padded_rows):
        for k in range(i + 1, padded_rows):
            G[i * pitch + k] = -G[i * pitch + k]
        for between in range(i + 1, padded_rows):
            x = G[i * pitch + between]
            for k in range(between + 1, padded_rows):
                G[i * pitch + k] = G[i * pitch + k] - x * G[between * pitch + k]


@function
def put_scaled_inverse(model, G, D_G, damping, work):
    """E = sqrt(mu) (G + mu)^-1 sqrt(mu), without filler rows"""
    padded_rows, _ = padded_extents(model)
    scaled, scaled_D = work.scaled, work.scaled_D
    pitch, width = padded_rows + MARGIN, padded(count_rows(model))
    invert_dense_factor(padded_rows, G)
    for t in range(padded_rows * width):
        scaled[t] = 0.0 * D_G[0]
        scaled_D[t] = 0.0 * D_G[0]
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for t in range(piece.count):
            k = piece.padded_row + t
            root = sqrt(damping[k])
            for i in range(k):
                x = root * G[i * pitch + k]
                scaled[i * width + piece.row + t] = x
                scaled_D[i * width + piece.row + t] = D_G[i] * x
            scaled[k * width + piece.row + t] = root
            scaled_D[k * width + piece.row + t] = D_G[k] * root
    put_product(width, width, padded_rows, scaled, width, scaled_D, width, work.E, width)


@function
def put_pseudo_inverse(model, limit, tolerance, damping, E, X, product):
    """G^+ from E, by doubling the number of iterations; states that are done are frozen.

    Returns zero where that has come to an end and rows are independent, elsewhere one.
    """
    width = padded(count_rows(model))
    size = width * width
    goal = sqrt(tolerance)  # what is left of E is the square of its last change
    put_product(width, width, width, E, width, E, width, product, width)
    change = 0.0 * tolerance
    for t in range(size):
        change = maximum(change, absolute(E[t] - product[t]))
        X[t] = E[t] + product[t]
        E[t] = product[t]
    count = 2
    while count < limit and any_true(change > goal):
        is_active = change > goal
        put_product(width, width, width, E, width, X, width, product, width)
        for t in range(size):
            X[t] = X[t] + select(is_active, product[t], 0.0 * product[t])
        put_product(width, width, width, E, width, E, width, product, width)
        difference = 0.0 * tolerance
        for t in range(size):
            difference = maximum(difference, absolute(E[t] - product[t]))
            E[t] = select(is_active, product[t], E[t])
        change = select(is_active, difference, change)
        count = 2 * count
    projects = take_off_projection(size, width, E, X, product)
    unscale(model, width, damping, X)
    none = 0.0 * tolerance
    return select(change > goal, 1.0 + none, select(projects, 1.0 + none, none))


@function
def take_off_projection(size, width, E, X, product):
    """X <- X - E X in states where E is a projection; returns which these are."""
    largest = absolute(E[0])
    for t in range(1, size):
        largest = maximum(largest, absolute(E[t]))
    projects = largest > PROJECTS
    if any_true(projects):
        put_product(width, width, width, E, width, X, width, product, width)
        for t in range(size):
            X[t] = X[t] - select(projects, product[t], 0.0 * product[t])
    return projects


@function
def unscale(model, width, damping, X):
    """X <- mu^-1/2 X mu^-1/2"""
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for t in range(piece.count):
            x, row = 1.0 / sqrt(damping[piece.padded_row + t]), piece.row + t
            for k in range(width):
                X[row * width + k] = x * X[row * width + k]
            for k in range(width):
                X[k * width + row] = x * X[k * width + row]


@function
def put_responses(model, T, X, dtau, rows_dtau, L):
    """P, in the place of M^-1, and -L"""
    nv = len(model.armature)
    m = count_rows(model)
    rows, width = padded(m), padded(nv)
    put_product(rows, width, m, X, rows, T, width, L, width)
    for r in range(m):
        for k in range(nv):
            rows_dtau[r * nv + k] = -L[r * width + k]
    for r in range(0, nv, 4):
        for c in range(0, r + 1, 4):
            s0, s1, s2, s3 = tile(m, T, width, r, L, width, c)
            take_column(nv, r, c, s0, dtau)
            take_column(nv, r, c + 1, s1, dtau)
            take_column(nv, r, c + 2, s2, dtau)
            take_column(nv, r, c + 3, s3, dtau)


@function
def take_column(nv, r, c, x, matrix):
    """Subtract four numbers from a column of the lower triangle, as far as there are rows."""
    take(nv, r, c, x[0], matrix)
    take(nv, r + 1, c, x[1], matrix)
    take(nv, r + 2, c, x[2], matrix)
    take(nv, r + 3, c, x[3], matrix)


@function
def take(nv, r, c, x, matrix):
    """Subtract a number from an entry, if it is in the lower triangle."""
    if c <= r < nv:
        matrix[r * nv + c] = matrix[r * nv + c] - x


@function
def mirror(nv, matrix):
    """Copy the lower triangle of a symmetric matrix to the upper."""
    for r in range(nv):
        for c in range(r):
            matrix[c * nv + r] = matrix[r * nv + c]

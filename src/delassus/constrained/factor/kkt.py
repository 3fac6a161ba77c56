"""The sparse factorisation of the constrained equations of motion, K = U D U^T, in place.

Carpentier, Budhiraja and Mansard, Proximal and Sparse Resolution of Constrained Dynamic Equations,
2021, Algorithm 1. With constraint rows before joints,

    K = [[-mu, J], [J^T, M]] = U D U^T,  U = [[U_G, Y D_M^-1], [0, U_M]],  D = [-D_G, D_M]

- U_M has the tree's pattern: it is zero where neither of two degrees of freedom carries the other.
- Y has a column for each step of a piece's path: the degrees of freedom that carry its frames or
  joints.
- U_G is dense. With D_G it is the factor of the damped Delassus matrix J M^-1 J^T + mu (Sec. IV-E).

Any symmetric positive definite matrix with the tree's pattern may stand for M (Sec. IV-F).

| paper | here | what |
| --- | --- | --- |
| A, K_mu | work.M, work.Y, work.G | K, then its factor in the same place |
| N, m | nv, padded_rows | number of degrees of freedom, and of padded rows |
| p(k) | model.dof_parent, model.chain_start | degrees of freedom that carry k |
| sigma_l, i_l | model.steps of a piece, piece.padded_row | path of a piece, and its first row |
| A_{i+m,k+m} | M, row i, column k | U_M; (U_M D_M)^T is in the lower triangle |
| A_{j+i_l,k+m} | Y of a piece | rows and joints; U has Y D_M^-1 |
| A_{k+m,k+m}, A_{k,k} | 1 / work.D, -1 / work.D_G | D_M and -D_G |
| for k = N to 1, i = p(k), p(p(k)), ... | loops of `factorize_tree` | over pairs of joints |
| a = A_{i+m,k+m} / A_{k+m,k+m}; A_{i+m,k+m} = a | last loop of `factorize_tree` | U_M |
| pass over the joints: A_{j+m,i+m} - A_{j+m,k+m} a | `finish_entries` | M less U_M D_M U_M^T |
| pass over the constraints: A_{j+i_l,i+m} - A_{j+i_l,k+m} a | `eliminate_steps` | Y U_M^T = J |
| dense factorisation, for k, i: a = A_{i,k} / A_{k,k}; A_{i,k} = a | `factorize_dense` | U_G |
| for j: A_{j,i} - A_{j,k} a | `finish_entries` | G less U_G D_G U_G^T |
| not in the listing | `add_to_delassus` | G = Y D_M^-1 Y^T, before the dense part |

Departs from the paper in the order of the operations: an entry is finished at once, from the rows
of all that its joint carries. These rows stand side by side, and the entry is loaded and stored
once.

A matrix to factorise is stored by rows, `pitch` numbers apart: lower triangle and diagonal. The
factor takes its place: (U D)^T below the diagonal, U above it, and the inverse of D in an array of
its own.
"""

from __future__ import annotations

from ...compile import absolute, clear, function, layout, part
from ...spatial.vectors import add_scaled, add_scaled4, dot, get3, get4, put3, scale

# Rows of matrices are read four numbers at a time: each has so many unused numbers at its end.
MARGIN = 3
# M and the inverse of D_M; Y by panels; G = J M^-1 J^T + mu and the inverse of D_G. Factors take
# the place of matrices.
MATRIX = layout(
    M=lambda n: n["nv"] * (n["nv"] + MARGIN),
    D="nv",
    Y="panels",
    G=lambda n: n["padded_rows"] * (n["padded_rows"] + MARGIN),
    D_G="padded_rows",
)


@function
def padded_extents(model):
    """Number of padded rows, and of numbers in all panels."""
    if len(model.pieces) == 0:
        return 0, 0
    last = model.pieces[len(model.pieces) - 1]
    return last.padded_row + last.height, last.panel + last.height * last.length


@function
def factorize(model, J, damping, work):
    """K = U D U^T: first M, then Y, then the dense G + mu."""
    padded_rows, panels = padded_extents(model)
    factorize_tree(model, work.M, work.D)
    for t in range(panels):
        work.Y[t] = J[t]
    put_delassus(model, work)
    for t in range(padded_rows):
        at = t * (padded_rows + MARGIN) + t
        work.G[at] = work.G[at] + damping[t]
    factorize_dense(padded_rows, work.G, work.D_G)


@function
def put_delassus(model, work):
    """Y U_M^T = J, with J in the place of Y; and the lower triangle of G = Y D_M^-1 Y^T."""
    padded_rows, _ = padded_extents(model)
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        eliminate_steps(model, piece, work.M, part(work.Y, piece.panel))
    clear(work.G, padded_rows * (padded_rows + MARGIN))
    for t in range(len(model.meetings)):
        add_to_delassus(model, model.meetings[t], work.D, work.Y, work.G, padded_rows)


@function
def factorize_tree(model, M, D):
    """M = U D U^T for a matrix with the tree's pattern; `D` gets the inverse of D."""
    nv = len(model.armature)
    pitch = nv + MARGIN
    for i in range(nv - 1, -1, -1):
        if model.dof_end[i] > i + 1:
            last = i
            while last >= 0:  # all j that carry i, and i itself, a run of numbers at a time
                first = model.chain_start[last]
                finish_entries(M, pitch, i, first, last, model.dof_end[i])
                last = model.dof_parent[first]
        D[i] = 1.0 / M[i * pitch + i]
        last = model.dof_parent[i]
        while last >= 0:
            first = model.chain_start[last]
            for j in range(first, last + 1):
                M[j * pitch + i] = M[i * pitch + j] * D[i]
            last = model.dof_parent[first]


@function
def factorize_dense(m, G, D):
    """G = U D U^T for a dense matrix; `D` gets the inverse of D."""
    pitch = m + MARGIN
    for i in range(m - 1, -1, -1):
        finish_entries(G, pitch, i, 0, i, m)
        D[i] = 1.0 / G[i * pitch + i]
        for j in range(i):
            G[j * pitch + i] = G[i * pitch + j] * D[i]


@function
def finish_entries(A, pitch, i, first, last, end):
    """A_ij - sum of U_ik (U D)_jk over k = i+1..end-1, for j = first..last"""
    for j in range(first, last + 1, 4):
        x = get4(A, i * pitch + j)
        for k in range(i + 1, end):
            x = add_scaled4(x, -A[i * pitch + k], get4(A, k * pitch + j))
        A[i * pitch + j] = x[0]
        if j + 1 <= last:
            A[i * pitch + j + 1] = x[1]
        if j + 2 <= last:
            A[i * pitch + j + 2] = x[2]
        if j + 3 <= last:
            A[i * pitch + j + 3] = x[3]


@function
def eliminate_steps(model, piece, M, Y):
    """Y of a piece, in the place of its panel of J: Y U_M^T = J"""
    pitch = len(model.armature) + MARGIN
    for place in range(1, piece.length):
        i = model.steps[piece.path + place].dof
        for g in range(0, piece.height, 3):
            x = get3(Y, place * piece.height + g)
            for before in range(place):
                k = model.steps[piece.path + before].dof
                if k < model.dof_end[i]:  # i carries k
                    u = M[i * pitch + k]
                    x = add_scaled(x, -u, get3(Y, before * piece.height + g))
            put3(Y, place * piece.height + g, x)


@function
def add_to_delassus(model, meeting, D, Y, G, padded_rows):
    """Add Y D_M^-1 Y^T of two pieces whose paths share steps to G."""
    pitch = padded_rows + MARGIN
    piece, other = model.pieces[meeting.piece], model.pieces[meeting.other]
    for g in range(0, piece.height, 3):
        width = g + 3 if meeting.piece == meeting.other else other.height
        for h in range(0, width, 3):
            at = (piece.padded_row + g) * pitch + other.padded_row + h
            row0, row1, row2 = get3(G, at), get3(G, at + pitch), get3(G, at + 2 * pitch)
            for t in range(meeting.first, meeting.first + meeting.count):
                step = model.shared_steps[t]
                x = get3(Y, piece.panel + step.place * piece.height + g)
                y = get3(Y, other.panel + step.other_place * other.height + h)
                y = scale(D[step.dof], y)
                row0, row1 = add_scaled(row0, x[0], y), add_scaled(row1, x[1], y)
                row2 = add_scaled(row2, x[2], y)
            put3(G, at, row0)
            put3(G, at + pitch, row1)
            put3(G, at + 2 * pitch, row2)


# --- products with the factors --------------------------------------------------------------------


@function
def solve_tree(model, M, D, x):
    """x <- D_M^-1 U_M^-1 x"""
    nv = len(model.armature)
    pitch = nv + MARGIN
    for k in range(nv - 1, -1, -1):
        y = x[k] * D[k]
        last = model.dof_parent[k]
        while last >= 0:
            first = model.chain_start[last]
            for i in range(first, last + 1):
                x[i] = x[i] - M[k * pitch + i] * y
            last = model.dof_parent[first]
        x[k] = y


@function
def solve_tree_transposed(model, M, x):
    """x <- U_M^-T x"""
    nv = len(model.armature)
    pitch = nv + MARGIN
    for i in range(nv):
        y = x[i]
        for k in range(i + 1, model.dof_end[i]):
            x[k] = x[k] - M[i * pitch + k] * y


@function
def solve_dense(m, G, D, x):
    """x <- G^-1 x

    Three rows are taken at a time: each number of x is then read and written a third as often.
    """
    pitch = m + MARGIN
    for k in range(m - 1, 1, -3):
        a, b, c = k * pitch, (k - 1) * pitch, (k - 2) * pitch
        y0 = x[k] * D[k]
        y1 = (x[k - 1] - G[a + k - 1] * y0) * D[k - 1]
        y2 = (x[k - 2] - G[a + k - 2] * y0 - G[b + k - 2] * y1) * D[k - 2]
        for i in range(k - 2):
            x[i] = x[i] - G[a + i] * y0 - G[b + i] * y1 - G[c + i] * y2
        x[k], x[k - 1], x[k - 2] = y0, y1, y2
    for k in range(m % 3 - 1, -1, -1):
        y = x[k] * D[k]
        for i in range(k):
            x[i] = x[i] - G[k * pitch + i] * y
        x[k] = y
    rest = m - m % 3
    for i in range(0, rest, 3):
        a, b, c = i * pitch, (i + 1) * pitch, (i + 2) * pitch
        y0 = x[i]
        y1 = x[i + 1] - G[a + i + 1] * y0
        y2 = x[i + 2] - G[a + i + 2] * y0 - G[b + i + 2] * y1
        x[i + 1], x[i + 2] = y1, y2
        for k in range(i + 3, m):
            x[k] = x[k] - G[a + k] * y0 - G[b + k] * y1 - G[c + k] * y2
    for i in range(rest, m):
        y = x[i]
        for k in range(i + 1, m):
            x[k] = x[k] - G[i * pitch + k] * y


@function
def add_panels(model, Y, x, r):
    """r <- r + Y x, for x of all degrees of freedom and r of all padded rows"""
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for g in range(0, piece.height, 3):
            y = get3(r, piece.padded_row + g)
            for place in range(piece.length):
                k = model.steps[piece.path + place].dof
                y = add_scaled(y, x[k], get3(Y, piece.panel + place * piece.height + g))
            put3(r, piece.padded_row + g, y)


@function
def add_magnitudes(model, Y, x, sizes):
    """sizes <- sizes + |Y| |x|"""
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for g in range(0, piece.height, 3):
            s = get3(sizes, piece.padded_row + g)
            for place in range(piece.length):
                k = model.steps[piece.path + place].dof
                y = scale(absolute(x[k]), get3(Y, piece.panel + place * piece.height + g))
                s = (s[0] + absolute(y[0]), s[1] + absolute(y[1]), s[2] + absolute(y[2]))
            put3(sizes, piece.padded_row + g, s)


@function
def add_scaled_panels(model, Y, D, r, x):
    """x <- x + D_M^-1 Y^T r"""
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for place in range(piece.length):
            k = model.steps[piece.path + place].dof
            x[k] = x[k] + D[k] * panel_row(piece, Y, place, r)


@function
def panel_row(piece, Y, place, r):
    """Y^T r at one step of a piece's path."""
    at = piece.panel + place * piece.height
    y = dot(get3(Y, at), get3(r, piece.padded_row))
    for g in range(3, piece.height, 3):
        y = y + dot(get3(Y, at + g), get3(r, piece.padded_row + g))
    return y


@function
def add_panels_transposed(model, Y, r, x):
    """x <- x + Y^T r"""
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for place in range(piece.length):
            k = model.steps[piece.path + place].dof
            x[k] = x[k] + panel_row(piece, Y, place, r)

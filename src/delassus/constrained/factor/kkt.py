"""The sparse factorisation of the constrained equations of motion, K = U D U^T, in place.

Carpentier, Budhiraja and Mansard, Proximal and Sparse Resolution of Constrained Dynamic Equations,
2021, Algorithm 1. With constraint rows before joints,

    K = [[-mu, J], [J^T, M]] = U D U^T,  U = [[U_G, Y D_M^-1], [0, U_M]],  D = [-D_G, D_M]

- U_M has the tree's pattern: it is zero where neither of two degrees of freedom carries the other.
- Y has a column for each step of a piece's path: joints that the piece restrains, and all that
  carries them.
- U_G is dense. With D_G it is the factor of the damped Delassus matrix J M^-1 J^T + mu (Sec. IV-E).

Any symmetric matrix with the tree's pattern may stand for M (Sec. IV-F).

Departs from the paper in the order of the same operations: an entry is finished at once from the
rows of all that its joint carries, which stand side by side, so that it is loaded and stored once.

A matrix to factor is kept by rows `pitch` apart, lower triangle and diagonal. The factor takes its
place: U D below the diagonal (as its transpose), U above it, and the inverse of D apart.
"""

from __future__ import annotations

from ...compile import clear, function, layout, part
from ...spatial.vectors import add_scaled, add_scaled4, dot, get3, get4, put3, scale

# Rows are read by four: so many more numbers must stand behind the last of a row.
MARGIN = 3
# M and the inverse of D_M; Y by panels, that is a step of a piece's path after the other; and
# J M^-1 J^T + mu with the inverse of D_G. Factors take the place of matrices.
MATRIX = layout(
    M=lambda n: n["nv"] * (n["nv"] + MARGIN),
    D="nv",
    Y="panels",
    G=lambda n: n["blocks"] * (n["blocks"] + MARGIN),
    D_G="blocks",
)


@function
def extents(model):
    """Number of rows by threes, and of numbers in all panels."""
    if len(model.pieces) == 0:
        return 0, 0
    last = model.pieces[len(model.pieces) - 1]
    return last.block + last.height, last.panel + last.height * last.length


@function
def factorize(model, J, damping, work):
    """All of K: the joints, the constraints, then the dense rest."""
    blocks, panels = extents(model)
    factorize_tree(model, work.M, work.D)
    for t in range(panels):
        work.Y[t] = J[t]
    put_delassus(model, work)
    for t in range(blocks):
        at = t * (blocks + MARGIN) + t
        work.G[at] = work.G[at] + damping[t]
    factorize_dense(blocks, work.G, work.D_G)


@function
def put_delassus(model, work):
    """G = Y D^-1 Y^T up to the diagonal, from the factor of M, and J in the place of Y."""
    blocks, _ = extents(model)
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        eliminate_steps(model, piece, work.M, part(work.Y, piece.panel))
    clear(work.G, blocks * (blocks + MARGIN))
    for t in range(len(model.meetings)):
        add_to_delassus(model, model.meetings[t], work.D, work.Y, work.G, blocks)


@function
def factorize_tree(model, M, D):
    """M = U D U^T for a matrix with the tree's pattern; D gets the inverse."""
    nv = len(model.armature)
    pitch = nv + MARGIN
    for i in range(nv - 1, -1, -1):
        if model.dof_end[i] > i + 1:
            last = i
            while last >= 0:  # joints that carry i, a run of numbers at a time
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
    """G = U D U^T for a dense matrix; D gets the inverse."""
    pitch = m + MARGIN
    for i in range(m - 1, -1, -1):
        finish_entries(G, pitch, i, 0, i, m)
        D[i] = 1.0 / G[i * pitch + i]
        for j in range(i):
            G[j * pitch + i] = G[i * pitch + j] * D[i]


@function
def finish_entries(A, pitch, i, first, last, end):
    """A_ij - sum of U_ik (U D)_jk over k from i + 1 to end, for j from first to last."""
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
    """Y of a piece, in the place of its part of J: Y U_M^T = J"""
    pitch = len(model.armature) + MARGIN
    for place in range(1, piece.length):
        i = model.steps[piece.path + place].dof
        for g in range(0, piece.height, 3):
            x = get3(Y, place * piece.height + g)
            for before in range(place):
                k = model.steps[piece.path + before].dof
                if k < model.dof_end[i]:  # i carries it
                    u = M[i * pitch + k]
                    x = add_scaled(x, -u, get3(Y, before * piece.height + g))
            put3(Y, place * piece.height + g, x)


@function
def add_to_delassus(model, meeting, D, Y, G, blocks):
    """The block Y D^-1 Y^T of two pieces that meet."""
    pitch = blocks + MARGIN
    piece, other = model.pieces[meeting.piece], model.pieces[meeting.other]
    for g in range(0, piece.height, 3):
        width = g + 3 if meeting.piece == meeting.other else other.height
        for h in range(0, width, 3):
            at = (piece.block + g) * pitch + other.block + h
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
    """x <- G^-1 x"""
    pitch = m + MARGIN
    for k in range(m - 1, -1, -1):
        y = x[k] * D[k]
        for i in range(k):
            x[i] = x[i] - G[k * pitch + i] * y
        x[k] = y
    for i in range(m):
        y = x[i]
        for k in range(i + 1, m):
            x[k] = x[k] - G[i * pitch + k] * y


@function
def add_panels(model, Y, x, r):
    """r <- r + Y x, x over the joints and r over the blocks' rows."""
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for g in range(0, piece.height, 3):
            y = get3(r, piece.block + g)
            for place in range(piece.length):
                k = model.steps[piece.path + place].dof
                y = add_scaled(y, x[k], get3(Y, piece.panel + place * piece.height + g))
            put3(r, piece.block + g, y)


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
    """The numbers of one step of a piece's path, times r."""
    at = piece.panel + place * piece.height
    y = dot(get3(Y, at), get3(r, piece.block))
    for g in range(3, piece.height, 3):
        y = y + dot(get3(Y, at + g), get3(r, piece.block + g))
    return y


@function
def add_panels_transposed(model, Y, r, x):
    """x <- x + Y^T r"""
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for place in range(piece.length):
            k = model.steps[piece.path + place].dof
            x[k] = x[k] + panel_row(piece, Y, place, r)

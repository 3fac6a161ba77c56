"""Products of the inverse of the constrained equations with their derivatives.

    da = -P F - L^T C        dmultipliers = L F - G^+ C

for all columns of F and C. The columns of all joints of a chain without forks are zero outside the
same rows: those of joints that carry it or that it carries, and those of pieces whose path it is
on. These rows, and the rows of the inverse that they are multiplied with, are packed side by side.
What remains is a dense product (as in `dynamics.derivatives.aba`).

A floating base needs no product with F. In the base's axes its pose changes nothing but gravity,
and its linear velocity u nothing but -omega x u. So F = M H with few entries in H, and

    da = -H - L^T (C - J H)    dmultipliers = -G^+ (C - J H)

| symbols | here | what |
| --- | --- | --- |
| P, L, G^+ | `inverse`: P, -L, X | see `derivatives.inverse` |
| F, C | work.F_q, work.F_v; work.C_q, work.C_v | by q and by v; C by panels |
| columns of [[P, L^T], [-L, G^+]] | work.packed | by `pack_joint`, `pack_row` |
| rows of [-F; -C], columns of a chain | work.columns | by `pack_forces`, `pack_accelerations` |
| C - J H | `take_base_motion` | in the columns of a floating base |
| -H | `add_cross_matrix` | in da |
"""

from __future__ import annotations

from ...compile import function, layout, part, routine
from ...dynamics.derivatives.aba import chain_end
from ...dynamics.steps.links import floats
from ...spatial.quaternions import rotation
from ...spatial.vectors import add, compose, cross, get3, get9, put3, rotate_back, scale
from ..rows.wrenches import count_rows
from .inverse import padded, tile

# Both factors of a dense product: a row for each joint and each constraint row that is part of it.
PRODUCTS = layout(
    packed=lambda n: (n["nv"] + n["m"]) * (padded(n["nv"]) + padded(n["m"])),
    columns=lambda n: (n["nv"] + n["m"]) * padded(2 * n["nv"]),
)


@routine
def multiply(model, q, v, inverse, results, work):
    """All columns of the derivatives by q and v, without the terms of `derivatives.forces`.

    `inverse` is P, -L, G^+; `results` are the derivatives of a by q and v, and of the multipliers.
    """
    first = 1
    while first < len(model.links):
        link, last = model.links[first], chain_end(model, first)
        start_q = start_v = link.v
        end = model.links[last].v + model.links[last].nv
        if floats(model, link):
            start_q, start_v = link.v + 6, link.v + 3
            span = (link.v, link.v, start_q, start_v)
            multiply_base(model, link, span, q, v, inverse, results, work)
        span = (start_q, start_v, end, end)
        multiply_chain(model, link, True, span, inverse, results, work)
        first = last + 1


@function
def multiply_chain(model, link, with_joints, span, inverse, results, work):
    """Columns start_q..end_q-1 by q and start_v..end_v-1 by v of a span; without joints, F is 0."""
    nv, m = len(model.armature), count_rows(model)
    height = padded(nv) + padded(m)
    start_q, start_v, end_q, end_v = span
    width = end_q - start_q + end_v - start_v
    packed, columns, pitch = work.packed, work.columns, padded(width)
    count = 0
    if with_joints:
        k = link.end_v - 1
        while k >= 0:
            pack_joint(nv, m, k, inverse, part(packed, count * height))
            pack_forces(nv, k, span, part(columns, count * pitch), work)
            count = count + 1
            k = k - 1 if k > link.v else model.dof_parent[k]
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        if restrains(model, piece, link.v):
            for r in range(piece.count):
                pack_row(nv, m, piece.row + r, inverse, part(packed, count * height))
                pack_accelerations(model, piece, r, span, part(columns, count * pitch), work)
                count = count + 1
    if count > 0:
        dq, dv, rows_dq, rows_dv = results
        for c in range(0, width, 4):
            for r in range(0, nv, 4):
                s = tile(count, packed, height, r, columns, pitch, c)
                put_tile(r, nv, nv, c, span, s, dq, dv)
            for r in range(0, m, 4):
                s = tile(count, packed, height, padded(nv) + r, columns, pitch, c)
                put_tile(r, m, nv, c, span, s, rows_dq, rows_dv)


@function
def restrains(model, piece, k):
    """Whether a degree of freedom is on the path of a piece."""
    found = False
    for t in range(piece.path, piece.path + piece.length):
        found = found or model.steps[t].dof == k
    return found


@function
def pack_joint(nv, m, k, inverse, packed):
    """Column k of P and of -L: the response to a force of degree of freedom k."""
    P, L, _ = inverse
    for r in range(nv):
        packed[r] = P[k * nv + r]
    for r in range(nv, padded(nv)):
        packed[r] = 0.0
    at = padded(nv)
    for r in range(m):
        packed[at + r] = L[r * nv + k]
    for r in range(m, padded(m)):
        packed[at + r] = 0.0


@function
def pack_row(nv, m, row, inverse, packed):
    """A column of L^T and of G^+: the response to an acceleration of a row."""
    _, L, X = inverse
    for k in range(nv):
        packed[k] = -L[row * nv + k]
    for k in range(nv, padded(nv)):
        packed[k] = 0.0
    at, width = padded(nv), padded(m)
    for r in range(width):
        packed[at + r] = X[row * width + r]


@function
def pack_forces(nv, k, span, column, work):
    """Row k of -F, by q and then by v."""
    start_q, start_v, end_q, end_v = span
    count = end_q - start_q
    width = count + end_v - start_v
    for j in range(start_q, end_q):
        column[j - start_q] = -work.F_q[k * nv + j]
    for j in range(start_v, end_v):
        column[count + j - start_v] = -work.F_v[k * nv + j]
    for j in range(width, padded(width)):
        column[j] = 0.0


@function
def pack_accelerations(model, piece, r, span, column, work):
    """Row r of a piece of -C, by q and then by v."""
    start_q, start_v, end_q, end_v = span
    count = end_q - start_q
    for j in range(padded(count + end_v - start_v)):
        column[j] = 0.0
    for place in range(piece.length):
        j = model.steps[piece.path + place].dof
        at = piece.panel + place * piece.height + r
        if start_q <= j < end_q:
            column[j - start_q] = -work.C_q[at]
        if start_v <= j < end_v:
            column[count + j - start_v] = -work.C_v[at]


@function
def put_tile(r, rows, nv, c, span, columns, by_q, by_v):
    """Write packed columns c..c+3, of which each is one by q, one by v, or padding."""
    put_column(r, rows, nv, c, span, columns[0], by_q, by_v)
    put_column(r, rows, nv, c + 1, span, columns[1], by_q, by_v)
    put_column(r, rows, nv, c + 2, span, columns[2], by_q, by_v)
    put_column(r, rows, nv, c + 3, span, columns[3], by_q, by_v)


@function
def put_column(r, rows, nv, c, span, x, by_q, by_v):
    """Write entries r..r+3 of packed column c."""
    start_q, start_v, end_q, end_v = span
    by = c - (end_q - start_q)
    if by < 0:
        put_entries(r, rows, nv, start_q + c, x, by_q)
    elif by < end_v - start_v:
        put_entries(r, rows, nv, start_v + by, x, by_v)


@function
def put_entries(r, rows, nv, j, x, matrix):
    """Write entries (r, j)..(r + 3, j), as far as there are rows."""
    matrix[r * nv + j] = x[0]
    if r + 1 < rows:
        matrix[(r + 1) * nv + j] = x[1]
    if r + 2 < rows:
        matrix[(r + 2) * nv + j] = x[2]
    if r + 3 < rows:
        matrix[(r + 3) * nv + j] = x[3]


# --- floating bases -------------------------------------------------------------------------------


@function
def multiply_base(model, link, span, q, v, inverse, results, work):
    """Columns for the pose of a floating base, and for its linear velocity."""
    i, k, nv = link.q + 3, link.v, len(model.armature)
    R = compose(get9(link.rotation, 0), rotation(q[i], q[i + 1], q[i + 2], q[i + 3]))
    gravity = rotate_back(R, get3(model.gravity, 0))
    back = scale(-1.0, get3(v, k + 3))
    for c in range(len(model.pieces)):
        take_base_motion(model, model.pieces[c], k, gravity, back, work)
    multiply_chain(model, link, False, span, inverse, results, work)
    add_cross_matrix(results[0], k * nv + k + 3, nv, gravity)
    add_cross_matrix(results[1], k * nv + k, nv, back)


@function
def take_base_motion(model, piece, k, gravity, back, work):
    """C <- C - J H, in the columns of the base's rotation and of its linear velocity."""
    J = work.solution.J
    h = piece.height  # a path goes backwards: the next degree of freedom is h numbers before
    for place in range(5, piece.length):
        if model.steps[piece.path + place].dof == k:
            at = piece.panel + place * h
            for r in range(at, at + piece.count):
                row = (J[r], J[r - h], J[r - 2 * h])
                add_entries(work.C_q, r - 3 * h, h, cross(row, gravity))
                add_entries(work.C_v, r, h, cross(row, back))


@function
def add_entries(C, at, h, x):
    """Add x to a row of a panel at three degrees of freedom, which are h numbers apart."""
    C[at] = C[at] + x[0]
    C[at - h] = C[at - h] + x[1]
    C[at - 2 * h] = C[at - 2 * h] + x[2]


@function
def add_cross_matrix(matrix, entry, nv, x):
    """Add the matrix of x cross, from an entry of a matrix on."""
    put3(matrix, entry, add(get3(matrix, entry), (0.0, -x[2], x[1])))
    entry = entry + nv
    put3(matrix, entry, add(get3(matrix, entry), (x[2], 0.0, -x[0])))
    entry = entry + nv
    put3(matrix, entry, add(get3(matrix, entry), (-x[1], x[0], 0.0)))

"""The Delassus matrix and its damped inverse from the sparse factor of M. O(n d^2 + m^2 d + m^3).

Carpentier, Budhiraja and Mansard, Proximal and Sparse Resolution of Constrained Dynamic Equations,
2021, Sec. IV-E: M = U D U^T, Y U^T = J, and J M^-1 J^T = Y D^-1 Y^T (see `kkt`).
"""

from __future__ import annotations

from ...compile import clear, function, kernel, part, slots
from ...dynamics.links import place_links, rigid_inertia
from ...spatial.vectors import get3, get6, get9, put3, put6
from ..equations import DOF, put_mass_row
from ..jacobian import place_world, put_panel
from ..kkt import MARGIN, add_to_delassus, eliminate_steps, extents, factorize_tree
from ..packed import ConstrainedArrays
from ..rows import count_rows, rows_end, rows_work
from .inversion import invert
from .wrenches import put_wrenches

# A link's placement, and the inertia of its subtree.
LINK = slots(R=9, p=3, I=6, h=3)
_SUMMED = 9  # I and h stand together


def ltl_work(n: dict[str, int]) -> int:
    """Memory of links, rows, J, M and its factor, and the matrix."""
    nv, blocks = n["nv"], n["blocks"]
    links = n["n_links"] * LINK.size + nv * DOF.size
    matrices = nv * (nv + MARGIN) + blocks * (blocks + MARGIN)
    return links + rows_work(n) + n["panels"] + matrices + nv


@kernel(
    ConstrainedArrays,
    inputs={"q": "nq"},
    outputs={"G": "m m"},
    work=ltl_work,
    label="delassus_matrix by ltl",
)
def ltl_delassus(model, q, G, work):
    """G = J M^-1 J^T"""
    padded = put_blocks(model, q, work)
    put_both_triangles(model, padded, G)


@kernel(
    ConstrainedArrays,
    inputs={"q": "nq", "damping": "m common"},
    outputs={"inverse": "m m"},
    work=ltl_work,
    label="delassus_inverse by ltl",
)
def ltl_inverse(model, q, damping, inverse, work):
    """(J M^-1 J^T + damping)^-1"""
    padded = put_blocks(model, q, work)
    blocks, _ = extents(model)
    pitch = blocks + MARGIN
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for t in range(piece.count):
            at = (piece.block + t) * (pitch + 1)
            padded[at] = padded[at] + damping[piece.row + t]
        for t in range(piece.count, piece.height):
            padded[(piece.block + t) * (pitch + 1)] = 1.0
    invert(padded, 0, blocks, pitch)
    put_both_triangles(model, padded, inverse)


@function
def put_blocks(model, q, work):
    """J M^-1 J^T up to the diagonal, rows of each piece filled up to a multiple of three."""
    nv, dofs = len(model.armature), len(model.links) * LINK.size
    blocks, panels = extents(model)
    rows = part(work, dofs + nv * DOF.size)
    Y = part(rows, rows_end(model))
    M = part(Y, panels)
    D = part(M, nv * (nv + MARGIN))
    G = part(D, nv)
    put_mass_and_rows(model, q, M, Y, rows, work, dofs)
    factorize_tree(model, M, D)
    for c in range(len(model.pieces)):
        eliminate_steps(model, model.pieces[c], M, part(Y, model.pieces[c].panel))
    clear(G, blocks * (blocks + MARGIN))
    for t in range(len(model.meetings)):
        add_to_delassus(model, model.meetings[t], D, Y, G, blocks)
    return G


@function
def put_mass_and_rows(model, q, M, J, rows, work, dofs):
    """M by rows up to the diagonal, and J by panels."""
    n, nv = len(model.links), len(model.armature)
    clear(M, nv * (nv + MARGIN))  # entries between runs are read, though not used
    place_world(work)
    place_links(model, q, work, LINK.size, dofs, DOF.size)
    for c in range(len(model.pieces)):
        put_wrenches(model, model.pieces[c], q, False, work, LINK.size, rows)
        put_panel(model, model.pieces[c], J, part(work, dofs), DOF.size, rows)
    for i in range(1, n):
        at = i * LINK.size
        R, p = get9(work, at + LINK.R), get3(work, at + LINK.p)
        inertia, h = rigid_inertia(model.links[i], model.solids[i], R, p)
        put6(work, at + LINK.I, inertia)
        put3(work, at + LINK.h, h)
    for i in range(n - 1, 0, -1):
        link = model.links[i]
        for k in range(link.v, link.v + link.nv):
            inertia, h = get6(work, i * LINK.size + LINK.I), get3(work, i * LINK.size + LINK.h)
            put_mass_row(model, k, inertia, h, link.subtree_mass, M, work, dofs)
        if link.parent > 0:
            at, parent = i * LINK.size + LINK.I, link.parent * LINK.size + LINK.I
            for t in range(_SUMMED):
                work[parent + t] = work[parent + t] + work[at + t]


@function
def put_both_triangles(model, padded, matrix):
    """The rows of all pieces, without those that fill up blocks."""
    m = count_rows(model)
    pitch = extents(model)[0] + MARGIN
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for t in range(piece.count):
            row, at = piece.row + t, (piece.block + t) * pitch
            for d in range(c + 1):
                other = model.pieces[d]
                last = t + 1 if d == c else other.count
                for s in range(last):
                    x = padded[at + other.block + s]
                    matrix[row * m + other.row + s] = x
                    matrix[(other.row + s) * m + row] = x

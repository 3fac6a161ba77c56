"""The Delassus matrix and its damped inverse from the sparse factor of M. O(n d^2 + m^2 d + m^3).

Carpentier, Budhiraja and Mansard, Proximal and Sparse Resolution of Constrained Dynamic Equations,
2021, Sec. IV-E (see `factor.kkt` for Algorithm 1):

| paper | here | what |
| --- | --- | --- |
| M = U_M D_M U_M^T | work.M, work.D, by `kkt.factorize_tree` | mass matrix, then its factor |
| J U_M^-T | work.Y, by `kkt.put_delassus` | Y |
| Lambda^-1 = J M^-1 J^T | work.G, by `kkt.put_delassus` | G = Y D_M^-1 Y^T |
| Lambda_mu | by `inversion.invert` | (G + mu)^-1 |

The paper has a factor of G + mu; here the inverse itself is wanted, and no factor is formed.
"""

from __future__ import annotations

from ...compile import clear, function, kernel, layout, slots
from ...dynamics.steps.bodies import rigid_inertia
from ...dynamics.steps.links import PLACEMENT, place_links
from ...dynamics.steps.points import place_world
from ...spatial.vectors import get3, get6, get9, put3, put6
from ..rows.jacobian import put_panel
from ..rows.packed import ConstrainedArrays
from ..rows.wrenches import ROWS, count_rows, put_wrenches
from .equations import DOF, put_inertia_row
from .inversion import invert
from .kkt import MARGIN, MATRIX, factorize_tree, padded_extents, put_delassus

# A link: its placement; then rotational inertia and first moment, at last those of its subtree.
LINK = slots(PLACEMENT, I=6, h=3)
_SUMMED = LINK.size - LINK.I  # numbers that are added to the parent's: I and h
WORK = layout(ROWS, MATRIX, links=("n_links", LINK), dofs=("nv", DOF))


@kernel(
    ConstrainedArrays,
    inputs={"q": "nq"},
    outputs={"G": "m m"},
    work=WORK,
    label="delassus_matrix by ltl",
)
def ltl_delassus(model, q, G, work):
    """G = J M^-1 J^T"""
    put_blocks(model, q, work)
    put_both_triangles(model, work.G, G)


@kernel(
    ConstrainedArrays,
    inputs={"q": "nq", "damping": "m common"},
    outputs={"inverse": "m m"},
    work=WORK,
    label="delassus_inverse by ltl",
)
def ltl_inverse(model, q, damping, inverse, work):
    """(J M^-1 J^T + damping)^-1"""
    put_blocks(model, q, work)
    padded_rows, _ = padded_extents(model)
    G, pitch = work.G, padded_rows + MARGIN
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for t in range(piece.count):
            at = (piece.padded_row + t) * (pitch + 1)
            G[at] = G[at] + damping[piece.row + t]
        for t in range(piece.count, piece.height):
            G[(piece.padded_row + t) * (pitch + 1)] = 1.0
    invert(G, 0, padded_rows, pitch)
    put_both_triangles(model, G, inverse)


@function
def put_blocks(model, q, work):
    """The lower triangle of J M^-1 J^T, with padded rows."""
    put_mass_and_rows(model, q, work)
    factorize_tree(model, work.M, work.D)
    put_delassus(model, work)


@function
def put_mass_and_rows(model, q, work):
    """The lower triangle of M, and J by panels, in the place of Y."""
    n, nv, links = len(model.links), len(model.armature), work.links
    clear(work.M, nv * (nv + MARGIN))  # zeros outside the tree's pattern are read, but not used
    place_world(links)
    place_links(model, q, links, LINK.size, work.dofs, DOF.size)
    for c in range(len(model.pieces)):
        put_wrenches(model, model.pieces[c], q, False, links, LINK.size, work)
        put_panel(model, model.pieces[c], work.Y, DOF.size, work)
    for i in range(1, n):
        at = i * LINK.size
        R, p = get9(links, at + LINK.R), get3(links, at + LINK.p)
        inertia, h = rigid_inertia(model.links[i], model.solids[i], R, p)
        put6(links, at + LINK.I, inertia)
        put3(links, at + LINK.h, h)
    for i in range(n - 1, 0, -1):
        link = model.links[i]
        for k in range(link.v, link.v + link.nv):
            inertia, h = get6(links, i * LINK.size + LINK.I), get3(links, i * LINK.size + LINK.h)
            put_inertia_row(model, k, inertia, h, link.subtree_mass, work)
        if link.parent > 0:
            at, parent = i * LINK.size + LINK.I, link.parent * LINK.size + LINK.I
            for t in range(_SUMMED):
                links[parent + t] = links[parent + t] + links[at + t]


@function
def put_both_triangles(model, padded, matrix):
    """Copy a padded matrix without its filler rows, both triangles from the lower one."""
    m = count_rows(model)
    pitch = padded_extents(model)[0] + MARGIN
    for c in range(len(model.pieces)):
        piece = model.pieces[c]
        for t in range(piece.count):
            row, at = piece.row + t, (piece.padded_row + t) * pitch
            for d in range(c + 1):
                other = model.pieces[d]
                last = t + 1 if d == c else other.count
                for s in range(last):
                    x = padded[at + other.padded_row + s]
                    matrix[row * m + other.row + s] = x
                    matrix[(other.row + s) * m + row] = x

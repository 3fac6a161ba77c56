"""The damped inverse of the Delassus matrix, from springs or from branches. O(n + m^2).

Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Sec. VI. With
W = 1 / damping and springs of that stiffness along the rows, M_W = M + J^T W J, the matrix
inversion lemma gives

    (J M^-1 J^T + damping)^-1 = W - W J M_W^-1 J^T W

- caba_osim: Algorithm 5. Strands are tied where that saves arithmetic (see `strands`), not
  at all branching links.
- caba_osimf: Sec. VI-B. A free base couples branches that are else apart: the inverse is a block
  for each branch, less a product of six columns.
- pv_osimf: no springs. The blocks of J M^-1 J^T with the base held still, damped, are inverted one
  by one, and the lemma adds what the base does: no digits are lost to stiff springs.
"""

from __future__ import annotations

from ...compile import clear, function, kernel, layout, sqrt
from ...dynamics.aba import DOF, LINK
from ...dynamics.steps.articulated import INERTIA
from ...spatial.vectors import (
    add_scaled,
    dot,
    get3,
    get6,
    get9,
    outer_update,
    outer_update9,
    put3,
    put6,
    put9,
    scale,
    subtract,
)
from ..factor.inversion import get_block, invert, invert_damped
from ..recursion.links import articulate_others
from ..recursion.springs import point, stiffen_point, subtract_cross, wrench
from .arrays import BranchArrays, ThriftyArrays
from .blocks import (
    STRANDS,
    articulate_supports,
    fill_strand,
    matrix_size,
    place,
    put_inverse_inertias,
    put_matrix,
    put_strands,
    put_symmetric,
    put_tiles,
    run_strands,
    share,
    tie_knots,
)
from .strands import SIX, SLOT, WIDTH


@kernel(
    ThriftyArrays,
    inputs={"q": "nq", "damping": "m common"},
    outputs={"inverse": "m m"},
    work=layout(STRANDS, weights="m"),
    label="delassus_inverse by caba-osim",
)
def caba_osim(model, q, damping, inverse, work):
    """(J M^-1 J^T + damping)^-1 = W - W J M_W^-1 J^T W"""
    put_stiff_strands(model, q, damping, work)
    put_inverse_inertias(model, work)
    tie_knots(model, work)
    put_matrix(model, -1.0, inverse, work)
    add_weights(model, work.weights, inverse)


@function
def put_stiff_strands(model, q, damping, work):
    """Strands of all rows along the joints of the robot with springs."""
    place(model, q, work)
    articulate_others(model, work)
    start_springs(model, damping, work)
    articulate_supports(model, work)
    run_strands(model, work)


@function
def start_springs(model, damping, work):
    """W, its springs in the inertias of the links that they pull at, and strands W K."""
    for t in range(len(model.places)):
        work.weights[t] = 1.0 / damping[t]
    for t in range(len(model.strands)):
        start_spring(model, model.strands[t], work)


@function
def start_spring(model, strand, work):
    """Add the springs of a strand to its link's inertia: H + K^T W K."""
    links, weights, end = work.links, work.weights, model.ends[strand.end]
    at, row, slot = end.link * LINK.size, end.row + strand.first, strand.slot * SLOT
    p = get3(links, at + LINK.p)
    A, H, M = get6(links, at + INERTIA.A), get9(links, at + INERTIA.H), get6(links, at + INERTIA.M)
    pushes = strand.first < end.pushes
    for r in range(strand.count):
        n, f = wrench(model, end, strand.first + r, work)
        x = end.sign * weights[row + r]
        put3(work.strands, slot + 6 * r, scale(x, n))
        put3(work.strands, slot + 6 * r + 3, scale(x, f))
        if not pushes:
            A = outer_update(A, n, scale(-weights[row + r], n))
        elif not end.is_at_point:
            n, x = subtract_cross(n, p, f), -weights[row + r]
            n_x, f_x = scale(x, n), scale(x, f)
            A, H, M = outer_update(A, n, n_x), outer_update9(H, n, f_x), outer_update(M, f, f_x)
    if end.is_at_point:
        A, H, M = stiffen_point(A, H, M, subtract(point(end, work.rows), p), get3(weights, row))
    fill_strand(strand, work.strands)
    put6(links, at + INERTIA.A, A)
    put9(links, at + INERTIA.H, H)
    put6(links, at + INERTIA.M, M)


@function
def add_weights(model, weights, inverse):
    """W on the diagonal."""
    m = len(model.places)
    for i in range(m):
        at = i * (m + 1)
        inverse[at] = inverse[at] + weights[i]


# --- branches -------------------------------------------------------------------------------------


@kernel(
    BranchArrays,
    inputs={"q": "nq", "damping": "m common"},
    outputs={"local": "m m", "coupling": "m 6"},
    work=layout(STRANDS, weights="m"),
    label="branches of the inverse by caba-osimf",
)
def caba_osimf_branches(model, q, damping, local, coupling, work):
    """Such that (J M^-1 J^T + damping)^-1 = local - coupling coupling^T; local has only blocks"""
    put_stiff_strands(model, q, damping, work)
    put_tiles(model, work)
    put_symmetric(model, -1.0, work.tiles, local)
    add_weights(model, work.weights, local)
    for t in range(len(model.bases)):
        put_coupling_rows(model, model.bases[t], model.strands[t], coupling, work)


@function
def put_coupling_rows(model, base, strand, coupling, work):
    """W k D^-1/2 for the rows of a strand, k as it is at the base."""
    root, at = free_base(model) * DOF.size, base.entry * WIDTH
    for r in range(strand.count):
        row = model.ends[strand.end].row + strand.first + r
        for k in range(SIX):
            D_inverse = work.dofs[root + k * DOF.size + DOF.D_inverse]
            coupling[SIX * row + k] = sqrt(D_inverse) * work.Y[at + k * WIDTH + r]


@function
def free_base(model):
    """The first degree of freedom of the free base, where all strands end."""
    return model.runs[len(model.runs) - 1].root


@kernel(
    BranchArrays,
    inputs={"q": "nq", "damping": "m common"},
    outputs={"inverse": "m m"},
    work=layout(STRANDS, weights="m", K=("strand_rows", SIX), V=("strand_rows", SIX)),
    label="delassus_inverse by caba-osimf",
)
def caba_osimf(model, q, damping, inverse, work):
    """(J M^-1 J^T + damping)^-1 = W - W (L_1 + K_1 H_1^-1 K_1^T) W"""
    put_stiff_strands(model, q, damping, work)
    put_tiles(model, work)
    if len(model.bases) > 0:
        gather_base(model, work.Y, work.K)
        gather_base(model, work.Z, work.V)
        add_shares(matrix_size(model), work.K, work.V, work.tiles)
    put_symmetric(model, -1.0, work.tiles, inverse)
    add_weights(model, work.weights, inverse)


# --- without springs ------------------------------------------------------------------------------


@kernel(
    BranchArrays,
    inputs={"q": "nq", "damping": "m common"},
    outputs={"inverse": "m m"},
    work=layout(
        STRANDS,
        K=("strand_rows", SIX),
        C=("strand_rows", SIX),
        E=("strand_rows", SIX),
        T=SIX * SIX,
    ),
    label="delassus_inverse by pv-osimf",
)
def pv_osimf(model, q, damping, inverse, work):
    """(L + K H^-1 K^T)^-1 = L^-1 - L^-1 K (H + K^T L^-1 K)^-1 K^T L^-1, L = L_1 + damping"""
    size = matrix_size(model)
    put_strands(model, q, work)
    put_tiles(model, work)
    invert_damped(model, damping, work.tiles)
    if len(model.bases) > 0:
        gather_base(model, work.Y, work.K)
        for t in range(len(model.branches)):
            branch = model.branches[t]
            for i in range(branch.start, branch.start + branch.rows, WIDTH):
                put_products(work.tiles, branch, i, size, work.K, work.C)
        put_base_inertia(model, work)
        invert(work.T, 0, SIX, SIX)
        for i in range(0, size, WIDTH):
            put_answers(work.T, work.C, work.E, i)
        add_shares(size, work.C, work.E, work.tiles)
    put_symmetric(model, 1.0, work.tiles, inverse)


@function
def gather_base(model, Y, K):
    """Entries at the base, six times three numbers a strand, those of several ends together."""
    clear(K, SIX * matrix_size(model))
    for t in range(len(model.bases)):
        base = model.bases[t]
        at, entry = SIX * base.place, base.entry * WIDTH
        for k in range(SIX * WIDTH):
            K[at + k] = K[at + k] + Y[entry + k]


@function
def put_products(G, branch, i, size, K, C):
    """L^-1 K for three rows"""
    for k in range(SIX):
        x, y, z = 0.0 * K[0], 0.0 * K[0], 0.0 * K[0]
        for j in range(branch.start, branch.start + branch.rows, WIDTH):
            a, b, c = get_block(G, size, j, i)
            column = get3(K, SIX * j + WIDTH * k)
            x, y, z = x + dot(a, column), y + dot(b, column), z + dot(c, column)
        put3(C, SIX * i + WIDTH * k, (x, y, z))


@function
def put_base_inertia(model, work):
    """T = D + K^T L^-1 K, where D is that of the base's factor."""
    K, C, T, root = work.K, work.C, work.T, free_base(model) * DOF.size
    for k in range(SIX):
        for s in range(k + 1):
            x = 0.0 * K[0]
            for i in range(0, SIX * matrix_size(model), SIX * WIDTH):
                x = x + dot(get3(K, i + WIDTH * k), get3(C, i + WIDTH * s))
            T[SIX * k + s] = x
            T[SIX * s + k] = x
        at = SIX * k + k
        T[at] = T[at] + 1.0 / work.dofs[root + k * DOF.size + DOF.D_inverse]


@function
def put_answers(T, C, E, i):
    """-T C for three rows, T as its lower triangle."""
    for k in range(SIX):
        x = (0.0, 0.0, 0.0)
        for s in range(SIX):
            t = T[SIX * k + s] if s <= k else T[SIX * s + k]
            x = add_scaled(x, -t, get3(C, SIX * i + WIDTH * s))
        put3(E, SIX * i + WIDTH * k, x)


@function
def add_shares(size, C, E, G):
    """G + C^T E up to the diagonal."""
    for i in range(0, size, WIDTH):
        for j in range(0, i + 1, WIDTH):
            at = i * size + j
            rows = get3(G, at), get3(G, at + size), get3(G, at + 2 * size)
            row0, row1, row2 = share(C, E, SIX * i, SIX * j, SIX, rows)
            put3(G, at, row0)
            put3(G, at + size, row1)
            put3(G, at + 2 * size, row2)

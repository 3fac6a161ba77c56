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

from ...compile import clear, function, kernel, part, sqrt
from ...dynamics.aba import DOF, LINK
from ...dynamics.articulated import INERTIA
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
from ..pulls import point, stiffen_point, subtract_cross, wrench
from .blocks import (
    articulate_others,
    articulate_supports,
    fill_strand,
    place,
    put_inverse_inertias,
    put_matrix,
    put_strands,
    put_symmetric,
    put_tiles,
    run_strands,
    share,
    strands_memory,
    strands_work,
    tie_knots,
)
from .inversion import get_block, invert, invert_damped
from .strands import CHEAPEST, SIX, SPLIT, WIDTH, BranchArrays, ThriftyArrays

# A free base's share: for each row six numbers, by strands; and a matrix of six by six.
SQUARE = 36


@kernel(
    ThriftyArrays,
    inputs={"q": "nq", "damping": "m common"},
    outputs={"inverse": "m m"},
    work=lambda n: strands_work(n, CHEAPEST) + n["m"],
    label="delassus_inverse by caba-osim",
)
def caba_osim(model, q, damping, inverse, work):
    """(J M^-1 J^T + damping)^-1 = W - W J M_W^-1 J^T W"""
    dofs = len(model.links) * LINK.size
    rows, strands, Y, Z, Omega, tiles, weights = strands_memory(model, work)
    put_stiff_strands(model, q, damping, weights, rows, strands, Y, Z, work, dofs)
    put_inverse_inertias(model, strands, Y, Z, Omega)
    tie_knots(model, strands, Y, Z, Omega)
    put_matrix(model, -1.0, Y, Z, tiles, inverse)
    add_weights(model, weights, inverse)


@function
def put_stiff_strands(model, q, damping, weights, rows, strands, Y, Z, work, dofs):
    """Strands of all rows along the joints of the robot with springs."""
    place(model, q, rows, work, dofs)
    articulate_others(model, work, dofs)
    start_springs(model, damping, weights, rows, strands, work, dofs)
    articulate_supports(model, work, dofs)
    run_strands(model, strands, Y, Z, work, dofs)


@function
def start_springs(model, damping, weights, rows, strands, work, dofs):
    """W, its springs in the inertias of the links that they pull at, and strands W K."""
    for t in range(len(model.places)):
        weights[t] = 1.0 / damping[t]
    for t in range(len(model.strands)):
        start_spring(model, model.strands[t], weights, rows, strands, work, dofs)


@function
def start_spring(model, strand, weights, rows, strands, work, dofs):
    """Add the springs of a strand to its link's inertia: H + K^T W K."""
    end = model.ends[strand.end]
    at, row = end.at, end.row + strand.first
    p = get3(work, at + LINK.p)
    A, H = get6(work, at + INERTIA.A), get9(work, at + INERTIA.H)
    M = get6(work, at + INERTIA.M)
    pushes = strand.first < end.pushes
    for r in range(strand.count):
        n, f = wrench(model, end, strand.first + r, rows, work, dofs)
        x = end.sign * weights[row + r]
        put3(strands, strand.slot + 6 * r, scale(x, n))
        put3(strands, strand.slot + 6 * r + 3, scale(x, f))
        if not pushes:
            A = outer_update(A, n, scale(-weights[row + r], n))
        elif not end.is_at_point:
            n, x = subtract_cross(n, p, f), -weights[row + r]
            n_x, f_x = scale(x, n), scale(x, f)
            A, H, M = outer_update(A, n, n_x), outer_update9(H, n, f_x), outer_update(M, f, f_x)
    if end.is_at_point:
        A, H, M = stiffen_point(A, H, M, subtract(point(end, rows), p), get3(weights, row))
    fill_strand(strand, strands)
    put6(work, at + INERTIA.A, A)
    put9(work, at + INERTIA.H, H)
    put6(work, at + INERTIA.M, M)


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
    work=lambda n: strands_work(n, SPLIT) + n["m"],
    label="branches of the inverse by caba-osimf",
)
def caba_osimf_branches(model, q, damping, local, coupling, work):
    """Such that (J M^-1 J^T + damping)^-1 = local - coupling coupling^T; local has only blocks"""
    dofs = len(model.links) * LINK.size
    rows, strands, Y, Z, _, tiles, weights = strands_memory(model, work)
    put_stiff_strands(model, q, damping, weights, rows, strands, Y, Z, work, dofs)
    put_tiles(model, Y, Z, tiles)
    put_symmetric(model, -1.0, tiles, local)
    add_weights(model, weights, local)
    for t in range(len(model.bases)):
        put_coupling_rows(model, model.bases[t], model.strands[t], Y, coupling, work, dofs)


@function
def put_coupling_rows(model, base, strand, Y, coupling, work, dofs):
    """W k D^-1/2 for the rows of a strand, k as it is at the base."""
    root = dofs + model.runs[len(model.runs) - 1].root
    for r in range(strand.count):
        row = model.pieces[model.ends[strand.end].piece].row + strand.first + r
        for k in range(6):
            D_inverse = work[root + k * DOF.size + DOF.D_inverse]
            coupling[6 * row + k] = sqrt(D_inverse) * Y[base.panel + k * WIDTH + r]


@kernel(
    BranchArrays,
    inputs={"q": "nq", "damping": "m common"},
    outputs={"inverse": "m m"},
    work=lambda n: strands_work(n, SPLIT) + n["m"] + 2 * SIX * n["strand_rows"],
    label="delassus_inverse by caba-osimf",
)
def caba_osimf(model, q, damping, inverse, work):
    """(J M^-1 J^T + damping)^-1 = W - W (L_1 + K_1 H_1^-1 K_1^T) W"""
    dofs = len(model.links) * LINK.size
    rows, strands, Y, Z, _, tiles, weights = strands_memory(model, work)
    put_stiff_strands(model, q, damping, weights, rows, strands, Y, Z, work, dofs)
    put_tiles(model, Y, Z, tiles)
    K = part(weights, len(model.places))
    add_base(model, Y, Z, K, part(K, SIX * model.extents[3]), tiles)
    put_symmetric(model, -1.0, tiles, inverse)
    add_weights(model, weights, inverse)


@function
def add_base(model, Y, Z, K, V, G):
    """K_1 H_1^-1 K_1^T, which couples all branches of a free base."""
    if len(model.bases) > 0:
        gather_base(model, Y, K)
        gather_base(model, Z, V)
        add_shares(model.extents[3], K, V, G)


# --- without springs ------------------------------------------------------------------------------


@kernel(
    BranchArrays,
    inputs={"q": "nq", "damping": "m common"},
    outputs={"inverse": "m m"},
    work=lambda n: strands_work(n, SPLIT) + 18 * n["strand_rows"] + SQUARE,
    label="delassus_inverse by pv-osimf",
)
def pv_osimf(model, q, damping, inverse, work):
    """(L + K H^-1 K^T)^-1 = L^-1 - L^-1 K (H + K^T L^-1 K)^-1 K^T L^-1, L = L_1 + damping"""
    dofs, size = len(model.links) * LINK.size, model.extents[3]
    rows, strands, Y, Z, _, tiles, base = strands_memory(model, work)
    put_strands(model, q, rows, strands, Y, Z, work, dofs)
    put_tiles(model, Y, Z, tiles)
    invert_damped(model, damping, tiles)
    if len(model.bases) > 0:
        K, C, E = base, part(base, SIX * size), part(base, 2 * SIX * size)
        T = part(base, 3 * SIX * size)
        gather_base(model, Y, K)
        for t in range(len(model.branches)):
            branch = model.branches[t]
            for i in range(branch.start, branch.start + branch.rows, WIDTH):
                put_products(tiles, branch, i, size, K, C)
        put_base_inertia(model, K, C, T, work, dofs)
        invert(T, 0, SIX, SIX)
        for i in range(0, size, WIDTH):
            put_answers(T, C, E, i)
        add_shares(size, C, E, tiles)
    put_symmetric(model, 1.0, tiles, inverse)


@function
def gather_base(model, Y, K):
    """Entries at the base, six times three numbers a strand, those of several ends together."""
    clear(K, SIX * model.extents[3])
    for t in range(len(model.bases)):
        base = model.bases[t]
        at = SIX * base.place
        for k in range(SIX * WIDTH):
            K[at + k] = K[at + k] + Y[base.panel + k]


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
def put_base_inertia(model, K, C, T, work, dofs):
    """D + K^T L^-1 K, where D is that of the base's factor."""
    root = dofs + model.runs[len(model.runs) - 1].root
    for k in range(SIX):
        for s in range(k + 1):
            x = 0.0 * K[0]
            for i in range(0, SIX * model.extents[3], SIX * WIDTH):
                x = x + dot(get3(K, i + WIDTH * k), get3(C, i + WIDTH * s))
            T[SIX * k + s] = x
            T[SIX * s + k] = x
        at = SIX * k + k
        T[at] = T[at] + 1.0 / work[root + k * DOF.size + DOF.D_inverse]


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
            row0, row1, row2 = get3(G, at), get3(G, at + size), get3(G, at + 2 * size)
            row0, row1, row2 = share(C, E, SIX * i, SIX * j, SIX, row0, row1, row2)
            put3(G, at, row0)
            put3(G, at + size, row1)
            put3(G, at + 2 * size, row2)

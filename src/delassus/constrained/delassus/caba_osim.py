"""The damped inverse of the Delassus matrix, by springs or by branches of a free base. O(n + m^2).

Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Sec. VI. With
W = 1 / damping and springs of stiffness W along the rows, M_W = M + J^T W J, the matrix inversion
lemma (Eqs. 39 and 40) gives

    (J M^-1 J^T + damping)^-1 = W - W J M_W^-1 J^T W

- `caba_osim`: Algorithm 5.
- `caba_osimf`: Sec. VI-B. Without the motion of a free base, the matrix has a block for each branch
  of the base; the motion of the base adds a product of six columns (Eq. 41).
- `pv_osimf`: no springs. The blocks of J M^-1 J^T + damping with the base held still are inverted
  one by one, and the lemma adds what the motion of the base does. So stiff springs cost no digits.

| paper | here | what |
| --- | --- | --- |
| mu | work.weights | W; 1 / mu elsewhere in this library |
| H_i^A | INERTIA in work.links | articulated inertia, with springs |
| D_i, P_i | DOF.D_inverse, DOF.G | P = 1 - G S^T |
| K_i^A | strands in work.strands | W K |
| ^jP_i | unit wrenches in work.strands | as they arrive at node j from node i |
| ^0Omega_i | work.Omega | inverse inertia of a node |
| L_0^A | work.Y, work.Z, work.tiles | W J M_W^-1 J^T W = Y Z^T |
| L_1^A, K_1^A (Eq. 41) | work.tiles, `gather_base` | without the base; entries at the base |

Lines of Algorithm 5, and the functions that do them in `caba_osim`:

| paper | here | what |
| --- | --- | --- |
| 1, 2: H_i^A <- H_i | `blocks.place`, `recursion.links.articulate_others` | inertias of links |
| 3, 4: H_i^A + mu K_i^T K_i, K_i^A <- mu K_i | `start_springs`, `start_spring` | springs, strands |
| 5: for i in S_r | `blocks.articulate_supports`, `blocks.run_strands` | from the leaves on |
| 6, 7: ^iP_i = 1, ^iOmega_i = 0 | `blocks.put_units` | unit wrenches start at a node |
| 8: D_i, P_i | `dynamics.steps.articulated.articulate` | |
| 9: H_pi(i)^A + P_i H_i^A | `dynamics.steps.articulated.articulate` | |
| 9: ^pi(i)P_d(i) = P_i ^iP_d(i) | `blocks.run` of unit wrenches, by `blocks.give_way` | |
| 10: ^pi(i)Omega_d(i) | entries of `blocks.run`, summed up by `blocks.put_corner` | |
| 11: d(pi(i)) <- d(i) | none: a Run of the plan leads from node to node | |
| 12, 13: ^0Omega_i | `blocks.put_inverse_inertias`, by `blocks.add_congruence` | |
| 14 to 16: ^N^anc(i)K_e | `blocks.lift` | wrenches of rows at the next node |
| 17, 18: ^0L_{i,j} | `blocks.tie_knots`, then `blocks.put_matrix` | tiles |
| 19, 20: ^0L_{j,i} | `blocks.put_tile` or `blocks.put_symmetric` | the other triangle |
| 21: mu - L_0^A | `blocks.put_matrix` with sign -1, `add_weights` | |

Departs from the paper in these ways:

- Not all nodes tie knots (lines 6, 7, 10, 12 to 16 and 18), only those where it saves arithmetic
  (see `strands`). At the others, strands run on through the joints.
- A free body that carries a tree is factorised as a whole (see `recursion.free_root`).
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
    """Inertias with springs, then the entries of all strands W K (lines 1 to 11, 14 to 16)."""
    place(model, q, work)
    articulate_others(model, work)
    start_springs(model, damping, work)
    articulate_supports(model, work)
    run_strands(model, work)


@function
def start_springs(model, damping, work):
    """W; then add springs to the inertias of links, and put strands W K (lines 3 and 4)."""
    for t in range(len(model.places)):
        work.weights[t] = 1.0 / damping[t]
    for t in range(len(model.strands)):
        start_spring(model, model.strands[t], work)


@function
def start_spring(model, strand, work):
    """H + K^T W K of the link of a strand, and W K in the strand's slot."""
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
    """Add W to the diagonal."""
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
    """(J M^-1 J^T + damping)^-1 = local - coupling coupling^T; local has a block for each branch"""
    put_stiff_strands(model, q, damping, work)
    put_tiles(model, work)
    put_symmetric(model, -1.0, work.tiles, local)
    add_weights(model, work.weights, local)
    for t in range(len(model.bases)):
        put_coupling_rows(model, model.bases[t], model.strands[t], coupling, work)


@function
def put_coupling_rows(model, base, strand, coupling, work):
    """Rows of `coupling` for a strand: its entries at the free base, y D^-1/2."""
    root, at = free_base(model) * DOF.size, base.entry * WIDTH
    for r in range(strand.count):
        row = model.ends[strand.end].row + strand.first + r
        for k in range(SIX):
            D_inverse = work.dofs[root + k * DOF.size + DOF.D_inverse]
            coupling[SIX * row + k] = sqrt(D_inverse) * work.Y[at + k * WIDTH + r]


@function
def free_base(model):
    """The first degree of freedom of the free base at which all strands end."""
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
    """The six entries of each strand at the base; those of several ends of a piece are added up."""
    clear(K, SIX * matrix_size(model))
    for t in range(len(model.bases)):
        base = model.bases[t]
        at, entry = SIX * base.place, base.entry * WIDTH
        for k in range(SIX * WIDTH):
            K[at + k] = K[at + k] + Y[entry + k]


@function
def put_products(G, branch, i, size, K, C):
    """C = L^-1 K for rows i..i+2"""
    for k in range(SIX):
        x, y, z = 0.0 * K[0], 0.0 * K[0], 0.0 * K[0]
        for j in range(branch.start, branch.start + branch.rows, WIDTH):
            a, b, c = get_block(G, size, j, i)
            column = get3(K, SIX * j + WIDTH * k)
            x, y, z = x + dot(a, column), y + dot(b, column), z + dot(c, column)
        put3(C, SIX * i + WIDTH * k, (x, y, z))


@function
def put_base_inertia(model, work):
    """T = D + K^T L^-1 K, where D is that of the factor of the base's inertia."""
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
    """E = -T C for rows i..i+2, where T is the inverse, by its lower triangle."""
    for k in range(SIX):
        x = (0.0, 0.0, 0.0)
        for s in range(SIX):
            t = T[SIX * k + s] if s <= k else T[SIX * s + k]
            x = add_scaled(x, -t, get3(C, SIX * i + WIDTH * s))
        put3(E, SIX * i + WIDTH * k, x)


@function
def add_shares(size, C, E, G):
    """G + C^T E, lower triangle."""
    for i in range(0, size, WIDTH):
        for j in range(0, i + 1, WIDTH):
            at = i * size + j
            rows = get3(G, at), get3(G, at + size), get3(G, at + 2 * size)
            row0, row1, row2 = share(C, E, SIX * i, SIX * j, SIX, rows)
            put3(G, at, row0)
            put3(G, at + size, row1)
            put3(G, at + 2 * size, row2)

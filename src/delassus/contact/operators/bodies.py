"""The Delassus operator of cone rows over rigid bodies, in primal form and by sparse blocks.

Bodies have six velocities each. Joint rows are eliminated, cone rows are what solvers work on:

    A = M + J^T S_j^-1 J,  D_c = C A^-1 C^T

D_c is never formed, so bodies without mass and redundant joints are allowed, as long as A is
definite. Inside bodies are eliminated once a step; then A_f is left for the bodies that cone rows
touch, and a penalty S needs a factor of that alone:

    (D_c + S) y = x:  (A_f + C^T S^-1 C) u = C^T S^-1 x,  y = S^-1 (x - C u)

| symbol | here | what |
| --- | --- | --- |
| M, J, C | `M`, `J`, `cones.C` | inertias, Jacobians of joints and of cones |
| S_j^-1, S^-1 | `weights` of joint rows, of cone rows | 1 / damping, 1 / penalty of each row |
| A = U^T U | work.A | inertias with joints; then its factor for inside bodies |
| A_f | `front_of(model, work)` | what is left of A for the bodies of the front |
| | work.reduced, work.penalised | factors of A_f and of A_f + C^T S^-1 C |
| g | `g` | M u without the forces of rows: momentum and impulses |
| lambda_c | `reactions` | impulses along cone rows |
| E, H, K | `E`, `H`, work.K | blocks of a step of Newton's method, K = E^-1 H |

`model` is any record of arrays that has the fields of `order.Order`, and `joints` and `pairs` of
`elements`. `work` is memory of layout OPERATOR, `solve_blocks` needs NEWTON too. Vectors over all
bodies are ordered by position, see `order`.
"""

from __future__ import annotations

from ...compile import clear, function, layout, part
from ...spatial.vectors import get6, put6
from .blocks import (
    Block,
    factor_columns,
    factor_front,
    forward_columns,
    get_row,
    solve_front,
    solve_pivoted,
    solve_small,
)
from .elements import (
    PANEL,
    add_cone,
    add_forces,
    add_joint,
    cone_at,
    place_of,
    row_velocity,
    weigh_by_block,
    weigh_rows,
)
from .order import BLOCK_SIZE


def front_numbers(n: dict[str, int]) -> int:
    """Numbers of a matrix of the front."""
    return (6 * n["n_front"]) ** 2


# What `prepare` leaves, and what `factor` leaves.
PREPARED = layout(A="matrix", reduced=front_numbers)
PENALISED = layout(penalised=front_numbers)
# Memory of single calls: velocities or forces of the front, and W J of one element.
SCRATCH = layout(u=("n_front", 6), panel=PANEL)
OPERATOR = layout(PREPARED, PENALISED, SCRATCH)

MOST_CONE_ROWS = 3
BLOCK = MOST_CONE_ROWS**2  # numbers of E, H and K for each element, used from the first on
# [E, H, f] of one element; E^-1 H of all; a matrix of the front with a column for the right side.
NEWTON = layout(
    small=MOST_CONE_ROWS * (2 * MOST_CONE_ROWS + 1),
    K=("cone_slots", BLOCK),
    pivoted=lambda n: 6 * n["n_front"] * (6 * n["n_front"] + 1),
)


@function
def count_front(model):
    """Number of bodies of the front."""
    return len(model.bodies) - len(model.columns)


@function
def first_cone_velocity(model):
    """Where the vector over all bodies starts from which places of cones count.

    That is the front's. Without a front, cones may touch any body: see `rows`.
    """
    return 6 * len(model.columns) if count_front(model) > 0 else 0


@function
def front_of(model, work):
    """A_f, of which the upper triangle of blocks is given."""
    return part(work.A, BLOCK_SIZE * (len(model.columns) + len(model.rows)))


@function
def matrix_size(model):
    """Numbers of A."""
    front = 6 * count_front(model)
    return BLOCK_SIZE * (len(model.columns) + len(model.rows)) + front * front


# --- once a step ----------------------------------------------------------------------------------


@function
def put_inertias(model, M, work):
    """A = M, the 36 numbers of each body by rows"""
    clear(work.A, matrix_size(model))
    for i in range(len(model.places)):
        place, given = model.places[i], Block(M, BLOCK_SIZE * i, 6)
        for r in range(6):
            put6(work.A, place.at + r * place.pitch, get_row(given, r))


@function
def add_joints(model, J, weights, work):
    """A + J^T S_j^-1 J"""
    for k in range(len(model.joints)):
        weigh_rows(model.joints[k], J, weights, work.panel)
        add_joint(model, model.joints[k], J, work.panel, work.A)


@function
def prepare(model, work):
    """Eliminate inside bodies from A, which leaves A_f, and factorise A_f."""
    factor_columns(model, work.A)
    count = count_front(model)
    A_f = front_of(model, work)
    for t in range(36 * count * count):
        work.reduced[t] = A_f[t]
    factor_front(work.reduced, count)


# --- once a penalty -------------------------------------------------------------------------------


@function
def factor(model, cones, weights, work):
    """Factorise A_f + C^T S^-1 C."""
    count = count_front(model)
    A_f = front_of(model, work)
    for t in range(36 * count * count):
        work.penalised[t] = A_f[t]
    for k in range(cones.count):
        element = cone_at(cones, k)
        weigh_rows(element, cones.C, weights, work.panel)
        add_cone(element, cones.C, work.panel, True, work.penalised, 6 * count)
    factor_front(work.penalised, count)


# --- products and solutions -----------------------------------------------------------------------


@function
def solve(model, cones, weights, x, y, work):
    """(D_c + S) y = x; y may be x"""
    count, u = count_front(model), work.u
    clear(u, 6 * count)
    for k in range(cones.count):
        element = cone_at(cones, k)
        for t in range(element.row, element.row + element.height):
            y[t] = weights[t] * x[t]
        add_forces(element, cones.C, y, u)
    solve_front(work.penalised, count, u)
    for k in range(cones.count):
        element = cone_at(cones, k)
        for r in range(element.height):
            t = element.row + r
            y[t] = y[t] - weights[t] * row_velocity(element, cones.C, r, u)


@function
def multiply(model, cones, x, y, work):
    """y = D_c x; y may be x"""
    count, u = count_front(model), work.u
    clear(u, 6 * count)
    push_front(cones, x, u)
    solve_front(work.reduced, count, u)
    for k in range(cones.count):
        element = cone_at(cones, k)
        for r in range(element.height):
            y[element.row + r] = row_velocity(element, cones.C, r, u)


@function
def push_front(cones, x, f):
    """f + C^T x, f of the front"""
    for k in range(cones.count):
        add_forces(cone_at(cones, k), cones.C, x, f)


@function
def put_diagonal(model, cones, k, D, work):
    """The block of D_c of element k, by rows from D[0] on"""
    element = cone_at(cones, k)
    count, u, h = count_front(model), work.u, element.height
    for column in range(h):
        clear(u, 6 * count)
        for e in range(element.count):
            row = get6(cones.C, element.jacobian + 6 * (h * e + column))
            at = place_of(element, e)
            for m in range(6):
                u[at + m] = u[at + m] + row[m]
        solve_front(work.reduced, count, u)
        for r in range(h):
            D[h * r + column] = row_velocity(element, cones.C, r, u)


# --- velocities -----------------------------------------------------------------------------------


@function
def reduce_forces(model, b, work):
    """Eliminate inside bodies from A u = b; the part of b for the front is returned."""
    forward_columns(model, work.A, b)
    return part(b, 6 * len(model.columns))


@function
def velocities(model, cones, g, reactions, bias, u, v, work):
    """u = A_f^-1 (g + C^T lambda_c), v = C u + bias; g and u are of the front"""
    count = count_front(model)
    for t in range(6 * count):
        u[t] = g[t]
    push_front(cones, reactions, u)
    solve_front(work.reduced, count, u)
    for k in range(cones.count):
        element = cone_at(cones, k)
        for r in range(element.height):
            t = element.row + r
            v[t] = row_velocity(element, cones.C, r, u) + bias[t]


# --- Newton's method ------------------------------------------------------------------------------


@function
def divide_blocks(element, k, E, H, f, delta, q, work):
    """q = (E + delta)^-1 f and K = (E + delta)^-1 H of element k"""
    h = element.height
    width, small = 2 * h + 1, work.small
    for i in range(h):
        for j in range(h):
            small[width * i + j] = E[BLOCK * k + h * i + j]
            small[width * i + h + j] = H[BLOCK * k + h * i + j]
        small[width * i + i] = small[width * i + i] + delta
        small[width * i + 2 * h] = f[element.row + i]
    solve_small(small, h, width)
    for i in range(h):
        for j in range(h):
            work.K[BLOCK * k + h * i + j] = small[width * i + h + j]
        q[element.row + i] = small[width * i + 2 * h]


@function
def solve_blocks(model, cones, E, H, f, delta, x, work):
    """(E + delta + H D_c) x = f, for square blocks E and H of each element

    With K = (E + delta)^-1 H and q = (E + delta)^-1 f,

        (A_f + C^T K C) u = C^T q,  x = q - K C u

    by Gaussian elimination, as K is not symmetric. `E` and `H` have BLOCK numbers for each element.
    """
    u, n = work.u, 6 * count_front(model)
    put_front(front_of(model, work), n, work.pivoted)
    clear(u, n)
    for k in range(cones.count):
        element = cone_at(cones, k)
        divide_blocks(element, k, E, H, f, delta, x, work)
        add_forces(element, cones.C, x, u)
        weigh_by_block(element, cones.C, work.K, BLOCK * k, work.panel)
        add_cone(element, cones.C, work.panel, False, work.pivoted, n + 1)
    for t in range(n):
        work.pivoted[(n + 1) * t + n] = u[t]
    solve_pivoted(work.pivoted, count_front(model))
    for t in range(n):
        u[t] = work.pivoted[(n + 1) * t + n]
    for k in range(cones.count):
        element = cone_at(cones, k)
        for m in range(element.height):
            v = row_velocity(element, cones.C, m, u)
            for r in range(element.height):
                t = element.row + r
                x[t] = x[t] - work.K[BLOCK * k + element.height * r + m] * v


@function
def put_front(A_f, n, full):
    """Both triangles of A_f in the first n columns of a matrix of n + 1 columns."""
    for i in range(n):
        for j in range(i, n):
            full[(n + 1) * i + j] = A_f[n * i + j]
            full[(n + 1) * j + i] = A_f[n * i + j]

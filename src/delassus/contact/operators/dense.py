"""The Delassus matrix as an array, with joint rows eliminated and cone rows scaled.

    D_c = P (D_cc - D_cj D_jj^-1 D_jc) P        b = P (v_c - D_cj D_jj^-1 v_j)

Joint rows may be redundant, and D_jj singular: its factor is that of D_jj + eps, and the small
error of that is taken away by repeated corrections.

The diagonal matrix P makes the diagonal of D_c about 1. It has one number for each contact, so that
cones are the same for scaled reactions P^-1 lambda_c.

| symbol | here | what |
| --- | --- | --- |
| D_jj + eps | K, K_D | factor U D U^T of joint rows, damped |
| D_jj^-1 D_jc | X | a column for each cone row |
| D_c, b | D, b | Delassus matrix and free velocity of cone rows |
| D_c + penalty | L, L_D | its factor U D U^T |
| E + H D_c | W, pivots | its factor P L U, of active rows |
"""

from __future__ import annotations

from ...compile import Layout, absolute, any_true, function, layout, maximum, select, sqrt
from ...constrained.factor.kkt import MARGIN, factorize_dense, solve_dense
from . import Operator

# eps of joint rows, relative to their own diagonal and to the largest one. Smaller numbers drown in
# the rounding of D where masses are far apart.
OWN_DAMPING, COMMON_DAMPING = 1e-9, 1e-13
CORRECTIONS = 2  # of X
MOST_PASSES = 30  # corrections of the reactions of joints


def matrix_memory(rows: str) -> Layout:
    """D_c, its scale and factors, and the memory of Newton's method; `rows` names their number."""
    vectors = ("scale", "L_D", "right", "known", "rows", "blocks", "pivots")
    return layout(
        D=lambda n: n[rows] * n[rows],
        L=lambda n: n[rows] * (n[rows] + MARGIN),
        W=lambda n: n[rows] * n[rows],
        **dict.fromkeys(vectors, rows),
    )


DENSE = layout(
    matrix_memory("cone_rows"),
    K=lambda n: n["joint_rows"] * (n["joint_rows"] + MARGIN),
    K_D="joint_rows",
    X=lambda n: n["joint_rows"] * n["cone_rows"],
    column="joint_rows",
    b="cone_rows",
)


@function
def prepare(joints, counts, is_scaled, given, free_velocity, memory):
    """D_c, b and P of cone rows. `joints` is the number of joint rows, `given` is all of D."""
    cones = counts[0] + counts[1] + counts[2] + 3 * counts[3]
    rows = joints + cones
    for i in range(cones):
        memory.b[i] = free_velocity[joints + i]
        for k in range(cones):
            memory.D[i * cones + k] = given[(joints + i) * rows + joints + k]
    if joints > 0:
        factor_joints(joints, rows, given, memory)
        eliminate(joints, cones, given, free_velocity, memory)
    put_scale(counts, is_scaled, memory)
    for i in range(cones):
        memory.b[i] = memory.scale[i] * memory.b[i]
        for k in range(cones):
            at = i * cones + k
            memory.D[at] = memory.scale[i] * memory.D[at] * memory.scale[k]


@function
def put_scale(counts, is_scaled, memory):
    """P of each row, and one for the three rows of a contact: (mean diagonal of D_c)^-1/2."""
    free, limits, bounded, contacts = counts
    singles = free + limits + bounded
    cones = singles + 3 * contacts
    for i in range(cones):
        x = memory.D[i * (cones + 1)]
        memory.scale[i] = x
        if i >= singles and (i - singles) % 3 == 2:
            mean = (memory.scale[i - 2] + memory.scale[i - 1] + x) / 3.0
            memory.scale[i - 2] = mean
            memory.scale[i - 1] = mean
            memory.scale[i] = mean
    for i in range(cones):
        x, one = memory.scale[i], 1.0 + 0.0 * memory.scale[i]
        memory.scale[i] = one
        if is_scaled:
            memory.scale[i] = select(x > 0.0, 1.0 / sqrt(select(x > 0.0, x, one)), one)


@function
def factor_joints(joints, rows, given, memory):
    """K = D_jj + eps, factored."""
    largest = absolute(given[0])
    for i in range(1, joints):
        largest = maximum(largest, absolute(given[i * rows + i]))
    largest = select(largest > 0.0, largest, 1.0 + largest)
    for i in range(joints):
        at = i * (joints + MARGIN)
        for k in range(i + 1):
            memory.K[at + k] = given[i * rows + k]
        eps = OWN_DAMPING * absolute(given[i * rows + i]) + COMMON_DAMPING * largest
        memory.K[at + i] = memory.K[at + i] + eps
    factorize_dense(joints, memory.K, memory.K_D)


@function
def eliminate(joints, cones, given, free_velocity, memory):
    """X = D_jj^-1 D_jc, then D_c and b; errors of X enter D_c by their squares."""
    rows, column = joints + cones, memory.column
    for k in range(cones):
        for i in range(joints):
            memory.X[k * joints + i] = 0.0 * given[0]
        for _ in range(1 + CORRECTIONS):
            put_remainder(joints, rows, k, given, memory)
            solve_dense(joints, memory.K, memory.K_D, column)
            for i in range(joints):
                memory.X[k * joints + i] = memory.X[k * joints + i] + column[i]
    for k in range(cones):
        put_remainder(joints, rows, k, given, memory)
        shift = 0.0 * given[0]
        for i in range(joints):
            shift = shift + memory.X[k * joints + i] * free_velocity[i]
            column[i] = column[i] + given[i * rows + joints + k]
        memory.b[k] = memory.b[k] - shift
        for m in range(cones):
            change = 0.0 * given[0]
            for i in range(joints):
                change = change + column[i] * memory.X[m * joints + i]
            memory.D[k * cones + m] = memory.D[k * cones + m] - change
    for k in range(cones):
        for m in range(k):
            mean = 0.5 * (memory.D[k * cones + m] + memory.D[m * cones + k])
            memory.D[k * cones + m] = mean
            memory.D[m * cones + k] = mean


@function
def put_remainder(joints, rows, k, given, memory):
    """column = D_jc - D_jj X, of cone row k"""
    for i in range(joints):
        x = given[i * rows + joints + k]
        for m in range(joints):
            x = x - given[i * rows + m] * memory.X[k * joints + m]
        memory.column[i] = x


@function
def recover(joints, cones, given, free_velocity, unit, tolerance, reactions, memory):
    """Reactions of joints: D_jj lambda_j = -v_j - D_jc lambda_c, by corrections from given ones.

    These end where velocities times `unit` are within the tolerance.
    """
    rows, column = joints + cones, memory.column
    before = 1e300 + 0.0 * tolerance
    is_open = before > tolerance
    for _ in range(MOST_PASSES):
        if any_true(is_open):
            worst = 0.0 * tolerance
            for i in range(joints):
                x = free_velocity[i]
                for m in range(rows):
                    x = x + given[i * rows + m] * reactions[m]
                column[i] = x
                worst = maximum(worst, unit[i] * absolute(x))
            # Corrections stop where rounding, or rows that contradict each other, stop them.
            is_open = select(worst < 0.5 * before, worst, 0.0 * worst) > tolerance
            before = worst
            solve_dense(joints, memory.K, memory.K_D, column)
            for i in range(joints):
                x = select(is_open, column[i], 0.0 * worst)
                reactions[i] = reactions[i] - x


@function
def factor(model, cones, penalty, memory):
    """Prepare solutions with D_c + penalty."""
    pitch = cones + MARGIN
    for i in range(cones):
        for k in range(i + 1):
            memory.L[i * pitch + k] = memory.D[i * cones + k]
        memory.L[i * pitch + i] = memory.L[i * pitch + i] + penalty
    factorize_dense(cones, memory.L, memory.L_D)


@function
def solve(model, cones, x, memory):
    """x <- (D_c + penalty)^-1 x"""
    solve_dense(cones, memory.L, memory.L_D, x)


@function
def multiply(model, cones, x, y, memory):
    """y = D_c x"""
    times_matrix(cones, memory.D, x, y)


@function
def times_matrix(n, A, x, y):
    """y = A x, three rows at a time: each number of x is read once for them."""
    whole = n - n % 3
    for i in range(0, whole, 3):
        at = i * n
        y0 = A[at] * x[0]
        y1 = A[at + n] * x[0]
        y2 = A[at + 2 * n] * x[0]
        for k in range(1, n):
            y0 = y0 + A[at + k] * x[k]
            y1 = y1 + A[at + n + k] * x[k]
            y2 = y2 + A[at + 2 * n + k] * x[k]
        y[i] = y0
        y[i + 1] = y1
        y[i + 2] = y2
    for i in range(whole, n):
        y0 = A[i * n] * x[0]
        for k in range(1, n):
            y0 = y0 + A[i * n + k] * x[k]
        y[i] = y0


@function
def solve_blocks(model, counts, damping, newton, memory):
    """(E + damping + H D_c) d = -F, for blocks E and H of rows and contacts.

    Rows with H = 0 have d = -F, as E is 1 there: only the others are solved for.
    """
    active = list_active(counts, newton, memory)
    put_matrix(counts, active, damping, newton, memory)
    factor_with_pivots(active, memory.W, memory.pivots)
    solve_active(counts, active, newton, memory)


@function
def solve_blocks_again(model, counts, damping, newton, memory):
    """`solve_blocks` for another F, with E, H and damping of the last call."""
    solve_active(counts, list_active(counts, newton, memory), newton, memory)


@function
def list_active(counts, newton, memory):
    """Rows with H != 0, where their blocks are, and their number; d = -F."""
    singles, active = counts[0] + counts[1] + counts[2], 0
    for k in range(singles + counts[3]):
        first, height = (k, 1) if k < singles else (singles + 3 * (k - singles), 3)
        at, norm = 9 * k, 0.0
        for t in range(height * height):
            norm = norm + absolute(newton.H[at + t])
        for t in range(height):
            newton.d[first + t] = -newton.F[first + t]
            if norm > 0.0:
                memory.rows[active] = 1.0 * (first + t)
                memory.blocks[active] = 1.0 * (at + height * t)
                active += 1
    return active


@function
def put_matrix(counts, active, damping, newton, memory):
    """W = E + damping + H D_c of active rows"""
    D, W = memory.D, memory.W
    singles = counts[0] + counts[1] + counts[2]
    n = singles + 3 * counts[3]
    for a in range(active):
        i, at = int(memory.rows[a]), int(memory.blocks[a])
        is_single = i < singles
        first = i if is_single else singles + 3 * ((i - singles) // 3)
        for c in range(active):
            k = int(memory.rows[c])
            x = newton.H[at] * D[first * n + k]
            if not is_single:
                x = x + newton.H[at + 1] * D[(first + 1) * n + k]
                x = x + newton.H[at + 2] * D[(first + 2) * n + k]
            W[a * active + c] = x
        for t in range(1 if is_single else 3):
            W[a * active + a - (i - first) + t] += newton.E[at + t]
        W[a * active + a] += damping


@function
def solve_active(counts, active, newton, memory):
    """d of active rows, with the factor of W."""
    D, singles = memory.D, counts[0] + counts[1] + counts[2]
    n = singles + 3 * counts[3]
    for i in range(n):  # velocity by what is known of inactive rows
        memory.known[i] = newton.d[i]
    for a in range(active):
        memory.known[int(memory.rows[a])] = 0.0
    for a in range(active):
        i, at = int(memory.rows[a]), int(memory.blocks[a])
        is_single = i < singles
        first = i if is_single else singles + 3 * ((i - singles) // 3)
        x = -newton.F[i]
        if active < n:
            for t in range(1 if is_single else 3):
                h, row = newton.H[at + t], (first + t) * n
                for k in range(n):
                    x = x - h * D[row + k] * memory.known[k]
        memory.right[a] = x
    substitute(active, memory.W, memory.pivots, memory.right)
    for a in range(active):
        newton.d[int(memory.rows[a])] = memory.right[a]


@function
def factor_with_pivots(n, A, pivots):
    """A = P L U by elimination with exchange of rows; the diagonal has 1 / u_jj."""
    for j in range(n):
        p, largest = j, absolute(A[j * n + j])
        for i in range(j + 1, n):
            x = absolute(A[i * n + j])
            if x > largest:
                p, largest = i, x
        pivots[j] = 1.0 * p
        if p != j:
            for k in range(n):
                A[j * n + k], A[p * n + k] = A[p * n + k], A[j * n + k]
        pivot = 1.0 / A[j * n + j] if largest > 0.0 else 0.0
        for i in range(j + 1, n):
            x = A[i * n + j] * pivot
            A[i * n + j] = x
            if x != 0.0:
                for k in range(j + 1, n):
                    A[i * n + k] = A[i * n + k] - x * A[j * n + k]
        A[j * n + j] = pivot


@function
def substitute(n, A, pivots, b):
    """b <- A^-1 b, by the factors of A."""
    for j in range(n):
        p = int(pivots[j])
        b[j], b[p] = b[p], b[j]
    for i in range(n):
        x = b[i]
        for k in range(i):
            x = x - A[i * n + k] * b[k]
        b[i] = x
    for i in range(n - 1, -1, -1):
        x = b[i]
        for k in range(i + 1, n):
            x = x - A[i * n + k] * b[k]
        b[i] = x * A[i * n + i]


DENSE_OPERATOR = Operator(factor, solve, multiply, solve_blocks, solve_blocks_again)

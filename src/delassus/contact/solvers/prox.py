"""PROX, also called SORprox (Studer 2009; Erleben 2017), which seed 001 names and leaves out.

    z = x - R (D x + b)        lambda_n = max(0, z_n)        lambda_t = P(z_t), disk of mu lambda_n

swept over contacts, each with the newest reactions of the others. R starts as the inverse of the
diagonal of D, of each row, or with the eigenvalues of the tangents' block (`blocked`). Where the
change of reactions grows from one sweep to the next, R shrinks by nu, and the sweep is undone.

Departure: both tangents of a contact have one R. With an R of each, or with the inverse of their
block, sweeps end where friction opposes R v_t, and not the slip v_t.

All is scaled (see `operators.dense`). A sweep costs O(n^2).
"""

from __future__ import annotations

from ...compile import absolute, function, layout, maximum
from ..laws.cones import clip, length2, natural_map, project_disk, row_count
from ..laws.relative import scaled_map
from ..laws.request import LIMIT, OPTION
from ..operators import Operator
from .splitting import NEAR, OFTEN, velocity_of_row

PROX = layout(v="cone_rows", best="cone_rows", before="cone_rows")
LEAST_STEP = 1e-6


@function
def tangent_step(is_blocked, D, at, n):
    """R of both tangents: the inverse of the larger diagonal, or of the larger eigenvalue."""
    a, b, c = D[at], D[at + 1], D[at + n + 1]
    largest = maximum(a, c)
    if is_blocked:
        largest = 0.5 * (a + c) + length2(0.5 * (a - c), b)
    return 1.0 / maximum(largest, 1e-300)


@function
def sweep(counts, is_blocked, r, cones, reactions, D):
    """One pass over all rows with step r. Returns the largest change."""
    free, limits, bounded, contacts = counts
    n, largest, b = row_count(counts), 0.0, cones.b
    singles = free + limits + bounded
    for i in range(singles):
        x = reactions[i]
        new = x - r * velocity_of_row(n, D, b, reactions, i) / maximum(D[i * (n + 1)], 1e-300)
        if i >= free + limits:
            new = clip(cones.coefficients[i], new)
        elif i >= free:
            new = maximum(new, 0.0)
        largest = maximum(largest, absolute(new - x))
        reactions[i] = new
    for c in range(contacts):
        i = singles + 3 * c
        at, mu = i * n + i, cones.coefficients[i + 2]
        x, y, normal = reactions[i], reactions[i + 1], reactions[i + 2]
        v0 = velocity_of_row(n, D, b, reactions, i)
        v1 = velocity_of_row(n, D, b, reactions, i + 1)
        v2 = velocity_of_row(n, D, b, reactions, i + 2)
        new = maximum(normal - r * v2 / maximum(D[at + 2 * n + 2], 1e-300), 0.0)
        h = r * tangent_step(is_blocked, D, at, n)
        p, q = project_disk(mu * new, x - h * v0, y - h * v1)
        largest = maximum(largest, maximum(absolute(p - x), absolute(q - y)))
        largest = maximum(largest, absolute(new - normal))
        reactions[i], reactions[i + 1], reactions[i + 2] = p, q, new
    return largest


def prox(op: Operator):
    """PROX with an operator that has its matrix in `memory.D`."""
    multiply = op.multiply

    @function
    def run(model, counts, limits, cones, options, reactions, history, split, memory):
        """Sweep from `reactions`, which get the best ones. Returns the number of sweeps."""
        n, tolerance = row_count(counts), options[OPTION.tolerance]
        r, error, best, step = options[OPTION.relaxation], 1e300, 1e300, 0
        is_blocked, near = limits[LIMIT.blocked] > 0, NEAR * tolerance * cones.size[0]
        for i in range(n):
            split.best[i] = reactions[i]
        while step < limits[LIMIT.iterations] and best > tolerance:
            step += 1
            for i in range(n):
                split.before[i] = reactions[i]
            change = sweep(counts, is_blocked, r, cones, reactions, memory.D)
            if change > error and r > LEAST_STEP:
                r = options[OPTION.shrink] * r
                for i in range(n):
                    reactions[i] = split.before[i]
            else:
                error = change
            is_due = change < near * r or step % OFTEN == 0 or step == 1
            if is_due or step == limits[LIMIT.iterations] or limits[LIMIT.record] > 0:
                multiply(model, n, reactions, split.v, memory)
                found = scaled_map(counts, cones, options[OPTION.is_ncp], reactions, split.v)
                if found < best:
                    best = found
                    for i in range(n):
                        split.best[i] = reactions[i]
                if limits[LIMIT.record] > 0:
                    history[step - 1] = natural_map(
                        counts, cones.own_coefficients, options[OPTION.is_ncp],
                        cones.own_reactions, cones.own_velocity,
                    )  # fmt: skip
        for i in range(n):
            reactions[i] = split.best[i]
        return 1.0 * step

    return run

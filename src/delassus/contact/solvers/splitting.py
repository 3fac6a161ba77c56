"""Gauss-Seidel sweeps over rows and contacts (seed 001, Algorithm 5).

Each row or contact is solved in turn, with all other reactions as they are:

    lambda_k  <-  (1 - omega) lambda_k + omega P(D_kk, b_k + sum of D_km lambda_m over m != k)

| solver | rule of a contact |
| --- | --- |
| pgs-ccp | Algorithm 2, with De Saxce's term only if asked for |
| pgs-ncp | Algorithm 3 |
| nbgs | the quartic: maximal dissipation, or exact Coulomb |
| raisim, raisim-ds, raisim-ds-es | bisection, without and with De Saxce's term |

Departures; `reference.printed` has the algorithm as printed. Joint rows that are not eliminated
are swept one by one. The decay of omega is max(omega_min, gamma omega), where line 25 prints min.
Sweeps stop by the relative natural map; raisim-ds-es stops where the objective (160) stays,
relative to the square of the largest speed of closing, whatever the natural map is.
All is scaled (see `operators.dense`). A sweep costs O(n^2).
"""

from __future__ import annotations

from ...compile import absolute, function, layout, maximum
from ..laws.cones import clip, length2, natural_map, row_count
from ..laws.local import bisect_contact, cone_step, normal_step, solve_contact
from ..laws.relative import scaled_map
from ..laws.request import LIMIT, OPTION
from ..operators import Operator

CONE, NORMAL, DISSIPATION, EXACT, BISECTION = 0, 1, 2, 3, 4
NEAR, OFTEN = 4.0, 10

SPLITTING = layout(v="cone_rows", best="cone_rows", points=8)


@function
def velocity_of_row(n, D, b, reactions, i):
    """D_i lambda + b_i"""
    v = b[i]
    for k in range(n):
        v = v + D[i * n + k] * reactions[k]
    return v


@function
def sweep_singles(counts, omega, cones, reactions, D):
    """One pass over rows that are no contacts. Returns the largest change."""
    free, limits, bounded, _ = counts
    n, largest = row_count(counts), 0.0
    for i in range(free + limits + bounded):
        x, d = reactions[i], D[i * (n + 1)]
        if d > 0.0:
            new = x - velocity_of_row(n, D, cones.b, reactions, i) / d
            if i >= free + limits:
                new = clip(cones.coefficients[i], new)
            elif i >= free:
                new = maximum(new, 0.0)
            new = x + omega * (new - x)
            largest = maximum(largest, absolute(new - x))
            reactions[i] = new
    return largest


@function
def sweep_contacts(counts, local, de_saxce, omega, cones, reactions, D, points):
    """One pass over contacts. Returns the largest change."""
    n, largest = row_count(counts), 0.0
    for c in range(counts[3]):
        i = counts[0] + counts[1] + counts[2] + 3 * c
        at, mu = i * n + i, cones.coefficients[i + 2]
        B = D[at], D[at + 1], D[at + 2], D[at + n + 1], D[at + n + 2], D[at + 2 * n + 2]
        x = reactions[i], reactions[i + 1], reactions[i + 2]
        v0 = velocity_of_row(n, D, cones.b, reactions, i)
        v1 = velocity_of_row(n, D, cones.b, reactions, i + 1)
        v2 = velocity_of_row(n, D, cones.b, reactions, i + 2)
        shift = de_saxce * mu * length2(v0, v1)
        new = x
        if local == CONE:
            new = cone_step(mu, B, x, (v0, v1, v2 + shift))
        elif local == NORMAL:
            new = normal_step(mu, B, x, (v0, v1, v2 + shift))
        else:
            b = (
                v0 - B[0] * x[0] - B[1] * x[1] - B[2] * x[2],
                v1 - B[1] * x[0] - B[3] * x[1] - B[4] * x[2],
                v2 - B[2] * x[0] - B[4] * x[1] - B[5] * x[2],
            )
            if local == BISECTION:
                new = bisect_contact(mu, B, x, b, shift)
            else:
                new = solve_contact(local == EXACT, mu, B, x, b, points)
        for t in range(3):
            y = x[t] + omega * (new[t] - x[t])
            largest = maximum(largest, absolute(y - x[t]))
            reactions[i + t] = y
    return largest


def splitting(op: Operator):
    """Sweeps with an operator that has its matrix in `memory.D`."""
    multiply = op.multiply

    @function
    def run(model, counts, limits, cones, options, reactions, history, split, memory):
        """Sweep from `reactions`, which get the best ones. Returns the number of sweeps."""
        n, D, tolerance = row_count(counts), memory.D, options[OPTION.tolerance]
        omega, best, step = options[OPTION.relaxation], 1e300, 0
        is_early, objective, size = limits[LIMIT.early] > 0, 1e300, cones.size[0]
        is_done = False
        for i in range(n):
            split.best[i] = reactions[i]
        while step < limits[LIMIT.iterations] and not is_done:
            step += 1
            change = sweep_singles(counts, omega, cones, reactions, D)
            other = sweep_contacts(
                counts, limits[LIMIT.local], options[OPTION.de_saxce], omega, cones, reactions, D,
                split.points,
            )  # fmt: skip
            change = maximum(change, other) / omega
            is_due = change < NEAR * tolerance * size or step % OFTEN == 0 or step == 1
            is_due = is_due or step == limits[LIMIT.iterations] or limits[LIMIT.record] > 0
            if is_due or is_early:
                multiply(model, n, reactions, split.v, memory)
                found = scaled_map(counts, cones, options[OPTION.is_ncp], reactions, split.v)
                if found < best:
                    best = found
                    for i in range(n):
                        split.best[i] = reactions[i]
                is_done = best <= tolerance
                if limits[LIMIT.record] > 0:
                    history[step - 1] = natural_map(
                        counts, cones.own_coefficients, options[OPTION.is_ncp],
                        cones.own_reactions, cones.own_velocity,
                    )  # fmt: skip
                if is_early:
                    new = 0.0
                    for i in range(n):
                        new = new + reactions[i] * (0.5 * split.v[i] + cones.b[i])
                    most = tolerance * options[OPTION.inertia] * size * size
                    stays = absolute(new - objective) <= most
                    objective = new
                    is_done = is_done or stays
            decayed = options[OPTION.decay] * omega
            omega = maximum(options[OPTION.least_relaxation], decayed)
        for i in range(n):
            reactions[i] = split.best[i]
        return 1.0 * step

    return run

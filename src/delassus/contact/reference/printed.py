"""Algorithms 5 and 6 of seed 001, line by line, with their criteria (156) to (158) and (160).

Numbers at the end of lines are those of lines in the paper. Nothing is scaled, no joint row is
eliminated. What the paper's misprints would make impossible is mended:

- Algorithm 5, line 25 prints min for max: omega would fall to omega_min at once.
- Line 4 prints minus signs where v_f,j is the velocity by all other reactions.
- Algorithm 6, line 13 lacks the change of Gamma, which the velocity D y + v_f + Gamma(z) has.
- (171) and (172b) compare r_p / r_d, here r_p with a multiple of r_d, as r_d may be zero.
- Algorithm 4 is that of `laws.local`, with what the paper's copy leaves out.

The paper has no bounded rows: they are swept and projected as limits are, but into their bounds.

| symbol | here | what |
| --- | --- | --- |
| omega, gamma, omega_min | options.relaxation, decay, least_relaxation | |
| epsilon_p, epsilon_d, epsilon_cp | options.tolerance | one for all |
| eta, rho_0, alpha | options.eta, rho, ratio | |
| rho_inc, rho_dec; tau_0, tau | options.growth; first_exponent, exponent | of (171); of (172) |
| I_total | options.inertia | of (160) |
"""

from __future__ import annotations

from ...compile import absolute, exp, function, layout, log, maximum, routine, sqrt
from ...constrained.factor.kkt import MARGIN, factorize_dense, solve_dense
from ..laws.cones import clip, length2, natural_map, project, row_count
from ..laws.request import INFO, LIMIT, OPTION
from ..laws.residuals import put_residuals
from ..operators.dense import factor_with_pivots, substitute, times_matrix
from ..solvers.admm import FIXED, SPECTRAL
from ..solvers.splitting import sweep_contacts, velocity_of_row

VECTORS = ("b", "coefficients", "x", "y", "z", "x_before", "y_before", "gamma", "shift", "right")
PRINTED = layout(
    **dict.fromkeys((*VECTORS, "v", "projected", "L_D", "pivots"), "cone_rows"),
    L=lambda n: n["cone_rows"] * (n["cone_rows"] + MARGIN),
    W=lambda n: n["cone_rows"] * n["cone_rows"],
    points=8,
    info=INFO.size,
)


@function
def put_given(n, free_velocity, coefficients, warm_start, reactions, work):
    """What functions read of a problem, and the first reactions."""
    for i in range(n):
        work.b[i] = free_velocity[i]
        work.coefficients[i] = coefficients[i]
        reactions[i] = warm_start[i]


@function
def keep_history(counts, step, limits, options, reactions, history, work):
    """The natural map of reactions whose velocity is in work.v."""
    if limits[LIMIT.record] > 0:
        history[step - 1] = natural_map(
            counts, work.coefficients, options[OPTION.is_ncp], reactions, work.v
        )


# --- Algorithm 5 ----------------------------------------------------------------------------------


@function
def sweep_joints(free, n, omega, D, sizes, reactions, work):
    """Lines 3 to 7; `sizes` has the number of rows of each joint, in its first row."""
    at = 0
    while at < free:
        size = int(sizes[at])
        for i in range(size):
            x = velocity_of_row(n, D, work.b, reactions, at + i)
            for k in range(size):
                d = D[(at + i) * n + at + k]
                work.W[i * size + k] = d
                x = x - d * reactions[at + k]
            work.right[i] = -x  # 4
        factor_with_pivots(size, work.W, work.pivots)
        substitute(size, work.W, work.pivots, work.right)  # 5
        for i in range(size):
            reactions[at + i] = (1.0 - omega) * reactions[at + i] + omega * work.right[i]  # 6
        at += size


@function
def sweep_limits(counts, omega, D, reactions, work):
    """Lines 8 to 13, and bounded rows."""
    free, limits, bounded, _ = counts
    n = row_count(counts)
    for i in range(free, free + limits + bounded):
        x, d = reactions[i], D[i * (n + 1)]
        b = velocity_of_row(n, D, work.b, reactions, i) - d * x  # 9
        new = -b / d if d > 0.0 else 0.0  # 10
        new = maximum(new, 0.0) if i < free + limits else clip(work.coefficients[i], new)  # 11
        reactions[i] = (1.0 - omega) * x + omega * new  # 12


@function
def objective(n, reactions, work):
    """(17a), for the velocity in work.v"""
    found = 0.0
    for i in range(n):
        found = found + reactions[i] * 0.5 * (work.v[i] + work.b[i])
    return found


@routine
def run_sweeps(
    counts, limits, delassus, free_velocity, coefficients, warm_start, sizes, options, reactions,
    iterations, history, work,
):  # fmt: skip
    """Algorithm 5, until its criteria hold."""
    tolerance, step, is_done = options[OPTION.tolerance], 0, False
    n, omega = row_count(counts), options[OPTION.relaxation]  # 1
    put_given(n, free_velocity, coefficients, warm_start, reactions, work)
    times_matrix(n, delassus, reactions, work.v)
    for i in range(n):
        work.v[i] = work.v[i] + work.b[i]
    before = objective(n, reactions, work)
    while step < limits[LIMIT.iterations] and not is_done:  # 2
        step += 1
        sweep_joints(counts[0], n, omega, delassus, sizes, reactions, work)
        sweep_limits(counts, omega, delassus, reactions, work)
        sweep_contacts(  # 14 to 19
            counts, limits[LIMIT.local], options[OPTION.de_saxce], omega, work, reactions, delassus,
            work.points,
        )  # fmt: skip
        times_matrix(n, delassus, reactions, work.v)  # 20
        for i in range(n):
            work.v[i] = work.v[i] + work.b[i]
        put_residuals(
            counts, work.coefficients, options, reactions, work.v, work.projected, work.info
        )
        if limits[LIMIT.early] > 0:  # 22, by (160)
            now = objective(n, reactions, work)
            is_done = absolute(now - before) < tolerance * options[OPTION.inertia]
            before = now
        else:  # 22, by (156) to (158)
            is_done = work.info[INFO.primal] < tolerance and work.info[INFO.dual] < tolerance
            is_done = is_done and work.info[INFO.complementarity] < tolerance
        keep_history(counts, step, limits, options, reactions, history, work)
        omega = maximum(options[OPTION.least_relaxation], options[OPTION.decay] * omega)  # 25
    iterations[0] = 1.0 * step


# --- Algorithm 6 ----------------------------------------------------------------------------------


@function
def put_gamma(counts, is_ncp, z, coefficients, gamma):
    """Gamma(z)"""
    n = row_count(counts)
    for i in range(n):
        gamma[i] = 0.0
    for c in range(counts[3]):
        i = n - 3 * counts[3] + 3 * c
        gamma[i + 2] = is_ncp * coefficients[i + 2] * length2(z[i], z[i + 1])


@function
def factor(n, shift, D, work):
    """D + shift, factored."""
    for i in range(n):
        at = i * (n + MARGIN)
        for k in range(i + 1):
            work.L[at + k] = D[i * n + k]
        work.L[at + i] = work.L[at + i] + shift
    factorize_dense(n, work.L, work.L_D)


@function
def largest_eigenvalue(n, count, D, work):
    """L, by power iterations."""
    for i in range(n):
        work.right[i] = 1.0 + (i % 3) * 0.25
    found = 0.0
    for _ in range(count):
        times_matrix(n, D, work.right, work.v)
        top, size, square = 0.0, 0.0, 0.0
        for i in range(n):
            top = top + work.right[i] * work.v[i]
            size = size + work.right[i] * work.right[i]
            square = square + work.v[i] * work.v[i]
        found = top / size
        unit = 1.0 / sqrt(square) if square > 0.0 else 1.0
        for i in range(n):
            work.right[i] = unit * work.v[i]
    return found


@function
def first_penalty(n, limits, options, D, work):
    """rho_0, and the factor by which (171) or (172b) change rho"""
    if limits[LIMIT.adaptation] != SPECTRAL:
        return options[OPTION.rho], options[OPTION.growth]
    largest = largest_eigenvalue(n, limits[LIMIT.power_iterations], D, work)
    least = options[OPTION.eta]
    kappa = log(maximum(largest, least) / least)
    rho = sqrt(largest * least) * exp(options[OPTION.first_exponent] * kappa)  # (172a)
    return rho, exp(options[OPTION.exponent] * kappa)


@function
def complementarity(counts, x, z):
    """(158), of limits and contacts"""
    free, limits, bounded, contacts = counts
    found = 0.0
    for i in range(free, free + limits):
        found = maximum(found, absolute(x[i] * z[i]))
    for c in range(contacts):
        i = free + limits + bounded + 3 * c
        power = x[i] * z[i] + x[i + 1] * z[i + 1] + x[i + 2] * z[i + 2]
        found = maximum(found, absolute(power))
    return found


@routine
def run_admm(
    counts, limits, delassus, free_velocity, coefficients, warm_start, options, reactions,
    iterations, history, work,
):  # fmt: skip
    """Algorithm 6, until its criteria hold."""
    step, is_done = 0, False
    n, eta, omega = row_count(counts), options[OPTION.eta], options[OPTION.relaxation]
    is_ncp, tolerance = options[OPTION.is_ncp], options[OPTION.tolerance]
    x, y, z = work.x, work.y, work.z
    put_given(n, free_velocity, coefficients, warm_start, reactions, work)
    rho, growth = first_penalty(n, limits, options, delassus, work)
    factor(n, eta + rho, delassus, work)
    times_matrix(n, delassus, reactions, z)
    for i in range(n):
        x[i] = y[i] = reactions[i]  # 1
        z[i] = z[i] + work.b[i]  # 2
    put_gamma(counts, is_ncp, z, work.coefficients, work.gamma)
    while step < limits[LIMIT.iterations] and not is_done:  # 3
        step += 1
        for i in range(n):
            work.x_before[i], work.y_before[i] = x[i], y[i]
            work.shift[i] = work.gamma[i]  # 4
            v = work.b[i] + work.shift[i] - eta * x[i] - rho * y[i] - z[i]  # 5
            x[i] = -v
        solve_dense(n, work.L, work.L_D, x)  # 6
        for i in range(n):
            x[i] = (1.0 - omega) * y[i] + omega * x[i]  # 7
            work.right[i] = x[i] - z[i] / rho
        project(counts, work.coefficients, work.right, y)  # 8
        for i in range(n):
            z[i] = z[i] - rho * (x[i] - y[i])  # 9
            reactions[i] = y[i]  # 10
        put_gamma(counts, is_ncp, z, work.coefficients, work.gamma)
        primal, dual = 0.0, 0.0
        for i in range(n):
            primal = maximum(primal, absolute(x[i] - y[i]))  # 12
            change = eta * (x[i] - work.x_before[i]) + rho * (y[i] - work.y_before[i])
            change = change - (work.gamma[i] - work.shift[i])
            dual = maximum(dual, absolute(change))  # 13
        power = complementarity(counts, x, z)  # 14
        is_done = primal < tolerance and dual < tolerance and power < tolerance  # 15
        if limits[LIMIT.record] > 0:
            times_matrix(n, delassus, y, work.v)
            for i in range(n):
                work.v[i] = work.v[i] + work.b[i]
            keep_history(counts, step, limits, options, reactions, history, work)
        if limits[LIMIT.adaptation] != FIXED:  # 18
            ratio, before = options[OPTION.ratio], rho
            if primal >= ratio * dual:
                rho = rho * growth
            elif ratio * primal <= dual:
                rho = rho / growth
            if rho != before:
                factor(n, eta + rho, delassus, work)
    iterations[0] = 1.0 * step

"""ADMM for the dual problem (seed 001, Algorithm 6; Carpentier et al., 2024).

    x  <-  (D + eta + rho)^-1 (-b - s + eta x + rho y + z)        s = Gamma(z)
    y  <-  P_K(x - z / rho)
    z  <-  z - rho (x - y)

| symbol | here | what |
| --- | --- | --- |
| x, y, z | x, y, z | reactions, reactions in K, augmented velocity |
| rho | rho | the penalty, adapted to the residuals: (171), (172) |
| eta | options.eta | the proximal term |
| omega | options.relaxation | over-relaxation, line 7 |

Departures; `reference.printed` has none of them. Line 13 lacks the change of Gamma, so that its
residuals can be small before the problem is solved. Here they tell when it is worth while to look
at the natural map of y, which decides. Acceleration is Nesterov's, with restart where the residual
does not fall. The rules of the penalty compare residuals relative to reactions and velocities where
reactions are far larger; the first penalty of (172a) is halved.

All is scaled (see `operators.dense`): `scale` leads back to the problem as given. An iteration
costs O(n^2) with a dense Delassus matrix, a new penalty O(n^3).
"""

from __future__ import annotations

from ...compile import (
    absolute,
    any_true,
    exp,
    function,
    layout,
    log,
    maximum,
    routine,
    select,
    sqrt,
)
from ..laws.cones import length2, natural_map, project, project_dual_cone, row_count
from ..laws.relative import scaled_map
from ..laws.request import LIMIT, OPTION
from ..operators import Operator

ADMM = layout(
    **dict.fromkeys(
        ("x", "y", "z", "y_ahead", "z_ahead", "y_before", "z_before", "right", "v", "best"),
        "cone_rows",
    )
)
FIXED, LINEAR, SPECTRAL = 0, 1, 2  # rules of the penalty
# The natural map is looked at where residuals are below so many tolerances of the largest speed of
# closing, and every so often.
NEAR, OFTEN = 4.0, 10


def admm(op: Operator):
    """ADMM with an operator."""
    factor_matrix, solve_matrix, multiply = op.factor, op.solve, op.multiply

    @routine
    def run(model, counts, limits, most, cones, options, reactions, first, history, dual, memory):
        """At most `most` iterations from `reactions`, which get the best y. Returns their number.

        `cones` has the coefficients, the scale and the free velocity of cone rows. `first` is the
        place in `history` of the first iteration.
        """
        n = row_count(counts)
        tolerance = options[OPTION.tolerance]
        none, never = 0.0 * tolerance, 1e300 + 0.0 * tolerance
        start(model, counts, cones, options, reactions, dual, memory)
        rho, growth = first_penalty(model, n, limits, options, dual, memory)
        factor_matrix(model, n, rho + options[OPTION.eta], memory)
        best, iterations, theta, before = never, none, 1.0 + none, never
        is_active, step, near = best > tolerance, 0, NEAR * tolerance * cones.size[0]
        while step < most and any_true(is_active):
            step = step + 1
            iterations = iterations + select(is_active, 1.0 + none, none)
            primal_step(model, counts, rho, cones, options, dual, memory)
            primal, change = slack_step(counts, rho, is_active, cones, options, dual)
            largest = select(is_active, maximum(primal, change), never)
            if (
                any_true(largest < near)
                or step % OFTEN == 0
                or step == most
                or limits[LIMIT.record] > 0
            ):
                multiply(model, n, dual.y, dual.v, memory)
                found = scaled_map(counts, cones, options[OPTION.is_ncp], dual.y, dual.v)
                found = select(is_active, found, never)
                is_better = found < best
                best = select(is_better, found, best)
                for i in range(n):
                    dual.best[i] = select(is_better, dual.y[i], dual.best[i])
                is_active = select(best > tolerance, select(is_active, never, none), none) > 0.0
                if limits[LIMIT.record] > 0:
                    history[first + step - 1] = natural_map(
                        counts, cones.own_coefficients, options[OPTION.is_ncp],
                        cones.own_reactions, cones.own_velocity,
                    )  # fmt: skip
            if limits[LIMIT.accelerate] > 0:
                theta, before = look_ahead(n, rho, theta, before, options, dual)
            else:
                for i in range(n):
                    dual.y_ahead[i] = dual.y[i]
                    dual.z_ahead[i] = dual.z[i]
            if limits[LIMIT.adaptation] > 0 and step % limits[LIMIT.every] == 0:
                primal, change = relative_to_size(n, primal, change, cones, options, dual)
                ratio = options[OPTION.ratio]
                up, down = primal > ratio * change, change > ratio * primal
                factor = select(up, growth, select(down, 1.0 / growth, 1.0 + none))
                factor = select(is_active, factor, 1.0 + none)
                if any_true(absolute(factor - 1.0) > 0.0):
                    rho = rho * factor
                    factor_matrix(model, n, rho + options[OPTION.eta], memory)
        for i in range(n):
            reactions[i] = dual.best[i]
        return iterations

    @function
    def start(model, counts, cones, options, reactions, dual, memory):
        """y from the given reactions, and z from their velocity."""
        free, limits, bounded, contacts = counts
        n, coefficients = row_count(counts), cones.coefficients
        project(counts, coefficients, reactions, dual.y)
        multiply(model, n, dual.y, dual.z, memory)
        for i in range(n):
            dual.z[i] = dual.z[i] + cones.b[i]
        for i in range(free):
            dual.z[i] = 0.0 * dual.z[i]
        for i in range(free, free + limits):
            dual.z[i] = maximum(dual.z[i], 0.0 * dual.z[i])
        for c in range(contacts):
            i = free + limits + bounded + 3 * c
            mu = coefficients[i + 2]
            x, y, normal = dual.z[i], dual.z[i + 1], dual.z[i + 2]
            normal = normal + options[OPTION.is_ncp] * mu * length2(x, y)
            dual.z[i], dual.z[i + 1], dual.z[i + 2] = project_dual_cone(mu, x, y, normal)
        for i in range(n):
            dual.x[i] = dual.y[i]
            dual.best[i] = dual.y[i]
            dual.y_ahead[i] = dual.y[i]
            dual.z_ahead[i] = dual.z[i]

    @function
    def first_penalty(model, n, limits, options, dual, memory):
        """rho to start with, and the factor by which it changes."""
        rho, growth = options[OPTION.rho], options[OPTION.growth]
        if limits[LIMIT.adaptation] == SPECTRAL:
            least = options[OPTION.eta]
            largest = largest_eigenvalue(model, n, limits, least, dual, memory)
            kappa = log(largest / least)
            rho = 0.5 * sqrt(largest * least) * exp(options[OPTION.first_exponent] * kappa)
            growth = exp(options[OPTION.exponent] * kappa)
        return rho, growth

    @function
    def largest_eigenvalue(model, n, limits, least, dual, memory):
        """Of D, by power iterations; `least` if it is smaller."""
        none = 0.0 * least
        for i in range(n):
            dual.right[i] = 1.0 + (i % 3) * 0.25 + none
        found = none
        for _ in range(limits[LIMIT.power_iterations]):
            multiply(model, n, dual.right, dual.v, memory)
            top, size, square = 0.0 * found, 0.0 * found, 0.0 * found
            for i in range(n):
                top = top + dual.right[i] * dual.v[i]
                size = size + dual.right[i] * dual.right[i]
                square = square + dual.v[i] * dual.v[i]
            found = select(size > 0.0, top / select(size > 0.0, size, 1.0 + size), found)
            unit = 1.0 / sqrt(select(square > 0.0, square, 1.0 + 0.0 * square))
            for i in range(n):
                dual.right[i] = unit * dual.v[i]
        return maximum(found, least)

    @function
    def primal_step(model, counts, rho, cones, options, dual, memory):
        """x: the reactions without cones."""
        n, eta = row_count(counts), options[OPTION.eta]
        for i in range(n):
            x = eta * dual.x[i] + rho * dual.y_ahead[i]
            dual.x[i] = x + dual.z_ahead[i] - cones.b[i]
        at = counts[0] + counts[1] + counts[2]
        for c in range(counts[3]):
            i = at + 3 * c
            mu = options[OPTION.is_ncp] * cones.coefficients[i + 2]
            shift = mu * length2(dual.z_ahead[i], dual.z_ahead[i + 1])
            dual.x[i + 2] = dual.x[i + 2] - shift
        solve_matrix(model, n, dual.x, memory)

    @function
    def slack_step(counts, rho, is_active, cones, options, dual):
        """y and z. Returns the largest primal and dual residual."""
        n, omega, inverse = row_count(counts), options[OPTION.relaxation], 1.0 / rho
        for i in range(n):
            x = omega * dual.x[i] + (1.0 - omega) * dual.y_ahead[i]
            dual.right[i] = x - inverse * dual.z_ahead[i]
            dual.y_before[i] = dual.y[i]
            dual.z_before[i] = dual.z[i]
        project(counts, cones.coefficients, dual.right, dual.y)
        primal, change = 0.0 * omega, 0.0 * omega
        for i in range(n):
            new, old = dual.y[i], dual.y_before[i]
            primal = maximum(primal, absolute(dual.x[i] - new))
            change = maximum(change, absolute(new - old))
            z = rho * (new - dual.right[i])
            dual.y[i] = select(is_active, new, old)
            dual.z[i] = select(is_active, z, dual.z[i])
        return primal, rho * change

    @function
    def relative_to_size(n, primal, change, cones, options, dual):
        """Primal and dual residual as the rule of the penalty compares them.

        Reactions of light bodies under a heavy one are large beside all velocities, and so is their
        residual: compared as it is, it makes the penalty far too large. Where reactions are more
        than `large` times the velocities, residuals count relative to |y| / large and |v|. Pushed
        stacks with a top 100 times as heavy take 3.5 times fewer iterations by that.
        """
        reaction, velocity = 0.0 * primal, 0.0 * primal
        for i in range(n):
            reaction = maximum(reaction, absolute(dual.y[i]))
            velocity = maximum(velocity, maximum(absolute(dual.z[i]), absolute(cones.b[i])))
        size = maximum(velocity, reaction / options[OPTION.large])
        return velocity * primal, size * change

    @function
    def look_ahead(n, rho, theta, before, options, dual):
        """Nesterov's extrapolation of y and z; it starts anew where the residual does not fall."""
        merit, inverse = 0.0 * theta, 1.0 / rho
        for i in range(n):
            x, y = dual.y[i] - dual.y_ahead[i], dual.z[i] - dual.z_ahead[i]
            merit = merit + rho * (x * x) + inverse * (y * y)
        is_good = merit < options[OPTION.restart] * before
        after = 0.5 * (1.0 + sqrt(1.0 + 4.0 * theta * theta))
        share = select(is_good, (theta - 1.0) / after, 0.0 * theta)
        for i in range(n):
            dual.y_ahead[i] = dual.y[i] + share * (dual.y[i] - dual.y_before[i])
            dual.z_ahead[i] = dual.z[i] + share * (dual.z[i] - dual.z_before[i])
        return select(is_good, after, 1.0 + 0.0 * theta), merit

    return run

"""How far reactions are from a solution (seed 001, (156) to (158), (163), (164), (174) to (176)).

| symbol | here | what |
| --- | --- | --- |
| r_p | primal | largest entry of lambda - P_K(lambda) |
| r_d | dual | largest entry of v - P_K*(v), with Gamma(v) added to v for the NCP |
| r_cp | complementarity | largest product of a reaction and its velocity |
| F_nat | natural_map | zero at solutions only: it contains the other three |

See `relative` for the natural map in units of the problem.
"""

from __future__ import annotations

from ...compile import absolute, function, maximum, minimum
from .cones import length2, natural_map, project, project_dual_cone
from .request import INFO, OPTION


@function
def primal_residual(count, none, reactions, projected):
    """max |lambda - P_K(lambda)|, `none` without rows."""
    found = none
    for i in range(count):
        found = maximum(found, absolute(reactions[i] - projected[i]))
    return found


@function
def contact_residuals(mu, is_ncp, first, reactions, velocity):
    """Dual and complementarity residual of a contact whose rows start at `first`."""
    x, y = velocity[first], velocity[first + 1]
    normal = velocity[first + 2] + is_ncp * mu * length2(x, y)
    px, py, pn = project_dual_cone(mu, x, y, normal)
    dual = maximum(absolute(x - px), maximum(absolute(y - py), absolute(normal - pn)))
    power = reactions[first] * x + reactions[first + 1] * y + reactions[first + 2] * normal
    return dual, absolute(power)


@function
def put_residuals(counts, coefficients, options, reactions, velocity, projected, info):
    """Write all residuals but the number of iterations; `projected` is work memory."""
    free, limits, bounded, contacts = counts
    is_ncp, at = options[OPTION.is_ncp], free + limits + bounded
    project(counts, coefficients, reactions, projected)
    info[INFO.primal] = primal_residual(at + 3 * contacts, 0.0 * is_ncp, reactions, projected)
    dual, power = 0.0 * is_ncp, 0.0 * is_ncp
    for i in range(free):
        dual = maximum(dual, absolute(velocity[i]))
    for i in range(free, free + limits):
        dual = maximum(dual, -minimum(velocity[i], 0.0 * dual))
        power = maximum(power, absolute(reactions[i] * velocity[i]))
    for i in range(free + limits, at):
        # The largest power that any reaction within the bounds could take, less what this one does.
        missing = coefficients[i] * absolute(velocity[i]) + reactions[i] * velocity[i]
        power = maximum(power, absolute(missing))
    for c in range(contacts):
        first = at + 3 * c
        mu = coefficients[first + 2]
        one, two = contact_residuals(mu, is_ncp, first, reactions, velocity)
        dual, power = maximum(dual, one), maximum(power, two)
    info[INFO.dual] = dual
    info[INFO.complementarity] = power
    info[INFO.natural_map] = natural_map(counts, coefficients, is_ncp, reactions, velocity)

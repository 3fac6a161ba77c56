"""What solvers are asked for: numbers, and whole numbers, by name."""

from __future__ import annotations

from ...compile import slots

LAWS = ("ncp", "ccp")  # with and without Gamma
# Whole numbers: the largest number of iterations; the rule of the penalty, and how often it may
# change it; flags; the local solver; and whether the natural map of each iteration is kept.
LIMIT = slots(
    iterations=1,
    adaptation=1,
    every=1,
    precondition=1,
    accelerate=1,
    power_iterations=1,
    local=1,
    blocked=1,
    early=1,
    record=1,
    newton_steps=1,
    first_share=1,
    interior=1,
)
# Numbers: see the solvers.
OPTION = slots(
    tolerance=1,
    is_ncp=1,
    eta=1,
    rho=1,
    ratio=1,
    large=1,
    growth=1,
    first_exponent=1,
    exponent=1,
    relaxation=1,
    restart=1,
    decay=1,
    least_relaxation=1,
    shrink=1,
    inertia=1,
    de_saxce=1,
)
# Outputs: the residuals (156) to (158), the natural map, the relative one, and the number of
# iterations.
INFO = slots(
    primal=1, dual=1, complementarity=1, natural_map=1, relative_natural_map=1, iterations=1
)

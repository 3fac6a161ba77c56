"""What all solvers of constrained dynamics are asked, and what they tell: one form of kernel."""

from __future__ import annotations

from ..compile import function, slots, sqrt

# What is asked of each row: damping, acceleration, multiplier to start from, and 1 / damping. Then
# what is asked of all: stabilisation, and where to stop.
REQUEST = slots(damping=1, desired=1, start=1, weight=1)
WHOLE = slots(kp=1, kd=1, tolerance=1)
# What is told of the solution: the lengths of r and of J^T r, what the latter started from, and how
# many iterations it took.
INFO = slots(residual=1, gradient=1, start=1, iterations=1)
# Below this part of what it started from, J^T r is rounding.
ROUNDING = 1e-15

# The arguments of a solver's kernel: `limits` holds the most iterations that it may take.
LIMITS = ("limits",)
INPUTS = {
    "q": "nq",
    "v": "nv",
    "tau": "nv",
    "rows": f"m {REQUEST.size} common",
    "whole": f"{WHOLE.size} common",
    "external_forces": "n_bodies 6 optional",
}
OUTPUTS = {"a": "nv", "multipliers": "m", "info": f"{INFO.size}"}


@function
def length(count, x, whole):
    """The Euclidean length of some numbers."""
    square = 0.0 * whole[WHOLE.tolerance]
    for t in range(count):
        square = square + x[t] * x[t]
    return sqrt(square)

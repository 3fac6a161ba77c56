"""The proximal iteration that solvers of constrained dynamics share.

Carpentier, Budhiraja and Mansard, Proximal and Sparse Resolution of Constrained Dynamic Equations,
2021, Eq. (18); Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Eqs.
(16), (27), Algorithm 3 lines 5 to 8, and Algorithm 4 lines 12 to 15. With the damping mu of a row,
or the stiffness W = 1 / mu of a spring along it, an iteration is

    r <- the residual J a + gamma - a* once the row's springs, drawn by r, have given way
    lambda <- lambda - W r

| papers | here | what |
| --- | --- | --- |
| K a - k (000), J a + gamma - a* (003) | dual.residual | r |
| lambda, of the opposite sign | multipliers | M a + b = tau + J^T lambda |
| mu (000), 1 / mu (003) | dual.weights | W |
| epsilon | goal | where to stop |

What methods differ in is the first line, a function `step`, and how J^T r is found, a function
`gradient_length`: `proximal` makes the iteration of a method from both.

Departs from the papers in these ways:

- It stops where |J^T r|, the gradient of the least-squares problem, is small: not |r|, which stays
  where rows contradict each other, nor the change of accelerations. So it has an answer for all
  rows, and one stopping rule for all methods.
- It aims at half the tolerance. The r that iterations follow does not know of the rounding of
  accelerations; what is measured at the end does, and may be a little larger.
- Where J^T r takes a sweep over links, it is found only where |r| is within NEAR times the goal, or
  fell by less than SLOW: elsewhere it is not small either.
- Where rows contradict each other, r does not go to zero, and lambda grows by -W r each time
  without any effect: `take_back` takes that off again, so that the shortest lambda is left.
- In a batch, states that are done are frozen while others go on.
"""

from __future__ import annotations

from ...compile import any_true, function, presume, select, sqrt
from ..rows.request import OPTIONS

# Below this part of what it is the difference of, J^T r is rounding.
ROUNDING = 1e-15
# J^T r is looked at where r is below NEAR times the goal, or falls by less than SLOW.
NEAR, SLOW = 10.0, 0.1
# Rows contradict each other where r stays above this part of what it is the difference of, and
# above so many times the goal.
CONTRADICTION, FAR = 1e-9, 1e4


@function
def goal_of(options, start):
    """Where |J^T r| is small enough; `start` is the length of what it is the difference of."""
    return 0.5 * options[OPTIONS.tolerance] + ROUNDING * start


@function
def contradiction(residual, gradient, goal, start):
    """Where r stays though J^T r is zero: rows contradict each other."""
    left = select(gradient <= goal, residual, 0.0 * residual)
    return presume(left > CONTRADICTION * start + FAR * goal, False)


def proximal(step, gradient_length, *, is_cheap: bool, is_always_whole: bool):
    """The functions `iterate` and `take_back` of a method.

    `step(model, is_active, is_whole, tau, work)` puts the residual after one step into its place,
    of states that are active. A whole step starts from all that is missing in the
    equations of motion, another from the tension of springs alone. After the first iteration, which
    solvers do themselves, only the second is whole, or all are. `gradient_length(model, r, none,
    work)` is |J^T r|, and tells whether it is cheap enough to be found each time.
    """

    @function
    def iterate(model, size, limit, count, tau, goal, gradient, dual, multipliers, work):
        """Iterate until |J^T r| is at most the goal, `count` iterations being done.

        `size` is the number of rows, `dual` has what is known of them, `gradient` is |J^T r| as
        far as it is known. Returns how many iterations were done, how many of them each state
        took, and |J^T r|.
        """
        none = 0.0 * goal
        one, residual = 1.0 + none, none
        for t in range(size):
            residual = residual + dual.residual[t] * dual.residual[t]
        residual = sqrt(residual)
        own_count = count * one
        while count < limit and any_true(gradient > goal):
            is_active = presume(gradient > goal, True)
            own_count = own_count + select(is_active, one, none)
            step(model, is_active, is_always_whole or count == 1, tau, work)
            before = residual
            residual = tighten(size, is_active, none, dual, multipliers)
            count = count + 1
            if is_cheap or (
                count < limit
                and (any_true(residual < NEAR * goal) or any_true(residual > SLOW * before))
            ):
                gradient = gradient_length(model, dual.residual, none, work)
        return count, own_count, gradient

    @function
    def take_back(model, size, contradicts, own_count, tau, dual, multipliers, work):
        """Take off what multipliers have grown by without effect: the same in each iteration.

        Two more steps leave nothing else in r.
        """
        for _ in range(2):
            step(model, contradicts, False, tau, work)
        for t in range(size):
            y = own_count * (dual.weights[t] * dual.residual[t])
            multipliers[t] = multipliers[t] + select(contradicts, y, 0.0 * y)

    return iterate, take_back


@function
def tighten(size, is_active, square, dual, multipliers):
    """lambda <- lambda - W r; returns |r|. `square` is zero."""
    for t in range(size):
        r = dual.residual[t]
        y = dual.weights[t] * r
        multipliers[t] = multipliers[t] - select(is_active, y, 0.0 * y)
        square = square + r * r
    return sqrt(square)

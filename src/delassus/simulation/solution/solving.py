"""The solution of one step: velocities of bodies, reactions of cones and of joints.

Reactions of joints start from those of the last step times DRAIN: redundant loops load themselves
otherwise. See `form` for the equations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...compile import function, layout, part, routine, slots
from ...contact.laws.relative import LIGHT, put_sizes
from ...contact.laws.request import LIMIT, OPTION
from ...contact.operators import Operator
from ...contact.operators import bodies as operator
from ...contact.operators.recovery import RECOVERY, Limits
from ...contact.solvers.admm import ADMM, admm
from ...contact.solvers.auto import copy
from ...contact.solvers.conditions import INTERIOR
from ...contact.solvers.interior import ATTEMPTS, interior_method
from ...contact.solvers.newton import NEWTON, newton_method
from ..structure.world import bodies_of
from .blocks import BLOCKS
from .cones import CONE_ROWS, ELEMENTS, cones_of, count_rows, natural_map_now, put_floors
from .form import Form, Held
from .joints import JOINTS
from .rows import ROWS

DRAIN = 0.9
# Newton's method takes one step more where the relative natural map is not below the tolerance by
# this factor: what is left of velocities moves bodies that should rest.
POLISH = 1e-2
# What solvers are asked for; the iterations of a step after which cone rows are not solved again;
# and whether sweeps are those of PROX.
SOLVING = slots(LIMIT, enough=1, is_prox=1)
# Rounds in which joints are solved for as well as they can be, and of all.
EXACT_ROUNDS, MOST_ROUNDS = 3, 5
MOST_PASSES = 12  # solutions for joints in a round
SOLUTION = layout(
    CONE_ROWS,
    op=layout(operator.OPERATOR, RECOVERY, ELEMENTS, BLOCKS, ROWS, JOINTS),
    dual=ADMM,
    newton=NEWTON,
    interior=INTERIOR,
    kept="cone_rows",
    stiffness="joint_rows",
    drift="joint_rows",
    forces=("n_bodies", 6),
    moved=("n_bodies", 6),
    held="joint_rows",
    history=1,
    steady=2,  # see `cones.put_floors`
)


class Interior(NamedTuple):
    """The memory of the interior-point method, as that names it."""

    newton: Any
    interior: Any
    dense: Any


def newton_and_admm(op: Operator) -> Callable:
    """The function for the reactions of cone rows by Newton's method, ADMM and interior points.

    Each of them is a solver of its own where `limits` leave nothing for the other.
    """
    run_admm, run_newton, run_interior = admm(op), newton_method(op), interior_method(op)

    @function
    def solve_cones(model, counts, limits, options, work):
        """Reactions of cone rows: Newton's method; ADMM and interior points where that fails.

        These take turns, each with Newton's method after it, and the best reactions are kept.
        """
        cones, n = work.cones, count_rows(counts)
        tolerance, memory = options[OPTION.tolerance], Interior(work.newton, work.interior, work.op)
        least, total, turn, share = 1e300, 0.0, 0, limits[LIMIT.first_share]
        while turn == 0 or (least > tolerance and total < limits[LIMIT.iterations] and share > 0):
            attempt = turn // 2 - 1 if turn % 2 == 0 and limits[LIMIT.interior] > 0 else ATTEMPTS
            if 0 <= attempt < ATTEMPTS:
                total = total + run_interior(
                    model, counts, attempt, cones, options, cones.reactions, memory
                )
            elif turn > 0:
                total = total + run_admm(
                    model, counts, limits, share, cones, options, cones.reactions, 0, work.history,
                    work.dual, work.op,
                )  # fmt: skip
                share = 2 * share
            found, steps = run_newton(
                model, counts, limits[LIMIT.newton_steps], POLISH, False, cones, options,
                cones.reactions, 0, work.history, work.newton, work.op,
            )  # fmt: skip
            total, turn = total + steps, turn + 1
            if found < least or turn == 1:
                least = found
                copy(n, cones.reactions, work.kept)
            else:
                copy(n, work.kept, cones.reactions)
        return least, total

    return solve_cones


def solving(form: Form, solve_cones: Callable) -> Callable:
    """The function that solves a step, with the problem in a form and cone rows by a solver.

    `solve_cones` is a function of (model, counts, limits, options, work) that returns the relative
    natural map and the number of iterations.
    """
    _, _, load, begin, free_velocities, push, settle, hold, _ = form

    @function
    def put_rest(model, counts, held, options, size, joint_tolerance, g, u, work):
        """u+ by the reactions that cone rows begin with. Returns natural maps, joint residual.

        Velocities without these reactions are not known: the relative natural map is that for the
        speed of closing of the last step, and for contacts that only carry, which asks for more.
        """
        cones = work.cones
        cones.size[0] = size
        for t in range(count_rows(counts)):
            cones.least[t] = LIGHT * size
        put_floors(counts, work)
        for t in range(6 * (len(model.bodies) - 1)):
            u[t] = g[t]
        front = part(u, operator.first_cone_velocity(bodies_of(model)))
        operator.push_front(cones_of(work.op), work.cones.reactions, front)
        load(model, held, u, work)
        residual = settle(model, held, Limits(joint_tolerance, MOST_PASSES), work.moved, u, work)
        return natural_map_now(model, counts, options, u, work), residual

    @routine
    def solve_step(model, counts, limits, options, joint_tolerance, calm, g, u, work):
        """u+ of all bodies by position. Returns natural maps, joint residual, iterations.

        Natural maps are the one as given, and the relative one. Where the last step was solved by
        the reactions that it began with, this one may be, too: to look at that takes less than to
        set up the problem of cone rows. `calm` is the largest speed of closing then, else 0.

        Reactions of joints change the velocity of contacts a little, and contacts are solved again
        until both hold. Near a dead point of a loop that takes too long: small velocities across
        joints need large ones of bodies. Then contacts have the last word, and joints give way by
        the damping of their rows.
        """
        count, held = count_rows(counts), Held(work.drift, work.held)
        natural, residual, iterations = (0.0, 0.0), 0.0, 0.0
        if calm > 0.0 and count > 0:
            natural, residual = put_rest(
                model, counts, held, options, calm, joint_tolerance, g, u, work
            )  # fmt: skip
            if natural[1] <= POLISH * options[OPTION.tolerance]:
                hold(model, count, g, u, work)
                return natural, residual, iterations
        for turn in range(MOST_ROUNDS):
            load(model, held, g, work)
            if count > 0:
                if turn == 0:
                    begin(model, counts, work)
                free_velocities(model, count, work)
                put_sizes(counts, options[OPTION.is_ncp], work.cones)
                put_floors(counts, work)
                _, more = solve_cones(model, counts, limits, options, work)
                iterations = iterations + more
                push(model, count, work.moved, work)
            passes = MOST_PASSES if turn < EXACT_ROUNDS else 1
            limit = Limits(joint_tolerance, passes)
            residual = settle(model, held, limit, work.moved, u, work)
            if count > 0:
                natural = natural_map_now(model, counts, options, u, work)
            if natural[1] <= options[OPTION.tolerance] or iterations >= limits[SOLVING.enough]:
                break
        hold(model, count, g, u, work)
        return natural, residual, iterations

    return solve_step

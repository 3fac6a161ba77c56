"""The solution of one step: velocities of bodies, reactions of cones and of joints.

Reactions of joints start from those of the last step times DRAIN: redundant loops load themselves
otherwise.

    A u+ = g + J^T lambda_j + C^T lambda_c        J u+ + c = 0        v = C u+ + bias

| symbol | here | what |
| --- | --- | --- |
| A | work.op.A | inertia, springs, joints with damping S_j: see `contact.operators.bodies` |
| S_j^-1 | work.stiffness | of joint rows, 1 / (EPS mobility) |
| lambda_c, b | work.cones.reactions, b | scaled reactions, velocity without them |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...compile import function, layout, routine, slots
from ...contact.laws.request import LIMIT, OPTION
from ...contact.operators import Operator
from ...contact.operators import bodies as operator
from ...contact.operators.elements import add_joint, weigh_rows
from ...contact.operators.recovery import RECOVERY, JointRows, Limits, expand, put_forces, recover
from ...contact.solvers.admm import ADMM, admm
from ...contact.solvers.auto import copy
from ...contact.solvers.conditions import INTERIOR
from ...contact.solvers.interior import ATTEMPTS, interior_method
from ...contact.solvers.newton import NEWTON, newton_method
from ...maximal.assembly import joint_rows
from ...maximal.rows.blocks import ROW
from ..structure.world import bodies_of
from . import bodies, rows
from .cones import CONE_ROWS, ELEMENTS, count_rows, natural_map_now

EPS = 1e-6  # damping of joint rows, of their mobility on free bodies
DRAIN = 0.9
# Newton's method goes on below the tolerance by this factor: a last step costs little, and what is
# left of velocities moves bodies that should rest.
POLISH = 1e-2
# What solvers are asked for; the iterations of a step after which cone rows are not solved again;
# and whether sweeps are those of PROX.
SOLVING = slots(LIMIT, enough=1, is_prox=1)
# Rounds in which joints are solved for as well as they can be, and of all.
EXACT_ROUNDS, MOST_ROUNDS = 3, 5
MOST_PASSES = 12  # solutions for joints in a round
SOLUTION = layout(
    CONE_ROWS,
    op=layout(operator.OPERATOR, RECOVERY, ELEMENTS, bodies.BODIES, rows.ROWS),
    dual=ADMM,
    newton=NEWTON,
    interior=INTERIOR,
    kept="cone_rows",
    stiffness="joint_rows",
    drift="joint_rows",
    forces=("n_bodies", 6),
    moved=("n_bodies", 6),
    held="joint_rows",
    fine=OPTION.size,
    history=1,
)


class Interior(NamedTuple):
    """The memory of the interior-point method, as that names it."""

    newton: Any
    interior: Any
    dense: Any


class Form(NamedTuple):
    """How cone rows are solved for: by bodies or by rows, and by which solvers."""

    begin: Callable  # (model, counts, work): once a step
    free_velocities: Callable  # (model, count, work)
    push: Callable  # (model, count, u, work): u + C^T lambda_c
    solve_cones: Callable  # (model, counts, limits, options, work): natural map and iterations


@function
def usual_mobility(model, rows):
    """The mean mobility of joint rows, for those between two bodies without mass."""
    total, count = 0.0, 0
    for t in range(joint_rows(model)):
        mobility = rows[t * ROW.size + ROW.mobility]
        if mobility > 0.0:
            total, count = total + mobility, count + 1
    return total / count if count > 0 else 1.0


@routine
def prepare_operator(model, inertia, free_blocks, weights, rows, work):
    """A = M + springs + J^T S_j^-1 J, without inside bodies."""
    view, op = bodies_of(model), work.op
    usual = usual_mobility(model, rows)
    for t in range(joint_rows(model)):
        mobility = rows[t * ROW.size + ROW.mobility]
        mobility = mobility if mobility > 0.0 else usual
        softness = EPS * mobility + rows[t * ROW.size + ROW.compliance]
        work.stiffness[t] = 1.0 / softness if softness > 0.0 else 0.0
        at = t * ROW.size
        work.drift[t] = rows[at + ROW.bias] + rows[at + ROW.regulation]
    operator.put_inertias(view, inertia, op)
    operator.add_joints(view, op.blocks, work.stiffness, op)
    for k in range(len(model.springs)):
        spring = model.springs[k]
        total = 0.0
        for t in range(spring.row, spring.row + spring.height):
            total = total + weights[t]
        if total > 0.0:
            weigh_rows(spring, free_blocks, weights, op.panel)
            add_joint(view, spring, free_blocks, op.panel, op.A)
    operator.prepare(view, op)


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
        for t in range(OPTION.size):
            work.fine[t] = options[t]
        work.fine[OPTION.tolerance] = POLISH * tolerance
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
                model, counts, limits[LIMIT.newton_steps], False, cones, work.fine, cones.reactions,
                0, work.history, work.newton, work.op,
            )  # fmt: skip
            total, turn = total + steps, turn + 1
            if found < least or turn == 1:
                least = found
                copy(n, cones.reactions, work.kept)
            else:
                copy(n, work.kept, cones.reactions)
        return least, total

    return solve_cones


def solving(form: Form) -> Callable:
    """The function that solves a step, with cone rows in a form."""
    begin, free_velocities, push, solve_cones = form

    @routine
    def solve_step(model, counts, limits, options, joint_tolerance, g, u, work):
        """u+ of all bodies by position. Returns natural map, joint residual, iterations.

        Reactions of joints change the velocity of contacts a little, and contacts are solved again
        until both hold. Near a dead point of a loop that takes too long: small velocities across
        joints need large ones of bodies. Then contacts have the last word, and joints give way by
        the damping of their rows.
        """
        view, op, count = bodies_of(model), work.op, count_rows(counts)
        joints = JointRows(op.blocks, work.stiffness, work.drift, work.held)
        natural, residual, iterations = 0.0, 0.0, 0.0
        if count > 0:
            begin(model, counts, work)
        for turn in range(MOST_ROUNDS):
            put_forces(view, joints, g, work.moved, op)
            operator.reduce_forces(view, work.moved, op)
            if count > 0:
                free_velocities(model, count, work)
                _, more = solve_cones(model, counts, limits, options, work)
                iterations = iterations + more
            passes = MOST_PASSES if turn < EXACT_ROUNDS else 1
            for t in range(6 * (len(model.bodies) - 1)):
                u[t] = work.moved[t]
            push(model, count, u, work)
            expand(view, u, op)
            residual, _ = recover(view, joints, Limits(joint_tolerance, passes), u, op)
            if count == 0:
                return natural, residual, iterations
            natural = natural_map_now(model, counts, options, u, work)
            if natural <= options[OPTION.tolerance] or iterations >= limits[SOLVING.enough]:
                return natural, residual, iterations
        return natural, residual, iterations

    return solve_step


BY_BODIES = Form(
    bodies.begin, bodies.free_velocities, bodies.push, newton_and_admm(bodies.BODIES_OPERATOR)
)
BY_ROWS = Form(rows.begin, rows.free_velocities, rows.push, newton_and_admm(rows.ROWS_OPERATOR))

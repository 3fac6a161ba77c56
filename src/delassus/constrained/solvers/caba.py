"""Constrained dynamics by the constrained articulated-body algorithm. O(n + m).

Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Algorithms 1 to 3:
an augmented Lagrangian whose penalty on the rows is a spring of stiffness 1 / mu along each. The
articulated-body algorithm takes the springs as inertia of the links that they pull at. Further
iterations only tell the forces by which the springs' tensions have changed, over links that support
constraints; all other links move once, at the end.

| paper | here | what |
| --- | --- | --- |
| S, S_r | model.links | all links, outwards and inwards |
| S_E, S_Er | model.supports, model.steps | those that support constraints |
| S_i | DOF.angular, DOF.linear | motion subspace of a joint |
| H_i, H_i^A | LINK.own_inertia, INERTIA | inertia of a link, and articulated |
| f_i, f_i^A | work.forces, of the opposite sign | own forces of links, then loads |
| D_i, P_i | DOF.D_inverse, DOF.G | P = 1 - G S^T |
| a_{b,i} | none: see below | bias acceleration |
| a_i | TOTAL (see `recursion.sweeps`) | acceleration of a link |
| nu-dot_i | work.joints, a | acceleration of a joint |
| K_i | `wrench` of an end (see `recursion.springs`) | wrenches of rows |
| k_i | -dual.target | a* - gamma |
| mu | dual.weights | stiffness of the springs, 1 / mu elsewhere in this library |
| lambda_i | dual.multipliers, of the opposite sign | |
| mu k_i - lambda_i | dual.tension, of the opposite sign | what springs pull by |

Departs from the paper in these ways:

- Vectors are in world axes. The motion with zero joint acceleration, gravity included, is first
  turned into forces, so that no a_b is needed (see `dynamics.aba`).
- A constraint may be between two links that move, or couple joints: then the springs couple links,
  and joints are eliminated in an order that keeps this local (see `recursion.order`, `couplings`).
- An iteration carries only changes of forces and accelerations, which add up.
- Stiff springs round off the inertia that moves along with them. So the second iteration starts
  from what is missing in the equations of motion, not from the springs alone: the same where
  nothing is rounded, and all digits where something is. It takes the inertia that each link had
  before any spring, with all that it carries and no constraint pulls at.
- A free body that carries a tree is solved with as a whole (see `recursion.free_root`).
- It stops by another rule (see `proximal`).
"""

from __future__ import annotations

from ...compile import any_true, function, kernel, layout, presume, routine, select
from ...dynamics.aba import DOF, LINK
from ...dynamics.steps.articulated import articulate
from ..recursion.couplings import BLOCKS, PULLS, articulate_coupled
from ..recursion.free_root import factorize_root
from ..recursion.links import RECURSION, eliminate_others, move_links, put_constraints
from ..recursion.missing import (
    BIASES,
    CARRIED,
    keep_biases,
    keep_carried,
    motion_error,
    pull_error,
    put_needed_forces,
)
from ..recursion.plan import ArticulatedArrays
from ..recursion.springs import stiffen
from ..recursion.sweeps import (
    CHANGE,
    TOTAL,
    add_motions,
    clear_world,
    move,
    pass_forces,
    push_free_bodies,
    put_accelerations,
    put_pulls,
    put_residuals,
    start_sizes,
)
from ..rows.request import (
    DUAL,
    INFO,
    INPUTS,
    LIMITS,
    OPTIONS,
    OUTPUTS,
    ROUNDING,
    measure_rows,
)
from ..rows.wrenches import count_rows
from .prox_ltl import tell_rows
from .proximal import (
    ATTEMPTS,
    goal_of,
    is_uneven,
    level_weights,
    proximal,
    tell_other_part,
    tighten,
)


@kernel(
    ArticulatedArrays,
    shared=LIMITS,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=layout(RECURSION, PULLS, BLOCKS, CARRIED, BIASES, dual=DUAL, joints="nv"),
    label="constrained_dynamics by caba",
)
def caba(model, limits, q, v, tau, requests, options, external_forces, a, multipliers, info, work):
    """M a + b = tau + J^T multipliers, J a + gamma = a* (Algorithm 3)"""
    m, dual, none = count_rows(model), work.dual, 0.0 * options[OPTIONS.tolerance]
    everywhere = none <= none
    count, growth, stays = none, none, none
    for attempt in range(ATTEMPTS):
        if attempt == 0 or is_uneven(stays, options):
            # Algorithm 3, lines 1 and 2: the three sweeps of Algorithm 1.
            move_links(model, q, v, external_forces, work)  # lines 1 to 4
            put_constraints(model, q, v, requests, options, work)  # K_i, k_i, mu, lambda
            if is_uneven(stays, options):
                level_weights(m, stays, options, dual)
            for t in range(m):
                dual.tension[t] = dual.weights[t] * dual.target[t] - dual.multipliers[t]
                dual.residual[t] = dual.target[t]
            eliminate(model, tau, work)  # lines 5 to 9
            move(model, everywhere, True, work)  # lines 10 to 12
            add_motions(model, TOTAL.alpha, dual.residual, work)
            tighten(m, everywhere, dual, dual.multipliers)
            # Algorithm 3, lines 3 to 8: Algorithm 2 until r is small.
            start_sizes(model, TOTAL.alpha, work)
            measure_rows(m, ROUNDING, dual.multipliers, options, dual)
            count, growth, stays = iterate(
                model, m, limits[0], 1, 1.0 + none, goal_of(options), options, tau, dual,
                dual.multipliers, work,
            )  # fmt: skip
    info[INFO.motion], info[INFO.iterations], growth = polish(
        model, m, limits[0], count, growth, options, tau, dual, dual.multipliers, work
    )
    # The residual of the iterations does not know of the rounding of accelerations.
    put_residuals(model, TOTAL.alpha, dual.residual, work)
    tell_rows(m, dual.multipliers, options, info, dual)
    if any_true(presume(stays > 0.0, False)):
        take_back(model, m, stays, growth, tau, options, dual, dual.multipliers, work)
        info[INFO.motion] = error(model, tau, none, work)
        imbalance = pull_error(model, tau, work.joints, none, work)
        tell_other_part(m, stays, imbalance, options, info, dual)
    # Algorithm 3, lines 9 to 11.
    put_accelerations(model, a, work)
    for t in range(m):
        multipliers[t] = dual.multipliers[t]


@routine
def eliminate(model, tau, work):
    """Algorithm 1, lines 5 to 9: eliminate all joints, first those that support no constraint."""
    eliminate_others(model, tau, work)
    keep_carried(model, work)
    keep_biases(model, work)
    push_free_bodies(model, tau, work)
    for t in range(len(model.ends)):
        stiffen(model, model.ends[t], work.dual.weights, work)
    clear_world(model, work)
    put_pulls(model, work.dual.tension, True, work)
    passed = 0
    for t in range(len(model.stretches)):
        stretch = model.stretches[t]
        for i in range(stretch.last, stretch.first - 1, -1):
            turn = model.supports[stretch.turn + (stretch.last - i)]
            if turn.is_free:
                dof = model.links[i].v * DOF.size
                factorize_root(i * LINK.size, work.links, dof, work.dofs)
            elif turn.neighbours == 0:
                articulate(model, i, model.is_first[i], work.links, LINK.size, work.dofs, DOF.size)
            else:
                articulate_coupled(model, turn, model.is_first[i], work.dual.weights, work)
        pass_forces(model, passed, stretch.steps, tau, True, False, work)
        passed = stretch.steps


@routine
def reduced_sweeps(model, is_active, is_whole, tau, work):
    """Algorithm 2: move links further, by the tensions of springs or by all that acts."""
    dual = work.dual
    if is_whole:
        put_needed_forces(model, TOTAL.alpha, work)
        push_free_bodies(model, tau, work)
    for t in range(count_rows(model)):
        dual.tension[t] = dual.weights[t] * dual.residual[t]
        if is_whole:
            dual.tension[t] = dual.tension[t] - dual.multipliers[t]
    put_pulls(model, dual.tension, is_whole, work)  # line 2
    pass_forces(model, 0, len(model.steps), tau, is_whole, True, work)  # line 3
    move(model, is_active, False, work)  # lines 4 to 6
    # The residual from its change: so it is known to digits that accelerations have not.
    add_motions(model, CHANGE.alpha, dual.residual, work)


@function
def renew(model, is_active, work):
    """The residual of the accelerations found, of states that are active."""
    dual = work.dual
    put_residuals(model, TOTAL.alpha, dual.tension, work)
    for t in range(count_rows(model)):
        dual.residual[t] = select(is_active, dual.tension[t], dual.residual[t])


@function
def error(model, tau, none, work):
    """How far the equations of motion are from holding."""
    return motion_error(model, TOTAL.alpha, tau, work.joints, none, work)


iterate, polish, take_back = proximal(reduced_sweeps, renew, error)

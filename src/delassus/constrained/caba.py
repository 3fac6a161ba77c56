"""Constrained dynamics by the constrained articulated-body algorithm. O(n + m).

Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Algorithms 1 to 3:
an augmented Lagrangian whose penalty on the rows is a spring of stiffness 1 / damping along each.
The articulated-body algorithm takes the springs as inertia of the links that they pull at. Further
iterations only tell the forces by which the springs' tensions have changed, over links that support
constraints; all other links move once, at the end.

Departs from the paper in these ways:

- A constraint may be between two links that move, or couple joints: then the springs couple links,
  and joints are eliminated in an order that keeps this local (see `elimination` and `pulls`).
- An iteration carries only changes of forces and accelerations, which add up.
- Stiff springs round off the inertia that moves along with them. So the second iteration starts
  from what is missing in the equations of motion, not from the springs alone: the same where
  nothing is rounded, and all digits where something is. It takes the inertia that each link had
  before any spring, with all that it carries and no constraint pulls at.
"""

from __future__ import annotations

from ..compile import function, kernel, part
from ..dynamics.aba import DOF, LINK
from ..dynamics.articulated import articulate
from .articulated_rows import eliminate_others, links_end, links_work, move_links, put_constraints
from .caba_iterations import (
    carried_end,
    carried_work,
    clear_world,
    iterate,
    keep_carried,
    pass_forces,
    push_free_bodies,
    put_accelerations,
    put_pulls,
)
from .elimination import ArticulatedArrays
from .free_root import factorize_root
from .pulls import BLOCK, PULL, articulate_coupled, stiffen
from .rows import count_rows, rows_end, rows_work
from .solver import INPUTS, LIMITS, OUTPUTS, WHOLE


def elimination_work(n: dict[str, int]) -> int:
    """Memory of links, rows, and all that springs need."""
    ties = n["pulls"] * PULL.size + n["cross_blocks"] * BLOCK
    return links_work(n) + n["nv"] + rows_work(n) + 5 * n["m"] + carried_work(n) + ties


@kernel(
    ArticulatedArrays,
    shared=LIMITS,
    inputs=INPUTS,
    outputs=OUTPUTS,
    work=elimination_work,
    label="constrained_dynamics by caba",
)
def caba(model, limits, q, v, tau, rows, whole, external_forces, a, multipliers, info, work):
    """M a + b = tau + J^T multipliers, J a + gamma = a*"""
    m, dofs = count_rows(model), links_end(model)
    joints = part(work, dofs + len(model.armature) * DOF.size)
    records = part(joints, len(model.armature))
    target = part(records, rows_end(model))
    r, x = part(target, m), part(target, 2 * m)
    weights, forces = part(target, 3 * m), part(target, 4 * m)
    carried = part(target, 5 * m)
    pulls = part(carried, carried_end(model))
    blocks = part(pulls, model.counts[1] * PULL.size)
    move_links(model, q, v, external_forces, work, dofs)
    put_constraints(model, q, v, rows, whole, target, weights, forces, records, work, dofs)
    square = 0.0 * whole[WHOLE.tolerance]
    for t in range(m):
        x[t] = weights[t] * target[t] - forces[t]
        r[t] = target[t]
        square = square + target[t] * target[t]
    eliminate(model, tau, weights, x, carried, pulls, blocks, joints, records, work, dofs)
    iterate(
        model, limits[0], tau, whole, square, target, weights, r, x, forces, carried, pulls, joints,
        records, info, work, dofs,
    )  # fmt: skip
    for t in range(m):
        multipliers[t] = forces[t]
    put_accelerations(model, joints, a, work, dofs)


@function
def eliminate(model, tau, weights, tension, carried, pulls, blocks, joints, records, work, dofs):
    """Eliminate all joints: first those that no constraint pulls at."""
    eliminate_others(model, tau, work, dofs)
    push_free_bodies(model, tau, work, dofs)
    keep_carried(model, work, carried)
    for t in range(len(model.ends)):
        stiffen(model, model.ends[t], weights, records, work, dofs)
    clear_world(model, work)
    put_pulls(model, tension, True, records, work, dofs)
    passed = 0
    for t in range(len(model.stretches)):
        stretch = model.stretches[t]
        for i in range(stretch.last, stretch.first - 1, -1):
            turn = model.supports[stretch.turn + (stretch.last - i)]
            if turn.is_free:
                factorize_root(i * LINK.size, work, dofs + model.links[i].v * DOF.size)
            elif turn.neighbours == 0:
                articulate(model, i, model.is_first[i], work, LINK.size, dofs, DOF.size)
            else:
                articulate_coupled(
                    model, turn, model.is_first[i], weights, pulls, blocks, records, work, dofs
                )
        pass_forces(model, passed, stretch.steps, tau, True, False, pulls, joints, work, dofs)
        passed = stretch.steps

"""The problem of one step over bodies: operator, cone rows, reactions of cones and of joints.

Cone rows are limits, then dry friction, then contacts. They are scaled by P = mobility^-1/2, one
number for each contact: see `contact.operators.dense`. Reactions of joints start from those of the
last step times DRAIN: redundant loops load themselves otherwise.

    A u+ = g + J^T lambda_j + C^T lambda_c        J u+ + c = 0        v = C u+ + bias

| symbol | here | what |
| --- | --- | --- |
| A | work.op.A | inertia, springs, joints with damping S_j: see `contact.operators.bodies` |
| S_j^-1 | work.stiffness | of joint rows, 1 / (EPS mobility) |
| C | work.op.blocks | Jacobians of cone rows, with P |
| lambda_c, b | work.cones.reactions, b | scaled reactions, velocity without them |
"""

from __future__ import annotations

from ..compile import function, layout, routine, sqrt
from ..contact.kernels import CONES
from ..contact.laws.cones import natural_map
from ..contact.laws.request import LIMIT, OPTION
from ..contact.operators import Operator
from ..contact.operators import bodies as operator
from ..contact.operators.elements import CONE, Cones, add_joint, cone_at, weigh_rows
from ..contact.operators.recovery import RECOVERY, JointRows, Limits, put_forces, recover
from ..contact.solvers.admm import ADMM, admm
from ..contact.solvers.newton import NEWTON, newton_method
from ..maximal.assembly import joint_blocks, joint_rows
from ..maximal.rows.blocks import PAIR, ROW
from ..maximal.rows.contacts import CONTACT, CONTACT_BLOCKS
from ..maximal.rows.limits import ACTIVE
from ..maximal.structure.packed import SIDE
from .structure import bodies_of

EPS = 1e-6  # damping of joint rows, of their mobility on free bodies
DRAIN = 0.9
OPERATOR_MEMORY = layout(
    operator.OPERATOR,
    operator.NEWTON,
    RECOVERY,
    elements="cone_table",
    blocks="n_blocks",
    penalties="cone_rows",
    tally=1,
)
SOLUTION = layout(
    op=OPERATOR_MEMORY,
    cones=CONES,
    dual=ADMM,
    newton=NEWTON,
    stiffness="joint_rows",
    drift="joint_rows",
    forces=("n_bodies", 6),
    moved=("n_bodies", 6),
    bias="cone_rows",
    held="joint_rows",
    history=1,
)


# --- the operator as solvers want it --------------------------------------------------------------


@function
def cones_of(memory):
    """The elements of cone rows."""
    return Cones(int(memory.tally[0]), memory.elements, memory.blocks)


@function
def factor(model, count, penalty, memory):
    """Prepare solutions with D_c + penalty."""
    for t in range(count):
        memory.penalties[t] = 1.0 / penalty
    operator.factor(bodies_of(model), cones_of(memory), memory.penalties, memory)


@function
def solve(model, count, x, memory):
    """x <- (D_c + penalty)^-1 x"""
    operator.solve(bodies_of(model), cones_of(memory), memory.penalties, x, x, memory)


@function
def multiply(model, count, x, y, memory):
    """y = D_c x"""
    operator.multiply(bodies_of(model), cones_of(memory), x, y, memory)


@function
def solve_blocks(model, counts, damping, newton, memory):
    """(E + damping + H D_c) d = -F"""
    for t in range(counts[1] + counts[2] + 3 * counts[3]):
        newton.d[t] = -newton.F[t]
    operator.solve_blocks(
        bodies_of(model), cones_of(memory), newton.E, newton.H, newton.d, damping, newton.d, memory
    )


BODIES_OPERATOR = Operator(factor, solve, multiply, solve_blocks)
run_admm = admm(BODIES_OPERATOR)
run_newton = newton_method(BODIES_OPERATOR)


# --- assembly -------------------------------------------------------------------------------------


@routine
def prepare_operator(model, inertia, free_blocks, weights, rows, work):
    """A = M + springs + J^T S_j^-1 J, without inside bodies."""
    view, op = bodies_of(model), work.op
    for t in range(joint_rows(model)):
        mobility = rows[t * ROW.size + ROW.mobility]
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


@function
def put_element(model, k, row, height, start, ends, work):
    """Element k of cone rows: rows from `row` on, blocks of its two bodies from `start` on."""
    at, n, count = k * CONE.size, work.op.elements, 0
    n[at + CONE.row], n[at + CONE.height] = 1.0 * row, 1.0 * height
    n[at + CONE.jacobian] = 1.0 * (start if ends[0] > 0 else start + SIDE * height)
    inside = len(model.columns)
    for e in range(2):
        if ends[e] > 0:
            place = model.places[ends[e] - 1].position - inside
            n[at + CONE.places + count] = 6.0 * place
            count += 1
    n[at + CONE.count] = 1.0 * count


@function
def scale_rows(n_held, row, height, start, rows, work):
    """P of an element's rows, in their blocks and in what is known of them."""
    first = (n_held + row) * ROW.size
    mobility = 0.0
    for t in range(height):
        mobility = mobility + rows[first + t * ROW.size + ROW.mobility]
    mobility = mobility / height
    scale = 1.0 / sqrt(mobility) if mobility > 0.0 else 1.0
    for t in range(2 * SIDE * height):
        work.op.blocks[start + t] = scale * work.op.blocks[start + t]
    for t in range(height):
        work.cones.scale[row + t] = scale
        at = first + t * ROW.size
        bias = rows[at + ROW.bias] + rows[at + ROW.regulation]
        work.bias[row + t] = scale * bias


@routine
def put_cones(model, counts, active, contacts, rows, dt, state, work):
    """Elements, coefficients and first reactions of all cone rows."""
    _, n_limits, n_bounded, n_contacts = counts
    cones = work.cones
    start, k, n_held = joint_blocks(model), 0, joint_rows(model)
    for i in range(n_limits):
        limit = int(active[i * ACTIVE.size + ACTIVE.limit])
        joint = model.joints[model.limits[limit].joint]
        at = start + PAIR * i
        put_element(model, k, k, 1, at, (joint.base_body, joint.follower), work)
        scale_rows(n_held, k, 1, at, rows, work)
        cones.own_coefficients[k] = 0.0
        cones.reactions[k] = state.limits[limit] / cones.scale[k]
        k += 1
    start += PAIR * len(model.limits)
    for i in range(n_bounded):
        dof = model.bounded[i]
        joint = model.joints[model.dofs[dof].joint]
        at = start + PAIR * i
        put_element(model, k, k, 1, at, (joint.base_body, joint.follower), work)
        scale_rows(n_held, k, 1, at, rows, work)
        cones.own_coefficients[k] = dt * model.friction[dof]
        cones.reactions[k] = state.bounded[i] / cones.scale[k]
        k += 1
    start += PAIR * len(model.bounded)
    for c in range(n_contacts):
        at, record, row = start + CONTACT_BLOCKS * c, c * CONTACT.size, k + 3 * c
        ends = int(contacts[record + CONTACT.a]), int(contacts[record + CONTACT.b])
        put_element(model, k + c, row, 3, at, ends, work)
        scale_rows(n_held, row, 3, at, rows, work)
        cones.own_coefficients[row] = 0.0
        cones.own_coefficients[row + 1] = 0.0
        cones.own_coefficients[row + 2] = contacts[record + CONTACT.friction]
        for t in range(3):
            cones.reactions[row + t] = state.reactions[3 * c + t] / cones.scale[row + t]
    work.op.tally[0] = 1.0 * (k + n_contacts)
    for t in range(k + 3 * n_contacts):
        x = cones.own_coefficients[t]
        cones.coefficients[t] = x / cones.scale[t] if t < k else x


# --- solution -------------------------------------------------------------------------------------


@function
def solve_cones(model, counts, limits, options, work):
    """Reactions of cone rows: Newton's method, ADMM where it fails, and Newton's again."""
    cones, tolerance = work.cones, options[OPTION.tolerance]
    found, total, turn, share = 0.0, 0.0, 0, limits[LIMIT.first_share]
    # Each method is called in one place, as each place is compiled anew.
    while turn == 0 or (found > tolerance and total < limits[LIMIT.iterations]):
        if turn > 0:
            total = total + run_admm(
                model, counts, limits, share, cones, options, cones.reactions, 0, work.history,
                work.dual, work.op,
            )  # fmt: skip
            share = 2 * share
        found, steps = run_newton(
            model, counts, limits[LIMIT.newton_steps], False, cones, options, cones.reactions, 0,
            work.history, work.newton, work.op,
        )  # fmt: skip
        total, turn = total + steps, turn + 1
    return found, total


@function
def cone_velocities(model, count, g, work):
    """b: scaled velocities of cone rows without their reactions; g is by position."""
    view, op, cones = bodies_of(model), work.op, work.cones
    joints = JointRows(op.blocks, work.stiffness, work.drift, work.held)
    put_forces(view, joints, g, work.moved, op)
    front = operator.reduce_forces(view, work.moved, op)
    for t in range(count):
        op.penalties[t] = 0.0
    operator.velocities(view, cones_of(op), front, op.penalties, work.bias, op.u, cones.b, op)


@function
def natural_map_now(model, counts, options, u, work):
    """The natural map as given, at velocities of all bodies; they are by position."""
    cones, view = work.cones, cones_of(work.op)
    inside = 6 * len(model.columns)
    for k in range(view.count):
        element = cone_at(view, k)
        for r in range(element.height):
            t = element.row + r
            v = work.bias[t]
            for e in range(element.count):
                start = element.jacobian + SIDE * (element.height * e + r)
                place = inside + element.places[e]
                for m in range(SIDE):
                    v = v + work.op.blocks[start + m] * u[place + m]
            cones.own_velocity[t] = v / cones.scale[t]
            cones.own_reactions[t] = cones.scale[t] * cones.reactions[t]
    return natural_map(
        counts, cones.own_coefficients, options[OPTION.is_ncp], cones.own_reactions,
        cones.own_velocity,
    )  # fmt: skip


@routine
def solve_step(model, counts, limits, options, joint_tolerance, g, u, work):
    """u+ of all bodies by position. Returns natural map, joint residual, iterations.

    Reactions of joints change the velocity of contacts a little, and contacts are solved again
    until both hold.
    """
    view, op = bodies_of(model), work.op
    count = counts[1] + counts[2] + 3 * counts[3]
    joints = JointRows(op.blocks, work.stiffness, work.drift, work.held)
    natural, residual, iterations = 0.0, 0.0, 0.0
    for _ in range(3):
        if count > 0:
            cone_velocities(model, count, g, work)
            _, more = solve_cones(model, counts, limits, options, work)
            iterations = iterations + more
        residual, _ = recover(
            view, joints, cones_of(op), g, work.cones.reactions, Limits(joint_tolerance, 12), u, op
        )
        if count == 0:
            return natural, residual, iterations
        natural = natural_map_now(model, counts, options, u, work)
        if natural <= options[OPTION.tolerance]:
            return natural, residual, iterations
    return natural, residual, iterations

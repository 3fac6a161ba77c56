"""Bodies by the degrees of freedom of the tree: for robots, whose joints are few beside their rows.

Joints of the tree hold by themselves: u = S w + u_0, see `tree`. What is left has the form of the
problem of bodies, with groups of six degrees of freedom in their place, and loops and couplings as
its joints:

    (S^T M S + W) w = S^T (g - M u_0) + (J_l S)^T lambda_l + (C S)^T lambda_c
    J_l S w + (c_l + J_l u_0) = 0                         v = C S w + (bias + C u_0)

| symbol | here | what |
| --- | --- | --- |
| w | `x` | velocities of degrees of freedom; those of the last group are filled up with zeros |
| W | work.weights | of springs, dampers, servos and armature |
| J_l S, C S | grouped.J, grouped.C | rows of loops and couplings, and of cones |
| c_l + J_l u_0 | grouped.drift | velocities of loops with w = 0 |
| bias + C u_0 | grouped.bias | velocities of cone rows with w = 0 |
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...compile import clear, function, layout, part, routine
from ...contact.operators import bodies as operator
from ...contact.operators.blocks import dot6
from ...contact.operators.elements import CONE, MOST_BODIES, Cones, add_forces, cone_at, place_of
from ...contact.operators.recovery import JointRows, expand, put_forces, recover
from ...maximal.assembly import rows_before
from ...maximal.structure.packed import SIDE
from ...spatial.vectors import get3, get6, put6
from ..structure.world import groups_of
from .blocks import block_operator
from .cones import cones_of
from .form import Form, put_stiffness
from .tree import (
    TREE,
    about_point,
    add_mass_matrix,
    at_center,
    put_forces_without,
    put_motions,
    put_offsets,
    put_reactions_within,
    put_velocities,
)

MOST_HEIGHT = 6  # rows of an element
GROUPED = layout(
    J="loop_numbers",
    drift="loop_rows",
    elements="grouped_table",
    C="grouped_numbers",
    bias="grouped_rows",
    end=MOST_HEIGHT * SIDE,
    places=MOST_BODIES,
)
JOINTS = layout(tree=TREE, grouped=GROUPED)


class Target(NamedTuple):
    """Where rows over groups are put: numbers, their places, and how many of these are known."""

    J: Any
    at: int
    places: Any
    count: int
    first: int  # where the vector starts that places are of


@function
def grouped_cones_of(memory):
    """The elements of cone rows over degrees of freedom."""
    return Cones(int(memory.tally[0]), memory.grouped.elements, memory.grouped.C)


JOINTS_OPERATOR = block_operator(groups_of, grouped_cones_of)


@function
def first_loop(model):
    """The first joint that is not one of the tree: those of the tree hold by themselves."""
    return len(model.bodies) - 1


# --- rows of bodies as rows of degrees of freedom -------------------------------------------------


@function
def end_of(element, e):
    """The number of the body e of an element."""
    return place_of(element, e) // SIDE + 1


@function
def meeting(model, element):
    """The last body that carries both ends of an element, 0 where there is none or other ends.

    Its motion and that of all that carry it do not move the one end against the other. (Couplings
    of two bodies are another matter: their joints may move both.) Bodies come after those that
    carry them.
    """
    if element.count != 2:
        return 0
    a, b = end_of(element, 0), end_of(element, 1)
    while a != b:
        if a > b:
            a = model.joints[a - 1].base_body
        else:
            b = model.joints[b - 1].base_body
    return a


@function
def find_place(places, count, place):
    """The number that a place has among those of an element; `count` if it is not among them."""
    e = 0
    while e < count and int(places[e]) != place:
        e += 1
    return e


@function
def reduce_rows(model, element, stop, J, target, work):
    """The rows of an element of bodies, as those of an element of groups; how many these are.

    Groups are found on the way from the bodies of the element to the body `stop` that carries them,
    0 for the world. Before the call, the numbers of `target.count` groups are known and cleared.
    """
    tree, end, height, count = work.op.tree, work.op.grouped.end, element.height, target.count
    skipped = model.paths[stop - 1].end - model.paths[stop - 1].start if stop > 0 else 0
    for e in range(element.count):
        b = end_of(element, e)
        arm, path = get3(tree.arms, 3 * (b - 1)), model.paths[b - 1]
        for r in range(height):
            row = get6(J, element.jacobian + SIDE * (height * e + r))
            put6(end, SIDE * r, about_point(arm, row))
        for t in range(path.start, path.end - skipped):
            step = model.steps[t]
            motion, place = get6(tree.motions, step.motion), SIDE * (step.place // SIDE)
            n = find_place(target.places, count, place - target.first)
            at = target.at + SIDE * height * n
            if n == count:
                target.places[count] = place - target.first
                clear(part(target.J, at), SIDE * height)
                count += 1
            for r in range(height):
                to = at + SIDE * r + step.place - place
                target.J[to] = target.J[to] + dot6(motion, get6(end, SIDE * r))
    return count


@function
def velocity_at_rest(model, element, J, r, work):
    """J u_0 of row r of an element"""
    v = 0.0
    for e in range(element.count):
        b, tree = end_of(element, e), work.op.tree
        offset = get6(tree.offsets, SIDE * (b - 1))
        row = get6(J, element.jacobian + SIDE * (element.height * e + r))
        v = v + dot6(row, at_center(get3(tree.arms, 3 * (b - 1)), offset))
    return v


@routine
def reduce_cone(model, element, k, first, at, work):
    """Element k of cone rows over groups, whose rows start at `at`; where the next ones do."""
    grouped, record = work.op.grouped, k * CONE.size
    table, given = grouped.elements, work.op.blocks
    target = Target(grouped.C, at, part(table, record + CONE.places), 0, first)
    count = reduce_rows(model, element, meeting(model, element), given, target, work)
    table[record + CONE.row], table[record + CONE.height] = 1.0 * element.row, 1.0 * element.height
    table[record + CONE.count], table[record + CONE.jacobian] = 1.0 * count, 1.0 * at
    for r in range(element.height):
        v = velocity_at_rest(model, element, given, r, work)
        grouped.bias[element.row + r] = work.bias[element.row + r] + v
    return at + SIDE * element.height * count


@routine
def reduce_loop(model, i, work):
    """The rows of loop or coupling i over groups."""
    grouped, loop = work.op.grouped, model.loops[i]
    for e in range(loop.count):
        grouped.places[e] = 1.0 * loop.places[e]
    clear(part(grouped.J, loop.jacobian), SIDE * loop.height * loop.count)
    target = Target(grouped.J, loop.jacobian, grouped.places, loop.count, 0)
    element = model.held[first_loop(model) + i]
    is_joint = first_loop(model) + i < len(model.joints)
    stop = meeting(model, element) if is_joint else 0
    reduce_rows(model, element, stop, work.op.blocks, target, work)


# --- the form -------------------------------------------------------------------------------------


@routine
def prepare(model, work):
    """S, J_l S, and the factor of A = S^T M S + W + (J_l S)^T S_l^-1 J_l S"""
    view, op, grouped = groups_of(model), work.op, work.op.grouped
    put_stiffness(model, work)
    put_motions(model, work)
    clear(op.A, operator.matrix_size(view))
    add_mass_matrix(model, op.A, work)
    for k in range(len(model.dofs)):
        at = model.dof_diagonals[k]
        op.A[at] = op.A[at] + work.weights[k]
    for t in range(len(model.fillers)):
        op.A[model.fillers[t]] = 1.0
    for i in range(len(model.loops)):
        reduce_loop(model, i, work)
    stiffness = part(work.stiffness, rows_before(model, first_loop(model)))
    operator.add_joints(view, grouped.J, stiffness, op)
    operator.prepare(view, op)


@function
def loop_rows(model, held, work):
    """Rows of loops and couplings over degrees of freedom."""
    first, grouped = rows_before(model, first_loop(model)), work.op.grouped
    impulses, stiffness = part(held.impulses, first), part(work.stiffness, first)
    return JointRows(grouped.J, stiffness, grouped.drift, impulses)


@function
def load(model, held, g, work):
    """S^T (g - M u_0) + (J_l S)^T (lambda_l - S_l^-1 (c_l + J_l u_0))"""
    view, op, first = groups_of(model), work.op, first_loop(model)
    put_offsets(model, held.drift, work)
    for i in range(len(model.loops)):
        element, loop = model.held[first + i], model.loops[i]
        for r in range(loop.height):
            v = velocity_at_rest(model, element, op.blocks, r, work)
            op.grouped.drift[loop.row + r] = held.drift[element.row + r] + v
    clear(op.change, SIDE * len(view.places))
    put_forces_without(model, g, op.change, work)
    put_forces(view, loop_rows(model, held, work), op.change, work.moved, op)
    operator.reduce_forces(view, work.moved, op)


@function
def begin(model, counts, work):
    """C S and bias + C u_0"""
    given, at, first = cones_of(work.op), 0, operator.first_cone_velocity(groups_of(model))
    for k in range(given.count):
        at = reduce_cone(model, cone_at(given, k), k, first, at, work)


@function
def free_velocities(model, count, work):
    """b: scaled velocities of cone rows without their reactions, by work.moved."""
    view, op, cones = groups_of(model), work.op, grouped_cones_of(work.op)
    for t in range(count):
        op.penalties[t] = 0.0
    front = part(work.moved, operator.first_cone_velocity(view))
    operator.velocities(view, cones, front, op.penalties, op.grouped.bias, op.u, work.cones.b, op)


@function
def push(model, count, x, work):
    """x + (C S)^T lambda_c"""
    front = part(x, operator.first_cone_velocity(groups_of(model)))
    operator.push_front(grouped_cones_of(work.op), work.cones.reactions, front)


@function
def settle(model, held, limits, x, u, work):
    """w = A^-1 x; then loops hold, and u = S w + u_0. What is left of loops is returned."""
    view, op = groups_of(model), work.op
    expand(view, x, op)
    residual, _ = recover(view, loop_rows(model, held, work), limits, x, op)
    put_velocities(model, x, u, work)
    return residual


@function
def hold(model, count, g, u, work):
    """Impulses of joints of the tree, by what bodies need besides g, loops and cone rows."""
    op, forces = work.op, work.op.change
    for t in range(SIDE * (len(model.bodies) - 1)):
        forces[t] = g[t]
    if count > 0:
        operator.push_front(cones_of(op), work.cones.reactions, forces)
    for i in range(first_loop(model), len(model.held)):
        add_forces(model.held[i], op.blocks, work.held, forces)
    put_reactions_within(model, u, forces, work.held, work)


@routine
def carry(model, gap, shift, work):
    """Motions of all bodies that close joints of the tree, each with the body that carries it."""
    tree = work.op.tree
    put_motions(model, work)
    put_offsets(model, gap, work)
    for b in range(len(model.bodies) - 1):
        put6(shift, SIDE * b, at_center(get3(tree.arms, 3 * b), get6(tree.offsets, SIDE * b)))
    return True


JOINTS_FORM = Form(first_loop, prepare, load, begin, free_velocities, push, settle, hold, carry)

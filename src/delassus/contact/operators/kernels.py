"""Kernels of the operator over bodies, for arrays that a user's operator keeps between calls.

| array | what |
| --- | --- |
| inertias, inverses | M and M^-1, 36 numbers of each body; inverses by position |
| J, weights | Jacobians of joints, and S_j^-1 of their rows |
| slots | number of cones, number of slots, a CONE of each slot, their Jacobians |
| W | S^-1 of cone rows |
| prepared, penalised | what `bodies.prepare` and `bodies.factor` leave |

Arrays have room for as many cones as there are slots.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...compile import clear, function, kernel, layout, part
from ...spatial.vectors import get6, put6
from . import bodies, free, recovery
from .blocks import backward_columns, forward_columns, solve_front
from .bodies import BLOCK, NEWTON, SCRATCH
from .elements import CONE, Cones, add_forces, cone_at, row_velocity
from .structure import BodiesArrays

EVERYWHERE = layout(b=("n_bodies", 6))  # forces, then velocities, by position


class Memory(NamedTuple):
    """The parts of layouts OPERATOR and NEWTON, from arrays that are kept and work memory."""

    A: Any
    reduced: Any
    penalised: Any
    u: Any
    panel: Any


class RecoveryMemory(NamedTuple):
    """The parts of layouts OPERATOR and RECOVERY that `recover` needs."""

    A: Any
    reduced: Any
    rows: Any
    residual: Any
    direction: Any
    image: Any
    change: Any
    motion: Any


class NewtonMemory(NamedTuple):
    """The parts of layout NEWTON, and those of OPERATOR that Newton's method needs."""

    A: Any
    u: Any
    panel: Any
    small: Any
    K: Any
    pivoted: Any


@function
def memory_of(model, prepared, penalised, work):
    """Kept arrays and the work memory of a call as one."""
    reduced = part(prepared, bodies.matrix_size(model))
    return Memory(prepared, reduced, penalised, work.u, work.panel)


@function
def recovery_memory(model, prepared, work):
    """A kept array and the work memory of `recover` as one."""
    return RecoveryMemory(
        prepared,
        part(prepared, bodies.matrix_size(model)),
        work.rows,
        work.residual,
        work.direction,
        work.image,
        work.change,
        work.motion,
    )


@function
def cones_in(slots):
    """The cones that stand in slots."""
    table = part(slots, 2)
    return Cones(int(slots[0]), table, part(table, CONE.size * int(slots[1])))


@function
def by_position(model, given, b):
    """Six numbers of each body, ordered by position"""
    for i in range(len(model.places)):
        put6(b, 6 * model.places[i].position, get6(given, 6 * i))


@function
def by_body(model, b, found):
    """Six numbers of each body, ordered by body"""
    for i in range(len(model.places)):
        put6(found, 6 * i, get6(b, 6 * model.places[i].position))


# --- factors --------------------------------------------------------------------------------------


@kernel(
    BodiesArrays,
    inputs={"inertias": "inertia_numbers", "J": "joint_numbers", "weights": "joint_rows"},
    outputs={"prepared": "prepared"},
    work=SCRATCH,
    lanes=False,
    label="inside of an operator over bodies",
)
def prepare_bodies(model, inertias, J, weights, prepared, work):
    """A = M + J^T S_j^-1 J without inside bodies"""
    memory = memory_of(model, prepared, work.u, work)
    bodies.put_inertias(model, inertias, memory)
    bodies.add_joints(model, J, weights, memory)
    bodies.prepare(model, memory)


@kernel(
    BodiesArrays,
    inputs={"prepared": "prepared", "slots": "cone_numbers", "W": "cone_rows"},
    outputs={"penalised": "penalised"},
    work=SCRATCH,
    lanes=False,
    label="front of an operator over bodies",
)
def factor_bodies(model, prepared, slots, W, penalised, work):
    """A_f + C^T S^-1 C = U^T U"""
    bodies.factor(model, cones_in(slots), W, memory_of(model, prepared, penalised, work))


# --- cone rows ------------------------------------------------------------------------------------


@kernel(
    BodiesArrays,
    inputs={
        **{"prepared": "prepared", "penalised": "penalised", "slots": "cone_numbers"},
        **{"W": "cone_rows", "x": "cone_rows"},
    },
    outputs={"y": "cone_rows"},
    work=SCRATCH,
    lanes=False,
    label="solution with an operator over bodies",
)
def solve_cones(model, prepared, penalised, slots, W, x, y, work):
    """(D_c + S) y = x"""
    memory = memory_of(model, prepared, penalised, work)
    bodies.solve(model, cones_in(slots), W, x, y, memory)


@kernel(
    BodiesArrays,
    inputs={"prepared": "prepared", "slots": "cone_numbers", "x": "cone_rows"},
    outputs={"y": "cone_rows", "blocks": "cone_blocks"},
    work=SCRATCH,
    lanes=False,
    label="product with an operator over bodies",
)
def multiply_cones(model, prepared, slots, x, y, blocks, work):
    """y = D_c x, and the blocks of D_c of each cone"""
    cones = cones_in(slots)
    memory = memory_of(model, prepared, work.u, work)
    bodies.multiply(model, cones, x, y, memory)
    for k in range(cones.count):
        bodies.put_diagonal(model, cones, k, part(blocks, BLOCK * k), memory)


@kernel(
    BodiesArrays,
    inputs={
        **{"prepared": "prepared", "slots": "cone_numbers", "g": "n_bodies 6"},
        **{"reactions": "cone_rows", "bias": "cone_rows"},
    },
    outputs={"u": "n_bodies 6", "v": "cone_rows"},
    work=layout(SCRATCH, EVERYWHERE),
    lanes=False,
    label="velocities of an operator over bodies",
)
def move_bodies(model, prepared, slots, g, reactions, bias, u, v, work):
    """A u = g + C^T lambda_c, v = C u + bias"""
    cones = cones_in(slots)
    memory = memory_of(model, prepared, work.u, work)
    by_position(model, g, work.b)
    front = bodies.reduce_forces(model, work.b, memory)
    bodies.velocities(model, cones, front, reactions, bias, work.u, v, memory)
    for t in range(6 * bodies.count_front(model)):
        front[t] = work.u[t]
    backward_columns(model, prepared, work.b)
    by_body(model, work.b, u)


@kernel(
    BodiesArrays,
    inputs={
        **{"prepared": "prepared", "slots": "cone_numbers", "J": "joint_numbers"},
        **{"rows": "3 joint_rows", "g": "n_bodies 6", "reactions": "cone_rows", "limits": "2"},
    },
    outputs={"multipliers": "joint_rows", "u": "n_bodies 6", "ending": "2"},
    work=layout(recovery.RECOVERY, EVERYWHERE, forces=("n_bodies", 6)),
    lanes=False,
    label="joints of an operator over bodies",
)
def recover_bodies(
    model, prepared, slots, J, rows, g, reactions, limits, multipliers, u, ending, work
):
    """M u = g + J^T lambda_j + C^T lambda_c with J u + c = 0.

    `rows` are S_j^-1, c and the first lambda_j.
    """
    count = recovery.count_joint_rows(model)
    joints = recovery.JointRows(J, rows, part(rows, count), multipliers)
    for t in range(count):
        multipliers[t] = rows[2 * count + t]
    by_position(model, g, work.forces)
    until, memory = (
        recovery.Limits(limits[0], int(limits[1])),
        recovery_memory(model, prepared, work),
    )
    recovery.move_all(model, joints, cones_in(slots), work.forces, reactions, work.b, memory)
    worst, passes = recovery.recover(model, joints, until, work.b, memory)
    by_body(model, work.b, u)
    ending[0] = worst
    ending[1] = 1.0 * passes


@kernel(
    BodiesArrays,
    inputs={
        **{"prepared": "prepared", "slots": "cone_numbers", "E": "cone_blocks", "H": "cone_blocks"},
        **{"f": "cone_rows", "delta": "1"},
    },
    outputs={"x": "cone_rows"},
    work=layout(SCRATCH, NEWTON),
    lanes=False,
    label="Newton's step of an operator over bodies",
)
def solve_cone_blocks(model, prepared, slots, E, H, f, delta, x, work):
    """(E + delta + H D_c) x = f"""
    cones = cones_in(slots)
    memory = NewtonMemory(prepared, work.u, work.panel, work.small, work.K, work.pivoted)
    bodies.solve_blocks(model, cones, E, H, f, delta[0], x, memory)


# --- all rows -------------------------------------------------------------------------------------


@kernel(
    BodiesArrays,
    inputs={
        **{
            "prepared": "prepared",
            "penalised": "penalised",
            "slots": "cone_numbers",
            "J": "joint_numbers",
        },
        **{"weights": "joint_rows", "W": "cone_rows", "x_j": "joint_rows", "x_c": "cone_rows"},
    },
    outputs={"y_j": "joint_rows", "y_c": "cone_rows"},
    work=EVERYWHERE,
    lanes=False,
    label="solution for all rows of bodies",
)
def solve_all_rows(model, prepared, penalised, slots, J, weights, W, x_j, x_c, y_j, y_c, work):
    """(D + S) y = x over joint and cone rows K = [J; C].

    (A + C^T S^-1 C) u = K^T S^-1 x, y = S^-1 (x - K u)
    """
    cones = cones_in(slots)
    n_inside = len(model.columns)
    clear(work.b, 6 * len(model.bodies))
    front = part(work.b, 6 * n_inside)
    for k in range(len(model.joints)):
        weigh(model.joints[k], x_j, weights, y_j)
        add_forces(model.joints[k], J, y_j, work.b)
    for k in range(cones.count):
        weigh(cone_at(cones, k), x_c, W, y_c)
        add_forces(cone_at(cones, k), cones.C, y_c, front)
    forward_columns(model, prepared, work.b)
    solve_front(penalised, bodies.count_front(model), front)
    backward_columns(model, prepared, work.b)
    for k in range(len(model.joints)):
        subtract_velocities(model.joints[k], J, work.b, weights, y_j)
    for k in range(cones.count):
        subtract_velocities(cone_at(cones, k), cones.C, front, W, y_c)


@function
def weigh(element, x, weights, y):
    """y = W x for the rows of one element"""
    for t in range(element.row, element.row + element.height):
        y[t] = weights[t] * x[t]


@function
def subtract_velocities(element, J, u, weights, y):
    """y - W J u for the rows of one element"""
    for r in range(element.height):
        t = element.row + r
        y[t] = y[t] - weights[t] * row_velocity(element, J, r, u)


@kernel(
    BodiesArrays,
    inputs={"inertias": "inertia_numbers", "J": "joint_numbers"},
    outputs={
        **{"inverses": "inertia_numbers", "diagonal": "joint_rows"},
        **{"heaviest": "joint_rows", "blocks": "joint_diagonal"},
    },
    work=layout(factor=36),
    lanes=False,
    label="inverse inertias of bodies",
)
def invert_bodies(model, inertias, J, inverses, diagonal, heaviest, blocks, work):
    """M^-1; blocks and diagonal of J M^-1 J^T, and what the heaviest body has of each row."""
    free.invert_inertias(model, inertias, inverses, work.factor)
    at = 0
    for k in range(len(model.joints)):
        joint = model.joints[k]
        free.put_diagonal(joint, J, inverses, part(blocks, at))
        at = at + joint.height * joint.height
        for r in range(joint.height):
            t = joint.row + r
            diagonal[t], heaviest[t] = free.row_scales(joint, J, r, inverses)


@kernel(
    BodiesArrays,
    inputs={
        **{"inverses": "inertia_numbers", "slots": "cone_numbers", "J": "joint_numbers"},
        **{"x_j": "joint_rows", "x_c": "cone_rows"},
    },
    outputs={"y_j": "joint_rows", "y_c": "cone_rows", "blocks": "cone_blocks"},
    work=EVERYWHERE,
    lanes=False,
    label="product for all rows of bodies",
)
def multiply_all_rows(model, inverses, slots, J, x_j, x_c, y_j, y_c, blocks, work):
    """y = D x over joint and cone rows, and the blocks of D of each cone.

    By impulses on one element after the other, then the velocity of each.
    """
    cones = cones_in(slots)
    n_inside = len(model.columns)
    clear(work.b, 6 * len(model.bodies))
    front, front_inverses = part(work.b, 6 * n_inside), part(inverses, 36 * n_inside)
    for k in range(len(model.joints)):
        joint = model.joints[k]
        free.push(joint, J, part(x_j, joint.row), inverses, work.b)
    for k in range(cones.count):
        cone = cone_at(cones, k)
        free.push(cone, cones.C, part(x_c, cone.row), front_inverses, front)
    for k in range(len(model.joints)):
        joint = model.joints[k]
        free.velocity(joint, J, work.b, part(y_j, joint.row))
    for k in range(cones.count):
        cone = cone_at(cones, k)
        free.velocity(cone, cones.C, front, part(y_c, cone.row))
        free.put_diagonal(cone, cones.C, front_inverses, part(blocks, BLOCK * k))

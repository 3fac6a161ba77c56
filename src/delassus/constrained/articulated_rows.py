"""What algorithms share that eliminate joints: places of links, rows, and links that carry none.

Links keep the records of the articulated-body algorithm (see `dynamics.aba`); those that carry
constraints also get the motion that rows read, in the place of inertias that come later. Inertias
start with the first child that is eliminated. Links that carry no constraint are eliminated before
all others, and move after them.
"""

from __future__ import annotations

from ..compile import any_true, function
from ..dynamics.aba import (
    DOF,
    LINK,
    MOTION,
    accelerate,
    bias_motions,
    pass_forces,
)
from ..dynamics.articulated import articulate, start_inertia
from ..dynamics.links import MOVING, place_links, start_at_rest
from ..spatial.vectors import (
    add_cross,
    add_scaled,
    cross,
    get3,
    put3,
    subtract,
)
from .elimination import AT_JOINTS, NONE
from .jacobian import place_world
from .rows import ROW, count_rows, put_rows
from .solver import REQUEST, WHOLE


@function
def move_links(model, q, v, work, dofs):
    """Where links are, and how they move where joints do not accelerate."""
    rest = (-model.gravity[0], -model.gravity[1], -model.gravity[2])
    start_at_rest(work, rest)
    place_world(work)
    put3(work, MOTION.omega, (0.0, 0.0, 0.0))
    put3(work, MOTION.alpha, (0.0, 0.0, 0.0))
    put3(work, MOTION.a, rest)
    place_links(model, q, work, LINK.size, dofs, DOF.size)
    bias_motions(model, v, work)


@function
def put_constraints(model, q, v, rows, whole, target, weights, forces, records, work, dofs):
    """All rows, gamma - a*, and what is asked of each."""
    put_velocities(model, v, work, dofs)
    for t in range(len(model.ends)):
        if model.ends[t].wrench != AT_JOINTS:
            put_moving(model.ends[t].at, work)
    kp, kd = whole[WHOLE.kp], whole[WHOLE.kd]
    with_error = any_true(kp > 0.0)
    for c in range(len(model.pieces)):
        put_rows(model, model.pieces[c], q, v, with_error, work, LINK.size, records)
    for t in range(count_rows(model)):
        at, request = t * ROW.size, t * REQUEST.size
        x = records[at + ROW.drift] - rows[request + REQUEST.desired]
        target[t] = x + kd * records[at + ROW.velocity] + kp * records[at + ROW.error]
        weights[t] = rows[request + REQUEST.weight]
        forces[t] = rows[request + REQUEST.start]


@function
def put_velocities(model, v, work, dofs):
    """Velocities of the points of links that are at the tree's origin."""
    for t in range(len(model.free)):
        i = model.free[t]
        first, u = model.links[i].v, (0.0, 0.0, 0.0)
        for k in range(first, first + 3):
            u = add_scaled(u, v[k], get3(work, dofs + k * DOF.size + DOF.linear))
        put3(work, i * LINK.size + MOVING.u, u)
    for t in range(len(model.steps) - 1, -1, -1):
        step = model.steps[t]
        u = get3(work, step.before + MOVING.u)
        u = add_scaled(u, v[step.k], get3(work, dofs + step.dof + DOF.linear))
        put3(work, step.at + MOVING.u, u)


@function
def put_moving(at, work):
    """The motion of a link as rows read it: that of the point at the tree's origin."""
    p, omega = get3(work, at + LINK.p), get3(work, at + MOTION.omega)
    alpha = get3(work, at + MOTION.alpha)
    u = add_cross(get3(work, at + MOVING.u), omega, p)
    a = add_cross(subtract(get3(work, at + MOTION.a), cross(omega, u)), p, alpha)
    put3(work, at + MOVING.omega, omega)
    put3(work, at + MOVING.alpha, alpha)
    put3(work, at + MOVING.a, a)


@function
def eliminate_others(model, tau, work, dofs):
    """Eliminate joints that carry no rows; then all links with ends have an inertia."""
    articulate_others(model, work, dofs)
    for t in range(len(model.others)):
        stretch = model.others[t]
        pass_forces(model, stretch.first, stretch.last, tau, work, dofs)


@function
def articulate_others(model, work, dofs):
    """Articulated inertias of links that carry no end; then all with ends have an inertia."""
    for t in range(len(model.others)):
        stretch = model.others[t]
        for i in range(stretch.last, stretch.first - 1, -1):
            articulate(model, i, model.is_first[i], work, LINK.size, dofs, DOF.size)
    start_ends(model, work)


@function
def start_ends(model, work):
    """Inertias of links with ends that get none from those that are eliminated first."""
    for t in range(len(model.bare)):
        i = model.bare[t]
        start_inertia(model.links[i], i * LINK.size, work)


@function
def start_supports(model, work):
    """The same of all links that carry ends."""
    for t in range(len(model.supports)):
        turn = model.supports[t]
        if turn.carrier == NONE:
            start_inertia(model.links[turn.link], turn.link * LINK.size, work)


@function
def move_others(model, a, work, dofs):
    """Links that nothing pulls at follow those that carry them."""
    for t in range(len(model.others) - 1, -1, -1):
        stretch = model.others[t]
        accelerate(model, stretch.first, stretch.last, a, work, dofs)

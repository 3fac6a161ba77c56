"""What algorithms share that eliminate joints: places of links, rows, and links that carry none.

Links keep the records of the articulated-body algorithm (see `dynamics.aba`). Articulated inertias
start with the first child that is eliminated, once rows have read the motions in their place. Links
that carry no constraint are eliminated before all others, and move after them.
"""

from __future__ import annotations

from ..compile import any_true, function
from ..dynamics.aba import (
    DOF,
    LINK,
    MOTION,
    accelerate,
    pass_forces,
    put_links,
)
from ..dynamics.articulated import articulate, start_inertia
from ..dynamics.links import start_at_rest
from ..spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    cross,
    get3,
    put3,
    subtract,
)
from .elimination import NONE, load_place
from .jacobian import place_world
from .pieces import CONNECT
from .rows import (
    ROW,
    count_rows,
    frame_offset,
    point_position,
    put_points,
    put_rows,
    put_states,
    tree_shift,
)
from .solver import REQUEST, WHOLE


def links_work(n: dict[str, int]) -> int:
    """Memory of links, of their loads, and of degrees of freedom."""
    return load_place(n["n_links"], n["n_links"]) + n["nv"] * DOF.size


@function
def links_end(model):
    """Where the loads of links end, and degrees of freedom start."""
    return load_place(len(model.links), len(model.links))


@function
def move_links(model, q, v, external_forces, work, dofs):
    """Where links are, how they move where joints do not accelerate, and what that takes."""
    start_at_rest(work, (-model.gravity[0], -model.gravity[1], -model.gravity[2]))
    place_world(work)
    put_links(model, q, v, external_forces, work, dofs)


@function
def put_constraints(model, q, v, rows, whole, target, weights, forces, records, work, dofs):
    """All rows, gamma - a*, and what is asked of each."""
    kp, kd = whole[WHOLE.kp], whole[WHOLE.kd]
    with_error, with_velocity = any_true(kp > 0.0), any_true(kd > 0.0)
    if with_velocity or model.counts[3] > 0:
        put_velocities(model, v, with_velocity, work, dofs)
    for c in range(len(model.pieces)):
        if model.pieces[c].kind == CONNECT:
            put_point(model, model.pieces[c], q, with_error, with_velocity, work, records)
    for t in range(len(model.framed)):
        put_moving(model.framed[t] * LINK.size, work)
    for c in range(len(model.pieces)):
        if model.pieces[c].kind != CONNECT:
            put_rows(model, model.pieces[c], q, v, with_error, work, LINK.size, records)
    for t in range(count_rows(model)):
        at, request = t * ROW.size, t * REQUEST.size
        x = records[at + ROW.drift] - rows[request + REQUEST.desired]
        target[t] = x + kd * records[at + ROW.velocity] + kp * records[at + ROW.error]
        weights[t] = rows[request + REQUEST.weight]
        forces[t] = rows[request + REQUEST.start]


@function
def put_velocities(model, v, of_all, work, dofs):
    """Velocities of the points of links that are at the tree's origin.

    Of all, or only of those on the way to rows whose drift takes them.
    """
    for t in range(len(model.free)):
        i = model.free[t]
        first, u = model.links[i].v, (0.0, 0.0, 0.0)
        for k in range(first, first + 3):
            u = add_scaled(u, v[k], get3(work, dofs + k * DOF.size + DOF.linear))
        put3(work, i * LINK.size + MOTION.u, u)
    if of_all:
        for t in range(len(model.steps) - 1, -1, -1):
            put_velocity(model.steps[t], v, work, dofs)
    else:
        for t in range(len(model.drifting) - 1, -1, -1):
            put_velocity(model.steps[model.drifting[t]], v, work, dofs)


@function
def put_velocity(step, v, work, dofs):
    """The same of a link, from what carries it, for one degree of freedom between them."""
    u = get3(work, step.before + MOTION.u)
    u = add_scaled(u, v[step.k], get3(work, dofs + step.dof + DOF.linear))
    put3(work, step.at + MOTION.u, u)


@function
def put_moving(at, work):
    """Turn the acceleration of a link into that of the point at the tree's origin, for its rows."""
    p, omega = get3(work, at + LINK.p), get3(work, at + MOTION.omega)
    u = add_cross(get3(work, at + MOTION.u), omega, p)
    a = subtract(get3(work, at + MOTION.a), cross(omega, u))
    put3(work, at + MOTION.a, add_cross(a, p, get3(work, at + MOTION.alpha)))


@function
def put_point(model, piece, q, with_error, with_velocity, work, records):
    """The rows at two points, by the motion of their links' origins.

    Velocities and errors are left out, as zeros, if not asked for.
    """
    frame, other = model.frames[piece.frame], model.frames[piece.other]
    r, r_other = frame_offset(frame, work, LINK.size), frame_offset(other, work, LINK.size)
    p = point_position(frame, r, work, LINK.size)
    p_other = point_position(other, r_other, work, LINK.size)
    velocity, apart = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if with_velocity:
        velocity = subtract(point_velocity(frame, p, work), point_velocity(other, p_other, work))
    if with_error:
        apart = subtract(add(p, tree_shift(model, piece, q)), p_other)
    drift = subtract(point_acceleration(frame, r, work), point_acceleration(other, r_other, work))
    put_points(records, piece.row, other.link, p, p_other)
    put_states(records, piece.row, velocity, drift, apart)


@function
def point_velocity(frame, p, work):
    """The velocity of a frame's origin, which is at p."""
    at = frame.link * LINK.size
    u = get3(work, at + MOTION.u)
    if frame.link > 0:
        u = add_cross(u, get3(work, at + MOTION.omega), p)
    return u


@function
def point_acceleration(frame, r, work):
    """The acceleration of a frame's origin, which is at r from its link's."""
    at = frame.link * LINK.size
    a = get3(work, at + MOTION.a)
    if frame.link > 0:
        omega = get3(work, at + MOTION.omega)
        a = add_cross(add_cross(a, get3(work, at + MOTION.alpha), r), omega, cross(omega, r))
    return a


@function
def eliminate_others(model, tau, work, dofs):
    """Eliminate joints that carry no rows; then all links with ends have an inertia."""
    start_ends(model, work)  # first, so that they are there when springs are added
    for t in range(len(model.others)):
        stretch = model.others[t]
        articulate_stretch(model, stretch, work, dofs)
        pass_forces(model, stretch.first, stretch.last, tau, work, dofs)


@function
def articulate_others(model, work, dofs):
    """Articulated inertias of links that carry no end; then all with ends have an inertia."""
    start_ends(model, work)
    for t in range(len(model.others)):
        articulate_stretch(model, model.others[t], work, dofs)


@function
def articulate_stretch(model, stretch, work, dofs):
    """The same of links that follow each other; a leaf starts with its own inertia."""
    for i in range(stretch.last, stretch.first - 1, -1):
        if not model.links[i].has_children:
            start_inertia(model.links[i], i * LINK.size, work)
        articulate(model, i, model.is_first[i], work, LINK.size, dofs, DOF.size)


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

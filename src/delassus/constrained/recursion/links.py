"""What all recursions start from: places and motions of links, rows, links that support none.

Links keep the records of the articulated-body algorithm (see `dynamics.aba`). Articulated inertias
start with the first child that is eliminated, once rows have read the motions in their place. Links
that support no constraint are eliminated before all others, and move after them.
"""

from __future__ import annotations

from ...compile import any_true, function, layout
from ...dynamics.aba import DOF, FORCE, LINK, MOTION, accelerate, pass_forces, put_links
from ...dynamics.steps.articulated import articulate, start_inertia
from ...dynamics.steps.links import start_at_rest
from ...dynamics.steps.points import frame_offset, place_world, point_position
from ...spatial.vectors import add, add_cross, add_scaled, cross, get3, put3, subtract
from ..rows.measures import put_rows, put_three_measures
from ..rows.pieces import CONNECT
from ..rows.request import OPTIONS, REQUEST, target_of
from ..rows.wrenches import ROWS, count_rows, put_points, tree_shift
from .plan import NONE

# Rows, links, degrees of freedom; and forces: the own forces of links, then their loads, which is
# what reaches them from ends and from links that they carry (see `plan.load_of`).
RECURSION = layout(
    ROWS,
    links=("n_links", LINK),
    dofs=("nv", DOF),
    forces=lambda n: 2 * n["n_links"] * FORCE.size,
)


@function
def move_links(model, q, v, external_forces, work):
    """Places of links, their motions with zero joint acceleration, and the forces these take."""
    start_at_rest(work.links, (-model.gravity[0], -model.gravity[1], -model.gravity[2]))
    place_world(work.links)
    put_links(model, q, v, external_forces, work)


@function
def put_constraints(model, q, v, requests, options, work):
    """All rows: their wrenches, targets gamma - a*, stiffnesses 1 / mu and first multipliers."""
    gains = options[OPTIONS.kp], options[OPTIONS.kd]
    with_error, with_velocity = any_true(gains[0] > 0.0), any_true(gains[1] > 0.0)
    if with_velocity or len(model.framed) > 0:
        put_velocities(model, v, with_velocity, work)
    for c in range(len(model.pieces)):
        if model.pieces[c].kind == CONNECT:
            measure_points(model, model.pieces[c], q, with_error, with_velocity, work)
    for t in range(len(model.framed)):
        refer_to_tree(model.framed[t] * LINK.size, work.links)
    for c in range(len(model.pieces)):
        if model.pieces[c].kind != CONNECT:
            put_rows(model, model.pieces[c], q, v, with_error, work.links, LINK.size, work)
    for t in range(count_rows(model)):
        work.dual.target[t] = target_of(t, requests, gains, work.rows)
        work.dual.weights[t] = requests[t * REQUEST.size + REQUEST.weight]
        work.dual.lengths[t] = requests[t * REQUEST.size + REQUEST.length]
        work.dual.diagonals[t] = requests[t * REQUEST.size + REQUEST.diagonal]
        work.dual.falling[t] = requests[t * REQUEST.size + REQUEST.falling]
        work.dual.multipliers[t] = requests[t * REQUEST.size + REQUEST.start]


@function
def put_velocities(model, v, of_all, work):
    """u, the velocity of the point of each link that is at its tree's origin.

    Of all links that support constraints, or only of those on the way to rows whose drift takes it.
    """
    for t in range(len(model.free)):
        i = model.free[t]
        first, u = model.links[i].v, (0.0, 0.0, 0.0)
        for k in range(first, first + 3):
            u = add_scaled(u, v[k], get3(work.dofs, k * DOF.size + DOF.linear))
        put3(work.links, i * LINK.size + MOTION.u, u)
    if of_all:
        for t in range(len(model.steps) - 1, -1, -1):
            put_velocity(model.steps[t], v, work)
    else:
        for t in range(len(model.drifting) - 1, -1, -1):
            put_velocity(model.steps[model.drifting[t]], v, work)


@function
def put_velocity(step, v, work):
    """u of a link, from the u of what carries it, for one degree of freedom between them."""
    u = get3(work.links, step.before * LINK.size + MOTION.u)
    u = add_scaled(u, v[step.k], get3(work.dofs, step.k * DOF.size + DOF.linear))
    put3(work.links, step.link * LINK.size + MOTION.u, u)


@function
def refer_to_tree(at, links):
    """Turn the acceleration of a link's origin into that of the point at the tree's origin."""
    p, omega = get3(links, at + LINK.p), get3(links, at + MOTION.omega)
    u = add_cross(get3(links, at + MOTION.u), omega, p)
    a = subtract(get3(links, at + MOTION.a), cross(omega, u))
    put3(links, at + MOTION.a, add_cross(a, p, get3(links, at + MOTION.alpha)))


# --- rows at points -------------------------------------------------------------------------------
# Points that touch the ground are the most frequent constraint. What they measure follows from the
# motion of links' origins, without what `refer_to_tree` takes.


@function
def measure_points(model, piece, q, with_error, with_velocity, work):
    """The points of a CONNECT, and what its rows measure.

    Velocities and errors are left out, as zeros, if not asked for.
    """
    frame, other, links = model.frames[piece.frame], model.frames[piece.other], work.links
    r, r_other = frame_offset(frame, links, LINK.size), frame_offset(other, links, LINK.size)
    p = point_position(frame, r, links, LINK.size)
    p_other = point_position(other, r_other, links, LINK.size)
    velocity, apart = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    if with_velocity:
        velocity = subtract(point_velocity(frame, p, links), point_velocity(other, p_other, links))
    if with_error:
        apart = subtract(add(p, tree_shift(model, piece, q)), p_other)
    drift = subtract(point_acceleration(frame, r, links), point_acceleration(other, r_other, links))
    put_points(work.rows, piece.row, other.link, p, p_other)
    put_three_measures(work.rows, piece.row, velocity, drift, apart)


@function
def point_velocity(frame, p, links):
    """u + omega x p: the velocity of a frame's origin, which is at p."""
    at = frame.link * LINK.size
    u = get3(links, at + MOTION.u)
    if frame.link > 0:
        u = add_cross(u, get3(links, at + MOTION.omega), p)
    return u


@function
def point_acceleration(frame, r, links):
    """a + alpha x r + omega x (omega x r): that of a frame's origin, at r from its link's."""
    at = frame.link * LINK.size
    a = get3(links, at + MOTION.a)
    if frame.link > 0:
        omega = get3(links, at + MOTION.omega)
        a = add_cross(add_cross(a, get3(links, at + MOTION.alpha), r), omega, cross(omega, r))
    return a


# --- links that support no constraint -------------------------------------------------------------


@function
def eliminate_others(model, tau, work):
    """Eliminate joints that support no constraint; then all links with ends have an inertia."""
    start_ends(model, work)  # first, so that they are there when springs are added
    for t in range(len(model.others)):
        stretch = model.others[t]
        articulate_stretch(model, stretch, work)
        pass_forces(model, stretch.first, stretch.last, tau, work)


@function
def articulate_others(model, work):
    """Articulated inertias of links that support no constraint, without forces."""
    start_ends(model, work)
    for t in range(len(model.others)):
        articulate_stretch(model, model.others[t], work)


@function
def articulate_stretch(model, stretch, work):
    """Articulated inertias of links that follow each other; a leaf starts with its own inertia."""
    for i in range(stretch.last, stretch.first - 1, -1):
        if not model.links[i].has_children:
            start_inertia(model.links[i], i * LINK.size, work.links)
        articulate(model, i, model.is_first[i], work.links, LINK.size, work.dofs, DOF.size)


@function
def start_ends(model, work):
    """Inertias of links with ends that get none from those that are eliminated first."""
    for t in range(len(model.bare)):
        i = model.bare[t]
        start_inertia(model.links[i], i * LINK.size, work.links)


@function
def start_supports(model, work):
    """Inertias of all links that support constraints and get none from links that do not."""
    for t in range(len(model.supports)):
        turn = model.supports[t]
        if turn.carrier == NONE:
            start_inertia(model.links[turn.link], turn.link * LINK.size, work.links)


@function
def move_others(model, a, work):
    """Accelerations of joints and links that support no constraint."""
    for t in range(len(model.others) - 1, -1, -1):
        stretch = model.others[t]
        accelerate(model, stretch.first, stretch.last, a, work)

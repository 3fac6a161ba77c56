"""Poses that move with twists, and onto joints.

    M d = J^T mu  with  J d + r = 0

| symbol | here | what it is |
| --- | --- | --- |
| r | ROW.residual | errors of positions of joints and couplings |
| d | work.shift | the smallest displacement of all bodies, by mass, that takes them away |
| mu | work.shifting | multipliers of the displacement, which are forgotten |

It is one more solution with the factor of the step, on its rows J. Where bodies have moved since,
these are not quite those of the poses, and a part of r stays that is as small as the motion: where
that is not LITTLE, it is taken away again. J of the new poses would not fit the factor, which holds
its own rows stiffly: d would go along these, by much more than r.

Near a dead point a small r needs a large d, along which rows turn: all of d may open joints by more
than they are open. Then a part of d is taken, or none.

If much is left then, rows and factor are made anew at the present poses, and d is found again. What
is left of joints of the tree after that is closed one joint after the other, outwards: each body is
moved onto the one that carries it, with all that it carries. That never fails, but moves heavy
bodies, too: it is for motion that is too fast for its steps, as that of light links which a heavy
load stretches. What lifts them is taken from the velocities of their tree.
"""

from __future__ import annotations

from collections.abc import Callable

from ..compile import absolute, clear, function, layout, maximum, minimum, routine, sqrt
from ..contact.operators.blocks import scale6
from ..contact.operators.recovery import Limits
from ..maximal.assembly import joint_rows, place_system, put_joint_rows, rows_before
from ..maximal.rows.blocks import ROW
from ..maximal.rows.bodies import POSE, TWIST
from ..maximal.rows.couplings import coupling_error, run_coupling
from ..maximal.rows.joints import JOINT
from ..maximal.spinning import turn
from ..maximal.structure.joints import DISTANCE
from ..spatial.quaternions import conjugate, multiply, rotation
from ..spatial.vectors import dot, get3, get4, get6, put3, put4, put6, rotate, subtract
from .actuation.wrenches import release_couplings, release_loops
from .solution.energy import kinetic_energy
from .solution.form import Form, Held

# Memory of displacements: see the table above. `moving` are forces, which are none, then d in the
# order of the form.
DISPLACEMENT = layout(
    shift=("n_bodies", 6),
    moving=("n_bodies", 6),
    shifting="joint_rows",
    gap="joint_rows",
    unmoved=("n_bodies", POSE.size),
)
CLOSED = 1e-12  # what is left of errors, in metres or radians
_PASSES = 6
# Errors in metres or radians that are left to the next step, and the most displacements of a step.
LITTLE, MOST_TURNS = 1e-6, 3
# What is closed with factors of the present poses, and in so many more displacements of these.
OPEN, TURNS_ANEW = 1e-5, 5
MOST_OUTWARDS = 6  # how often joints are closed outwards
# By how much the sum of squares of errors may grow, which is rounding; and what is taken of a
# displacement that makes it grow by more: this part of it, then of the rest, down to the least.
GROWTH, PART, LEAST_PART = 1.001, 0.25, 0.01
# How far a displacement may move bodies, of the largest error: near a dead point what closes a
# joint is far away, and bodies that pass it soon need not go there.
FARTHEST = 20.0


@function
def move_poses(n, poses, twists, dt):
    """Move all poses with their twists for a time."""
    for i in range(n):
        pose, twist = i * POSE.size, i * TWIST.size
        for k in range(3):
            poses[pose + k] = poses[pose + k] + dt * twists[twist + k]
        w = get3(twists, twist + TWIST.omega)
        x = (dt * w[0], dt * w[1], dt * w[2])
        put4(poses, pose + POSE.quaternion, turn(get4(poses, pose + POSE.quaternion), x))


# --- onto joints ----------------------------------------------------------------------------------


@routine
def find_errors(model, switches, state, work):
    """Place everything anew, and store the errors of joints and couplings in their rows."""
    place_system(model, state.poses, state.twists, state.q, work)
    release_loops(model, switches, work.joints)
    for j in range(len(model.joints)):
        joint, at = model.joints[j], j * JOINT.size + JOINT.error
        for k in range(joint.rows):
            work.rows[(joint.row + k) * ROW.size + ROW.residual] = work.joints[at + k]
    first = len(model.joints) - (len(model.bodies) - 1)
    for c in range(len(model.couplings)):
        coupling, is_on = model.couplings[c], switches[first + c] != 0.0
        if coupling.is_sum == 0:
            run_coupling(model, coupling, work.q, work.v, work.registers)
        for k in range(coupling.rows):
            error = coupling_error(model, coupling, k, work) if is_on else 0.0
            work.rows[(coupling.row + k) * ROW.size + ROW.residual] = error


@function
def largest_error(model, rows):
    """The largest error of a joint or coupling, in metres or radians."""
    error = 0.0
    for t in range(joint_rows(model)):
        error = maximum(error, absolute(rows[t * ROW.size + ROW.residual]))
    return error


@function
def largest_tree_error(model, rows):
    """The largest error of a joint of the tree."""
    error = 0.0
    for t in range(rows_before(model, len(model.bodies) - 1)):
        error = maximum(error, absolute(rows[t * ROW.size + ROW.residual]))
    return error


@function
def is_torn(model, torn, link, rows):
    """Whether a joint is open by more than a part of a length, or by more than so many radians."""
    result = False
    for j in range(len(model.joints)):
        joint = model.joints[j]
        lengths = joint.linear[0] + joint.linear[1] + joint.linear[2]
        lengths = joint.rows if joint.kind == DISTANCE else lengths
        for k in range(joint.rows):
            error = absolute(rows[(joint.row + k) * ROW.size + ROW.residual])
            result = result or error > (torn * link if k < lengths else torn)
    return result


@function
def squared_errors(model, rows):
    """The sum of squares of all errors, which a small enough part of a displacement reduces."""
    total = 0.0
    for t in range(joint_rows(model)):
        error = rows[t * ROW.size + ROW.residual]
        total = total + error * error
    return total


@function
def move_by_shift(model, share, switches, state, work):
    """Poses that are moved from `unmoved` by a part of work.shift, and their errors."""
    n = len(model.bodies) - 1
    for t in range(POSE.size * n):
        state.poses[t] = work.unmoved[t]
    move_poses(n, state.poses, work.shift, share)
    find_errors(model, switches, state, work)


@function
def approach(model, most, switches, state, work):
    """Move bodies by the part `most` of work.shift, or by less that does not open joints.

    Angular velocities turn with bodies, so that these keep their energy. Returns the part.
    """
    before, share = squared_errors(model, work.rows), most
    for t in range(POSE.size * (len(model.bodies) - 1)):
        work.unmoved[t] = state.poses[t]
    move_by_shift(model, share, switches, state, work)
    while (
        share > 0.0
        and largest_error(model, work.rows) > LITTLE
        and squared_errors(model, work.rows) > GROWTH * before
    ):
        share = PART * share if share > LEAST_PART * most else 0.0
        move_by_shift(model, share, switches, state, work)
    for i in range(len(model.bodies) - 1):
        at = i * POSE.size + POSE.quaternion
        x, y, z, w = multiply(get4(state.poses, at), conjugate(get4(work.unmoved, at)))
        omega = get3(state.twists, i * TWIST.size + TWIST.omega)
        put3(state.twists, i * TWIST.size + TWIST.omega, rotate(rotation(x, y, z, w), omega))
    return share


@function
def nearby(model, work):
    """The part of work.shift by which centres of mass move FARTHEST times the largest error."""
    longest = 0.0
    for i in range(len(model.bodies) - 1):
        d = get3(work.shift, 6 * i)
        longest = maximum(longest, dot(d, d))
    within = FARTHEST * largest_error(model, work.rows)
    return minimum(1.0, within / sqrt(longest)) if longest > 0.0 else 1.0


@routine
def pay_for_lifts(model, state, work):
    """Slow trees down whose bodies stand higher than at `unmoved`, by that energy.

    What has been paid is not asked for again by the ledger of their island.
    """
    n = len(model.bodies) - 1
    gravity = (model.gravity[0], model.gravity[1], model.gravity[2])
    for root in range(1, n + 1):
        lifts, moves = 0.0, 0.0
        for i in range(root, n + 1 if model.roots[root - 1] == root else 0):
            if model.roots[i - 1] == root:
                pose = POSE.size * (i - 1)
                way = subtract(get3(state.poses, pose), get3(work.unmoved, pose))
                lifts = lifts - model.bodies[i].mass * dot(gravity, way)
                moves = moves + kinetic_energy(model, i, state.twists, work.bodies)
        if lifts > 0.0:
            slower = sqrt((moves - lifts) / moves) if moves > lifts else 0.0
            island = model.islands[root - 1].first
            work.ledger[island] = work.ledger[island] - minimum(lifts, moves)
            for i in range(root, n + 1):
                if model.roots[i - 1] == root:
                    at = TWIST.size * (i - 1)
                    put6(state.twists, at, scale6(slower, get6(state.twists, at)))


@function
def put_gap(model, field, work):
    """What rows have of a field of ROW, as the gap that `smallest_change` closes."""
    for t in range(joint_rows(model)):
        work.gap[t] = work.rows[t * ROW.size + field]


def closing(form: Form) -> tuple[Callable, Callable]:
    """The functions that close joints by the factor of a step in a form."""
    first_joint, prepare = form.first_joint, form.prepare
    load, settle, carry = form.load, form.settle, form.carry

    @routine
    def smallest_change(model, work):
        """M d = J^T mu with J d + gap = 0: d is work.shift, in the order of bodies."""
        clear(work.moving, 6 * (len(model.bodies) - 1))
        clear(work.shifting, joint_rows(model))
        held = Held(work.gap, work.shifting)
        load(model, held, work.moving, work)
        settle(model, held, Limits(CLOSED, _PASSES), work.moved, work.moving, work)
        for i in range(len(model.bodies) - 1):
            put6(work.shift, 6 * i, get6(work.moving, 6 * model.places[i].position))

    @routine
    def close_outwards(model, switches, state, work):
        """Close joints of the tree one after the other, where that opens loops by less."""
        n, turn, before = len(model.bodies) - 1, 0, squared_errors(model, work.rows)
        for t in range(POSE.size * n):
            work.unmoved[t] = state.poses[t]
        put_gap(model, ROW.residual, work)
        while turn < MOST_OUTWARDS and carry(model, work.gap, work.shift, work):
            move_poses(n, state.poses, work.shift, 1.0)
            find_errors(model, switches, state, work)
            put_gap(model, ROW.residual, work)
            turn = turn + 1 if largest_tree_error(model, work.rows) > LITTLE else MOST_OUTWARDS
        if not squared_errors(model, work.rows) <= before:
            for t in range(POSE.size * n):
                state.poses[t] = work.unmoved[t]
            find_errors(model, switches, state, work)
        elif turn > 0:
            pay_for_lifts(model, state, work)

    @routine
    def factorise_again(model, switches, settings, work):
        """The factor for rows of joints of the present poses."""
        put_joint_rows(model, first_joint(model), settings, work, work.op.blocks, work.rows)
        release_couplings(model, switches, work.op.blocks, work.rows)
        prepare(model, work)

    @function
    def displace(model, switches, settings, state, work):
        """Move bodies by the smallest displacement that closes joints; rows have what is left."""
        find_errors(model, switches, state, work)
        turn, share, enough = 0, 1.0, LITTLE
        while turn == 0 or (
            turn < MOST_TURNS + TURNS_ANEW
            and share > 0.0
            and largest_error(model, work.rows) > enough
        ):
            if turn >= MOST_TURNS:
                factorise_again(model, switches, settings, work)
            put_gap(model, ROW.residual, work)
            smallest_change(model, work)
            share = approach(model, nearby(model, work), switches, state, work)
            turn += 1
            if turn >= MOST_TURNS or share == 0.0:
                enough = OPEN
            if share == 0.0 and turn < MOST_TURNS:
                turn, share = MOST_TURNS, 1.0
        if largest_tree_error(model, work.rows) > OPEN:
            close_outwards(model, switches, state, work)

    return smallest_change, displace

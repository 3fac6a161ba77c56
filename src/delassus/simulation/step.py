"""A step of time of one world, and many of them in one call (seed 001, (10), (80), (94)).

| integrator | what a step is |
| --- | --- |
| EULER | velocities at the end of the step from forces at its start; then positions: (10) |
| MIDPOINT | Moreau's: positions move by half a step, velocities change there, then the other half |

MIDPOINT lets joint rows reflect: J u+ = -J u-, so that the mean velocity of the step satisfies
joints, and no energy is lost. Rotations turn by gyroscopic terms of the mean velocity, which the
last step tells. Where contacts close, a little less is reflected.
"""

from __future__ import annotations

from ..compile import absolute, function, kernel, layout, maximum, part, routine, slots
from ..contact.laws.request import LIMIT, OPTION
from ..maximal.assembly import (
    STATE,
    add_dof_impulses,
    joint_rows,
    place_system,
    put_contact_rows,
    put_inertia,
    put_joint_rows,
    put_limit_rows,
    put_momentum,
    put_weights,
)
from ..maximal.conversion import read_tree
from ..maximal.rows.biases import SETTINGS
from ..maximal.rows.blocks import ROW
from ..maximal.rows.bodies import BODY, TWIST, place_bodies
from ..maximal.rows.contacts import CONTACT
from ..maximal.rows.limits import ACTIVE
from ..spatial.vectors import cross, dot, get3, get6, put6, symmetric_times
from .collision.contacts import collide
from .collision.outside import add_outside
from .matching import match
from .motion import move_poses
from .narrow.records import COLLISION
from .solution import DRAIN, SOLUTION, prepare_operator, put_cones, solve_step
from .structure import WorldArrays, state_of, state_size

EULER, MIDPOINT = 0, 1
FASTEST = 1e6  # velocities beyond this, in m/s or rad/s, are those of a world that diverges
# While a contact closes, faster than this, joints reflect so much of their velocity.
CLOSING_SPEED, CLOSING_REFLECTION = 1e-3, 0.95
# Whole settings of a call: those of contact solvers, then the integrator and the slots.
WHOLE = slots(LIMIT, integrator=1, contact_slots=1)
# Numbers of a call: those of rows, of contact solvers, and a few more.
SETTING = slots(SETTINGS, margin=1, joint_tolerance=1)
# What is told of each step.
METRIC = slots(
    contacts=1,
    natural_map=1,
    joint_velocity=1,
    joint_error=1,
    penetration=1,
    iterations=1,
    kinetic_energy=1,
    potential_energy=1,
)
# Why a call ended: all steps done, too few slots for contacts, settings that are not finite.
DONE, SLOTS, DIVERGED = 0, 1, 2
OUTCOME = slots(steps=1, reason=1, needed=1)

STEP = layout(
    STATE,
    SOLUTION,
    rows=("n_rows", ROW),
    active=("n_limits", ACTIVE),
    contacts=("n_slots", CONTACT),
    collision=COLLISION,
    ids="n_slots",
    inertia=lambda n: 36 * n["n_bodies"],
    momentum=("n_bodies", 6),
    free_blocks=lambda n: 12 * n["nv"],
    weights="nv",
    tau="nv",
    solved=("n_bodies", 6),
    known=("n_slots", 3),
)


@routine
def put_motion(model, settings, control, gains, wrenches, state, integrator, work):
    """Inertia, momentum with all forces, and the weights of springs."""
    dt, n = settings[SETTINGS.dt], len(model.bodies) - 1
    for k in range(len(model.dofs)):
        joint = model.joints[model.dofs[k].joint]
        place = joint.q + k - joint.v if joint.nq == joint.nv else joint.q
        work.tau[k] = control[k] - gains[2 * k] * work.q[place]
    for i in range(1, n + 1):
        put_inertia(model, i, work.bodies, work.inertia, 36 * (i - 1))
        at = TWIST.size * (i - 1)
        put_momentum(model, i, wrenches, dt, work.bodies, work.momentum, at)
        if integrator == MIDPOINT:
            turn_at_mean(i, dt, work.bodies, state.before, work.momentum, at)
    add_dof_impulses(model, work.tau, dt, work, work.free_blocks, work.momentum)
    put_weights(model, gains, dt, work.weights)


@function
def turn_at_mean(i, dt, bodies, before, momentum, at):
    """The gyroscopic term of body i at the mean velocity that the last step makes expect."""
    body = i * BODY.size
    inertia, omega = get6(bodies, body + BODY.I), get3(bodies, body + BODY.omega)
    last = get3(before, at + TWIST.omega)
    mean = (
        1.5 * omega[0] - 0.5 * last[0],
        1.5 * omega[1] - 0.5 * last[1],
        1.5 * omega[2] - 0.5 * last[2],
    )
    now = cross(omega, symmetric_times(inertia, omega))
    then = cross(mean, symmetric_times(inertia, mean))
    for k in range(3):
        momentum[at + 3 + k] = momentum[at + 3 + k] + dt * (now[k] - then[k])


@function
def reflect(model, first, count, rows):
    """c = J u-, so that J u+ = -J u-; a little less where a contact closes.

    Rows of contacts start at `first`.
    """
    share = 1.0
    for c in range(count):
        normal = (first + 3 * c + 2) * ROW.size
        if rows[normal + ROW.velocity] < -CLOSING_SPEED:
            share = CLOSING_REFLECTION
    for t in range(joint_rows(model)):
        at = t * ROW.size
        rows[at + ROW.bias] = rows[at + ROW.bias] + share * rows[at + ROW.velocity]


@function
def keep_reactions(counts, state, work):
    """Keep the reactions for the next step."""
    _, n_limits, n_bounded, n_contacts = counts
    cones = work.cones
    for i in range(n_limits):
        limit = int(work.active[i * ACTIVE.size + ACTIVE.limit])
        state.limits[limit] = cones.scale[i] * cones.reactions[i]
    for i in range(n_bounded):
        t = n_limits + i
        state.bounded[i] = cones.scale[t] * cones.reactions[t]
    first = n_limits + n_bounded
    for c in range(n_contacts):
        state.ids[c] = work.ids[c]
        for t in range(3):
            at = first + 3 * c + t
            state.reactions[3 * c + t] = cones.scale[at] * cones.reactions[at]
    state.count[0] = 1.0 * n_contacts


@routine
def step(
    model, whole, settings, options, control, gains, wrenches, outside, state, metrics, work
):  # fmt: skip
    """One step. Returns how many contacts there are; nothing is done if they exceed the slots."""
    dt, integrator = settings[SETTING.dt], whole[WHOLE.integrator]
    n, n_held = len(model.bodies) - 1, joint_rows(model)
    half = 0.5 * dt if integrator == MIDPOINT else 0.0
    move_poses(n, state.poses, state.twists, half)
    place_system(model, state.poses, state.twists, state.q, work)
    count = collide(
        model,
        work.bodies,
        settings[SETTING.margin],
        work.contacts,
        work.ids,
        whole[WHOLE.contact_slots],
        work.collision,
    )
    count = add_outside(outside, count, whole[WHOLE.contact_slots], work.contacts, work.ids)
    if count > whole[WHOLE.contact_slots]:
        move_poses(n, state.poses, state.twists, -half)
        return count
    old = int(state.count[0])
    match(work.ids, count, state.ids, old, state.reactions, 1.0, work.known)
    for t in range(3 * count):
        state.reactions[t] = work.known[t]
    blocks = work.op.blocks
    put_joint_rows(model, settings, work, blocks, work.rows)
    row = put_limit_rows(model, settings, work, blocks, work.rows, work.active)
    n_limits = row - len(model.bounded) - n_held
    put_contact_rows(model, work.contacts, count, settings, work, blocks, work.rows, row)
    if integrator == MIDPOINT:
        reflect(model, row, count, work.rows)
    put_motion(model, settings, control, gains, wrenches, state, integrator, work)
    prepare_operator(model, work.inertia, work.free_blocks, work.weights, work.rows, work)
    counts = (0, n_limits, len(model.bounded), count)
    put_cones(model, counts, work.active, work.contacts, work.rows, dt, state, work)
    for i in range(n):
        place = 6 * model.places[i].position
        put6(work.forces, place, get6(work.momentum, 6 * i))
    for t in range(n_held):
        work.held[t] = DRAIN * state.held[t]
    natural, residual, iterations = solve_step(
        model, counts, whole, options, settings[SETTING.joint_tolerance], work.forces, work.solved,
        work,
    )  # fmt: skip
    keep_reactions(counts, state, work)
    for t in range(n_held):
        state.held[t] = work.held[t]
    for i in range(n):
        place = 6 * model.places[i].position
        put6(state.before, 6 * i, get6(state.twists, 6 * i))
        put6(state.twists, 6 * i, get6(work.solved, place))
    for k in range(len(model.rest)):
        state.q[k] = work.q[k]
    move_poses(n, state.poses, state.twists, dt - half)
    put_metrics(model, count, (natural, residual, iterations), metrics, work)
    return count


@function
def put_metrics(model, count, told, metrics, work):
    """What is told of a step."""
    error, deepest = 0.0, 0.0
    for t in range(joint_rows(model)):
        error = maximum(error, absolute(work.rows[t * ROW.size + ROW.residual]))
    for c in range(count):
        deepest = maximum(deepest, -work.contacts[c * CONTACT.size + CONTACT.distance])
    metrics[METRIC.contacts] = 1.0 * count
    metrics[METRIC.natural_map] = told[0]
    metrics[METRIC.joint_velocity] = told[1]
    metrics[METRIC.joint_error] = error
    metrics[METRIC.penetration] = deepest
    metrics[METRIC.iterations] = told[2]


@kernel(
    WorldArrays,
    shared=("whole", "ticks"),
    inputs={
        "state": "n_state",
        "control": "len(ticks) nv",
        "gains": "nv 2 common",
        "wrenches": "n_bodies 6 common",
        "outside": "n_outside",
        "settings": f"{SETTING.size} common",
        "options": f"{OPTION.size} common",
    },
    outputs={
        "after": "n_state",
        "trace": "len(ticks) n_trace",
        "metrics": f"len(ticks) {METRIC.size}",
        "outcome": f"{OUTCOME.size}",
    },
    work=STEP,
    lanes=False,
    label="simulation",
)
def simulate(
    model, whole, ticks, state, control, gains, wrenches, outside, settings, options, after, trace,
    metrics, outcome, work,
):  # fmt: skip
    """As many steps as there are ticks, from one state to another

    Its arguments are all that a call is given, and all that it tells.
    """
    slots = whole[WHOLE.contact_slots]
    now = state_of(model, after, joint_rows(model), slots)
    nq, nv, n = len(model.rest), len(model.dofs), len(model.bodies) - 1
    size = state_size(model, joint_rows(model), slots)
    for t in range(size):
        after[t] = state[t]
    outcome[OUTCOME.steps], outcome[OUTCOME.reason] = 1.0 * len(ticks), 1.0 * DONE
    outcome[OUTCOME.needed] = 0.0
    for k in range(len(ticks)):
        count = step(
            model, whole, settings, options, part(control, nv * k), gains, wrenches, outside,
            now, part(metrics, METRIC.size * k), work,
        )  # fmt: skip
        is_finite = True
        for t in range(6 * n):
            is_finite = is_finite and absolute(now.twists[t]) < FASTEST
        if count > slots or not is_finite:
            outcome[OUTCOME.steps] = 1.0 * k
            outcome[OUTCOME.reason] = 1.0 * (SLOTS if count > slots else DIVERGED)
            outcome[OUTCOME.needed] = 1.0 * count
            return
        read_state(model, now, part(trace, (nq + nv) * k), part(metrics, METRIC.size * k), work)


@routine
def read_state(model, state, trace, metrics, work):
    """q and v of the tree, and the energy of the bodies, at the end of a step."""
    nq = len(model.rest)
    kinetic, potential = 0.0, 0.0
    place_bodies(model, state.poses, state.twists, work.bodies)
    read_tree(model, state.q, work.q, work.v, work)
    for t in range(nq):
        trace[t] = work.q[t]
        state.q[t] = work.q[t]
    for i in range(1, len(model.bodies)):
        at, mass = i * BODY.size, model.bodies[i].mass
        v, omega = get3(work.bodies, at + BODY.v), get3(work.bodies, at + BODY.omega)
        spin = symmetric_times(get6(work.bodies, at + BODY.I), omega)
        kinetic = kinetic + 0.5 * (mass * dot(v, v) + dot(omega, spin))
        gravity = (model.gravity[0], model.gravity[1], model.gravity[2])
        potential = potential - mass * dot(gravity, get3(work.bodies, at + BODY.r))
    for k in range(len(model.dofs)):
        trace[nq + k] = work.v[k]
        kinetic = kinetic + 0.5 * model.armature[k] * work.v[k] * work.v[k]
    metrics[METRIC.kinetic_energy] = kinetic
    metrics[METRIC.potential_energy] = potential

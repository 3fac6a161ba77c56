"""Runge-Kutta's method of order four, for steps in which nothing but joints holds bodies.

    M a = f + J^T lambda,    J a + dJ/dt u = 0
    x' = (v, omega q / 2),   u' = a        from (x, u) by stages at 0, dt/2, dt/2 and dt

and at the end joints are closed in positions and velocities, by the smallest changes: see `motion`.

| symbol | here | what it is |
| --- | --- | --- |
| x, u | state.poses, twists | poses and twists of the present stage |
| x', u' | work.pose_rates, work.solved | their rates; those of twists are by position |
|   | work.start, work.start_twists | pose and twist at the start of the step |
|   | work.pose_sum, work.twist_sum | weighted sums of rates |
| lambda | work.held | forces of joints, in their own axes |
| dJ/dt u | `maximal.rows.drifts` | |

Quaternions q are those of a differential equation on all numbers whose right side has unit ones, so
that stages may be normalised and the order stays. Accelerations are the change of velocities by
forces that act for a second, with all else as in a step; so they take what assembles a step.

A step that would have contacts, limits within their margin, or dry friction is that of MIDPOINT.
Springs, dampers, servos and gyroscopic terms are explicit here; where they are too stiff, or a body
tumbles too fast for it, the step is that of MIDPOINT, too.
"""

from __future__ import annotations

from collections.abc import Callable

from ..compile import function, layout, maximum, routine
from ..contact.operators.recovery import Limits
from ..maximal.assembly import (
    add_dof_impulses,
    add_gyroscopic,
    joint_rows,
    place_system,
    put_joint_rows,
    put_momentum,
    put_rotors,
    put_weights,
    rows_before,
)
from ..maximal.rows.biases import SETTINGS
from ..maximal.rows.blocks import ROW
from ..maximal.rows.bodies import BODY, POSE, TWIST
from ..maximal.rows.couplings import coupling_drift
from ..maximal.rows.drifts import held_drift
from ..maximal.rows.limits import find_active
from ..spatial.quaternions import multiply, unit
from ..spatial.vectors import cross, dot, get3, get4, get6, put3, put4, put6, symmetric_times
from .actuation.forces import find_sides, free_inertia, put_levels, put_tau
from .actuation.wrenches import put_wrenches, release_couplings, release_loops
from .motion import closing, find_errors, move_poses, put_gap
from .solution.form import Form, Held
from .solution.solving import DRAIN
from .step import (
    SETTING,
    STEP,
    WHOLE,
    find_contacts,
)
from .told.metrics import put_metrics

SMOOTH = layout(
    STEP,
    start=("n_bodies", POSE.size),
    start_twists=("n_bodies", TWIST.size),
    pose_rates=("n_bodies", POSE.size),
    pose_sum=("n_bodies", POSE.size),
    twist_sum=("n_bodies", TWIST.size),
    reaction_sum="joint_rows",
    last_blocks="n_blocks",
)
_NONE = (0, 0, 0, 0)  # counts of cone rows
# Explicit steps are stable up to 2.8 and accurate to some 1e-4 of what a damper does below this.
STIFF = 0.5
# Radians in a step beyond which a body that tumbles loses too much: 1e-8 of its energy in a step.
TUMBLING = 0.1
MOST_PASSES = 12  # solutions for accelerations, until joints hold


# --- accelerations --------------------------------------------------------------------------------


@function
def put_drifts(model, first, request, work):
    """Rows of joints with the bias dJ/dt u - J u, so that u + a has J a + dJ/dt u = 0.

    Joints before `first` hold by themselves.
    """
    rows, blocks = work.rows, work.op.blocks
    release_loops(model, request.switches, work.joints)
    put_joint_rows(model, first, request.settings, work, blocks, rows)
    for j in range(len(model.joints)):
        for k in range(model.joints[j].rows):
            drift = held_drift(model, j, k, work.bodies, work.joints)
            rows[(model.joints[j].row + k) * ROW.size + ROW.bias] = drift
    for c in range(len(model.couplings)):
        for k in range(model.couplings[c].rows):
            drift = coupling_drift(model, model.couplings[c], k, work)
            rows[(model.couplings[c].row + k) * ROW.size + ROW.bias] = drift
    release_couplings(model, request.switches, blocks, rows)
    for t in range(joint_rows(model)):
        at = t * ROW.size
        # Rows of loops that are switched off move nothing, and ask for nothing.
        is_on = t < rows_before(model, first) or rows[at + ROW.mobility] > 0.0
        rows[at + ROW.bias] = rows[at + ROW.bias] - rows[at + ROW.velocity] if is_on else 0.0


@function
def put_one_second(model, request, work):
    """Momentum after a second of all forces; forces of joints are those of now."""
    put_wrenches(model, request.pushes, work.bodies, work.wrenches)
    put_levels(model, request.control, 0.0, work)
    find_sides(model, work.v, True, work)
    for i in range(1, len(model.bodies)):
        put_momentum(model, i, work.wrenches, 1.0, work.bodies, work.momentum, 6 * (i - 1))
        add_gyroscopic(i, 1.0, work.bodies, work.momentum, 6 * (i - 1))
    for k in range(len(model.dofs)):
        work.tau[k] = work.torques[k] - model.damping[k] * work.v[k]
        work.weights[k] = model.armature[k]
    put_rotors(model, 1.0, work)
    add_dof_impulses(model, work.tau, 1.0, work, work.free_blocks, work.momentum)


def accelerating(form: Form) -> Callable:
    """The function for accelerations, with the problem in a form."""
    first_joint, prepare, load, _, _, _, settle, hold, _ = form

    @routine
    def accelerate(model, request, state, work):
        """u + a in work.solved, by position. Returns what is left of J a + dJ/dt u."""
        place_system(model, state.poses, state.twists, state.q, work)
        put_drifts(model, first_joint(model), request, work)
        put_one_second(model, request, work)
        prepare(model, work)
        for i in range(len(model.bodies) - 1):
            put6(work.forces, 6 * model.places[i].position, get6(work.momentum, 6 * i))
        held = Held(work.drift, work.held)
        limits = Limits(request.settings[SETTING.joint_tolerance], MOST_PASSES)
        load(model, held, work.forces, work)
        residual = settle(model, held, limits, work.moved, work.solved, work)
        hold(model, 0, work.forces, work.solved, work)
        return residual

    return accelerate


# --- stages ---------------------------------------------------------------------------------------


@function
def put_rates(model, state, work):
    """x' and u' of the present stage"""
    for i in range(len(model.bodies) - 1):
        pose, twist = i * POSE.size, i * TWIST.size
        w = get3(state.twists, twist + TWIST.omega)
        half = (0.5 * w[0], 0.5 * w[1], 0.5 * w[2], 0.0)
        put3(work.pose_rates, pose, get3(state.twists, twist))
        quaternion = get4(state.poses, pose + POSE.quaternion)
        put4(work.pose_rates, pose + POSE.quaternion, multiply(half, quaternion))
        place = 6 * model.places[i].position
        for m in range(6):
            work.solved[place + m] = work.solved[place + m] - state.twists[twist + m]


@function
def add_rates(model, weight, work):
    """Add rates to their sums."""
    for t in range(POSE.size * (len(model.bodies) - 1)):
        work.pose_sum[t] = work.pose_sum[t] + weight * work.pose_rates[t]
    for i in range(len(model.bodies) - 1):
        place = 6 * model.places[i].position
        for m in range(6):
            at = 6 * i + m
            work.twist_sum[at] = work.twist_sum[at] + weight * work.solved[place + m]
    for t in range(joint_rows(model)):
        work.reaction_sum[t] = work.reaction_sum[t] + weight * work.held[t]


@function
def go_on(model, dt, state, work):
    """The state that rates lead to from the start, for the next stage"""
    for t in range(POSE.size * (len(model.bodies) - 1)):
        state.poses[t] = work.start[t] + dt * work.pose_rates[t]
    for i in range(len(model.bodies) - 1):
        place = 6 * model.places[i].position
        for m in range(6):
            at = 6 * i + m
            state.twists[at] = work.start_twists[at] + dt * work.solved[place + m]
    normalise(model, state.poses)


@function
def normalise(model, poses):
    """Make quaternions unit ones."""
    for i in range(len(model.bodies) - 1):
        at = i * POSE.size + POSE.quaternion
        put4(poses, at, unit(get4(poses, at)))


@function
def begin(model, dt, state, work):
    """Keep the start of a step, clear sums, and take the last reactions as first guess."""
    for t in range(POSE.size * (len(model.bodies) - 1)):
        work.start[t] = state.poses[t]
        work.pose_sum[t] = 0.0
    for t in range(6 * (len(model.bodies) - 1)):
        work.start_twists[t] = state.twists[t]
        work.twist_sum[t] = 0.0
    for t in range(joint_rows(model)):
        work.held[t] = DRAIN * state.held[t] / dt
        work.reaction_sum[t] = 0.0


def integrating(accelerate: Callable) -> Callable:
    """The function for the four stages of a step."""

    @function
    def runge_kutta(model, request, state, work):
        """Four stages, and the state at the end of the step. Returns what joint rows have left."""
        dt, worst = request.settings[SETTING.dt], 0.0
        begin(model, dt, state, work)
        for stage in range(4):
            worst = maximum(worst, accelerate(model, request, state, work))
            put_rates(model, state, work)
            is_between = stage == 1 or stage == 2
            add_rates(model, dt / 3.0 if is_between else dt / 6.0, work)
            if stage < 3:
                go_on(model, dt if stage == 2 else 0.5 * dt, state, work)
        for t in range(POSE.size * (len(model.bodies) - 1)):
            state.poses[t] = work.start[t] + work.pose_sum[t]
        for t in range(6 * (len(model.bodies) - 1)):
            state.twists[t] = work.start_twists[t] + work.twist_sum[t]
            state.before[t] = work.start_twists[t]
        normalise(model, state.poses)
        for t in range(joint_rows(model)):
            state.held[t] = work.reaction_sum[t]  # the impulse of the step
        return worst

    return runge_kutta


# --- steps ----------------------------------------------------------------------------------------


def projecting(form: Form) -> Callable:
    """The function that closes joints at the end of a step."""
    first_joint, (smallest_change, _) = form.first_joint, closing(form)

    @routine
    def project(model, request, state, work):
        """Close joints, in velocities and in positions, by rows and factor of the last stage.

        Its poses are those of the end but for O(dt^3). With rows of the end the factor would not
        fit: it holds its own rows so stiffly that bodies would move along them by far more than the
        error.
        """
        find_errors(model, request.switches, state, work)
        first = first_joint(model)
        put_joint_rows(model, first, request.settings, work, work.last_blocks, work.rows)
        release_couplings(model, request.switches, work.last_blocks, work.rows)
        put_gap(model, ROW.velocity, work)
        smallest_change(model, work)
        for t in range(6 * (len(model.bodies) - 1)):
            state.twists[t] = state.twists[t] + work.shift[t]
        put_gap(model, ROW.residual, work)
        smallest_change(model, work)
        move_poses(len(model.bodies) - 1, state.poses, work.shift, 1.0)
        find_errors(model, request.switches, state, work)

    return project


@function
def is_smooth(model, request, work):
    """Whether no limit or dry friction has rows, nothing is stiff, and no body tumbles fast."""
    settings = request.settings
    limits = find_active(model, work.q, settings[SETTINGS.limit_margin], work.active)
    if limits > 0 or len(model.bounded) > 0 or is_stiff(model, request, work):
        return False
    return not tumbles(model, settings[SETTING.dt], work.bodies)


@function
def tumbles(model, dt, bodies):
    """Whether the momentum of a body turns in it, by omega x I omega, by more than TUMBLING."""
    result = False
    for i in range(1, len(model.bodies)):
        at = i * BODY.size
        omega = get3(bodies, at + BODY.omega)
        spin = symmetric_times(get6(bodies, at + BODY.I), omega)
        turning = cross(omega, spin)
        fast = dt * dt * dot(turning, turning) > TUMBLING * TUMBLING * dot(spin, spin)
        result = result or fast
    return result


@function
def is_stiff(model, request, work):
    """Whether dt (damping + dt stiffness) of a degree of freedom is not small beside its inertia.

    The inertia is that of free bodies, which is less than that of bodies that others hold.
    """
    dt, result = request.settings[SETTING.dt], False
    put_levels(model, request.control, dt, work)
    put_tau(model, work)
    put_weights(model, work.gains, dt, work.weights)
    for k in range(len(model.dofs)):
        change = work.weights[k] - model.armature[k]
        result = result or (change > 0.0 and change > STIFF * free_inertia(model, k, work))
    return result


def smooth_stepping(form: Form, finish_step: Callable) -> Callable:
    """The function for one step, whose rest, where it is not smooth, is done by another."""
    runge_kutta, project = integrating(accelerating(form)), projecting(form)

    @routine
    def smooth_step(model, request, state, metrics, work):
        """One step of RK4, or of MIDPOINT. Returns how many contacts there are, as `step.step`."""
        count = find_contacts(model, request, state, work)
        if count > request.whole[WHOLE.contact_slots]:
            return count
        if count > 0 or not is_smooth(model, request, work):
            finish_step(model, request, count, state, metrics, work)
            return count
        for t in range(POSE.size * (len(model.bodies) - 1)):
            state.poses[t] = work.before_half[t]
        for t in range(TWIST.size * (len(model.bodies) - 1)):
            state.twists[t] = state.before[t]
        residual = runge_kutta(model, request, state, work)
        project(model, request, state, work)
        for k in range(len(model.rest)):
            state.q[k] = work.q[k]
        state.count[0] = 0.0
        put_metrics(model, _NONE, ((0.0, 0.0), residual, 0.0, 1), request.options, metrics, work)
        return count

    return smooth_step

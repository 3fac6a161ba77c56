"""A step of time of one world, and many of them in one call (seed 001, (10), (80), (94)).

| integrator | what a step is |
| --- | --- |
| EULER | velocities at the end of the step from forces at its start; then positions: (10) |
| MIDPOINT | Moreau's: positions move by half a step, velocities change there, then the other half |
| RK4 | Runge-Kutta's, see `smooth`; steps with cone rows are those of MIDPOINT |

Positions move as those of free bodies: their rotations have no torques, keep momentum and energy,
and change angular velocities (see `maximal.spinning`). What changes velocities has no gyroscopic
terms then, which would have to be implicit in the reactions of joints and contacts.

MIDPOINT lets joint rows reflect: J u+ = -J u-, so that the mean velocity of the step satisfies
joints, and no energy is lost. Where contacts push or close, a little less is reflected. Errors of
positions stay as they are, unless a joint is open by more than it may: then, or always if that is
asked for, all are moved away after the step: see `motion`. What joints do of work by that is given
back: see `solution.energy`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..compile import function, layout, maximum, minimum, routine, slots, sqrt
from ..maximal.assembly import (
    STATE,
    add_dof_impulses,
    joint_rows,
    place_system,
    put_contact_rows,
    put_joint_rows,
    put_limit_rows,
    put_momentum,
    put_weights,
)
from ..maximal.rows.biases import SETTINGS
from ..maximal.rows.blocks import ROW
from ..maximal.rows.bodies import POSE, TWIST
from ..maximal.rows.contacts import CONTACT
from ..maximal.rows.limits import ACTIVE
from ..maximal.rows.softening import RIGID, SOFTENING
from ..maximal.spinning import move_freely
from ..spatial.vectors import dot, get6, put6
from .actuation.forces import (
    ACTUATION,
    FREE_PASSES,
    MOST_PASSES,
    find_sides,
    put_levels,
    put_rates,
    put_tau,
)
from .actuation.wrenches import put_wrenches, release_couplings, release_loops
from .collision.contacts import collide
from .collision.matching import match
from .collision.outside import add_outside
from .motion import DISPLACEMENT, closing, largest_error
from .narrow.records import COLLISION
from .rotors import has_armatures, put_rotors_before, put_rotors_between
from .solution.cones import count_rows, forget_reactions, put_cones, stop_parting
from .solution.energy import ENERGY, count_heights, count_work, find_kept, give_back
from .solution.form import Form
from .solution.impacts import IMPACT, forget_bounces, impacts, put_bounces
from .solution.solving import DRAIN, SOLUTION, SOLVING, solving
from .told.metrics import METRICS, TIME, put_metrics, spend, start_clock

EULER, MIDPOINT, RK4 = 0, 1, 2
# How much farther joints may open in steps of EULER, which take errors away by and by.
LOOSE = 100.0
# How much of their velocity joints reflect while a contact pushes, or closes faster than this, and
# while a joint is open. Bodies that an impact has set shaking, to and fro with each step, would
# never cease to otherwise, and contacts would have other reactions in each step.
CLOSING_SPEED, PUSHED_REFLECTION, OPEN_REFLECTION = 1e-3, 0.95, 0.5
# Where the relative natural map is above this (the first number is for a solver that tries all
# methods, and for impacts), or the velocity that a joint has left is above FAILED, a step has often
# no solution: shapes overlap that joints do not let part, or would only by giving way. The step is
# then solved without parting, which joints always allow, and so are some steps after it: to find
# out that there is no solution takes long. How many these are doubles each time in between.
UNSOLVED, UNSOLVED_BY_ONE = 1e-3, 1e-2
STEADY = 100.0  # steps of falling: errors of resting contacts are relative to what these add
FAILED, FEWEST_RESIGNED, MOST_RESIGNED = 0.1, 15.0, 240.0
LEAST_CALM = 1e-300  # of the speed of closing: zero says that a step was not calm
# Whole settings of a call: those of contact solvers, the integrator, whether joints are closed by
# displacement, the law of impacts, the slots, and the address of a function for controls, or 0.
WHOLE = slots(SOLVING, integrator=1, displacement=1, impact=1, contact_slots=1, controller=1)
# Numbers of a call: those of rows, of contact solvers, and a few more. The time at the start of a
# call is `start` + `before` dt. Joints open by more than `torn` of the length `link`, or by
# more than so many radians, end a world.
SETTING = slots(SETTINGS, margin=1, joint_tolerance=1, start=1, before=1, torn=1, link=1)

STEP = layout(
    STATE,
    SOLUTION,
    ACTUATION,
    METRICS,
    DISPLACEMENT,
    ENERGY,
    rows=("n_rows", ROW),
    active=("n_limits", ACTIVE),
    contacts=("n_slots", CONTACT),
    collision=COLLISION,
    ids="n_slots",
    inertia=lambda n: 36 * n["n_bodies"],
    momentum=("n_bodies", 6),
    free_blocks=lambda n: 12 * n["nv"],
    weights="nv",
    wrenches=("n_bodies", 6),
    before_half=("n_bodies", POSE.size),
    solved=("n_bodies", 6),
    known=("n_slots", 3),
    impact=IMPACT,
    control="n_controls",
)


class Request(NamedTuple):
    """What a call asks of each of its steps; the first three are arrays for one step."""

    v: Any  # velocities of joints at the start
    control: Any
    pushes: Any
    outside: Any  # contacts that were found outside of kernels
    switches: Any
    whole: Any
    settings: Any
    options: Any


@routine
def put_motion(model, dt, work):
    """Momentum with all forces, and the weights of springs."""
    for i in range(1, len(model.bodies)):
        at = TWIST.size * (i - 1)
        put_momentum(model, i, work.wrenches, dt, work.bodies, work.momentum, at)
    put_tau(model, work)
    add_dof_impulses(model, work.tau, dt, work, work.free_blocks, work.momentum)
    put_weights(model, work.gains, dt, work.weights)


@function
def reflect(model, first, count, known, most, rows):
    """c = J u-, so that J u+ = -J u-, or a part of it: `most`, less where a contact pushes.

    Rows of contacts start at `first`; `known` are their reactions of the last step.
    """
    share = most
    for c in range(count):
        closes = rows[(first + 3 * c + 2) * ROW.size + ROW.velocity] < -CLOSING_SPEED
        if closes or known[3 * c + 2] > 0.0:
            share = minimum(share, PUSHED_REFLECTION)
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


@function
def find_contacts(model, request, state, work):
    """Move by the first part of a step, place everything, and find contacts. Returns their count.

    If they exceed the slots, poses are as they were.
    """
    start_clock(work)
    work.impact.turns[0] = work.impact.turns[1] = 0.0
    whole, settings, n = request.whole, request.settings, len(model.bodies) - 1
    half = first_part(whole, settings)
    for t in range(POSE.size * n):
        work.before_half[t] = state.poses[t]
    for t in range(TWIST.size * n):
        state.before[t] = state.twists[t]
    if half > 0.0:
        move_freely(model, state.poses, state.twists, half)
    elif has_armatures(model):
        put_rotors_before(model, settings[SETTING.dt], state, work)
    place_system(model, state.poses, state.twists, state.q, work)
    if half > 0.0:
        put_rotors_between(model, request.v, work)
    count = collide(
        model,
        work.bodies,
        settings[SETTING.margin],
        work.contacts,
        work.ids,
        whole[WHOLE.contact_slots],
        work.collision,
    )
    count = add_outside(request.outside, count, whole[WHOLE.contact_slots], work.contacts, work.ids)
    if count > whole[WHOLE.contact_slots]:
        for t in range(POSE.size * n):
            state.poses[t] = work.before_half[t]
        for t in range(TWIST.size * n):
            state.twists[t] = state.before[t]
    spend(work, TIME.collision)
    return count


@function
def is_open(model, whole, settings, work):
    """Whether a joint is open by more than it may."""
    error, opening = largest_error(model, work.rows), settings[SETTING.joint_opening]
    return error > (LOOSE * opening if whole[WHOLE.integrator] == EULER else opening)


@function
def is_rigid(settings):
    """Whether joints are rigid."""
    return settings[SETTING.joint_softening + SOFTENING.law] == RIGID


@function
def first_part(whole, settings):
    """The time for which bodies move before velocities change."""
    return 0.5 * settings[SETTING.dt] if whole[WHOLE.integrator] != EULER else 0.0


@function
def put_rows(model, first, request, count, state, work):
    """Rows of joints, limits, dry friction and contacts, with first reactions; their counts.

    Joints before `first` hold by themselves.
    """
    settings, blocks, n_held = request.settings, work.op.blocks, joint_rows(model)
    match(work.ids, count, state.ids, int(state.count[0]), state.reactions, 1.0, work.known)
    for t in range(3 * count):
        state.reactions[t] = work.known[t]
    release_loops(model, request.switches, work.joints)
    put_joint_rows(model, first, settings, work, blocks, work.rows)
    release_couplings(model, request.switches, blocks, work.rows)
    row = put_limit_rows(model, settings, work, blocks, work.rows, work.active)
    n_limits = row - len(model.bounded) - n_held
    put_contact_rows(model, work.contacts, count, settings, work, blocks, work.rows, row)
    if request.whole[WHOLE.integrator] != EULER:
        most = OPEN_REFLECTION if is_open(model, request.whole, settings, work) else 1.0
        reflect(model, row, count, work.known, most, work.rows)
    counts = (0, n_limits, len(model.bounded), count)
    dt, gravity = settings[SETTING.dt], model.gravity
    g = (gravity[0], gravity[1], gravity[2])
    work.steady[0] = STEADY * dt * sqrt(dot(g, g))
    work.steady[1] = work.steady[0] / maximum(settings[SETTING.link], 1.0)
    put_cones(model, counts, work.active, work.contacts, work.rows, dt, state, work)
    for t in range(n_held):
        work.held[t] = DRAIN * state.held[t]
    return counts


@function
def goes_on_resigned(state):
    """Count a step, and tell whether no row is asked to part in it."""
    left = state.resigned[0]
    state.resigned[0] = maximum(left - 1.0, 0.0)
    return left > 0.0


@function
def resign(state):
    """Ask no row to part in the next steps either; in twice as many as when that was last so."""
    steps = minimum(maximum(2.0 * state.resigned[1], FEWEST_RESIGNED), MOST_RESIGNED)
    state.resigned[0] = state.resigned[1] = steps


def finishing(form: Form, solve_cones: Callable) -> Callable:
    """The function for the rest of a step, once contacts are found, in a form and by a solver."""
    first_joint, prepare = form.first_joint, form.prepare
    solve_step = solving(form, solve_cones)
    solve_impacts = impacts(solve_step, (WHOLE, SETTING))
    _, displace = closing(form)

    @function
    def solve_motion(model, request, counts, state, work):
        """u+ with forces of actuators that fit it: see `actuation.forces`.

        Returns natural maps, joint residual, iterations, and how often the step was solved.
        """
        dt = request.settings[SETTING.dt]
        put_wrenches(model, request.pushes, work.bodies, work.wrenches)
        put_levels(model, request.control, dt, work)
        find_sides(model, work.v, True, work)
        natural, residual, iterations, passes, is_changed = (0.0, 0.0), 0.0, 0.0, 0, True
        calm, is_tried = state.calm[0], not goes_on_resigned(state)
        bounces = put_bounces(model, counts, request.settings, work) and is_tried
        if not is_tried:
            stop_parting(counts, work)
        while is_changed and passes < MOST_PASSES:
            put_motion(model, dt, work)
            prepare(model, work)
            for i in range(len(model.bodies) - 1):
                place = 6 * model.places[i].position
                put6(work.forces, place, get6(work.momentum, 6 * i))
            spend(work, TIME.factorisation)
            if bounces:
                natural, residual, more = solve_impacts(
                    model, counts, request, work.forces, work.solved, work
                )
            else:
                natural, residual, more = solve_step(
                    model, counts, request.whole, request.options,
                    request.settings[SETTING.joint_tolerance], calm, work.forces, work.solved,
                    work,
                )  # fmt: skip
            is_exact = bounces or request.whole[WHOLE.interior] > 0
            most = UNSOLVED if is_exact else UNSOLVED_BY_ONE
            is_failed = natural[1] > most or residual > FAILED
            was_asked = is_failed and bounces
            if was_asked:
                forget_bounces(model, counts, work)
                bounces = False
            if is_failed and (stop_parting(counts, work) or was_asked):
                resign(state)
                is_tried = False
                forget_reactions(model, counts, work)
                natural, residual, again = solve_step(
                    model, counts, request.whole, request.options,
                    request.settings[SETTING.joint_tolerance], 0.0, work.forces, work.solved,
                    work,
                )  # fmt: skip
                more = more + again
            iterations, passes = iterations + more, passes + 1
            spend(work, TIME.iterations)
            put_rates(model, work.solved, work.free_blocks, work.rates)
            is_changed = find_sides(model, work.rates, passes < FREE_PASSES, work)
        if is_tried:
            state.resigned[1] = 0.0
        size = maximum(work.cones.size[0], LEAST_CALM) if count_rows(counts) > 0 else 0.0
        state.calm[0] = size if iterations == 0.0 else 0.0
        return natural, residual, iterations, passes

    @function
    def finish_step(model, request, count, state, metrics, work):
        """The rest of a step, once contacts are found."""
        whole, settings = request.whole, request.settings
        n = len(model.bodies) - 1
        counts = put_rows(model, first_joint(model), request, count, state, work)
        spend(work, TIME.assembly)
        told = solve_motion(model, request, counts, state, work)
        keep_reactions(counts, state, work)
        for t in range(joint_rows(model)):
            state.held[t] = work.held[t]
        for i in range(n):
            place = 6 * model.places[i].position
            put6(state.twists, 6 * i, get6(work.solved, place))
        for k in range(len(model.rest)):
            state.q[k] = work.q[k]
        rest = settings[SETTING.dt] - first_part(whole, settings)
        move_freely(model, state.poses, state.twists, rest)
        is_kept = whole[WHOLE.integrator] != EULER and is_rigid(settings)
        is_kept = is_kept and find_kept(model, counts, work)
        if is_kept:
            count_work(model, first_joint(model), work)
        if whole[WHOLE.displacement] > 0 or is_open(model, whole, settings, work):
            count_heights(model, -1.0, state.poses, work)
            displace(model, request.switches, settings, state, work)
            count_heights(model, 1.0, state.poses, work)
        if is_kept:
            give_back(model, state, work)
        put_metrics(model, counts, told, request.options, metrics, work)

    return finish_step


def stepping(finish_step: Callable) -> Callable:
    """The function for one step of EULER or MIDPOINT."""

    @routine
    def step(model, request, state, metrics, work):
        """One step. Returns how many contacts there are; beyond the slots nothing is done."""
        count = find_contacts(model, request, state, work)
        if count <= request.whole[WHOLE.contact_slots]:
            finish_step(model, request, count, state, metrics, work)
        return count

    return step

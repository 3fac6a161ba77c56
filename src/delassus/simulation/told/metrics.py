"""What is told of each step: errors of the solution, (173) to (176) of seed 001, and energies.

| paper | here | what it is |
| --- | --- | --- |
| r_pen, (173) | joint_error, limit_error, penetration | errors of positions, by what has them |
| r_dual, (174) | dual, joint_velocity | velocities that violate a constraint |
| r_ncp, (175) | complementarity | power of reactions that should be none |
| r_nat, (176) | natural_map | zero at solutions only |
| | relative_natural_map | in units of the step, see `contact.laws.relative` |
"""

from __future__ import annotations

import numpy as np

from ...compile import absolute, clock, function, layout, routine, slots
from ...contact.laws.request import INFO
from ...contact.laws.residuals import put_residuals
from ...maximal.assembly import joint_rows, place_system
from ...maximal.rows.blocks import ROW
from ...maximal.rows.bodies import BODY
from ...maximal.rows.contacts import CONTACT
from ...maximal.rows.limits import ACTIVE
from ...spatial.vectors import dot, get3, get6, symmetric_times

METRIC = slots(
    contacts=1,
    natural_map=1,  # this and the next five are watched, see `failures`
    relative_natural_map=1,
    joint_velocity=1,
    joint_error=1,
    penetration=1,
    limit_error=1,
    dual=1,
    complementarity=1,
    iterations=1,
    passes=1,
    impacts=1,
    impacts_left=1,
    kinetic_energy=1,
    potential_energy=1,
    collision_time=1,  # see TIME
    assembly_time=1,
    factorisation_time=1,
    iteration_time=1,
    # Where the worst is: a joint row, the limit, and the bodies of a contact.
    joint_row=1,
    limit=1,
    deepest_a=1,
    deepest_b=1,
)
_TIMES = slice(METRIC.collision_time, METRIC.iteration_time + 1)
METRIC_NAMES: tuple[str, ...] = METRIC._fields[: METRIC._fields.index("joint_row")]
# Seconds that a step takes to find contacts, to put rows and for all that is named nowhere else, to
# factorise bodies with joints, and to solve for reactions and velocities; in the order of METRIC.
# They add up to the step.
TIME = slots(collision=1, assembly=1, factorisation=1, iterations=1)
METRICS = layout(info=INFO.size, times=TIME.size, last_look=1)


def without_times(metrics: np.ndarray) -> np.ndarray:
    """A copy of metrics whose times are zero: all else is the same whenever steps are repeated."""
    kept = metrics.copy()
    kept[:, _TIMES] = 0.0
    return kept


@function
def put_metrics(model, counts, told, options, metrics, work):
    """What is told of a step; `told` are natural maps, joint velocity, iterations and passes."""
    _, n_limits, n_bounded, count = counts
    for t in range(METRIC.size):
        metrics[t] = 0.0
    put_errors(model, n_limits, count, metrics, work)
    metrics[METRIC.contacts] = 1.0 * count
    metrics[METRIC.natural_map], metrics[METRIC.relative_natural_map] = told[0]
    metrics[METRIC.joint_velocity] = told[1]
    metrics[METRIC.iterations] = told[2]
    metrics[METRIC.passes] = 1.0 * told[3]
    metrics[METRIC.impacts] = work.impact.turns[0]
    metrics[METRIC.impacts_left] = work.impact.turns[1]
    for t in range(TIME.size):
        metrics[METRIC.collision_time + t] = work.times[t]
    if n_limits + n_bounded + count > 0:
        cones = work.cones
        put_residuals(
            counts, cones.own_coefficients, options, cones.own_reactions, cones.own_velocity,
            work.newton.tried, work.info,
        )  # fmt: skip
        metrics[METRIC.dual] = work.info[INFO.dual]
        metrics[METRIC.complementarity] = work.info[INFO.complementarity]


@function
def start_clock(work):
    """No time has been spent yet."""
    for t in range(TIME.size):
        work.times[t] = 0.0
    work.last_look[0] = clock()


@function
def spend(work, part):
    """All time since the last look at the clock was spent on a part of the step."""
    now = clock()
    work.times[part] = work.times[part] + now - work.last_look[0]
    work.last_look[0] = now


@function
def put_last_time(metrics, work):
    """What a step did since the last look at the clock: bodies moved, metrics, sensors."""
    spend(work, TIME.assembly)
    metrics[METRIC.assembly_time] = work.times[TIME.assembly]


@function
def put_errors(model, n_limits, count, metrics, work):
    """The largest errors of positions, and where they are."""
    held = joint_rows(model)
    for t in range(held):
        error = absolute(work.rows[t * ROW.size + ROW.residual])
        put_larger(metrics, METRIC.joint_error, error, METRIC.joint_row, t)
    for i in range(n_limits):
        error = -work.rows[(held + i) * ROW.size + ROW.residual]
        limit = int(work.active[i * ACTIVE.size + ACTIVE.limit])
        put_larger(metrics, METRIC.limit_error, error, METRIC.limit, limit)
    for c in range(count):
        at = c * CONTACT.size
        depth = -work.contacts[at + CONTACT.distance]
        if depth > metrics[METRIC.penetration]:
            metrics[METRIC.penetration] = depth
            metrics[METRIC.deepest_a] = work.contacts[at + CONTACT.a]
            metrics[METRIC.deepest_b] = work.contacts[at + CONTACT.b]


@function
def put_larger(metrics, value, error, place, index):
    """Keep an error and where it is, if it is the largest so far."""
    if error > metrics[value]:
        metrics[value] = error
        metrics[place] = 1.0 * index


@routine
def read_state(model, state, trace, metrics, work):
    """q and v of the tree, and the energy of the bodies, at the end of a step.

    Joints are placed anew: their axes have turned since velocities changed.
    """
    nq = len(model.rest)
    kinetic, potential = 0.0, 0.0
    place_system(model, state.poses, state.twists, state.q, work)
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

"""Forces of actuators in a step: implicit laws of servos, and their limits.

An actuator's force is that at the end of the step, clipped to its range; what the actuators of a
degree of freedom add up to is clipped to its effort limit:

    f+ = clip(f0 - c g v+)        f0 = gain u + b0 + b1 l,    c = -(b2 + dt b1)

Where nothing is clipped, c g^2 is a damping in the matrix of the step. What is clipped is a
constant force. Which is which is found by solving the step, looking, and solving again where
it was not so: the Newton method for a clipped law. The first guess takes the velocities before the
step, so that most steps are solved once. Then f+ obeys the law of a bounded row of compliance
1 / (dt c) exactly, without a row for it.

| symbol | here | what it is |
| --- | --- | --- |
| f0, c | level, slope | force of the actuator at rest, and its change with the rate |
| g | gear | of the degree of freedom that an actuator drives |
| v+ | work.rates | velocities of degrees of freedom at the end of the step |
|   | side | 1, -1 where an actuator is at its upper or lower limit, else 0 |
|   | stopped | of degrees of freedom: the same for their effort limits |
| tau | tau | forces on degrees of freedom; of servos, their part that does not depend on v+ |

An actuator that acts on several degrees of freedom, or along axes that turn, is explicit: f is that
at the start of the step. Stiff ones are stable, too, as D (v - v+) is added, where D is diagonal
and not less than what their force changes with velocities:

    c g g^T <= D,    D_k = c w_k sum g_j^2 / w_j

w are inertias of degrees of freedom. That is as if inertias were a little larger, w + dt D, all by
the same factor: an actuator moves its joints in the same proportion as without D.
"""

from __future__ import annotations

from ...compile import absolute, clear, function, layout, maximum, minimum
from ...dynamics.actuation.forces import along_gear, put_gear, unlimited_force
from ...maximal.rows.blocks import PAIR, put_free_pair
from ...maximal.rows.bodies import side_mobility
from ...maximal.structure.packed import SIDE
from ...model.configuration import difference
from .drives import EXPLICIT

ACTUATION = layout(
    tau="nv",
    gains=("nv", 2),
    rates="nv",
    torques="nv",
    stopped="nv",
    displacement="nv",
    gear=6,
    level="n_controls",
    slope="n_controls",
    side="n_controls",
    efforts="n_controls",
)
# Passes in which an actuator may leave its limit again; after them it can only reach one.
FREE_PASSES, MOST_PASSES = 4, 10
_SLACK = 1e-9  # part of a limit by which rounding may pass it

_put_difference = difference.function


@function
def single_gear(model, i):
    """The one number of a gear that is not zero."""
    actuator, gear = model.actuators[i], 0.0
    for m in range(actuator.nv):
        gear = gear + actuator.gear[m]
    return gear


@function
def clipped(actuator, force):
    """A force within the actuator's range."""
    return minimum(maximum(force, actuator.force_lower), actuator.force_upper)


@function
def put_levels(model, control, dt, work):
    """f0 and c of all actuators; f at the start of the step, as a level, of those explicit."""
    _put_difference(model, model.neutral, work.q, work.displacement, work)
    for i in range(len(model.actuators)):
        actuator = model.actuators[i]
        put_gear(actuator, work.q, work.gear)
        length = along_gear(actuator, work.gear, work.displacement)
        work.slope[i] = -(actuator.bias[2] + dt * actuator.bias[1])
        work.side[i] = 0.0
        if model.driven[i] == EXPLICIT:
            rate = along_gear(actuator, work.gear, work.v)
            force = unlimited_force(actuator, control[i], length, rate)
            work.level[i] = clipped(actuator, force)
            if work.level[i] != force:
                work.slope[i] = 0.0
        else:
            work.level[i] = unlimited_force(actuator, control[i], length, 0.0)
    clear(work.stopped, len(model.dofs))


@function
def side_of(lower, upper, force, before):
    """1, -1 or 0: at which limit a force is. It leaves a limit as soon as it is within."""
    slack = 0.0 if before != 0.0 else _SLACK
    if force > upper + slack * absolute(upper):
        return 1.0
    if force < lower - slack * absolute(lower):
        return -1.0
    return 0.0


@function
def put_forces(model, rates, work):
    """f of all actuators and their torques at given velocities, effort limits not yet applied."""
    clear(work.torques, len(model.dofs))
    for i in range(len(model.actuators)):
        actuator, k = model.actuators[i], model.driven[i]
        if k == EXPLICIT:
            work.efforts[i] = work.level[i]
            put_gear(actuator, work.q, work.gear)
            for m in range(actuator.nv):
                at = actuator.dofs[m]
                work.torques[at] = work.torques[at] + work.gear[m] * work.level[i]
        else:
            g = single_gear(model, i)
            work.efforts[i] = work.level[i] - work.slope[i] * g * rates[k]
            work.torques[k] = work.torques[k] + g * clipped(actuator, work.efforts[i])


@function
def find_sides(model, rates, may_leave, work):
    """Who is at a limit, at given velocities. Returns whether that differs from before.

    Unless they `may_leave`, those at a limit stay there.
    """
    changes = 0
    put_forces(model, rates, work)
    for i in range(len(model.actuators)):
        actuator, before = model.actuators[i], work.side[i]
        is_implicit = model.driven[i] != EXPLICIT and work.slope[i] > 0.0
        if is_implicit and (may_leave or before == 0.0):
            lower, upper = actuator.force_lower, actuator.force_upper
            work.side[i] = side_of(lower, upper, work.efforts[i], before)
            changes += 1 if work.side[i] != before else 0
        work.efforts[i] = clipped(actuator, work.efforts[i])
    for k in range(len(model.dofs)):
        limit, before = model.effort_limit[k], work.stopped[k]
        if may_leave or before == 0.0:
            work.stopped[k] = side_of(-limit, limit, work.torques[k], before)
            changes += 1 if work.stopped[k] != before else 0
        work.torques[k] = minimum(maximum(work.torques[k], -limit), limit)
    return changes > 0


@function
def free_inertia(model, k, work):
    """The inertia of degree of freedom k, with armature, if its two bodies were free."""
    joint, at = model.joints[model.dofs[k].joint], PAIR * k
    put_free_pair(model, k, work.joints, work.free_blocks, at)
    mobility = side_mobility(model, work.bodies, joint.base_body, work.free_blocks, at)
    mobility = mobility + side_mobility(
        model, work.bodies, joint.follower, work.free_blocks, at + SIDE
    )
    inertia = model.armature[k] + (1.0 / mobility if mobility > 0.0 else 0.0)
    return inertia if inertia > 0.0 else 1.0


@function
def put_slowed(model, actuator, force, slope, work):
    """tau of an explicit force, and D, which slows down changes of velocities."""
    put_gear(actuator, work.q, work.gear)
    mobility = 0.0
    for m in range(actuator.nv):
        inertia = free_inertia(model, actuator.dofs[m], work)
        mobility = mobility + work.gear[m] * work.gear[m] / inertia
    for m in range(actuator.nv):
        at = actuator.dofs[m]
        damping = slope * mobility * free_inertia(model, at, work) if slope > 0.0 else 0.0
        work.tau[at] = work.tau[at] + work.gear[m] * force + damping * work.v[at]
        work.gains[2 * at + 1] = work.gains[2 * at + 1] + damping


@function
def put_tau(model, work):
    """tau without what depends on v+, and that as dampings: `gains` are a stiffness and a damping

    The stiffness is part of the damping already, and zero.
    """
    clear(work.tau, len(model.dofs))
    clear(work.gains, 2 * len(model.dofs))
    for i in range(len(model.actuators)):
        actuator, k = model.actuators[i], model.driven[i]
        if k == EXPLICIT:
            put_slowed(model, actuator, work.level[i], work.slope[i], work)
        else:
            g = single_gear(model, i)
            if work.slope[i] > 0.0 and work.side[i] == 0.0:
                work.tau[k] = work.tau[k] + g * work.level[i]
                work.gains[2 * k + 1] = work.gains[2 * k + 1] + g * g * work.slope[i]
            elif work.side[i] > 0.0:
                work.tau[k] = work.tau[k] + g * actuator.force_upper
            elif work.side[i] < 0.0:
                work.tau[k] = work.tau[k] + g * actuator.force_lower
            else:
                work.tau[k] = work.tau[k] + g * clipped(actuator, work.level[i])
    for k in range(len(model.dofs)):
        if work.stopped[k] != 0.0:
            work.tau[k] = work.stopped[k] * model.effort_limit[k]
            work.gains[2 * k + 1] = 0.0


@function
def put_rates(model, u, free_blocks, rates):
    """v+ = J_a u+ of all degrees of freedom; u is by position"""
    for k in range(len(model.dofs)):
        joint, start = model.joints[model.dofs[k].joint], PAIR * k
        follower = SIDE * model.places[joint.follower - 1].position
        rate = 0.0
        for m in range(SIDE):
            rate = rate + free_blocks[start + SIDE + m] * u[follower + m]
        if joint.base_body > 0:
            base = SIDE * model.places[joint.base_body - 1].position
            for m in range(SIDE):
                rate = rate + free_blocks[start + m] * u[base + m]
        rates[k] = rate

"""Energy that joints give or take, and its return.

Joints do no work. Those of a step do a little: where they reflect a part of their velocity only,
where rows contradict each other near a dead point and give way, and where bodies are moved onto
joints against gravity. That would add up, the more the smaller steps are. So it is counted, for
each island of bodies, and velocities of the island are scaled until its energy is as if there had
been none:

    s^2 = 1 - (W + G) / T        T = sum of u^T M u / 2 and of armatures
    W = sum of lambda (J u- + J u+) / 2,    G = - sum of (m g + f) . d

| symbol | here | what it is |
| --- | --- | --- |
| W | ledger | work of joint rows in a step |
| G | ledger | work against gravity and other forces f of the displacement d that closes joints |
| T | kinetic | kinetic energy |

An island is what joints hold together. It is left alone if joints do not hold it in the world: then
to scale velocities would change its momentum; and if a limit, dry friction or a contact pushes it,
where energy is lost anyhow, and reactions are solved for velocities as they are.
"""

from __future__ import annotations

from ...compile import clear, function, layout, maximum, minimum, routine, sqrt
from ...maximal.assembly import rows_before
from ...maximal.rows.blocks import ROW
from ...maximal.rows.bodies import BODY, POSE, TWIST
from ...maximal.rows.contacts import CONTACT
from ...maximal.rows.limits import ACTIVE
from ...spatial.vectors import dot, get3, get6, symmetric_times

ENERGY = layout(ledger="n_bodies", kinetic="n_bodies", keeps="n_bodies")
# The squares of scales are kept within these: what is beyond them is a joint that has let go.
LEAST, MOST = 0.25, 4.0


@function
def island_of(model, body):
    """The number of the island of a body, which is not the world."""
    return model.islands[body - 1].first


@function
def add_row_work(rows, held, residual, ledger, island, t, r):
    """Add lambda (J u- + J u+) / 2 of row t; J u+ is what is left at place r, less c."""
    at = t * ROW.size
    left = residual[r] if r >= 0 else 0.0
    c = rows[at + ROW.bias] + rows[at + ROW.regulation]
    ledger[island] = ledger[island] + 0.5 * held[t] * (rows[at + ROW.velocity] - c + left)


@routine
def count_work(model, first, work):
    """W of each island. Joints before `first` hold by themselves."""
    clear(work.ledger, len(model.bodies) - 1)
    start, residual = rows_before(model, first), work.op.residual
    for j in range(len(model.joints)):
        joint = model.joints[j]
        island = island_of(model, joint.follower)
        for t in range(joint.row, joint.row + joint.rows):
            add_row_work(work.rows, work.held, residual, work.ledger, island, t, t - start)
    for c in range(len(model.couplings)):
        coupling = model.couplings[c]
        island = island_of(model, model.pulled[coupling.first_body].body)
        for t in range(coupling.row, coupling.row + coupling.rows):
            add_row_work(work.rows, work.held, residual, work.ledger, island, t, t - start)


@function
def count_heights(model, sign, poses, work):
    """Add sign times the potential of gravity and other forces to the ledger of islands."""
    for i in range(1, len(model.bodies)):
        island, at, height = island_of(model, i), POSE.size * (i - 1), 0.0
        for k in range(3):
            force = model.bodies[i].mass * model.gravity[k] + work.wrenches[6 * (i - 1) + k]
            height = height - force * poses[at + POSE.r + k]
        work.ledger[island] = work.ledger[island] + sign * height


@routine
def find_kept(model, counts, work):
    """Which islands keep their energy, by the number of their first body; whether any does."""
    _, n_limits, n_bounded, count = counts
    result = False
    for i in range(len(model.bodies) - 1):
        is_first = model.islands[i].first == i and model.islands[i].is_anchored > 0
        work.keeps[i] = 1.0 if is_first else 0.0
        result = result or is_first
    if not result:
        return False
    keeps, reactions = work.keeps, work.cones.reactions
    for i in range(n_limits):
        if reactions[i] != 0.0:
            limit = int(work.active[i * ACTIVE.size + ACTIVE.limit])
            joint = model.joints[model.limits[limit].joint]
            keeps[island_of(model, joint.follower)] = 0.0
    for i in range(n_bounded):
        if reactions[n_limits + i] != 0.0:
            joint = model.joints[model.dofs[model.bounded[i]].joint]
            keeps[island_of(model, joint.follower)] = 0.0
    for c in range(count):
        if reactions[n_limits + n_bounded + 3 * c + 2] != 0.0:
            record = c * CONTACT.size
            a, b = int(work.contacts[record + CONTACT.a]), int(work.contacts[record + CONTACT.b])
            if a > 0:
                keeps[island_of(model, a)] = 0.0
            if b > 0:
                keeps[island_of(model, b)] = 0.0
    result = False
    for i in range(len(model.bodies) - 1):
        result = result or keeps[i] > 0.0
    return result


@function
def kinetic_energy(model, i, twists, bodies):
    """The kinetic energy of body i, at its placed axes."""
    at = TWIST.size * (i - 1)
    v, omega = get3(twists, at), get3(twists, at + TWIST.omega)
    spin = symmetric_times(get6(bodies, i * BODY.size + BODY.I), omega)
    return 0.5 * (model.bodies[i].mass * dot(v, v) + dot(omega, spin))


@function
def count_motion(model, twists, work):
    """T of each island, at the placed axes of bodies."""
    clear(work.kinetic, len(model.bodies) - 1)
    for i in range(1, len(model.bodies)):
        island = island_of(model, i)
        energy = kinetic_energy(model, i, twists, work.bodies)
        work.kinetic[island] = work.kinetic[island] + energy
    for k in range(len(model.dofs)):
        island = island_of(model, model.joints[model.dofs[k].joint].follower)
        energy = 0.5 * model.armature[k] * work.v[k] * work.v[k]
        work.kinetic[island] = work.kinetic[island] + energy


@routine
def give_back(model, state, work):
    """Scale the velocities of islands by what their ledgers have."""
    is_asked = False
    for i in range(len(model.bodies) - 1):
        is_asked = is_asked or (work.keeps[i] > 0.0 and work.ledger[i] != 0.0)
    if is_asked:
        count_motion(model, state.twists, work)
        for i in range(len(model.bodies) - 1):
            island = model.islands[i].first
            energy, error = work.kinetic[island], work.ledger[island]
            if work.keeps[island] > 0.0 and energy > 0.0:
                s = sqrt(minimum(maximum(1.0 - error / energy, LEAST), MOST))
                for k in range(TWIST.size):
                    at = TWIST.size * i + k
                    state.twists[at] = s * state.twists[at]

"""Islands of bodies, the work that contacts do on them, and shares of bounces that give no energy.

An island is what joints and contacts join. Its contacts change the kinetic energy of a step by

    W = sum lambda^T (v+ + v-) / 2

In an impact with friction, or with many contacts of one body, W can be above zero by all laws: a
rod that falls on its end gains a sixth of its energy by Newton's law with e = 1 and mu = 0.8, as
the normal velocity turns around whatever friction has taken of the rotation (Kane and Levinson,
Dynamics, 1985). Then bodies of the island bounce with s e instead of e, where s is the largest
share with which W is not above zero. Without bounce, s = 0, contacts take energy. Between two
solutions in which the same contacts stick, slip and part,

    W(s) = W(0) + s (W(1) - W(0) - a) + s^2 a      a = (lambda(1) - lambda(0))^T (v(1) - v(0)) / 2

The root of that is the first guess; then the rule of false position.
"""

from __future__ import annotations

from ...compile import absolute, function, layout, maximum, minimum, sqrt
from ...contact.operators.bodies import first_cone_velocity
from ...contact.operators.elements import cone_at, place_of
from ..structure.world import bodies_of
from .cones import cones_of, count_rows

# Work of contacts that is rounding, and what may be lost where energy is kept; beside the sum of
# |lambda^T v-| / 2.
NO_WORK, LITTLE_LOSS = 1e-6, 1e-3
MOST_TRIES = 8  # solutions for the share of an impact

# Velocities and reactions of cone rows are as given. Numbers of an island stand where its first
# body does, by position.
ISLANDS = layout(
    before="cone_rows",
    after="cone_rows",
    first_reactions="cone_rows",  # with the share 1
    first_velocities="cone_rows",
    labels="n_bodies",  # the first body of the island of each
    share="n_bodies",
    is_done="n_bodies",
    low="n_bodies",
    low_work="n_bodies",
    high="n_bodies",
    high_work="n_bodies",
    work="n_bodies",
    activity="n_bodies",  # the sum of |lambda^T v-| / 2
    curve="n_bodies",  # a
)


@function
def label_of(model, element, labels):
    """The island of a cone row's element."""
    return int(labels[(first_cone_velocity(bodies_of(model)) + place_of(element, 0)) // 6])


@function
def join(element, first, labels):
    """Give all bodies of an element the least of their labels; whether one is new."""
    least, is_new = 1e300, False
    for e in range(element.count):
        least = minimum(least, labels[(first + place_of(element, e)) // 6])
    for e in range(element.count):
        b = (first + place_of(element, e)) // 6
        if labels[b] > least:
            labels[b], is_new = least, True
    return is_new


@function
def put_islands(model, work):
    """Labels of all bodies, and whole shares."""
    impact, view, is_new = work.impact, cones_of(work.op), True
    for i in range(len(model.bodies) - 1):
        impact.labels[i], impact.share[i] = 1.0 * i, 1.0
    while is_new:
        is_new = False
        for k in range(len(model.held)):
            is_new = join(model.held[k], 0, impact.labels) or is_new
        for k in range(view.count):
            first = first_cone_velocity(bodies_of(model))
            is_new = join(cone_at(view, k), first, impact.labels) or is_new


@function
def put_velocities(counts, work):
    """Velocities of cone rows as given, without what was added to them."""
    cones, impact = work.cones, work.impact
    for t in range(count_rows(counts)):
        added = work.bias[t] + work.op.compliance[t] * cones.reactions[t]
        impact.after[t] = cones.own_velocity[t] - added / cones.scale[t]


@function
def put_works(model, counts, work):
    """W of all islands, and by how much it could change."""
    impact, cones, view = work.impact, work.cones, cones_of(work.op)
    put_velocities(counts, work)
    for i in range(len(model.bodies) - 1):
        impact.work[i] = impact.activity[i] = impact.curve[i] = 0.0
    for k in range(view.count):
        element = cone_at(view, k)
        if element.count > 0:
            i = label_of(model, element, impact.labels)
            for t in range(element.row, element.row + element.height):
                reaction, before, after = cones.own_reactions[t], impact.before[t], impact.after[t]
                impact.work[i] = impact.work[i] + 0.5 * reaction * (after + before)
                impact.activity[i] = impact.activity[i] + 0.5 * absolute(reaction * before)
                change = impact.first_reactions[t] - reaction
                change = change * (impact.first_velocities[t] - after)
                impact.curve[i] = impact.curve[i] + 0.5 * change


@function
def root_between(low, high, a):
    """Where low + s (high - low - a) + s^2 a, which is negative at 0, not at 1, has its root."""
    b = high - low - a
    return -2.0 * low / (b + sqrt(maximum(b * b - 4.0 * a * low, 0.0)))


@function
def judge(model, counts, turn, work):
    """Shares to be tried next, after so many tries; whether there are any."""
    impact, cones, is_over = work.impact, work.cones, True
    if turn == 0:
        for t in range(count_rows(counts)):
            impact.first_reactions[t] = cones.own_reactions[t]
            impact.first_velocities[t] = impact.after[t]
    for i in range(len(model.bodies) - 1):
        gain, share = impact.work[i], impact.share[i]
        gains = gain > NO_WORK * impact.activity[i]
        if turn == 0:
            impact.is_done[i] = 0.0 if gains else 1.0
            impact.high[i], impact.high_work[i], impact.low[i] = 1.0, gain, 0.0
            impact.share[i] = 0.0 if gains else 1.0
        elif impact.is_done[i] > 0.0:
            continue
        elif turn == 1:
            impact.low_work[i] = gain
            if gains or gain >= 0.0:
                impact.is_done[i] = 1.0
            else:
                impact.share[i] = root_between(gain, impact.high_work[i], impact.curve[i])
        else:
            if gains:
                impact.high[i], impact.high_work[i] = share, gain
            else:
                impact.low[i], impact.low_work[i] = share, gain
            if not gains and gain >= -LITTLE_LOSS * impact.activity[i]:
                impact.is_done[i] = 1.0
            elif turn == MOST_TRIES - 2:
                impact.is_done[i] = 1.0 if not gains else 0.0
                impact.share[i] = impact.low[i]
            else:
                span = impact.high[i] - impact.low[i]
                between = -impact.low_work[i] / (impact.high_work[i] - impact.low_work[i])
                impact.share[i] = impact.low[i] + span * minimum(maximum(between, 0.05), 0.95)
        is_over = is_over and impact.is_done[i] > 0.0
    return not is_over

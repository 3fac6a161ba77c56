"""Impacts: what contacts bounce back, by three laws, and never with more energy than there was.

| law | what holds for contacts that close fast |
| --- | --- |
| NEWTON | v_n+ >= -e v_n-, for all contacts at once |
| POISSON | normal impulses are 1 + e times those of a step without bounce, or larger |
|         | where contacts would close otherwise |
| SEQUENTIAL | Newton's, for one pair of bodies after another; that which closes fastest is first |

None of them gives energy: see `islands`.

In Poisson's law the normal impulse of a contact is given by a softness that is SOFT times the
mobility, so that its velocity hardly matters to it. What that still does is taken off in the next
solution, and so on. Resting loads, those of the last step, do not bounce.
"""

from __future__ import annotations

from collections.abc import Callable

from ...compile import absolute, function, layout, maximum, minimum, part, routine
from ...contact.operators.bodies import first_cone_velocity, push_front
from ...contact.operators.elements import cone_at
from ...maximal.assembly import joint_rows
from ...maximal.rows.biases import REST, SETTINGS, parting_velocity
from ...maximal.rows.blocks import ROW
from ...maximal.rows.contacts import CONTACT
from ...maximal.rows.softening import RIGID, SOFTENING
from ..structure.world import bodies_of
from .cones import cones_of, count_rows
from .islands import ISLANDS, MOST_TRIES, judge, label_of, put_islands, put_works

NEWTON, POISSON, SEQUENTIAL = 0, 1, 2
IMPACTS = ("newton", "poisson", "sequential")  # their names, in this order
# See POISSON: softness, solutions for it, and what is left of impulses. A larger softness needs
# fewer solutions, but sweeps over rows take as many more as it is larger; those of "pgs-ccp", with
# one step for all rows of a contact, converge with none.
SOFT, MOST_PUSHES, AIMED = 30.0, 5, 1e-4
# Contacts that are left out of an impact bounce at this many times the speed of those that are not.
APART = 1e4
SAME_SPEED = 1e-5  # pairs of bodies whose speeds differ by less, relatively, bounce at once
FEW_TURNS, TURNS_A_CONTACT = 16, 8  # impacts one after another in a step: at most their sum

IMPACT = layout(
    ISLANDS,
    base="n_slots",  # what is added to normal velocities of contacts that do not bounce
    bounce="n_slots",  # and of those that do: e v_n-
    is_out="n_slots",  # contacts that are left out
    aim="n_slots",  # normal impulses by POISSON, or -1; what is added to them by velocities
    aside="n_slots",
    sums="cone_rows",  # impulses of impacts before this one; by POISSON see `put_aims`
    forces=("n_bodies", 6),
    turns=2,  # how many impacts there were one after another, and whether one was left
)


# --- which contacts bounce ------------------------------------------------------------------------


@function
def normal_row(counts, c):
    """The normal row of contact c among cone rows."""
    return counts[1] + counts[2] + 3 * c + 2


@function
def is_rigid(c, settings, residual, work):
    """Whether contact c has no softness, or none yet."""
    own = work.contacts[c * CONTACT.size + CONTACT.softening + SOFTENING.law]
    shared = settings[SETTINGS.contact_softening + SOFTENING.law]
    return residual > 0.0 or (own == RIGID and shared == RIGID)


@function
def speed_of_bounce(c, row, speed, settings, work):
    """e v_n of a contact that closes at this speed within the step, else zero; see `biases`."""
    residual = work.rows[row * ROW.size + ROW.residual]
    closes = speed < -settings[SETTINGS.restitution_speed]
    closes = closes and residual + settings[SETTINGS.dt] * speed <= 0.0
    if closes and is_rigid(c, settings, residual, work):
        return work.contacts[c * CONTACT.size + CONTACT.restitution] * speed
    return 0.0


@function
def put_bounces(model, counts, settings, work):
    """What contacts bounce with, and what they are asked for without; whether any bounces."""
    impact, rows, n_held, found = work.impact, work.rows, joint_rows(model), False
    for c in range(counts[3]):
        row = n_held + normal_row(counts, c)
        at = row * ROW.size
        bounce = speed_of_bounce(c, row, rows[at + ROW.velocity], settings, work)
        impact.bounce[c], impact.base[c] = bounce, rows[at + ROW.bias]
        impact.is_out[c], impact.aim[c], impact.aside[c] = 0.0, -1.0, 0.0
        if bounce < 0.0:
            found = True
            parting = parting_velocity(
                rows[at + ROW.residual],
                REST * settings[SETTINGS.penetration_margin],
                settings[SETTINGS.dt],
                settings[SETTINGS.contact_erp],
                settings[SETTINGS.depenetration_speed],
            )
            impact.base[c] = minimum(parting, 0.0)
    for t in range(count_rows(counts) if found else 0):
        impact.before[t] = rows[(n_held + t) * ROW.size + ROW.velocity]
    return found


@function
def put_biases(model, counts, speed, work):
    """What rows of contacts add to their velocities, for the shares of their islands."""
    impact, view, single = work.impact, cones_of(work.op), counts[1] + counts[2]
    for c in range(counts[3]):
        t = normal_row(counts, c)
        at = (joint_rows(model) + t) * ROW.size
        scale, bias = work.cones.scale[t], impact.base[c]
        regulation, softness = work.rows[at + ROW.regulation], work.rows[at + ROW.compliance]
        if impact.is_out[c] > 0.0:
            bias = APART * speed
        elif impact.aim[c] >= 0.0:
            softness = SOFT * work.rows[at + ROW.mobility]
            bias = -softness * impact.aim[c] - impact.aside[c]
        elif impact.bounce[c] < 0.0:
            share = impact.share[label_of(model, cone_at(view, single + c), impact.labels)]
            bias = minimum(share * impact.bounce[c], bias)
        work.bias[t] = scale * (bias + regulation)
        work.op.compliance[t] = scale * scale * softness


# --- Poisson's law --------------------------------------------------------------------------------


@function
def put_aims(model, counts, settings, work):
    """Normal impulses that contacts had without bounce, or -1, and what is added to them.

    They stand in the first two places of contacts in `sums`.
    """
    impact, cones, view = work.impact, work.cones, cones_of(work.op)
    single = counts[1] + counts[2]
    for i in range(len(model.bodies) - 1):
        impact.work[i] = 0.0  # whether the island has an impact
    for c in range(counts[3]):
        if impact.bounce[c] < 0.0:
            impact.work[label_of(model, cone_at(view, single + c), impact.labels)] = 1.0
    for c in range(counts[3]):
        t = normal_row(counts, c)
        at = (joint_rows(model) + t) * ROW.size
        bounced = cones.own_reactions[t] - work.known[3 * c + 2]
        island = label_of(model, cone_at(view, single + c), impact.labels)
        is_fast = bounced * work.rows[at + ROW.mobility] > settings[SETTINGS.restitution_speed]
        rigid = is_rigid(c, settings, work.rows[at + ROW.residual], work)
        impact.sums[t - 2], impact.sums[t - 1] = -1.0, 0.0
        if is_fast and rigid and impact.work[island] > 0.0:
            e = work.contacts[c * CONTACT.size + CONTACT.restitution]
            impact.sums[t - 2], impact.sums[t - 1] = cones.own_reactions[t], e * bounced
    for c in range(counts[3]):
        impact.bounce[c] = 0.0


@function
def aim(model, counts, work):
    """Aims of contacts for the shares of their islands."""
    impact, view, single = work.impact, cones_of(work.op), counts[1] + counts[2]
    for c in range(counts[3]):
        t = normal_row(counts, c)
        island = label_of(model, cone_at(view, single + c), impact.labels)
        impact.aside[c] = 0.0
        pressed, more = impact.sums[t - 2], impact.sums[t - 1]
        impact.aim[c] = pressed + impact.share[island] * more if pressed >= 0.0 else -1.0


@function
def aim_again(model, counts, settings, work):
    """Let contacts that would close have what they need; whether velocities matter still."""
    impact, is_changed = work.impact, False
    for c in range(counts[3]):
        if impact.aim[c] >= 0.0:
            t = normal_row(counts, c)
            v, at = impact.after[t], (joint_rows(model) + t) * ROW.size
            most = AIMED * SOFT * work.rows[at + ROW.mobility] * impact.aim[c]
            if v < -1e-3 * settings[SETTINGS.restitution_speed]:
                impact.aim[c], is_changed = -1.0, True
            elif absolute(v - impact.aside[c]) > most:
                is_changed = True
            impact.aside[c] = v
    return is_changed


# --- one impact after another ---------------------------------------------------------------------


@function
def choose(model, counts, settings, work):
    """Leave out all contacts but those of the bodies that close fastest; returns their speed.

    It is zero where none closes that bounces.
    """
    impact, n_held, least = work.impact, joint_rows(model), 0.0
    for c in range(counts[3]):
        t = normal_row(counts, c)
        v = impact.before[t]
        impact.bounce[c] = speed_of_bounce(c, n_held + t, v, settings, work)
        impact.is_out[c] = 1.0
        if impact.bounce[c] < 0.0:
            least = minimum(least, v)
    for c in range(counts[3]):
        is_first = impact.before[normal_row(counts, c)] <= (1.0 - SAME_SPEED) * least
        if impact.bounce[c] < 0.0 and is_first:
            for k in range(counts[3]):
                if are_same_bodies(c, k, work.contacts):
                    impact.is_out[k] = 0.0
    return -least


@function
def are_same_bodies(c, k, contacts):
    """Whether two contacts are of the same bodies."""
    one, other = c * CONTACT.size, k * CONTACT.size
    a, b = contacts[one + CONTACT.a], contacts[one + CONTACT.b]
    x, y = contacts[other + CONTACT.a], contacts[other + CONTACT.b]
    return (a == x and b == y) or (a == y and b == x)


@function
def take_in(model, counts, g, work):
    """Let forces have the reactions of an impact, after which the next one begins."""
    impact, cones, n = work.impact, work.cones, count_rows(counts)
    front = part(g, first_cone_velocity(bodies_of(model)))
    push_front(cones_of(work.op), cones.reactions, front)
    for t in range(n):
        impact.sums[t] = impact.sums[t] + cones.own_reactions[t]
        impact.before[t] = impact.after[t]
        cones.reactions[t] = 0.0


@function
def bring_together(counts, work):
    """No contact bounces or is left out."""
    impact, cones = work.impact, work.cones
    for c in range(counts[3]):
        impact.bounce[c] = impact.is_out[c] = 0.0
        for k in range(3):
            t = normal_row(counts, c) - 2 + k
            cones.reactions[t] = work.known[3 * c + k] / cones.scale[t]


@function
def larger(one, other):
    """The larger one of each of two natural maps."""
    return maximum(one[0], other[0]), maximum(one[1], other[1])


@function
def forget_bounces(model, counts, work):
    """Ask no contact to bounce: a step with impacts had no solution. Its impacts are left."""
    work.impact.turns[1] = 1.0
    for c in range(counts[3]):
        work.impact.bounce[c] = work.impact.is_out[c] = 0.0
        work.impact.aim[c] = -1.0
    put_biases(model, counts, 0.0, work)


# --- steps ----------------------------------------------------------------------------------------


def impacts(solve_step: Callable, offsets) -> Callable:
    """The function for a step with impacts, by one without; `offsets` are WHOLE and SETTING."""
    whole, setting = offsets

    @routine
    def solve_once(model, counts, request, speed, g, u, work):
        """The step with the shares at hand. Returns natural maps, joint residual, iterations."""
        put_biases(model, counts, speed, work)
        told = solve_step(
            model, counts, request.whole, request.options,
            request.settings[setting.joint_tolerance], 0.0, g, u, work,
        )  # fmt: skip
        put_works(model, counts, work)
        return told

    @function
    def solve_pushed(model, counts, request, g, u, work):
        """The step with impulses by POISSON and the shares at hand."""
        aim(model, counts, work)
        natural, residual, iterations = solve_once(model, counts, request, 0.0, g, u, work)
        turn = 0
        while turn < MOST_PUSHES and aim_again(model, counts, request.settings, work):
            natural, residual, more = solve_once(model, counts, request, 0.0, g, u, work)
            iterations, turn = iterations + more, turn + 1
        return natural, residual, iterations

    @routine
    def bounce(model, counts, request, speed, g, u, work):
        """One impact, of all contacts that are not left out."""
        law, total, turn, goes_on = request.whole[whole.impact], 0.0, 0, True
        natural, residual = (0.0, 0.0), 0.0
        for i in range(len(model.bodies) - 1):
            work.impact.share[i] = 1.0 if law != POISSON else 0.0
        if law == POISSON:
            _, _, total = solve_once(model, counts, request, 0.0, g, u, work)
            put_aims(model, counts, request.settings, work)
            for i in range(len(model.bodies) - 1):
                work.impact.share[i] = 1.0
        while goes_on:
            if law == POISSON:
                natural, residual, more = solve_pushed(model, counts, request, g, u, work)
            else:
                natural, residual, more = solve_once(model, counts, request, speed, g, u, work)
            total = total + more
            goes_on = turn < MOST_TRIES - 1 and judge(model, counts, turn, work)
            turn = turn + 1
        return natural, residual, total

    @routine
    def one_after_another(model, counts, request, g, u, work):
        """All impacts, and then the step without any."""
        settings, impact, n = request.settings, work.impact, count_rows(counts)
        natural, residual, total, turn = (0.0, 0.0), 0.0, 0.0, 0
        for t in range(n):
            impact.sums[t] = 0.0
        speed = choose(model, counts, settings, work)
        while speed > 0.0 and turn < FEW_TURNS + TURNS_A_CONTACT * counts[3]:
            found, left, more = bounce(model, counts, request, speed, g, u, work)
            take_in(model, counts, g, work)
            natural, residual = larger(natural, found), maximum(residual, left)
            total, turn = total + more, turn + 1
            speed = choose(model, counts, settings, work)
        impact.turns[0], impact.turns[1] = 1.0 * turn, 1.0 if speed > 0.0 else 0.0
        bring_together(counts, work)
        found, left, more = solve_once(model, counts, request, 0.0, g, u, work)
        for t in range(n):
            work.cones.reactions[t] = work.cones.reactions[t] + impact.sums[t] / work.cones.scale[t]
        return larger(natural, found), maximum(residual, left), total + more

    @function
    def solve_impacts(model, counts, request, g, u, work):
        """u+ where contacts bounce. Returns natural maps, joint residual, iterations."""
        for t in range(6 * (len(model.bodies) - 1)):
            work.impact.forces[t] = g[t]
        put_islands(model, work)
        if request.whole[whole.impact] == SEQUENTIAL:
            return one_after_another(model, counts, request, work.impact.forces, u, work)
        work.impact.turns[0], work.impact.turns[1] = 1.0, 0.0
        return bounce(model, counts, request, 0.0, g, u, work)

    return solve_impacts

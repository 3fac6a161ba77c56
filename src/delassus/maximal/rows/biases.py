"""What is added to the free velocity of rows: stabilisation, restitution, softening.

Tsounis et al., Eqs. (80), (89) to (91), (94), (106).

| paper              | here                              | what it is                              |
| ------------------ | --------------------------------- | --------------------------------------- |
| alpha, beta, gamma | joint_erp, limit_erp, contact_erp | part of an error that a step takes away |
| delta_c            | penetration_margin                | overlap that is tolerated               |
| E v-               | e v_n                             | restitution of contacts that close      |

Departs from the paper: limits are two-sided as contacts are (91b), since (90b) acts only after a
limit is passed. Speeds at which errors are taken away are capped. Restitution is for contacts that
close: faster than a threshold, and within this step; their gap gives no bias. Where such a contact
overlaps, the faster of bounce and stabilisation counts: their sum would give energy at each bounce.
A softened row has no bias of stabilisation, and is rigid while it is open.

A rigid contact rests in a band of overlaps, from 1 - REST of the tolerated one to all of it, where
it asks for nothing but not to close further. One that closes does so to the middle of the band; if
it has left the band by less than its width, to the nearer the edge the less that is. So reactions
change with gaps without a jump: a contact that creeps out of the band, at a velocity within the
tolerance, is not thrown back to its middle in one step, which takes forces from others at rest.
Many contacts of one body can all rest there, whatever the rounding. With one overlap for all to be
at, rounding would have them ask for velocities that contradict each other, and a robot that stands
would never come to rest.
"""

from __future__ import annotations

from ...compile import function, slots
from .blocks import ROW
from .contacts import CONTACT
from .softening import RIGID, SOFTENING, impedance, soften

REST = 0.1
SETTINGS = slots(
    dt=1,
    joint_erp=1,
    limit_erp=1,
    contact_erp=1,
    limit_margin=1,
    penetration_margin=1,
    depenetration_speed=1,
    restitution_speed=1,
    joint_opening=1,
    joint_softening=SOFTENING.size,
    limit_softening=SOFTENING.size,
    contact_softening=SOFTENING.size,
)


@function
def unilateral_bias(r, dt, erp, speed):
    """(91b): r / dt for a gap; erp r / dt for an overlap, but not faster than a speed."""
    if r > 0.0:
        return r / dt
    return max(erp * r / dt, -speed)


@function
def parting_velocity(r, band, dt, erp, speed):
    """(91b); nothing within a band above 0, and a gap is that to the band, its middle from afar."""
    if 0.0 < r < band:
        return 0.0
    far = min(1.5 * (r - band), r - 0.5 * band)
    return unilateral_bias(far if r > 0.0 else r, dt, erp, speed)


@function
def soften_row(parameters, at, d, residual, mobility, dt, rows, row):
    """Compliance and regulation velocity of a row of impedance d; its parameters start at `at`."""
    record = row * ROW.size
    velocity = rows[record + ROW.velocity]
    R, regulation = soften(parameters, at, d, residual, velocity, mobility, dt)
    rows[record + ROW.compliance] = R
    rows[record + ROW.regulation] = regulation


@function
def bias_joint_row(settings, rows, row):
    """(89b): erp r / dt, or softening"""
    at, soft = row * ROW.size, SETTINGS.joint_softening
    residual = rows[at + ROW.residual]
    if settings[soft + SOFTENING.law] == RIGID:
        rows[at + ROW.bias] = settings[SETTINGS.joint_erp] * residual / settings[SETTINGS.dt]
    else:
        d, mobility = impedance(settings, soft, residual), rows[at + ROW.mobility]
        soften_row(settings, soft, d, residual, mobility, settings[SETTINGS.dt], rows, row)


@function
def bias_limit_row(settings, rows, row):
    """(91b) for the gap of a limit, or softening once it is passed"""
    at, soft = row * ROW.size, SETTINGS.limit_softening
    residual = rows[at + ROW.residual]
    if settings[soft + SOFTENING.law] == RIGID or residual > 0.0:
        rows[at + ROW.bias] = unilateral_bias(
            residual,
            settings[SETTINGS.dt],
            settings[SETTINGS.limit_erp],
            settings[SETTINGS.depenetration_speed],
        )
    else:
        d, mobility = impedance(settings, soft, residual), rows[at + ROW.mobility]
        soften_row(settings, soft, d, residual, mobility, settings[SETTINGS.dt], rows, row)


@function
def bias_contact(contacts, c, settings, rows, row):
    """(91) and restitution of contact c, or softening; `row` is its first, the third is normal."""
    normal, dt = (row + 2) * ROW.size, settings[SETTINGS.dt]
    soft, own = SETTINGS.contact_softening, c * CONTACT.size + CONTACT.softening
    has_own = contacts[own + SOFTENING.law] != RIGID
    residual = rows[normal + ROW.residual] + settings[SETTINGS.penetration_margin]
    rows[normal + ROW.residual] = residual
    speed, e = rows[normal + ROW.velocity], contacts[c * CONTACT.size + CONTACT.restitution]
    closes = speed < -settings[SETTINGS.restitution_speed] and residual + dt * speed <= 0.0
    bounce = e * speed if closes else 0.0
    is_rigid = not has_own and settings[soft + SOFTENING.law] == RIGID
    is_soft = not is_rigid and residual <= 0.0
    if not is_soft and not (bounce < 0.0 and residual > 0.0):
        parting = parting_velocity(
            residual,
            REST * settings[SETTINGS.penetration_margin] if is_rigid else 0.0,
            dt,
            settings[SETTINGS.contact_erp],
            settings[SETTINGS.depenetration_speed],
        )
        bounce = min(bounce, parting) if bounce < 0.0 else parting
    rows[normal + ROW.bias] = bounce
    if is_soft and has_own:
        soften_contact(contacts, own, residual, dt, rows, row)
    elif is_soft:
        soften_contact(settings, soft, residual, dt, rows, row)


@function
def soften_contact(parameters, at, residual, dt, rows, row):
    """Softening of the three rows of a contact, with the impedance of the normal one.

    The tangents have no residual, and share a compliance, so that friction has no direction.
    """
    place, d = row * ROW.size + ROW.mobility, impedance(parameters, at, residual)
    across = 0.5 * (rows[place] + rows[place + ROW.size])
    soften_row(parameters, at, d, 0.0, across, dt, rows, row)
    soften_row(parameters, at, d, 0.0, across, dt, rows, row + 1)
    soften_row(parameters, at, d, residual, rows[place + 2 * ROW.size], dt, rows, row + 2)

"""Softening of rows as MuJoCo does it, Sec. V-D: compliance R and regulation velocity v_r.

| paper          | here                | what it is                                              |
| -------------- | ------------------- | ------------------------------------------------------- |
| m, p           | midpoint, power     | shape of the impedance between its two limits (103)     |
| w              | width               | residual at which the impedance is largest              |
| d_0, d_w       | impedance, impedance_at_width | impedance at residual 0 and from the width on |
| T, zeta        | time_constant, damping_ratio  | of the mass, spring and damper that a row is  |
| d, c, b, k     | d, c, b, k          | impedance (104), compliance, damping, stiffness (105)   |
| R_jj, v_r      | compliance, regulation        | (106)                                         |

The row then has v+ = (1 - d) v_f - d v_r. Two laws of v_r: MuJoCo's, dt (b v- + k r) - v-, with
which a row accelerates by (1 - d) a_f - d (b v- + k r); and dt (b v- + k r) as printed, with which
the velocity of a row vanishes in one step, whatever T is. Departs from print in (103b), whose
denominators are m^(p-1) and (1-m)^(p-1), and in (104a), where the residual already has its margin.
"""

from __future__ import annotations

from ...compile import absolute, exp, function, log, slots

SOFTENING = slots(
    law=1,
    midpoint=1,
    power=1,
    width=1,
    impedance=1,
    impedance_at_width=1,
    time_constant=1,
    damping_ratio=1,
)
RIGID, MUJOCO, PRINTED = 0, 1, 2


@function
def power_of(x, p):
    """x^p for x >= 0"""
    return exp(p * log(x)) if x > 0.0 else 0.0


@function
def shaped(x, m, p):
    """(103): x for p = 1, else a curve from 0 to 1 that bends at m"""
    if p == 1.0:
        return x
    if x <= m:
        return power_of(x, p) / power_of(m, p - 1.0)
    return 1.0 - power_of(1.0 - x, p) / power_of(1.0 - m, p - 1.0)


@function
def impedance(settings, at, residual):
    """(104): d at a residual, for the parameters from `at` on."""
    d0, dw = settings[at + SOFTENING.impedance], settings[at + SOFTENING.impedance_at_width]
    width = settings[at + SOFTENING.width]
    if d0 == dw or width <= 0.0:
        return 0.5 * (d0 + dw)
    x = absolute(residual) / width
    if x >= 1.0:
        return dw
    m, p = settings[at + SOFTENING.midpoint], settings[at + SOFTENING.power]
    return d0 + shaped(x, m, p) * (dw - d0)


@function
def soften(settings, at, d, residual, velocity, mobility, dt):
    """(105), (106): compliance and regulation velocity of a row of impedance d."""
    dw = settings[at + SOFTENING.impedance_at_width]
    scale = dw * settings[at + SOFTENING.time_constant]
    ratio = settings[at + SOFTENING.damping_ratio]
    b, k = 2.0 / scale, d / (scale * scale * ratio * ratio)
    regulation = dt * (b * velocity + k * residual)
    if settings[at + SOFTENING.law] != PRINTED:
        regulation -= velocity
    return (1.0 - d) / d * mobility, regulation

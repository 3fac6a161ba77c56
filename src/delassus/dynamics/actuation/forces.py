"""Forces of a model's actuators on its joints. O(n). No other function includes them.

| symbol | name here | what it is |
| --- | --- | --- |
| g | `gear` | how far the actuator moves for each degree of freedom, in the axes of v |
| l, l' | `length`, `rate` | g . q and g . v |
| f | `force` | gain u + b0 + b1 l + b2 l' within a range; see `model.parts.actuators` |
| tau | `tau` | sum of g f, within the effort limits |
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ...compile import atan2, function, kernel, layout, maximum, minimum, sincos
from ...model.configuration import difference
from ...model.model import Model
from ...spatial.quaternions import rotation
from ...spatial.vectors import get3, get4, put3, rotate_back
from .packed import ActuatorArrays

_put_difference = difference.function


@function
def put_gear(actuator, q, gear):
    """The gear along the joint's velocities, which are in axes that turn with the body."""
    for k in range(actuator.nv):
        gear[k] = actuator.gear[k]
    if actuator.turned >= 0:
        x = get4(q, actuator.turned)
        R = rotation(x[0], x[1], x[2], x[3])
        for k in range(0, actuator.nv, 3):
            put3(gear, k, rotate_back(R, get3(actuator.gear, k)))


@function
def along_gear(actuator, gear, x):
    """g . x: the length or the rate of an actuator"""
    result = gear[0] * x[actuator.dofs[0]]
    for k in range(1, actuator.nv):
        result = result + gear[k] * x[actuator.dofs[k]]
    return result


@function
def unlimited_force(actuator, u, length, rate):
    """gain u + b0 + b1 l + b2 l', u within its range"""
    control = minimum(maximum(u, actuator.control_lower), actuator.control_upper)
    if actuator.radius > 0.0:
        s, c = sincos((control - length) / actuator.radius)
        length = control - actuator.radius * atan2(s, c)  # of all lengths, the one nearest to u
    bias = actuator.bias[0] + actuator.bias[1] * length + actuator.bias[2] * rate
    return actuator.gain * control + bias


@function
def actuator_force(actuator, u, length, rate):
    """f = gain u + b0 + b1 l + b2 l', within the actuator's ranges"""
    force = unlimited_force(actuator, u, length, rate)
    return minimum(maximum(force, actuator.force_lower), actuator.force_upper)


@kernel(
    ActuatorArrays,
    inputs={"q": "nq", "v": "nv", "u": "nu"},
    outputs={"tau": "nv"},
    work=layout(displacement="nv", gear=6),
    label="actuator_forces",
)
def add_forces(model, q, v, u, tau, work):
    """tau = sum of g f over the actuators, within the effort limits"""
    _put_difference(model, model.neutral, q, work.displacement, work)
    for k in range(len(model.armature)):
        tau[k] = 0.0
    for i in range(len(model.actuators)):
        actuator = model.actuators[i]
        put_gear(actuator, q, work.gear)
        length = along_gear(actuator, work.gear, work.displacement)
        rate = along_gear(actuator, work.gear, v)
        force = actuator_force(actuator, u[i], length, rate)
        for k in range(actuator.nv):
            dof = actuator.dofs[k]
            tau[dof] = tau[dof] + work.gear[k] * force
    for k in range(len(model.armature)):
        limit = model.effort_limit[k]
        tau[k] = minimum(maximum(tau[k], -limit), limit)


def actuator_forces(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    u: ArrayLike,
    *,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """tau = sum of g f over `model.actuators` at controls u, (..., nv): add it to other forces.

    u has a control for each actuator, in their order. See `Actuator` for the law of f. What
    actuators of a degree of freedom add up to is clipped to its `effort_limit`.
    """
    return add_forces(model, (q, v, u), out, threads)

"""Inverse dynamics by the recursive Newton-Euler algorithm. O(n).

Carpentier and Mansard, Analytical Derivatives of Rigid Body Dynamics Algorithms, 2018, Algorithm 1.

Departs from the paper in the choice of quantities, which halves the arithmetic: velocities and
accelerations are those of the link's origin as a point (omega, alpha, a) in the link's axes, so no
linear velocity is needed; gravity enters as an upward acceleration of the world.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..compile import function, kernel, present, slots
from ..model.model import Model
from ..model.packed import PRISMATIC, REVOLUTE, ModelArrays
from ..spatial.vectors import (
    add,
    add_cross,
    cross,
    get3,
    get6,
    get9,
    put3,
    put9,
    rotate,
    rotate_back,
    scale,
    subtract,
    symmetric_times,
)
from .arguments import zero_velocity
from .joints import joint_motion, joint_placement, put_joint_force

# A link's work memory: placement in the parent, angular velocity and acceleration, acceleration of
# the origin, force and moment across the joint.
LINK = slots(R=9, p=3, omega=3, alpha=3, a=3, f=3, n=3)


@kernel(
    ModelArrays,
    inputs={"q": "nq", "v": "nv", "a": "nv", "external_forces": "n_bodies 6 optional"},
    outputs={"tau": "nv"},
    work=lambda n: n["n_links"] * LINK.size,
    label="inverse_dynamics",
)
def rnea(model, q, v, a, external_forces, tau, work):
    """tau = M(q) a + b(q, v) - sum of J^T f_ext"""
    start_at_world(model, work)
    for i in range(1, len(model.links)):
        propagate_motion(model, i, q, v, a, work)
        newton_euler(model.links[i], model.solids[i], i, work)
        if present(external_forces):
            subtract_external_force(model.links[i], model.solids[i], i, external_forces, work)
    for i in range(len(model.links) - 1, 0, -1):
        collect_force(model, i, a, tau, work)


@function
def start_at_world(model, work):
    """The world does not turn, and accelerates against gravity."""
    put3(work, LINK.omega, (0.0, 0.0, 0.0))
    put3(work, LINK.alpha, (0.0, 0.0, 0.0))
    put3(work, LINK.a, (-model.gravity[0], -model.gravity[1], -model.gravity[2]))


@function
def propagate_motion(model, i, q, v, a, work):
    """Velocity and acceleration of link i from those of its parent."""
    link = model.links[i]
    at, parent = i * LINK.size, link.parent * LINK.size
    R, p = joint_placement(link, q)
    omega_parent = get3(work, parent + LINK.omega)
    alpha_parent = get3(work, parent + LINK.alpha)
    a_parent = get3(work, parent + LINK.a)
    a_there = add_cross(add_cross(a_parent, alpha_parent, p), omega_parent, cross(omega_parent, p))
    omega = rotate_back(R, omega_parent)
    alpha = rotate_back(R, alpha_parent)
    a_origin = rotate_back(R, a_there)
    if link.kind == REVOLUTE:
        w = v[link.v]
        alpha = (alpha[0] + omega[1] * w, alpha[1] - omega[0] * w, alpha[2] + a[link.v])
        omega = (omega[0], omega[1], omega[2] + w)
    elif link.kind == PRISMATIC:
        u = v[link.v] + v[link.v]
        a_origin = (
            a_origin[0] + omega[1] * u,
            a_origin[1] - omega[0] * u,
            a_origin[2] + a[link.v],
        )
    else:
        u, w = joint_motion(link, v)
        du, dw = joint_motion(link, a)
        alpha = add(add_cross(alpha, omega, w), dw)
        # Coriolis' acceleration counts the parent's rotation twice and the joint's own once.
        a_origin = add(add_cross(a_origin, add(add(omega, omega), w), u), du)
        omega = add(omega, w)
    put9(work, at + LINK.R, R)
    put3(work, at + LINK.p, p)
    put3(work, at + LINK.omega, omega)
    put3(work, at + LINK.alpha, alpha)
    put3(work, at + LINK.a, a_origin)


@function
def newton_euler(link, solid, i, work):
    """Force and moment about the origin that give link i its acceleration."""
    at = i * LINK.size
    omega = get3(work, at + LINK.omega)
    alpha = get3(work, at + LINK.alpha)
    a = get3(work, at + LINK.a)
    h = get3(link.moment, 0)
    inertia = get6(solid.inertia, 0)
    f = add_cross(add_cross(scale(link.mass, a), alpha, h), omega, cross(omega, h))
    n = add_cross(symmetric_times(inertia, alpha), omega, symmetric_times(inertia, omega))
    put3(work, at + LINK.f, f)
    put3(work, at + LINK.n, add_cross(n, h, a))


@function
def subtract_external_force(link, solid, i, external_forces, work):
    """External forces are given in the body's axes, at its origin."""
    if link.body >= 0:
        at = i * LINK.size
        E = get9(solid.orientation, 0)
        f = rotate(E, get3(external_forces, 6 * link.body))
        n = rotate(E, get3(external_forces, 6 * link.body + 3))
        n = add_cross(n, (0.0, 0.0, solid.height), f)
        put3(work, at + LINK.f, subtract(get3(work, at + LINK.f), f))
        put3(work, at + LINK.n, subtract(get3(work, at + LINK.n), n))


@function
def collect_force(model, i, a, tau, work):
    """What the joint of link i must exert, and what its parent must then carry."""
    link = model.links[i]
    at, parent = i * LINK.size, link.parent * LINK.size
    f = get3(work, at + LINK.f)
    n = get3(work, at + LINK.n)
    put_joint_force(link, f, n, model.armature, a, tau)
    if link.parent > 0:
        R = get9(work, at + LINK.R)
        f = rotate(R, f)
        n = add_cross(rotate(R, n), get3(work, at + LINK.p), f)
        put3(work, parent + LINK.f, add(get3(work, parent + LINK.f), f))
        put3(work, parent + LINK.n, add(get3(work, parent + LINK.n), n))


def inverse_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """tau = M(q) a + b(q, v) - sum of J^T f: the joint forces that produce accelerations a.

    `external_forces` (..., n_bodies, 6) act on the bodies: force then moment, in the body's axes
    and at its origin. Damping, friction and springs are not included: see `passive_forces`.
    """
    if external_forces is None:
        return rnea(model, (q, v, a), out, threads)
    return rnea(model, (q, v, a, external_forces), out, threads)


def bias_forces(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """b(q, v): the joint forces of Coriolis, centrifugal and gravity effects."""
    return rnea(model, (q, v, zero_velocity(model, v)), out, threads)


def gravity_forces(
    model: Model, q: ArrayLike, *, threads: int | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """g(q) = b(q, 0): the joint forces that hold the mechanism against gravity."""
    zero = zero_velocity(model, q)
    return rnea(model, (q, zero, zero), out, threads)

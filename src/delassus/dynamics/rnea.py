"""Inverse dynamics by the recursive Newton-Euler algorithm. O(n).

Carpentier and Mansard, Analytical Derivatives of Rigid Body Dynamics Algorithms, 2018, Algorithm 1.

| paper        | here                  | what it is                                            |
| ------------ | --------------------- | ----------------------------------------------------- |
| lambda(i)    | link.parent           | the link that carries link i                          |
| q', q''      | v, a                  | velocities and accelerations of joints                |
| X_J X_T(i)   | R, p                  | placement of link i in its parent's axes (line 7)     |
| v_J = S_i q' | u, w                  | linear and angular velocity across the joint (line 6) |
| S_i q''      | du, dw                | linear and angular acceleration across the joint      |
| v_i          | omega                 | angular velocity of link i (line 8)                   |
| a_i          | alpha, a_origin       | acceleration of link i, angular and linear (line 9)   |
| a_g          | model.gravity         | acceleration of free fall (line 3)                    |
| I_i          | inertia, h, mass      | rotational inertia, mass times centre of mass, mass   |
| f_i, f_i^ext | f, n; external_forces | force and moment at the origin of link i (line 11)    |
| tau_i        | tau                   | forces of the joint of link i (backward pass)         |

Departs from the paper in one choice, which halves the arithmetic: the linear acceleration of a link
is that of its origin as a moving point. So no linear velocity, nor momentum (line 10), is needed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..compile import function, kernel, layout, present, slots
from ..model.model import Model
from ..model.packed import ModelArrays
from ..model.parts.kinds import PRISMATIC, REVOLUTE
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
    subtract,
)
from .arguments import zero_velocity
from .steps.bodies import newton_euler
from .steps.joints import joint_motion, joint_placement, put_joint_force
from .steps.links import PLACEMENT

# A link: placement in its parent, angular velocity and acceleration, acceleration of its origin,
# force and moment across its joint. All are in the link's own axes, but for the placement.
LINK = slots(PLACEMENT, omega=3, alpha=3, a=3, f=3, n=3)
WORK = layout(links=("n_links", LINK))


@kernel(
    ModelArrays,
    inputs={"q": "nq", "v": "nv", "a": "nv", "external_forces": "n_bodies 6 optional"},
    outputs={"tau": "nv"},
    work=WORK,
    label="inverse_dynamics",
)
def rnea(model, q, v, a, external_forces, tau, work):
    """tau = M(q) a + b(q, v) - sum of J^T f_ext"""
    links = work.links
    start_at_world(model, links)
    for i in range(1, len(model.links)):
        propagate_motion(model, i, q, v, a, links)
        put_needed_force(model.links[i], model.solids[i], i, links)
        if present(external_forces):
            subtract_external_force(model.links[i], model.solids[i], i, external_forces, links)
    for i in range(len(model.links) - 1, 0, -1):
        collect_force(model, i, a, tau, links)


@function
def start_at_world(model, links):
    """The world does not turn, and accelerates against gravity (lines 2 and 3)."""
    put3(links, LINK.omega, (0.0, 0.0, 0.0))
    put3(links, LINK.alpha, (0.0, 0.0, 0.0))
    put3(links, LINK.a, (-model.gravity[0], -model.gravity[1], -model.gravity[2]))


@function
def propagate_motion(model, i, q, v, a, links):
    """Angular velocity and acceleration of link i from those of its parent (lines 6 to 9)."""
    link = model.links[i]
    at, parent = i * LINK.size, link.parent * LINK.size
    R, p = joint_placement(link, q)
    omega_parent = get3(links, parent + LINK.omega)
    alpha_parent = get3(links, parent + LINK.alpha)
    a_parent = get3(links, parent + LINK.a)
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
    put9(links, at + LINK.R, R)
    put3(links, at + LINK.p, p)
    put3(links, at + LINK.omega, omega)
    put3(links, at + LINK.alpha, alpha)
    put3(links, at + LINK.a, a_origin)


@function
def put_needed_force(link, solid, i, links):
    """Force and moment about its origin that give link i its acceleration (line 11)."""
    at = i * LINK.size
    omega, alpha = get3(links, at + LINK.omega), get3(links, at + LINK.alpha)
    inertia, h = get6(solid.inertia, 0), get3(link.moment, 0)
    n, f = newton_euler(inertia, h, link.mass, omega, alpha, get3(links, at + LINK.a))
    put3(links, at + LINK.f, f)
    put3(links, at + LINK.n, n)


@function
def subtract_external_force(link, solid, i, external_forces, links):
    """Take off what acts on link i from outside, given in the body's axes at its origin."""
    if link.body >= 0:
        at = i * LINK.size
        E = get9(solid.orientation, 0)
        f = rotate(E, get3(external_forces, 6 * link.body))
        n = rotate(E, get3(external_forces, 6 * link.body + 3))
        n = add_cross(n, (0.0, 0.0, solid.height), f)
        put3(links, at + LINK.f, subtract(get3(links, at + LINK.f), f))
        put3(links, at + LINK.n, subtract(get3(links, at + LINK.n), n))


@function
def collect_force(model, i, a, tau, links):
    """Forces of the joint of link i, and what its parent then carries (backward pass)."""
    link, at = model.links[i], i * LINK.size
    f, n = get3(links, at + LINK.f), get3(links, at + LINK.n)
    put_joint_force(link, f, n, model.armature, a, tau)
    pass_force(link, at, f, n, links)


@function
def pass_force(link, at, f, n, links):
    """Add force and moment at a link's origin to what its parent carries."""
    if link.parent > 0:
        parent, R = link.parent * LINK.size, get9(links, at + LINK.R)
        f = rotate(R, f)
        n = add_cross(rotate(R, n), get3(links, at + LINK.p), f)
        put3(links, parent + LINK.f, add(get3(links, parent + LINK.f), f))
        put3(links, parent + LINK.n, add(get3(links, parent + LINK.n), n))


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

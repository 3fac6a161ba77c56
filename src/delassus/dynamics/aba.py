"""Forward dynamics by the articulated-body algorithm (seed 004, Sec. IV; Featherstone). O(n).

Departs from the textbook in three ways, all to save arithmetic. Vectors are in world axes (see
`links`). All that does not depend on the unknown accelerations, gravity included, is first turned
into the force of a motion with zero joint acceleration, so that the backward sweep multiplies no
articulated inertia with a velocity product. A joint of several degrees of freedom is eliminated one
column after the other, which is its block elimination written out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..compile import function, kernel, present, slots
from ..model.model import Model
from ..model.packed import PRISMATIC, REVOLUTE, ModelArrays
from ..spatial.vectors import (
    add,
    add6,
    add9,
    add_cross,
    add_scaled,
    cross,
    dot,
    get3,
    get6,
    get9,
    outer_update,
    outer_update9,
    put3,
    put6,
    put9,
    rotate,
    scale,
    subtract,
    symmetric_times,
)
from .arguments import NO_FORCES
from .joints import joint_motion
from .links import central_inertia, moved_inertia, place_and_span

# A link's work memory: placement; velocity and acceleration with zero joint acceleration; force f
# and moment n of that motion; articulated inertia IA = [[A, H], [H^T, M]].
LINK = slots(
    R=9, p=3, omega=3, alpha=3, a=3, n=3, f=3, A=6, H=9, M=6,
)  # fmt: skip
# A degree of freedom's: motion subspace S, U = IA S, 1/D, u; the link's acceleration after it.
DOF = slots(angular=3, linear=3, U_angular=3, U_linear=3, D_inverse=1, u=1)
# Accelerations of the third sweep reuse the slots of the bias motion.
_ANGULAR, _LINEAR = LINK.alpha, LINK.a


@kernel(
    ModelArrays,
    inputs={"q": "nq", "v": "nv", "tau": "nv", "external_forces": "n_bodies 6 optional"},
    outputs={"a": "nv"},
    work=lambda n: n["n_links"] * LINK.size + n["nv"] * DOF.size,
    label="forward_dynamics",
)
def aba(model, q, v, tau, external_forces, a, work):
    """a = M(q)^-1 (tau - b(q, v) + sum of J^T f_ext)"""
    n = len(model.links)
    dofs = n * LINK.size
    put3(work, LINK.p, (0.0, 0.0, 0.0))
    put3(work, LINK.omega, (0.0, 0.0, 0.0))
    put3(work, LINK.alpha, (0.0, 0.0, 0.0))
    put3(work, LINK.a, (-model.gravity[0], -model.gravity[1], -model.gravity[2]))
    for i in range(1, n):
        place_and_span(model, i, q, work, LINK.size, dofs, DOF.size)
    for i in range(1, n):
        bias_motion(model, i, v, work)
    for i in range(1, n):
        rigid_body(model.links[i], i, work)
    if present(external_forces):
        for i in range(1, n):
            subtract_external_force(model.links[i], i, external_forces, work)
    for i in range(n - 1, 0, -1):
        eliminate_joint(model, i, tau, work, dofs)
    put3(work, _ANGULAR, (0.0, 0.0, 0.0))
    put3(work, _LINEAR, (0.0, 0.0, 0.0))
    for i in range(1, n):
        accelerate(model, i, a, work, dofs)


@function
def bias_motion(model, i, v, work):
    """Velocity of link i, and its acceleration with zero joint acceleration."""
    link = model.links[i]
    at, parent = i * LINK.size, link.parent * LINK.size
    offset = subtract(get3(work, at + LINK.p), get3(work, parent + LINK.p))
    omega = get3(work, parent + LINK.omega)
    alpha = get3(work, parent + LINK.alpha)
    a = add_cross(
        add_cross(get3(work, parent + LINK.a), alpha, offset), omega, cross(omega, offset)
    )
    z = (work[at + LINK.R + 2], work[at + LINK.R + 5], work[at + LINK.R + 8])
    if link.kind == REVOLUTE:
        w = scale(v[link.v], z)
        alpha = add_cross(alpha, omega, w)
        omega = add(omega, w)
    elif link.kind == PRISMATIC:
        u = scale(v[link.v] + v[link.v], z)
        a = add_cross(a, omega, u)
    else:
        R = get9(work, at + LINK.R)
        u, w = joint_motion(link, v)
        u, w = rotate(R, u), rotate(R, w)
        alpha = add_cross(alpha, omega, w)
        # Coriolis' acceleration counts the parent's rotation twice and the joint's own once.
        a = add_cross(a, add(add(omega, omega), w), u)
        omega = add(omega, w)
    put3(work, at + LINK.omega, omega)
    put3(work, at + LINK.alpha, alpha)
    put3(work, at + LINK.a, a)


@function
def rigid_body(link, i, work):
    """Inertia of link i about the tree's origin, and the force that gives it its bias motion."""
    at = i * LINK.size
    R = get9(work, at + LINK.R)
    m = link.mass
    c = rotate(R, get3(link.center, 0))
    x = add(get3(work, at + LINK.p), c)
    h = scale(m, x)
    inertia = central_inertia(link, R)
    put6(work, at + LINK.A, moved_inertia(inertia, m, x))
    put9(work, at + LINK.H, (0.0, -h[2], h[1], h[2], 0.0, -h[0], -h[1], h[0], 0.0))
    put6(work, at + LINK.M, (m, 0.0, 0.0, m, 0.0, m))
    omega = get3(work, at + LINK.omega)
    alpha = get3(work, at + LINK.alpha)
    a = add_cross(get3(work, at + LINK.a), alpha, c)
    f = scale(m, add_cross(a, omega, cross(omega, c)))
    n = add_cross(symmetric_times(inertia, alpha), omega, symmetric_times(inertia, omega))
    put3(work, at + LINK.f, f)
    put3(work, at + LINK.n, add_cross(n, x, f))


@function
def subtract_external_force(link, i, external_forces, work):
    """External forces are given in the body's axes, at the link's origin."""
    if link.body >= 0:
        at = i * LINK.size
        R, E = get9(work, at + LINK.R), get9(link.orientation, 0)
        f = rotate(R, rotate(E, get3(external_forces, 6 * link.body)))
        n = rotate(R, rotate(E, get3(external_forces, 6 * link.body + 3)))
        n = add_cross(n, get3(work, at + LINK.p), f)
        put3(work, at + LINK.f, subtract(get3(work, at + LINK.f), f))
        put3(work, at + LINK.n, subtract(get3(work, at + LINK.n), n))


@function
def eliminate_joint(model, i, tau, work, dofs):
    """Give the parent what it feels of link i's inertia and force through a joint free to move."""
    link = model.links[i]
    at, parent = i * LINK.size, link.parent * LINK.size
    for k in range(link.v + link.nv - 1, link.v, -1):
        project_dof(model, k, at, tau, work, dofs + k * DOF.size)
        keep_remainder(at, work, dofs + k * DOF.size)
    dof = dofs + link.v * DOF.size
    project_dof(model, link.v, at, tau, work, dof)
    if link.parent > 0:
        add_remainder(at, parent, work, dof)


@function
def project_dof(model, k, at, tau, work, dof):
    """U = IA S, D = S^T U and u = tau - S^T p of degree of freedom k."""
    A, H, M = get6(work, at + LINK.A), get9(work, at + LINK.H), get6(work, at + LINK.M)
    s_angular = get3(work, dof + DOF.angular)
    s_linear = get3(work, dof + DOF.linear)
    U_angular, U_linear = inertia_times(A, H, M, s_angular, s_linear)
    D = dot(s_angular, U_angular) + dot(s_linear, U_linear) + model.armature[k]
    u = tau[k] - dot(s_angular, get3(work, at + LINK.n)) - dot(s_linear, get3(work, at + LINK.f))
    put3(work, dof + DOF.U_angular, U_angular)
    put3(work, dof + DOF.U_linear, U_linear)
    work[dof + DOF.D_inverse] = 1.0 / D
    work[dof + DOF.u] = u


@function
def keep_remainder(at, work, dof):
    """IA - U D^-1 U^T and p + U D^-1 u, in the link's own place."""
    U_angular, U_linear = get3(work, dof + DOF.U_angular), get3(work, dof + DOF.U_linear)
    D_inverse, u = work[dof + DOF.D_inverse], work[dof + DOF.u]
    g_angular, g_linear = scale(D_inverse, U_angular), scale(D_inverse, U_linear)
    put3(work, at + LINK.n, add_scaled(get3(work, at + LINK.n), u, g_angular))
    put3(work, at + LINK.f, add_scaled(get3(work, at + LINK.f), u, g_linear))
    put6(work, at + LINK.A, outer_update(get6(work, at + LINK.A), U_angular, g_angular))
    put9(work, at + LINK.H, outer_update9(get9(work, at + LINK.H), U_angular, g_linear))
    put6(work, at + LINK.M, outer_update(get6(work, at + LINK.M), U_linear, g_linear))


@function
def add_remainder(at, to, work, dof):
    """The same, added to another link."""
    U_angular, U_linear = get3(work, dof + DOF.U_angular), get3(work, dof + DOF.U_linear)
    D_inverse, u = work[dof + DOF.D_inverse], work[dof + DOF.u]
    g_angular, g_linear = scale(D_inverse, U_angular), scale(D_inverse, U_linear)
    n = add(get3(work, at + LINK.n), get3(work, to + LINK.n))
    f = add(get3(work, at + LINK.f), get3(work, to + LINK.f))
    put3(work, to + LINK.n, add_scaled(n, u, g_angular))
    put3(work, to + LINK.f, add_scaled(f, u, g_linear))
    A = add6(get6(work, at + LINK.A), get6(work, to + LINK.A))
    put6(work, to + LINK.A, outer_update(A, U_angular, g_angular))
    H = add9(get9(work, at + LINK.H), get9(work, to + LINK.H))
    put9(work, to + LINK.H, outer_update9(H, U_angular, g_linear))
    M = add6(get6(work, at + LINK.M), get6(work, to + LINK.M))
    put6(work, to + LINK.M, outer_update(M, U_linear, g_linear))


@function
def inertia_times(A, H, M, angular, linear):
    """Moment and force of [[A, H], [H^T, M]] (angular, linear)."""
    moment = symmetric_times(A, angular)
    force = symmetric_times(M, linear)
    return (
        (
            moment[0] + H[0] * linear[0] + H[1] * linear[1] + H[2] * linear[2],
            moment[1] + H[3] * linear[0] + H[4] * linear[1] + H[5] * linear[2],
            moment[2] + H[6] * linear[0] + H[7] * linear[1] + H[8] * linear[2],
        ),
        (
            force[0] + H[0] * angular[0] + H[3] * angular[1] + H[6] * angular[2],
            force[1] + H[1] * angular[0] + H[4] * angular[1] + H[7] * angular[2],
            force[2] + H[2] * angular[0] + H[5] * angular[1] + H[8] * angular[2],
        ),
    )


@function
def accelerate(model, i, a, work, dofs):
    """Joint acceleration of link i, and the link's own, from the parent's."""
    link = model.links[i]
    at, parent = i * LINK.size, link.parent * LINK.size
    angular = get3(work, parent + _ANGULAR)
    linear = get3(work, parent + _LINEAR)
    for k in range(link.v, link.v + link.nv):
        dof = dofs + k * DOF.size
        U_a = dot(get3(work, dof + DOF.U_angular), angular)
        U_a = U_a + dot(get3(work, dof + DOF.U_linear), linear)
        x = (work[dof + DOF.u] - U_a) * work[dof + DOF.D_inverse]
        a[k] = x
        angular = add_scaled(angular, x, get3(work, dof + DOF.angular))
        linear = add_scaled(linear, x, get3(work, dof + DOF.linear))
    put3(work, at + _ANGULAR, angular)
    put3(work, at + _LINEAR, linear)


def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """a = M(q)^-1 (tau - b(q, v) + sum of J^T f): the accelerations that joint forces produce.

    `external_forces` (..., n_bodies, 6) act on the bodies: force then moment, in the body's axes
    and at its origin. Damping, friction and springs are not included: add `passive_forces` to tau.
    """
    forces = NO_FORCES if external_forces is None else external_forces
    return aba(model, (q, v, tau, forces), out, threads)

"""Forward dynamics by the articulated-body algorithm (seed 004, Sec. IV; Featherstone). O(n).

Departs from the textbook in three ways, all to save arithmetic. Vectors are in world axes (see
`links`). All that does not depend on the unknown accelerations, gravity included, is first turned
into the force of a motion with zero joint acceleration, so that the backward sweep multiplies no
articulated inertia with a velocity product. A joint of several degrees of freedom is eliminated one
column after the other, which is its block elimination written out.
"""

from __future__ import annotations

from ..compile import function, kernel, present, slots
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
from .joints import joint_motion
from .links import central_inertia, moved_inertia, place_link, put_subspace

# A link's work memory: placement; velocity and acceleration with zero joint acceleration; force f
# and moment n of that motion; rigid inertia (I, h); inertia that the children add: [[A, H], [H^T, M]].
LINK = slots(
    R=9, p=3, omega=3, alpha=3, a=3, n=3, f=3, I=6, h=3, A=6, H=9, M=6,
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
    put3(work, LINK.omega, (0.0, 0.0, 0.0))
    put3(work, LINK.alpha, (0.0, 0.0, 0.0))
    put3(work, LINK.a, (-model.gravity[0], -model.gravity[1], -model.gravity[2]))
    for i in range(1, n):
        bias_motion(model, i, q, v, work, dofs)
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
def bias_motion(model, i, q, v, work, dofs):
    """Placement of link i, its motion with zero joint acceleration, and the force that takes."""
    link = model.links[i]
    at, parent = i * LINK.size, link.parent * LINK.size
    R, p, offset = place_link(model, i, q, work, LINK.size)
    put_subspace(link, R, p, work, dofs + link.v * DOF.size, DOF.size)
    omega = get3(work, parent + LINK.omega)
    alpha = get3(work, parent + LINK.alpha)
    a = add_cross(
        add_cross(get3(work, parent + LINK.a), alpha, offset), omega, cross(omega, offset)
    )
    if link.kind == REVOLUTE:
        w = scale(v[link.v], (R[2], R[5], R[8]))
        alpha = add_cross(alpha, omega, w)
        omega = add(omega, w)
    elif link.kind == PRISMATIC:
        u = scale(v[link.v] + v[link.v], (R[2], R[5], R[8]))
        a = add_cross(a, omega, u)
    else:
        u, w = joint_motion(link, v)
        u, w = rotate(R, u), rotate(R, w)
        alpha = add_cross(alpha, omega, w)
        # Coriolis' acceleration counts the parent's rotation twice and the joint's own once.
        a = add_cross(a, add(add(omega, omega), w), u)
        omega = add(omega, w)
    put3(work, at + LINK.omega, omega)
    put3(work, at + LINK.alpha, alpha)
    put3(work, at + LINK.a, a)
    put_rigid_body(link, at, R, p, omega, alpha, a, work)


@function
def put_rigid_body(link, at, R, p, omega, alpha, a, work):
    """Inertia about the tree's origin, and the force that gives a link its motion."""
    m = link.mass
    c = rotate(R, get3(link.center, 0))
    x = add(p, c)
    inertia = central_inertia(link, R)
    put6(work, at + LINK.I, moved_inertia(inertia, m, x))
    put3(work, at + LINK.h, scale(m, x))
    f = scale(m, add_cross(add_cross(a, alpha, c), omega, cross(omega, c)))
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
    """Articulated inertia and force of link i, seen through its joint by the parent."""
    link = model.links[i]
    at, parent = i * LINK.size, link.parent * LINK.size
    A = get6(work, at + LINK.I)
    h = get3(work, at + LINK.h)
    H = (0.0, -h[2], h[1], h[2], 0.0, -h[0], -h[1], h[0], 0.0)
    M = (link.mass, 0.0, 0.0, link.mass, 0.0, link.mass)
    if link.has_children:
        A = add6(A, get6(work, at + LINK.A))
        H = add9(H, get9(work, at + LINK.H))
        M = add6(M, get6(work, at + LINK.M))
    n = get3(work, at + LINK.n)
    f = get3(work, at + LINK.f)
    for k in range(link.v + link.nv - 1, link.v - 1, -1):
        dof = dofs + k * DOF.size
        s_angular = get3(work, dof + DOF.angular)
        s_linear = get3(work, dof + DOF.linear)
        U_angular, U_linear = inertia_times(A, H, M, s_angular, s_linear)
        D_inverse = 1.0 / (dot(s_angular, U_angular) + dot(s_linear, U_linear) + model.armature[k])
        u = tau[k] - dot(s_angular, n) - dot(s_linear, f)
        put3(work, dof + DOF.U_angular, U_angular)
        put3(work, dof + DOF.U_linear, U_linear)
        work[dof + DOF.D_inverse] = D_inverse
        work[dof + DOF.u] = u
        g_angular, g_linear = scale(D_inverse, U_angular), scale(D_inverse, U_linear)
        A = outer_update(A, U_angular, g_angular)
        H = outer_update9(H, U_angular, g_linear)
        M = outer_update(M, U_linear, g_linear)
        n = add_scaled(n, u, g_angular)
        f = add_scaled(f, u, g_linear)
    if link.parent > 0:
        put3(work, parent + LINK.n, add(get3(work, parent + LINK.n), n))
        put3(work, parent + LINK.f, add(get3(work, parent + LINK.f), f))
        if not link.is_last_child:
            A = add6(A, get6(work, parent + LINK.A))
            H = add9(H, get9(work, parent + LINK.H))
            M = add6(M, get6(work, parent + LINK.M))
        put6(work, parent + LINK.A, A)
        put9(work, parent + LINK.H, H)
        put6(work, parent + LINK.M, M)


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

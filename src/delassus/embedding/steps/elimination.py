"""Clusters in the articulated-body algorithm: one joint of several bodies.

Algorithm 1 of the paper (see `structure.graph`), in the world's axes. A body of a cluster moves by
s y' and the motion of the cluster's handle, with a column of s for each independent velocity. So
the cluster's projected inertias are U = sum of IA s and D = sum of s^T IA s over its bodies, and
its handle gets the sum of the IA less U D^-1 U^T: one update however many bodies there are.

A rotor that is a spin of one of the bodies, or of the handle (see `structure.spins`), adds J c_k n
to U_k, and J (n_k c_l + c_k n_l + c_k c_l) to D_kl, where n_k = n . s_k of the body, and c = G of
the rotor.

With D = L L^T, W = U L^-T and z = L^-1 u are kept in place of U and u: then the handle gets
- W W^T and W z, and y'' = L^-T (z - W^T a) with a the acceleration of the handle.
"""

from __future__ import annotations

from ...compile import function, present, routine, sincos, sqrt
from ...dynamics.aba import DOF, FORCE, LINK, MOTION, add_joint_motion
from ...dynamics.steps.articulated import (
    INERTIA,
    add_skew,
    inertia_times,
    move_inertia,
    start_inertia,
)
from ...spatial.vectors import (
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
)
from .closing import COLUMN, SPIN
from .driven import force_on
from .gears import push_rotor


@function
def put_member_bias(model, cluster, work):
    """Velocities of a cluster's links, and their accelerations if y'' = 0."""
    links = work.links
    for m in range(cluster.first_member, cluster.first_member + cluster.member_count):
        i = model.members[m].link
        link, at, parent = model.links[i], i * LINK.size, model.links[i].parent * LINK.size
        p, omega = get3(links, parent + LINK.p), get3(links, parent + MOTION.omega)
        alpha, a = get3(links, parent + MOTION.alpha), get3(links, parent + MOTION.a)
        own_p = get3(links, at + LINK.p)
        if not link.shares_origin:
            offset = subtract(own_p, p)
            a = add_cross(add_cross(a, alpha, offset), omega, cross(omega, offset))
        omega, alpha, a = add_joint_motion(link, omega, alpha, a, work.v, links, at)
        if not cluster.is_constant:
            for k in range(link.v, link.v + link.nv):
                angular = scale(work.g[k], get3(work.dofs, k * DOF.size + DOF.angular))
                linear = scale(work.g[k], get3(work.dofs, k * DOF.size + DOF.linear))
                alpha = add(alpha, angular)
                a = add(a, add_cross(linear, angular, own_p))
        put3(links, at + MOTION.omega, omega)
        put3(links, at + MOTION.alpha, alpha)
        put3(links, at + MOTION.a, a)


@routine
def put_spins(model, cluster, q, external_forces, work):
    """Axes of spins, and the moments that they take if y'' = 0, after the links' own forces."""
    for t in range(cluster.first_spin, cluster.first_spin + cluster.spin_count):
        spin = model.spins[t]
        at, J = spin.link * LINK.size, spin.inertia
        n = get3(spin.axis, 0)
        if spin.link > 0:
            n = rotate(get9(work.links, at + LINK.R), n)
        own = model.ds[cluster.first_d + spin.dependent]
        rate, change = work.v[own], work.g[own]
        torque = J * change
        if spin.link > 0:
            omega, alpha = get3(work.links, at + MOTION.omega), get3(work.links, at + MOTION.alpha)
            torque = torque + J * dot(n, alpha)
            moment = add_scaled(scale(J * rate, cross(omega, n)), J * change, n)
            if spin.is_uneven:
                e = turned(model, cluster, spin, q, n, get9(work.links, at + LINK.R))
                more, less = uneven_forces(e, cross(n, e), rate, omega, alpha)
                moment, torque = add(moment, more), torque - less
                own = get6(work.links, at + LINK.own_inertia)
                put6(work.links, at + LINK.own_inertia, outer_update(own, e, scale(-1.0, e)))
            force = spin.link * FORCE.size + FORCE.n
            put3(work.forces, force, add(get3(work.forces, force), moment))
        put3(work.spins, t * SPIN.size + SPIN.n, n)
        work.spins[t * SPIN.size + SPIN.torque] = torque
        if present(external_forces):
            angle = rotor_angle(model, cluster, spin, q)
            outer = push_rotor(model, spin.rotor, spin.link, angle, external_forces, work)
            work.spins[t * SPIN.size + SPIN.torque] = torque - outer


@function
def turned(model, cluster, spin, q, n, R):
    """e of an uneven rotor, in the axes to which R turns those of the link that carries it."""
    s, c = sincos(rotor_angle(model, cluster, spin, q))
    e = rotate(R, get3(spin.uneven, 0))
    return add_scaled(scale(c, e), s, cross(n, e))


@function
def uneven_forces(e, across, rate, omega, alpha):
    """The moment that e e^T takes of the link, and what it gives about the rotor's axis.

    With a = e . omega and b = (n x e) . omega: e (e . alpha + r' b) + e' a, and a b.
    """
    a, b = dot(e, omega), dot(across, omega)
    change = add_scaled(cross(omega, e), rate, across)
    return add_scaled(scale(dot(e, alpha) + rate * b, e), a, change), a * b


@function
def rotor_angle(model, cluster, spin, q):
    """The angle of a rotor, which is given or follows from independent angles."""
    if spin.q >= 0:
        angle = q[spin.q]
    else:
        angle = spin.offset + 0.0 * q[0]
        at = cluster.G + spin.dependent * cluster.ny
        for m in range(cluster.member_count):
            member = model.members[cluster.first_member + m]
            angle = angle + model.coefficients[at + member.local] * q[model.links[member.link].q]
    return angle


@function
def column(cluster, m, k, work):
    """s of link m of a cluster and y_k'."""
    at = (cluster.columns + m * cluster.ny + k) * COLUMN.size
    return get3(work.columns, at + COLUMN.angular), get3(work.columns, at + COLUMN.linear)


@function
def is_moved(member, k):
    """Whether y_k' moves a link."""
    return (member.moved >> k) & 1 == 1


@routine
def articulate_cluster(model, cluster, work):
    """Project the articulated inertias of a cluster's links, and give its handle the rest."""
    links, ny = work.links, cluster.ny
    for m in range(cluster.member_count):
        member = model.members[cluster.first_member + m]
        if member.is_leaf:
            start_inertia(model.links[member.link], member.link * LINK.size, links)
    for k in range(ny):
        project_column(model, cluster, k, work)
    add_armature(model, cluster, work)
    factorize(model, cluster, work)
    if cluster.handle > 0:
        pass_cluster(model, cluster, work)


@function
def project_column(model, cluster, k, work):
    """U of y_k', about the tree's origin, and row k of D up to the diagonal."""
    links, D, ny = work.links, cluster.factor, cluster.ny
    moment_sum, force_sum = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for t in range(k + 1):
        work.factor[D + k * ny + t] = 0.0
    for m in range(cluster.member_count):
        member = model.members[cluster.first_member + m]
        if is_moved(member, k):
            at = member.link * LINK.size
            p = get3(links, at + LINK.p)
            A, H, M = (
                get6(links, at + LINK.A),
                get9(links, at + INERTIA.H),
                get6(links, at + LINK.M),
            )
            angular, linear = column(cluster, m, k, work)
            moment, force = inertia_times(A, H, M, angular, add_cross(linear, angular, p))
            for t in range(k + 1):
                if is_moved(member, t):
                    x, y = column(cluster, m, t, work)
                    own = dot(x, moment) + dot(add_cross(y, x, p), force)
                    work.factor[D + k * ny + t] = work.factor[D + k * ny + t] + own
            moment_sum = add(moment_sum, add_cross(moment, p, force))
            force_sum = add(force_sum, force)
    for t in range(cluster.first_spin, cluster.first_spin + cluster.spin_count):
        moment_sum = add(moment_sum, project_spin(model, cluster, t, k, work))
    dof = model.ys[cluster.first_y + k] * DOF.size
    put3(work.dofs, dof + DOF.G_angular, moment_sum)
    put3(work.dofs, dof + DOF.G_linear, force_sum)


@function
def project_spin(model, cluster, t, k, work):
    """What a spin adds to U of y_k', a moment, and to row k of D."""
    spin, ny = model.spins[t], cluster.ny
    n, J, at = get3(work.spins, t * SPIN.size + SPIN.n), spin.inertia, spin.dependent * ny
    c = work.Gd[cluster.G + at + k]
    for e in range(k + 1):
        own = work.factor[cluster.factor + k * ny + e]
        c_e = work.Gd[cluster.G + at + e]
        x = c * c_e
        if spin.member >= 0:
            s, _ = column(cluster, spin.member, k, work)
            s_e, _ = column(cluster, spin.member, e, work)
            x = x + (dot(n, s) * c_e + c * dot(n, s_e))
        work.factor[cluster.factor + k * ny + e] = own + J * x
    return scale(J * c, n)


@function
def add_armature(model, cluster, work):
    """Inertias of motors: those of independent joints, and G^T armature G of the others."""
    D, ny = cluster.factor, cluster.ny
    for k in range(ny):
        x = model.armature[model.ys[cluster.first_y + k]]
        if x != 0.0:
            work.factor[D + k * ny + k] = work.factor[D + k * ny + k] + x
    for d in range(cluster.nd):
        x, at = model.armature[model.ds[cluster.first_d + d]], cluster.G + d * ny
        if x != 0.0:
            for k in range(ny):
                y = x * work.Gd[at + k]
                for t in range(k + 1):
                    own = work.factor[D + k * ny + t] + y * work.Gd[at + t]
                    work.factor[D + k * ny + t] = own


@function
def factorize(model, cluster, work):
    """D = L L^T in its place, with 1 / L on the diagonal, and W = U L^-T in the place of U."""
    L, D, ny = work.factor, cluster.factor, cluster.ny
    for k in range(ny):
        dof = model.ys[cluster.first_y + k] * DOF.size
        angular, linear = get3(work.dofs, dof + DOF.G_angular), get3(work.dofs, dof + DOF.G_linear)
        for t in range(k):
            x = L[D + k * ny + t]
            for e in range(t):
                x = x - L[D + k * ny + e] * L[D + t * ny + e]
            x = x * L[D + t * ny + t]
            L[D + k * ny + t] = x
            other = model.ys[cluster.first_y + t] * DOF.size
            angular = add_scaled(angular, -x, get3(work.dofs, other + DOF.G_angular))
            linear = add_scaled(linear, -x, get3(work.dofs, other + DOF.G_linear))
        x = L[D + k * ny + k]
        for e in range(k):
            x = x - L[D + k * ny + e] * L[D + k * ny + e]
        x = 1.0 / sqrt(x)
        L[D + k * ny + k] = x
        put3(work.dofs, dof + DOF.G_angular, scale(x, angular))
        put3(work.dofs, dof + DOF.G_linear, scale(x, linear))


@function
def pass_cluster(model, cluster, work):
    """The sum of IA less W W^T, about the handle's origin, added to the handle's inertia."""
    links, to = work.links, cluster.handle * LINK.size
    p = get3(links, to + LINK.p)
    if cluster.gives_first:
        m = model.links[cluster.handle].mass
        A = get6(links, to + LINK.own_inertia)
        H = add_skew((0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), get3(links, to + LINK.own_h))
        M = (m, 0.0, 0.0, m, 0.0, m)
    else:
        A, H, M = get6(links, to + LINK.A), get9(links, to + INERTIA.H), get6(links, to + LINK.M)
    for t in range(cluster.first_member, cluster.first_member + cluster.member_count):
        at = model.members[t].link * LINK.size
        A_m, H_m = get6(links, at + LINK.A), get9(links, at + INERTIA.H)
        M_m = get6(links, at + LINK.M)
        A_m, H_m = move_inertia(A_m, H_m, M_m, subtract(get3(links, at + LINK.p), p))
        A, H, M = add6(A, A_m), add9(H, H_m), add6(M, M_m)
    for k in range(cluster.ny):
        dof = model.ys[cluster.first_y + k] * DOF.size
        force = get3(work.dofs, dof + DOF.G_linear)
        moment = subtract(get3(work.dofs, dof + DOF.G_angular), cross(p, force))
        A = outer_update(A, moment, moment)
        H = outer_update9(H, moment, force)
        M = outer_update(M, force, force)
    put6(links, to + LINK.A, A)
    put9(links, to + INERTIA.H, H)
    put6(links, to + LINK.M, M)


@function
def pass_cluster_forces(model, cluster, tau, work):
    """z = L^-1 (tau - sum of s^T (n, f)), and what remains of forces for the handle."""
    forces, L, D, ny = work.forces, work.factor, cluster.factor, cluster.ny
    n, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for m in range(cluster.member_count):
        at = model.members[cluster.first_member + m].link * FORCE.size
        n, f = add(n, get3(forces, at + FORCE.n)), add(f, get3(forces, at + FORCE.f))
    for k in range(ny):
        dof = model.ys[cluster.first_y + k] * DOF.size
        z = force_on(model, cluster, k, tau, work)
        for m in range(cluster.member_count):
            member = model.members[cluster.first_member + m]
            if is_moved(member, k):
                at = member.link * FORCE.size
                angular, linear = column(cluster, m, k, work)
                z = z - dot(angular, get3(forces, at + FORCE.n))
                z = z - dot(linear, get3(forces, at + FORCE.f))
        for t in range(cluster.first_spin, cluster.first_spin + cluster.spin_count):
            c = work.Gd[cluster.G + model.spins[t].dependent * ny + k]
            z = z - c * work.spins[t * SPIN.size + SPIN.torque]
        if not cluster.is_constant:
            for d in range(cluster.nd):  # what motors of dependent joints take if y'' = 0
                own = model.ds[cluster.first_d + d]
                if model.armature[own] != 0.0:
                    c = work.Gd[cluster.G + d * ny + k]
                    z = z - c * (model.armature[own] * work.g[own])
        for t in range(k):
            other = model.ys[cluster.first_y + t] * DOF.size
            z = z - L[D + k * ny + t] * work.dofs[other + DOF.u]
        z = z * L[D + k * ny + k]
        work.dofs[dof + DOF.u] = z
        n = add_scaled(n, z, get3(work.dofs, dof + DOF.G_angular))
        f = add_scaled(f, z, get3(work.dofs, dof + DOF.G_linear))
    if cluster.handle > 0:
        to = cluster.handle * FORCE.size
        put3(forces, to + FORCE.n, add(get3(forces, to + FORCE.n), n))
        put3(forces, to + FORCE.f, add(get3(forces, to + FORCE.f), f))


@function
def accelerate_cluster(model, cluster, a, work):
    """y'' = L^-T (z - W^T a) of a cluster, and the accelerations of its links."""
    links, L, D, ny = work.links, work.factor, cluster.factor, cluster.ny
    at = cluster.handle * LINK.size
    alpha, linear = get3(links, at + MOTION.alpha), get3(links, at + MOTION.a)
    for k in range(ny - 1, -1, -1):
        dof = model.ys[cluster.first_y + k] * DOF.size
        x = work.dofs[dof + DOF.u] - dot(get3(work.dofs, dof + DOF.G_angular), alpha)
        x = x - dot(get3(work.dofs, dof + DOF.G_linear), linear)
        for t in range(k + 1, ny):
            other = model.ys[cluster.first_y + t] * DOF.size
            x = x - L[D + t * ny + k] * work.dofs[other + DOF.u]
        work.dofs[dof + DOF.u] = x * L[D + k * ny + k]
    put_accelerations(model, cluster, a, work)
    for m in range(cluster.member_count):
        member = model.members[cluster.first_member + m]
        if member.is_watched:
            own_alpha, own = alpha, linear
            for k in range(ny):
                if is_moved(member, k):
                    x = work.dofs[model.ys[cluster.first_y + k] * DOF.size + DOF.u]
                    s_angular, s_linear = column(cluster, m, k, work)
                    own_alpha = add_scaled(own_alpha, x, s_angular)
                    own = add_scaled(own, x, s_linear)
            put3(links, member.link * LINK.size + MOTION.alpha, own_alpha)
            put3(links, member.link * LINK.size + MOTION.a, own)


@function
def put_accelerations(model, cluster, a, work):
    """The accelerations that are asked for: of the y'' in the place of z, or of motors."""
    if cluster.is_driven:
        for d in range(cluster.nd):
            own = model.ds[cluster.first_d + d]
            x = work.g[own]
            for k in range(cluster.ny):
                y = work.dofs[model.ys[cluster.first_y + k] * DOF.size + DOF.u]
                x = x + work.Gd[cluster.G + d * cluster.ny + k] * y
            a[own] = x
    else:
        for k in range(cluster.ny):
            y = model.ys[cluster.first_y + k]
            a[y] = work.dofs[y * DOF.size + DOF.u]

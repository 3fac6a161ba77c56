"""Inverse dynamics of a model with clusters, by the recursive Newton-Euler algorithm. O(n).

Sec. V of the paper (see `structure.graph`): tau_y = G^T tau, with tau of all joints for v = G y'
and a = G y'' + g, found by the sweeps of the tree (see `dynamics.rnea`), in links' own axes. Rotors
are spins (see `structure.spins`): of the link that carries one they take the moment
J (r'' n + r' omega x n), and of the joints that drive it J (n . alpha + r'').
"""

from __future__ import annotations

from ...compile import function, kernel, layout, present, sincos
from ...dynamics.rnea import (
    LINK,
    collect_force,
    pass_force,
    propagate_motion,
    put_needed_force,
    start_at_world,
    subtract_external_force,
)
from ...spatial.vectors import (
    add,
    add_cross,
    cross,
    dot,
    get3,
    get9,
    put3,
    rotate,
    scale,
    subtract,
    turn_about_z,
)
from ..steps.closing import CLOSING, close_alone
from ..steps.elimination import rotor_angle, turned, uneven_forces
from ..structure.packed import NO_CLUSTER, EmbeddedArrays

WORK = layout(closing=CLOSING, links=("n_links", LINK), a="spanning_nv", tau="spanning_nv")


@kernel(
    EmbeddedArrays,
    inputs={"q": "nq", "v": "nv", "a": "nv", "external_forces": "n_bodies 6 optional"},
    outputs={"tau": "nv"},
    work=WORK,
    label="inverse_dynamics with clusters",
)
def embedded_rnea(model, q, v, a, external_forces, tau, work):
    """tau = G^T (M (G y'' + g) + b - sum of J^T f_ext)"""
    start_at_world(model, work.links)
    for c in range(len(model.clusters)):
        close_alone(model, model.clusters[c], q, v, work.closing)
    for t in range(len(model.turns)):
        turn = model.turns[t]
        if turn.cluster == NO_CLUSTER:
            for i in range(turn.first, turn.last + 1):
                propagate(model, i, q, v, a, external_forces, work)
            if turn.has_motors and present(external_forces):
                for i in range(turn.first, turn.last + 1):
                    push_motor(model, i, q, external_forces, work)
        else:
            cluster = model.clusters[turn.cluster]
            put_accelerations(model, cluster, a, work)
            for m in range(cluster.first_member, cluster.first_member + cluster.member_count):
                i = model.members[m].link
                propagate(model, i, q, work.closing.v, work.a, external_forces, work)
            put_spins(model, cluster, q, external_forces, work)
    for t in range(len(model.turns) - 1, -1, -1):
        turn = model.turns[t]
        if turn.has_motors:
            for i in range(turn.last, turn.first - 1, -1):
                collect_motor(model, i, v, a, tau, external_forces, work)
        elif turn.cluster == NO_CLUSTER:
            for i in range(turn.last, turn.first - 1, -1):
                collect_force(model, i, a, tau, work.links)
        else:
            collect_cluster(model, model.clusters[turn.cluster], tau, work)


@function
def propagate(model, i, q, v, a, external_forces, work):
    """The motion of link i, and the force that it takes."""
    propagate_motion(model, i, q, v, a, work.links)
    put_needed_force(model.links[i], model.solids[i], i, work.links)
    if present(external_forces):
        subtract_external_force(model.links[i], model.solids[i], i, external_forces, work.links)


@function
def push_rotor(model, rotor, carrier, angle, external_forces, links):
    """Put an external force on a rotor on the link that carries it; return its torque."""
    link, solid, at = model.links[rotor], model.solids[rotor], carrier * LINK.size
    E, first = get9(solid.orientation, 0), 6 * link.body
    f = rotate(E, get3(external_forces, first))
    n = add_cross(rotate(E, get3(external_forces, first + 3)), (0.0, 0.0, solid.height), f)
    torque = n[2]
    if carrier > 0:
        s, c = sincos(angle)
        R = turn_about_z(get9(link.rotation, 0), s, c)
        f = rotate(R, f)
        n = add_cross(rotate(R, n), get3(link.position, 0), f)
        put3(links, at + LINK.f, subtract(get3(links, at + LINK.f), f))
        put3(links, at + LINK.n, subtract(get3(links, at + LINK.n), n))
    return torque


# --- links with one motor, see `steps.gears` ------------------------------------------------------


@function
def push_motor(model, i, q, external_forces, work):
    """An external force on the rotor of link i; its torque is kept where tau is not needed yet."""
    link, gear = model.links[i], model.gears[i]
    angle = gear.ratio * q[link.q] + gear.offset
    torque = push_rotor(model, gear.rotor, link.parent, angle, external_forces, work.links)
    work.tau[link.v] = gear.ratio * torque


@function
def collect_motor(model, i, v, a, tau, external_forces, work):
    """The force of the joint of link i with its motor, and what its parent then carries."""
    link, at, spin, k = model.links[i], i * LINK.size, model.gears[i].spin, model.links[i].v
    f, n = get3(work.links, at + LINK.f), get3(work.links, at + LINK.n)
    omega, alpha = get3(work.links, at + LINK.omega), get3(work.links, at + LINK.alpha)
    x = n[2] + model.armature[k] * a[k] + spin * alpha[2]
    if present(external_forces):
        x = x - work.tau[k]
    tau[k] = x
    rate = spin * v[k]
    n = (n[0] + rate * omega[1], n[1] - rate * omega[0], n[2] + spin * a[k])
    pass_force(link, at, f, n, work.links)


# --- clusters -------------------------------------------------------------------------------------


@function
def put_accelerations(model, cluster, a, work):
    """a = G y'' + g of the joints of a cluster."""
    n, closing = cluster.ny, work.closing
    for k in range(n):
        y = model.ys[cluster.first_y + k]
        if cluster.is_driven:
            x = 0.0 * a[0]
            for d in range(n):
                own = model.ds[cluster.first_d + d]
                x = x + closing.P[cluster.P + k * n + d] * (a[own] - closing.g[own])
            work.a[y] = x
        else:
            work.a[y] = a[y]
    for d in range(cluster.nd):
        own, at = model.ds[cluster.first_d + d], cluster.G + d * n
        x = closing.g[own]
        for k in range(n):
            x = x + closing.Gd[at + k] * work.a[model.ys[cluster.first_y + k]]
        work.a[own] = x


@function
def put_spins(model, cluster, q, external_forces, work):
    """The moments of spins on the links that carry them, and the torques that drive them."""
    links = work.links
    for t in range(cluster.first_spin, cluster.first_spin + cluster.spin_count):
        spin = model.spins[t]
        own, at, n, J = (
            model.ds[cluster.first_d + spin.dependent],
            spin.link * LINK.size,
            get3(spin.axis, 0),
            spin.inertia,
        )
        rate, change = work.closing.v[own], work.a[own]
        torque = (J + model.armature[own]) * change
        if spin.link > 0:
            torque = torque + J * dot(n, get3(links, at + LINK.alpha))
            moment = scale(J * rate, cross(get3(links, at + LINK.omega), n))
            moment = add(moment, scale(J * change, n))
            if spin.is_uneven:
                omega, alpha = get3(links, at + LINK.omega), get3(links, at + LINK.alpha)
                one = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
                e = turned(model, cluster, spin, q, n, one)
                more, less = uneven_forces(e, cross(n, e), rate, omega, alpha)
                moment, torque = add(moment, more), torque - less
            put3(links, at + LINK.n, add(get3(links, at + LINK.n), moment))
        if present(external_forces):
            angle = rotor_angle(model, cluster, spin, q)
            outer = push_rotor(model, spin.rotor, spin.link, angle, external_forces, links)
            torque = torque - outer
        work.tau[own] = torque


@function
def collect_cluster(model, cluster, tau, work):
    """Forces of a cluster's joints, and of those its independent forces G^T tau."""
    for t in range(cluster.member_count - 1, -1, -1):
        i = model.members[cluster.first_member + t].link
        collect_force(model, i, work.a, work.tau, work.links)
    n = cluster.ny
    for k in range(n):
        y = model.ys[cluster.first_y + k]
        x = work.tau[y]
        for d in range(cluster.nd):
            c = work.closing.Gd[cluster.G + d * n + k]
            x = x + c * work.tau[model.ds[cluster.first_d + d]]
        if cluster.is_driven:
            work.tau[y] = x
        else:
            tau[y] = x
    if cluster.is_driven:
        for d in range(n):
            x = 0.0 * work.tau[model.ys[cluster.first_y]]
            for k in range(n):
                c = work.closing.P[cluster.P + k * n + d]
                x = x + c * work.tau[model.ys[cluster.first_y + k]]
            tau[model.ds[cluster.first_d + d]] = x

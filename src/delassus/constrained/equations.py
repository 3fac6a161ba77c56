"""The equations that constrained dynamics solves, at one state: M, tau - b, and the rows.

    M a - J^T multipliers = tau - b        J a = a* - gamma

Composite rigid bodies for M and Newton-Euler with zero joint acceleration for b, in one sweep in
world axes (see `dynamics.links`). M is written by rows up to the diagonal, J by panels (see `kkt`).
"""

from __future__ import annotations

from ..compile import clear, function, part, present, slots
from ..dynamics.links import (
    composite_times,
    external_wrench,
    move_link,
    place_links,
    rigid_inertia,
    start_at_rest,
)
from ..spatial.vectors import (
    add_cross,
    dot,
    get3,
    get6,
    get9,
    put3,
    put6,
    subtract,
)
from .jacobian import place_world, put_panel
from .kkt import MARGIN, extents
from .rows import put_rows, rows_end, rows_work

# A link's work memory: placement and motion, then inertia and force of its subtree.
LINK = slots(R=9, p=3, omega=3, u=3, alpha=3, a=3, I=6, h=3, n=3, f=3)
DOF = slots(angular=3, linear=3)
_SUMMED = 15  # I, h, n and f stand together


def system_work(n: dict[str, int]) -> int:
    """Work memory of the equations and of their factors."""
    nv, blocks = n["nv"], n["blocks"]
    links = n["n_links"] * LINK.size + nv * DOF.size
    matrices = nv * (nv + MARGIN) + blocks * (blocks + MARGIN)
    return links + rows_work(n) + 2 * n["panels"] + matrices + nv + blocks


@function
def system_memory(model, work):
    """Where things stand: rows, J, Y, M, 1 / D_M, G, 1 / D_G, and what is free behind them."""
    nv = len(model.armature)
    blocks, panels = extents(model)
    rows = part(work, len(model.links) * LINK.size + nv * DOF.size)
    J = part(rows, rows_end(model))
    M = part(J, 2 * panels)
    D = part(M, nv * (nv + MARGIN))
    G = part(D, nv)
    D_G = part(G, blocks * (blocks + MARGIN))
    return rows, J, part(J, panels), M, D, G, D_G, part(D_G, blocks)


@function
def put_equations(model, q, v, tau, external_forces, with_error, M, force, J, rows, work):
    """M, tau - b, J, and all else that is to know of the rows."""
    n, nv = len(model.links), len(model.armature)
    dofs = n * LINK.size
    clear(M, nv * (nv + MARGIN))  # entries between runs are read, though not used
    start_at_rest(work, (-model.gravity[0], -model.gravity[1], -model.gravity[2]))
    place_world(work)
    place_links(model, q, work, LINK.size, dofs, DOF.size)
    for i in range(1, n):
        move_link(model.links[i], i, v, work, LINK.size, dofs, DOF.size)
    for c in range(len(model.pieces)):
        put_rows(model, model.pieces[c], q, v, with_error, work, LINK.size, rows)
        put_panel(model, model.pieces[c], J, part(work, dofs), DOF.size, rows)
    for i in range(1, n):
        put_rigid_body(model.links[i], model.solids[i], i * LINK.size, work)
    if present(external_forces):
        for i in range(1, n):
            at = i * LINK.size
            push_rigid_body(model.links[i], model.solids[i], at, external_forces, work)
    for i in range(n - 1, 0, -1):
        link = model.links[i]
        for k in range(link.v, link.v + link.nv):
            put_row(model, link, i * LINK.size, k, tau, M, force, work, dofs)
        if link.parent > 0:
            at, parent = i * LINK.size + LINK.I, link.parent * LINK.size + LINK.I
            for t in range(_SUMMED):
                work[parent + t] = work[parent + t] + work[at + t]


@function
def put_rigid_body(link, solid, at, work):
    """Inertia of a link, and the force that its motion takes."""
    R, p = get9(work, at + LINK.R), get3(work, at + LINK.p)
    inertia, h = rigid_inertia(link, solid, R, p)
    omega, u = get3(work, at + LINK.omega), get3(work, at + LINK.u)
    alpha, a = get3(work, at + LINK.alpha), get3(work, at + LINK.a)
    n_momentum, momentum = composite_times(inertia, h, link.mass, omega, u)
    n, f = composite_times(inertia, h, link.mass, alpha, a)
    put6(work, at + LINK.I, inertia)
    put3(work, at + LINK.h, h)
    put3(work, at + LINK.n, add_cross(add_cross(n, omega, n_momentum), u, momentum))
    put3(work, at + LINK.f, add_cross(f, omega, momentum))


@function
def push_rigid_body(link, solid, at, external_forces, work):
    """Take off an external force, given in the body's axes and at its origin."""
    if link.body >= 0:
        R, p = get9(work, at + LINK.R), get3(work, at + LINK.p)
        n, f = external_wrench(link, solid, R, p, external_forces)
        put3(work, at + LINK.f, subtract(get3(work, at + LINK.f), f))
        put3(work, at + LINK.n, subtract(get3(work, at + LINK.n), n))


@function
def put_row(model, link, at, k, tau, M, force, work, dofs):
    """Row k of M up to the diagonal, and entry k of tau - b."""
    dof = dofs + k * DOF.size
    angular, linear = get3(work, dof + DOF.angular), get3(work, dof + DOF.linear)
    b = dot(angular, get3(work, at + LINK.n)) + dot(linear, get3(work, at + LINK.f))
    force[k] = tau[k] - b
    inertia, h = get6(work, at + LINK.I), get3(work, at + LINK.h)
    put_mass_row(model, k, inertia, h, link.subtree_mass, M, work, dofs)


@function
def put_mass_row(model, k, inertia, h, mass, M, work, dofs):
    """Row k of M up to the diagonal, from the inertia of all that k carries."""
    pitch, dof = len(model.armature) + MARGIN, dofs + k * DOF.size
    angular, linear = get3(work, dof + DOF.angular), get3(work, dof + DOF.linear)
    n, f = composite_times(inertia, h, mass, angular, linear)
    M[k * pitch + k] = dot(angular, n) + dot(linear, f) + model.armature[k]
    last = model.dof_parent[k]
    while last >= 0:  # joints that carry k, a run of numbers at a time
        first = model.chain_start[last]
        for j in range(first, last + 1):
            other = dofs + j * DOF.size
            x = dot(get3(work, other + DOF.angular), n)
            M[k * pitch + j] = x + dot(get3(work, other + DOF.linear), f)
        last = model.dof_parent[first]

"""The equations that constrained dynamics solves, at one state: M, tau - b, J and the rows.

    M a - J^T multipliers = tau - b        J a = a* - gamma

M by the composite-rigid-body algorithm, and b by the Newton-Euler algorithm with zero joint
acceleration, in one sweep in world axes (see `dynamics.steps.links`). The lower triangle of M is
stored by rows, J by panels (see `factor.kkt`).
"""

from __future__ import annotations

from ...compile import clear, function, layout, present, slots
from ...dynamics.steps.bodies import composite_times, external_wrench, rigid_inertia
from ...dynamics.steps.links import MOVING, SUBSPACE, move_link, place_links, start_at_rest
from ...dynamics.steps.points import place_world
from ...dynamics.steps.subspaces import along, put_mass_row
from ...spatial.vectors import add_cross, get3, get6, get9, put3, put6, subtract
from ..rows.jacobian import put_panel
from ..rows.measures import put_rows
from ..rows.wrenches import ROWS
from .kkt import MARGIN, MATRIX

# A link: placement and motion; rotational inertia and first moment, moment and force, at last those
# of its subtree.
LINK = slots(MOVING, I=6, h=3, n=3, f=3)
DOF = SUBSPACE
_SUMMED = LINK.size - LINK.I  # numbers that are added to the parent's: I, h, n and f
# Rows, links, degrees of freedom and J. Methods add M, as they factorise it in different ways.
EQUATIONS = layout(ROWS, links=("n_links", LINK), dofs=("nv", DOF), J="panels")
# These with M, all factors of `factor.kkt`, and the right-hand side tau - b.
SYSTEM = layout(EQUATIONS, MATRIX, force="nv")


@function
def put_equations(model, q, v, tau, external_forces, with_error, work):
    """M, tau - b in work.force, J by panels, and the records of all rows."""
    n, nv, links = len(model.links), len(model.armature), work.links
    clear(work.M, nv * (nv + MARGIN))  # zeros outside the tree's pattern are read, but not used
    start_at_rest(links, (-model.gravity[0], -model.gravity[1], -model.gravity[2]))
    place_world(links)
    place_links(model, q, links, LINK.size, work.dofs, DOF.size)
    for i in range(1, n):
        move_link(model.links[i], i, v, links, LINK.size, work.dofs, DOF.size)
    for c in range(len(model.pieces)):
        put_rows(model, model.pieces[c], q, v, with_error, links, LINK.size, work)
        put_panel(model, model.pieces[c], work.J, DOF.size, work)
    for i in range(1, n):
        put_rigid_body(model.links[i], model.solids[i], i * LINK.size, links)
    if present(external_forces):
        for i in range(1, n):
            at = i * LINK.size
            push_rigid_body(model.links[i], model.solids[i], at, external_forces, links)
    for i in range(n - 1, 0, -1):
        link = model.links[i]
        for k in range(link.v, link.v + link.nv):
            put_row(model, link, i * LINK.size, k, tau, work)
        if link.parent > 0:
            at, parent = i * LINK.size + LINK.I, link.parent * LINK.size + LINK.I
            for t in range(_SUMMED):
                links[parent + t] = links[parent + t] + links[at + t]


@function
def put_rigid_body(link, solid, at, links):
    """Inertia of a link, and the moment and force that its motion takes."""
    R, p = get9(links, at + LINK.R), get3(links, at + LINK.p)
    inertia, h = rigid_inertia(link, solid, R, p)
    omega, u = get3(links, at + LINK.omega), get3(links, at + LINK.u)
    alpha, a = get3(links, at + LINK.alpha), get3(links, at + LINK.a)
    n_momentum, momentum = composite_times(inertia, h, link.mass, omega, u)
    n, f = composite_times(inertia, h, link.mass, alpha, a)
    put6(links, at + LINK.I, inertia)
    put3(links, at + LINK.h, h)
    put3(links, at + LINK.n, add_cross(add_cross(n, omega, n_momentum), u, momentum))
    put3(links, at + LINK.f, add_cross(f, omega, momentum))


@function
def push_rigid_body(link, solid, at, external_forces, links):
    """Subtract an external force on a link, given in the body's axes and at its origin."""
    if link.body >= 0:
        R, p = get9(links, at + LINK.R), get3(links, at + LINK.p)
        n, f = external_wrench(link, solid, R, p, external_forces)
        put3(links, at + LINK.f, subtract(get3(links, at + LINK.f), f))
        put3(links, at + LINK.n, subtract(get3(links, at + LINK.n), n))


@function
def put_row(model, link, at, k, tau, work):
    """Row k of M up to the diagonal, and entry k of tau - b."""
    links = work.links
    b = along(work.dofs, k * DOF.size, get3(links, at + LINK.n), get3(links, at + LINK.f))
    work.force[k] = tau[k] - b
    inertia, h = get6(links, at + LINK.I), get3(links, at + LINK.h)
    put_inertia_row(model, k, inertia, h, link.subtree_mass, work)


@function
def put_inertia_row(model, k, inertia, h, mass, work):
    """Row k of M up to the diagonal, from the inertia of all links that k carries."""
    dofs, pitch, dof = work.dofs, len(model.armature) + MARGIN, k * DOF.size
    angular, linear = get3(dofs, dof + DOF.angular), get3(dofs, dof + DOF.linear)
    n, f = composite_times(inertia, h, mass, angular, linear)
    put_mass_row(model, k, n, f, dofs, DOF.size, work.M, pitch, False)
    work.M[k * pitch + k] = work.M[k * pitch + k] + model.armature[k]

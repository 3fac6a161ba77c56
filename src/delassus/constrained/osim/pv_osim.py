"""The Delassus matrix by recursions on articulated inertias.

- pv_osim: all rows run to the world. O(n + m^2 d). Sathya et al., Efficient constrained dynamics
  algorithms based on an equivalent LQR formulation, 2024.
- pv_osimr: six unit wrenches run between links where constraints branch. O(n + m^2). What
  Algorithm 5 of Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024,
  contains.
- efpa: rows run, and inverse inertias are propagated outwards through all joints.
  O(n + m d + m^2). Wensing, Featherstone and Orin, A reduced-order recursive algorithm for the
  computation of the operational-space inertia matrix, 2012.

They depart from the papers in world axes, in which nothing is transformed from link to link; in
that a free base is factored as a whole; and in that a constraint may pull at several links, whose
blocks add up.
"""

from __future__ import annotations

from ...compile import function, kernel
from ...dynamics.aba import DOF, LINK
from ...spatial.vectors import add_scaled, dot, get3, put3, scale
from ..free_root import solve_root
from .blocks import (
    OMEGA_SIZE,
    motion,
    put_inverse_inertias,
    put_matrix,
    put_strands,
    put_symmetric,
    put_tiles,
    strands_memory,
    strands_work,
    tie_knots,
)
from .inversion import invert_damped
from .strands import (
    ALONGSIDE,
    ALWAYS,
    NEVER,
    KnottedArrays,
    PropagatedArrays,
    StrandArrays,
)


@kernel(
    StrandArrays,
    inputs={"q": "nq"},
    outputs={"G": "m m"},
    work=lambda n: strands_work(n, NEVER),
    label="delassus_matrix by pv-osim",
)
def pv_osim(model, q, G, work):
    """G = J M^-1 J^T"""
    dofs = len(model.links) * LINK.size
    rows, strands, Y, Z, _, tiles, _ = strands_memory(model, work)
    put_strands(model, q, rows, strands, Y, Z, work, dofs)
    put_matrix(model, 1.0, Y, Z, tiles, G)


@kernel(
    StrandArrays,
    inputs={"q": "nq", "damping": "m common"},
    outputs={"inverse": "m m"},
    work=lambda n: strands_work(n, NEVER),
    label="delassus_inverse by pv-osim",
)
def pv_osim_inverse(model, q, damping, inverse, work):
    """(J M^-1 J^T + damping)^-1, in blocks of constraints that anything couples"""
    dofs = len(model.links) * LINK.size
    rows, strands, Y, Z, _, tiles, _ = strands_memory(model, work)
    put_strands(model, q, rows, strands, Y, Z, work, dofs)
    put_tiles(model, Y, Z, tiles)
    invert_damped(model, damping, tiles)
    put_symmetric(model, 1.0, tiles, inverse)


@kernel(
    KnottedArrays,
    inputs={"q": "nq"},
    outputs={"G": "m m"},
    work=lambda n: strands_work(n, ALWAYS),
    label="delassus_matrix by pv-osimr",
)
def pv_osimr(model, q, G, work):
    """G = J M^-1 J^T"""
    dofs = len(model.links) * LINK.size
    rows, strands, Y, Z, Omega, tiles, _ = strands_memory(model, work)
    put_strands(model, q, rows, strands, Y, Z, work, dofs)
    put_inverse_inertias(model, strands, Y, Z, Omega)
    tie_knots(model, strands, Y, Z, Omega)
    put_matrix(model, 1.0, Y, Z, tiles, G)


@kernel(
    PropagatedArrays,
    inputs={"q": "nq"},
    outputs={"G": "m m"},
    work=lambda n: strands_work(n, ALONGSIDE),
    label="delassus_matrix by efpa",
)
def efpa(model, q, G, work):
    """G = J M^-1 J^T"""
    dofs = len(model.links) * LINK.size
    rows, strands, Y, Z, Omega, tiles, _ = strands_memory(model, work)
    put_strands(model, q, rows, strands, Y, Z, work, dofs)
    propagate_inverse_inertias(model, Omega, work, dofs)
    tie_knots(model, strands, Y, Z, Omega)
    put_matrix(model, 1.0, Y, Z, tiles, G)


@function
def propagate_inverse_inertias(model, Omega, work, dofs):
    """Inverse inertias of all links that carry ends, from the world on."""
    for t in range(len(model.supports) - 1, -1, -1):
        turn = model.supports[t]
        link, at = model.links[turn.link], t * OMEGA_SIZE
        if turn.is_free:
            put_inverse_of_root(Omega, at, work, dofs + link.v * DOF.size)
        else:
            carrier = model.carriers[t]
            for k in range(OMEGA_SIZE):
                Omega[at + k] = 0.0 if carrier < 0 else Omega[carrier * OMEGA_SIZE + k]
            for k in range(link.v, link.v + link.nv):
                propagate_inverse_inertia(Omega, at, work, dofs + k * DOF.size)


@function
def put_inverse_of_root(Omega, at, work, dof):
    """The inverse of the articulated inertia of a free body."""
    for k in range(6):
        n = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        f = (1.0 if k == 3 else 0.0, 1.0 if k == 4 else 0.0, 1.0 if k == 5 else 0.0)
        angular, linear = solve_root(n, f, work, dof)
        put3(Omega, at + 6 * k, angular)
        put3(Omega, at + 6 * k + 3, linear)


@function
def propagate_inverse_inertia(Omega, at, work, dof):
    """P^T Omega P + S D^-1 S^T with P = 1 - U D^-1 S^T: an update by two products of vectors.

    With G = U / D and x = Omega G it is Omega - S x^T - x S^T + S (1 / D + G . x) S^T.
    """
    angular, linear = get3(work, dof + DOF.angular), get3(work, dof + DOF.linear)
    G_angular, G_linear = get3(work, dof + DOF.G_angular), get3(work, dof + DOF.G_linear)
    x_angular, x_linear = motion(Omega, at, G_angular, G_linear)
    D_inverse = work[dof + DOF.D_inverse]
    half = 0.5 * (D_inverse + dot(G_angular, x_angular) + dot(G_linear, x_linear))
    x_angular = add_scaled(scale(-1.0, x_angular), half, angular)
    x_linear = add_scaled(scale(-1.0, x_linear), half, linear)
    for k in range(3):
        add_row(Omega, at + 6 * k, angular[k], x_angular, x_linear)
        add_row(Omega, at + 6 * k, x_angular[k], angular, linear)
        add_row(Omega, at + 18 + 6 * k, linear[k], x_angular, x_linear)
        add_row(Omega, at + 18 + 6 * k, x_linear[k], angular, linear)


@function
def add_row(Omega, at, x, angular, linear):
    """Add x times a vector to a row."""
    put3(Omega, at, add_scaled(get3(Omega, at), x, angular))
    put3(Omega, at + 3, add_scaled(get3(Omega, at + 3), x, linear))

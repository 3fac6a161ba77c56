"""The Delassus matrix by recursions on articulated inertias (see `strands` for the words).

- `pv_osim`: all strands run to the world, no node ties knots. O(n + m^2 d). Sathya, Bruyninckx,
  Decre and Pipeleers, Efficient constrained dynamics algorithms based on an equivalent LQR
  formulation using Gauss' principle of least constraint, 2024.
- `pv_osimr`: all nodes tie knots, so that only unit wrenches run from node to node. O(n + m^2).
  Sathya and Carpentier, Constrained Articulated Body Dynamics Algorithms, 2024, Algorithm 5 without
  lines 4 and 21.
- `efpa`: all nodes tie knots, but strands run from node to node, and inverse inertias are
  propagated outwards through all joints. O(n + m d + m^2). Wensing, Featherstone and Orin, A
  reduced-order recursive algorithm for the computation of the operational-space inertia matrix,
  2012.

| paper | here | what |
| --- | --- | --- |
| Algorithm 5, lines 1, 2, 5 to 11, 14 to 16 | `blocks.put_strands` | inertias, entries of strands |
| lines 12, 13 | `blocks.put_inverse_inertias` | ^0Omega_i of nodes |
| lines 17 to 20 | `blocks.tie_knots`, `blocks.put_matrix` | the matrix |
| Omega_i = P^T Omega_pi(i) P + S D^-1 S^T (efpa) | `propagate_inverse_inertias` | of all links |

Departs from the papers in these ways:

- Vectors are in world axes, so that nothing is transformed from link to link.
- A free body that carries a tree is factorised as a whole (see `recursion.free_root`).
- A constraint may pull at several links: its tiles add up.
"""

from __future__ import annotations

from ...compile import function, kernel
from ...dynamics.aba import DOF
from ...spatial.vectors import add_scaled, dot, get3, put3, scale
from ..factor.inversion import invert_damped
from ..recursion.free_root import solve_root
from .arrays import KnottedArrays, PropagatedArrays, StrandArrays
from .blocks import (
    OMEGA_SIZE,
    STRANDS,
    motion,
    put_inverse_inertias,
    put_matrix,
    put_strands,
    put_symmetric,
    put_tiles,
    tie_knots,
)


@kernel(
    StrandArrays,
    inputs={"q": "nq"},
    outputs={"G": "m m"},
    work=STRANDS,
    label="delassus_matrix by pv-osim",
)
def pv_osim(model, q, G, work):
    """G = J M^-1 J^T"""
    put_strands(model, q, work)
    put_matrix(model, 1.0, G, work)


@kernel(
    StrandArrays,
    inputs={"q": "nq", "damping": "m common"},
    outputs={"inverse": "m m"},
    work=STRANDS,
    label="delassus_inverse by pv-osim",
)
def pv_osim_inverse(model, q, damping, inverse, work):
    """(J M^-1 J^T + damping)^-1, one branch after the other"""
    put_strands(model, q, work)
    put_tiles(model, work)
    invert_damped(model, damping, work.tiles)
    put_symmetric(model, 1.0, work.tiles, inverse)


@kernel(
    KnottedArrays,
    inputs={"q": "nq"},
    outputs={"G": "m m"},
    work=STRANDS,
    label="delassus_matrix by pv-osimr",
)
def pv_osimr(model, q, G, work):
    """G = J M^-1 J^T"""
    put_strands(model, q, work)
    put_inverse_inertias(model, work)
    tie_knots(model, work)
    put_matrix(model, 1.0, G, work)


@kernel(
    PropagatedArrays,
    inputs={"q": "nq"},
    outputs={"G": "m m"},
    work=STRANDS,
    label="delassus_matrix by efpa",
)
def efpa(model, q, G, work):
    """G = J M^-1 J^T"""
    put_strands(model, q, work)
    propagate_inverse_inertias(model, work)
    tie_knots(model, work)
    put_matrix(model, 1.0, G, work)


@function
def propagate_inverse_inertias(model, work):
    """Inverse inertias of all links that support constraints, from the world to the leaves."""
    Omega, dofs = work.Omega, work.dofs
    for t in range(len(model.supports) - 1, -1, -1):
        turn = model.supports[t]
        link, at = model.links[turn.link], t * OMEGA_SIZE
        if turn.is_free:
            put_inverse_of_root(Omega, at, dofs, link.v * DOF.size)
        else:
            carrier = model.carriers[t]
            for k in range(OMEGA_SIZE):
                Omega[at + k] = 0.0 if carrier < 0 else Omega[carrier * OMEGA_SIZE + k]
            for k in range(link.v, link.v + link.nv):
                propagate_inverse_inertia(Omega, at, dofs, k * DOF.size)


@function
def put_inverse_of_root(Omega, at, dofs, dof):
    """The inverse of the articulated inertia of a free body."""
    for k in range(6):
        n = (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)
        f = (1.0 if k == 3 else 0.0, 1.0 if k == 4 else 0.0, 1.0 if k == 5 else 0.0)
        angular, linear = solve_root(n, f, dofs, dof)
        put3(Omega, at + 6 * k, angular)
        put3(Omega, at + 6 * k + 3, linear)


@function
def propagate_inverse_inertia(Omega, at, dofs, dof):
    """Omega <- P^T Omega P + S D^-1 S^T, with P = 1 - G S^T: an update of rank two.

    With x = Omega G it is Omega - S x^T - x S^T + S (1 / D + G . x) S^T.
    """
    angular, linear = get3(dofs, dof + DOF.angular), get3(dofs, dof + DOF.linear)
    G_angular, G_linear = get3(dofs, dof + DOF.G_angular), get3(dofs, dof + DOF.G_linear)
    x_angular, x_linear = motion(Omega, at, G_angular, G_linear)
    D_inverse = dofs[dof + DOF.D_inverse]
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
    """Add x times (angular, linear) to a row of Omega."""
    put3(Omega, at, add_scaled(get3(Omega, at), x, angular))
    put3(Omega, at + 3, add_scaled(get3(Omega, at + 3), x, linear))

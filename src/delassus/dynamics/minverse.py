"""The inverse of the mass matrix, without the matrix itself. O(n^2).

Carpentier and Mansard, Analytical Derivatives of Rigid Body Dynamics Algorithms, 2018, Sec. IV-C:
the articulated-body algorithm without bias terms, for all unit forces at once. The paper leaves the
steps to a report. With the symbols of the articulated-body algorithm (see `articulated`), and j = k
or a degree of freedom that k carries, they are

    backward    P_kj = D_k^-1 ([k = j] - S_k^T F_j)        F_j <- F_j + U_k P_kj
    forward     M^-1_kj = P_kj - D_k^-1 U_k^T X_j          X_j <- X_j + S_k M^-1_kj

| symbol    | here                | what it is                                                   |
| --------- | ------------------- | ------------------------------------------------------------ |
| M^-1      | inverse             | the result; its row k from the diagonal on, and mirrored     |
| S_k       | angular, linear     | motion subspace of degree of freedom k                       |
| U_k / D_k | G_angular, G_linear | articulated inertia times S_k, over D_k                      |
| 1 / D_k   | D_inverse           | acceleration of k by a unit force, its parent at rest        |
| F_j       | F_angular, F_linear | what a unit force of j leaves on the link that is reached    |
| P_kj      | P                   | acceleration of k by a unit force of j, k's parent at rest   |
| X_j       | motions             | acceleration that a unit force of j gives the link reached   |

In world axes (see `links`) F_j stays in one place on its way to the root. A link writes its X over
that of its parent where it is the last child, so that few copies of X exist at a time.

Beyond the paper: on a chain that forks no more, entries between the chain and the rest of the tree
need no X along the chain. By symmetry they are the products of the chain's columns of F at the last
fork with that fork's columns of X.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..compile import function, kernel, layout, part, slots
from ..model.model import Model
from ..model.packed import ModelArrays
from ..model.parts.names import known_name
from ..spatial.vectors import add_scaled, dot, get3, put3, scale
from .cholesky import cholesky_inverse
from .steps.articulated import DOF, LINK, articulate_range, place_bodies
from .steps.links import SUBSPACE

# A degree of freedom's column of F, and that column at the nearest fork.
UNIT = slots(F_angular=3, F_linear=3, fork_angular=3, fork_linear=3)
# A column of X.
MOTION = SUBSPACE
# What `respond_to_unit_forces` needs: F, and behind it P by rows; X for each branch of the tree. F
# and P are one part: were they two, the compiler would take four columns of F at a time, which lie
# apart in memory (for one state of Talos 1.3 times the time).
RESPONSE = layout(
    units=lambda n: n["nv"] * (UNIT.size + n["nv"]),
    motions=lambda n: n["n_branches"] * n["nv"] * MOTION.size,
)


@kernel(
    ModelArrays,
    inputs={"q": "nq"},
    outputs={"inverse": "nv nv"},
    work=layout(links=("n_links", LINK), dofs=("nv", DOF), response=RESPONSE),
    label="inverse_mass_matrix",
)
def minverse(model, q, inverse, work):
    """M(q)^-1, both triangles"""
    place_bodies(model, q, work.links, LINK.size, work.dofs, DOF.size)
    articulate_range(model, 1, len(model.links), work.links, LINK.size, work.dofs, DOF.size)
    respond_to_unit_forces(model, inverse, work.dofs, DOF.size, work.response)


@function
def respond_to_unit_forces(model, inverse, dofs, dof_size, work):
    """M^-1 from the projections of articulated inertias, with which records of dofs start.

    `work` is laid out by RESPONSE.
    """
    n = len(model.links)
    for i in range(n - 1, 0, -1):
        link = model.links[i]
        for k in range(link.v + link.nv - 1, link.v - 1, -1):
            push(model, link, k, dofs, k * dof_size, work.units)
        if link.fork > 0 and link.fork == link.parent and not link.leads_to_fork:
            keep_at_fork(link, work.units)
    for i in range(1, n):
        link = model.links[i]
        for k in range(link.v, link.v + link.nv):
            respond(model, link, k, inverse, dofs, k * dof_size, work)
            if not link.leads_to_fork:
                respond_beyond_fork(model, link, k, inverse, work)


@function
def row_of_P(model, k, units):
    """Row k of P, which stands behind F."""
    nv = len(model.armature)
    return part(units, nv * (UNIT.size + k))


@function
def push(model, link, k, dofs, dof, units):
    """Row k of P, and what unit forces of k, and of those it carries, leave on its parent: F."""
    P = row_of_P(model, k, units)
    s_angular, s_linear = get3(dofs, dof + DOF.angular), get3(dofs, dof + DOF.linear)
    D_inverse = dofs[dof + DOF.D_inverse]
    g_angular, g_linear = get3(dofs, dof + DOF.G_angular), get3(dofs, dof + DOF.G_linear)
    P[k] = D_inverse
    put3(units, k * UNIT.size + UNIT.F_angular, g_angular)
    put3(units, k * UNIT.size + UNIT.F_linear, g_linear)
    if link.leads_to_fork:
        for j in range(link.end_v, link.tree_end_v):
            P[j] = 0.0
    for j in range(k + 1, link.end_v):
        at = j * UNIT.size
        F_angular, F_linear = get3(units, at + UNIT.F_angular), get3(units, at + UNIT.F_linear)
        u = -(dot(s_angular, F_angular) + dot(s_linear, F_linear))
        P[j] = u * D_inverse
        put3(units, at + UNIT.F_angular, add_scaled(F_angular, u, g_angular))
        put3(units, at + UNIT.F_linear, add_scaled(F_linear, u, g_linear))


@function
def keep_at_fork(link, units):
    """Keep the forces that unit forces of this chain leave on the fork that it hangs on."""
    for k in range(link.v, link.end_v):
        at = k * UNIT.size
        put3(units, at + UNIT.fork_angular, get3(units, at + UNIT.F_angular))
        put3(units, at + UNIT.fork_linear, get3(units, at + UNIT.F_linear))


@function
def respond(model, link, k, inverse, dofs, dof, work):
    """Row k of the inverse from the diagonal on, and the motion that the link passes on: X."""
    nv, motions = len(model.armature), work.motions
    P = row_of_P(model, k, work.units)
    is_first = k == link.v
    branch = model.links[link.parent].branch if is_first else link.branch
    source, target = branch * nv * MOTION.size, link.branch * nv * MOTION.size
    s_angular, s_linear = get3(dofs, dof + DOF.angular), get3(dofs, dof + DOF.linear)
    g_angular = scale(-1.0, get3(dofs, dof + DOF.G_angular))
    g_linear = scale(-1.0, get3(dofs, dof + DOF.G_linear))
    if link.parent == 0 and is_first:  # nothing moves before the root's first degree of freedom
        for j in range(k, link.end_v):
            x = P[j]
            put_pair(inverse, nv, k, j, x)
            at = target + j * MOTION.size
            put3(motions, at + MOTION.angular, scale(x, s_angular))
            put3(motions, at + MOTION.linear, scale(x, s_linear))
    elif link.has_children or k < link.v + link.nv - 1:
        last = link.tree_end_v if link.leads_to_fork else link.end_v
        for j in range(k, last):
            at = source + j * MOTION.size
            angular, linear = get3(motions, at + MOTION.angular), get3(motions, at + MOTION.linear)
            x = P[j] + dot(g_angular, angular) + dot(g_linear, linear)
            put_pair(inverse, nv, k, j, x)
            at = target + j * MOTION.size
            put3(motions, at + MOTION.angular, add_scaled(angular, x, s_angular))
            put3(motions, at + MOTION.linear, add_scaled(linear, x, s_linear))
    else:  # no link needs the motion of a leaf
        for j in range(k, link.end_v):
            at = source + j * MOTION.size
            angular, linear = get3(motions, at + MOTION.angular), get3(motions, at + MOTION.linear)
            x = P[j] + dot(g_angular, angular) + dot(g_linear, linear)
            put_pair(inverse, nv, k, j, x)


@function
def respond_beyond_fork(model, link, k, inverse, work):
    """Row k of the inverse where neither degree of freedom carries the other: -F_k^T X_j."""
    nv, motions = len(model.armature), work.motions
    fork, at = model.links[link.fork].branch * nv * MOTION.size, k * UNIT.size
    F_angular = get3(work.units, at + UNIT.fork_angular)
    F_linear = get3(work.units, at + UNIT.fork_linear)
    for j in range(link.end_v, link.tree_end_v):
        at = fork + j * MOTION.size
        angular, linear = get3(motions, at + MOTION.angular), get3(motions, at + MOTION.linear)
        put_pair(inverse, nv, k, j, -(dot(F_angular, angular) + dot(F_linear, linear)))


@function
def put_pair(matrix, n, i, j, x):
    """Entries (i, j) and (j, i) of a symmetric matrix."""
    matrix[i * n + j] = x
    matrix[j * n + i] = x


INVERSE_METHODS = {"dedicated": minverse, "cholesky": cholesky_inverse}


def inverse_mass_matrix(
    model: Model,
    q: ArrayLike,
    *,
    method: str = "dedicated",
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """M(q)^-1, (..., nv, nv).

    `method` is "dedicated" (the articulated-body algorithm for all unit forces at once) or
    "cholesky" (the sparse factorisation of M), which is slower and there for comparison.
    """
    return INVERSE_METHODS[known_name("method", method, INVERSE_METHODS)](model, (q,), out, threads)

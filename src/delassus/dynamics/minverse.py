"""The inverse of the mass matrix, without the matrix itself. O(n^2).

Carpentier and Mansard, Analytical Derivatives of Rigid Body Dynamics Algorithms, 2018, Sec. IV-C.

The articulated-body algorithm for all unit forces at once, without bias terms. Column j of F is the
force that a unit force of degree of freedom j leaves on the link that the backward sweep has
reached: in world axes (see `links`) it stays in one place on its way to the root. Column j of X is
the acceleration that it gives each link on the way back; a link writes over its parent's where it
is the last child, so that few copies of X exist at a time.

Beyond the paper: on a chain that forks no more, entries between the chain and the rest of the tree
need no X along the chain. By symmetry they are the products of the chain's columns of F at the last
fork with that fork's columns of X.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..compile import function, kernel, part, slots
from ..errors import UnknownNameError
from ..model.model import Model
from ..model.packed import ModelArrays
from ..spatial.vectors import (
    add_scaled,
    dot,
    get3,
    put3,
    scale,
)
from .articulated import articulate_range, place_bodies
from .cholesky import cholesky_inverse

# A link's work memory: placement and articulated inertia. A degree of freedom's: projections of it.
LINK = slots(R=9, p=3, A=6, M=6, own_inertia=6, own_h=3)
DOF = slots(angular=3, linear=3, G_angular=3, G_linear=3, D_inverse=1)
# A degree of freedom's column of F, and that column at the nearest fork.
UNIT = slots(F_angular=3, F_linear=3, fork_angular=3, fork_linear=3)
# A column of X.
MOTION = slots(angular=3, linear=3)


def response_work(n: dict[str, int]) -> int:
    """Work memory of `respond_to_unit_forces`."""
    return n["nv"] * (UNIT.size + n["nv"] + n["n_branches"] * MOTION.size)


@kernel(
    ModelArrays,
    inputs={"q": "nq"},
    outputs={"inverse": "nv nv"},
    work=lambda n: n["n_links"] * LINK.size + n["nv"] * DOF.size + response_work(n),
    label="inverse_mass_matrix",
)
def minverse(model, q, inverse, work):
    """M(q)^-1, both triangles"""
    n, nv = len(model.links), len(model.armature)
    dofs = n * LINK.size
    place_bodies(model, q, work, LINK.size, dofs, DOF.size)
    articulate_range(model, 1, n, work, LINK.size, dofs, DOF.size)
    rest = part(work, dofs + nv * DOF.size)
    respond_to_unit_forces(model, inverse, part(work, dofs), DOF.size, rest)


@function
def respond_to_unit_forces(model, inverse, dofs, dof_size, work):
    """M^-1 from the projections of articulated inertias, which the records `dofs` start with."""
    n, nv = len(model.links), len(model.armature)
    rows = nv * UNIT.size
    motions = rows + nv * nv
    for i in range(n - 1, 0, -1):
        link = model.links[i]
        for k in range(link.v + link.nv - 1, link.v - 1, -1):
            push(link, nv, k, dofs, k * dof_size, work, rows)
        if link.fork > 0 and link.fork == link.parent and not link.leads_to_fork:
            keep_at_fork(link, work)
    for i in range(1, n):
        link = model.links[i]
        for k in range(link.v, link.v + link.nv):
            respond(model, link, k, inverse, dofs, k * dof_size, work, rows, motions)


@function
def push(link, nv, k, dofs, dof, work, rows):
    """What unit forces of degree of freedom k, and of those it carries, leave on its parent."""
    s_angular, s_linear = get3(dofs, dof + DOF.angular), get3(dofs, dof + DOF.linear)
    D_inverse = dofs[dof + DOF.D_inverse]
    g_angular, g_linear = get3(dofs, dof + DOF.G_angular), get3(dofs, dof + DOF.G_linear)
    work[rows + k * nv + k] = D_inverse
    put3(work, k * UNIT.size + UNIT.F_angular, g_angular)
    put3(work, k * UNIT.size + UNIT.F_linear, g_linear)
    if link.leads_to_fork:
        for j in range(link.end_v, link.tree_end_v):
            work[rows + k * nv + j] = 0.0
    for j in range(k + 1, link.end_v):
        at = j * UNIT.size
        F_angular, F_linear = get3(work, at + UNIT.F_angular), get3(work, at + UNIT.F_linear)
        u = -(dot(s_angular, F_angular) + dot(s_linear, F_linear))
        work[rows + k * nv + j] = u * D_inverse
        put3(work, at + UNIT.F_angular, add_scaled(F_angular, u, g_angular))
        put3(work, at + UNIT.F_linear, add_scaled(F_linear, u, g_linear))


@function
def keep_at_fork(link, work):
    """Keep the forces that unit forces of this chain leave on the fork that it hangs on."""
    for k in range(link.v, link.end_v):
        at = k * UNIT.size
        put3(work, at + UNIT.fork_angular, get3(work, at + UNIT.F_angular))
        put3(work, at + UNIT.fork_linear, get3(work, at + UNIT.F_linear))


@function
def respond(model, link, k, inverse, dofs, dof, work, rows, motions):
    """Row k of the inverse from the diagonal on, and the motion that the link passes on."""
    nv = len(model.armature)
    is_first = k == link.v
    branch = model.links[link.parent].branch if is_first else link.branch
    source = motions + branch * nv * MOTION.size
    target = motions + link.branch * nv * MOTION.size
    s_angular, s_linear = get3(dofs, dof + DOF.angular), get3(dofs, dof + DOF.linear)
    g_angular = scale(-1.0, get3(dofs, dof + DOF.G_angular))
    g_linear = scale(-1.0, get3(dofs, dof + DOF.G_linear))
    if link.parent == 0 and is_first:  # nothing moves before the root's first degree of freedom
        for j in range(k, link.end_v):
            x = work[rows + k * nv + j]
            put_pair(inverse, nv, k, j, x)
            at = target + j * MOTION.size
            put3(work, at + MOTION.angular, scale(x, s_angular))
            put3(work, at + MOTION.linear, scale(x, s_linear))
    elif link.has_children or k < link.v + link.nv - 1:
        last = link.tree_end_v if link.leads_to_fork else link.end_v
        for j in range(k, last):
            at = source + j * MOTION.size
            angular, linear = get3(work, at + MOTION.angular), get3(work, at + MOTION.linear)
            x = work[rows + k * nv + j] + dot(g_angular, angular) + dot(g_linear, linear)
            put_pair(inverse, nv, k, j, x)
            at = target + j * MOTION.size
            put3(work, at + MOTION.angular, add_scaled(angular, x, s_angular))
            put3(work, at + MOTION.linear, add_scaled(linear, x, s_linear))
    else:  # nobody asks for the motion of a leaf
        for j in range(k, link.end_v):
            at = source + j * MOTION.size
            angular, linear = get3(work, at + MOTION.angular), get3(work, at + MOTION.linear)
            x = work[rows + k * nv + j] + dot(g_angular, angular) + dot(g_linear, linear)
            put_pair(inverse, nv, k, j, x)
    if not link.leads_to_fork:
        fork = motions + model.links[link.fork].branch * nv * MOTION.size
        at = k * UNIT.size
        F_angular, F_linear = get3(work, at + UNIT.fork_angular), get3(work, at + UNIT.fork_linear)
        for j in range(link.end_v, link.tree_end_v):
            at = fork + j * MOTION.size
            angular, linear = get3(work, at + MOTION.angular), get3(work, at + MOTION.linear)
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
    if method not in INVERSE_METHODS:
        raise UnknownNameError(
            f"method must be one of {', '.join(map(repr, INVERSE_METHODS))}, got {method!r}"
        )
    return INVERSE_METHODS[method](model, (q,), out, threads)

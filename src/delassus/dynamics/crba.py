"""The mass matrix by the composite-rigid-body algorithm (Walker and Orin 1982). O(n d).

In world axes (see `links`) composite inertias just add up, and an entry costs one dot product.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..compile import function, kernel, slots
from ..model.model import Model
from ..model.packed import ModelArrays
from ..spatial.vectors import add, add6, dot, get3, get6, get9, put3, put6
from .links import composite_times, place_links, rigid_inertia

# A link's work memory: placement, then inertia of its subtree. A degree of freedom's: its column S.
LINK = slots(R=9, p=3, I=6, h=3)
DOF = slots(angular=3, linear=3)


@kernel(
    ModelArrays,
    inputs={"q": "nq"},
    outputs={"M": "nv nv"},
    work=lambda n: n["n_links"] * LINK.size + n["nv"] * DOF.size,
    label="mass_matrix",
)
def crba(model, q, M, work):
    """M(q), both triangles"""
    dofs = len(model.links) * LINK.size
    composite_inertias(model, q, work, dofs)
    for i in range(len(model.links) - 1, 0, -1):
        link = model.links[i]
        for k in range(link.v, link.v + link.nv):
            put_row(model, i, k, M, work, dofs)


@function
def composite_inertias(model, q, work, dofs):
    """Motion subspaces, and the inertia of each link's subtree about the tree's origin."""
    n = len(model.links)
    place_links(model, q, work, LINK.size, dofs, DOF.size)
    for i in range(1, n):
        at = i * LINK.size
        R, p = get9(work, at + LINK.R), get3(work, at + LINK.p)
        inertia, h = rigid_inertia(model.links[i], model.solids[i], R, p)
        put6(work, at + LINK.I, inertia)
        put3(work, at + LINK.h, h)
    for i in range(n - 1, 0, -1):
        at, parent = i * LINK.size, model.links[i].parent * LINK.size
        if parent > 0:
            put6(work, parent + LINK.I, add6(get6(work, parent + LINK.I), get6(work, at + LINK.I)))
            put3(work, parent + LINK.h, add(get3(work, parent + LINK.h), get3(work, at + LINK.h)))


@function
def put_row(model, i, k, M, work, dofs):
    """Row k of the matrix up to the diagonal, and the same column, where k has ancestors."""
    nv = len(model.armature)
    at, dof = i * LINK.size, dofs + k * DOF.size
    s_angular, s_linear = get3(work, dof + DOF.angular), get3(work, dof + DOF.linear)
    n, f = composite_times(
        get6(work, at + LINK.I), get3(work, at + LINK.h), model.links[i].subtree_mass,
        s_angular, s_linear,
    )  # fmt: skip
    M[k * nv + k] = dot(s_angular, n) + dot(s_linear, f) + model.armature[k]
    j = model.dof_parent[k]
    while j >= 0:
        other = dofs + j * DOF.size
        x = dot(get3(work, other + DOF.angular), n) + dot(get3(work, other + DOF.linear), f)
        M[k * nv + j] = x
        M[j * nv + k] = x
        j = model.dof_parent[j]


def mass_matrix(
    model: Model, q: ArrayLike, *, threads: int | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """M(q): the matrix of kinetic energy v^T M v / 2, motors' armature included; (..., nv, nv)."""
    return crba(model, (q,), out, threads)

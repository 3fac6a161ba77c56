"""The mass matrix by the composite-rigid-body algorithm (Walker and Orin 1982). O(n d).

In world axes (see `links`) the inertias of links just add up to those of subtrees. With I_i that of
the subtree of link i, k a degree of freedom of link i, and j = k or one that carries k:

    M_kj = S_j^T I_i S_k
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..compile import function, kernel, layout, slots
from ..model.model import Model
from ..model.packed import ModelArrays
from ..spatial.vectors import add, add6, get3, get6, get9, put3, put6
from .steps.bodies import composite_times, rigid_inertia
from .steps.links import PLACEMENT, SUBSPACE, place_links
from .steps.subspaces import put_mass_row

# A link: placement, then rotational inertia and mass times centre of mass of its subtree.
LINK = slots(PLACEMENT, I=6, h=3)
DOF = SUBSPACE
WORK = layout(links=("n_links", LINK), dofs=("nv", DOF))


@kernel(
    ModelArrays,
    inputs={"q": "nq"},
    outputs={"M": "nv nv"},
    work=WORK,
    label="mass_matrix",
)
def crba(model, q, M, work):
    """M(q), both triangles"""
    composite_inertias(model, q, work.links, work.dofs)
    for i in range(len(model.links) - 1, 0, -1):
        link = model.links[i]
        for k in range(link.v, link.v + link.nv):
            put_row(model, i, k, M, work)


@function
def composite_inertias(model, q, links, dofs):
    """Motion subspaces, and the inertia of each link's subtree about the tree's origin."""
    n = len(model.links)
    place_links(model, q, links, LINK.size, dofs, DOF.size)
    for i in range(1, n):
        at = i * LINK.size
        R, p = get9(links, at + LINK.R), get3(links, at + LINK.p)
        inertia, h = rigid_inertia(model.links[i], model.solids[i], R, p)
        put6(links, at + LINK.I, inertia)
        put3(links, at + LINK.h, h)
    for i in range(n - 1, 0, -1):
        at, to = i * LINK.size, model.links[i].parent * LINK.size
        if to > 0:
            put6(links, to + LINK.I, add6(get6(links, to + LINK.I), get6(links, at + LINK.I)))
            put3(links, to + LINK.h, add(get3(links, to + LINK.h), get3(links, at + LINK.h)))


@function
def put_row(model, i, k, M, work):
    """Row and column k of the matrix, for degree of freedom k of link i and all that carry it."""
    nv, at, dof = len(model.armature), i * LINK.size, k * DOF.size
    n, f = composite_times(
        get6(work.links, at + LINK.I),
        get3(work.links, at + LINK.h),
        model.links[i].subtree_mass,
        get3(work.dofs, dof + DOF.angular),
        get3(work.dofs, dof + DOF.linear),
    )
    put_mass_row(model, k, n, f, work.dofs, DOF.size, M, nv, True)
    M[k * nv + k] = M[k * nv + k] + model.armature[k]


def mass_matrix(
    model: Model, q: ArrayLike, *, threads: int | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """M(q): the matrix of kinetic energy v^T M v / 2, motors' armature included; (..., nv, nv)."""
    return crba(model, (q,), out, threads)

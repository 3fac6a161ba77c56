"""The mass matrix and derivatives of embedded dynamics, where G is constant, as kernels.

With q = G y + offsets, tau_y = G^T tau(q, G y', G y''), so the matrix of each derivative is that of
the spanning tree between G^T and G. Both have few entries: each entry of the product is a sum over
those of the tree's pattern that it has a share of, which is known when the arrays are made.

    d y''/dy = -M^-1 d tau/dy,    d y''/dy' = -M^-1 d tau/dy',    d y''/dtau = M^-1

| symbol | here | what |
| --- | --- | --- |
| G | model.shares | its entries that are neither zero nor of an independent joint |
| G^T D G | model.targets, model.sources | entries of the product, and of D in each |
| M, d tau/dy, d tau/dy' | work.da, work.dq, work.dv | of the tree, then projected |
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

from ..compile import clear, function, kernel, layout
from ..constrained.factor.inversion import WIDTH, invert
from ..dynamics.crba import LINK as COMPOSITE
from ..dynamics.crba import crba
from ..dynamics.derivatives.aba import aba_derivatives
from ..dynamics.derivatives.rnea import DOF, LINK, rnea_derivatives
from ..dynamics.steps.links import SUBSPACE
from ..model.packed import INDEX, ModelArrays, index_record
from ..spatial.vectors import add_scaled, get3, put3

_put_tree = rnea_derivatives.function
_put_mass = crba.function


def share_type(real: np.dtype) -> np.dtype:
    """The record of an entry of G: a dependent joint, an independent one, and the entry.

    `y` is the number of the independent one in y', `q` and `own_q` are coordinates of the two.
    """
    indices = [(name, INDEX) for name in ("dependent", "y", "q", "own_q")]
    return np.dtype([*indices, ("G", real)], align=True)


def place_type(real: np.dtype) -> np.dtype:
    """The record of a coordinate of the tree: where y has it, or -1; and its offset from G y."""
    return np.dtype([("q", INDEX), ("offset", real)], align=True)


def source_type(real: np.dtype) -> np.dtype:
    """The record of an entry of a matrix of the tree, and what it is multiplied by."""
    return np.dtype([("place", INDEX), ("weight", real)], align=True)


# An entry of a projected matrix, and its sources.
TARGET = index_record("place", "first", "count")
_OWN = ("shares", "places", "independent", "targets", "sources")


class ProjectedArrays(namedtuple("ProjectedArrays", (*ModelArrays._fields, *_OWN))):
    """The arrays of the spanning tree, and of G.

    `shares` are the entries of G, `places` tells of each coordinate of the tree where it comes
    from, `independent` are the numbers in the tree of what y' has. For `targets` see `project`.
    """

    __slots__ = ()
    dimensions = ("nq", "nv", "n_bodies", "spanning_nv")

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        own = (share_type(real), place_type(real), INDEX, TARGET, source_type(real))
        return (*ModelArrays.array_types(real), *own)

    @classmethod
    def takes(cls, emb) -> bool:
        """Whether these arrays can be packed from an object."""
        return getattr(emb, "is_constant", False)

    @classmethod
    def pack(cls, emb, real: np.dtype) -> ProjectedArrays:
        """The arrays, in one precision."""
        tree = ModelArrays.pack(emb.model, real)
        shares, offsets = [], np.zeros(emb.model.nv)
        q_of = {j.v.start: j.q.start for j in emb.model.joints}
        for part in emb.structure:
            offsets[list(part.choice.dependent)] = part.choice.offsets
            for d, row in zip(part.choice.dependent, part.choice.G, strict=True):
                shares += [
                    (d, emb.inner[k], q_of[d], q_of[k], x)
                    for k, x in zip(part.choice.independent, row, strict=True)
                    if x != 0.0
                ]
        places = [
            (emb.q_places[place], offsets[joint.v.start] if joint.nv else 0.0)
            for joint in emb.model.joints
            for place in range(joint.q.start, joint.q.stop)
        ]
        return cls(
            *tree,
            np.array(shares, share_type(real)),
            np.array(places, place_type(real)),
            emb.independent_dofs,
            *_projection(tree.dof_parent, emb.constant_G, real),
        )

    @classmethod
    def sizes(cls, emb) -> dict[str, int]:
        """Extents of work memory."""
        links = len(ModelArrays.pack(emb.model, np.dtype(float)).links)
        padded = -(-emb.nv // WIDTH) * WIDTH
        return {"n_links": links, "spanning_nq": emb.model.nq, "padded_nv": padded}


def _projection(dof_parent, G: np.ndarray, real: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Targets and sources of G^T D G for a D with the pattern of the tree."""
    n, nv = G.shape
    found: dict[int, list[tuple[int, float]]] = {}
    shares = [[(k, row[k]) for k in np.flatnonzero(row)] for row in G]
    for i in range(n):
        j = i
        while j >= 0:
            for a, b in {(i, j), (j, i)}:
                for k, x in shares[a]:
                    for t, y in shares[b]:
                        found.setdefault(int(k * nv + t), []).append((a * n + b, x * y))
            j = int(dof_parent[j])
    targets, sources = [], []
    for place in sorted(found):
        targets.append((place, len(sources), len(found[place])))
        sources += sorted(found[place])
    return np.array(targets, TARGET), np.array(sources, source_type(real))


def _matrix(n: dict[str, int]) -> int:
    return n["spanning_nv"] * n["spanning_nv"]


STATE = layout(q="spanning_nq", v="spanning_nv", a="spanning_nv")
WORK = layout(
    STATE,
    dq=_matrix,
    dv=_matrix,
    da=_matrix,
    tree=layout(links=("n_links", LINK), dofs=("spanning_nv", DOF)),
)
INPUTS = {"q": "nq", "v": "nv", "a": "nv", "external_forces": "n_bodies 6 optional"}


@kernel(
    ProjectedArrays,
    inputs={"q": "nq"},
    outputs={"M": "nv nv"},
    work=layout(
        q="spanning_nq",
        da=_matrix,
        tree=layout(links=("n_links", COMPOSITE), dofs=("spanning_nv", SUBSPACE)),
    ),
    label="mass_matrix with clusters",
)
def projected_crba(model, q, M, work):
    """G^T M G"""
    put_coordinates(model, q, work.q)
    _put_mass(model, work.q, work.da, work.tree)
    project(model, work.da, M)


@kernel(
    ProjectedArrays,
    inputs=INPUTS,
    outputs={"dq": "nv nv", "dv": "nv nv", "da": "nv nv"},
    work=WORK,
    label="inverse_dynamics_derivatives with clusters",
)
def projected_rnea_derivatives(model, q, v, a, external_forces, dq, dv, da, work):
    """Derivatives of tau = G^T tau(q, G y', G y'')"""
    put_tree(model, q, v, a, external_forces, work)
    project(model, work.dq, dq)
    project(model, work.dv, dv)
    project(model, work.da, da)


@kernel(
    ProjectedArrays,
    inputs=INPUTS,
    outputs={"dq": "nv nv", "dv": "nv nv", "dtau": "nv nv"},
    work=layout(
        WORK,
        force_dq=lambda n: n["nv"] * n["nv"],
        force_dv=lambda n: n["nv"] * n["nv"],
        inverse=lambda n: n["padded_nv"] * n["padded_nv"],
    ),
    label="forward_dynamics_derivatives with clusters",
)
def projected_aba_derivatives(model, q, v, a, external_forces, dq, dv, dtau, work):
    """Derivatives of y''(y, y', tau), which is a"""
    nv = len(model.independent)
    put_tree(model, q, v, a, external_forces, work)
    clear(work.force_dq, nv * nv)
    clear(work.force_dv, nv * nv)
    project(model, work.dq, work.force_dq)
    project(model, work.dv, work.force_dv)
    project(model, work.da, dtau)
    put_inverse(nv, dtau, work.inverse)
    multiply(nv, dtau, work.force_dq, dq)
    multiply(nv, dtau, work.force_dv, dv)


# Kernels of a model, and those that take their place where G is constant. The derivatives of
# forward dynamics take accelerations in the place of forces.
CONSTANT = {
    crba: projected_crba,
    rnea_derivatives: projected_rnea_derivatives,
    aba_derivatives: projected_aba_derivatives,
}


@function
def put_coordinates(model, q, all_q):
    """Coordinates of all joints from those that are given."""
    for t in range(len(model.places)):
        place = model.places[t]
        all_q[t] = q[place.q] if place.q >= 0 else place.offset + 0.0 * q[0]
    for t in range(len(model.shares)):
        share = model.shares[t]
        if model.places[share.q].q < 0:
            all_q[share.q] = all_q[share.q] + share.G * all_q[share.own_q]


@function
def put_rates(model, y, v):
    """v = G y"""
    clear(v, len(model.armature))
    for k in range(len(model.independent)):
        v[model.independent[k]] = y[k]
    for t in range(len(model.shares)):
        share = model.shares[t]
        v[share.dependent] = v[share.dependent] + share.G * y[share.y]


@function
def put_tree(model, q, v, a, external_forces, work):
    """Derivatives of the inverse dynamics of the tree."""
    put_coordinates(model, q, work.q)
    put_rates(model, v, work.v)
    put_rates(model, a, work.a)
    _put_tree(model, work.q, work.v, work.a, external_forces, work.dq, work.dv, work.da, work.tree)


@function
def project(model, D, result):
    """The entries of result = G^T D G that are not zero for all states."""
    for t in range(len(model.targets)):
        target = model.targets[t]
        x = 0.0 * D[0]
        for k in range(target.first, target.first + target.count):
            x = x + model.sources[k].weight * D[model.sources[k].place]
        result[target.place] = x


@function
def put_inverse(n, M, inverse):
    """The inverse of M in its place; `inverse` has rows and columns of the identity beyond."""
    size = -(-n // WIDTH) * WIDTH
    for i in range(size):
        for j in range(size):
            if i < n and j < n:
                inverse[i * size + j] = M[i * n + j]
            else:
                inverse[i * size + j] = 1.0 if i == j else 0.0
    invert(inverse, 0, size, size)
    for i in range(n):
        for j in range(i + 1):
            M[i * n + j] = inverse[i * size + j]
            M[j * n + i] = inverse[i * size + j]


@function
def multiply(n, A, B, result):
    """result = -A B, three columns at a time; the last columns one by one"""
    end = n - n % 3
    for i in range(n):
        for j in range(0, end, 3):
            x = (0.0, 0.0, 0.0)
            for k in range(n):
                x = add_scaled(x, -A[i * n + k], get3(B, k * n + j))
            put3(result, i * n + j, x)
        for j in range(end, n):
            y = 0.0 * A[0]
            for k in range(n):
                y = y - A[i * n + k] * B[k * n + j]
            result[i * n + j] = y

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

from ...compile import clear, function, kernel, layout
from ...constrained.factor.inversion import WIDTH, invert
from ...dynamics.crba import LINK as COMPOSITE
from ...dynamics.crba import crba
from ...dynamics.derivatives.aba import aba_derivatives
from ...dynamics.derivatives.rnea import DOF, LINK, rnea_derivatives
from ...dynamics.steps.links import SUBSPACE
from ...spatial.vectors import add_scaled, get3, put3
from ..structure.projection import ProjectedArrays

_put_tree = rnea_derivatives.function
_put_mass = crba.function


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

"""The inverse of the mass matrix by sparse Cholesky (Featherstone 2008). O(n d^2 + n^2 d).

Factors M = L^T D L with the sparsity that the tree induces (Featherstone, 2008, p. 112), then
solves for the columns of the identity. It is here to be compared with `minverse`.
"""

from __future__ import annotations

from ..compile import either, function, kernel, layout
from ..model.packed import ModelArrays
from .crba import WORK as MASS_MATRIX
from .crba import crba

_put_mass_matrix = crba.function
# The factor L, with the inverse of D on its diagonal, and one column x of the result.
FACTOR = layout(L=lambda n: n["nv"] * n["nv"], x="nv")


@kernel(
    ModelArrays,
    inputs={"q": "nq"},
    outputs={"inverse": "nv nv"},
    work=layout(either(layout(mass_matrix=MASS_MATRIX), FACTOR)),
    label="inverse_mass_matrix by Cholesky",
)
def cholesky_inverse(model, q, inverse, work):
    """M(q)^-1 = L^-1 D^-1 L^-T"""
    nv, L = len(model.armature), work.L
    _put_mass_matrix(model, q, inverse, work.mass_matrix)
    for t in range(nv * nv):
        L[t] = inverse[t]
    factorize(model, nv, L)
    for j in range(nv):
        solve_column(model, j, nv, inverse, L, work.x)


@function
def factorize(model, nv, L):
    """M = L^T D L in place: L below the diagonal, the inverse of D on it."""
    for k in range(nv - 1, -1, -1):
        L[k * nv + k] = 1.0 / L[k * nv + k]
        i = model.dof_parent[k]
        while i >= 0:
            x = L[k * nv + i] * L[k * nv + k]
            j = i
            while j >= 0:
                L[i * nv + j] = L[i * nv + j] - x * L[k * nv + j]
                j = model.dof_parent[j]
            L[k * nv + i] = x
            i = model.dof_parent[i]


@function
def solve_column(model, j, nv, inverse, L, x):
    """Column j of the inverse, found in x."""
    for i in range(nv):
        x[i] = 0.0
    x[j] = 1.0
    k = j  # L^T y = e_j: only j and its ancestors are touched
    while k >= 0:
        i = model.dof_parent[k]
        while i >= 0:
            x[i] = x[i] - L[k * nv + i] * x[k]
            i = model.dof_parent[i]
        x[k] = x[k] * L[k * nv + k]
        k = model.dof_parent[k]
    for k in range(nv):  # L x = y
        i = model.dof_parent[k]
        while i >= 0:
            x[k] = x[k] - L[k * nv + i] * x[i]
            i = model.dof_parent[i]
    for i in range(nv):
        inverse[i * nv + j] = x[i]

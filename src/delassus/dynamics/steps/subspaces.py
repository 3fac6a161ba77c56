"""Products with the motion subspaces S of joints: S x is a motion, S^T (n, f) are joint forces.

`dofs` holds a record of `dof_size` numbers a degree of freedom, which starts with the slots of
SUBSPACE (see `links`).
"""

from __future__ import annotations

from ...compile import function
from ...spatial.vectors import add_scaled, dot, get3, scale
from .links import SUBSPACE


@function
def across_joint(link, x, dofs, dof_size):
    """S x: angular and linear motion across a link's joint, for x among v or a."""
    dof = link.v * dof_size
    angular = scale(x[link.v], get3(dofs, dof + SUBSPACE.angular))
    linear = scale(x[link.v], get3(dofs, dof + SUBSPACE.linear))
    for k in range(link.v + 1, link.v + link.nv):
        dof = k * dof_size
        angular = add_scaled(angular, x[k], get3(dofs, dof + SUBSPACE.angular))
        linear = add_scaled(linear, x[k], get3(dofs, dof + SUBSPACE.linear))
    return angular, linear


@function
def along(dofs, dof, n, f):
    """S^T (n, f): what a degree of freedom feels of moment n and force f; its record is at dof."""
    return dot(get3(dofs, dof + SUBSPACE.angular), n) + dot(get3(dofs, dof + SUBSPACE.linear), f)


@function
def put_mass_row(model, k, n, f, dofs, dof_size, M, pitch, is_mirrored):
    """M[k, j] = S_j^T (n, f), for j = k and all degrees of freedom j that carry k.

    With (n, f) = I S_k, and I the inertia of all that k carries, this is row k of the mass matrix
    up to the diagonal, but for the motor's armature. Rows of M are `pitch` numbers apart. If
    mirrored, column k is written as well.
    """
    last = k
    while last >= 0:  # degrees of freedom that are numbered without a gap at a time
        first = model.chain_start[last]
        for j in range(first, last + 1):
            x = along(dofs, j * dof_size, n, f)
            M[k * pitch + j] = x
            if is_mirrored:
                M[j * pitch + k] = x
        last = model.dof_parent[first]

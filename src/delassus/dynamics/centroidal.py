"""Centre of mass and centroidal momentum. O(n)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..compile import function, kernel
from ..model.model import Model
from ..model.packed import ModelArrays
from ..spatial.vectors import (
    add,
    add_cross,
    add_scaled,
    get3,
    get6,
    get9,
    put3,
    rotate,
    scale,
    subtract,
)
from . import crba
from .joints import joint_placement
from .kinematics import LINK, place_in_world, put_column, start_at_origin
from .links import composite_times


@function
def center(model, q, work):
    """Centre of mass of all moving bodies in the world, and placements of all links on the way."""
    start_at_origin(work)
    total = (0.0, 0.0, 0.0)
    for i in range(1, len(model.links)):
        place_in_world(model, i, q, work, LINK.size)
        link, at = model.links[i], i * LINK.size
        R, x = get9(work, at + LINK.R), get3(model.solids[i].center, 0)
        x = add(get3(work, at + LINK.p), rotate(R, x))
        total = add_scaled(total, link.mass, x)
    return scale(1.0 / model.links[0].subtree_mass, total)


@kernel(
    ModelArrays,
    inputs={"q": "nq"},
    outputs={"com": "3"},
    work=lambda n: n["n_links"] * LINK.size,
    label="center_of_mass",
)
def find_center(model, q, com, work):
    """sum of m x / sum of m"""
    put3(com, 0, center(model, q, work))


@kernel(
    ModelArrays,
    inputs={"q": "nq"},
    outputs={"A": "6 nv"},
    work=lambda n: max(
        n["n_links"] * LINK.size, n["n_links"] * crba.LINK.size + n["nv"] * crba.DOF.size
    ),
    label="centroidal_momentum_matrix",
)
def momentum_matrix(model, q, A, work):
    """A(q) with A v the momentum about the centre of mass, linear rows first"""
    nv, dofs = len(model.armature), len(model.links) * crba.LINK.size
    com = center(model, q, work)
    crba.composite_inertias(model, q, work, dofs)
    origin = com
    for i in range(1, len(model.links)):
        link, at = model.links[i], i * crba.LINK.size
        if link.parent == 0:  # moments of the tree are about its root, which sits here
            origin = subtract(joint_placement(link, q)[1], com)
        inertia, h = get6(work, at + crba.LINK.I), get3(work, at + crba.LINK.h)
        for k in range(link.v, link.v + link.nv):
            dof = dofs + k * crba.DOF.size
            n, f = composite_times(
                inertia, h, link.subtree_mass,
                get3(work, dof + crba.DOF.angular), get3(work, dof + crba.DOF.linear),
            )  # fmt: skip
            put_column(A, k, nv, f, add_cross(n, origin, f))


def center_of_mass(
    model: Model, q: ArrayLike, *, threads: int | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Centre of mass of the moving bodies in the world, (..., 3)."""
    return find_center(model, (q,), out, threads)


def centroidal_momentum_matrix(
    model: Model, q: ArrayLike, *, threads: int | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """A(q) with A v the momentum about the centre of mass in world axes, (..., 6, nv).

    Linear rows come first.
    Motors' armature carries no momentum here.
    """
    return momentum_matrix(model, (q,), out, threads)

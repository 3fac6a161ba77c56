"""Centre of mass and centroidal momentum. O(n)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..compile import either, function, kernel, layout
from ..errors import ModelError
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
from .kinematics import place_in_world, put_column, start_at_origin
from .steps.bodies import composite_times
from .steps.links import PLACEMENT
from .steps.points import tree_origin

# Placements of all links in the world.
PLACES = layout(places=("n_links", PLACEMENT))


@function
def center(model, q, places):
    """Centre of mass of all moving bodies in the world, and placements of all links on the way."""
    start_at_origin(places)
    total = (0.0, 0.0, 0.0)
    for i in range(1, len(model.links)):
        place_in_world(model, i, q, places, PLACEMENT.size)
        link, at = model.links[i], i * PLACEMENT.size
        R, x = get9(places, at + PLACEMENT.R), get3(model.solids[i].center, 0)
        x = add(get3(places, at + PLACEMENT.p), rotate(R, x))
        total = add_scaled(total, link.mass, x)
    return scale(1.0 / model.links[0].subtree_mass, total)


@kernel(
    ModelArrays,
    inputs={"q": "nq"},
    outputs={"com": "3"},
    work=PLACES,
    label="center_of_mass",
)
def find_center(model, q, com, work):
    """sum of m x / sum of m"""
    put3(com, 0, center(model, q, work.places))


@kernel(
    ModelArrays,
    inputs={"q": "nq"},
    outputs={"A": "6 nv"},
    work=layout(either(PLACES, crba.WORK)),
    label="centroidal_momentum_matrix",
)
def momentum_matrix(model, q, A, work):
    """A(q) with A v the momentum about the centre of mass, linear rows first"""
    com = center(model, q, work.places)
    crba.composite_inertias(model, q, work.links, work.dofs)
    origin = com
    for i in range(1, len(model.links)):
        if model.links[i].parent == 0:  # moments are about the origin of the tree of this root
            origin = subtract(tree_origin(model, i, q), com)
        put_momenta(model, i, origin, A, work.links, work.dofs)


@function
def put_momenta(model, i, origin, A, links, dofs):
    """Columns of link i: momentum of its subtree as one degree of freedom moves with unit speed."""
    link, at = model.links[i], i * crba.LINK.size
    inertia, h = get6(links, at + crba.LINK.I), get3(links, at + crba.LINK.h)
    for k in range(link.v, link.v + link.nv):
        dof = k * crba.DOF.size
        angular, linear = get3(dofs, dof + crba.DOF.angular), get3(dofs, dof + crba.DOF.linear)
        n, f = composite_times(inertia, h, link.subtree_mass, angular, linear)
        put_column(A, k, len(model.armature), f, add_cross(n, origin, f))


def _check_mass(model: Model) -> None:
    if isinstance(model, Model) and model.mass == 0.0:
        raise ModelError(f"model {model.name!r} has no mass that moves, so no centre of mass")


def center_of_mass(
    model: Model, q: ArrayLike, *, threads: int | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """Centre of mass of the moving bodies in the world, (..., 3)."""
    _check_mass(model)
    return find_center(model, (q,), out, threads)


def centroidal_momentum_matrix(
    model: Model, q: ArrayLike, *, threads: int | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """A(q) with A v the momentum about the centre of mass in world axes, (..., 6, nv).

    Linear rows come first.
    Motors' armature carries no momentum here.
    """
    _check_mass(model)
    return momentum_matrix(model, (q,), out, threads)

"""Kinetic and potential energy. O(n)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..compile import function, kernel, layout, slots
from ..model.model import Model
from ..model.packed import ModelArrays
from ..spatial.vectors import (
    add,
    add_cross,
    cross,
    dot,
    get3,
    get6,
    put3,
    rotate_back,
    symmetric_times,
)
from .arguments import as_number
from .centroidal import PLACES, center
from .steps.joints import joint_motion, joint_placement

# A link: velocity of its origin and angular velocity, in its own axes.
LINK = slots(u=3, omega=3)


@kernel(
    ModelArrays,
    inputs={"q": "nq", "v": "nv"},
    outputs={"energy": ""},
    work=layout(links=("n_links", LINK)),
    label="kinetic_energy",
)
def sum_kinetic_energy(model, q, v, energy, work):
    """v^T M(q) v / 2"""
    put3(work.links, LINK.u, (0.0, 0.0, 0.0))
    put3(work.links, LINK.omega, (0.0, 0.0, 0.0))
    twice = 0.0
    for i in range(1, len(model.links)):
        twice = twice + twice_kinetic_energy(model, i, q, v, work.links)
    for k in range(len(model.armature)):
        twice = twice + model.armature[k] * v[k] * v[k]
    energy[0] = 0.5 * twice


@function
def twice_kinetic_energy(model, i, q, v, links):
    """m u.u + omega . I omega + 2 u . (omega x h) of link i, and its velocity from its parent's."""
    link = model.links[i]
    at, parent = i * LINK.size, link.parent * LINK.size
    R, p = joint_placement(link, q)
    omega_parent = get3(links, parent + LINK.omega)
    linear, angular = joint_motion(link, v)
    omega = add(rotate_back(R, omega_parent), angular)
    carried = add_cross(get3(links, parent + LINK.u), omega_parent, p)
    u = add(rotate_back(R, carried), linear)
    put3(links, at + LINK.omega, omega)
    put3(links, at + LINK.u, u)
    rotational = dot(omega, symmetric_times(get6(model.solids[i].inertia, 0), omega))
    mixed = dot(u, cross(omega, get3(link.moment, 0)))
    return link.mass * dot(u, u) + rotational + 2.0 * mixed


@kernel(
    ModelArrays,
    inputs={"q": "nq"},
    outputs={"energy": ""},
    work=PLACES,
    label="potential_energy",
)
def weigh(model, q, energy, work):
    """-m g . c"""
    if model.links[0].subtree_mass > 0.0:
        g = get3(model.gravity, 0)
        energy[0] = -model.links[0].subtree_mass * dot(g, center(model, q, work.places))
    else:
        energy[0] = 0.0


def kinetic_energy(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray | np.floating:
    """v^T M(q) v / 2, motors' armature included; a number a state."""
    return as_number(sum_kinetic_energy(model, (q, v), out, threads))


def potential_energy(
    model: Model, q: ArrayLike, *, threads: int | None = None, out: np.ndarray | None = None
) -> np.ndarray | np.floating:
    """-m g . c: the energy of gravity, zero with the centre of mass at the origin's height."""
    return as_number(weigh(model, (q,), out, threads))

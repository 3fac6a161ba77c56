"""Kinetic and potential energy. O(n)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..compile import function, kernel, slots
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
from .centroidal import center
from .joints import joint_motion, joint_placement
from .kinematics import LINK

# Velocity of a link's origin and angular velocity, in the link's axes.
VELOCITY = slots(u=3, omega=3)


@kernel(
    ModelArrays,
    inputs={"q": "nq", "v": "nv"},
    outputs={"energy": ""},
    work=lambda n: n["n_links"] * VELOCITY.size,
    label="kinetic_energy",
)
def sum_kinetic_energy(model, q, v, energy, work):
    """v^T M(q) v / 2"""
    put3(work, VELOCITY.u, (0.0, 0.0, 0.0))
    put3(work, VELOCITY.omega, (0.0, 0.0, 0.0))
    twice = 0.0
    for i in range(1, len(model.links)):
        twice = twice + twice_kinetic_energy(model, i, q, v, work)
    for k in range(len(model.armature)):
        twice = twice + model.armature[k] * v[k] * v[k]
    energy[0] = 0.5 * twice


@function
def twice_kinetic_energy(model, i, q, v, work):
    """Twice the energy of link i, whose velocity is found from its parent's."""
    link = model.links[i]
    at, parent = i * VELOCITY.size, link.parent * VELOCITY.size
    R, p = joint_placement(link, q)
    omega_parent = get3(work, parent + VELOCITY.omega)
    linear, angular = joint_motion(link, v)
    omega = add(rotate_back(R, omega_parent), angular)
    carried = add_cross(get3(work, parent + VELOCITY.u), omega_parent, p)
    u = add(rotate_back(R, carried), linear)
    put3(work, at + VELOCITY.omega, omega)
    put3(work, at + VELOCITY.u, u)
    rotational = dot(omega, symmetric_times(get6(model.solids[i].inertia, 0), omega))
    mixed = dot(u, cross(omega, get3(link.moment, 0)))
    return link.mass * dot(u, u) + rotational + 2.0 * mixed


@kernel(
    ModelArrays,
    inputs={"q": "nq"},
    outputs={"energy": ""},
    work=lambda n: n["n_links"] * LINK.size,
    label="potential_energy",
)
def weigh(model, q, energy, work):
    """-m g . c"""
    if model.links[0].subtree_mass > 0.0:
        g = get3(model.gravity, 0)
        energy[0] = -model.links[0].subtree_mass * dot(g, center(model, q, work))
    else:
        energy[0] = 0.0


def kinetic_energy(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """v^T M(q) v / 2, motors' armature included; a number a state."""
    return as_number(sum_kinetic_energy(model, (q, v), out, threads))


def potential_energy(
    model: Model, q: ArrayLike, *, threads: int | None = None, out: np.ndarray | None = None
) -> np.ndarray:
    """-m g . c: the energy of gravity, zero with the centre of mass at the origin's height."""
    return as_number(weigh(model, (q,), out, threads))

"""Derivatives of integrate and difference in the tangent space. O(n), and zeros.

A small change x of a configuration is a velocity: q (+) x is integrate(q, x). The matrices have a
block a joint, a function of the motion across the joint (see `spatial.jacobians`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compile import function, kernel, layout
from ..spatial.jacobians import coupling_block, exp_functions, log_functions, rotational_block
from ..spatial.vectors import dot, get3, put3
from .configuration import difference
from .packed import ModelArrays
from .parts.kinds import FREE, PLANAR, SPHERICAL

_put_difference = difference.function


class IntegrateDerivatives(NamedTuple):
    """Derivatives (..., nv, nv) of `integrate` by the configuration and by the velocity."""

    dq: np.ndarray
    dv: np.ndarray


class DifferenceDerivatives(NamedTuple):
    """Derivatives (..., nv, nv) of `difference` by its first and its second configuration."""

    dq0: np.ndarray
    dq1: np.ndarray


@kernel(
    ModelArrays,
    inputs={"q": "nq", "v": "nv"},
    outputs={"dq": "nv nv", "dv": "nv nv"},
)
def integrate_derivatives(model, q, v, dq, dv, work):
    """integrate(q (+) x, v + y) = integrate(q, v) (+) (dq x + dv y)"""
    nv = len(model.armature)
    for k in range(1, len(model.links)):
        link = model.links[k]
        if link.kind in (FREE, SPHERICAL, PLANAR):
            transport, jacobian = exp_functions(squared_angle(link, v))
            put_function(link, transport, v, dq, nv)
            put_function(link, jacobian, v, dv, nv)
        else:
            put_diagonal(link, 1.0, dq, nv)
            put_diagonal(link, 1.0, dv, nv)


@kernel(
    ModelArrays,
    inputs={"q0": "nq", "q1": "nq"},
    outputs={"dq0": "nv nv", "dq1": "nv nv"},
    work=layout(v="nv"),
)
def difference_derivatives(model, q0, q1, dq0, dq1, work):
    """difference(q0 (+) x, q1 (+) y) = difference(q0, q1) + dq0 x + dq1 y"""
    nv, v = len(model.armature), work.v
    _put_difference(model, q0, q1, v, work)
    for k in range(1, len(model.links)):
        link = model.links[k]
        if link.kind in (FREE, SPHERICAL, PLANAR):
            start, end = log_functions(squared_angle(link, v))
            put_function(link, start, v, dq0, nv)
            put_function(link, end, v, dq1, nv)
        else:
            put_diagonal(link, -1.0, dq0, nv)
            put_diagonal(link, 1.0, dq1, nv)


@function
def squared_angle(link, v):
    """The squared angle of the motion v across a joint that turns."""
    if link.kind == PLANAR:
        return v[link.v + 2] * v[link.v + 2]
    w = get3(v, link.v + 3 if link.kind == FREE else link.v)
    return dot(w, w)


@function
def put_function(link, terms, v, matrix, nv):
    """The block of a joint that turns: a function of the motion v across it, by its terms."""
    i, at = link.v, link.v * (nv + 1)
    if link.kind == SPHERICAL:
        put_block(matrix, at, nv, rotational_block(terms, get3(v, i)))
    elif link.kind == FREE:
        u, w = get3(v, i), get3(v, i + 3)
        F = rotational_block(terms, w)
        put_block(matrix, at, nv, F)
        put_block(matrix, at + 3, nv, coupling_block(terms, w, u))
        put_block(matrix, at + 3 * (nv + 1), nv, F)
    else:  # PLANAR: x, y and the angle about z of the six
        u, w = (v[i], v[i + 1], 0.0), (0.0, 0.0, v[i + 2])
        F, G = rotational_block(terms, w), coupling_block(terms, w, u)
        put3(matrix, at, (F[0], F[1], G[2]))
        put3(matrix, at + nv, (F[3], F[4], G[5]))
        matrix[at + 2 * (nv + 1)] = F[8]


@function
def put_block(matrix, at, nv, block):
    """Three rows and columns of a matrix of nv columns."""
    put3(matrix, at, (block[0], block[1], block[2]))
    put3(matrix, at + nv, (block[3], block[4], block[5]))
    put3(matrix, at + 2 * nv, (block[6], block[7], block[8]))


@function
def put_diagonal(link, x, matrix, nv):
    """The block of a joint whose configurations are a vector space."""
    for k in range(link.v, link.v + link.nv):
        matrix[k * (nv + 1)] = x

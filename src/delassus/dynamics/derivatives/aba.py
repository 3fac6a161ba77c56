"""Derivatives of forward dynamics, through those of inverse dynamics. O(n^2 d).

Carpentier and Mansard, Analytical Derivatives of Rigid Body Dynamics Algorithms, 2018, Sec. IV:
where a = FD(q, v, tau), relation (24) reads

    da/dq = -M^-1 dtau/dq    da/dv = -M^-1 dtau/dv    da/dtau = M^-1

with the derivatives of inverse dynamics at (q, v, a). Their columns are zero but where one degree
of freedom carries the other, so that the products cost n^2 times the depth of the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...compile import either, function, kernel, layout
from ...model.model import Model
from ...model.packed import ModelArrays
from ...spatial.quaternions import rotation
from ...spatial.vectors import add_scaled4, compose, get3, get4, get9, put3, rotate_back, scale4
from ..aba import DOF, aba
from ..aba import WORK as FORWARD
from ..minverse import RESPONSE, respond_to_unit_forces
from ..steps.links import floats
from .rnea import WORK as INVERSE
from .rnea import put_forces, vary_links, vary_subtrees

_put_acceleration = aba.function
# Both factors of a dense product, with room for padding: columns of M^-1, and rows of dtau/dq and
# of dtau/dv side by side.
PRODUCT = layout(
    left=lambda n: n["nv"] * (n["nv"] + 3),
    right=lambda n: n["nv"] * (2 * n["nv"] + 3),
)


@kernel(
    ModelArrays,
    inputs={"q": "nq", "v": "nv", "tau": "nv", "external_forces": "n_bodies 6 optional"},
    outputs={"dq": "nv nv", "dv": "nv nv", "dtau": "nv nv"},
    work=layout(
        layout(
            a="nv",
            force_dq=lambda n: n["nv"] * n["nv"],
            force_dv=lambda n: n["nv"] * n["nv"],
        ),
        either(layout(forward=FORWARD, response=RESPONSE), layout(inverse=INVERSE), PRODUCT),
    ),
    label="forward_dynamics_derivatives",
)
def aba_derivatives(model, q, v, tau, external_forces, dq, dv, dtau, work):
    """Derivatives of a = M(q)^-1 (tau - b(q, v) + sum of J^T f_ext)"""
    forces, results = (work.force_dq, work.force_dv), (dq, dv)
    _put_acceleration(model, q, v, tau, external_forces, work.a, work.forward)
    respond_to_unit_forces(model, dtau, work.forward.dofs, DOF.size, work.response)
    vary_links(model, q, v, work.a, work.inverse)
    put_forces(model, external_forces, work.inverse.links)
    vary_subtrees(model, work.force_dq, work.force_dv, dtau, False, work.inverse)
    first = 1
    while first < len(model.links):
        last = chain_end(model, first)
        multiply_chain(model, first, last, dtau, forces, results, work)
        first = last + 1
    for i in range(1, len(model.links)):
        if floats(model, model.links[i]):
            put_floating_base(model, model.links[i], q, v, dq, dv)


@function
def put_floating_base(model, link, q, v, dq, dv):
    """Columns of a floating base's pose and linear velocity: gravity turns, and u' has -omega x u.

    Nothing else changes, as seen from the base.
    """
    nv, i, k = len(model.armature), link.q + 3, link.v
    R = compose(get9(link.rotation, 0), rotation(q[i], q[i + 1], q[i + 2], q[i + 3]))
    gravity = rotate_back(R, get3(model.gravity, 0))
    put_cross(dq, k * nv + k + 3, nv, gravity)
    omega = get3(v, k + 3)
    put_cross(dv, k * nv + k, nv, (-omega[0], -omega[1], -omega[2]))


@function
def put_cross(matrix, entry, nv, x):
    """The matrix of the cross product by x."""
    put3(matrix, entry, (0.0, -x[2], x[1]))
    put3(matrix, entry + nv, (x[2], 0.0, -x[0]))
    put3(matrix, entry + 2 * nv, (-x[1], x[0], 0.0))


# --- products with M^-1 ---------------------------------------------------------------------------


class Columns(NamedTuple):
    """Columns of dq from start_q on and of dv from start_v on, both up to `end`."""

    start_q: int
    start_v: int
    end: int


@function
def chain_end(model, first):
    """The last link of the chain without forks that starts at link `first`."""
    last = first
    while (
        last + 1 < len(model.links)
        and model.links[last + 1].last_link == model.links[first].last_link
    ):
        last = last + 1
    return last


@function
def chain_columns(model, first, last):
    """The columns of a chain's degrees of freedom, but for those of `put_floating_base`."""
    start_q = start_v = model.links[first].v
    if floats(model, model.links[first]):
        start_q, start_v = start_q + 6, start_v + 3
    return Columns(start_q, start_v, model.links[last].v + model.links[last].nv)


@function
def width(columns):
    """How many columns there are, of dq and of dv."""
    return 2 * columns.end - columns.start_q - columns.start_v


@function
def padded(n):
    """The next multiple of four."""
    return n + (-n) % 4


@function
def multiply_chain(model, first, last, inverse, forces, results, work):
    """-M^-1 dtau/dq and -M^-1 dtau/dv: columns of a chain without forks, links first..last.

    Columns of such a chain are zero outside the same rows. These rows, and the columns of M^-1 that
    they meet, are packed side by side, so that what remains is a dense product.
    """
    nv, link, columns = len(model.armature), model.links[first], chain_columns(model, first, last)
    count, k = 0, link.end_v - 1
    while k >= 0:  # degrees of freedom that the chain carries or moves by, then those that carry it
        pack(nv, k, count, columns, inverse, forces, work)
        count = count + 1
        k = k - 1 if k > link.v else model.dof_parent[k]
    for r in range(0, nv, 4):
        for c in range(0, width(columns), 4):
            put_tile(nv, r, c, count, columns, results, work)


@function
def pack(nv, k, place, columns, inverse, forces, work):
    """Put column k of M^-1 and row k of dtau/dq and dtau/dv at a place of the dense product."""
    left, right = work.left, work.right
    start_q, start_v, end = columns
    at, count = place * padded(nv), width(columns)
    for r in range(nv):
        left[at + r] = inverse[k * nv + r]
    for r in range(nv, padded(nv)):
        left[at + r] = 0.0
    at = place * padded(count)
    for j in range(start_q, end):
        right[at + j - start_q] = forces[0][k * nv + j]
    for j in range(start_v, end):
        right[at + end - start_q + j - start_v] = forces[1][k * nv + j]
    for j in range(count, padded(count)):
        right[at + j] = 0.0


@function
def put_tile(nv, r, c, count, columns, results, work):
    """Rows r to r + 3 of four packed columns from c on, as a sum of `count` products."""
    left, right, height, pitch = work.left, work.right, padded(nv), padded(width(columns))
    x, y = get4(left, r), get4(right, c)
    s0, s1, s2, s3 = scale4(-y[0], x), scale4(-y[1], x), scale4(-y[2], x), scale4(-y[3], x)
    for k in range(1, count):
        x, y = get4(left, k * height + r), get4(right, k * pitch + c)
        s0, s1 = add_scaled4(s0, -y[0], x), add_scaled4(s1, -y[1], x)
        s2, s3 = add_scaled4(s2, -y[2], x), add_scaled4(s3, -y[3], x)
    put_column(nv, r, c, s0, columns, results)
    put_column(nv, r, c + 1, s1, columns, results)
    put_column(nv, r, c + 2, s2, columns, results)
    put_column(nv, r, c + 3, s3, columns, results)


@function
def put_column(nv, r, c, x, columns, results):
    """Four entries of packed column c, which is one of dq, one of dv, or padding."""
    start_q, start_v, end = columns
    if c < end - start_q:
        put_rows(nv, r, start_q + c, x, results[0])
    elif c < width(columns):
        put_rows(nv, r, start_v + c - (end - start_q), x, results[1])


@function
def put_rows(nv, r, j, x, matrix):
    """Entries (r, j) to (r + 3, j), as far as there are rows."""
    matrix[r * nv + j] = x[0]
    if r + 1 < nv:
        matrix[(r + 1) * nv + j] = x[1]
    if r + 2 < nv:
        matrix[(r + 2) * nv + j] = x[2]
    if r + 3 < nv:
        matrix[(r + 3) * nv + j] = x[3]


class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of joint accelerations, (..., nv, nv) each."""

    dq: np.ndarray
    dv: np.ndarray
    dtau: np.ndarray


def forward_dynamics_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    threads: int | None = None,
    out: Sequence[np.ndarray] | None = None,
) -> ForwardDynamicsDerivatives:
    """da/dq, da/dv and da/dtau = M^-1 of a = M(q)^-1 (tau - b(q, v) + sum of J^T f).

    dq is a derivative along the tangent space: its column j is the rate of a as q moves with unit
    velocity v_j. External forces stay as they are in their bodies' axes.
    """
    inputs = (q, v, tau) if external_forces is None else (q, v, tau, external_forces)
    return ForwardDynamicsDerivatives._make(aba_derivatives(model, inputs, out, threads))

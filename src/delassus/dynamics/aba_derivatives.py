"""Derivatives of forward dynamics, through those of inverse dynamics. O(n^2 d).

Carpentier and Mansard, Analytical Derivatives of Rigid Body Dynamics Algorithms, 2018, Sec. IV:
where a = FD(q, v, tau), relation (24) reads

    da/dq = -M^-1 dtau/dq    da/dv = -M^-1 dtau/dv    da/dtau = M^-1

with the derivatives of inverse dynamics at (q, v, a). Their columns are zero but where one degree
of freedom carries the other, so that the products cost n^2 times the depth of the tree.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..compile import function, kernel, part
from ..model.model import Model
from ..model.packed import ModelArrays
from ..spatial.quaternions import rotation
from ..spatial.vectors import (
    add_scaled4,
    compose,
    get3,
    get4,
    get9,
    put3,
    rotate_back,
    scale4,
)
from . import aba as forward
from .aba import aba
from .links import floats
from .minverse import respond_to_unit_forces, response_work
from .rnea_derivatives import differentiate, rnea_derivatives

_put_acceleration = aba.function
LINK, DOF = forward.LINK, forward.DOF


def product_work(nv: int) -> int:
    """Work memory of `multiply_columns`: both factors of a dense product, padded."""
    return nv * (nv + 3) + nv * (2 * nv + 3)


@kernel(
    ModelArrays,
    inputs={"q": "nq", "v": "nv", "tau": "nv", "external_forces": "n_bodies 6 optional"},
    outputs={"dq": "nv nv", "dv": "nv nv", "dtau": "nv nv"},
    work=lambda n: (
        n["nv"]
        + 2 * n["nv"] * n["nv"]
        + max(aba.work(n) + response_work(n), rnea_derivatives.work(n), product_work(n["nv"]))
    ),
    label="forward_dynamics_derivatives",
)
def aba_derivatives(model, q, v, tau, external_forces, dq, dv, dtau, work):
    """Derivatives of a = M(q)^-1 (tau - b(q, v) + sum of J^T f_ext)"""
    nv = len(model.armature)
    dofs = len(model.links) * LINK.size
    a, force_dq, force_dv = work, part(work, nv), part(work, nv + nv * nv)
    work = part(work, nv + 2 * nv * nv)
    _put_acceleration(model, q, v, tau, external_forces, a, work)
    rest = part(work, dofs + nv * DOF.size)
    respond_to_unit_forces(model, dtau, part(work, dofs), DOF.size, rest)
    differentiate(model, q, v, a, external_forces, force_dq, force_dv, dtau, False, work)
    first = 1
    while first < len(model.links):
        first = multiply_columns(model, first, dtau, force_dq, force_dv, dq, dv, work)
    for i in range(1, len(model.links)):
        if floats(model, model.links[i]):
            put_floating_base(model, model.links[i], q, v, dq, dv)


@function
def put_floating_base(model, link, q, v, dq, dv):
    """Columns of a floating base's pose and linear velocity: gravity turns, and u' has -omega x u.

    All else is the same seen from the base.
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


@function
def multiply_columns(model, first, inverse, force_dq, force_dv, dq, dv, work):
    """-M^-1 dtau/dq and -M^-1 dtau/dv, columns of a chain without forks; return the link after it.

    Columns of such a chain are zero outside the same rows: those rows, and the columns of M^-1 that
    they meet, are packed side by side, so that what remains is a dense product.
    """
    link, nv, last = model.links[first], len(model.armature), first
    while last + 1 < len(model.links) and model.links[last + 1].last_link == link.last_link:
        last = last + 1
    # The columns of dq from `start` on, and of dv.
    end = model.links[last].v + model.links[last].nv
    start_q = start_v = link.v
    if floats(model, link):
        start_q, start_v = start_q + 6, start_v + 3
    height = nv + (-nv) % 4
    width = 2 * end - start_q - start_v
    pitch = width + (-width) % 4
    columns = part(work, nv * height)
    count, k = 0, link.end_v - 1
    while k >= 0:
        for r in range(nv):
            work[count * height + r] = inverse[k * nv + r]
        for r in range(nv, height):
            work[count * height + r] = 0.0
        row = part(columns, count * pitch)
        for j in range(start_q, end):
            row[j - start_q] = force_dq[k * nv + j]
        for j in range(start_v, end):
            row[end - start_q + j - start_v] = force_dv[k * nv + j]
        for j in range(width, pitch):
            row[j] = 0.0
        count = count + 1
        k = k - 1 if k > link.v else model.dof_parent[k]
    for r in range(0, nv, 4):
        for c in range(0, width, 4):
            put_tile(r, c, nv, count, height, pitch, work, columns, end, start_q, start_v, dq, dv)
    return last + 1


@function
def put_tile(r, c, nv, count, height, pitch, rows, columns, end, start_q, start_v, dq, dv):
    """Rows r to r + 3 of four packed columns from c on."""
    x, y = get4(rows, r), get4(columns, c)
    s0, s1, s2, s3 = scale4(-y[0], x), scale4(-y[1], x), scale4(-y[2], x), scale4(-y[3], x)
    for k in range(1, count):
        x, y = get4(rows, k * height + r), get4(columns, k * pitch + c)
        s0, s1 = add_scaled4(s0, -y[0], x), add_scaled4(s1, -y[1], x)
        s2, s3 = add_scaled4(s2, -y[2], x), add_scaled4(s3, -y[3], x)
    put_column(r, c, nv, s0, end, start_q, start_v, dq, dv)
    put_column(r, c + 1, nv, s1, end, start_q, start_v, dq, dv)
    put_column(r, c + 2, nv, s2, end, start_q, start_v, dq, dv)
    put_column(r, c + 3, nv, s3, end, start_q, start_v, dq, dv)


@function
def put_column(r, c, nv, x, end, start_q, start_v, dq, dv):
    """Four entries of packed column c, which is one of dq, one of dv, or padding."""
    if c < end - start_q:
        put_rows(r, start_q + c, nv, x, dq)
    elif c < 2 * end - start_q - start_v:
        put_rows(r, start_v + c - (end - start_q), nv, x, dv)


@function
def put_rows(r, j, nv, x, matrix):
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
    out: ForwardDynamicsDerivatives | None = None,
) -> ForwardDynamicsDerivatives:
    """da/dq, da/dv and da/dtau = M^-1 of a = M(q)^-1 (tau - b(q, v) + sum of J^T f).

    dq is a derivative along the tangent space: its column j is the rate of a as q moves with unit
    velocity v_j. External forces stay as they are in their bodies' axes.
    """
    inputs = (q, v, tau) if external_forces is None else (q, v, tau, external_forces)
    return ForwardDynamicsDerivatives._make(aba_derivatives(model, inputs, out, threads))

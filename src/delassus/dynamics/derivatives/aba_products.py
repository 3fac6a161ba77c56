"""Products of M^-1 and of the derivatives of forward dynamics with vectors. O(n), no matrices.

M^-1 x is forward dynamics of a mechanism at rest without gravity. Where a = FD(q, v, tau), and ID_q
and ID_v are the derivatives of inverse dynamics (Carpentier and Mansard 2018, relation 24),

    da = M^-1 (dtau - ID_q dq - ID_v dv)
    w^T da = -u^T ID_q dq - u^T ID_v dv + u^T dtau    u = M^-1 w

ID_q and ID_v are met in products only (see `rnea_products`), and M^-1 in a solve with the
articulated inertias that forward dynamics itself has projected.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...compile import clear, function, kernel, layout
from ...model.model import Model
from ...model.packed import ModelArrays
from ...spatial.vectors import put3
from ..aba import DOF, FORCE, LINK, MOTION, aba, accelerate, pass_forces
from ..aba import WORK as FORWARD
from ..steps.articulated import articulate_range, place_bodies
from .rnea_products import JVP, VJP, rnea_jvp, rnea_vjp

_put_acceleration = aba.function
_put_force_variation = rnea_jvp.function
_put_weighted_forces = rnea_vjp.function


@kernel(
    ModelArrays,
    inputs={
        "q": "nq", "v": "nv", "tau": "nv", "dq": "nv", "dv": "nv", "dtau": "nv",
        "external_forces": "n_bodies 6 optional",
    },
    outputs={"da": "nv"},
    work=layout(a="nv", force="nv", still="nv", forward=FORWARD, jvp=JVP),
    label="forward_dynamics_jvp",
)  # fmt: skip
def aba_jvp(model, q, v, tau, dq, dv, dtau, external_forces, da, work):
    """da/dq dq + da/dv dv + da/dtau dtau"""
    nv, a, force, still = len(model.armature), work.a, work.force, work.still
    _put_acceleration(model, q, v, tau, external_forces, a, work.forward)
    clear(still, nv)
    _put_force_variation(model, q, v, a, dq, dv, still, external_forces, force, work.jvp)
    for k in range(nv):
        force[k] = dtau[k] - force[k]
    respond(model, force, da, work.forward)


@kernel(
    ModelArrays,
    inputs={
        "q": "nq", "v": "nv", "tau": "nv", "w": "nv", "external_forces": "n_bodies 6 optional"
    },
    outputs={"dq": "nv", "dv": "nv", "dtau": "nv"},
    work=layout(a="nv", opposed="nv", momentum="nv", forward=FORWARD, vjp=VJP),
    label="forward_dynamics_vjp",
)  # fmt: skip
def aba_vjp(model, q, v, tau, w, external_forces, dq, dv, dtau, work):
    """w^T da/dq, w^T da/dv and w^T da/dtau"""
    a, opposed = work.a, work.opposed
    _put_acceleration(model, q, v, tau, external_forces, a, work.forward)
    respond(model, w, opposed, work.forward)
    for k in range(len(model.armature)):
        dtau[k] = opposed[k]
        opposed[k] = -opposed[k]
    _put_weighted_forces(
        model, q, v, a, opposed, external_forces, dq, dv, work.momentum, work.vjp
    )  # fmt: skip


@kernel(
    ModelArrays,
    inputs={"q": "nq", "x": "nv"},
    outputs={"product": "nv"},
    work=FORWARD,
    label="inverse_mass_matrix_product",
)
def inverse_mass_product(model, q, x, product, work):
    """M(q)^-1 x"""
    place_bodies(model, q, work.links, LINK.size, work.dofs, DOF.size)
    articulate_range(model, 1, len(model.links), work.links, LINK.size, work.dofs, DOF.size)
    respond(model, x, product, work)


@function
def respond(model, force, a, work):
    """a = M^-1 force, from articulated inertias; `work` is laid out as that of `aba`.

    Links at rest without gravity need no force, and the world does not accelerate.
    """
    n = len(model.links)
    for i in range(1, n):
        put3(work.forces, i * FORCE.size + FORCE.n, (0.0, 0.0, 0.0))
        put3(work.forces, i * FORCE.size + FORCE.f, (0.0, 0.0, 0.0))
    pass_forces(model, 1, n - 1, force, work)
    put3(work.links, MOTION.alpha, (0.0, 0.0, 0.0))
    put3(work.links, MOTION.a, (0.0, 0.0, 0.0))
    accelerate(model, 1, n - 1, a, work)


class ForwardDynamicsVJP(NamedTuple):
    """Products of weights with the derivatives of joint accelerations, (..., nv) each."""

    dq: np.ndarray
    dv: np.ndarray
    dtau: np.ndarray


def forward_dynamics_jvp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    dq: ArrayLike,
    dv: ArrayLike,
    dtau: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """da/dq dq + da/dv dv + da/dtau dtau of a = M(q)^-1 (tau - b(q, v) + sum of J^T f), (..., nv).

    dq is a velocity: it moves q to `model.integrate(q, t * dq)` in a short time t. The derivatives
    are those of `forward_dynamics_derivatives`, which are not formed.
    """
    inputs = (q, v, tau, dq, dv, dtau)
    inputs = inputs if external_forces is None else (*inputs, external_forces)
    return aba_jvp(model, inputs, out, threads)


def forward_dynamics_vjp(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    w: ArrayLike,
    external_forces: ArrayLike | None = None,
    *,
    threads: int | None = None,
    out: Sequence[np.ndarray] | None = None,
) -> ForwardDynamicsVJP:
    """w^T da/dq, w^T da/dv and w^T da/dtau of a = M(q)^-1 (tau - b(q, v) + sum of J^T f).

    They are the gradients of w^T a, (..., nv) each. The derivatives are those of
    `forward_dynamics_derivatives`, which are not formed.
    """
    inputs = (q, v, tau, w) if external_forces is None else (q, v, tau, w, external_forces)
    return ForwardDynamicsVJP._make(aba_vjp(model, inputs, out, threads))


def inverse_mass_matrix_product(
    model: Model,
    q: ArrayLike,
    x: ArrayLike,
    *,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """M(q)^-1 x, (..., nv): the accelerations that forces x add. The matrix is not formed."""
    return inverse_mass_product(model, (q, x), out, threads)

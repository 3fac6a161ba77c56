"""Derivatives of the velocity and acceleration of a frame. O(depth).

In world axes about the frame's origin, with S, Psi, Phi and Xi of `variations` for a joint j that
carries the frame, its velocity v and acceleration a vary, as seen from the frame, by

    dv/dq_j = Psi_j               dv/dv_j = S_j
    da/dq_j = Phi_j - v x Psi_j   da/dv_j = Xi_j - v x S_j   da/da_j = S_j

(Carpentier and Mansard 2018, Eqs. 11 to 13), which is what the "local" reference shows. In the
world's axes the frame turns with q_j besides, and seen from the world's origin it also moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...compile import function, kernel, layout
from ...model.model import Model
from ...model.packed import ModelArrays
from ...spatial.motions import add_cross_motion, cross_motion
from ...spatial.vectors import add_cross, get3, get9, rotate_back, subtract
from ..arguments import LOCAL, WORLD, frame_and_reference, with_flag
from ..kinematics import carries, place_in_world, put_column, start_at_origin
from ..steps.links import MOVING, PLACEMENT, SUBSPACE, move_link, put_subspace, start_at_rest
from ..steps.points import frame_pose
from .variations import VARIATION, vary_motion


@kernel(
    ModelArrays,
    shared=("choice",),
    inputs={"q": "nq", "v": "nv"},
    outputs={"dq": "6 nv", "dv": "6 nv"},
    work=layout(links=("n_links", MOVING), dofs=("nv", SUBSPACE)),
    label="frame_velocity_derivatives",
)
def move_frame_derivatives(model, choice, q, v, dq, dv, work):
    """Derivatives of J(q) v of one frame"""
    frame, links, dofs = model.frames[choice[0]], work.links, work.dofs
    R, p = place_path(model, frame, q, links)
    for i in range(1, frame.link + 1):
        link = model.links[i]
        if carries(link, frame):
            span_about(p, link, i * MOVING.size, links, dofs, SUBSPACE.size)
            move_link(link, i, v, links, MOVING.size, dofs, SUBSPACE.size)
    for i in range(1, frame.link + 1):
        link = model.links[i]
        if carries(link, frame):
            for k in range(link.v, link.v + link.nv):
                vary_velocity(model, choice, k, link.parent, R, p, dq, dv, work)


@kernel(
    ModelArrays,
    shared=("choice",),
    inputs={"q": "nq", "v": "nv", "a": "nv"},
    outputs={"dq": "6 nv", "dv": "6 nv", "da": "6 nv"},
    work=layout(links=("n_links", MOVING), dofs=("nv", VARIATION)),
    label="frame_acceleration_derivatives",
)
def accelerate_frame_derivatives(model, choice, q, v, a, dq, dv, da, work):
    """Derivatives of J(q) a + dJ/dt v of one frame, or of its origin as a point"""
    frame, links, dofs = model.frames[choice[0]], work.links, work.dofs
    R, p = place_path(model, frame, q, links)
    for i in range(1, frame.link + 1):
        link = model.links[i]
        if carries(link, frame):
            span_about(p, link, i * MOVING.size, links, dofs, VARIATION.size)
            vary_motion(link, i, v, a, links, MOVING.size, dofs, VARIATION.size)
    for i in range(1, frame.link + 1):
        link = model.links[i]
        if carries(link, frame):
            for k in range(link.v, link.v + link.nv):
                vary_acceleration(model, choice, k, R, p, dq, dv, da, work)


@function
def place_path(model, frame, q, links):
    """Place the links that carry a frame; return the frame's rotation and position."""
    start_at_origin(links)
    start_at_rest(links, (0.0, 0.0, 0.0))
    for i in range(1, frame.link + 1):
        if carries(model.links[i], frame):
            place_in_world(model, i, q, links, MOVING.size)
    return frame_pose(frame, links, MOVING.size)


@function
def span_about(point, link, at, links, dofs, dof_size):
    """The motion subspace of a placed link's joint, with velocities taken at a point."""
    R, p = get9(links, at + PLACEMENT.R), subtract(get3(links, at + PLACEMENT.p), point)
    put_subspace(link, R, p, dofs, link.v * dof_size, dof_size)


@function
def vary_velocity(model, choice, k, before, R, p, dq, dv, work):
    """Column k of the velocity's derivatives; `before` is the link before its joint."""
    nv, links, dof = len(model.armature), work.links, k * SUBSPACE.size
    parent, at = before * MOVING.size, model.frames[choice[0]].link * MOVING.size
    omega_p, u_p = get3(links, parent + MOVING.omega), get3(links, parent + MOVING.u)
    velocity = get3(links, at + MOVING.omega), get3(links, at + MOVING.u)
    S = get3(work.dofs, dof + SUBSPACE.angular), get3(work.dofs, dof + SUBSPACE.linear)
    psi = cross_motion(omega_p, u_p, S[0], S[1])
    put_carried(dq, k, nv, choice[1], R, p, psi, S, velocity)
    put_variation(dv, k, nv, choice[1], R, p, S)


@function
def vary_acceleration(model, choice, k, R, p, dq, dv, da, work):
    """Column k of the acceleration's derivatives."""
    nv, reference, links, dofs = len(model.armature), choice[1], work.links, work.dofs
    at, dof = model.frames[choice[0]].link * MOVING.size, k * VARIATION.size
    omega, u = get3(links, at + MOVING.omega), get3(links, at + MOVING.u)
    alpha, a = get3(links, at + MOVING.alpha), get3(links, at + MOVING.a)
    S = get3(dofs, dof + VARIATION.angular), get3(dofs, dof + VARIATION.linear)
    psi = get3(dofs, dof + VARIATION.psi_angular), get3(dofs, dof + VARIATION.psi_linear)
    phi = get3(dofs, dof + VARIATION.phi_angular), get3(dofs, dof + VARIATION.phi_linear)
    xi = get3(dofs, dof + VARIATION.xi_angular), get3(dofs, dof + VARIATION.xi_linear)
    by_q = add_cross_motion(phi[0], phi[1], psi[0], psi[1], omega, u)
    by_v = add_cross_motion(xi[0], xi[1], S[0], S[1], omega, u)
    if choice[2] == 1:  # the point itself moves: its acceleration has a term omega x u more
        a = add_cross(a, omega, u)
        by_q = by_q[0], add_cross(add_cross(by_q[1], psi[0], u), omega, psi[1])
        by_v = by_v[0], add_cross(add_cross(by_v[1], S[0], u), omega, S[1])
    put_carried(dq, k, nv, reference, R, p, by_q, S, (alpha, a))
    put_variation(dv, k, nv, reference, R, p, by_v)
    put_variation(da, k, nv, reference, R, p, S)


@function
def put_variation(out, k, nv, reference, R, p, variation):
    """Column k: angular and linear variation, in the axes and at the point of the reference."""
    angular, linear = variation
    if reference == LOCAL:
        angular, linear = rotate_back(R, angular), rotate_back(R, linear)
    elif reference == WORLD:
        linear = add_cross(linear, p, angular)
    put_column(out, k, nv, linear, angular)


@function
def put_carried(out, k, nv, reference, R, p, variation, S, value):
    """Column k: a variation, where the frame moves along S and turns the varied value with it."""
    angular, linear = variation
    if reference != LOCAL:
        angular, linear = add_cross(angular, S[0], value[0]), add_cross(linear, S[0], value[1])
    if reference == WORLD:
        linear = add_cross(linear, S[1], value[0])
    put_variation(out, k, nv, reference, R, p, (angular, linear))


class FrameVelocityDerivatives(NamedTuple):
    """Derivatives of a frame's velocity, (..., 6, nv) each."""

    dq: np.ndarray
    dv: np.ndarray


class FrameAccelerationDerivatives(NamedTuple):
    """Derivatives of a frame's acceleration, (..., 6, nv) each."""

    dq: np.ndarray
    dv: np.ndarray
    da: np.ndarray


def frame_velocity_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    reference: str = "local",
    *,
    threads: int | None = None,
    out: Sequence[np.ndarray] | None = None,
) -> FrameVelocityDerivatives:
    """Derivatives of J(q) v of a frame by q and v, the last J; linear rows first.

    They are those of the numbers that `frame_velocity` gives in this reference. dq is a derivative
    along the tangent space: its column j is their rate as q moves with unit velocity v_j.
    """
    choice = frame_and_reference(model, frame, reference)
    outputs = move_frame_derivatives(model, (q, v), out, threads, (choice,))
    return FrameVelocityDerivatives._make(outputs)


def frame_acceleration_derivatives(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    frame: str,
    reference: str = "local",
    *,
    classical: bool = False,
    threads: int | None = None,
    out: Sequence[np.ndarray] | None = None,
) -> FrameAccelerationDerivatives:
    """Derivatives of J(q) a + dJ/dt v of a frame by q, v and a, the last J; linear rows first.

    They are those of the numbers that `frame_acceleration` gives for this reference and choice of
    `classical`. dq is a derivative along the tangent space, as in `frame_velocity_derivatives`.
    """
    choice = with_flag(frame_and_reference(model, frame, reference), "classical", classical)
    outputs = accelerate_frame_derivatives(model, (q, v, a), out, threads, (choice,))
    return FrameAccelerationDerivatives._make(outputs)

"""Placements, Jacobians, velocities and accelerations of frames. O(n), or O(depth) for one frame.

Positions here are those in the world, not relative to the root, as they are results themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..compile import function, kernel, layout
from ..model.model import Model
from ..model.packed import ModelArrays
from ..model.parts.names import names_of
from ..spatial.vectors import (
    add,
    add_cross,
    compose,
    cross,
    get3,
    get9,
    put3,
    put9,
    rotate,
    rotate_back,
    subtract,
)
from .arguments import ALIGNED, LOCAL, check_model, frame_and_reference, with_flag
from .steps.joints import joint_motion, joint_placement
from .steps.links import MOVING, PLACEMENT, SUBSPACE, put_subspace, start_at_rest
from .steps.points import (
    acceleration_at,
    frame_offset,
    frame_pose,
    frame_rotation,
    point_position,
    velocity_at,
)

# Velocities and accelerations in records of MOVING are here those of the link's origin as a point.
MOTIONS = layout(links=("n_links", MOVING))
_MOST_DOFS = 6  # of a joint


@function
def place_in_world(model, i, q, links, size):
    """Store rotation and position of link i in the world."""
    link = model.links[i]
    at, parent = i * size, link.parent * size
    R_parent = get9(links, parent + PLACEMENT.R)
    R, p = joint_placement(link, q)
    put9(links, at + PLACEMENT.R, compose(R_parent, R))
    put3(links, at + PLACEMENT.p, add(get3(links, parent + PLACEMENT.p), rotate(R_parent, p)))


@function
def start_at_origin(links):
    """Store the world's own placement."""
    put9(links, PLACEMENT.R, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0))
    put3(links, PLACEMENT.p, (0.0, 0.0, 0.0))


@function
def carries(link, frame):
    """Whether a link carries a frame: one of those up to the frame's own link, by their numbers."""
    return frame.link <= link.last_link


@kernel(
    ModelArrays,
    shared=("frames",),
    inputs={"q": "nq"},
    outputs={"rotation": "len(frames) 3 3", "translation": "len(frames) 3"},
    work=layout(links=("n_links", PLACEMENT)),
    label="forward_kinematics",
)
def place_frames(model, frames, q, rotation, translation, work):
    """R and p of each frame in the world"""
    start_at_origin(work.links)
    for i in range(1, len(model.links)):
        place_in_world(model, i, q, work.links, PLACEMENT.size)
    for k in range(len(frames)):
        R, p = frame_pose(model.frames[frames[k]], work.links, PLACEMENT.size)
        put9(rotation, 9 * k, R)
        put3(translation, 3 * k, p)


@kernel(
    ModelArrays,
    shared=("choice",),
    inputs={"q": "nq"},
    outputs={"J": "6 nv"},
    work=layout(links=("n_links", PLACEMENT), columns=_MOST_DOFS * SUBSPACE.size),
    label="frame_jacobian",
)
def jacobian(model, choice, q, J, work):
    """J(q) of one frame, linear rows first; zero but at joints that carry the frame"""
    frame, reference, links = model.frames[choice[0]], choice[1], work.links
    start_at_origin(links)
    for i in range(1, frame.link + 1):
        if carries(model.links[i], frame):
            place_in_world(model, i, q, links, PLACEMENT.size)
    R_frame, p_frame = frame_pose(frame, links, PLACEMENT.size)
    for i in range(1, frame.link + 1):
        link, at = model.links[i], i * PLACEMENT.size
        if carries(link, frame):
            R, p = get9(links, at + PLACEMENT.R), get3(links, at + PLACEMENT.p)
            if reference in (LOCAL, ALIGNED):
                p = subtract(p, p_frame)
            put_subspace(link, R, p, work.columns, 0, SUBSPACE.size)
            put_columns(model, link, reference, R_frame, work.columns, J)


@function
def put_columns(model, link, reference, R, columns, J):
    """The motion subspace of a link's joint as columns of J, in the axes of the reference."""
    for d in range(link.nv):
        at = d * SUBSPACE.size
        angular = get3(columns, at + SUBSPACE.angular)
        linear = get3(columns, at + SUBSPACE.linear)
        if reference == LOCAL:
            angular, linear = rotate_back(R, angular), rotate_back(R, linear)
        put_column(J, link.v + d, len(model.armature), linear, angular)


@function
def put_column(J, k, nv, linear, angular):
    """Column k of a matrix of six rows."""
    J[k] = linear[0]
    J[nv + k] = linear[1]
    J[2 * nv + k] = linear[2]
    J[3 * nv + k] = angular[0]
    J[4 * nv + k] = angular[1]
    J[5 * nv + k] = angular[2]


@function
def move_in_world(model, i, v, links):
    """Velocity of link i from its parent's; both links have been placed."""
    link = model.links[i]
    at, parent = i * MOVING.size, link.parent * MOVING.size
    R = get9(links, at + MOVING.R)
    offset = subtract(get3(links, at + MOVING.p), get3(links, parent + MOVING.p))
    u, omega = joint_motion(link, v)
    omega_parent = get3(links, parent + MOVING.omega)
    put3(links, at + MOVING.omega, add(omega_parent, rotate(R, omega)))
    carried = add_cross(get3(links, parent + MOVING.u), omega_parent, offset)
    put3(links, at + MOVING.u, add(carried, rotate(R, u)))


@function
def accelerate_in_world(model, i, v, a, links):
    """Acceleration of link i from its parent's; the velocities of both are known."""
    link = model.links[i]
    at, parent = i * MOVING.size, link.parent * MOVING.size
    R = get9(links, at + MOVING.R)
    offset = subtract(get3(links, at + MOVING.p), get3(links, parent + MOVING.p))
    u, w = joint_motion(link, v)
    du, dw = joint_motion(link, a)
    u, w, du, dw = rotate(R, u), rotate(R, w), rotate(R, du), rotate(R, dw)
    omega = get3(links, parent + MOVING.omega)
    alpha = get3(links, parent + MOVING.alpha)
    carried = add_cross(get3(links, parent + MOVING.a), alpha, offset)
    carried = add_cross(carried, omega, cross(omega, offset))
    put3(links, at + MOVING.alpha, add(add_cross(alpha, omega, w), dw))
    # Coriolis' acceleration counts the parent's rotation twice and the joint's own once.
    put3(links, at + MOVING.a, add(add_cross(carried, add(add(omega, omega), w), u), du))


@function
def put_motion(out, reference, R, p, linear, angular):
    """A motion given at point p in world axes, in the axes and at the point of the reference."""
    if reference == LOCAL:
        put3(out, 0, rotate_back(R, linear))
        put3(out, 3, rotate_back(R, angular))
    elif reference == ALIGNED:
        put3(out, 0, linear)
        put3(out, 3, angular)
    else:
        put3(out, 0, add_cross(linear, p, angular))
        put3(out, 3, angular)


@kernel(
    ModelArrays,
    shared=("choice",),
    inputs={"q": "nq", "v": "nv"},
    outputs={"velocity": "6"},
    work=MOTIONS,
    label="frame_velocity",
)
def move_frame(model, choice, q, v, velocity, work):
    """J(q) v of one frame"""
    frame, links = model.frames[choice[0]], work.links
    start_at_origin(links)
    put3(links, MOVING.omega, (0.0, 0.0, 0.0))
    put3(links, MOVING.u, (0.0, 0.0, 0.0))
    for i in range(1, frame.link + 1):
        if carries(model.links[i], frame):
            place_in_world(model, i, q, links, MOVING.size)
            move_in_world(model, i, v, links)
    R, arm = frame_rotation(frame, links, MOVING.size), frame_offset(frame, links, MOVING.size)
    p = point_position(frame, arm, links, MOVING.size)
    omega, u = velocity_at(links, frame.link * MOVING.size, arm)
    put_motion(velocity, choice[1], R, p, u, omega)


@kernel(
    ModelArrays,
    shared=("choice",),
    inputs={"q": "nq", "v": "nv", "a": "nv"},
    outputs={"acceleration": "6"},
    work=MOTIONS,
    label="frame_acceleration",
)
def accelerate_frame(model, choice, q, v, a, acceleration, work):
    """J(q) a + dJ/dt v of one frame; choice[2] asks for that of its origin as a point"""
    frame, links = model.frames[choice[0]], work.links
    start_at_origin(links)
    start_at_rest(links, (0.0, 0.0, 0.0))
    for i in range(1, frame.link + 1):
        if carries(model.links[i], frame):
            place_in_world(model, i, q, links, MOVING.size)
            move_in_world(model, i, v, links)
            accelerate_in_world(model, i, v, a, links)
    R, arm = frame_rotation(frame, links, MOVING.size), frame_offset(frame, links, MOVING.size)
    p = point_position(frame, arm, links, MOVING.size)
    omega, u = velocity_at(links, frame.link * MOVING.size, arm)
    alpha, linear = acceleration_at(links, frame.link * MOVING.size, arm)
    linear = add_cross(linear, omega, cross(omega, arm))
    if choice[2] == 0:  # the spatial acceleration leaves out the motion of the point itself
        linear = add_cross(linear, u, omega)
    put_motion(acceleration, choice[1], R, p, linear, alpha)


class Placements(NamedTuple):
    """Rotations (..., F, 3, 3) and translations (..., F, 3) of frames in the world."""

    rotation: np.ndarray
    translation: np.ndarray


def forward_kinematics(
    model: Model,
    q: ArrayLike,
    frames: str | Iterable[str] | None = None,
    *,
    threads: int | None = None,
    out: Sequence[np.ndarray] | None = None,
) -> Placements:
    """Placements of frames in the world: x_world = rotation x_frame + translation.

    `frames` are names; without them all frames are placed, in the order of `model.frame_names`.
    """
    check_model(model)
    if frames is None:
        index = np.arange(len(model.tree.frames), dtype=np.int64)
    else:
        names = frames if type(frames) in (list, tuple) else names_of("frames", frames)
        index = np.array([*map(model.frame_index, names)], np.int64)
    return Placements(*place_frames(model, (q,), out, threads, (index,)))


def frame_jacobian(
    model: Model,
    q: ArrayLike,
    frame: str,
    reference: str = "local",
    *,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """J with J v the velocity of a frame, (..., 6, nv), linear rows first.

    `reference`: "local" is at the frame's origin in its own axes, "aligned" at its origin in the
    world's axes, "world" at the world's origin in the world's axes.
    """
    return jacobian(model, (q,), out, threads, (frame_and_reference(model, frame, reference),))


def frame_velocity(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    frame: str,
    reference: str = "local",
    *,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """J(q) v: velocity of a frame, linear then angular; `reference` as in `frame_jacobian`."""
    choice = frame_and_reference(model, frame, reference)
    return move_frame(model, (q, v), out, threads, (choice,))


def frame_acceleration(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    frame: str,
    reference: str = "local",
    *,
    classical: bool = False,
    threads: int | None = None,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Acceleration of a frame, linear then angular; `reference` as in `frame_jacobian`.

    It is the spatial acceleration, the time derivative of the velocity in the "local" and in the
    "world" reference; `classical=True` gives that of the frame's origin as a moving point.
    """
    choice = with_flag(frame_and_reference(model, frame, reference), "classical", classical)
    return accelerate_frame(model, (q, v, a), out, threads, (choice,))

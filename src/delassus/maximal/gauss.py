"""Accelerations in maximal coordinates by Gauss's principle, with dense matrices: to check others.

M u' + J_a^T armature (J_a u' + dJ_a/dt u) = w_gc + w_e + J_a^T tau + J^T lambda
J u' + dJ/dt u = 0

| symbol          | here                     | what it is                                       |
| --------------- | ------------------------ | ------------------------------------------------ |
| u'              | rates                    | of the twists of bodies                          |
| dJ/dt u         | drift                    | of joint rows                                    |
| dJ_a/dt u       | free_drift               | of degrees of freedom                            |
| w_gc (59), w_e  | `_body_forces`, wrenches | gravity and gyroscopic terms, external wrenches  |
| lambda          | reactions                | forces along rows, the shortest if not unique    |

The rates dJ/dt u and dJ_a/dt u are differences of eighth order of the rows' velocities along the
motion of the bodies with constant twists. Their errors are about 1e-13.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..checks import real_array
from ..errors import ShapeError
from .assembly import step_momentum, step_rows
from .conversion import tree_coordinates
from .dual import block_diagonal, free_jacobian, solve_bodies
from .rows.blocks import ROW
from .rows.contacts import CONTACT
from .settings import Stabilization
from .structure.packed import SIDE

_STENCIL = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
_STEP = 0.02  # radians or so that bodies turn between two states of a difference


class MaximalAccelerations(NamedTuple):
    """Motion and reactions of a constrained system.

    - twist_rates: of the velocities of centres of mass and of angular velocities, (n_bodies, 6)
    - joint_accelerations: of the tree's joints, nv numbers
    - reactions: forces along the rows of joints and couplings, in joint axes
    - wrenches: force and moment of each joint on its follower, at the follower's frame, world axes
    """

    twist_rates: np.ndarray
    joint_accelerations: np.ndarray
    reactions: np.ndarray
    wrenches: np.ndarray


def accelerations(system, q, v, tau, external_forces) -> MaximalAccelerations:
    """Accelerations and the shortest reactions at one state of the tree.

    `external_forces` are forces and moments at the bodies' origins in their own axes.
    """
    poses, twists = system.state(q, v)
    wrenches = world_wrenches(system, poses, external_forces)
    still = np.array([0.0])
    inertia, _, free_blocks = step_momentum(
        system, (poses, twists, q, np.zeros(system.nv), wrenches, still)
    )
    J, Ja = system.jacobian(poses, q), free_jacobian(system, free_blocks)
    drift, free_drift = _drifts(system, poses, twists, q)
    armature = np.concatenate([j.data.armature for j in system.model.joints] or [np.zeros(0)])
    A = block_diagonal(inertia) + Ja.T @ (armature[:, None] * Ja)
    force = _body_forces(system, inertia, twists) + wrenches
    force = force.ravel() + Ja.T @ (tau - armature * free_drift)
    rates, reactions = solve_bodies(A, J, np.zeros(len(J)), force, -drift)
    a = Ja @ rates + free_drift
    wrenches = _wrenches(system, poses, q, reactions, tau - armature * a)
    return MaximalAccelerations(rates.reshape(-1, SIDE), a, reactions, wrenches)


def _body_forces(system, inertia: np.ndarray, twists: np.ndarray) -> np.ndarray:
    """(59): gravity and gyroscopic terms."""
    forces, omega = np.zeros_like(twists), twists[:, 3:]
    forces[:, :3] = inertia[:, :1, 0] * system.model.gravity
    forces[:, 3:] = -np.cross(omega, np.einsum("nij,nj->ni", inertia[:, 3:, 3:], omega))
    return forces


def world_wrenches(system, poses: np.ndarray, external_forces) -> np.ndarray:
    """Forces and moments at the bodies' origins in their own axes, as wrenches on their centres."""
    result = np.zeros((system.n_bodies, SIDE))
    if external_forces is None:
        return result
    given = real_array("external_forces", external_forces)
    if given.shape != result.shape:
        raise ShapeError(f"external_forces must have shape {result.shape}, got {given.shape}")
    for i, body in enumerate(system.model.bodies):
        R = _rotation(poses[i, 3:])
        f, n = given[i, :3], given[i, 3:]
        result[i] = [*(R @ f), *(R @ (n - np.cross(body.inertia.center, f)))]
    return result


def _drifts(system, poses, twists, q) -> tuple[np.ndarray, np.ndarray]:
    """dJ/dt u of the joint rows, and dJ_a/dt u of the degrees of freedom."""
    h = _STEP / (1.0 + np.abs(twists).max(initial=0.0))
    steps = np.array([sign * k for k in _STENCIL for sign in (1, -1)], float)
    weights = np.array([sign * c for c in _STENCIL.values() for sign in (1, -1)]) / h
    moved = np.array([_moved(poses, twists, h * k) for k in steps])
    still, near = np.broadcast_to(twists, (len(steps), *twists.shape)), np.tile(q, (len(steps), 1))
    slots = np.zeros((len(steps), system.contact_slots, CONTACT.size))
    settings = Stabilization().packed(1.0)[None]  # the same for all
    _, rows, _ = step_rows(
        system, (moved, still.copy(), near, slots, np.zeros((len(steps), 1)), settings)
    )
    _, v = tree_coordinates(system, (moved, still.copy(), near))
    velocities = rows[:, : system.n_joint_rows, ROW.velocity]
    return weights @ velocities, weights @ v


def _moved(poses: np.ndarray, twists: np.ndarray, time: float) -> np.ndarray:
    """Poses after bodies have moved with constant twists."""
    result = poses.copy()
    result[:, :3] += time * twists[:, :3]
    half = 0.5 * time * twists[:, 3:]
    angle = np.linalg.norm(half, axis=1, keepdims=True)
    x, w = half * np.sinc(angle / np.pi), np.cos(angle)
    y, z = poses[:, 3:6], poses[:, 6:]
    result[:, 3:6] = w * y + z * x + np.cross(x, y)
    result[:, 6:] = w * z - np.sum(x * y, axis=1, keepdims=True)
    return result


def _rotation(x: np.ndarray) -> np.ndarray:
    """The rotation matrix of a unit quaternion (x, y, z, w)."""
    u, w = x[:3], x[3]
    U = np.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])
    return np.eye(3) + 2.0 * w * U + 2.0 * U @ U


def _arm_on(joint, poses) -> tuple[float, int, np.ndarray]:
    """Sign of the rows of a joint on a body, the body, and the arm to the follower's frame."""
    if joint.follower > 0:
        R = _rotation(poses[joint.follower - 1, 3:])
        return 1.0, joint.follower, R @ joint.on_follower.translation
    return -1.0, joint.base, joint.on_follower.translation - poses[joint.base - 1, :3]


def _wrenches(system, poses, q, reactions, forces) -> np.ndarray:
    """Force and moment of each joint on its follower, at the frame on the follower.

    `forces` are those along degrees of freedom, less what the armature takes.
    """
    result, row = np.zeros((len(system.joints), SIDE)), 0
    J = system.jacobian(poses, q)
    Ja = system.coordinate_jacobian(poses, q)
    for j, joint in enumerate(system.joints):
        ends, own = slice(row, row + joint.rows), slice(joint.v, joint.v + joint.nv)
        # What the joint does to the base is the opposite, which tells it where the follower is the
        # world.
        sign, body, arm = _arm_on(joint, poses)
        place = slice(SIDE * (body - 1), SIDE * body)
        wrench = J[ends, place].T @ reactions[ends] + Ja[own, place].T @ forces[own]
        wrench = sign * wrench
        result[j, :3] = wrench[:3]
        result[j, 3:] = wrench[3:] - np.cross(arm, wrench[:3])
        row += joint.rows
    return result

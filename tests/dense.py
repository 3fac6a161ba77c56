"""Textbook dynamics with dense matrices in NumPy: the reference that shares no code with kernels.

Spatial vectors are linear then angular, in body axes; all joints by their own motion subspace.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import delassus as dl


def skew(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def rotation_about(axis, angle):
    return Rotation.from_rotvec(np.asarray(axis) * angle).as_matrix()


def plane_axes(axis):
    """The frame whose z is the axis, by the shortest rotation from z."""
    z = np.array([0.0, 0.0, 1.0])
    w = np.cross(z, axis)
    s, c = np.linalg.norm(w), z @ axis
    if s < 1e-12:
        return np.eye(3) if c > 0 else np.diag([1.0, -1.0, -1.0])
    return rotation_about(w / s, np.arctan2(s, c))


def joint(kind, q, v):
    """Displacement (R, p), motion subspace S (6, nv), and its rate times v."""
    R, p = np.eye(3), np.zeros(3)
    S, rate = np.zeros((6, kind.nv)), np.zeros(6)
    match kind:
        case dl.Revolute(axis):
            R = rotation_about(axis, q[0])
            S[3:, 0] = axis
        case dl.Prismatic(axis):
            p = np.array(axis) * q[0]
            S[:3, 0] = axis
        case dl.Helical(axis, pitch):
            R, p = rotation_about(axis, q[0]), pitch * q[0] * np.array(axis)
            S[:3, 0], S[3:, 0] = pitch * np.array(axis), axis
        case dl.Cylindrical(axis):
            R, p = rotation_about(axis, q[1]), q[0] * np.array(axis)
            S[:3, 0], S[3:, 1] = axis, axis
        case dl.Universal(first, second):
            back = rotation_about(second, q[1])
            R = rotation_about(first, q[0]) @ back
            S[3:, 0], S[3:, 1] = back.T @ first, second
            rate[3:] = -np.cross(np.array(second) * v[1], back.T @ first) * v[0]
        case dl.Gimbal():
            third = rotation_about((0, 0, 1), q[2])
            back = rotation_about((0, 1, 0), q[1]) @ third
            R = rotation_about((1, 0, 0), q[0]) @ back
            axes = np.array([back.T[:, 0], third.T[:, 1], [0.0, 0.0, 1.0]])
            S[3:] = axes.T
            # Each axis is still in the frame of its own link, and turns back with those after it.
            rate[3:] = -np.cross(axes[1] * v[1] + axes[2] * v[2], axes[0]) * v[0]
            rate[3:] -= np.cross(axes[2] * v[2], axes[1]) * v[1]
        case dl.Spherical():
            R = Rotation.from_quat(q).as_matrix()
            S[3:] = np.eye(3)
        case dl.Translation():
            p = np.array(q)
            S[:3] = np.eye(3)
        case dl.Planar(axis):
            E = plane_axes(np.array(axis))
            R = E @ rotation_about([0, 0, 1], q[2]) @ E.T
            p = E @ [q[0], q[1], 0]
            S[:3, 0], S[:3, 1], S[3:, 2] = E[:, 0], E[:, 1], E[:, 2]
        case dl.Free():
            R, p = Rotation.from_quat(q[3:]).as_matrix(), np.array(q[:3])
            S = np.eye(6)
    return R, p, S, rate


def motion_transform(R, p):
    """From parent to child axes, for a child at (R, p) in the parent."""
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = R.T
    X[:3, 3:] = -R.T @ skew(p)
    return X


def cross_motion(v):
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = skew(v[3:])
    X[:3, 3:] = skew(v[:3])
    return X


def spatial_inertia(inertia):
    m, C = inertia.mass, skew(inertia.center)
    return np.block([[m * np.eye(3), -m * C], [m * C, inertia.matrix + m * C @ C.T]])


class Textbook:
    """All quantities of one state, from dense Jacobians."""

    def __init__(self, model, q, v):
        self.model = model
        nv = model.nv
        self.pose, self.J, self.drift = [], [], []
        velocity = []
        for body in model.bodies:
            R, p, S, rate = joint(body.joint.type, q[body.joint.q], v[body.joint.v])
            R = body.placement.rotation @ R
            p = body.placement.rotation @ p + body.placement.translation
            own = np.zeros((6, nv))
            own[:, body.joint.v] = S
            vJ = S @ v[body.joint.v]
            X = motion_transform(R, p)
            k = body.parent
            J = own if k < 0 else X @ self.J[k] + own
            V = J @ v
            drift = cross_motion(V) @ vJ + rate
            drift = drift if k < 0 else X @ self.drift[k] + drift
            Rp, pp = (np.eye(3), np.zeros(3)) if k < 0 else self.pose[k]
            self.pose.append((Rp @ R, Rp @ p + pp))
            self.J.append(J)
            self.drift.append(drift)
            velocity.append(V)
        self.velocity = velocity
        armature = np.concatenate([j.data.armature for j in model.joints] or [np.zeros(0)])
        self.M = np.diag(armature)
        self.b = np.zeros(nv)
        for body, J, drift, V, (R, _) in zip(
            model.bodies, self.J, self.drift, velocity, self.pose, strict=True
        ):
            inertia = spatial_inertia(body.inertia)
            gravity = np.concatenate([R.T @ model.gravity, np.zeros(3)])
            self.M = self.M + J.T @ inertia @ J
            self.b = self.b + J.T @ (inertia @ (drift - gravity) - cross_motion(V).T @ inertia @ V)

    def generalized(self, external_forces):
        """J^T f of forces on the bodies."""
        return sum(J.T @ f for J, f in zip(self.J, external_forces, strict=True))

"""Inverse kinematics of a frame by damped least squares."""

import numpy as np
from scipy.spatial.transform import Rotation

import delassus as dl

FRAME = "panda_hand_tcp"
READY = [0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785, 0.02, 0.02]
DAMPING = 1e-3
TOLERANCE = 1e-9


def pose(model, q):
    placed = dl.forward_kinematics(model, q, FRAME)
    return placed.rotation[0], placed.translation[0]


def solve(model, q, rotation, translation):
    """The posture, from q on, that brings the frame to a pose."""
    print("iteration   error")
    for iteration in range(50):
        R, p = pose(model, q)
        # What is missing to the pose, in the frame's own axes like the local Jacobian.
        turn = Rotation.from_matrix(R.T @ rotation).as_rotvec()
        error = np.concatenate([R.T @ (translation - p), turn])
        norm = np.linalg.norm(error)
        print(f"{iteration:9}   {norm:.1e}")
        if norm < TOLERANCE:
            return q
        J = dl.frame_jacobian(model, q, FRAME, "local")
        damped = J @ J.T + DAMPING * norm * np.eye(6)
        q = model.integrate(q, J.T @ np.linalg.solve(damped, error))
    raise RuntimeError("inverse kinematics did not converge")


def main():
    model = dl.robots.load("panda")
    start = np.array(READY)
    R, p = pose(model, start)
    turn = Rotation.from_euler("z", 60, degrees=True).as_matrix()
    q = solve(model, start, turn @ R, p + np.array([0.1, 0.3, -0.1]))
    moved = model.difference(start, q)
    print("posture:", np.round(q, 3))
    print(f"largest change of a joint: {np.abs(moved).max():.2f} rad")
    print("within the limits:", bool(((q >= model.lower) & (q <= model.upper)).all()))


if __name__ == "__main__":
    main()

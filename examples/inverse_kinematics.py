"""Inverse kinematics of a frame by damped least squares."""

import numpy as np

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
        # What is missing to the pose, in the frame's own axes like the local Jacobian. A rotation
        # less its transpose is twice the axis times the sine of the angle.
        left = R.T @ rotation
        turn = np.array([(left - left.T)[k] for k in ((2, 1), (0, 2), (1, 0))]) / 2.0
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
    turn = dl.Transform.from_rpy(rpy=(0.0, 0.0, np.pi / 3)).rotation
    q = solve(model, start, turn @ R, p + np.array([0.1, 0.3, -0.1]))
    moved = model.difference(start, q)
    print("posture:", np.round(q, 3))
    print(f"largest change of a joint: {np.abs(moved).max():.2f} rad")
    print("within the limits:", bool(((q >= model.lower) & (q <= model.upper)).all()))


if __name__ == "__main__":
    main()

"""Move an arm to a posture by a PD controller with gravity compensation."""

import numpy as np

import delassus as dl

STEP = 1e-3  # s
STIFFNESS = np.array([400.0, 400.0, 400.0, 60.0, 60.0, 60.0])
DAMPING = np.array([80.0, 80.0, 60.0, 8.0, 8.0, 8.0])


def main():
    model = dl.robots.load("ur5")
    q, v = model.neutral(), np.zeros(model.nv)
    target = np.array([0.8, -1.2, 1.4, -1.0, -1.5, 0.3])

    print("  time   error  largest torque")
    for k in range(3001):
        error = model.difference(q, target)
        tau = STIFFNESS * error - DAMPING * v + dl.gravity_forces(model, q)
        tau = np.clip(tau, -model.effort_limit, model.effort_limit)
        if k % 500 == 0:
            print(f"{k * STEP:6.2f}{np.abs(error).max():8.4f}{np.abs(tau).max():12.1f} N m")
        a = dl.forward_dynamics(model, q, v, tau)
        v = v + STEP * a
        q = model.integrate(q, STEP * v)

    print("posture reached:", np.round(q, 3))


if __name__ == "__main__":
    main()

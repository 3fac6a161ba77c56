"""Load a robot; compute inverse and forward dynamics for one state and for many."""

import numpy as np

import delassus as dl


def main():
    model = dl.robots.load("panda")
    print(model)

    rng = np.random.default_rng(0)
    q = model.random_configuration(rng)
    v = rng.standard_normal(model.nv)
    a = rng.standard_normal(model.nv)

    tau = dl.inverse_dynamics(model, q, v, a)
    back = dl.forward_dynamics(model, q, v, tau)
    print("\njoint forces [N m, N]:", np.round(tau, 3))
    print(f"forward dynamics gives the accelerations back to {np.abs(back - a).max():.0e}")

    hand = dl.forward_kinematics(model, q, "panda_hand_tcp")
    print("position of the hand [m]:", np.round(hand.translation[0], 3))

    q = model.random_configuration(rng, 1000)
    v, a = rng.standard_normal((2, 1000, model.nv))
    tau = dl.inverse_dynamics(model, q, v, a)
    print(f"the same for 1000 states: tau has the shape {tau.shape}")


if __name__ == "__main__":
    main()

"""Linear models of a geared quadruped, as for predictive control: dx+ = A dx + B du."""

import numpy as np

import delassus as dl

STEP, HORIZON = 5e-3, 20  # s, steps


def step(emb, q, v, tau):
    """The state after a time STEP: first the velocity, then the configuration by it."""
    v = v + STEP * dl.forward_dynamics(emb, q, v, tau)
    return emb.model.integrate(q, STEP * emb.spanning_velocity(q, v)), v


def linearise(emb, q, v, tau):
    """A and B of a step; x are small motions and velocities, u the torques of the legs."""
    change = dl.forward_dynamics_derivatives(emb, q, v, tau)
    _, ahead = step(emb, q, v, tau)
    moved = emb.model.integrate_derivatives(q, STEP * emb.spanning_velocity(q, ahead))
    own = np.ix_(emb.independent_dofs, emb.independent_dofs)
    by_q, by_v = moved.dq[own], STEP * moved.dv[own]
    velocity = np.hstack([STEP * change.dq, np.eye(emb.nv) + STEP * change.dv])
    motion = by_v @ velocity + np.hstack([by_q, np.zeros_like(by_q)])
    pushed = STEP * change.dtau[:, 6:]  # no motor drives the trunk
    return np.vstack([motion, velocity]), np.vstack([by_v @ pushed, pushed])


def main():
    real = dl.embed(dl.robots.mini_cheetah())  # rotors and gears are part of it
    legs = np.tile([0.0, -0.8, 1.6], 4)
    y = np.concatenate([[0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0], legs])  # in the air, as in a jump
    rng = np.random.default_rng(0)
    v = np.concatenate([[1.0, 0.0, 1.5, 0.0, 1.0, 0.0], rng.standard_normal(12)])
    dx, du = 1e-3 * rng.standard_normal(2 * real.nv), 1e-2 * rng.standard_normal((HORIZON, 12))
    limp = np.zeros(real.nv)

    # Two flights: one without torques, the other from another start with some.
    q = real.spanning(y)
    states = [(q, v)]
    other = real.model.integrate(q, real.spanning_velocity(q, dx[: real.nv])), v + dx[real.nv :]
    for k in range(HORIZON):
        states.append(step(real, *states[-1], limp))
        other = step(real, *other, np.concatenate([np.zeros(6), du[k]]))
    apart = real.independent_velocity(real.model.difference(states[-1][0], other[0]))
    simulated = np.concatenate([apart, other[1] - states[-1][1]])

    print(f"after {HORIZON * STEP * 1e3:.0f} ms, linear models are wrong by")
    for rotors in ("bodies", "diagonal", "none"):
        emb, x = dl.embed(dl.robots.mini_cheetah(rotors)), dx
        for k, (q, v) in enumerate(states[:-1]):
            A, B = linearise(emb, emb.spanning(real.independent(q)), v, limp)
            x = A @ x + B @ du[k]
        error = np.linalg.norm(x - simulated) / np.linalg.norm(simulated)
        print(f"{error:8.2%}  rotors: {rotors}")


if __name__ == "__main__":
    main()

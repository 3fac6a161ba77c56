"""Thousands of states of an ankle that two cranks and two rods turn: parallel_ankle.py [STATES]."""

import sys
import time

import numpy as np

import delassus as dl


def timed(what, function, *arguments):
    """The result, after a first call that compiles the kernel or loads it from the cache."""
    function(*(x[:8] for x in arguments))
    start = time.perf_counter()
    result = function(*arguments)
    seconds = time.perf_counter() - start
    print(f"{what:18} {seconds / len(result) * 1e6:7.2f} µs a state")
    return result


def main():
    states = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
    model = dl.robots.parallel_ankle()
    emb = dl.embed(model)
    print(f"{model.name}: {model.nv} joint velocities, {emb.nv} of them independent")

    # Pitch and roll of the foot; cranks and rods follow.
    rng = np.random.default_rng(0)
    y = rng.uniform([-0.6, -0.2], [0.3, 0.2], (states, 2))
    yd = rng.standard_normal((states, 2))
    q = timed("closed loops", emb.spanning, y)
    G = timed("motions G", emb.G, q)

    # v = G y', so torques of the cranks turn the foot by G^T: the torque map of the ankle.
    cranks = [model.joint(f"{side}_crank_joint").v.start for side in ("left", "right")]
    torque_map = np.swapaxes(G[:, cranks], 1, 2)
    torques = rng.uniform(-20.0, 20.0, (states, 2))
    tau = np.einsum("nij,nj->ni", torque_map, torques)
    ydd = timed("forward dynamics", lambda *s: dl.forward_dynamics(emb, *s), q, yd, tau)
    back = dl.inverse_dynamics(emb, q, yd, ydd)
    motors = np.linalg.solve(torque_map, back[:, :, None])[:, :, 0]
    print(f"crank torques come back to {np.abs(motors - torques).max():.0e} N m")

    print("10 N m at both cranks make a roll torque, opposite ones a pitch torque, in N m:")
    for pitch in (-0.6, -0.3, 0.0, 0.3):
        to_pitch, to_roll = emb.G(emb.spanning([pitch, 0.0]))[cranks].T
        roll, turn = to_roll @ [10.0, 10.0], to_pitch @ [-10.0, 10.0]
        print(f"pitch {pitch:5.2f}: {roll:6.2f} {turn:6.2f}")


if __name__ == "__main__":
    main()

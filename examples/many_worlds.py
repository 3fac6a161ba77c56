"""Worlds of a robot that is pushed, each by another force: many_worlds.py [WORLDS]."""

import sys
import time

import numpy as np

import delassus as dl


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    model = dl.robots.load("go1")
    q = model.neutral()
    q[7:], q[2] = (0.0, 0.8, -1.6) * 4, 0.33
    model = model.replace(actuators=dl.servos(model, stiffness=60.0, damping=2.0))
    sim = dl.Simulator(model, worlds=count, on_error="record")
    sim.reset(q)
    sim.rollout(200, control=q[7:])

    # A push from the side for a tenth of a second, stronger from world to world.
    pushes = np.zeros((count, 600, model.n_bodies, 6))
    pushes[:, :100, 0, 1] = np.linspace(0.0, 250.0, count)[:, None]
    start = time.perf_counter()
    rec = sim.rollout(600, control=q[7:], wrenches=pushes)
    seconds = time.perf_counter() - start
    print(f"{count} worlds, {count * 600 / seconds:,.0f} steps a second")

    upright = rec.q[:, -1, 2] > 0.2
    print(f"{upright.sum()} of {count} worlds still stand, {len(sim.failures)} have failures")
    print(f"standing still was no push: {upright[0]}")


if __name__ == "__main__":
    main()

"""Evaluate a batch of a million states and time it: million_states.py [STATES] [THREADS]."""

import sys
import time

import numpy as np

import delassus as dl


def main():
    states = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    threads = int(sys.argv[2]) if len(sys.argv) > 2 else None  # None: all cores
    model = dl.robots.load("panda")
    rng = np.random.default_rng(0)
    q = model.random_configuration(rng, states)
    v = rng.standard_normal((states, model.nv))
    tau = rng.standard_normal((states, model.nv))
    out = np.empty_like(v)

    # The first call compiles the kernel, or loads it from the cache.
    dl.forward_dynamics(model, q[:8], v[:8], tau[:8])
    dl.inverse_dynamics(model, q[:8], v[:8], tau[:8])

    start = time.perf_counter()
    dl.forward_dynamics(model, q, v, tau, threads=threads, out=out)
    seconds = time.perf_counter() - start
    print(f"{model.name}, {states:,} states")
    print(f"forward dynamics: {seconds:.3f} s, {seconds / states * 1e6:.2f} µs a state")

    start = time.perf_counter()
    back = dl.inverse_dynamics(model, q, v, out, threads=threads)
    seconds = time.perf_counter() - start
    print(f"inverse dynamics: {seconds:.3f} s, {seconds / states * 1e6:.2f} µs a state")
    print(f"joint forces come back to {np.abs(back - tau).max():.0e}")


if __name__ == "__main__":
    main()

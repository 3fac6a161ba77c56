"""A crank-rocker under gravity: energy, the error of its loop, and what its joints carry."""

import numpy as np

import delassus as dl


def main():
    model = dl.robots.crank_rocker()
    sim = dl.Simulator(model, dt=1e-3, ground=False)
    sim.reset([0.3, 0.0, 0.0])  # the loop is closed from here
    start = dl.potential_energy(model, sim.q)
    rec = sim.rollout(5000, sensors=True)

    told = rec.metrics
    drift = np.abs(told["kinetic_energy"] + told["potential_energy"] - start)
    largest = told["kinetic_energy"].max()
    print(f"{rec.time[-1]:.1f} s; energy changes by {drift.max() / largest:.0e} of the largest")
    print(f"the loop is open by {told['joint_error'].max() * 1e6:.1f} µm at most")

    forces = np.linalg.norm(rec.reactions[..., :3], axis=2)
    for name, force in zip(rec.joint_names, forces.T, strict=True):
        print(f"{name}: {force.mean():.2f} N on average, {force.max():.2f} N at most")


if __name__ == "__main__":
    main()

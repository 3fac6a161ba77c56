"""Cassie drops onto its feet: ten motors behind gears, six loops, leaf springs."""

import time

import numpy as np

import delassus as dl

# At zero the loops are closed, knees are bent, and toes point up. Here the feet are level and below
# the centre of mass, a crank and a rod behind each of them.
POSE = {"pitch-op": 0.2734, "foot-op": -1.3759}
FOLLOWING = {"tarsus-crank-joint": -1.3759, "crank-rod-joint": 1.3759}
HEIGHT = 1.13  # m, of the pelvis: feet are 2 cm above the ground
# Stiffness behind the gears, in N m/rad; servos are those of rotors, with damping for 1/15 s.
SERVOS = {"roll-op": 3e3, "yaw-op": 1e3, "pitch-op": 4e3, "knee-op": 4e3, "foot-op": 1.5e3}
SPRINGS = ("knee-shin-joint", "tarsus-spring-joint")  # which the file has almost without damping


def servos(model):
    """Servos of rotors, then dampers of leaf springs."""
    found = []
    for gear in model.constraints:
        if isinstance(gear, dl.Gear):
            stiffness = SERVOS[gear.joint.split("-", 1)[1]] * gear.ratio**2
            found += dl.servos(model, stiffness, stiffness / 15, [gear.other])
    springs = [f"{side}-{name}" for side in ("left", "right") for name in SPRINGS]
    return found + list(dl.servos(model, 0.0, 40.0, springs))


def main():
    model = dl.robots.load("cassie")
    q = model.neutral()
    q[2] = HEIGHT
    for side in ("left-", "right-"):
        for name, angle in {**POSE, **FOLLOWING}.items():
            q[model.joint(side + name).q] = angle
    for gear in model.constraints:
        if isinstance(gear, dl.Gear):
            q[model.joint(gear.other).q] = q[model.joint(gear.joint).q] / gear.ratio
    motors = servos(model)
    targets = [q[model.joint(motor.joint).q.start] for motor in motors]

    sim = dl.Simulator(model, actuators=motors)
    print(f"{model.name}: loops are closed by {sim.reset(q).position:.3f} rad at most")
    sim.step(targets)  # compiles
    start = time.perf_counter()
    metrics = sim.rollout(2000, targets).metrics
    print(f"{2000 / (time.perf_counter() - start):.0f} steps a second")
    open_by, solved = metrics["joint_error"].max(), np.mean(metrics["natural_map"] < 1e-6)
    print(f"loops stay closed to {1e3 * open_by:.2f} mm; {solved:.1%} of steps converge")
    feet = {}
    for contact in sim.contacts:
        feet[contact["second"]] = feet.get(contact["second"], 0.0) + contact["force"][2]
    shares = {str(name): f"{lift / (9.81 * model.mass):.1%}" for name, lift in feet.items()}
    print(f"at {sim.q[2]:.2f} m its feet carry {shares} of its weight")


if __name__ == "__main__":
    main()

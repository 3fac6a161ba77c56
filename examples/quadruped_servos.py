"""A quadruped that squats: servos with torque limits, four feet on the ground."""

import numpy as np

import delassus as dl

STAND = (0.0, 0.8, -1.6)  # hip, thigh and calf of each leg


def main():
    model = dl.robots.load("go1")
    motors = dl.servos(model, stiffness=60.0, damping=2.0)
    q = model.neutral()
    q[7:] = STAND * 4
    q[2] = 0.33
    model = model.replace(
        actuators=motors, keyframes=[dl.Keyframe("home", q, u=np.array(STAND * 4))]
    )
    sim = dl.Simulator(model)  # starts at home
    print(f"{model.name}: {model.nu} servos, at most {motors[0].force_range[1]} N m at the hips")
    sim.rollout(500)
    print(f"stands at {sim.q[2]:.3f} m on {int(sim.metrics['contacts'])} contacts")

    def squat(sim):
        bend = 0.1 * (1 - np.cos(2 * np.pi * sim.time))
        return np.array((0.0, 0.8 + bend, -1.6 - 2 * bend) * 4)

    rec = sim.rollout(1000, control=squat, sensors=True)
    low, high = rec.q[:, 2].min(), rec.q[:, 2].max()
    print(f"squats between {low:.3f} and {high:.3f} m")
    used = np.abs(rec.torques[:, 6:]).max(axis=0) / model.effort_limit[6:]
    print(f"the motors use {100 * used.max():.0f}% of their torque; {len(sim.failures)} failures")


if __name__ == "__main__":
    main()

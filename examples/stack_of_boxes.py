"""A stack of boxes, the upper the heavier, that is pushed: stack_of_boxes.py [BOXES]."""

import sys

import numpy as np

import delassus as dl

EDGE = 0.2


def stack(count):
    """Free boxes; each weighs twice what the one below it does."""
    b = dl.ModelBuilder("stack")
    for k in range(count):
        mass = 2.0**k
        name, inertia = f"box {k}", mass * EDGE**2 / 6 * np.eye(3)
        b.add_body(name, joint=dl.Free(), mass=mass, inertia=inertia)
        b.add_shape(dl.Shape(name, name, "collision", "box", size=(EDGE, EDGE, EDGE)))
    model = b.build()
    q = model.neutral().reshape(count, 7)
    q[:, 2] = EDGE * (np.arange(count) + 0.5)
    return model, q.ravel()


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    model, q = stack(count)
    sim = dl.Simulator(model, friction=0.6)
    sim.reset(q)
    sim.rollout(300)
    heights = sim.q.reshape(count, 7)[:, 2]
    print(f"{int(sim.metrics['contacts'])} contacts; the top is at {heights[-1]:.4f} m")

    # Half of what friction could hold, and then twice that, at the centre of the lowest box.
    limit = 0.6 * 9.81 * model.mass
    for part in (0.5, 2.0):
        push = np.zeros((count, 6))
        push[0, 0] = part * limit
        before = sim.q[0]
        sim.rollout(100, wrenches=push)
        verb = "stays" if abs(sim.q[0] - before) < 1e-4 else "slides"
        print(f"pushed by {part * limit:.0f} N the lowest box {verb}")


if __name__ == "__main__":
    main()

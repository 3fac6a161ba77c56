"""A floating base with an arm and a servo, which falls onto a plane."""

import numpy as np

import delassus as dl


def arm():
    b, matrix = dl.ModelBuilder("arm"), 0.02 * np.eye(3)
    b.add_body("base", joint=dl.Free(), mass=2.0, inertia=matrix)
    b.add_body(
        "link", "base", dl.Revolute((0, 1, 0)), (0.1, 0, 0), mass=1.0, com=(0, 0, 0.2),
        inertia=matrix, joint_name="elbow",
    )  # fmt: skip
    b.add_shape(dl.Shape("ball", "base", "collision", "sphere", size=(0.1,)))
    b.add_actuator(dl.Actuator("motor", "elbow"))
    b.add_keyframe(dl.Keyframe("home", [0, 0, 0.101, 0, 0, 0, 1, 0.1], u=[0.5]))
    return b.build()


def fallen(steps=40, **options):
    """A simulator in which the base has touched the plane."""
    sim = dl.Simulator(arm(), **{"threads": 1, **options})
    sim.rollout(steps)
    return sim


def same(a, b):
    """Whether two simulators are in one state, to the last bit."""
    one, other = a.state(), b.state()
    return all(np.array_equal(one[n], other[n], equal_nan=True) for n in one)

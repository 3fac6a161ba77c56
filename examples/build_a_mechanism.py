"""Build a pendulum on a cart body by body, look at it, and let it swing."""

import numpy as np

import delassus as dl


def cart_pole() -> dl.Model:
    builder = dl.ModelBuilder("cart_pole")
    builder.add_body(
        "cart", joint=dl.Prismatic([1, 0, 0]), mass=1.0, lower=-2.0, upper=2.0, damping=0.5
    )
    # A uniform rod of 1 m and 0.2 kg that hangs down at angle 0.
    builder.add_body(
        "pole", "cart", dl.Revolute([0, 1, 0]),
        mass=0.2, com=[0, 0, -0.5], inertia=np.diag([0.2 / 12, 0.2 / 12, 0.0]), damping=0.01,
    )  # fmt: skip
    builder.add_frame("tip", "pole", [0, 0, -1.0])
    return builder.build()


def main():
    model = cart_pole()
    print(model)
    for joint in model.joints:
        print(f"{joint.name}: {joint.type}, q[{joint.q.start}], limits {joint.data.lower[0]:g}"
              f" to {joint.data.upper[0]:g}, damping {joint.data.damping[0]:g}")  # fmt: skip

    q, v = np.array([0.0, 2.0]), np.zeros(2)
    print("mass matrix:", *np.round(dl.mass_matrix(model, q), 4), sep="\n  ")
    print("gravity forces:", np.round(dl.gravity_forces(model, q), 4))

    step = 1e-3
    print("\n  time   cart  angle  tip x  tip z  energy")
    for k in range(3001):
        if k % 500 == 0:
            tip = dl.forward_kinematics(model, q, "tip").translation[0]
            energy = dl.kinetic_energy(model, q, v) + dl.potential_energy(model, q)
            row = (k * step, q[0], q[1], tip[0], tip[2], energy)
            print("".join(f"{x:7.3f}" for x in row))
        # Semi-implicit Euler. Dampers act only if they are added.
        v = v + step * dl.forward_dynamics(model, q, v, dl.passive_forces(model, q, v))
        q = model.integrate(q, step * v)


if __name__ == "__main__":
    main()

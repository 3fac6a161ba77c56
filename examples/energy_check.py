"""A check of physics: a robot that falls freely keeps its energy."""

import numpy as np

import delassus as dl


def total_energy(model, q, v):
    return dl.kinetic_energy(model, q, v) + dl.potential_energy(model, q)


def step(model, q, v, h):
    """A fourth-order Runge-Kutta step (Celledoni, Marthinsen and Owren, 2003).

    A floating base makes q a point of a manifold: it is moved by `integrate`, never added to.
    """
    tau = np.zeros(model.nv)
    v1, a1 = v, dl.forward_dynamics(model, q, v, tau)
    q2, v2 = model.integrate(q, h / 2 * v1), v + h / 2 * a1
    a2 = dl.forward_dynamics(model, q2, v2, tau)
    q3, v3 = model.integrate(q, h / 2 * v2), v + h / 2 * a2
    a3 = dl.forward_dynamics(model, q3, v3, tau)
    q4, v4 = model.integrate(q2, h * (v3 - v1 / 2)), v + h * a3
    a4 = dl.forward_dynamics(model, q4, v4, tau)
    half = model.integrate(q, h / 12 * (3 * v1 + 2 * v2 + 2 * v3 - v4))
    q = model.integrate(half, h / 12 * (-v1 + 2 * v2 + 2 * v3 + 3 * v4))
    return q, v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)


def main():
    model = dl.robots.load("solo12")
    rng = np.random.default_rng(0)
    q0 = model.random_configuration(rng)
    v0 = rng.standard_normal(model.nv)
    energy = total_energy(model, q0, v0)
    print(f"{model.name}: nv {model.nv}, energy {energy:.6f} J")
    print("    step   error after 0.5 s")
    for h in (4e-3, 2e-3, 1e-3):
        q, v = q0, v0
        for _ in range(round(0.5 / h)):
            q, v = step(model, q, v, h)
        print(f"{h:8.4f}   {abs(total_energy(model, q, v) - energy):.1e} J")


if __name__ == "__main__":
    main()

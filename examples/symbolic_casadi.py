"""The same functions on CasADi symbols: gradients, functions, operation counts."""

import casadi
import numpy as np

import delassus as dl


def largest_difference(x, y):
    return np.abs(np.array(x).ravel() - y).max()


def main():
    model = dl.robots.load("panda")
    q = casadi.SX.sym("q", model.nq)
    v = casadi.SX.sym("v", model.nv)

    # Public functions take symbols in place of arrays.
    momentum = casadi.gradient(dl.kinetic_energy(model, q, v), v)
    gravity = casadi.gradient(dl.potential_energy(model, q), q)
    gradients = casadi.Function("gradients", [q, v], [momentum, gravity])

    rng = np.random.default_rng(0)
    x, dx = model.random_configuration(rng), rng.standard_normal(model.nv)
    p, g = gradients(x, dx)
    error = largest_difference(p, dl.mass_matrix(model, x) @ dx)
    print(f"the gradient of kinetic energy is M v to {error:.0e}")
    error = largest_difference(g, dl.gravity_forces(model, x))
    print(f"the gradient of potential energy is the gravity forces to {error:.0e}")

    # A function of its own, from which CasADi makes derivatives or C code.
    forward = dl.symbolic(dl.forward_dynamics, model)
    print(f"{forward}, {forward.n_instructions()} instructions")
    print(f"its Jacobian: {forward.jacobian().n_instructions()} instructions")

    print("\noperations a state     add    mul  total")
    for function in (dl.inverse_dynamics, dl.forward_dynamics, dl.mass_matrix):
        count = dl.operation_count(function, model)
        print(f"{function.__name__:18}{count.add:8}{count.mul:7}{count.total:7}")


if __name__ == "__main__":
    main()

"""Mechanisms with local loops for tests, and the dense textbook evaluation of their dynamics."""

from __future__ import annotations

import numpy as np

import delassus as dl
from trees import random_inertia, random_placement

X, Y, Z = np.eye(3)


def four_bar(lengths=(0.4, 1.0, 0.8, 1.1), base=None, closed_by=None):
    """A planar four-bar: crank, coupler, rocker; with a floating base if `base` is given.

    It is closed by a hinge, or `closed_by` another constraint.
    """
    crank, coupler, rocker, ground = lengths
    builder = dl.ModelBuilder("four bar")
    carrier = "world"
    if base is not None:
        builder.add_body("base", joint=dl.Free(), mass=3.0, inertia=np.diag([0.2, 0.3, 0.4]))
        carrier = "base"
    bar = {"inertia": [0.01, 0.002, 0.0, 0.05, 0.001, 0.06], "armature": 0.3}
    builder.add_body("crank", carrier, dl.Revolute(Z), mass=1.0, com=[0.2, 0, 0], **bar)
    builder.add_body(
        "coupler", "crank", dl.Revolute(Z), [crank, 0, 0], mass=2.0, com=[0.5, 0.1, 0], **bar
    )
    builder.add_body(
        "rocker", carrier, dl.Revolute(Z), [ground, 0, 0], mass=1.5, com=[0.3, 0, 0], **bar
    )
    builder.add_body(
        "tool", "rocker", dl.Revolute(X), [0.3, 0, 0], mass=0.5, com=[0, 0, 0.2], **bar
    )
    builder.add_frame("coupler_end", "coupler", [coupler, 0, 0])
    builder.add_frame("rocker_end", "rocker", [rocker, 0, 0])
    hinge = dl.Closure(dl.Revolute(Z), "coupler_end", "rocker_end")
    builder.add_constraint(hinge if closed_by is None else closed_by)
    return builder.build()


def geared(seed, joints=4, is_round=True, is_parallel=True):
    """A random arm with a motor on what carries each joint."""
    rng = np.random.default_rng(seed)
    builder = dl.ModelBuilder("geared", gravity=rng.standard_normal(3) * 5)
    builder.add_body("b0", joint=dl.Free(), inertia=random_inertia(rng))
    for i in range(1, joints + 1):
        parent = f"b{rng.integers(max(i - 2, 0), i)}"
        axis = rng.standard_normal(3)
        placement = random_placement(rng)
        builder.add_body(
            f"b{i}", parent, dl.Revolute(axis), placement, inertia=random_inertia(rng), armature=0.1
        )
        own = placement if is_parallel else random_placement(rng)
        own = dl.Transform(own.rotation, rng.standard_normal(3) * 0.3)
        n = axis / np.linalg.norm(axis)
        across = 0.02 * (np.eye(3) - np.outer(n, n))
        if not is_round:
            x = np.cross(n, rng.standard_normal(3))
            across = across + 0.01 * np.outer(x, x) / (x @ x)
        inertia = dl.Inertia.of(0.3, 0.2 * n, 0.03 * np.outer(n, n) + across)
        sign = rng.choice([-1.0, 1.0])
        builder.add_body(
            f"r{i}", parent, dl.Revolute(sign * axis), own, inertia=inertia, armature=0.02
        )
        offset = rng.normal()
        builder.add_constraint(dl.Gear(f"r{i}_joint", f"b{i}_joint", rng.uniform(4, 9), offset))
    return builder.build()


def belt(seed=0):
    """Two links in a row, both motors on what carries the first; the second by a belt."""
    rng = np.random.default_rng(seed)
    builder = dl.ModelBuilder("belt", gravity=rng.standard_normal(3) * 5)
    builder.add_body("base", joint=dl.Free(), inertia=random_inertia(rng))
    builder.add_body("thigh", "base", dl.Revolute(Y), random_placement(rng),
                     inertia=random_inertia(rng))  # fmt: skip
    builder.add_body("shank", "thigh", dl.Revolute(Y), [0, 0, -0.4], inertia=random_inertia(rng))
    builder.add_body("foot", "shank", dl.Revolute(Y), [0, 0, -0.4], inertia=random_inertia(rng))
    builder.add_body("toe", "foot", dl.Revolute(Y), [0.1, 0, 0], inertia=random_inertia(rng))
    rotor = dl.Inertia.of(0.2, [0, 0.1, 0], np.diag([0.01, 0.02, 0.01]))
    for name in ("one", "two"):
        builder.add_body(name, "thigh", dl.Revolute(Y), [0.1, 0.2, 0], inertia=rotor)
    # One that sits on a link of the cluster itself.
    builder.add_body("three", "shank", dl.Revolute(Y), [0, 0.1, 0], inertia=rotor)
    builder.add_constraint(dl.Gear("one_joint", "shank_joint", 6.0))
    builder.add_constraint(
        dl.Coupling({"two_joint": 1.0, "shank_joint": -6.0, "foot_joint": -6.0}, 0.3)
    )
    builder.add_constraint(dl.Coupling({"three_joint": 2.0, "foot_joint": -9.0}))
    return builder.build()


def differential():
    """Two motors on a link that turn two joints in a row, by equations that are not linear."""

    def equations(x):
        m1, m2, l1, l2 = x
        return [
            np.sin(l1) - 0.3 * np.sin(m1) + 0.25 * np.sin(m2),
            l2 + 0.2 * np.sin(l2) - 0.4 * m1 - 0.35 * m2 + 0.05 * np.cos(l1),
        ]

    rng = np.random.default_rng(5)
    builder = dl.ModelBuilder("differential")
    builder.add_body("base", joint=dl.Free(), inertia=random_inertia(rng))
    rotor = dl.Inertia.of(0.2, [0, 0, 0.05], np.diag([0.01, 0.01, 0.02]))
    for name in ("one", "two"):
        builder.add_body(name, "base", dl.Revolute(Z), [0.1, 0.2, 0], inertia=rotor)
    builder.add_body("gimbal", "base", dl.Revolute(X), [0, 0, 0.1], inertia=random_inertia(rng))
    builder.add_body("hand", "gimbal", dl.Revolute(Y), [0, 0, 0.2], inertia=random_inertia(rng))
    names = ["one_joint", "two_joint", "gimbal_joint", "hand_joint"]
    builder.add_constraint(dl.Implicit(equations, names))
    return builder.build()


def closed_states(emb, seed, count):
    """Closed configurations in the model's coordinates, independent velocities, forces."""
    rng = np.random.default_rng(seed)
    model = emb.model
    q = np.array([closed_configuration(emb, rng) for _ in range(count)])
    return (
        q,
        rng.standard_normal((count, emb.nv)),
        rng.standard_normal((count, emb.nv)),
        (rng.standard_normal((count, model.n_bodies, 6))),
    )


def closed_configuration(emb, rng):
    while True:
        try:
            start = emb.model.random_configuration(rng)
            return dl.close_loops(emb.model, start, emb.constraints, tolerance=1e-13)
        except dl.ConvergenceError:
            continue


def dense_G(emb, q):
    """G of all joints of the model at one state, by least squares on all rows."""
    K = emb.constraints.jacobian(q)
    own = emb.independent_dofs
    others = np.setdiff1d(np.arange(emb.model.nv), own)
    G = np.zeros((emb.model.nv, emb.nv))
    G[own] = np.eye(emb.nv)
    G[others] = -np.linalg.lstsq(K[:, others], K[:, own], rcond=1e-10)[0]
    return G


def dense_g(emb, q, yd):
    """The accelerations of all joints if the independent ones have none."""
    K = emb.constraints.jacobian(q)
    others = np.setdiff1d(np.arange(emb.model.nv), emb.independent_dofs)
    drift = emb.constraints.drift(q, dense_G(emb, q) @ yd)
    g = np.zeros(emb.model.nv)
    g[others] = -np.linalg.lstsq(K[:, others], drift, rcond=1e-10)[0]
    return g


def dense_forces(emb, q, yd, ydd, external_forces=None):
    """G^T (M a + b - external forces) with a = G y'' + g."""
    G, g = dense_G(emb, q), dense_g(emb, q, yd)
    tau = dl.inverse_dynamics(emb.model, q, G @ yd, G @ ydd + g, external_forces)
    return G.T @ tau


def dense_acceleration(emb, q, yd, tau, external_forces=None):
    """y'' by the mass matrix G^T M G."""
    G = dense_G(emb, q)
    M = G.T @ dl.mass_matrix(emb.model, q) @ G
    return np.linalg.solve(M, tau - dense_forces(emb, q, yd, 0 * yd, external_forces))

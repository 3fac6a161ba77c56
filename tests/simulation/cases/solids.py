"""Solid bodies of even density, as models that stand on the ground z = 0."""

import math

import numpy as np

import delassus as dl

GRAVITY = 9.81
LYING = dl.Transform([[1, 0, 0], [0, 0, -1], [0, 1, 0]], (0, 0, 0))  # the z axis becomes -y


def slope(angle):
    """Gravity on an incline that falls along x, seen in axes of the incline."""
    return (GRAVITY * math.sin(angle), 0.0, -GRAVITY * math.cos(angle))


def inertia_of(kind, mass, size):
    """Inertia of a solid about its centre; of cylinders with their axis along z."""
    if kind == "sphere":
        return 0.4 * mass * size[0] ** 2 * np.eye(3)
    if kind == "cylinder":
        across = mass * (3 * size[0] ** 2 + size[1] ** 2) / 12
        return np.diag([across, across, 0.5 * mass * size[0] ** 2])
    x, y, z = np.square(size)
    return mass / 12 * np.diag([y + z, x + z, x + y])


def add_solid(builder, name, kind, size, mass=1.0, placement=None, friction=None):
    """A free body whose only shape is at `placement` of the body."""
    matrix = inertia_of(kind, mass, size)
    if placement is not None:
        turn = placement.rotation
        matrix = turn @ matrix @ turn.T
    builder.add_body(name, joint=dl.Free(), mass=mass, inertia=matrix)
    surface = dl.Surface(friction=friction)
    builder.add_shape(dl.Shape(name, name, "collision", kind, placement, size, surface=surface))


def solid(kind, size, mass=1.0, height=None, gravity=None, placement=None):
    """A model of one free solid, and where its centre is at a height; half its last size if none.

    That is the height of a box, a ball, or a standing cylinder that rests on the ground.
    """
    builder = dl.ModelBuilder(kind, gravity=slope(0.0) if gravity is None else gravity)
    add_solid(builder, kind, kind, size, mass, placement)
    model = builder.build()
    q = model.neutral()
    resting = size[0] if kind == "sphere" else 0.5 * size[-1]
    q[2] = resting if height is None else height
    return model, q

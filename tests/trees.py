"""Random mechanisms for tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import delassus as dl
from delassus.model.packed import ModelArrays

JOINT_TYPES = [
    lambda rng: dl.Revolute(rng.standard_normal(3)),
    lambda rng: dl.Prismatic(rng.standard_normal(3)),
    lambda rng: dl.Helical(rng.standard_normal(3), rng.normal()),
    lambda rng: dl.Cylindrical(rng.standard_normal(3)),
    lambda rng: dl.Universal(rng.standard_normal(3), rng.standard_normal(3)),
    lambda rng: dl.Spherical(),
    lambda rng: dl.Planar(rng.standard_normal(3)),
    lambda rng: dl.Translation(),
    lambda rng: dl.Free(),
]
AXES = [np.eye(3)[0], np.eye(3)[1], np.eye(3)[2], -np.eye(3)[2]]
SQUARE_TYPES = [
    *[lambda rng: dl.Revolute(AXES[rng.integers(4)])] * 5,
    lambda rng: dl.Spherical(),
    lambda rng: dl.Prismatic(AXES[rng.integers(4)]),
    lambda rng: dl.Universal(*rng.permutation(np.eye(3))[:2]),
]


def random_placement(rng, size=0.5):
    return dl.Transform(
        Rotation.random(random_state=rng.integers(2**31)).as_matrix(),
        size * rng.standard_normal(3),
    )


def square_placement(rng, size=0.1):
    """Quarter turns, and one or two steps along the axes: joints' axes often meet."""
    turns = Rotation.from_euler("xyz", 90 * rng.integers(4, size=3), degrees=True)
    return dl.Transform(turns.as_matrix(), size * rng.integers(-1, 2, 3) * rng.integers(0, 2, 3))


def random_inertia(rng):
    """A mass distribution that exists: a cloud of points."""
    points = rng.normal(size=(6, 3)) * rng.uniform(0.05, 0.4, 3)
    center = points.mean(0)
    d = points - center
    mass = rng.uniform(0.2, 4.0)
    matrix = mass / 6 * (np.sum(d * d) * np.eye(3) - d.T @ d)
    return dl.Inertia.of(mass, center, matrix)


def random_tree(
    seed, bodies=8, types=None, branching=0.4, trees=0.1, is_square=False, has_friction=True
):
    """A tree whose joints cycle through all types; the same seed gives the same tree.

    If square, all is at right angles, and most joints turn about an axis.
    """
    rng = np.random.default_rng(seed)
    builder = dl.ModelBuilder(f"tree{seed}", gravity=rng.standard_normal(3) * 5)
    makers = (SQUARE_TYPES if is_square else JOINT_TYPES) if types is None else types
    place = square_placement if is_square else random_placement
    shift = int(rng.integers(len(makers)))
    for i in range(bodies):
        draw = rng.random()
        if i == 0 or draw < trees:
            parent = "world"
        elif draw < trees + branching:
            parent = f"b{rng.integers(i)}"
        else:
            parent = f"b{i - 1}"
        builder.add_body(
            f"b{i}",
            parent,
            makers[(i + shift) % len(makers)](rng),
            place(rng),
            inertia=random_inertia(rng),
            armature=rng.uniform(0.0, 0.3),
            damping=rng.uniform(0.0, 1.0),
            friction=has_friction * rng.uniform(0.0, 1.0),
            stiffness=rng.uniform(0.0, 1.0),
        )
        builder.add_frame(f"f{i}", f"b{i}", random_placement(rng))
    return builder.build()


TREES = st.builds(
    random_tree,
    st.integers(0, 10**6),
    bodies=st.integers(1, 9),
    branching=st.sampled_from([0.0, 0.4, 0.9]),
    is_square=st.booleans(),
)


def chain(joints, length=0.1):
    """A chain of light links that turn about alternating axes."""
    builder = dl.ModelBuilder("chain")
    for i in range(joints):
        builder.add_body(
            f"b{i}",
            f"b{i - 1}" if i else "world",
            dl.Revolute(AXES[i % 2]),
            [0.0, 0.0, length if i else 0.0],
            mass=0.1,
            com=[0.0, 0.0, length / 2],
            inertia=np.eye(3) * 1e-4,
        )
    return builder.build()


def random_states(model, seed, count=None):
    """q, v, a of as many states."""
    rng = np.random.default_rng(seed)
    q = model.random_configuration(rng, count)
    shape = (model.nv,) if count is None else (count, model.nv)
    return q, rng.standard_normal(shape), rng.standard_normal(shape)


def relative(x, reference):
    """The largest error relative to the largest entry."""
    x, reference = np.asarray(x), np.asarray(reference)
    if reference.size == 0:
        return 0.0 if x.shape == reference.shape else np.inf
    return np.abs(x - reference).max() / max(np.abs(reference).max(), 1e-12)


def unrelated(model):
    """Pairs of degrees of freedom that neither share a joint nor carry one another."""
    carried = np.eye(model.nv, dtype=bool)
    for k, before in enumerate(model.arrays(ModelArrays, np.dtype(float)).dof_parent):
        if before >= 0:
            carried[k] |= carried[before]
    return ~(carried | carried.T)

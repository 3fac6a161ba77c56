"""Systems of bodies for tests: loops of all types in random trees, couplings, single bodies."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import delassus as dl
from constrained.mechanisms import close, consistent
from delassus.maximal.system import MaximalSystem
from delassus.model.parts.constraints import Polynomial
from delassus.model.parts.elements import Frame
from trees import JOINT_TYPES, random_placement, random_tree

CLOSURES = {type(make(np.random.default_rng(0))).__name__: make for make in JOINT_TYPES[:-1]}


def placements(model, q):
    """Where the bodies' frames are."""
    poses, _ = MaximalSystem(model, ()).state(q, np.zeros(model.nv))
    found = []
    for body, pose in zip(model.bodies, poses, strict=True):
        R = Rotation.from_quat(pose[3:]).as_matrix()
        found.append(dl.Transform(R, pose[:3] - R @ body.inertia.center))
    return found


def with_loop(model, q, bodies, make, seed=0):
    """The model with a loop between two bodies that is closed at q.

    `make` takes the names of the two frames, and a displacement of the first in the second.
    """
    rng, world = np.random.default_rng(seed), placements(model, q)
    constraint, displacement = make(rng)
    second = random_placement(rng)
    first = world[bodies[0]].inverse() @ world[bodies[1]] @ second @ displacement
    frames = [Frame("first", bodies[0], first), Frame("second", bodies[1], second)]
    return model.replace(frames=[*model.frames, *frames], constraints=[constraint])


def closure(kind):
    """A loop by a joint type."""

    def make(rng):
        joint = CLOSURES[kind](rng)
        q = rng.standard_normal(joint.nq)
        if joint.quaternion is not None:
            q /= np.linalg.norm(q)
        return dl.Closure(joint, "first", "second"), joint.displacement(q)

    return make


def weld(rng):
    return dl.Weld("first", "second"), dl.Transform()


def connect(rng):
    turned = dl.Transform(random_placement(rng).rotation, np.zeros(3))
    return dl.Connect("first", "second"), turned


def distance(rng):
    away = random_placement(rng)
    return dl.Distance("first", "second", np.linalg.norm(away.translation)), away


LOOPS = {**{kind: closure(kind) for kind in CLOSURES}, "weld": weld, "connect": connect}
LOOPS["distance"] = distance


def looped(kind, seed=3, bodies=9, **options):
    """A random tree with a loop of a kind: the model, and a state that fits it."""
    tree = random_tree(seed, bodies, trees=0.0, **options)
    rng = np.random.default_rng(seed)
    q = tree.random_configuration(rng)
    model = with_loop(tree, q, (bodies - 1, 0), LOOPS[kind], seed)
    v = consistent(dl.Constraints(model), q, rng.standard_normal(model.nv))
    return model, q, v


def coupled(constraint_of, seed=5):
    """Hinges on a floating base with a coupling between them, and a state that fits it."""
    hinges = [lambda rng: dl.Revolute(rng.standard_normal(3))]
    model = random_tree(seed, 6, hinges, trees=0.0)
    names = [joint.name for joint in model.joints]
    model = model.replace(constraints=[constraint_of(names)])
    rng = np.random.default_rng(seed)
    q = close(dl.Constraints(model), rng.standard_normal(model.nq))
    return model, q, consistent(dl.Constraints(model), q, rng.standard_normal(model.nv))


COUPLINGS = {
    "gear": lambda names: dl.Gear(names[1], names[3], -2.5, 0.3),
    "coupling": lambda names: dl.Coupling({names[0]: 1.0, names[2]: 0.5, names[4]: -2.0}, 0.1),
    "polynomial": lambda names: dl.Implicit(
        Polynomial((0.2, -1.5, 0.0, 0.3, 0.1), 0.05), [names[1], names[4]]
    ),
    "implicit": lambda names: dl.Implicit(
        lambda x: [np.sin(x[0]) + x[1] * x[1] - 0.4, x[2] - np.cos(x[1])],
        [names[1], names[2], names[4]],
    ),
}


def ball(mass=2.0, gravity=(0.0, 0.0, -10.0), **more):
    """A free body."""
    builder = dl.ModelBuilder("ball", gravity=gravity)
    builder.add_body("ball", joint=dl.Free(), mass=mass, inertia=np.eye(3) * 0.1, **more)
    return builder.build()


def slider(axis=(0.0, 0.0, 1.0), mass=2.0, **data):
    """A body that slides along an axis."""
    builder = dl.ModelBuilder("slider", gravity=(0.0, 0.0, 0.0))
    joint = dl.Prismatic(axis)
    builder.add_body("slider", joint=joint, mass=mass, inertia=np.eye(3) * 0.1, **data)
    return builder.build()


def moved(poses, twists, time=1.0):
    """Poses after bodies have moved with constant twists."""
    result = np.array(poses)
    result[:, :3] += time * twists[:, :3]
    turned = Rotation.from_rotvec(time * twists[:, 3:]) * Rotation.from_quat(poses[:, 3:])
    result[:, 3:] = turned.as_quat()
    return result

"""Mechanisms with constraints for tests: linkages, loops in random trees, robots in contact."""

from __future__ import annotations

import numpy as np

import delassus as dl
from delassus.model.parts.elements import Frame
from trees import random_tree

# Methods of constrained dynamics that take constraints of all kinds.
ALL_PURPOSE = ("caba", "prox-ltl", "prox-ltls", "dense")

AXIS = [0.0, 1.0, 0.0]  # about which planar linkages turn

# Robots that touch the world: the constraint of each contact, and its frames.
CONTACTS = {
    "solo12": (dl.Connect, ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]),
    "anymal": (dl.Connect, ["LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"]),
    "talos": (dl.Weld, ["left_sole_link", "right_sole_link"]),
    "g1": (dl.Weld, ["left_ankle_roll_link", "right_ankle_roll_link"]),
}
HANDS = ["gripper_left_base_link", "gripper_right_base_link"]
# The ends of the line that a foot of Cassie stands on, in the foot's axes.
HEEL, TOE = [-0.0528, 0.0926, 0.0], [0.0697, -0.0102, 0.0]
# How a leg of Cassie hangs, away from where its linkages lie flat.
CASSIE_LEG = {
    "knee-op": 0.62,
    "knee-shin-joint": -0.23,
    "shin-tarsus-joint": -0.06,
    "tarsus-spring-joint": -0.30,
    "achilles-spring-joint": 0.38,
    "tarsus-crank-joint": 0.20,
    "crank-rod-joint": -0.27,
    "foot-op": -0.30,
}


# --- linkages in a plane --------------------------------------------------------------------------


def rod(builder, name, parent, at, length):
    """A uniform rod along x that turns about y, with a frame at its tip."""
    builder.add_body(
        name, parent, dl.Revolute(AXIS), at,
        mass=length, com=[length / 2, 0.0, 0.0], inertia=np.eye(3) * length**3 / 12,
    )  # fmt: skip
    builder.add_frame(f"{name}_tip", name, [length, 0.0, 0.0])


def four_bar(crank=0.3, coupler=0.8, rocker=0.6, base=0.9, closure=None):
    """Two cranks and a coupler that the closure joins to the second: by a hinge if none is given.

    The closure is made of the names of the two frames that meet.
    """
    builder = dl.ModelBuilder("four-bar")
    rod(builder, "crank", "world", [0.0, 0.0, 0.0], crank)
    rod(builder, "coupler", "crank", [crank, 0.0, 0.0], coupler)
    rod(builder, "rocker", "world", [base, 0.0, 0.0], rocker)
    builder.add_constraint((closure or hinge)("coupler_tip", "rocker_tip"))
    return builder.build()


def hinge(frame, other):
    """Joined by a revolute joint: in a plane, three of five rows say nothing new."""
    return dl.Closure(dl.Revolute(AXIS), frame, other)


def six_bar():
    """Watt's linkage: a four-bar whose coupler drives a second loop."""
    builder = dl.ModelBuilder("six-bar")
    rod(builder, "crank", "world", [0.0, 0.0, 0.0], 0.3)
    rod(builder, "coupler", "crank", [0.3, 0.0, 0.0], 0.8)
    rod(builder, "rocker", "world", [0.9, 0.0, 0.0], 0.6)
    rod(builder, "link", "coupler", [0.4, 0.0, 0.1], 0.7)
    rod(builder, "lever", "world", [1.2, 0.0, 0.3], 0.6)
    builder.add_constraint(hinge("coupler_tip", "rocker_tip"))
    builder.add_constraint(dl.Connect("link_tip", "lever_tip"))
    return builder.build()


# --- loops in random trees ------------------------------------------------------------------------


def carriers(model, body):
    """A body and all that carry it."""
    path = []
    while body >= 0:
        path.append(body)
        body = model.bodies[body].parent
    return path


def random_loops(seed, types=None, bodies=14):
    """A tree, a loop between two of its branches and one along a branch; rows are independent."""
    model = random_tree(seed, bodies, types, trees=0.0)
    frames = range(bodies)  # frame f<i> is on body b<i>, the tree's bodies may be sorted
    index = {k: model.body_index(f"b{k}") for k in frames}
    pairs = [(i, j) for i in frames for j in frames if j < i]
    along = [p for p in pairs if index[p[1]] in carriers(model, index[p[0]])]
    across = [p for p in pairs if p not in along]
    far = max(along, key=lambda p: len(carriers(model, index[p[0]])) - p[1])
    wide = max(across, key=lambda p: sum(len(carriers(model, index[k])) for k in p))
    return dl.Constraints(
        model, [dl.Connect(f"f{wide[0]}", f"f{wide[1]}"), dl.Connect(f"f{far[0]}", f"f{far[1]}")]
    )


# --- robots ---------------------------------------------------------------------------------------


def standing(name, **options):
    """A robot whose feet are fixed to the world."""
    model = dl.robots.load(name)
    kind, frames = CONTACTS[name]
    return dl.Constraints(model, [kind(frame) for frame in frames], **options)


def feet_and_hands():
    """Talos that stands and holds on with both hands."""
    frames = CONTACTS["talos"][1] + HANDS
    return dl.Constraints(dl.robots.load("talos"), [dl.Weld(frame) for frame in frames])


def repeated(constraints, times=2):
    """The same constraints several times over."""
    return dl.Constraints(constraints.model, constraints.declared * times)


def cassie(floating_base=True):
    """Cassie with two loops a leg."""
    return dl.robots.load("cassie_v2", floating_base)


def hanging(model):
    """Cassie's configuration with bent legs, loops closed."""
    q = model.neutral()
    for side in ("left", "right"):
        for joint, angle in CASSIE_LEG.items():
            q[model.joint(f"{side}-{joint}").q] = angle
    return close(dl.Constraints(model), q)


def standing_cassie():
    """Cassie on two lines: four loops, and both ends of each line; two rows are redundant."""
    model = cassie()
    frames, contacts = list(model.frames), []
    for foot in ("left-foot", "right-foot"):
        at = model.frame(foot)
        for end, point in (("heel", HEEL), ("toe", TOE)):
            where = at.placement @ dl.Transform.of(point)
            frames.append(Frame(f"{foot}-{end}", at.body, where))
            contacts.append(dl.Connect(f"{foot}-{end}"))
    model = dl.Model(
        model.name, model.bodies, frames, model.constraints, model.shapes, model.gravity
    )
    return dl.Constraints(model, [*model.constraints, *contacts])


# --- states that fit ------------------------------------------------------------------------------


def close(constraints, q, steps=50):
    """A configuration near q at which nothing is violated: steps of Gauss and Newton."""
    for _ in range(steps):
        error = constraints.position_error(q)
        if np.abs(error).max() < 1e-14:
            break
        step = np.linalg.pinv(constraints.jacobian(q), rcond=1e-8) @ error
        q = constraints.model.integrate(q, -step)
    return q


def mendable_error(constraints, q):
    """The largest position error that motion could take away.

    Axes in files are rounded: those of a plane linkage are not quite parallel, and its loops never
    quite meet across the plane.
    """
    J, error = constraints.jacobian(q), constraints.position_error(q)
    return np.abs(J @ np.linalg.pinv(J, rcond=1e-6) @ error).max()


def consistent(constraints, q, v):
    """The velocity nearest to v, measured by the mass matrix, at which J v = 0."""
    J, L = constraints.jacobian(q), np.linalg.cholesky(dl.mass_matrix(constraints.model, q))
    A = np.linalg.solve(L, J.T).T
    return v - np.linalg.solve(L.T, np.linalg.pinv(A, rcond=1e-8) @ (J @ v))

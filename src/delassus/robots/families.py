"""Mechanisms of any size, to see how the cost of algorithms grows with depth, branches and loops.

From Chignoli, Adrian, Kim, Wensing, A Propagation Perspective on Recursive Forward Dynamics for
Systems with Kinematic Loops, 2023, with b branches of depth d:

| function            | there    | bodies        | independent velocities |
| ------------------- | -------- | ------------- | ---------------------- |
| `rotor_pairs`       | Fig. 8   | 1 + 2 b d     | 6 + b d                |
| `belts`             | Fig. 8   | 1 + 4 b d     | 6 + 2 b d              |
| `four_bars`         | Fig. 8   | 1 + 3 b d     | 6 + b d                |
| `parallel_chains`   | Fig. 10  | 2 d, 2 d + 1  | 2 d - 1                |
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..checks import instance, positive_integer, real_array, shown
from ..errors import ModelError, SettingError, ShapeError
from ..model.builder import ModelBuilder
from ..model.model import Model
from ..model.parts.constraints import Closure, Constraint, Coupling, Gear
from ..model.parts.joints import Revolute
from ..model.parts.names import known_name
from ..spatial.inertia import Inertia
from .limbs import Assembly, Link, Motor, Z

KINDS = ("coupling", "rod")
_CRANK = "_crank_joint"  # how the names of cranks' joints end


def rotor_pairs(branches: int, depth: int) -> Model:
    """Branches of `depth` links on a floating base; each link has a rotor with a gear."""
    robot = _floating("rotor_pairs")
    chain = [_link(f"link{k}") for k in _count("depth", depth)]
    for branch in _count("branches", branches):
        robot.add_limb("base", chain, f"branch{branch}_")
    return robot.build()


def belts(branches: int, depth: int) -> Model:
    """Branches of `depth` pairs of links on a floating base, each pair driven by two belts.

    Both rotors sit on the body that carries the pair. One turns with the angle of the first link,
    the other with the sum of the angles of both.
    """
    robot = _floating("belts")
    chain = []
    for k in _count("depth", depth):
        pair = f"link{k}_1", f"link{k}_2"
        chain += [_link(pair[0]), _link(pair[1], belt=pair)]
    for branch in _count("branches", branches):
        robot.add_limb("base", chain, f"branch{branch}_")
    return robot.build()


def four_bars(branches: int, depth: int) -> Model:
    """Branches of `depth` parallelograms on a floating base, each on the rocker of the one before.

    Cranks are independent, couplers and rockers are not. At the neutral configuration all bars lie
    on one line, where the loops are singular: `assembled` gives one that is not.
    """
    robot = _floating("four_bars")
    numbers = _count("depth", depth)
    for branch in _count("branches", branches):
        ground = "base"
        for k in numbers:
            ground = _add_parallelogram(robot.builder, f"branch{branch}_loop{k}", ground)
    return robot.build()


def assembled(model: Model, cranks: ArrayLike = 1.0) -> np.ndarray:
    """A configuration of a model of `four_bars`, loops closed: crank a, coupler -a, rocker a.

    `cranks` is the angle a of all cranks, or an array of one for each, (..., branches * depth).
    Loops are regular unless a is a multiple of pi.
    """
    joints = instance("model", model, Model).joint_names
    loops = [name.removesuffix(_CRANK) for name in joints if name.endswith(_CRANK)]
    if not loops:
        raise ModelError(f"model {model.name!r} has no parallelograms of four_bars")
    angles = real_array("cranks", cranks)
    if angles.shape[-1:] not in ((), (len(loops),)):
        raise ShapeError(f"cranks must be one angle or {len(loops)}, got {shown(cranks)}")
    angles = np.broadcast_to(angles, (*angles.shape[:-1], len(loops)))
    q = np.broadcast_to(model.neutral(), (*angles.shape[:-1], model.nq)).copy()
    for part, sign in (("crank", 1.0), ("coupler", -1.0), ("rocker", 1.0)):
        for k, loop in enumerate(loops):
            q[..., model.joint(f"{loop}_{part}_joint").q] = sign * angles[..., k : k + 1]
    return q


def parallel_chains(depth: int, loop: int, kind: str = "coupling") -> Model:
    """Two chains of `depth` links on a fixed base, which links number `loop` of both connect.

    With the kind `"coupling"` the first `loop` angles of both chains have the same sum. With
    `"rod"` a rod joins the ends of the two links. Dependent joints are, with a coupling, joint
    `loop` of the second chain; with a rod, its joint 1 and that of the rod.
    """
    numbers = _count("depth", depth)
    if (loop := positive_integer("loop", loop)) not in numbers:
        raise SettingError(f"loop must be at most the depth, {len(numbers)}, got {loop}")
    has_rod = known_name("kind", kind, KINDS) == "rod"
    dependent = f"second_link{1 if has_rod else loop}"
    solid = Inertia.of(0.25, (0.0, 0.5, 0.0), np.diag([0.01, 0.1, 0.01]))
    end = (0.0, 1.0, 0.0)  # of a link, where the next one sits
    b = ModelBuilder("parallel_chains")
    for chain, at in (("first", (0.0, 0.0, 0.0)), ("second", (1.0, 0.0, 0.0))):
        parent = "world"
        for k in numbers:
            name = f"{chain}_link{k}"
            is_free = name != dependent
            b.add_body(name, parent, Revolute(Z), at, inertia=solid, independent=is_free)
            parent, at = name, end
    if has_rod:
        b.add_body("rod", f"first_link{loop}", Revolute(Z), end, inertia=solid, independent=False)
        _close(b, ("rod", (1.0, 0.0, 0.0)), (f"second_link{loop}", end))
    else:
        first, second = (
            [f"{c}_link{k}_joint" for k in numbers[:loop]] for c in ("first", "second")
        )
        b.add_constraint(_equal_sums(second, first))
    return b.build()


def _equal_sums(joints: Sequence[str], others: Sequence[str]) -> Constraint:
    """The angles of two lists of joints have the same sum."""
    if len(joints) == len(others) == 1:
        return Gear(joints[0], others[0], 1.0)
    return Coupling({**dict.fromkeys(joints, 1.0), **dict.fromkeys(others, -1.0)})


def _count(what: str, number: int) -> range:
    """1, 2, ... number"""
    return range(1, positive_integer(what, number) + 1)


def _floating(name: str) -> Assembly:
    """A floating base to which branches are added."""
    robot = Assembly(name, "bodies")
    base = Inertia.of(5.0, (0.0, 0.0, 0.0), 0.1 * np.eye(3))
    robot.add_base("base", base, floating_base=True)
    return robot


def _link(name: str, belt: tuple[str, ...] = ()) -> Link:
    """A link of rotor pairs and belts, with its rotor."""
    at = (1.0, 0.0, 0.0)
    rotor = Inertia.of(0.0, (0.0, 0.0, 0.0), 1e-4 * np.eye(3))
    solid = Inertia.of(1.0, (0.5, 0.0, 0.0), np.eye(3))
    return Link(name, Z, at, solid, Motor(at, rotor, 6.0, belt))


def _add_parallelogram(b: ModelBuilder, name: str, ground: str) -> str:
    """Add crank, coupler and rocker on a ground of 1 m; the name of the rocker."""
    solid = Inertia.of(3.3, (0.0, 0.0, 0.0), np.diag([0.011253, 0.036203, 0.042673]))
    crank, coupler, rocker = f"{name}_crank", f"{name}_coupler", f"{name}_rocker"
    for body, parent, x in ((crank, ground, 0.0), (coupler, crank, 0.5), (rocker, ground, 1.0)):
        is_free = body == crank
        b.add_body(body, parent, Revolute(Z), (x, 0, 0), inertia=solid, independent=is_free)
    _close(b, (coupler, (1.0, 0.0, 0.0)), (rocker, (0.5, 0.0, 0.0)))
    return rocker


def _close(b: ModelBuilder, *ends: tuple[str, Sequence[float]]) -> None:
    """Join two bodies by a revolute joint at a point of each."""
    for body, point in ends:
        b.add_frame(f"{body}_end", body, point)
    frames = [f"{body}_end" for body, _ in ends]
    b.add_constraint(Closure(Revolute(Z), *frames))

"""A world as kernels read it: bodies, the order of their elimination, what collides and drives."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from ...compile import Tabulated, function
from ...contact.operators.bodies import BLOCK
from ...contact.operators.elements import CONE, JOINT, PAIR, joint_records
from ...contact.operators.order import COLUMN, INDEX, PLACE, TARGET, find_order
from ...contact.operators.structure import extents
from ...dynamics.actuation.packed import actuator_type
from ...maximal.structure.packed import SIDE, SystemArrays
from ...maximal.system import MaximalSystem
from ..actuation.drives import Drives
from ..collision.geometry import GEOMETRY_FIELDS, Geometry, GeometryArrays
from ..collision.outside import OUTSIDE
from ..collision.pairs import pair_type
from ..collision.shapes import shape_type
from .state import state_sizes

_MOST_FRONT = 6  # bodies that cone rows can touch, above which these are solved for by rows
OPERATOR_FIELDS = (
    *("places", "columns", "inner_rows", "updates", "order", "held", "springs", "pairs"),
)


class WorldArrays(
    namedtuple(
        "WorldArrays",
        (*SystemArrays._fields, *OPERATOR_FIELDS, *GEOMETRY_FIELDS, *Drives._fields),
    )
):
    """The arrays of a system, of the operator over its bodies, and of its shapes.

    `held` are the elements of joint rows, `springs` one for each degree of freedom: see
    `contact.operators.elements`.
    """

    __slots__ = ()
    dimensions = (
        *("nq", "nv", "n_bodies", "n_joints", "n_rows", "n_blocks", "n_slots", "n_limits"),
        *("n_state", "n_trace", "n_controls", "n_switches", "n_sensed", "n_outside"),
    )

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        own = (PLACE, COLUMN, INDEX, TARGET, INDEX, JOINT, JOINT, PAIR)
        geometry = (shape_type(real), pair_type(real), real)
        drives = (actuator_type(real), INDEX, real, real, real)
        return (*SystemArrays.array_types(real), *own, *geometry, *drives)

    @classmethod
    def takes(cls, world) -> bool:
        """Whether these arrays can be packed from an object."""
        return isinstance(world, World)

    @classmethod
    def pack(cls, world, real: np.dtype) -> WorldArrays:
        """The arrays of a world in one precision."""
        geometry = GeometryArrays.pack(world.geometry, real)
        own = (
            *world.order,
            world.held,
            world.springs,
            world.pairs,
            geometry.shapes,
            geometry.candidates,
            geometry.vertices,
            *world.drives._replace(lift=world.drives.lift.ravel()),
        )
        return cls(*SystemArrays.pack(world.system, real), *own)


class Bodies(NamedTuple):
    """The arrays of a world as the operator over bodies reads them."""

    places: Any
    columns: Any
    rows: Any
    updates: Any
    bodies: Any
    joints: Any
    pairs: Any


@function
def bodies_of(model):
    """A world's arrays as the operator over bodies reads them."""
    return Bodies(
        model.places,
        model.columns,
        model.inner_rows,
        model.updates,
        model.order,
        model.held,
        model.pairs,
    )


class World(Tabulated):
    """A system of bodies with what collides, ready to be simulated.

    `is_by_rows` is in which form cone rows are solved for: see `solution`. By bodies, if these are
    few, or lie about without joints; else by rows, as not all joints of a robot are at a limit, and
    not all of its bodies touch something. Solvers that sweep over rows have them `by_rows` always.
    """

    def __init__(
        self, system: MaximalSystem, geometry: Geometry, drives: Drives, by_rows: bool = False
    ):
        super().__init__()
        self.system, self.geometry, self.drives = system, geometry, drives
        joints = [(j.rows, (j.base, j.follower)) for j in system.joints]
        joints += [(c.rows, tuple(c.bodies(system.joints))) for c in system.couplings]
        free = [(1, (j.base, j.follower)) for j in system.joints for _ in range(j.nv)]
        touched = [tuple(b - 1 for b in bodies if b > 0) for _, bodies in joints]
        front = self._front()
        self.is_by_rows = by_rows or (len(front) > _MOST_FRONT and bool(joints))
        touched = [t for t in touched if t]
        self.order = find_order(system.n_bodies, touched, () if self.is_by_rows else front)
        self.held, pairs = _elements(self.order, joints)
        self.springs, more = _elements(self.order, free, len(pairs))
        self.pairs = np.concatenate([pairs, more])
        slots = system.contact_slots + len(system.limits) + len(system.bounded)
        own = extents(self.order, self.held, slots)
        dimensions = {**system.dimensions, **own, "n_bounded": len(system.bounded)}
        cone_rows = len(system.limits) + len(system.bounded) + 3 * system.contact_slots
        dimensions |= {"joint_rows": system.n_joint_rows, "cone_rows": max(cone_rows, 1)}
        dimensions["dense_rows"] = dimensions["cone_rows"] if self.is_by_rows else 0
        dimensions |= {"cone_table": CONE.size * slots, "cone_blocks": BLOCK * slots}
        dimensions["n_state"] = sum(state_sizes(dimensions))
        dimensions["n_shapes"] = len(self.geometry.shapes)
        rows = system.contact_slots if geometry.outside else 0
        dimensions["n_outside"] = 1 + OUTSIDE.size * rows
        dimensions["n_trace"] = system.nq + system.nv
        dimensions["n_controls"] = len(drives.actuators)
        dimensions["n_switches"] = len(system.joints) - system.n_bodies + len(system.couplings)
        felt = 6 * len(system.joints) + len(drives.actuators) + system.nv
        dimensions["n_sensed"] = felt
        self.dimensions = dimensions

    def _front(self) -> set[int]:
        """Bodies that cone rows can touch."""
        system = self.system
        found = {body - 1 for body in self.geometry.bodies()}
        limited = {limit.joint for limit in system.limits}
        rubbing = [
            j for j in system.joints for k in range(j.v, j.v + j.nv) if k in set(system.bounded)
        ]
        for joint in [system.joints[j] for j in limited] + rubbing:
            found |= {joint.base - 1, joint.follower - 1}
        return {body for body in found if body >= 0}

    def start(self, poses: np.ndarray, twists: np.ndarray, q: np.ndarray) -> np.ndarray:
        """The state with these poses, twists and coordinates, and no reactions."""
        state = np.zeros(self.dimensions["n_state"])
        n = self.system.n_bodies
        state[: 7 * n] = poses.ravel()
        state[7 * n : 13 * n] = state[13 * n : 19 * n] = twists.ravel()
        state[19 * n : 19 * n + self.system.nq] = q
        return state


def _elements(order, given: list[tuple], first_pair: int = 0) -> tuple:
    """JOINT and PAIR records of elements whose blocks stand as `maximal.structure` has them.

    The world, body 0, has a block too, which is passed over; elements that touch nothing else have
    no height.
    """
    bodies = [tuple(b - 1 for b in touched if b > 0) for _, touched in given]
    heights = [height if own else 0 for (height, _), own in zip(given, bodies, strict=True)]
    records, pairs = joint_records(order, bodies, heights)
    at = row = 0
    for record, (height, touched) in zip(records, given, strict=True):
        skipped = next((k for k, b in enumerate(touched) if b > 0), 0)
        record["jacobian"], record["row"] = at + SIDE * height * skipped, row
        at, row = at + SIDE * height * len(touched), row + height
        record["pair"] += first_pair
        record["pair_end"] += first_pair
    return records, pairs

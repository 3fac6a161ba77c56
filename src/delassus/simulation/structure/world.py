"""A world as kernels read it: bodies, the order of their elimination, what collides and drives."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

from ...compile import Tabulated, function
from ...contact.operators.bodies import BLOCK
from ...contact.operators.elements import CONE, JOINT, PAIR
from ...contact.operators.order import COLUMN, INDEX, PLACE, TARGET, find_order
from ...contact.operators.structure import extents
from ...dynamics.actuation.packed import actuator_type
from ...maximal.structure.packed import SystemArrays
from ...maximal.system import MaximalSystem
from ..actuation.drives import Drives
from ..collision.geometry import GEOMETRY_FIELDS, Geometry, GeometryArrays
from ..collision.outside import OUTSIDE
from ..collision.pairs import pair_type
from ..collision.shapes import shape_type
from .elements import ISLAND, cone_bodies, elements, islands, joint_elements
from .grouping import GROUP_TYPES, NO_EXTENTS, NO_GROUPS, Groups, Tree, group
from .state import state_sizes

OPERATOR_FIELDS = (
    *("places", "columns", "inner_rows", "updates", "order", "held", "springs", "pairs", "islands"),
    *Groups._fields,
)


class WorldArrays(
    namedtuple(
        "WorldArrays",
        (*SystemArrays._fields, *OPERATOR_FIELDS, *GEOMETRY_FIELDS, *Drives._fields),
    )
):
    """The arrays of a system, of the operator over its bodies, and of its shapes.

    `held` are the elements of joint rows, `springs` one for each degree of freedom: see
    `contact.operators.elements`. `islands` are those of bodies: see `elements.ISLAND`. `roots` are
    the first bodies of trees, `loops` the elements of rows that are not of the tree over groups of
    degrees of freedom: see `grouping.Groups`.
    """

    __slots__ = ()
    dimensions = (
        *("nq", "nv", "n_bodies", "n_joints", "n_rows", "n_blocks", "n_slots", "n_limits"),
        *("n_state", "n_trace", "n_controls", "n_switches", "n_sensed", "n_outside"),
    )

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        own = (PLACE, COLUMN, INDEX, TARGET, INDEX, JOINT, JOINT, PAIR, ISLAND)
        geometry = (shape_type(real), pair_type(real), real)
        drives = (actuator_type(real), INDEX, real, real, real)
        return (*SystemArrays.array_types(real), *own, *GROUP_TYPES, *geometry, *drives)

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
            islands(world.system),
            *world.groups,
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


@function
def groups_of(model):
    """A world's arrays as the operator over bodies reads them, with groups in their place."""
    return Bodies(
        model.group_places,
        model.group_columns,
        model.group_rows,
        model.group_updates,
        model.group_order,
        model.loops,
        model.loop_pairs,
    )


class World(Tabulated):
    """A system of bodies with what collides, ready to be simulated.

    `form` is in which form a step is solved, one of FORMS: see `solution` and `choose_form`.
    """

    def __init__(self, system: MaximalSystem, geometry: Geometry, drives: Drives, form: str):
        super().__init__()
        self.system, self.geometry, self.drives = system, geometry, drives
        self.form = form
        joints = joint_elements(system)
        free = [(1, (j.base, j.follower)) for j in system.joints for _ in range(j.nv)]
        touched = [tuple(b - 1 for b in bodies if b > 0) for _, bodies in joints]
        touched = [t for t in touched if t]
        n = system.n_bodies
        has_groups = form in ("joints", "joint_rows")
        if has_groups:
            self.order = find_order(n, (), range(n))
        else:
            front = cone_bodies(system, geometry) if form == "bodies" else ()
            self.order = find_order(n, touched, front)
        self.held, pairs = elements(self.order, joints)
        self.springs, more = elements(self.order, free, len(pairs))
        self.pairs = np.concatenate([pairs, more])
        slots = system.contact_slots + len(system.limits) + len(system.bounded)
        if has_groups:
            self.groups, own = group(Tree(system, geometry, form == "joints"), slots)
        else:
            self.groups, own = NO_GROUPS, extents(self.order, self.held, slots) | NO_EXTENTS
        dimensions = {**own, **system.dimensions, "n_bounded": len(system.bounded)}
        cone_rows = len(system.limits) + len(system.bounded) + 3 * system.contact_slots
        dimensions |= {"joint_rows": system.n_joint_rows, "cone_rows": max(cone_rows, 1)}
        dimensions["dense_rows"] = dimensions["cone_rows"] if "rows" in form else 0
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

    def start(self, poses: np.ndarray, twists: np.ndarray, q: np.ndarray) -> np.ndarray:
        """The state with these poses, twists and coordinates, and no reactions."""
        state = np.zeros(self.dimensions["n_state"])
        n = self.system.n_bodies
        state[: 7 * n] = poses.ravel()
        state[7 * n : 13 * n] = state[13 * n : 19 * n] = twists.ravel()
        state[19 * n : 19 * n + self.system.nq] = q
        return state

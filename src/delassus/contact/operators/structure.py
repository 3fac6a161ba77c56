"""Bodies, joints and cones: as a user gives them, checked, and as kernels read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...checks import real_array
from ...compile import Tabulated
from ...errors import DataTypeError, ModelError, ShapeError
from .bodies import BLOCK, MOST_CONE_ROWS
from .elements import CONE, JOINT, MOST_BODIES, MOST_CONE_BODIES, PAIR, joint_records
from .order import COLUMN, INDEX, PLACE, TARGET, Order

MOST_JACOBIAN = 6 * MOST_CONE_ROWS * MOST_CONE_BODIES  # numbers of the largest Jacobian of a cone
Given = tuple[Sequence[int], ArrayLike]  # bodies of an element, and its Jacobian for each of them


# --- what a user gives ---------------------------------------------------------------------------


class Rows(NamedTuple):
    """An element of rows: the bodies that it touches, and its Jacobian, (bodies, rows, 6)."""

    bodies: tuple[int, ...]
    jacobian: np.ndarray

    @property
    def height(self) -> int:
        """The number of rows."""
        return self.jacobian.shape[1]


def row_vector(what: str, given: ArrayLike, size: int) -> np.ndarray:
    """A number for each of `size` rows."""
    x = real_array(what, given)
    if x.shape != (size,):
        raise ShapeError(f"{what} must have shape ({size},), got {x.shape}")
    return x


def body_inertias(given: ArrayLike) -> np.ndarray:
    """Symmetric inertias, (bodies, 6, 6)."""
    inertias = real_array("inertias", given)
    if inertias.ndim != 3 or inertias.shape[1:] != (6, 6):
        raise ShapeError(f"inertias must have shape (bodies, 6, 6), got {inertias.shape}")
    if not np.isfinite(inertias).all():
        raise ModelError("inertias must be finite")
    if not np.allclose(inertias, inertias.swapaxes(1, 2), rtol=1e-9, atol=0.0):
        raise ModelError("inertias must be symmetric")
    return inertias


def row_elements(kind: str, given: Iterable[Given], n_bodies: int, most_rows: int) -> list[Rows]:
    """Elements without the world, checked."""
    found = []
    most_bodies = MOST_CONE_BODIES if most_rows == MOST_CONE_ROWS else MOST_BODIES
    for k, item in enumerate(given):
        what = f"{kind} {k}"
        try:
            bodies, jacobian = item
            bodies = [int(body) for body in bodies]
        except (TypeError, ValueError):
            raise DataTypeError(f"{what} must be a pair of bodies and of a Jacobian") from None
        jacobian = real_array(f"the Jacobian of {what}", jacobian)
        if jacobian.ndim != 3 or jacobian.shape[::2] != (len(bodies), 6):
            shape = f"({len(bodies)}, rows, 6)"
            raise ShapeError(
                f"the Jacobian of {what} must have shape {shape}, got {jacobian.shape}"
            )
        if not 1 <= jacobian.shape[1] <= most_rows:
            raise ShapeError(f"{what} must have 1 to {most_rows} rows, got {jacobian.shape[1]}")
        kept = [e for e, body in enumerate(bodies) if body >= 0]
        touched = tuple(bodies[e] for e in kept)
        if not 1 <= len(touched) <= most_bodies or len(set(touched)) < len(touched):
            raise ModelError(f"{what} must touch 1 to {most_bodies} bodies once, got {bodies}")
        if max(touched) >= n_bodies:
            raise ModelError(f"{what} touches body {max(touched)}, but there are {n_bodies} bodies")
        found.append(Rows(touched, jacobian[kept]))
    return found


# --- what kernels read ---------------------------------------------------------------------------


class BodiesArrays(NamedTuple):
    """The arrays of a system of bodies that kernels read: its order, and its joints."""

    places: np.ndarray
    columns: np.ndarray
    rows: np.ndarray
    updates: np.ndarray
    bodies: np.ndarray
    joints: np.ndarray
    pairs: np.ndarray

    dimensions = (
        *("n_bodies", "n_front", "matrix", "prepared", "penalised", "inertia_numbers"),
        *("joint_rows", "joint_numbers", "joint_diagonal"),
        *("cone_slots", "cone_rows", "cone_numbers", "cone_blocks"),
    )

    @classmethod
    def array_types(cls, real: np.dtype) -> tuple[np.dtype, ...]:
        """The element type of each array."""
        return PLACE, COLUMN, INDEX, TARGET, INDEX, JOINT, PAIR

    @classmethod
    def pack(cls, system, real: np.dtype) -> BodiesArrays:
        """The arrays of a system."""
        return cls(*system.order, system.joint_records, system.pairs)


def extents(order: Order, joints: np.ndarray, cone_slots: int) -> dict[str, int]:
    """Extents of arrays and of work memory, for joints by their records and slots for cones."""
    heights = joints["height"].astype(int)
    front = (6 * order.n_front) ** 2
    return {
        "n_bodies": len(order.bodies),
        "n_front": order.n_front,
        "matrix": order.matrix_size,
        "prepared": order.matrix_size + front,
        "penalised": front,
        "inertia_numbers": 36 * len(order.bodies),
        "joint_rows": int(heights.sum()),
        "joint_numbers": int((6 * heights * joints["count"]).sum()),
        "joint_diagonal": int((heights**2).sum()),
        "cone_slots": cone_slots,
        "cone_rows": MOST_CONE_ROWS * cone_slots,
        "cone_numbers": 2 + (CONE.size + MOST_JACOBIAN) * cone_slots,
        "cone_blocks": BLOCK * cone_slots,
    }


class BodySystem(Tabulated):
    """The structure of bodies and joints as kernels read it, with slots for cones."""

    def __init__(
        self, order: Order, bodies: Sequence[Sequence[int]], heights: Sequence[int], slots: int
    ):
        super().__init__()
        self.order, self.slots = order, slots
        self.joint_records, self.pairs = joint_records(order, bodies, heights)
        self.dimensions = extents(order, self.joint_records, slots)

    def cone_numbers(self, cones: Sequence[Rows]) -> np.ndarray:
        """Number of cones, number of slots, their CONEs and Jacobians, for kernels."""
        table = np.zeros((self.slots, CONE.size))
        C, row, at = np.zeros(self.slots * MOST_JACOBIAN), 0, 0
        for k, cone in enumerate(cones):
            position = self.order.places["position"][list(cone.bodies)] - self.order.n_inside
            table[k, : CONE.places] = row, cone.height, len(cone.bodies), at
            table[k, CONE.places : CONE.places + len(cone.bodies)] = 6 * position
            C[at : at + cone.jacobian.size] = cone.jacobian.ravel()
            row, at = row + cone.height, at + cone.jacobian.size
        return np.concatenate([[len(cones), self.slots], table.ravel(), C])

"""The structure of bodies, joints and slots for cones, as kernels read it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...compile import Tabulated
from .arguments import Rows
from .bodies import BLOCK, MOST_CONE_ROWS
from .elements import CONE, JOINT, MOST_BODIES, PAIR, joint_records
from .order import COLUMN, INDEX, PLACE, TARGET, Order

MOST_JACOBIAN = 6 * MOST_CONE_ROWS * MOST_BODIES  # numbers of the largest Jacobian of a cone


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

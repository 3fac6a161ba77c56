"""The inertia of a rigid body, on the side of model building."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..checks import finite_number, instance, real_array
from ..errors import ModelError
from .constant import ConstantArrays, make_constant
from .transform import Transform

# Rounding in files may break the triangle inequality of moments by this much of the trace.
_TRIANGLE_TOLERANCE = 1e-3


@dataclass(frozen=True, eq=False)
class Inertia(ConstantArrays):
    """Mass, centre of mass, and rotational inertia about the centre of mass."""

    mass: float = 0.0
    center: np.ndarray = field(default_factory=lambda: np.zeros(3))
    matrix: np.ndarray = field(default_factory=lambda: np.zeros((3, 3)))

    if TYPE_CHECKING:  # lists are taken

        def __init__(
            self, mass: float = 0.0, center: ArrayLike = ..., matrix: ArrayLike = ...
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", finite_number("mass", self.mass, ModelError))
        make_constant(self, center=(3,), matrix=(3, 3))

    @staticmethod
    def of(
        mass: float = 0.0, center: ArrayLike = (0, 0, 0), matrix: ArrayLike | None = None
    ) -> Inertia:
        """Checked: finite, no negative mass, a symmetric matrix that a body can have.

        The matrix is 3x3 or the six numbers xx, xy, xz, yy, yz, zz. A mass of zero with a
        rotational inertia is legal: rotors are often given so.
        """
        center = real_array("the centre of mass", center, ModelError)
        full = np.zeros((3, 3)) if matrix is None else real_array("inertia", matrix, ModelError)
        if full.shape == (6,):
            xx, xy, xz, yy, yz, zz = full
            full = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        if center.shape != (3,) or full.shape != (3, 3):
            raise ModelError(
                "an inertia needs a centre of 3 numbers and a matrix of 3x3 or 6 numbers, got "
                f"shapes {center.shape} and {full.shape}"
            )
        result = Inertia(mass, center, full / 2.0 + full.T / 2.0)
        if result.mass < 0.0:
            raise ModelError(f"the mass is negative ({result.mass:g})")
        scale = max(np.abs(full).max(), 1e-300)
        if np.abs(full / 2.0 - full.T / 2.0).max() > 0.5e-6 * scale:
            raise ModelError("the inertia matrix is not symmetric")
        moments = np.linalg.eigvalsh(result.matrix)
        if moments[0] < -_TRIANGLE_TOLERANCE * scale:
            raise ModelError(
                f"the inertia matrix is not positive: its principal moments are {_list(moments)}"
            )
        return result

    def is_physical(self) -> bool:
        """Whether no principal moment exceeds the sum of the other two."""
        moments = np.linalg.eigvalsh(self.matrix)
        return bool(moments[2] <= moments[0] + moments[1] + _TRIANGLE_TOLERANCE * moments.sum())

    def moved(self, placement: Transform) -> Inertia:
        """The inertia of the body in a frame in which its own sits at `placement`."""
        R = instance("placement", placement, Transform).rotation
        return Inertia(self.mass, R @ self.center + placement.translation, R @ self.matrix @ R.T)

    def __add__(self, other: Inertia) -> Inertia:
        mass = self.mass + instance("the right side of +", other, Inertia).mass
        if mass == 0.0:
            return Inertia(0.0, self.center, self.matrix + other.matrix)
        center = (self.mass * self.center + other.mass * other.center) / mass
        matrix = self.matrix + other.matrix
        for part in (self, other):
            matrix = matrix + part.mass * _point_inertia(part.center - center)
        return Inertia(mass, center, matrix)

    def about_origin(self) -> np.ndarray:
        """The rotational inertia about the origin of the frame."""
        return self.matrix + self.mass * _point_inertia(self.center)


def _point_inertia(x: np.ndarray) -> np.ndarray:
    return x @ x * np.eye(3) - np.outer(x, x)


def _list(numbers) -> str:
    return ", ".join(f"{x:.3g}" for x in numbers)

"""Rigid placements, on the side of model building: plain NumPy, checked input."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..checks import finite_vector, instance, not_negative, real_array
from ..errors import ModelError
from .constant import ConstantArrays, make_constant, unit_vector

_ORTHOGONALITY = 1e-6


@dataclass(frozen=True, eq=False)
class Transform(ConstantArrays):
    """Placement of one frame in another: x_outer = rotation x_inner + translation."""

    rotation: np.ndarray = field(default_factory=lambda: np.eye(3))
    translation: np.ndarray = field(default_factory=lambda: np.zeros(3))

    if TYPE_CHECKING:  # lists are taken

        def __init__(self, rotation: ArrayLike = ..., translation: ArrayLike = ...) -> None: ...

    def __post_init__(self) -> None:
        make_constant(self, rotation=(3, 3), translation=(3,))

    def __matmul__(self, other: Transform) -> Transform:
        instance("the right side of @", other, Transform)
        return Transform(
            self.rotation @ other.rotation, self.rotation @ other.translation + self.translation
        )

    def inverse(self) -> Transform:
        """Placement of the outer frame in the inner one."""
        return Transform(self.rotation.T, -self.rotation.T @ self.translation)

    def matrix(self) -> np.ndarray:
        """The homogeneous 4x4 matrix."""
        result = np.eye(4)
        result[:3, :3] = self.rotation
        result[:3, 3] = self.translation
        return result

    def is_close(self, other: Transform, tolerance: float = 1e-9) -> bool:
        """Whether two placements agree entry by entry."""
        instance("the other placement", other, Transform)
        tolerance = not_negative("tolerance", tolerance)
        return bool(np.allclose(self.matrix(), other.matrix(), rtol=0.0, atol=tolerance))

    @staticmethod
    def from_rpy(xyz: ArrayLike = (0, 0, 0), rpy: ArrayLike = (0, 0, 0)) -> Transform:
        """From a position and fixed-axis roll, pitch, yaw, as in URDF and SDF."""
        angles = finite_vector("rpy", rpy, 3, ModelError)
        return Transform(rotation_from_rpy(*angles), finite_vector("xyz", xyz, 3, ModelError))

    @staticmethod
    def of(value: PlacementLike) -> Transform:
        """From a Transform, None, a 4x4 matrix, a translation, or (rotation, translation)."""
        if value is None:
            return Transform()
        if isinstance(value, Transform):
            rotation, translation = value.rotation, value.translation
        elif isinstance(value, tuple) and len(value) == 2:
            rotation, translation = (real_array("a placement", x, ModelError) for x in value)
        else:
            array = real_array("a placement", value, ModelError)
            if array.shape == (3,):
                rotation, translation = np.eye(3), array
            elif array.shape == (4, 4):
                rotation, translation = array[:3, :3], array[:3, 3]
            else:
                raise ModelError(
                    "a placement is a Transform, a 4x4 matrix, a translation of 3 numbers or a "
                    f"pair (rotation, translation); got an array of shape {array.shape}"
                )
        if rotation.shape != (3, 3) or translation.shape != (3,):
            raise ModelError(
                "a placement needs a 3x3 rotation and 3 numbers of translation, got shapes "
                f"{rotation.shape} and {translation.shape}"
            )
        result = Transform(rotation, translation)
        with np.errstate(over="ignore", invalid="ignore"):
            off = np.abs(rotation @ rotation.T - np.eye(3)).max()
        if not off <= _ORTHOGONALITY or np.linalg.det(rotation) < 0:
            raise ModelError(f"the rotation of a placement is not a rotation (off by {off:.2g})")
        return result


# What a placement can be given as (see `Transform.of`).
PlacementLike: TypeAlias = Transform | ArrayLike | tuple[ArrayLike, ArrayLike] | None


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Rotation by roll about x, then pitch about y, then yaw about z, all fixed axes."""
    (sr, sp, sy), (cr, cp, cy) = np.sin((roll, pitch, yaw)), np.cos((roll, pitch, yaw))
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rotation_from_quaternion(x: float, y: float, z: float, w: float) -> np.ndarray:
    """Rotation of a quaternion that need not be of unit length, but not zero."""
    x, y, z, w = unit_vector("a quaternion", (x, y, z, w), 4)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def rotation_to_quaternion(R: np.ndarray) -> np.ndarray:
    """The quaternion (x, y, z, w) of a rotation, w not negative."""
    # The largest of four equivalent formulas is the accurate one.
    t = np.array([R[0, 0], R[1, 1], R[2, 2], np.trace(R)])
    k = int(np.argmax(t))
    if k == 3:
        q = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], 1 + t[3]])
    else:
        i, j, m = k, (k + 1) % 3, (k + 2) % 3
        q = np.empty(4)
        q[i] = 1 + R[i, i] - R[j, j] - R[m, m]
        q[j] = R[j, i] + R[i, j]
        q[m] = R[m, i] + R[i, m]
        q[3] = R[m, j] - R[j, m]
    q /= np.linalg.norm(q)
    return -q if q[3] < 0 else q


def rotation_to_axis(axis: np.ndarray) -> np.ndarray:
    """The shortest rotation that turns z to a unit axis; about x if the axis is -z."""
    x, y, c = axis
    if c >= 0.0:
        w = skew(np.array([-y, x, 0.0]))
        return np.eye(3) + w + w @ w / (1.0 + c)
    # The same, but near -z the difference 1 + c would have no digits: it is (x^2 + y^2) / (1 - c).
    length = np.hypot(x, y)
    if length == 0.0:
        return np.diag([1.0, -1.0, -1.0])
    u = np.array([x, y]) / length
    upper = np.eye(2) - (1.0 - c) * np.outer(u, u)
    return np.block([[upper, np.array([[x], [y]])], [np.array([-x, -y, c])]])


def skew(x: np.ndarray) -> np.ndarray:
    """The matrix of the cross product with x."""
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])

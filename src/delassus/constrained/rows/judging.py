"""How far rows and equations of motion are from holding, from dense matrices.

The definition is that of `request.measured` and of the methods' kernels; here it is in NumPy, for
methods that are not kernels.
"""

from __future__ import annotations

import numpy as np

from .request import CANCELS, ROW_FLOOR
from .scales import RowScales


def row_error(scales: RowScales, J, a, target, multipliers, stays=None) -> np.ndarray:
    """What rows of J a = target miss: INFO.rows.

    `stays` is the part of J a - target that is said to stay as rows contradict each other. It is
    left out if forces along it have no effect on any joint.
    """
    rounding = np.finfo(np.float64).eps
    r = np.einsum("...rk,...k->...r", J, a) - target
    sizes = np.abs(target) + np.einsum("...rk,...k->...r", np.abs(J), np.abs(a))
    floors = ROW_FLOOR * rounding * (sizes + scales.weight)
    sizes = sizes + scales.diagonal * np.abs(multipliers)
    units = np.minimum(sizes, scales.lengths)
    units = np.where(units == 0.0, 1.0, units)  # NaN stays NaN
    missed = np.linalg.norm(np.maximum(np.abs(r) - floors, 0.0) / units, axis=-1)
    if stays is None:
        return missed
    length = np.linalg.norm(r / scales.lengths, axis=-1, keepdims=True)
    floors = floors + 4.0 * np.sqrt(rounding) * length * scales.lengths
    pulls, least = J * r[..., None], J * (floors / CANCELS)[..., None]
    terms = np.sum(pulls**2 + least**2, axis=-2)
    effect = np.sum(pulls, axis=-2) ** 2 / np.where(terms > 0.0, terms, 1.0)
    is_contrary = np.sum(effect, axis=-1) < CANCELS**2
    other = np.maximum(np.abs(r - stays) - floors, 0.0) / units
    return np.where(is_contrary, np.linalg.norm(other, axis=-1), missed)


def motion_error(missing, *terms) -> np.ndarray:
    """What is missing at joints, each relative to the forces that meet there: INFO.motion."""
    sizes = np.linalg.norm(np.concatenate(terms, axis=-1), axis=-1)
    return np.linalg.norm(missing / np.where(sizes == 0.0, 1.0, sizes), axis=-1)

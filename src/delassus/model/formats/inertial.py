"""Inertias as files give them, which no rigid body may have."""

from __future__ import annotations

import numpy as np

from ...errors import ModelError
from ...spatial.inertia import Inertia
from .report import Report

_NOISE = 1e-12  # kg m^2: entries below are rounding, not data


def judged_inertia(
    link: str, mass: float, center: np.ndarray, matrix: np.ndarray, report: Report
) -> Inertia:
    """The inertia of a link; what is plainly wrong raises, what is merely unphysical is remarked.

    Published robots hold matrices with wrong products of inertia, which are not positive. They
    load, with a warning. A negative moment, or a product beyond the sum of all moments, does not.
    """
    if mass < 0.0:
        raise ModelError(f"the mass is negative ({mass:g})")
    moments, products = np.diag(matrix), matrix[np.triu_indices(3, 1)]
    if moments.min() < -_NOISE:
        raise ModelError(f"a moment of inertia is negative ({moments.min():g})")
    largest = np.abs(products).max()
    if largest > moments.sum() + _NOISE:
        raise ModelError(
            f"the inertia matrix is not positive: a product of inertia ({largest:g}) exceeds the "
            f"sum of the moments ({moments.sum():g})"
        )
    inertia = Inertia(mass, center, matrix)
    principal = np.linalg.eigvalsh(matrix)
    if principal[0] < -_NOISE - 1e-6 * principal[2]:
        report.remark("inertia matrices that are not positive", link)
    elif principal[2] > _NOISE and not inertia.is_physical():
        report.remark("inertias that no rigid body can have (triangle inequality)", link)
    return inertia

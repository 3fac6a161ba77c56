"""What a user gives to an operator over bodies: inertias, elements of rows, vectors; checked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...checks import real_array
from ...errors import DataTypeError, ModelError, ShapeError
from .elements import MOST_BODIES

Given = tuple[Sequence[int], ArrayLike]  # bodies of an element, and its Jacobian for each of them


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
        if not 1 <= len(touched) <= MOST_BODIES or len(set(touched)) < len(touched):
            raise ModelError(f"{what} must touch 1 to {MOST_BODIES} bodies once, got {bodies}")
        if max(touched) >= n_bodies:
            raise ModelError(f"{what} touches body {max(touched)}, but there are {n_bodies} bodies")
        found.append(Rows(touched, jacobian[kept]))
    return found

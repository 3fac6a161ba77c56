"""Limits of joint coordinates, and degrees of freedom with dry friction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import ModelError
from ...model.model import Model


class Limit(NamedTuple):
    """A coordinate with limits: its joint, its number in the joint, its index in q."""

    joint: int
    coordinate: int
    q: int
    lower: float
    upper: float


def find_limits(model: Model) -> list[Limit]:
    """All coordinates of a model that have a limit on either side."""
    found = []
    for j, joint in enumerate(model.joints):
        lower, upper = joint.data.lower, joint.data.upper
        for k in np.flatnonzero(np.isfinite(lower) | np.isfinite(upper)):
            quaternion = joint.type.quaternion
            if quaternion is not None and k >= quaternion:
                raise ModelError(
                    f"joint {joint.name!r}: a component of a quaternion cannot have limits"
                )
            place = joint.q.start + int(k)
            found.append(Limit(j, int(k), place, float(lower[k]), float(upper[k])))
    return found


def find_bounded(model: Model) -> list[int]:
    """Degrees of freedom with dry friction."""
    friction = [f for joint in model.joints for f in joint.data.friction]
    return [k for k, f in enumerate(friction) if f > 0.0]

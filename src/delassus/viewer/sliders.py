"""Joints that a person moves by sliders: within their limits, and with loops closed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..constrained.rows.constraints import Constraints
from ..constrained.tasks.loops import close_loops
from ..errors import ConvergenceError
from ..model.model import Model
from ..model.parts.elements import Joint


class Slider(NamedTuple):
    """A coordinate of a joint that can be set, and its range."""

    label: str
    joint: str
    q: int
    lower: float
    upper: float


class Pose:
    """A configuration of a model that keeps its loops closed when a coordinate is set."""

    def __init__(self, model: Model, q: ArrayLike):
        self.model = model
        self.constraints = Constraints(model) if model.constraints else None
        self.q = np.array(q, float)

    def sliders(self) -> list[Slider]:
        """Coordinates of all joints that are not declared dependent, without quaternions."""
        found = []
        for joint in self.model.joints:
            if joint.nq != joint.nv or joint.independent is False:
                continue
            for k in range(joint.nq):
                found.append(_slider(joint, k))
        return found

    def set(self, slider: Slider, value: float) -> bool:
        """Move a coordinate; loops close by the joints that have no slider.

        Where they cannot, nothing changes, and the answer is False.
        """
        wanted = self.q.copy()
        wanted[slider.q] = float(np.clip(value, slider.lower, slider.upper))
        if self.constraints is not None:
            held = [j.name for j in self.model.joints if j.independent]
            fixed = held if slider.joint in held else [slider.joint]
            try:
                wanted = np.asarray(
                    close_loops(self.model, wanted, self.constraints, fixed=fixed, tolerance=1e-8)
                )
            except ConvergenceError:
                return False
            if not self._is_within_limits(wanted):
                return False
        self.q = wanted
        return True

    def _is_within_limits(self, q: np.ndarray) -> bool:
        slack = 1e-9
        return all(
            (q[j.q] >= j.data.lower - slack).all() and (q[j.q] <= j.data.upper + slack).all()
            for j in self.model.joints
        )


def _slider(joint: Joint, k: int) -> Slider:
    label = joint.name if joint.nq == 1 else f"{joint.name} {k}"
    widest = np.pi if joint.type.angles()[k] else 1.0
    lower, upper = float(joint.data.lower[k]), float(joint.data.upper[k])
    lower = lower if np.isfinite(lower) else min(-widest, upper - widest)
    upper = upper if np.isfinite(upper) else max(widest, lower + widest)
    return Slider(label, joint.name, joint.q.start + k, lower, upper)

"""States that a model file names, such as the pose in which a robot starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ...checks import finite_number, real_array, shown
from ...errors import ModelError
from ...spatial.constant import ConstantArrays, constant

HOME = "home"
INITIAL = "qpos0"  # where a file places free bodies at first, if it has no keyframe HOME
STARTS = (HOME, INITIAL)  # where simulations start: at the first of these that a model has


@dataclass(frozen=True, eq=False)
class Keyframe(ConstantArrays):
    """A named state: q, v and the controls u of the actuators, at a time.

    Velocities and controls that are left out are zero; `build` gives them their number.
    """

    name: str
    q: np.ndarray
    v: np.ndarray = field(default_factory=lambda: np.zeros(0))
    u: np.ndarray = field(default_factory=lambda: np.zeros(0))
    time: float = 0.0

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            q: ArrayLike,
            v: ArrayLike = (),
            u: ArrayLike = (),
            time: float = 0.0,
        ) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ModelError(f"a keyframe needs a name that is a string, got {shown(self.name)}")
        for name in ("q", "v", "u"):
            array = real_array(f"{name} of keyframe {self.name!r}", getattr(self, name), ModelError)
            if array.ndim != 1 or not np.isfinite(array).all():
                raise ModelError(f"{name} of keyframe {self.name!r} must be finite numbers")
            object.__setattr__(self, name, constant(array))
        time = finite_number(f"time of keyframe {self.name!r}", self.time, ModelError)
        object.__setattr__(self, "time", time)

    def with_controls(self, old: Sequence[str], new: Sequence[str]) -> Keyframe:
        """The keyframe for other actuators, by name: known ones keep their controls."""
        known = dict(zip(old, self.u, strict=True))
        u = [known.get(name, 0.0) for name in new]
        return Keyframe(self.name, self.q, self.v, u, self.time)

    def fitted(self, nq: int, nv: int, nu: int) -> Keyframe:
        """The keyframe with all numbers that a model asks for; an error if it does not fit."""
        arrays = {}
        for name, count in (("q", nq), ("v", nv), ("u", nu)):
            array = getattr(self, name)
            if name != "q" and len(array) == 0:
                array = np.zeros(count)
            if len(array) != count:
                raise ModelError(
                    f"keyframe {self.name!r}: {name} takes {count} numbers, got {len(array)}"
                )
            arrays[name] = array
        return Keyframe(self.name, **arrays, time=self.time)

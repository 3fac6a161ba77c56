"""The thirteen systems of Tsounis et al., Table II, as models, with the paper's numbers and ours.

| file | what it holds |
| --- | --- |
| `table` | the paper's table, and how the numbers of a model are counted |
| `draft`, `drives`, `shells`, `loads` | tools to draw figures: bodies, loops, covers, servos |
| `primitives` | boxes, nunchuk, four-bars |
| `substitutes` | robots of the collection in place of robots that are not public |
| `misha`, `walker`, `gazelle`, `iron_man` | figures of our own with the paper's numbers |

A figure's seed draws its lengths and masses, and where it starts.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...checks import file_path, instance, positive_integer, shown
from ...constrained.rows.constraints import Constraints
from ...errors import SettingError, UnknownNameError
from ...model.model import Model
from ...model.parts.names import closest
from . import gazelle, iron_man, misha, primitives, walker
from .draft import HOME
from .substitutes import SUBSTITUTES, substitute
from .table import PAPER, Dimensions, count

__all__ = ["Dimensions", "Figure", "figure", "suite"]

_PRIMITIVE = {
    "box_on_plane": primitives.box_on_plane,
    "boxes_fixed": primitives.boxes_fixed,
    "nunchuk": primitives.nunchuk,
    "fourbar_fixed": primitives.fourbar_fixed,
    "fourbar_free": primitives.fourbar_free,
}
_DRAWN = {
    "misha": misha.misha,
    "walker": walker.walker,
    "gazelle": gazelle.gazelle,
    "iron_man": iron_man.iron_man,
}


@dataclass(frozen=True, eq=False)
class Figure:
    """A system of the suite: its model, the paper's numbers of it and ours."""

    name: str
    seed: int
    category: str  # "primitive", "robot" or "animatronic"
    model: Model
    paper: Dimensions
    ours: Dimensions

    @property
    def start(self) -> np.ndarray:
        """The configuration at which it starts: the keyframe "home"."""
        return self.model.keyframes[HOME].q

    @property
    def mobility(self) -> int:
        """nv - rank J at the start: in how many ways it can move, six of a free base included."""
        if not self.model.constraints:
            return self.model.nv
        return self.model.nv - int(Constraints(self.model).rank(self.start))


def suite() -> list[str]:
    """Names of the figures, in the order of the paper's table."""
    return list(PAPER)


def figure(name: str, seed: int = 0, meshes: str | os.PathLike[str] | None = None) -> Figure:
    """A system of the suite by name: `figure("gazelle", seed=3).model`.

    The same seed gives the same model. Figures that are robots of the installed collection differ
    by where they start. `meshes` is a folder: covers of animatronic figures become files of
    triangles there, in place of capsules.
    """
    known = suite()
    if instance("the name of a figure", name, str) not in known:
        raise UnknownNameError(f"no figure is called {shown(name)}{closest(name, known)}")
    seed = 0 if _is_zero(seed) else positive_integer("seed", seed)
    if meshes is not None and name not in _DRAWN:
        raise SettingError(f"{name!r} has no covers that could become meshes")
    if name in _DRAWN:
        folder = None if meshes is None else Path(file_path(meshes))
        category, model = "animatronic", _DRAWN[name](seed, meshes=folder)
    elif name in SUBSTITUTES:
        category, model = "robot", substitute(name, seed)
    else:
        category, model = "primitive", _PRIMITIVE[name](seed)
    return Figure(name, seed, category, model, PAPER[name], count(model))


def _is_zero(seed: object) -> bool:
    return isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and seed == 0

"""Robots by name: from files of an installed collection (example-robot-data)."""

from __future__ import annotations

from pathlib import Path

from ..checks import flag, instance, shown
from ..errors import UnknownNameError
from ..model.formats import read
from ..model.model import Model
from ..model.parts.names import closest
from . import collection
from .families import assembled, belts, four_bars, parallel_chains, rotor_pairs
from .jvrc1 import jvrc1
from .linkages import crank_rocker, four_bar_leg, parallel_ankle
from .mini_cheetah import mini_cheetah
from .mit_humanoid import mit_humanoid, mit_humanoid_leg
from .tello import tello

__all__ = [
    "assembled",
    "belts",
    "crank_rocker",
    "four_bar_leg",
    "four_bars",
    "jvrc1",
    "load",
    "mini_cheetah",
    "mit_humanoid",
    "mit_humanoid_leg",
    "names",
    "parallel_ankle",
    "parallel_chains",
    "path",
    "rotor_pairs",
    "tello",
]


def names() -> list[str]:
    """The names that `load` knows and whose files are in the installed collection."""
    return sorted(collection.installed())


def load(name: str, floating_base: bool | None = None) -> Model:
    """A robot by its name: `load("talos")`.

    Arms and hands stand fixed, legged and flying robots have a floating base, unless
    `floating_base` says otherwise. The files come from the package example-robot-data. They are
    not ours to mend, so what `dl.load` would warn of in them is passed over here.
    """
    file = path(name)
    floating = name in collection.FLOATING
    if floating_base is not None:
        floating = flag("floating_base", floating_base)
    model, _ = read(file, floating_base=floating)
    return model


def path(name: str) -> Path:
    """The file that describes a robot."""
    known = collection.FILES
    if instance("the name of a robot", name, str) not in known:
        raise UnknownNameError(f"no robot is called {shown(name)}{closest(name, known)}")
    return collection.file_of(name)

"""Robots by name, and builders of robots and mechanisms with motors and loops.

| file | what it holds |
| --- | --- |
| `collection` | the files of an installed collection of robots (example-robot-data) |
| `limbs` | chains of links with motors, of which robots are built |
| `mini_cheetah`, `mit_humanoid`, `tello`, `jvrc1` | robots with rotors, belts and differentials |
| `linkages` | a crank-rocker, a leg with a four-bar knee, an ankle with two rods |
| `families` | mechanisms of any depth and number of branches |
| `figures` | the thirteen systems of a benchmark suite, with loops |
"""

from __future__ import annotations

from pathlib import Path

from ..checks import flag, instance, shown
from ..errors import MissingFileError, ModelError, UnknownNameError
from ..model.formats import read
from ..model.model import Model
from ..model.parts.names import closest
from . import collection
from .families import assembled, belts, four_bars, parallel_chains, rotor_pairs
from .figures import Figure, figure, suite
from .jvrc1 import jvrc1
from .linkages import crank_rocker, four_bar_leg, parallel_ankle
from .mini_cheetah import mini_cheetah
from .mit_humanoid import mit_humanoid, mit_humanoid_leg
from .tello import tello
from .walker import walker

__all__ = [
    "Figure",
    "assembled",
    "belts",
    "crank_rocker",
    "figure",
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
    "suite",
    "tello",
    "walker",
]

# Robots and mechanisms that are built here: those that stand fixed, and those with a base.
_FIXED = {
    "crank_rocker": crank_rocker,
    "four_bar_leg": four_bar_leg,
    "mit_humanoid_leg": mit_humanoid_leg,
    "parallel_ankle": parallel_ankle,
}
_FLOATING = {
    "jvrc1": jvrc1,
    "mini_cheetah": mini_cheetah,
    "mit_humanoid": mit_humanoid,
    "tello": tello,
    "walker": walker,
}
_BUILT = {**_FIXED, **_FLOATING}


def names() -> list[str]:
    """The names that `load` knows: those built here, and those in the installed collection.

    Without the collection (package example-robot-data) it lists only those built here.
    """
    return sorted([*_BUILT, *collection.installed()])


def load(name: str, floating_base: bool | None = None) -> Model:
    """A robot by its name: `load("talos")`.

    Arms, hands and linkages stand fixed, legged and flying robots have a floating base, unless
    `floating_base` says otherwise. Robots that are built here are those that the function of their
    name makes by default. The others come from files of the package example-robot-data. These are
    not ours to mend, so what `dl.load` would warn of in them is passed over here.
    """
    floating = None if floating_base is None else flag("floating_base", floating_base)
    if _known(name) in _FLOATING:
        return _FLOATING[name](floating_base=floating is not False)
    if name in _FIXED:
        if floating:
            raise ModelError(f"{name!r} has no base that could float")
        return _FIXED[name]()
    floating = name in collection.FLOATING if floating is None else floating
    model, _ = read(path(name), floating_base=floating)
    return model


def path(name: str) -> Path:
    """The file that describes a robot; an error for one that is built here and has none."""
    if _known(name) in _BUILT:
        raise MissingFileError(f"{name!r} has no file: it is built by delassus.robots.{name}()")
    return collection.file_of(name)


def _known(name: str) -> str:
    """A name, if it is that of a robot."""
    known = [*_BUILT, *collection.FILES]
    if instance("the name of a robot", name, str) not in known:
        raise UnknownNameError(f"no robot is called {shown(name)}{closest(name, known)}")
    return name

"""Names and placements of a compiled MJCF model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ....errors import DelassusError, ModelError
from ....spatial.transform import Transform, rotation_from_quaternion


class MjcfNames:
    """Names for what MuJoCo numbers; elements without a name get one. Body 0 is the world."""

    def __init__(self, compiled):
        self.bodies = _unique((compiled.body(i).name for i in range(compiled.nbody)), "body")
        self.joints = _unique((compiled.joint(i).name for i in range(compiled.njnt)), "joint")
        self.sites = _unique((compiled.site(i).name for i in range(compiled.nsite)), "site")
        self.geoms = _unique((compiled.geom(i).name for i in range(compiled.ngeom)), "geom")
        self.equalities = _unique((compiled.eq(i).name for i in range(compiled.neq)), "equality")
        self.keys = _unique((compiled.key(i).name for i in range(compiled.nkey)), "key")
        # Versions of MuJoCo that know actuators of several controls count them apart.
        actuators = range(getattr(compiled, "nactuator", compiled.nu))
        self.actuators = _unique((compiled.actuator(i).name for i in actuators), "actuator")
        self.read_geoms: set[int] = set()  # those that became shapes


def _unique(given, kind: str) -> list[str]:
    """Given names as they are, and kind_number for elements without one."""
    names = list(given)
    taken = set(names)
    for index, name in enumerate(names):
        if not name:
            name = f"{kind}_{index}"
            while name in taken:
                name += "_"
            taken.add(name)
            names[index] = name
    return names


def placement_of(position: np.ndarray, quaternion: np.ndarray | None = None) -> Transform:
    """A placement from MuJoCo's position and quaternion, whose first number is w."""
    if quaternion is None:
        return Transform(np.eye(3), np.array(position, float))
    w, x, y, z = quaternion
    return Transform(rotation_from_quaternion(x, y, z, w), np.array(position, float))


@contextmanager
def blamed(what: str, name: str) -> Iterator[None]:
    """Errors in this block are told as those of an element."""
    try:
        yield
    except DelassusError as error:
        raise ModelError(f"{what} {name!r}: {error}") from None

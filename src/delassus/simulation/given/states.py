"""States of a simulator that come from outside, as from a file: checked before anything is changed.

Kernels take the numbers of a state as they are. One of another shape, or one that counts more
contacts than it has, would let them read beyond arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...checks import instance, real_array, shown
from ...errors import DataTypeError, SettingError, ShapeError, UnknownNameError
from ...model.parts.names import closest

_POSE, _QUATERNION = 7, slice(3, 7)
_UNIT = 1e-3  # by how much the length of a quaternion may differ from one


def checked_state(given: Any, own: Mapping[str, np.ndarray], n_bodies: int) -> dict[str, Any]:
    """A copy of a state, with the names, shapes and types of this simulator's `own`.

    `contact_slots` may be others than its own, with as many numbers more or fewer.
    """
    state = _named(given, own)
    slots, own_slots = _count("contact_slots", state["contact_slots"], 1), own["contact_slots"]
    checked = {"contact_slots": slots, "is_alive": _flags(state["is_alive"], own["is_alive"])}
    shapes = {name: x.shape for name, x in own.items() if name not in (*checked, "time")}
    worlds, size = shapes["numbers"]
    shapes["numbers"] = (worlds, size + 4 * (slots - int(own_slots)))
    references, known = _array("references", state["references"]), shapes["references"]
    if references.ndim == 2 and len(references) != known[0]:
        raise ShapeError(
            f"the state is of another simulator: it has {len(references)} constraints, not "
            f"{known[0]}"
        )
    for name, shape in shapes.items():
        checked[name] = _numbers(name, state[name], shape)
    start, steps = _numbers("time", state["time"], (2,))
    checked["time"] = float(start), _count("the number of steps", steps, 0)
    _look_at_numbers(checked, slots, n_bodies)
    return checked


def _named(given: Any, own: Mapping[str, np.ndarray]) -> Mapping:
    """The state, if it has the names of this simulator's and no others."""
    state = instance("the state", given, Mapping)
    try:
        names = list(state)
        found = {name: state[name] for name in names}
    except Exception as error:  # for one, of an .npz file that holds objects
        raise SettingError(f"the state cannot be read: {error}") from None
    for name in own:
        if name not in found:
            raise SettingError(f"the state has no {name!r}: it is not one of `sim.state()`")
    for name in found:
        if name not in own:
            raise UnknownNameError(f"a state has no {shown(name)}{closest(name, list(own))}")
    return found


def _array(name: str, given: Any) -> np.ndarray:
    return real_array(f"{name!r} of the state", given)


def _numbers(name: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
    x = _array(name, given)
    if x.shape != shape:
        raise ShapeError(
            f"the state is of another simulator: {name!r} has shape {x.shape}, not {shape}"
        )
    return x


def _flags(given: Any, own: np.ndarray) -> np.ndarray:
    try:
        x = np.array(given)
    except Exception as error:
        raise DataTypeError(f"'is_alive' of the state must be flags: {error}") from None
    if x.dtype != bool or x.shape != own.shape:
        raise ShapeError(f"'is_alive' of the state must be {len(own)} flags, got {shown(given)}")
    return x


def _count(what: str, given: Any, least: int) -> int:
    x = real_array(what, given)
    if x.shape != () or not least <= x < 2.0**53 or x != np.floor(x):
        raise SettingError(f"{what} of the state must be a whole number, got {shown(given)}")
    return int(x)


def _look_at_numbers(state: dict[str, Any], slots: int, n_bodies: int) -> None:
    """Numbers that go on must be finite; worlds that have diverged may hold any."""
    alive = state["is_alive"]
    for name in ("default", "switches", "time"):
        if not np.isfinite(state[name]).all():
            raise SettingError(f"{name!r} of the state has numbers that are not finite")
    if not np.isin(state["switches"], (0.0, 1.0)).all():
        raise SettingError("'switches' of the state must be 0 or 1")
    for name in ("numbers", "v", "before"):
        bad = alive & ~np.isfinite(state[name]).all(axis=1)
        if bad.any():
            raise SettingError(
                f"{name!r} of the state has numbers that are not finite: world {np.argmax(bad)}"
            )
    numbers = state["numbers"][alive]
    count = numbers[:, -4 * slots - 1]
    if not ((count >= 0) & (count <= slots) & (count == np.floor(count))).all():
        raise SettingError(f"a world of the state has no count of contacts up to {slots}")
    poses = numbers[:, : _POSE * n_bodies].reshape(len(numbers), n_bodies, _POSE)
    length = np.linalg.norm(poses[:, :, _QUATERNION], axis=2)
    if not (np.abs(length - 1.0) <= _UNIT).all():
        raise SettingError("a pose of the state has a quaternion that is no unit quaternion")

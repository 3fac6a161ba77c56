"""Checks of what a call is given: controls and wrenches, of all steps and worlds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...checks import real_array
from ...errors import SettingError, ShapeError


def over_steps(what: str, given: Any, shape: tuple[int, ...], steps: int, worlds: int | None):
    """Numbers of a shape for each step, in C order: (1, steps, ...), or (worlds, steps, ...).

    `given` may lack the axis of steps, that of worlds, or both. The axis of steps has the length 1
    if it is not given.
    """
    is_plain = type(given) is np.ndarray and given.dtype == np.float64
    x = given if is_plain else real_array(what, given)
    if x.shape == shape:
        whole = (1, 1, *shape)
    else:
        x = _with_axes(what, x, shape, steps, worlds, x.ndim - len(shape))
        whole = x.shape
    flat = x.ravel()  # in C order, and without a copy where it is so already
    # If a sum of squares is finite, all numbers are. It costs a quarter of looking at each.
    if not math.isfinite(flat.dot(flat)) and not np.isfinite(flat).all():
        raise SettingError(_not_finite(what, flat.reshape(whole)))
    return flat.reshape(whole)


def _with_axes(what, x, shape, steps: int, worlds: int | None, more: int) -> np.ndarray:
    """An array with both axes, from one with `more` axes than a step of a world has."""
    lead = x.shape[: max(more, 0)]
    if x.shape[max(more, 0) :] == shape:
        if worlds is not None and lead == (worlds, steps):
            return x
        if worlds is not None and lead == (steps,) == (worlds,) and steps > 1:
            raise ShapeError(
                f"{what} of shape {x.shape} could be that of {steps} steps or of {worlds} worlds: "
                f"give it as {(worlds, steps, *shape)}"
            )
        if lead == (steps,):
            return x[None]
        if worlds is not None and lead == (worlds,):
            return x[:, None]
    allowed = [shape, (steps, *shape)]
    if worlds is not None:
        allowed += [(worlds, *shape), (worlds, steps, *shape)]
    listed = ", ".join(map(str, dict.fromkeys(allowed)))
    raise ShapeError(f"{what} must have one of the shapes {listed}, got {x.shape}")


def _not_finite(what: str, x: np.ndarray) -> str:
    world, step, *place = np.argwhere(~np.isfinite(x))[0].tolist()
    where = f"number {place[0]}" if len(place) == 1 else f"body {place[0]}"
    where += f", step {step} of the call" if x.shape[1] > 1 else ""
    where += f", world {world}" if len(x) > 1 else ""
    return f"{what} has numbers that are not finite: {where}"


def per_degree_of_freedom(what: str, given: Any, nv: int) -> np.ndarray:
    """A number that is not negative for each degree of freedom, from these or one for all."""
    x = real_array(what, given)
    if x.shape not in ((), (nv,)):
        raise ShapeError(f"{what} must be a number or have shape ({nv},)")
    if not (np.isfinite(x).all() and (x >= 0.0).all()):
        raise SettingError(f"{what} must be finite and not negative")
    return np.broadcast_to(x, (nv,)).copy()

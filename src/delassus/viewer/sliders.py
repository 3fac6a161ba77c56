"""Joints that a person moves by sliders: within their limits, and with loops closed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..constrained.rows.constraints import Constraints
from ..constrained.tasks.loops import close_loops
from ..errors import ConvergenceError
from ..model.model import Model
from ..model.parts.constraints import Constraint
from ..model.parts.elements import Joint

_TURN = 2.0 * np.pi
_SLACK = 1e-9  # of limits


class Slider(NamedTuple):
    """A coordinate of a joint that can be set, and its range.

    `is_endless` is whether it is an angle without limits: the range is one turn of many.
    """

    label: str
    joint: str
    q: int
    lower: float
    upper: float
    is_endless: bool = False

    def shown(self, value: float) -> float:
        """Where a coordinate stands on the slider."""
        if self.is_endless:
            value = self.lower + (value - self.lower) % _TURN
        return float(np.clip(value, self.lower, self.upper))

    def meant(self, shown: float, value: float) -> float:
        """The coordinate for a place on the slider: the nearest to its value of the same angle."""
        shown = float(np.clip(shown, self.lower, self.upper))
        return shown + _TURN * round((value - shown) / _TURN) if self.is_endless else shown


class Pose:
    """A configuration of a model that keeps its loops closed when a coordinate is set."""

    def __init__(self, model: Model, q: ArrayLike):
        self.hold(model, model.constraints)
        self.q = np.array(q, float)

    def hold(self, model: Model, held: Sequence[Constraint]) -> None:
        """Close these loops from now on; the model may differ from that before in constraints."""
        self.model, self.held = model, tuple(held)
        self.constraints = Constraints(model, self.held) if self.held else None

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
        wanted[slider.q] = slider.meant(value, wanted[slider.q])
        if self.constraints is not None:
            independent = [j.name for j in self.model.joints if j.independent]
            fixed = independent if slider.joint in independent else [slider.joint]
            try:
                wanted = np.asarray(
                    close_loops(self.model, wanted, self.constraints, fixed=fixed, tolerance=1e-8)
                )
            except ConvergenceError:
                return False
            if (self._beyond_limits(wanted) > self._beyond_limits(self.q) + _SLACK).any():
                return False
        self.q = wanted
        return True

    def _beyond_limits(self, q: np.ndarray) -> np.ndarray:
        """By how much coordinates are beyond limits, as a simulation may leave them."""
        return np.maximum(np.maximum(self.model.lower - q, q - self.model.upper), 0.0)


class Sliders:
    """Sliders of a page for the joints of a pose.

    `move(slider, value)` moves the pose and what is seen of it, and returns False where it cannot.
    It is called with the `lock` held; who moves the pose besides holds it too. With more than
    `most_seen` sliders their folder is closed at first.
    """

    def __init__(
        self,
        gui: Any,
        pose: Pose,
        move: Callable[[Slider, float], bool],
        lock: threading.RLock,
        most_seen: int | None = None,
    ):
        self.pose, self._move, self._lock = pose, move, lock
        self._handles: list[tuple[Slider, Any]] = []
        sliders = pose.sliders()
        if not sliders:
            return
        is_open = most_seen is None or len(sliders) <= most_seen
        with gui.add_folder("Joints", expand_by_default=is_open):
            for slider in sliders:
                self._add(gui, slider)

    def _add(self, gui: Any, slider: Slider) -> None:
        lower, upper = round(slider.lower, 3), round(slider.upper, 3)
        step = round((upper - lower) / 1000.0, 6) or 1e-3
        start = float(np.clip(slider.shown(self.pose.q[slider.q]), lower, upper))
        handle = gui.add_slider(slider.label, lower, upper, step, start)
        self._handles.append((slider, handle))
        handle.on_update(lambda _: self._moved(slider, handle))

    def enable(self, is_enabled: bool) -> None:
        """Let a person move the sliders, or not."""
        for _, handle in self._handles:
            handle.disabled = not is_enabled

    def follow(self, q: np.ndarray) -> None:
        """Stand where the joints are, which something else has moved."""
        with self._lock:
            if not np.array_equal(q, self.pose.q):
                self.pose.q = np.array(q)
                self._show()

    def _moved(self, slider: Slider, handle: Any) -> None:
        with self._lock:
            if handle.value == self._place(slider):
                return  # the joint is there: it is this program that moved the slider
            is_moved = not handle.disabled and self._move(slider, handle.value)
            # The slider itself is left to the hand that moves it, unless it went too far.
            self._show(slider if is_moved else None)

    def _place(self, slider: Slider) -> float:
        return slider.shown(self.pose.q[slider.q])

    def _show(self, but: Slider | None = None) -> None:
        """Move all sliders but one to where the joints are, by steps that can be seen."""
        for slider, handle in self._handles:
            value = self._place(slider)
            if slider is not but and abs(value - handle.value) > 0.5 * handle.step:
                handle.value = value


def _slider(joint: Joint, k: int) -> Slider:
    label = joint.name if joint.nq == 1 else f"{joint.name} {k}"
    is_angle = bool(joint.type.angles()[k])
    widest = np.pi if is_angle else 1.0
    lower, upper = float(joint.data.lower[k]), float(joint.data.upper[k])
    is_endless = is_angle and not np.isfinite([lower, upper]).any()
    lower = lower if np.isfinite(lower) else min(-widest, upper - widest)
    upper = upper if np.isfinite(upper) else max(widest, lower + widest)
    return Slider(label, joint.name, joint.q.start + k, lower, upper, is_endless)

"""A recording in the browser: a slider for its time, forces as far as it has them, plots."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np

from ..simulation.told.recording import Recording
from .forces import GROUPS, Recorded
from .motion import Placing
from .plots import Plots
from .stage import Stage

SPEEDS = ("0.1", "0.25", "0.5", "1", "2")


class Player:
    """Shows a recording's steps on a stage, as its panel asks."""

    def __init__(self, stage: Stage, place: Placing, states: np.ndarray, recording: Recording):
        self.stage, self.recording = stage, recording
        self._place, self._states = place, states
        self._times = recording.time[: states.shape[1]]
        self._recorded = Recorded(recording, stage.scene.model)
        self._metrics = {
            name: (x[0] if recording.is_many else x)[: states.shape[1]]
            for name, x in recording.metrics.items()
        }
        self.step, self._is_playing, self._shown = 0, False, {}
        self._lock = threading.RLock()

    @property
    def groups(self) -> dict[str, bool]:
        """Groups of forces that the recording has, and whether they are shown at first."""
        has = {GROUPS[0]: self._recorded.has_contacts, GROUPS[1]: self._recorded.has_contacts}
        has[GROUPS[2]] = self._recorded.has_reactions
        self._shown = {group: group != GROUPS[2] for group in GROUPS if has[group]}
        return dict(self._shown)

    def show_group(self, group: str, is_shown: bool) -> None:
        """Switch a group of forces."""
        self._shown[group] = is_shown
        self._show_forces()

    def add_panel(self, gui: Any) -> None:
        """Time and plots."""
        last, times = len(self._times) - 1, self._times
        with gui.add_folder("Time"):
            self._button = gui.add_button("Play")
            self._slider = gui.add_slider("step", 0, max(last, 1), 1, 0)
            self._speed = gui.add_dropdown("speed", SPEEDS, initial_value="1")
            self._clock = gui.add_text("time, s", f"{times[0]:.3f}", disabled=True)
        with gui.add_folder("Plots"):
            self._plots = Plots(gui)
        self._plots.show(times, self._metrics, float(times[0]))
        self._button.on_click(lambda _: self.play(not self._is_playing))
        self._slider.on_update(lambda _: self._scrubbed(int(self._slider.value)))

    def seek(self, step: int) -> None:
        """Show a step."""
        with self._lock:
            self.step = int(np.clip(step, 0, len(self._times) - 1))
            with self.stage.server.atomic():
                self.stage.move(self._motion())
                self._show_forces()
                self._slider.value = self.step
                self._clock.value = f"{self._times[self.step]:.3f}"

    def play(self, is_playing: bool) -> None:
        """Play on from the present step, or stop."""
        if is_playing and self.step >= len(self._times) - 1:
            self.seek(0)
        self._since = time.perf_counter(), float(self._times[self.step])
        self._is_playing = is_playing
        self._button.label = "Pause" if is_playing else "Play"
        if not is_playing:
            self._plots.show(self._times, self._metrics, float(self._times[self.step]))

    def tick(self) -> None:
        """Go on to the step that is due, if it is playing."""
        if not self._is_playing:
            return
        now = time.perf_counter()
        begun, start = self._since
        due = start + (now - begun) * float(self._speed.value)
        self._since = now, due
        self.seek(int(np.searchsorted(self._times, due)))
        if due >= self._times[-1]:
            self.play(False)

    def _scrubbed(self, step: int) -> None:
        if step == self.step:  # it is this program that moved the slider
            return
        self.seek(step)
        self._since = time.perf_counter(), float(self._times[self.step])
        if not self._is_playing:
            self._plots.show(self._times, self._metrics, float(self._times[self.step]))

    def _motion(self) -> Any:
        return self._place(self._states[:, self.step])

    def _show_forces(self) -> None:
        """Arrows and cones of all worlds, of groups that are shown."""
        stage, told, offsets = self.stage, self._recorded, self.stage.offsets
        if told.has_contacts:
            found = [told.contacts(w, self.step) for w in range(stage.worlds)]
            stage.show_contacts(found, self._shown)
        if told.has_reactions:
            arrows = []
            if self._shown[GROUPS[2]]:
                motion = self._motion()
                for w in range(stage.worlds):
                    own = type(motion)(*(x[w : w + 1] for x in motion))
                    points, pulls = told.reactions(w, np.array([self.step]), own)
                    arrows.append(stage.drawn.arrows(points[0] + offsets[w], pulls[0]))
            stage.show_arrows(GROUPS[2], np.concatenate([np.zeros((0, 2, 3)), *arrows]))
